"""`robotrules guidance`, run in this process: every way in, origins, HAR files, hostile input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robotrules.json_results.guidance import origin_of
from robotrules.tags import TAG_PROFILES
from tests.cli.shell import Ran, robotrules

PAGES = Path(__file__).parents[2] / "examples" / "pages"
PAGE, HAR = str(PAGES / "page.html"), str(PAGES / "visit.har")
ROBOTS = ["--robots", str(PAGES / "robots.txt")]
RESPONSE = ["--response", str(PAGES / "response.http")]
AS = ["--as", "ExampleBot"]
URL, DRAFT = "https://example.com/prices", "https://example.com/drafts/prices"


def asked(*arguments: str, stdin: bytes = b"", terminals: tuple[str, ...] = ()) -> Ran:
    """Run the command as ExampleBot."""
    return robotrules("guidance", *AS, *arguments, stdin=stdin, terminals=terminals)


def answers(*arguments: str, stdin: bytes = b"") -> list[dict[str, Any]]:
    """Return the answers as JSON."""
    ran = asked("--json", *arguments, stdin=stdin)
    assert ran.code in (0, 1), ran.err
    return [json.loads(line) for line in ran.out.splitlines()]


def har(*entries: dict[str, Any]) -> bytes:
    """Return a HAR file with these entries, each a document."""
    documents = [{"_resourceType": "document", **entry} for entry in entries]
    return json.dumps({"log": {"entries": documents}}).encode()


def document(url: str, text: str | None = "", **headers: str) -> dict[str, Any]:
    """Return an entry of a HAR file."""
    lines = [{"name": name.replace("_", "-"), "value": value} for name, value in headers.items()]
    content = {} if text is None else {"text": text}
    response = {"status": 200, "headers": lines, "content": content}
    return {"request": {"url": url}, "response": response}


class TestOneUrl:
    """One answer about one URL."""

    def test_all_carriers(self) -> None:
        """Each part is there, with its source."""
        more = ["--tdmrep", str(PAGES / "tdmrep.json"), "--app", "examplesearch"]
        [answer] = answers(URL, *ROBOTS, *RESPONSE, *more)
        assert (answer["may_crawl"], answer["may_index"], answer["may_snippet"]) == (
            True,
            False,
            True,
        )
        assert answer["preferences"]["preferences"]["train-ai"] == "disallowed"
        assert answer["app_directives"]["directives"][0]["line"] == 4
        assert answer["reservation"]["carrier"] == "tdmrep.json"
        assert (answer["status"], answer["robots_origin"]) == (200, "https://example.com")
        out = asked(URL, *ROBOTS, *RESPONSE, *more).out
        assert "Robots-Tag line 1: noindex" in out
        assert "examplesearch;widgets" in out
        assert "https://example.com/policies/mining.json" in out

    def test_exit_codes(self) -> None:
        """0: allowed, or no robots.txt was given; 1: disallowed, with any tags."""
        assert asked(URL, *ROBOTS, "--page", PAGE).code == 0
        assert asked(URL, "--page", PAGE).code == 0
        assert asked(DRAFT, *ROBOTS, "--page", PAGE).code == 1
        assert asked(DRAFT, *ROBOTS, "--json").code == 1

    def test_a_page_that_is_not_crawled(self) -> None:
        """Its tags are unknown, and a note reports that its noindex is not read (AMB-119)."""
        [answer] = answers(DRAFT, *ROBOTS, "--page", PAGE)
        assert (answer["tags"], answer["usage"], answer["may_index"]) == ("not-crawled", None, None)
        assert answer["unseen"]["may_index"] is False
        out = asked(DRAFT, *ROBOTS, "--page", PAGE).out
        assert "Not crawled\n  robots.txt blocks the URL" in out
        assert "Crawlers do not see the noindex" in out
        assert "not seen: meta element 3: noindex" in out
        body = b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n\0"
        out = asked(DRAFT, *ROBOTS, "--response", "-", stdin=body).out
        assert "\nNotes\n  error body-not-decoded" in out

    def test_a_verdict_that_disallows_has_its_rule(self) -> None:
        """The rule that keeps crawlers away is part of the answer."""
        [answer] = answers(DRAFT, *ROBOTS)
        assert answer["verdict"]["rule"]["pattern"] == "/drafts/"

    def test_dom_and_headers(self) -> None:
        """A final DOM and typed headers count too."""
        dom = ["--dom", str(PAGES / "rendered.html"), "--header", "Robots-Tag: *;nofollow"]
        [answer] = answers(URL, "--page", PAGE, *dom)
        assert answer["usage"]["read"] == ["headers", "html", "dom"]
        assert {"nofollow", "noimageindex"} <= set(answer["usage"]["rules"])

    def test_stdin(self) -> None:
        """Any one of the files may be stdin."""
        assert (
            answers("/", "--robots", "-", stdin=b"User-agent: *\nDisallow: /")[0]["may_crawl"]
            is False
        )
        page = b"<meta name=robots content=noindex>"
        assert answers("/", "--page", "-", stdin=page)[0]["may_index"] is False

    @pytest.mark.parametrize("profile", TAG_PROFILES)
    def test_profiles(self, profile: str) -> None:
        """A tag profile that robots.txt has no profile for goes with its default."""
        [answer] = answers(URL, *ROBOTS, "--page", PAGE, "--profile", profile)
        expected = profile if profile in ("default", "strict", "google") else "default"
        assert answer["verdict"]["profile"] == expected

    def test_colour_on_a_terminal(self) -> None:
        """Yes is green and no is red, on a terminal."""
        out = asked(DRAFT, *ROBOTS, "--page", PAGE, terminals=("stdout",)).out
        assert "\x1b[31mno\x1b[0m" in out
        assert "\x1b[33mNot crawled\x1b[0m" in out
        assert "\x1b" not in asked(DRAFT, *ROBOTS, "--page", PAGE).out

    def test_notes_of_all_parts(self, tmp_path: Path) -> None:
        """Fields, elements, records and files: each note has its place."""
        tdmrep, robots = tmp_path / "tdmrep.json", tmp_path / "robots.txt"
        tdmrep.write_text('[{"tdm-reservation": 1}]')
        robots.write_text("User-agent: *\nAllow: /\nContent-Usage: a b\n")
        lines = ["--header", "Robots-Tag: noindex", "--header", "Content-Usage: a b"]
        out = asked(URL, "--robots", str(robots), "--tdmrep", str(tdmrep), *lines).out
        assert "Robots-Tag line 1: warning legacy-syntax" in out
        assert "Content-Usage field: error bad-structure" in out
        assert "robots.txt, line 3: error bad-structure" in out
        assert "tdmrep.json, entry 1: error bad-tdmrep-entry" in out


class TestOrigins:
    """A robots.txt governs one origin (RFC 9309 §2.3)."""

    @pytest.mark.parametrize(
        ("url", "origin"),
        [
            ("https://example.com/a?b#c", "https://example.com"),
            ("HTTPS://Example.COM:443", "https://example.com"),
            ("http://example.com:80?x", "http://example.com"),
            ("http://example.com:8080/", "http://example.com:8080"),
            ("https://example.com:/", "https://example.com"),
            ("https://user:secret@example.com/", "https://example.com"),
            ("https://[::1]:8443/a", "https://[::1]:8443"),
            ("/a", None),
            ("example.com/a", None),
            ("data:text/html,https://example.com/", None),
            ("https://", None),
            ("https://a:b/", None),
            ("", None),
        ],
    )
    def test_origin(self, url: str, origin: str | None) -> None:
        """Scheme and authority, without the default port and without user information."""
        assert origin_of(url) == origin

    def test_another_origin_has_no_verdict(self) -> None:
        """A robots.txt of another origin does not apply to the URL."""
        told = ["--robots-url", "https://other.example/robots.txt"]
        [answer] = answers(DRAFT, *ROBOTS, *told, "--tdmrep", str(PAGES / "tdmrep.json"))
        assert (answer["may_crawl"], answer["verdict"]) == (None, None)
        assert answer["robots_origin"] == "https://other.example"
        ran = asked(DRAFT, *ROBOTS, *told)
        assert ran.code == 0
        assert "the robots.txt belongs to https://other.example" in ran.out

    def test_a_path_belongs_to_the_origin_of_the_robots_txt(self) -> None:
        """A URL that is only a path has the origin of the robots.txt."""
        [answer] = answers("/drafts/1", *ROBOTS, "--robots-url", "https://other.example")
        assert answer["may_crawl"] is False

    def test_without_robots_txt_the_origin_is_unknown(self) -> None:
        """The answer has no origin."""
        assert answers(URL, "--page", PAGE)[0]["robots_origin"] is None


class TestHar:
    """One answer for each document of a HAR file."""

    def test_documents(self) -> None:
        """Documents are answered in order; redirects and style sheets are not documents."""
        found = answers("--har", HAR, *ROBOTS)
        assert [one["url"].removeprefix("https://") for one in found] == [
            "example.com/",
            "example.com/prices",
            "example.com/drafts/1",
            "example.com/gone",
            "shop.example/",
        ]
        assert [one["may_crawl"] for one in found] == [True, True, False, True, None]
        assert [one["status"] for one in found] == [200, 200, 200, 404, 200]
        assert {one["robots_origin"] for one in found} == {"https://example.com"}

    def test_exit_code(self) -> None:
        """1 if any document may not be crawled."""
        assert asked("--har", HAR, *ROBOTS).code == 1
        assert asked("--har", HAR).code == 0
        assert asked(URL, "--har", HAR, *ROBOTS).code == 0

    def test_a_hint_about_other_origins(self) -> None:
        """A hint names an origin that was inferred, but not one that was given."""
        assert "is used for https://example.com" in asked("--har", HAR, *ROBOTS).err
        assert asked("--har", HAR, *ROBOTS, "--robots-url", "https://example.com").err == ""
        assert asked("--har", HAR).err == ""
        assert asked(URL, "--har", HAR, *ROBOTS).err == ""

    def test_rows(self) -> None:
        """Three answers for each document, and why."""
        out = asked("--har", HAR, *ROBOTS).out
        assert "no       unknown  unknown  https://example.com/drafts/1\n" in out
        assert "    notes: not-crawled, noindex-not-seen\n" in out
        assert "    redirected from https://example.com/old\n" in out
        assert "    status 404: its tags apply to this error page; those of the last" in out
        assert "    only headers were read, because the page is not in the file\n" in out

    def test_one_document(self) -> None:
        """A URL chooses its document; a fragment does not matter."""
        [answer] = answers(f"{URL}#top", "--har", HAR)
        assert answer["url"] == URL

    def test_the_first_origin_is_that_of_the_first_with_one(self) -> None:
        """A document without an origin governs nothing."""
        body = har(document("about:blank"), document("https://example.com/drafts/1"))
        found = answers("--har", "-", *ROBOTS, stdin=body)
        assert [one["may_crawl"] for one in found] == [None, False]

    def test_control_characters_never_reach_a_terminal(self) -> None:
        """Not of URLs, headers, or pages."""
        page = "<meta name=robots content='noindex:\x07\x9b'>"
        body = har(document("https://a/\x1b[31m", page, Content_Usage='train-ai="\x1b"'))
        out = asked("--har", "-", stdin=body, terminals=("stdout",)).out
        plain = robotrules("guidance", *AS, "--har", "-", stdin=body).out
        assert plain.replace("\n", "").isprintable()
        assert "\x1b[31m\n" not in out
        body = har(document("https://a\x1b[31m/"), document("https://b\x1b[31m/"))
        ran = asked("--har", "-", *ROBOTS, stdin=body)
        assert "\x1b" not in ran.out + ran.err
        assert "is used for https://a\\x1b[31m" in ran.err

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"{",
            b"[]",
            b"\xff\xfe\x00",
            b'{"log": {"entries": []}}',
            b'{"log": {"entries": [1, null, {}, {"_resourceType": "document"}]}}',
            b"[" * 100_000,
            b'{"log": {"entries": ' + b"[" * 100_000,
        ],
    )
    def test_an_invalid_har_file(self, body: bytes) -> None:
        """A one-line error explains which file to export, and the exit code is 2."""
        ran = asked("--har", "-", stdin=body)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)

    def test_a_large_har_file_is_refused(self, tmp_path: Path) -> None:
        """Half a JSON text is none, so a file that is too large is not used at all."""
        path = tmp_path / "large.har"
        with path.open("wb") as file:
            file.truncate(300 * 1024**2)
        ran = asked("--har", str(path))
        assert (ran.code, "is larger than 256 MiB" in ran.err) == (2, True)

    def test_many_documents(self) -> None:
        """Thousands of documents are rows like any others; a long URL is cut for people."""
        body = har(*(document(f"https://example.com/{at}", "<p>") for at in range(2_000)))
        assert asked("--har", "-", *ROBOTS, stdin=body).out.count("\nyes") == 2_000
        long = har(document("https://example.com/" + "a" * 100_000))
        assert max(map(len, asked("--har", "-", stdin=long).out.splitlines())) < 300


@pytest.mark.parametrize(
    "arguments",
    [
        ROBOTS,
        ["/a"],
        ["example.com/a"],
        ["ftp://example.com/a"],
        [URL, "--robots-url", "https://example.com"],
        [URL, URL, *ROBOTS],
        [URL, "--page", PAGE, *RESPONSE],
        [URL, "--page", "no-such-file.html"],
        [URL, "--page", str(PAGES)],
        [URL, "--response", PAGE],
        [URL, "--har", PAGE],
        ["--har", HAR, "--page", PAGE],
        ["--har", HAR, "--header", "Robots-Tag: *;noindex"],
        ["--har", "-", "--robots", "-"],
        ["https://example.com/none", "--har", HAR],
        [URL, *ROBOTS, "--robots-url", "/robots.txt"],
        [URL, *ROBOTS, "--app", "1 x"],
        [URL, *ROBOTS, "--purpose", ""],
        [URL, *ROBOTS, "--header", "noindex"],
        [URL, "--robots", "no-such-file.txt"],
        [URL, "--tdmrep", str(PAGES)],
        [URL, *ROBOTS, "--profile", "other"],
    ],
)
def test_misuse(arguments: list[str]) -> None:
    """Missing or invalid arguments give a one-line error and exit code 2."""
    ran = asked(*arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


def test_a_crawler_is_required() -> None:
    """An answer applies to a crawler."""
    ran = robotrules("guidance", URL, *ROBOTS)
    assert (ran.code, "missing --as" in ran.err) == (2, True)
