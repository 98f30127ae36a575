"""Complete audit reports: every finding with its message, every value, and which rules decide."""

from __future__ import annotations

from typing import Any

import pytest

from robotrules.access import Failure, FailureReason, Response
from robotrules.cache import format_timestamp
from robotrules.client import Client
from robotrules.client.auditing import Audit, audit
from robotrules.client.auditing.checks import MAX_QUOTE
from robotrules.client.auditing.findings import Finding, finding
from tests.client.test_audit import (
    EARNS,
    FAILED,
    FINE,
    HTML,
    ORIGIN,
    OTHER,
    PLAIN,
    ROBOTS,
    Answers,
    Told,
    page,
    robots,
)

FILE = "robots.txt"
SITEMAP = f"sitemap {ORIGIN}/sitemap.xml"
LOST = "no response in time: robots.txt: 10 s in all"
RULE = "line 2: Disallow: /private/"
DIFFER = finding("schemes-differ", FILE, origin=OTHER)
NONE_NAMED = finding("no-sitemap", FILE)
NOT_CRAWLED = Finding(
    "not-crawled",
    "warning",
    "robots.txt blocks the URL, so the tags of its page are unknown. A URL that other pages link "
    "to may still be listed: to keep it out, allow the crawl and use noindex.",
    "page",
)
MOVED = finding("listed-and-redirected", SITEMAP, url=f"{ORIGIN}/p")
NOINDEX = finding("listed-and-noindex", SITEMAP, url=f"{ORIGIN}/p")

# All that is found where the finding of a code is earned.
FOUND: dict[str, list[Finding]] = {
    "robots-unreachable": [finding("robots-unreachable", FILE, why="status 503")],
    "robots-lost": [
        finding("robots-lost", FILE, why=f"a redirect loop: back to {ORIGIN}/robots.txt"),
        DIFFER,
    ],
    "robots-restricted": [finding("robots-restricted", FILE, status=403), DIFFER],
    "no-robots": [finding("no-robots", FILE, why="status 404"), DIFFER],
    "robots-redirected": [finding("robots-redirected", FILE, url=f"{OTHER}/robots.txt")],
    "robots-media-type": [finding("robots-media-type", FILE, type="text/html")],
    "robots-charset": [finding("robots-charset", FILE, charset="utf-16")],
    "robots-long-lifetime": [finding("robots-long-lifetime", FILE, time="7 days")],
    "robots-short-lifetime": [finding("robots-short-lifetime", FILE, time="10 seconds")],
    "schemes-disagree": [finding("schemes-disagree", FILE, origin=OTHER, word="disallowed")],
    "schemes-differ": [DIFFER],
    "page-unreachable": [
        finding("page-unreachable", "page", why="no response in time: 10 s in all")
    ],
    "page-status": [finding("page-status", "page", status=410)],
    "page-redirected": [MOVED, finding("page-redirected", "page", url=f"{ORIGIN}/q")],
    "redirect-to-disallowed": [
        finding("redirect-to-disallowed", "page", url=f"{ORIGIN}/private/", why=RULE),
        NOT_CRAWLED,
        MOVED,
    ],
    "redirect-unreachable": [
        finding("redirect-unreachable", "page", url="https://lost.example/x", why=LOST),
        MOVED,
    ],
    "canonical-not-http": [finding("canonical-not-http", "page, Link", url="javascript:alert(1)")],
    "canonical-unreachable": [
        finding("canonical-unreachable", "page, Link", url="https://lost.example/x")
    ],
    "canonical-disallowed": [
        finding(
            "canonical-disallowed",
            "page, Link",
            url=f"{ORIGIN}/private/p",
            why=RULE,
            who="ExampleBot",
        )
    ],
    "canonicals-differ": [finding("canonicals-differ", "page", urls=f"{ORIGIN}/p and {ORIGIN}/q")],
    "tags-disagree": [
        finding(
            "tags-disagree",
            "page",
            one="Robots-Tag line 1",
            what="noindex",
            other="meta element 1",
            else_="all",
        ),
        NOINDEX,
    ],
    "usage-disagrees": [
        finding(
            "usage-disagrees",
            "page, Content-Usage",
            category="search",
            one="robots.txt, line 2",
            what="disallowed",
            other="the field",
            else_="allowed",
        ),
        NONE_NAMED,
    ],
    "no-sitemap": [NONE_NAMED],
    "sitemap-unreachable": [finding("sitemap-unreachable", SITEMAP, why="status 500")],
    "sitemap-disallowed": [finding("sitemap-disallowed", SITEMAP, why="line 2: Disallow: /s")],
    "sitemap-unreadable": [finding("sitemap-unreadable", SITEMAP, why="it is an HTML page")],
    "sitemap-media-type": [finding("sitemap-media-type", SITEMAP, type="text/html", what="XML")],
    "sitemap-cut": [finding("sitemap-cut", SITEMAP, count=0)],
    "sitemaps-not-read": [
        finding("sitemap-unreachable", f"sitemap {ORIGIN}/1", why="status 404"),
        finding("sitemaps-not-read", FILE, most=1, count=1),
    ],
    "listed-and-disallowed": [
        NOT_CRAWLED,
        finding("listed-and-disallowed", SITEMAP, url=f"{ORIGIN}/p"),
    ],
    "listed-and-noindex": [NOINDEX],
    "listed-and-redirected": [MOVED, finding("page-redirected", "page", url=f"{ORIGIN}/q")],
    "lists-disallowed": [
        finding("lists-disallowed", SITEMAP, count="1 URL", url=f"{ORIGIN}/private/")
    ],
}


def audited(changes: Answers | None = None, url: str = f"{ORIGIN}/p", **options: Any) -> Audit:
    """Audit a site where everything fits, with changes; *client*: options of the client."""
    made = {"store": "memory:", "min_delay": 0.0, **options.pop("client", {})}
    transport = Told({**FINE, **(changes or {})})
    with Client("ExampleAudit/1.0", transport=transport, **made) as client:
        return audit(client, url, options.pop("token", "ExampleBot"), **options)


def served(body: bytes, *, named: str = "application/xml", complete: bool = True) -> Answers:
    """Return a sitemap."""
    answer = Response(200, {"Content-Type": named}, body, complete)
    return {f"{ORIGIN}/sitemap.xml": answer}


class TestFindings:
    """Each finding with its place and its words, and nothing beside it."""

    @pytest.mark.parametrize("code", EARNS)
    def test_every_finding_with_its_words(self, code: str) -> None:
        """What is filled in is what the site answered."""
        changes, options = EARNS[code]
        assert list(audited(changes, **options).findings) == FOUND[code]

    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            (Response(401), finding("robots-restricted", FILE, status=401)),
            (Response(402), finding("no-robots", FILE, why="status 402")),
            (Response(400), finding("no-robots", FILE, why="status 400")),
            (FAILED, finding("robots-unreachable", FILE, why="no response in time: 10 s in all")),
            (
                Failure(FailureReason.TIMEOUT, ""),
                finding("robots-unreachable", FILE, why="no response in time"),
            ),
            (
                Failure(FailureReason.TIMEOUT, FailureReason.TIMEOUT.sentence),
                finding("robots-unreachable", FILE, why="no response in time"),
            ),
            (
                Failure(FailureReason.TIMEOUT, "first; second"),
                finding("robots-unreachable", FILE, why="no response in time: first; second"),
            ),
            (
                Failure(FailureReason.REFUSED, "a; b; c"),
                finding("robots-unreachable", FILE, why=f"{FailureReason.REFUSED.sentence}: a"),
            ),
            (
                Response(301, {"Location": "/robots.txt?1"}),
                finding("no-robots", FILE, why="status 404"),
            ),
        ],
    )
    def test_how_a_robots_txt_fails(self, answer: Response | Failure, expected: Finding) -> None:
        """The status, or a description of the failure, without advice to the client."""
        found = audited({f"{ORIGIN}/robots.txt": answer}).findings
        assert found[0] == expected

    @pytest.mark.parametrize(
        ("fields", "expected"),
        [
            ({}, [finding("robots-media-type", FILE, type="nothing in particular")]),
            ({"Content-Type": "text/plain; charset=UTF8"}, []),
            ({"Content-Type": "text/plain; charset=US-ASCII"}, []),
            ({"Content-Type": "text/plain; charset=ascii"}, []),
            (
                {"Content-Type": "text/html; charset=latin-1", "Cache-Control": "no-store"},
                [
                    finding("robots-media-type", FILE, type="text/html"),
                    finding("robots-charset", FILE, charset="latin-1"),
                    finding("robots-short-lifetime", FILE, time="a moment"),
                ],
            ),
            (
                {**PLAIN, "Cache-Control": "no-cache"},
                [finding("robots-short-lifetime", FILE, time="a moment")],
            ),
            ({**PLAIN, "Cache-Control": "max-age=300"}, []),
            (
                {**PLAIN, "Cache-Control": "max-age=299"},
                [finding("robots-short-lifetime", FILE, time="5 minutes")],
            ),
            (
                {**PLAIN, "Cache-Control": "max-age=86401"},
                [finding("robots-long-lifetime", FILE, time="1 day")],
            ),
            (
                {
                    **PLAIN,
                    "Date": "Thu, 01 Jan 2026 00:00:00 GMT",
                    "Expires": "Sat, 03 Jan 2026 00:00:00 GMT",
                },
                [finding("robots-long-lifetime", FILE, time="2 days")],
            ),
            (
                {
                    **PLAIN,
                    "Date": "Thu, 01 Jan 2026 00:00:00 GMT",
                    "Last-Modified": "Thu, 01 Jan 2015 00:00:00 GMT",
                },
                [],
            ),
        ],
    )
    def test_how_a_robots_txt_is_served(
        self, fields: dict[str, str], expected: list[Finding]
    ) -> None:
        """Its type, its encoding, and how long it asks to be kept; guessed lifetimes are none."""
        answer = Response(200, fields, ROBOTS)
        found = audited({f"{ORIGIN}/robots.txt": answer, f"{OTHER}/robots.txt": answer})
        assert list(found.findings) == expected

    def test_notes_have_their_words_and_levels(self) -> None:
        """Notes of parsers are passed on as they are, of a file without a line too."""
        found = audited(robots("User-agent: *\nDisalow: /x\n" + "#" * 600_000))
        notes = [one for one in found.findings if one.where.startswith(FILE)]
        assert [(one.code, one.level, one.where) for one in notes][:2] == [
            ("truncated", "error", FILE),
            ("typo", "warning", "robots.txt, line 2"),
        ]
        expected = {
            (note.code, note.level, note.message) for note in found.origin_state.robots.notes
        }
        assert expected <= {one[:3] for one in notes}

    def test_a_long_quotation_is_cut(self) -> None:
        """A URL of a stranger does not fill the report; the longest that is quoted is whole."""
        for length, shown in ((MAX_QUOTE, MAX_QUOTE), (MAX_QUOTE + 1, MAX_QUOTE)):
            target = f"{ORIGIN}/".ljust(length, "q")
            moved = {
                f"{ORIGIN}/p": Response(301, {"Location": target}),
                target: FINE[f"{ORIGIN}/p"],
            }
            [one] = [one for one in audited(moved).findings if one.code == "page-redirected"]
            quoted = target if length == shown else target[: MAX_QUOTE - 1] + "…"
            assert one.message == f"The URL redirects to {quoted}."

    def test_schemes_that_allow_more(self) -> None:
        """The other file is checked for the same path, the same crawler and the same purposes."""
        body = b"User-agent: ExampleAudit\nDisallow: /\n\nUser-agent: *\nDisallow: /q\n"
        other = {f"{OTHER}/robots.txt": Response(200, PLAIN, body)}
        found = audited(other, f"{ORIGIN}/private/p?q")
        assert found.findings[0] == finding("schemes-disagree", FILE, origin=OTHER, word="allowed")
        body = b"User-agent-purpose: search\nAllow: /\n\nUser-agent: *\nDisallow: /\n"
        other = {f"{OTHER}/robots.txt": Response(200, PLAIN, body)}
        assert list(audited(other, purposes=["search"]).findings) == [DIFFER]
        body = b"User-agent: *\nDisallow: /p?q\n"
        other = {f"{OTHER}/robots.txt": Response(200, PLAIN, body)}
        assert list(audited(other).findings) == [DIFFER]

    def test_an_unreachable_robots_txt_has_no_other_scheme_to_contradict(self) -> None:
        """What does not answer is reported once."""
        found = audited({f"{ORIGIN}/robots.txt": Response(500)})
        assert list(found.findings) == [finding("robots-unreachable", FILE, why="status 500")]

    def test_a_redirect_that_leads_nowhere(self) -> None:
        """The page cannot be read, and its redirect target is not reported."""
        found = audited({f"{ORIGIN}/p": Response(301, {"Location": "/p"})})
        assert list(found.findings) == [finding("page-unreachable", "page", why="a redirect loop")]

    def test_a_redirect_of_what_is_disallowed(self) -> None:
        """A disallowed URL that redirects to a disallowed one is reported only as disallowed."""
        moved = {
            f"{ORIGIN}/private/0": Response(301, {"Location": "/private/1"}),
            **page("", "/private/1"),
        }
        found = audited(moved, f"{ORIGIN}/private/0", ignore_disallow=True)
        assert list(found.findings) == [NOT_CRAWLED]

    def test_three_canonical_urls_are_named(self) -> None:
        """Of many, the first three; the same one twice is one."""
        links = ", ".join(f"<{path}>; rel=canonical" for path in "1234")
        [one] = audited(page("<link rel=canonical href=1>", Link=links)).findings
        urls = " and ".join(f"{ORIGIN}/{path}" for path in "123")
        assert one == finding("canonicals-differ", "page", urls=urls)
        assert not audited(
            page("<link rel=canonical href=/1>", Link="</1>; rel=canonical")
        ).findings

    @pytest.mark.parametrize(
        ("field", "metas", "places"),
        [
            # Each place that forbids is reported with each that permits.
            (
                "*;noindex",
                ("nofollow", "all"),
                [("Robots-Tag line 1", "meta element 2"), ("meta element 1", "meta element 2")],
            ),
            # Of two that forbid the same, the first.
            ("*;noindex", ("noindex", "index"), [("Robots-Tag line 1", "meta element 2")]),
            # A pair is reported once, and others after it.
            (
                "*;noindex;nofollow",
                ("index, follow", "follow"),
                [("Robots-Tag line 1", "meta element 1"), ("Robots-Tag line 1", "meta element 2")],
            ),
            # A limit that limits nothing contradicts no other rule.
            ("*;noindex", ("max-snippet:-1",), []),
        ],
    )
    def test_which_tags_disagree(
        self, field: str, metas: tuple[str, ...], places: list[tuple[str, str]]
    ) -> None:
        """Pairs of places, each once."""
        html = "".join(f"<meta name=robots content='{content}'>" for content in metas)
        told = [
            one.message.split(" says ")
            for one in audited(page(html, Robots_Tag=field)).findings
            if one.code == "tags-disagree"
        ]
        assert [(one[0], one[1].partition(", and ")[2]) for one in told] == places

    def test_notes_of_fields(self) -> None:
        """What is odd about a reservation is passed on with its words."""
        found = audited(page(tdm_reservation="2"))
        [note] = found.guidance.reservation.notes
        assert list(found.findings) == [Finding(note.code, note.level, note.message, "page")]

    def test_each_category_of_usage(self) -> None:
        """Both sources are compared for each category; agreement and absence are not reported."""
        body = f"User-agent: *\nContent-Usage: train-ai=n, search=y\n{ROBOTS.decode()}"
        found = audited({**robots(body), **page(Content_Usage="train-ai=y, search=n")})
        told = [one.message for one in found.findings if one.code == "usage-disagrees"]
        assert told == [
            "About train-ai, robots.txt, line 2 says disallowed and the field says allowed: "
            "what disallows counts.",
            "About search, robots.txt, line 2 says allowed and the field says disallowed: "
            "what disallows counts.",
        ]
        for field in ("train-ai=n, search=y", "search=y", ""):
            found = audited({**robots(body), **page(Content_Usage=field)})
            assert "usage-disagrees" not in [one.code for one in found.findings]


class TestTexts:
    """The report as text."""

    def test_the_whole_text(self) -> None:
        """The verdict for all audited crawlers, then each finding on its line."""
        found = audited(EARNS["page-status"][0], token=["A", "B"])
        assert str(found) == (
            f"{ORIGIN}/p for A, B: allowed: no rule matches\n"
            "  page: warning page-status: The page responds with 410, so there is nothing to index."
        )
        assert [found.count(level) for level in ("error", "warning", "info")] == [0, 1, 0]

    def test_misuse_messages_contain_the_fix(self) -> None:
        """The whole sentence."""
        with pytest.raises(
            ValueError, match=r"^'/p' has no robots\.txt: pass an http or https URL$"
        ):
            audited(url="/p")


class TestValues:
    """The report as plain values."""

    def test_a_page_where_everything_fits(self) -> None:
        """Every key and every value."""
        found = audited(purposes=["search"])
        verdict = {"allowed": True, "reason": "no-match", "rule": None, "profile": "default"}
        assert found.origin_state.fetch_record is not None
        assert found.other_scheme is not None
        assert found.as_dict() == {
            "schema_version": 1,
            "url": f"{ORIGIN}/p",
            "product_tokens": ["ExampleBot"],
            "purposes": ["search"],
            "user_agent": "ExampleAudit/1.0",
            "asked_at": format_timestamp(found.origin_state.fetch_record.at),
            "allowed": True,
            "verdict": verdict,
            "robots": found.origin_state.as_dict(),
            "steps": [{"url": f"{ORIGIN}/p", "verdict": verdict, "status": 200}],
            "page": {
                "url": f"{ORIGIN}/p",
                "status": 200,
                "media_type": "text/html",
                "octets": 21,
                "complete": True,
                "failure_reason": None,
                "detail": "",
            },
            "guidance": found.guidance.as_dict(),
            "canonicals": [],
            "sitemaps": [
                {
                    "url": f"{ORIGIN}/sitemap.xml",
                    "named_by": "robots.txt, line 3",
                    "allowed": True,
                    "status": 200,
                    "failure_reason": None,
                    "media_type": "application/xml",
                    "form": "urlset",
                    "gzipped": False,
                    "urls": 1,
                    "complete": True,
                    "lists_page": True,
                    "disallowed": 0,
                }
            ],
            "other_scheme": found.other_scheme.as_dict(),
            "findings": [],
            "counts": {"error": 0, "warning": 0, "info": 0},
        }
        assert found.origin_state.origin == ORIGIN
        assert found.other_scheme.origin == OTHER
        assert found.guidance.purposes == ("search",)
        assert found.guidance.product_tokens == ("ExampleBot",)

    def test_a_page_where_little_fits(self) -> None:
        """Failures, links and findings as values."""
        found = audited(
            {
                f"{ORIGIN}/p": FAILED,
                f"{ORIGIN}/sitemap.xml": FAILED,
            },
        )
        values = found.as_dict()
        assert values["page"] == {
            "url": f"{ORIGIN}/p",
            "status": None,
            "media_type": None,
            "octets": 0,
            "complete": True,
            "failure_reason": "timeout",
            "detail": "10 s in all",
        }
        assert values["sitemaps"] == [
            {
                "url": f"{ORIGIN}/sitemap.xml",
                "named_by": "robots.txt, line 3",
                "allowed": True,
                "status": None,
                "failure_reason": "timeout",
                "media_type": None,
                "form": None,
                "gzipped": None,
                "urls": None,
                "complete": None,
                "lists_page": None,
                "disallowed": 0,
            }
        ]
        why = "no response in time: 10 s in all"
        assert values["findings"] == [
            finding("page-unreachable", "page", why=why).as_dict(),
            finding("sitemap-unreachable", SITEMAP, why=why).as_dict(),
        ]
        assert values["counts"] == {"error": 2, "warning": 0, "info": 0}
        assert values["steps"][0]["status"] is None

    def test_links_and_no_other_scheme(self) -> None:
        """Canonical links are values, and what there is none of is null."""
        answers = {
            f"{ORIGIN}:8443/robots.txt": Response(404),
            f"{ORIGIN}:8443/p": Response(200, {**HTML, "Link": "</c>; rel=canonical"}, b""),
        }
        values = audited(answers, f"{ORIGIN}:8443/p").as_dict()
        assert values["canonicals"] == [{"url": f"{ORIGIN}:8443/c", "carrier": "Link"}]
        assert (values["other_scheme"], values["sitemaps"]) == (None, [])

    def test_a_robots_txt_that_fails_was_requested_now(self) -> None:
        """The time is that of the failure, not of the copy that was fetched before."""
        transport = Told(dict(FINE))
        with Client("A/1", store="memory:", transport=transport, min_delay=0.0) as client:
            client.check(f"{ORIGIN}/p")
            transport.answers = {**FINE, f"{ORIGIN}/robots.txt": Response(500)}
            found = audit(client, f"{ORIGIN}/p")
        assert found.origin_state.entry.last_failure is not None
        assert found.as_dict()["asked_at"] == format_timestamp(
            found.origin_state.entry.last_failure.at
        )
        assert list(found.findings[:2]) == [
            finding("robots-unreachable", FILE, why="status 500"),
            finding("robots-old-copy", FILE),
        ]
