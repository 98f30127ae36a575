"""An audit of one live page: every finding is earned, and a page where all fits earns none."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.client import Client
from robotrules.client.auditing import Audit, audit
from robotrules.client.auditing.checks import _format_duration
from robotrules.client.auditing.findings import CODES, LEVELS, Finding, finding
from tests.cli.sites import response, site

ORIGIN = "https://a.example"
OTHER = "http://a.example"
DOCS = Path(__file__).parents[2] / "docs"
PLAIN = {"Content-Type": "text/plain"}
HTML = {"Content-Type": "text/html"}
XML = {"Content-Type": "application/xml"}
ROBOTS = b"User-agent: *\nDisallow: /private/\nSitemap: https://a.example/sitemap.xml\n"
SITEMAP = b"<urlset><url><loc>https://a.example/p</loc></url></urlset>"
PAGE = b"<title>P</title><p>P."

Answers = Mapping[str, Response | Failure]
FINE: dict[str, Response | Failure] = {
    f"{ORIGIN}/robots.txt": Response(200, PLAIN, ROBOTS),
    f"{OTHER}/robots.txt": Response(200, PLAIN, ROBOTS),
    f"{ORIGIN}/sitemap.xml": Response(200, XML, SITEMAP),
    f"{ORIGIN}/p": Response(200, HTML, PAGE),
}


class Told:
    """A transport that answers from a table, and records the requests."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def send(self, request: Request) -> Response | Failure:
        self.asked.append(request.url)
        return self.answers.get(request.url, Response(404))

    def close(self) -> None:
        pass


Run = Callable[..., Audit]


@pytest.fixture
def run() -> Run:
    """Return a function that audits a site of FINE with changes."""

    def audited(changes: Answers | None = None, url: str = f"{ORIGIN}/p", **options: Any) -> Audit:
        transport = Told({**FINE, **(changes or {})})
        with Client(
            "ExampleAudit/1.0", store="memory:", transport=transport, min_delay=0.0
        ) as client:
            found = audit(client, url, options.pop("token", "ExampleBot"), **options)
        asked[:] = transport.asked
        return found

    asked: list[str] = []
    audited.asked = asked  # type: ignore[attr-defined]
    return audited


def codes(found: Audit) -> list[str]:
    """Return the codes of an audit."""
    return [one.code for one in found.findings]


def robots(body: str, **headers: str) -> Answers:
    """Return both schemes with a robots.txt."""
    fields = {**PLAIN, **{name.replace("_", "-"): value for name, value in headers.items()}}
    answer = Response(200, fields, body.encode())
    return {f"{ORIGIN}/robots.txt": answer, f"{OTHER}/robots.txt": answer}


def page(html: str = "", path: str = "/p", **headers: str) -> Answers:
    """Return a page."""
    fields = {**HTML, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return {f"{ORIGIN}{path}": Response(200, fields, html.encode())}


class TestFine:
    """A page where everything fits."""

    def test_nothing_is_found(self, run: Run) -> None:
        """No finding, and all parts are there."""
        found = run()
        assert found.findings == ()
        assert found.is_clean
        assert found.verdict.allowed
        assert found.guidance.may_index
        [listed] = found.sitemaps
        assert listed.lists_page is True
        assert found.other_scheme is not None
        assert found.user_agent == "ExampleAudit/1.0"

    def test_each_is_requested_once(self, run: Run) -> None:
        """A live page is fetched politely."""
        run()
        assert sorted(run.asked) == sorted(FINE)  # type: ignore[attr-defined]

    def test_for_all_crawlers(self, run: Run) -> None:
        """Without a crawler it is for all that no group names."""
        assert run(token=None).product_tokens == ("*",)
        assert run(token=["A", "B"]).product_tokens == ("A", "B")

    def test_known_files_are_requested_again(self) -> None:
        """An audit is about now, whatever the client has."""
        transport = Told(FINE)
        with Client("A/1", store="memory:", transport=transport, min_delay=0.0) as client:
            client.check(f"{ORIGIN}/p")
            audit(client, f"{ORIGIN}/p")
        assert transport.asked.count(f"{ORIGIN}/robots.txt") == 2

    def test_as_json(self, run: Run) -> None:
        """Plain values, with every key that the page describes."""
        values = run().as_dict()
        assert json.loads(json.dumps(values)) == values
        text = (DOCS / "cli/audit.md").read_text(encoding="utf-8").partition("## JSON")[2]
        for name in values:
            assert f"`{name}`" in text
        for part in ("steps", "sitemaps", "findings"):
            for one in run(robots("Disallow: /")).as_dict()[part] or values[part]:
                assert all(f"`{name}`" in text for name in one)
        assert values["counts"] == {"error": 0, "warning": 0, "info": 0}

    def test_as_text(self, run: Run) -> None:
        """One line for the verdict, one for each finding."""
        text = str(run(robots("User-agent: *\nDisalow: /p")))
        assert text.startswith(f"{ORIGIN}/p for ExampleBot: disallowed by line 2: Disallow: /p\n")
        assert "\n  robots.txt, line 2: warning typo: " in text

    def test_misuse(self, run: Run) -> None:
        """What has no robots.txt cannot be audited."""
        with pytest.raises(ValueError, match="pass an http or https URL"):
            run(url="/p")
        with pytest.raises(ValueError, match="profile"):
            run(profile="none")

    def test_over_a_wire(self) -> None:
        """The same with a real transport and a real site."""
        answers = {
            "/robots.txt": response("User-agent: *\nDisallow: /x\n", "Content-Type: text/plain"),
            "/p": response("", "Location: /x", status="301 Moved"),
        }
        told: list[str] = []
        with site(answers) as running:
            with Client(
                "A/1", store="memory:", allow_private=["127.0.0.1"], min_delay=0.0
            ) as client:
                found = audit(client, f"{running.origin}/p", progress=told.append)
            assert running.asked == ["/robots.txt", "/p"]
        assert codes(found) == ["redirect-to-disallowed", "not-crawled", "no-sitemap"]
        assert told == [f"{running.origin}/robots.txt", f"{running.origin}/p"]
        assert found.other_scheme is None


FAILED = Failure(FailureReason.TIMEOUT, "10 s in all")
REFUSED = Failure(FailureReason.REFUSED, "a.example is 10.0.0.1; pass allow_private=['a.example']")
URLSET = "<urlset>{}</urlset>".format
LISTED = "<url><loc>https://a.example{}</loc></url>".format

# What earns each finding: changes to the site, and options.
EARNS: dict[str, tuple[Answers, dict[str, Any]]] = {
    "robots-unreachable": ({f"{ORIGIN}/robots.txt": Response(503)}, {}),
    "robots-lost": ({f"{ORIGIN}/robots.txt": Response(301, {"Location": "/robots.txt"})}, {}),
    "robots-restricted": ({f"{ORIGIN}/robots.txt": Response(403)}, {}),
    "no-robots": ({f"{ORIGIN}/robots.txt": Response(404)}, {}),
    "robots-redirected": (
        {f"{ORIGIN}/robots.txt": Response(301, {"Location": f"{OTHER}/robots.txt"})},
        {},
    ),
    "robots-media-type": (robots(ROBOTS.decode(), Content_Type="text/html"), {}),
    "robots-charset": (robots(ROBOTS.decode(), Content_Type="text/plain; charset=utf-16"), {}),
    "robots-long-lifetime": (robots(ROBOTS.decode(), Cache_Control="max-age=604800"), {}),
    "robots-short-lifetime": (robots(ROBOTS.decode(), Cache_Control="max-age=10"), {}),
    "schemes-disagree": (
        {f"{OTHER}/robots.txt": Response(200, PLAIN, b"User-agent: *\nDisallow: /")},
        {},
    ),
    "schemes-differ": ({f"{OTHER}/robots.txt": Response(404)}, {}),
    "page-unreachable": ({f"{ORIGIN}/p": FAILED}, {}),
    "page-status": ({f"{ORIGIN}/p": Response(410)}, {}),
    "page-redirected": (
        {f"{ORIGIN}/p": Response(308, {"Location": "/q"}), **page("<p>", "/q")},
        {},
    ),
    "redirect-to-disallowed": ({f"{ORIGIN}/p": Response(302, {"Location": "/private/"})}, {}),
    "redirect-unreachable": (
        {
            f"{ORIGIN}/p": Response(302, {"Location": "https://lost.example/x"}),
            "https://lost.example/robots.txt": FAILED,
        },
        {},
    ),
    "canonical-not-http": (page(Link="<javascript:alert(1)>; rel=canonical"), {}),
    "canonical-unreachable": (
        {
            **page(Link="<https://lost.example/x>; rel=canonical"),
            "https://lost.example/robots.txt": FAILED,
        },
        {},
    ),
    "canonical-disallowed": (page(Link="</private/p>; rel=canonical"), {}),
    "canonicals-differ": (page("<link rel=canonical href=/q>", Link="</p>; rel=canonical"), {}),
    "tags-disagree": (page("<meta name=robots content=all>", Robots_Tag="*;noindex"), {}),
    "usage-disagrees": (
        {**robots("User-agent: *\nContent-Usage: search=n"), **page(Content_Usage="search=y")},
        {},
    ),
    "no-sitemap": (robots("User-agent: *"), {}),
    "sitemap-unreachable": ({f"{ORIGIN}/sitemap.xml": Response(500)}, {}),
    "sitemap-disallowed": (
        robots(f"User-agent: *\nDisallow: /s\nSitemap: {ORIGIN}/sitemap.xml"),
        {},
    ),
    "sitemap-unreadable": ({f"{ORIGIN}/sitemap.xml": Response(200, XML, b"<html>")}, {}),
    "sitemap-media-type": ({f"{ORIGIN}/sitemap.xml": Response(200, HTML, SITEMAP)}, {}),
    "sitemap-cut": ({f"{ORIGIN}/sitemap.xml": Response(200, XML, SITEMAP[:-20], False)}, {}),
    "sitemaps-not-read": (
        robots(f"User-agent: *\nSitemap: {ORIGIN}/1\nSitemap: {ORIGIN}/2"),
        {"max_sitemaps": 1},
    ),
    "listed-and-disallowed": (
        robots(f"{ROBOTS.decode()}\nUser-agent: ExampleBot\nDisallow: /p"),
        {},
    ),
    "listed-and-noindex": (page("<meta name=robots content=noindex>"), {}),
    "listed-and-redirected": (
        {f"{ORIGIN}/p": Response(301, {"Location": "/q"}), **page("<p>", "/q")},
        {},
    ),
    "lists-disallowed": (
        {f"{ORIGIN}/sitemap.xml": Response(200, XML, URLSET(LISTED("/private/")).encode())},
        {},
    ),
}


class TestFindings:
    """What contradicts what."""

    @pytest.mark.parametrize("code", EARNS)
    def test_every_finding_is_earned(self, run: Run, code: str) -> None:
        """The least that earns it, and it has the level of its code."""
        changes, options = EARNS[code]
        found = [one for one in run(changes, **options).findings if one.code == code]
        assert found
        assert found[0].level == CODES[code][0]
        assert "{" not in found[0].message

    def test_broken_redirect_of_the_robots_txt(self, run: Run) -> None:
        """It is unreachable, and the finding is about the redirect."""
        found = run({f"{ORIGIN}/robots.txt": Response(301)})
        [one] = [one for one in found.findings if one.where == "robots.txt"]
        assert one.code == "robots-lost"
        assert "301 without a usable Location" in one.message

    def test_every_code_is_known(self) -> None:
        """All are earned here or below, and the page has the row of each."""
        assert set(EARNS) == set(CODES) - {"robots-old-copy"}
        text = (DOCS / "cli/audit.md").read_text(encoding="utf-8")
        for code, (level, sentence) in CODES.items():
            words = re.sub(r"\{\w+\}", "…", sentence)
            assert f"\n| `{code}` | {level} | {words} |\n" in text
            assert level in LEVELS

    def test_levels_decide_what_is_clean(self, run: Run) -> None:
        """Information requires no action; errors come first."""
        assert run(EARNS["no-robots"][0]).is_clean
        assert not run(EARNS["page-status"][0]).is_clean
        many = run({**EARNS["robots-media-type"][0], **EARNS["page-status"][0]}).findings
        assert [one.level for one in many] == sorted((one.level for one in many), key=LEVELS.index)

    def test_notes_are_passed_on(self, run: Run) -> None:
        """Of the file, of its other records, of fields and of elements, each with its place."""
        found = run(
            {
                **robots("User-agent: *\nDisalow: /x\nCrawl-delay: x\nContent-Usage: a b"),
                **page("<p><meta name=robots content=noindex>", Robots_Tag="noindex"),
            }
        )
        where = {one.code: one.where for one in found.findings}
        assert where["typo"] == "robots.txt, line 2"
        assert where["bad-crawl-delay"] == "robots.txt, line 3"
        assert where["bad-structure"] == "robots.txt, line 4"
        assert where["legacy-syntax"] == "page, Robots-Tag line 1"
        assert where["meta-outside-head"] == "page, meta element 1"

    def test_not_utf8(self, run: Run) -> None:
        """REP-2.3-03: the parser's notes report it."""
        answer = Response(200, PLAIN, b"User-agent: *\nDisallow: /\xe9\n")
        assert "invalid-utf8" in codes(run({f"{ORIGIN}/robots.txt": answer}))

    def test_an_address_that_is_not_requested(self, run: Run) -> None:
        """The message contains no fix that the site could apply."""
        found = run({f"{ORIGIN}/robots.txt": REFUSED})
        [one] = [one for one in found.findings if one.code == "robots-unreachable"]
        assert "allow_private" not in one.message
        assert codes(found).count("not-crawled") == 0

    def test_a_missing_media_type(self, run: Run) -> None:
        """Nothing is not text/plain either."""
        bare = Response(200, {}, ROBOTS)
        assert "robots-media-type" in codes(run({f"{ORIGIN}/robots.txt": bare}))

    @pytest.mark.parametrize("value", ["no-store", "no-cache", "max-age=0"])
    def test_what_is_not_to_be_kept(self, run: Run, value: str) -> None:
        """A robots.txt that forbids caching is requested less often than it asks for."""
        assert "robots-short-lifetime" in codes(run(robots(ROBOTS.decode(), Cache_Control=value)))

    @pytest.mark.parametrize("value", ["max-age=3600", "max-age=86400", "private"])
    def test_usual_lifetimes(self, run: Run, value: str) -> None:
        """No findings about them."""
        assert run(robots(ROBOTS.decode(), Cache_Control=value)).findings == ()

    def test_a_file_that_became_unreachable(self) -> None:
        """The live answer is an error, although the last file still holds."""
        transport = Told(dict(FINE))
        with Client("A/1", store="memory:", transport=transport, min_delay=0.0) as client:
            client.check(f"{ORIGIN}/p")
            transport.answers = {**FINE, f"{ORIGIN}/robots.txt": Response(500)}
            found = audit(client, f"{ORIGIN}/p")
        assert codes(found)[:2] == ["robots-unreachable", "robots-old-copy"]
        assert found.verdict.allowed

    @pytest.mark.parametrize(
        ("field", "html", "earned"),
        [
            ("*;noindex", "<meta name=robots content=index>", True),
            ("*;noindex", "<meta name=robots content='all, nofollow'>", True),
            ("*;max-snippet=50", "<meta name=robots content=max-snippet:80>", True),
            ("*;max-snippet=50", "<meta name=robots content=max-snippet:-1>", True),
            ("*;noindex", "<meta name=robots content=noindex>", False),
            ("*;noindex", "<meta name=robots content=nofollow>", False),
            ("*;noindex", "<meta name=robots content=follow>", False),
            ("*;noindex", "<meta name=OtherBot content=index>", False),
            ("*;nofollow", "", False),
        ],
    )
    def test_headers_against_elements(self, run: Run, field: str, html: str, earned: bool) -> None:
        """A contradiction is one that takes back, or states another value; silence is none."""
        found = codes(run(page(html, Robots_Tag=field)))
        assert ("tags-disagree" in found) is earned

    def test_the_number_of_contradictions_is_limited(self, run: Run) -> None:
        """Each pair of places is reported once, and no more than twenty."""
        metas = "<meta name=robots content='index, follow'>" * 30
        found = codes(run(page(metas, Robots_Tag="*;noindex;nofollow")))
        assert found.count("tags-disagree") == 20

    def test_reservations(self, run: Run) -> None:
        """What is odd about TDM fields is passed on."""
        assert "bad-reservation" in codes(run(page(tdm_reservation="2")))

    def test_schemes(self, run: Run) -> None:
        """An origin that does not answer contradicts nothing, and a port has no other scheme."""
        assert run({f"{OTHER}/robots.txt": FAILED}).findings == ()
        assert run({f"{OTHER}/robots.txt": Response(500)}).findings == ()
        assert run(url=f"{ORIGIN}:8443/p").other_scheme is None
        assert run(url=f"{OTHER}/p").other_scheme is not None

    @pytest.mark.parametrize(
        ("seconds", "words"),
        [
            (604_800, "7 days"),
            (86_400, "1 day"),
            (5_400, "1.5 hours"),
            (4_500, "1.2 hours"),
            (3_600, "1 hour"),
            (60, "1 minute"),
            (1, "1 second"),
            (0, "0 seconds"),
        ],
    )
    def test_times(self, seconds: float, words: str) -> None:
        """For people."""
        assert _format_duration(seconds) == words

    def test_a_finding_is_a_value(self) -> None:
        """What strangers write is quoted and never a template."""
        one = finding("page-redirected", "page", url="{code}")
        assert one == Finding("page-redirected", "info", "The URL redirects to {code}.", "page")
        assert str(one) == "page: info page-redirected: The URL redirects to {code}."


class TestOwn:
    """A page of the caller's own."""

    DRAFT = page("<meta name=robots content=noindex>", "/private/1", Robots_Tag="*;nofollow")
    URL = f"{ORIGIN}/private/1"

    def test_it_is_not_requested(self, run: Run) -> None:
        """A page that the rules disallow is not fetched, so its content is unknown."""
        found = run(self.DRAFT, self.URL)
        assert self.URL not in run.asked  # type: ignore[attr-defined]
        assert "noindex-not-seen" not in codes(found)
        assert found.page.status is None

    def test_it_is_read_if_it_is_yours(self, run: Run) -> None:
        """Then a noindex that crawlers cannot see is found."""
        found = run(self.DRAFT, self.URL, ignore_disallow=True)
        assert run.asked.count(self.URL) == 1  # type: ignore[attr-defined]
        assert "noindex-not-seen" in codes(found)
        assert found.guidance.may_index is None
        assert found.page.status == 200
        assert not found.verdict
        assert [step.verdict.allowed for step in found.steps] == [False]

    def test_redirects_of_it(self, run: Run) -> None:
        """Each is a step, with its verdict."""
        moved = {f"{ORIGIN}/private/0": Response(301, {"Location": "/private/1"})}
        found = run({**self.DRAFT, **moved}, f"{ORIGIN}/private/0", ignore_disallow=True)
        steps = [(step.url[len(ORIGIN) :], step.status) for step in found.steps]
        assert steps == [("/private/0", 301), ("/private/1", 200)]

    def test_one_that_does_not_answer(self, run: Run) -> None:
        """That is found too."""
        found = run({self.URL: FAILED}, self.URL, ignore_disallow=True)
        assert "page-unreachable" in codes(found)
        found = run({self.URL: Response(404)}, self.URL, ignore_disallow=True)
        assert "page-status" in codes(found)

    def test_an_unreachable_robots_txt(self, run: Run) -> None:
        """The page can be read all the same."""
        found = run({f"{ORIGIN}/robots.txt": FAILED}, ignore_disallow=True)
        assert found.page.status == 200
        assert not found.verdict

    def test_what_is_allowed_is_read_once(self, run: Run) -> None:
        """The option changes nothing where nothing is in the way."""
        assert run(ignore_disallow=True).findings == ()
        assert run.asked.count(f"{ORIGIN}/p") == 1  # type: ignore[attr-defined]


class TestSitemaps:
    """Sitemaps that the robots.txt names."""

    def test_an_index(self, run: Run) -> None:
        """Its sitemaps are read, within the bound; an index in an index is not followed."""
        index = (
            b"<sitemapindex><sitemap><loc>https://a.example/1.xml</loc></sitemap>"
            b"<sitemap><loc>https://a.example/2.xml</loc></sitemap>"
            b"<sitemap><loc>https://a.example/sitemap.xml</loc></sitemap></sitemapindex>"
        )
        answers = {
            f"{ORIGIN}/sitemap.xml": Response(200, XML, index),
            f"{ORIGIN}/1.xml": Response(
                200, {"Content-Type": "application/gzip"}, gzip.compress(SITEMAP)
            ),
            f"{ORIGIN}/2.xml": Response(200, XML, index.replace(b"/1.xml", b"/3.xml")),
        }
        found = run(answers)
        assert [one.url[len(ORIGIN) :] for one in found.sitemaps] == [
            "/sitemap.xml",
            "/1.xml",
            "/2.xml",
        ]
        assert [one.lists_page for one in found.sitemaps] == [None, True, None]
        assert found.sitemaps[1].named_by == f"{ORIGIN}/sitemap.xml"
        assert found.findings == ()
        found = run(answers, max_sitemaps=2)
        assert len(found.sitemaps) == 2
        assert codes(found) == ["sitemaps-not-read"]

    def test_none(self, run: Run) -> None:
        """With a limit of zero no sitemap is requested."""
        found = run(max_sitemaps=0)
        assert (found.sitemaps, found.findings) == ((), ())
        assert f"{ORIGIN}/sitemap.xml" not in run.asked  # type: ignore[attr-defined]

    def test_a_page_is_found_however_it_is_written(self, run: Run) -> None:
        """URLs are equal if rules cannot distinguish them."""
        listed = URLSET(LISTED(":443/%70#top")).encode()
        found = run({f"{ORIGIN}/sitemap.xml": Response(200, XML, listed)})
        assert found.sitemaps[0].steps == (f"{ORIGIN}/p",)
        other = b"<urlset><url><loc>https://b.example/p</loc></url></urlset>"
        found = run({f"{ORIGIN}/sitemap.xml": Response(200, XML, other)})
        assert found.sitemaps[0].lists_page is False

    def test_one_that_does_not_answer(self, run: Run) -> None:
        """The reason is reported."""
        [one] = run({f"{ORIGIN}/sitemap.xml": FAILED}).findings
        assert one.message == "The sitemap cannot be read: no response in time: 10 s in all."

    def test_a_part_of_a_list(self, run: Run) -> None:
        """Whether it lists the page is not known."""
        cut = Response(200, XML, b"<urlset><url><loc>https://a.example/q</loc></url>", False)
        assert run({f"{ORIGIN}/sitemap.xml": cut}).sitemaps[0].lists_page is None

    def test_elsewhere(self, run: Run) -> None:
        """A sitemap of another origin is requested under that origin's rules."""
        body = "User-agent: *\nSitemap: https://b.example/s.xml\nSitemap: ftp://a.example/s.xml"
        answers = {
            **robots(body),
            "https://b.example/robots.txt": Response(200, PLAIN, b"User-agent: *\nDisallow: /s"),
        }
        found = run(answers)
        assert "https://b.example/s.xml" not in run.asked  # type: ignore[attr-defined]
        assert [one.page.verdict.reason for one in found.sitemaps] == ["disallow-rule", "no-origin"]

    def test_how_many_are_disallowed(self, run: Run) -> None:
        """They are counted, the page itself apart."""
        paths = ["/p", "/private/1", "/private/2", "/q"]
        listed = URLSET("".join(map(LISTED, paths))).encode()
        found = run({f"{ORIGIN}/sitemap.xml": Response(200, XML, listed)})
        [one] = found.findings
        assert one.message.startswith("The sitemap lists 2 URLs of this origin that")
        assert found.sitemaps[0].as_dict()["disallowed"] == 2
