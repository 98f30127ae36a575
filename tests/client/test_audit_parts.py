"""Parts of audits: which rules decide, the caller's own pages, other schemes, sitemaps."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from robotrules.access import Failure, Response
from robotrules.client import Client
from robotrules.client.auditing import audit
from robotrules.client.auditing.findings import finding
from tests.client.test_audit import (
    FINE,
    HTML,
    LISTED,
    ORIGIN,
    OTHER,
    PLAIN,
    ROBOTS,
    URLSET,
    XML,
    Told,
    page,
    robots,
)
from tests.client.test_audit_reports import DIFFER, FILE, SITEMAP, audited, served


class TestWhose:
    """The rules for the audited crawler decide, not those for the client that fetches."""

    RULES = (
        "User-agent: ExampleAudit\nDisallow: /\n\nUser-agent: ExampleBot\nDisallow: /private/\n\n"
        f"Sitemap: {ORIGIN}/sitemap.xml\n"
    )

    by_name_and_by_purpose = pytest.mark.parametrize(
        ("rules", "options"),
        [
            (RULES, {}),
            (
                RULES.replace("User-agent: ExampleBot", "User-agent-purpose: search").replace(
                    "ExampleAudit", "*"
                ),
                {"purposes": ["search"]},
            ),
        ],
    )

    @by_name_and_by_purpose
    def test_the_crawler_and_its_purposes(self, rules: str, options: dict[str, Any]) -> None:
        """The page, its redirects, canonical links and sitemaps are judged by the same rules."""
        listed = URLSET("".join(map(LISTED, ("/q", "/private/1", "/r")))).encode()
        found = audited(
            {
                **robots(rules),
                f"{ORIGIN}/p": Response(302, {"Location": "/q"}),
                **page("", "/q", Link="</c>; rel=canonical"),
                **served(listed),
            },
            **options,
        )
        assert found.verdict.allowed
        assert [(one.url, one.verdict.allowed, one.status) for one in found.steps] == [
            (f"{ORIGIN}/p", True, 302),
            (f"{ORIGIN}/q", True, 200),
        ]
        assert found.guidance.may_crawl
        assert found.sitemaps[0].disallowed == (f"{ORIGIN}/private/1",)
        told = [one.code for one in found.findings if one.code != "leaking-purpose"]
        assert told == ["lists-disallowed", "page-redirected"]

    @by_name_and_by_purpose
    def test_the_last_step_of_the_own_site(self, rules: str, options: dict[str, Any]) -> None:
        """A page that is read although it is disallowed is a step with its verdict."""
        answers = {**robots(rules), **page("", "/private/1")}
        found = audited(answers, f"{ORIGIN}/private/1", ignore_disallow=True, **options)
        [step] = found.steps
        assert (step.verdict.rule is not None, str(step.verdict.rule)) == (
            True,
            "Disallow: /private/",
        )
        assert step.status == 200
        assert found.page.verdict.rule == step.verdict.rule
        assert found.guidance.verdict is not None
        assert found.guidance.verdict.rule == step.verdict.rule

    def test_the_profile_of_tags(self) -> None:
        """Google does not read Robots-Tag; the default profile does."""
        answers = page(Robots_Tag="*;noindex")
        assert audited(answers).guidance.may_index is False
        assert audited(answers, profile="google").guidance.may_index is True

    def test_without_html(self) -> None:
        """Headers alone speak for the page, its canonical links among them."""
        answers = page(
            "<meta name=robots content=noindex><link rel=canonical href=/a>",
            Link="</b>; rel=canonical",
        )
        found = audited(answers, html=False)
        assert [one.carrier for one in found.canonicals] == ["Link"]
        assert found.guidance.usage is not None
        assert found.guidance.usage.as_dict()["read"] == ["headers"]
        assert [one.carrier for one in audited(answers).canonicals] == ["Link", "link element"]

    def test_a_page_that_is_an_error_has_no_links(self) -> None:
        """The content of an error page does not apply to the page."""
        answers = {f"{ORIGIN}/p": Response(404, {**HTML, "Link": "</b>; rel=canonical"}, b"")}
        assert audited(answers).canonicals == ()

    def test_progress(self) -> None:
        """Each URL is reported before it is requested."""
        told: list[str] = []
        audited(progress=told.append)
        assert told == [
            f"{ORIGIN}/robots.txt",
            f"{ORIGIN}/p",
            f"{OTHER}/robots.txt",
            f"{ORIGIN}/sitemap.xml",
        ]


class TestOwn:
    """What is read of the caller's own page although it is disallowed."""

    def test_all_of_the_answer_counts(self) -> None:
        """Fields, body, whether it is whole and when it came are those of the page."""
        url = f"{ORIGIN}/private/1"
        body = b"<meta name=robots content=nofollow><link rel=canonical href=/private/2>"
        answer = Response(
            200, {**HTML, "Robots-Tag": "*;noindex", "Cache-Control": "max-age=60"}, body, False
        )
        found = audited({url: answer}, url, ignore_disallow=True)
        unseen = found.guidance.unseen
        assert unseen is not None
        assert (unseen.may_index, unseen.may_follow) == (False, False)
        assert unseen.freshness is not None
        assert unseen.freshness.received is not None
        assert found.page.at > 1_700_000_000
        assert unseen.freshness.received.timestamp() == pytest.approx(found.page.at, abs=1)
        assert (found.page.complete, found.page.body) == (False, body)
        assert [one.url for one in found.canonicals] == [f"{ORIGIN}/private/2"]
        whole = audited({url: answer._replace(complete=True)}, url, ignore_disallow=True).guidance
        assert whole.as_dict()["unseen"]["notes"] != found.guidance.as_dict()["unseen"]["notes"]

    def test_it_is_read_as_far_as_any_page(self) -> None:
        """The request has the limits and the time of other requests of the client."""
        asked = []

        class Watching(Told):
            """Keeps the requests."""

            def send(self, request: Any) -> Response | Failure:
                asked.append(request)
                return super().send(request)

        url = f"{ORIGIN}/private/1"
        transport = Watching({**FINE, **page("", "/private/1")})
        with Client(
            "A/1", store="memory:", transport=transport, min_delay=0.0, timeout=7.0
        ) as client:
            audit(client, url, "ExampleBot", ignore_disallow=True)
            client.fetch(f"{ORIGIN}/p")
        [own] = [one for one in asked if one.url == url]
        [usual] = [one for one in asked if one.url == f"{ORIGIN}/p"]
        assert (own.limit, own.timeout) == (usual.limit, usual.timeout)
        assert own.timeout == 7.0
        [sitemap] = [one for one in asked if one.url == f"{ORIGIN}/sitemap.xml"]
        assert sitemap.limit == 10 * 1024 * 1024

    def test_the_rules_it_is_read_against(self) -> None:
        """They are those of the client's profile, as for any page."""
        url = f"{ORIGIN}/private/1"
        found = audited(
            page("", "/private/1"), url, client={"profile": "google"}, ignore_disallow=True
        )
        assert found.page.verdict.profile == "google"

    def test_a_url_without_an_origin_is_not_read(self) -> None:
        """A redirect to another scheme ends there, on one's own site too."""
        moved = {f"{ORIGIN}/p": Response(301, {"Location": "ftp://a.example/"})}
        found = audited(moved, ignore_disallow=True)
        assert found.page.status in (None, 301)


class TestSchemes:
    """Where the robots.txt of the other scheme is."""

    @pytest.mark.parametrize(
        ("origin", "other"),
        [
            ("https://a.example", "http://a.example"),
            ("http://a.example", "https://a.example"),
            ("http://[2001:db8::1]", "https://[2001:db8::1]"),
            ("http://[2001:db8::1]:8080", None),
            ("http://a.example:8080", None),
        ],
    )
    def test_the_other_scheme(self, origin: str, other: str | None) -> None:
        """A host has two schemes, and one with an explicit port has one."""
        told: list[str] = []
        found = audited(url=f"{origin}/p", progress=told.append).other_scheme
        assert (found and found.origin) == other
        assert (f"{other}/robots.txt" in told) is (other is not None)


class TestSitemaps:
    """What is reported of sitemaps."""

    @pytest.mark.parametrize(
        ("body", "named", "what"),
        [
            (b"<sitemapindex/>", "text/html", "XML"),
            (b"<rss/>", "text/html", "a feed"),
            (b"https://a.example/p\n", "text/html", "a list of URLs"),
        ],
    )
    def test_forms_in_words(self, body: bytes, named: str, what: str) -> None:
        """A wrong media type is reported with the type of the file."""
        found = audited(served(body, named=named)).findings
        assert list(found) == [finding("sitemap-media-type", SITEMAP, type=named, what=what)]

    @pytest.mark.parametrize(
        ("body", "complete", "lists_page"),
        [
            (b"<urlset/>", True, False),
            (b"<rss/>", True, False),
            (b"https://a.example/q", True, False),
            (b"<sitemapindex/>", True, None),
            (b"{}", True, None),
            (b"<urlset><url></urlset>", True, None),
            (b"<urlset>", False, None),
            (URLSET(LISTED("/p")).encode()[:-9], False, True),
        ],
    )
    def test_whether_the_page_is_listed(
        self, body: bytes, complete: bool, lists_page: bool | None
    ) -> None:
        """A URL is reported as missing only from a list of pages that was read to its end."""
        [listed] = audited(served(body, complete=complete)).sitemaps
        assert listed.lists_page is lists_page

    def test_the_numbers_of_a_list(self) -> None:
        """Many URLs are counted with commas, and the first one is named."""
        urls = "".join(LISTED(f"/private/{number}") for number in range(1_234))
        [one] = audited(served(URLSET(urls).encode())).findings
        assert one == finding(
            "lists-disallowed", SITEMAP, count="1,234 URLs", url=f"{ORIGIN}/private/0"
        )
        cut = served(URLSET(urls.replace("private", "q")).encode()[:-9], complete=False)
        assert list(audited(cut).findings) == [finding("sitemap-cut", SITEMAP, count="1,234")]

    def test_what_was_left_out(self) -> None:
        """Sitemaps of an index that were not requested are counted, each once."""
        names = "".join(
            f"<sitemap><loc>{ORIGIN}/{number}</loc></sitemap>" for number in range(1_500)
        )
        index = f"<sitemapindex>{names}</sitemapindex>".encode()
        found = audited(served(index), max_sitemaps=1)
        assert list(found.findings) == [finding("sitemaps-not-read", FILE, most=1, count="1,500")]

    def test_five_are_requested(self) -> None:
        """Without another number; those that robots.txt names come first, each once."""
        index = "<sitemapindex>{}</sitemapindex>".format(
            "".join(f"<sitemap><loc>{ORIGIN}/{name}</loc></sitemap>" for name in "abcb")
        ).encode()
        body = "".join(f"Sitemap: {ORIGIN}/{name}\n" for name in ("i", "j", "a"))
        answers = {
            **robots(f"User-agent: *\n{body}"),
            f"{ORIGIN}/i": Response(200, XML, index),
            f"{ORIGIN}/j": Response(200, XML, index.replace(b"/b", b"/d")),
        }
        found = audited(answers)
        assert [(one.url[-1], one.named_by) for one in found.sitemaps] == [
            ("i", "robots.txt, line 2"),
            ("j", "robots.txt, line 3"),
            ("a", "robots.txt, line 4"),
            ("b", f"{ORIGIN}/i"),
            ("c", f"{ORIGIN}/i"),
        ]
        assert found.findings[-1] == finding("sitemaps-not-read", FILE, most=5, count=1)

    def test_without_rules_there_are_none(self) -> None:
        """A missing robots.txt names no sitemaps, and that is not reported again."""
        found = audited({f"{ORIGIN}/robots.txt": Response(404, PLAIN, ROBOTS)})
        assert (found.sitemaps, list(found.findings)) == (
            (),
            [finding("no-robots", FILE, why="status 404"), DIFFER],
        )

    def test_each_step_that_is_listed(self) -> None:
        """A URL that redirects and where it leads, in the order of the steps."""
        listed = URLSET("".join(map(LISTED, ("/q", "/p", "/%70", "/r")))).encode()
        moved = {
            f"{ORIGIN}/p": Response(301, {"Location": "/q"}),
            **page("<meta name=robots content=noindex>", "/q"),
            **served(gzip.compress(listed), named="application/gzip"),
        }
        found = audited(moved)
        assert set(found.sitemaps[0].steps) == {f"{ORIGIN}/p", f"{ORIGIN}/q"}
        assert found.sitemaps[0].as_dict()["gzipped"] is True
        assert sorted(one.code for one in found.findings) == [
            "listed-and-noindex",
            "listed-and-redirected",
            "page-redirected",
        ]

    @pytest.mark.parametrize(
        ("path", "profile", "listed", "disallowed"),
        [
            ("/p", "default", ["/p"], []),
            ("/p", "google", [], ["/%70"]),
            ("/%70", "default", ["/%70"], []),
            ("/%70", "google", ["/%70"], []),
        ],
    )
    def test_which_urls_are_the_same(
        self, path: str, profile: str, listed: list[str], disallowed: list[str]
    ) -> None:
        """URLs that the rules of the client's profile cannot distinguish."""
        answers = {
            **robots(f"User-agent: *\nDisallow: /%70\nSitemap: {ORIGIN}/sitemap.xml\n"),
            **served(URLSET(LISTED("/%70")).encode()),
        }
        found = audited(answers, f"{ORIGIN}{path}", client={"profile": profile}).sitemaps[0]
        assert found.steps == tuple(ORIGIN + one for one in listed)
        assert found.disallowed == tuple(ORIGIN + one for one in disallowed)

    def test_a_relative_line(self) -> None:
        """It is resolved against the URL that the robots.txt was found at."""
        rules = b"User-agent: *\nSitemap: s.xml\n"
        answers = {
            f"{ORIGIN}/robots.txt": Response(301, {"Location": "/a/robots"}),
            f"{ORIGIN}/a/robots": Response(200, PLAIN, rules),
        }
        assert [one.url for one in audited(answers).sitemaps] == [f"{ORIGIN}/a/s.xml"]

    def test_a_step_on_another_origin(self) -> None:
        """A redirect to another site is not what this one lists under the same path."""
        moved = {
            f"{ORIGIN}/p": Response(301, {"Location": "https://b.example/q"}),
            "https://b.example/robots.txt": Response(404),
            "https://b.example/q": Response(200, HTML, b""),
            **served(URLSET(LISTED("/q")).encode()),
        }
        found = audited(moved)
        assert (found.sitemaps[0].steps, found.sitemaps[0].disallowed) == ((), ())
        assert [one.code for one in found.findings] == ["page-redirected"]
