"""Parse, lint, tags, guidance and urls: the same answers as the commands, for any input."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules.json_results import urls as url_results
from robotrules.robotstxt import parse
from robotrules.service.problems import Problem
from robotrules.service.settings import Limits
from robotrules.service.verbs import load_verbs
from robotrules.service.work import run_verb
from tests.service.answers import (
    answer,
    base64_of,
    every_file,
    every_small_file,
    printed,
    problem,
    raw_answer,
)

HEADERS = [
    "Robots-Tag: *;noindex, ExampleBot;nosnippet;max-snippet=99999999999999999999",
    "Date: x",
]
PAGE = """<!doctype html><html><head><meta charset=utf-8>
<meta name=robots content="noarchive, max-snippet:99999999999999999999, zzz, unavailable_after: x">
<meta name="examplebot" content="none"><title>é\u2028\U0001f600</title></head><body>"""
PAGES = {
    "page": PAGE,
    "empty": "",
    "NUL": "\0<meta name=robots content=noindex>\0",
    "not closed": "<meta name=robots content='noindex",
    "deep": "<div>" * 5_000 + "<meta name=robots content=noindex>",
    "long": "<!-- " + "x" * 100_000 + " --><meta name=robots content=noindex>",
}
RESPONSE = "HTTP/1.1 200 OK\r\nX-Robots-Tag: noindex\r\nContent-Type: text/html\r\n\r\n" + PAGE
CHUNKED = (
    "HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n<meta name=robots content=none>"
)
OPTIONS: list[tuple[list[str], dict[str, Any]]] = [
    ([], {}),
    (["--as", "ExampleBot"], {"as": "ExampleBot"}),
    (
        ["--as", "a,ExampleBot", "--profile", "google"],
        {"as": ["a", "ExampleBot"], "profile": "google"},
    ),
    (["--url", " https://example.com/é "], {"url": " https://example.com/é "}),
    (
        ["--url", "http://example.com/", "--profile", "yandex"],
        {"url": "http://example.com/", "profile": "yandex"},
    ),
    (["--profile", "strict"], {"profile": "strict"}),
    (["--profile", "bing", "--as", "Bingbot"], {"profile": "bing", "as": "Bingbot"}),
    (
        ["--header", "X-Robots-Tag: none, max-snippet:3"],
        {"headers": ["X-Robots-Tag: none, max-snippet:3"]},
    ),
    (["--header", HEADERS[0], "--header", HEADERS[1]], {"headers": HEADERS}),
]
every_option = pytest.mark.parametrize(("options", "fields"), OPTIONS)
every_page = pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())


def written(folder: Path, name: str, content: str | bytes) -> str:
    """Return the name of a file with this content."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


class TestParse:
    """How a file is parsed."""

    @every_file
    @pytest.mark.parametrize("profile", ["default", "strict", "google"])
    def test_files(self, octets: bytes, profile: str) -> None:
        (as_printed,) = printed("parse", "-", "--profile", profile, stdin=octets)
        given_fields = {"robots_base64": base64_of(octets), "profile": profile}
        assert json.loads(raw_answer("parse", json.dumps(given_fields).encode())) == as_printed
        if len(octets) < 200_000:
            assert answer("parse", **given_fields) == as_printed

    @pytest.mark.parametrize("sections", [["lines"], ["groups", "notes"], ["records"]])
    @every_small_file
    def test_sections(self, octets: bytes, sections: list[str]) -> None:
        (as_printed,) = printed("parse", "-", *(f"--{name}" for name in sections), stdin=octets)
        chosen = dict.fromkeys(sections, True)
        assert answer("parse", robots_base64=base64_of(octets), **chosen) == as_printed

    @given(octets=st.binary(max_size=200))
    def test_any_bytes(self, octets: bytes) -> None:
        (as_printed,) = printed("parse", "-", stdin=octets)
        assert answer("parse", robots_base64=base64_of(octets)) == as_printed

    def test_text(self) -> None:
        assert answer("parse", robots="é\n")["encoding"]["octets"] == 3


class TestLint:
    """Problems in a file."""

    @every_file
    def test_files(self, octets: bytes) -> None:
        """Also a binary file, which is not linted."""
        limit = ["--max-states", "50"]
        (as_printed,) = printed("lint", "-", "--no-config", *limit, stdin=octets)
        assert answer("lint", robots_base64=base64_of(octets), max_states=50) == as_printed

    def test_a_binary_file_is_an_error(self) -> None:
        found = answer("lint", robots_base64=base64_of(bytes(100)))
        assert "is binary" in found["files"][0]["error"]

    @pytest.mark.parametrize(
        ("options", "fields"),
        [
            (["--select", "RR5,bom"], {"select": ["RR5", "bom"]}),
            (["--ignore", "RR3"], {"ignore": ["RR3"]}),
            (["--min-level", "warning"], {"min_level": "warning"}),
            (
                ["--min-level", "error", "--profile", "strict"],
                {"min_level": "error", "profile": "strict"},
            ),
            (["--url", "https://example.com/a"], {"url": "https://example.com/a"}),
            (["--profile", "google"], {"profile": "google"}),
        ],
    )
    @every_small_file
    def test_options(self, octets: bytes, options: list[str], fields: dict[str, Any]) -> None:
        (as_printed,) = printed("lint", "-", "--no-config", *options, stdin=octets)
        assert answer("lint", robots_base64=base64_of(octets), **fields) == as_printed

    @given(octets=st.binary(max_size=200))
    def test_any_bytes(self, octets: bytes) -> None:
        (as_printed,) = printed("lint", "-", "--no-config", stdin=octets)
        assert answer("lint", robots_base64=base64_of(octets)) == as_printed

    @pytest.mark.parametrize(
        ("fields", "at", "cure"),
        [
            ({"select": ["no-such-check"]}, "$.select", "no-such-check"),
            ({"select": [""]}, "$.select", "select"),
            ({"ignore": ["RR9999"]}, "$.ignore", "RR9999"),
            ({"select": ["a\n\x1b"]}, "$.select", "\\x1b"),
            ({"url": "/a"}, "$.url", "pass an http or https URL with a host"),
            ({"url": ""}, "$.url", "pass an http or https URL with a host"),
            ({"max_states": 0}, "$.max_states", ">= 1"),
            ({"max_states": 10**30}, "$.max_states", "Expected `int`"),
            ({"min_level": "all"}, "$.min_level", "Invalid enum value"),
            ({"select": ["bom"] * 201}, "$.select", "<= 200"),
        ],
    )
    def test_misuse(self, fields: dict[str, Any], at: str, cure: str) -> None:
        found = problem("lint", robots="", **fields)
        assert (found.slug, found.extra.get("at")) == ("invalid-request", at)
        assert cure in found.detail

    def test_it_runs_in_a_process(self) -> None:
        assert load_verbs()["/v1/lint"].heavy


class TestTags:
    """The tag rules of a page."""

    @every_option
    @every_page
    def test_pages(
        self, tmp_path: Path, page: str, options: list[str], fields: dict[str, Any]
    ) -> None:
        """The name of the file is the only difference."""
        name = written(tmp_path, "page.html", page)
        (as_printed,) = printed("tags", *options, "--", name)
        assert as_printed.pop("file") == name
        found = answer("tags", html=page, **fields)
        assert found.pop("file") is None
        assert found == as_printed

    @pytest.mark.parametrize("response", [RESPONSE, CHUNKED, "A: b", "HTTP/1.1 301 x\r\n\r\n"])
    @every_option
    def test_responses(
        self, tmp_path: Path, response: str, options: list[str], fields: dict[str, Any]
    ) -> None:
        name = written(tmp_path, "saved.http", response)
        dom = written(tmp_path, "dom.html", PAGE)
        (as_printed,) = printed("tags", "--response", name, "--dom", dom, *options)
        found = answer("tags", response=response, dom=PAGE, **fields)
        assert found == as_printed | {"file": None}

    def test_headers_alone(self) -> None:
        (as_printed,) = printed("tags", "--header", HEADERS[0])
        assert answer("tags", headers=HEADERS[:1]) == as_printed

    @given(page=st.text(st.characters(exclude_categories=["Cs"]), max_size=100))
    def test_any_text(self, page: str) -> None:
        with suppress(Problem):
            answer("tags", html=page)
        with suppress(Problem):
            answer("tags", response=page)
        with suppress(Problem):
            answer("tags", headers=[page])

    @pytest.mark.parametrize(
        ("fields", "at", "cure"),
        [
            ({}, "$.html", "pass html, dom, headers or response"),
            ({"headers": []}, "$.html", "pass html, dom, headers or response"),
            ({"headers": ["A: b", "a"]}, "$.headers[1]", "is not a header line"),
            ({"headers": [""]}, "$.headers[0]", "is not a header line"),
            ({"html": "", "response": "A: b"}, "$.html", "leave out html"),
            ({"html": RESPONSE}, "$.html", "pass it in response"),
            ({"dom": RESPONSE}, "$.dom", "pass it in response"),
            ({"response": ""}, "$.response", "not a saved HTTP response"),
            ({"response": "<html>"}, "$.response", "not a saved HTTP response"),
            ({"html": "", "as": "a/b"}, "$.as", "is not a product token"),
            ({"html": "", "as": []}, "$.as", "as is empty"),
            ({"html": "", "profile": "stale"}, "$.profile", "Invalid enum value"),
            ({"html": 1}, "$.html", "Expected `str | null`"),
        ],
    )
    def test_misuse(self, fields: dict[str, Any], at: str, cure: str) -> None:
        found = problem("tags", **fields)
        assert (found.slug, found.extra.get("at")) == ("invalid-request", at)
        assert cure in found.detail


ROBOTS = b"""User-agent: ExampleBot
Disallow: /private/
Content-Usage: train-ai=n
App-Directives: examplesearch;a=1
User-agent: *
Disallow: /\xff
"""
TDMREP = '[{"location": "/", "tdm-reservation": 1, "tdm-policy": "https://example.com/p"}]'
URL = "https://example.com/a"


class TestGuidance:
    """One answer over all carriers."""

    @pytest.mark.parametrize("url", [URL, "https://example.com/private/x", "/private/a", "ftp://a"])
    @pytest.mark.parametrize(
        ("options", "fields"),
        [
            (["--as", "ExampleBot"], {"as": "ExampleBot"}),
            (["--as", "Googlebot-News"], {"as": "Googlebot-News"}),
            (["--as", "Googlebot-News", "--literal"], {"as": "Googlebot-News", "literal": True}),
            (
                ["--as", "a", "--purpose", "EXAMPLE-PURPOSE-1", "--profile", "google"],
                {"as": "a", "purpose": ["EXAMPLE-PURPOSE-1"], "profile": "google"},
            ),
            (["--as", "a", "--app", "examplesearch"], {"as": "a", "app": "examplesearch"}),
            (
                ["--as", "a", "--header", "tdm-reservation: 1", "--profile", "apple"],
                {"as": "a", "headers": ["tdm-reservation: 1"], "profile": "apple"},
            ),
            (
                ["--as", "a", "--robots-url", "http://other.example:80/robots.txt"],
                {"as": "a", "robots_url": "http://other.example:80/robots.txt"},
            ),
        ],
    )
    def test_all_inputs(
        self, tmp_path: Path, url: str, options: list[str], fields: dict[str, Any]
    ) -> None:
        (as_printed,) = printed(
            *("guidance", url, "--robots", "-", *options),
            *("--tdmrep", written(tmp_path, "tdmrep.json", TDMREP)),
            *("--response", written(tmp_path, "saved.http", RESPONSE)),
            *("--dom", written(tmp_path, "dom.html", PAGE)),
            stdin=ROBOTS,
        )
        found = answer(
            "guidance",
            url=url,
            robots_base64=base64_of(ROBOTS),
            tdmrep=TDMREP,
            response=RESPONSE,
            dom=PAGE,
            **fields,
        )
        assert found == as_printed

    @every_small_file
    def test_files(self, octets: bytes) -> None:
        (as_printed,) = printed("guidance", URL, "--as", "b", "--robots", "-", stdin=octets)
        given_fields = {"as": "b", "robots_base64": base64_of(octets)}
        assert answer("guidance", url=URL, **given_fields) == as_printed

    @every_page
    def test_a_page_alone(self, tmp_path: Path, page: str) -> None:
        name = written(tmp_path, "page.html", page)
        (as_printed,) = printed("guidance", URL, "--as", "b", "--page", name)
        assert answer("guidance", url=URL, html=page, **{"as": "b"}) == as_printed

    @pytest.mark.parametrize("tdmrep", ["", "[", "[" * 50_000, "null", '{"a": 1}', "\0" * 200_000])
    def test_any_tdmrep(self, tdmrep: str) -> None:
        assert answer("guidance", url=URL, tdmrep=tdmrep, **{"as": "b"})["reservation"]

    def test_nothing_known(self) -> None:
        found = answer("guidance", url=URL, **{"as": "b"})
        assert (found["may_crawl"], found["tags"]) == (None, "not-fetched")

    @given(
        fields=st.dictionaries(
            st.sampled_from(
                ["robots", "headers", "html", "dom", "response", "tdmrep", "app", "url"]
            ),
            st.text(max_size=20) | st.lists(st.text(max_size=20), max_size=2) | st.none(),
        )
    )
    def test_any_fields(self, fields: dict[str, Any]) -> None:
        with suppress(Problem):
            raw_answer("guidance", json.dumps({"url": URL, "as": "b", **fields}).encode())

    @pytest.mark.parametrize(
        ("fields", "at", "cure"),
        [
            ({"as": "a b"}, "$.as", "is not a product token"),
            ({"purpose": [""]}, "$.purpose[0]", "a purpose is empty"),
            ({"app": ""}, "$.app", "is not an application identifier"),
            ({"app": "a b"}, "$.app", "is not an application identifier"),
            ({"robots_url": "/robots.txt"}, "$.robots_url", "has no origin"),
            ({"robots": "", "robots_base64": ""}, "$.robots", "pass either"),
            ({"response": "?"}, "$.response", "not a saved HTTP response"),
            ({"headers": [":"]}, "$.headers[0]", "is not a header line"),
            ({"url": None}, "$.url", "Expected `str`"),
            ({"profile": ""}, "$.profile", "Invalid enum value"),
        ],
    )
    def test_misuse(self, fields: dict[str, Any], at: str, cure: str) -> None:
        found = problem("guidance", **{"url": URL, "as": "b", **fields})
        assert (found.slug, found.extra.get("at")) == ("invalid-request", at)
        assert cure in found.detail


SITEMAP = """<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>https://example.com/a?b=1&amp;c</loc></url><url><loc>no URL</loc></url></urlset>"""
LOG = '127.0.0.1 - - [10/Oct/2024:13:55:36 +0000] "GET %s HTTP/1.1" 200 1 "-" "ExampleBot/1.0"\n'
ENTITIES = '<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;">]><urlset>&b;</urlset>'


class TestUrls:
    """The URLs of a list."""

    @pytest.mark.parametrize(
        ("text", "form", "urls"),
        [
            ("https://example.com/a\n# c\n/b\n", "list", ["https://example.com/a", "/b"]),
            ("ftp://example.com/a\n", "list", ["ftp://example.com/a"]),
            (LOG % "/a" + LOG % "//b", "access log", ["/a", "https://example.com//b"]),
            ('{"url": "/a"}\n{"url": "/b"}\n', "JSON lines", ["/a", "/b"]),
            ("url;clicks\n/a;1\n", "CSV", ["/a"]),
            (SITEMAP, "sitemap", ["https://example.com/a?b=1&c"]),
            ("", "list", []),
        ],
    )
    def test_formats(self, text: str, form: str, urls: list[str]) -> None:
        for fields in (
            {"text": text},
            {"base64": base64_of(text.encode())},
            {"base64": base64_of(gzip.compress(text.encode()))},
            {"base64": base64_of(text.encode("utf-16"))},
        ):
            found = answer("urls", **fields)
            assert (found["form"], found["urls"], found["error"]) == (form, urls, None)

    @pytest.mark.parametrize(
        "text", [LOG % "/a" + LOG % "-", SITEMAP, "/a\nb\n", "url,x\n/a,1\nb,2\n"]
    )
    def test_they_are_those_of_check(self, text: str) -> None:
        """The command checks the same URLs of the same text."""
        arguments = ["--robots", "/dev/null", "--as", "a", "--urls", "-"]
        lines = printed("check", *arguments, stdin=text.encode())
        assert [line["url"] for line in lines] == answer("urls", text=text)["urls"]

    def test_what_was_skipped(self) -> None:
        found = answer("urls", base64=base64_of(b"/a\nno\xff\n"))
        assert found["skipped"] == {"lines": 1, "examples": [{"line": 2, "text": "no\\xff"}]}

    def test_a_hint(self) -> None:
        assert "looks like CSV without a header" in answer("urls", text="/a,1\n/b,2\n")["hint"]

    def test_urls_that_are_not_utf_8(self) -> None:
        """They are encoded, which has the same verdict."""
        (url,) = answer("urls", base64=base64_of(b"https://example.com/\xe9\xc3\xa9\n"))["urls"]
        assert url == "https://example.com/%E9é"
        robots = parse(b"User-agent: *\nDisallow: /\xe9\xc3\xa9$\n")
        raw = b"https://example.com/\xe9\xc3\xa9"
        assert robots.check(url, "a").allowed is robots.check(raw, "a").allowed is False

    def test_at_most_so_many_urls(self) -> None:
        exact, more = (
            json.loads(
                raw_answer(
                    "urls", json.dumps({"text": "/a\n" * count}).encode(), Limits(max_urls=3)
                )
            )
            for count in (3, 4)
        )
        assert (len(exact["urls"]), exact["error"]) == (3, None)
        assert (len(more["urls"]), more["error"]) == (
            3,
            "it has more than 3 URLs; the rest was not read",
        )

    def test_a_decompression_bomb(self, monkeypatch: pytest.MonkeyPatch) -> None:
        bomb = base64_of(gzip.compress(b"/a\n" + b"\n" * 50_000_000, 9))
        assert "more than 250 times" in answer("urls", base64=bomb)["error"]
        monkeypatch.setattr(url_results, "MOST_UNPACKED", 1_000_000)
        found = answer("urls", base64=bomb)
        assert "more than 1,000,000 bytes" in found["error"]
        assert found["urls"] == ["/a"]

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            (ENTITIES, "declares entities"),
            ("<urlset><url>" * 200, "nested more than 100 deep"),
            ("<html>", "HTML page"),
            ('[{"url": "/a"}]', "JSON array"),
            ("PK\x03\x04", "ZIP"),
            ("<urlset><url><loc>/a</loc>", "not well-formed"),
        ],
    )
    def test_lists_that_cannot_be_read(self, text: str, words: str) -> None:
        assert words in answer("urls", text=text)["error"]

    @given(octets=st.binary(max_size=300))
    def test_any_bytes(self, octets: bytes) -> None:
        answer("urls", base64=base64_of(octets))

    @pytest.mark.parametrize("fields", [{}, {"text": "", "base64": ""}])
    def test_text_or_base64(self, fields: dict[str, Any]) -> None:
        found = problem("urls", **fields)
        assert (found.slug, found.detail) == ("invalid-request", "pass either text or base64")


def test_guidance_for_an_empty_name_is_a_problem() -> None:
    """Also beside others, and with profile google, whose robots.txt reads it as `*`."""
    for names in ("", ["", "ExampleBot"]):
        body = {"url": "https://example.com/", "as": names, "robots": "", "profile": "google"}
        with pytest.raises(Problem) as raised:
            run_verb(load_verbs()["/v1/guidance"], json.dumps(body).encode())
        assert (raised.value.slug, raised.value.as_dict()["at"]) == ("invalid-request", "$.as")
