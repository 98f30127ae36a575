"""An audit of many pages on a real site of the loopback, and on scripted ones that fail."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.client import Client
from robotrules.client.auditing.findings import LEVELS, SITE_CODES
from robotrules.client.auditing.page_audit import PageAudit, PageOutcome
from robotrules.client.auditing.site_audit import (
    GIVE_UP_AFTER,
    MAX_OTHER_ORIGINS,
    SiteAuditor,
    listed_pages,
)
from robotrules.client.auditing.site_results import SiteAudit
from tests.cli.sites import Site
from tests.client.fault_servers import (
    Behaviour,
    Peer,
    bombs,
    closes_at_once,
    drips_body,
    drips_headers,
    message,
    never_answers,
    resets_mid_body,
    serve,
    short,
)
from tests.client.site_of_pages import site_of_pages
from tests.client.test_audit import DOCS, ORIGIN, PLAIN, URLSET, XML, Answers, Told

PAGE = {"Content-Type": "text/html"}


@pytest.fixture(scope="module")
def example() -> Iterator[Site]:
    """The site of some sixty pages."""
    with site_of_pages() as running:
        yield running


def opened(**options: Any) -> Client:
    """Return a client that may ask the loopback, without a pause."""
    given = {"store": "memory:", "min_delay": 0.0, "allow_private": ["127.0.0.1"]}
    return Client("ExampleAudit/1.0", **{**given, **options})


def audit_of(site: Site, crawlers: list[str] | None = None, **options: Any) -> SiteAudit:
    """Return the audit of all listed pages and of those that no sitemap lists."""
    with opened() as client:
        auditor = SiteAuditor(client, crawlers or ["ExampleBot"], **options)
        read = auditor.robots_sitemaps(site.origin)
        assert read is not None
        urls, _ = listed_pages(read)
        more = [f"{site.origin}{path}" for path in ("/unlisted", "/canonical-copy")]
        assert len(list(auditor.pages([*urls, *more]))) == len(urls) + 2
        return auditor.result()


@pytest.fixture(scope="module")
def whole(example: Site) -> SiteAudit:
    """The audit by the owner of the site, for two crawlers."""
    return audit_of(example, ["ExampleBot", "OtherBot"], ignore_disallow=True)


def find(result: SiteAudit, path: str) -> PageAudit:
    """Return the page with a path."""
    [page] = [one for one in result.pages if "/" + one.url.split("/", 3)[3] == path]
    return page


def codes(page: PageAudit) -> set[str]:
    """Return the codes of a page."""
    return {one.code for one in page.findings}


def scripted(answers: Answers, **options: Any) -> tuple[SiteAuditor, Told, Client]:
    """Return an auditor of a scripted site."""
    robots = Response(200, PLAIN, b"User-agent: *\nDisallow: /private/\n")
    transport = Told({f"{ORIGIN}/robots.txt": robots, **answers})
    client = Client(
        "ExampleAudit/1.0", store="memory:", transport=transport, min_delay=0.0, sleep=lambda _: 0
    )
    return SiteAuditor(client, ["ExampleBot"], **options), transport, client


class TestOutcomes:
    """What becomes of each page."""

    @pytest.mark.parametrize(
        ("path", "outcome", "indexable"),
        [
            ("/", PageOutcome.INDEXABLE, True),
            ("/report.pdf", PageOutcome.INDEXABLE, True),
            ("/only-otherbot", PageOutcome.INDEXABLE, True),
            ("/meta", PageOutcome.NOINDEX, False),
            ("/header", PageOutcome.NOINDEX, False),
            ("/disagree", PageOutcome.NOINDEX, False),
            ("/private/1", PageOutcome.BLOCKED, None),
            ("/moved", PageOutcome.REDIRECTED, False),
            ("/moved-twice", PageOutcome.REDIRECTED, False),
            ("/to-private", PageOutcome.REDIRECTED, False),
            ("/loop", PageOutcome.FAILED, None),
            ("/nowhere", PageOutcome.FAILED, None),
            ("/error", PageOutcome.FAILED, None),
            ("/gone/1", PageOutcome.MISSING, False),
        ],
    )
    def test_outcome(
        self, whole: SiteAudit, path: str, outcome: PageOutcome, indexable: bool | None
    ) -> None:
        """Each page has one outcome, and may be indexed or not, or that is unknown."""
        answer = find(whole, path).answer
        assert (answer.outcome, answer.indexable) == (outcome, indexable)

    def test_numbers(self, whole: SiteAudit) -> None:
        """Outcomes add up to the pages; a noindex that is not seen is counted apart."""
        assert sum(whole.outcomes().values()) == len(whole.pages) == 66
        assert whole.outcomes()[PageOutcome.NOINDEX] == 4
        assert whole.outcomes()[PageOutcome.BLOCKED] == 2
        unseen = whole.count_unseen_noindex()
        assert (unseen[PageOutcome.BLOCKED], sum(unseen.values())) == (1, 1)

    def test_where_it_says_noindex(self, whole: SiteAudit) -> None:
        """Also of a page that is blocked, if the site is the caller's own."""
        assert find(whole, "/header").answer.noindex == ("X-Robots-Tag line 1: noindex",)
        unseen = find(whole, "/private/1").answer
        assert unseen.noindex == ("meta element 1: noindex",)
        assert unseen.is_noindex_unseen
        assert unseen.as_dict()["noindex_seen"] is False
        assert unseen.reason == "line 2: Disallow: /private/"

    def test_redirects(self, whole: SiteAudit) -> None:
        """Each status of the chain is kept, and where it leads."""
        page = find(whole, "/moved-twice")
        assert (page.redirects, page.final_url.rpartition("/plain")[2]) == ((302, 301), "/0")

    def test_two_crawlers(self, whole: SiteAudit) -> None:
        """One request answers for both."""
        page = find(whole, "/news/1")
        assert [one.outcome for one in page.answers] == ["indexable", "blocked"]
        [blocked] = [one for one in page.findings if one.code == "not-crawled"]
        assert blocked.crawlers == ("OtherBot",)
        differs = [one for one in page.findings if one.code == "crawlers-differ"]
        assert "ExampleBot: indexable; OtherBot: blocked" in differs[0].message
        assert [one.outcome for one in find(whole, "/only-otherbot").answers] == [
            "indexable",
            "noindex",
        ]
        # OtherBot has a group of its own, so it may read what is private for others.
        assert [one.outcome for one in find(whole, "/private/1").answers] == ["blocked", "noindex"]


class TestFindings:
    """Contradictions of a page, its tags, canonical links and sitemaps."""

    @pytest.mark.parametrize(
        ("path", "code"),
        [
            ("/meta", "noindex"),
            ("/meta", "listed-and-noindex"),
            ("/disagree", "tags-disagree"),
            ("/private/1", "noindex-not-seen"),
            ("/private/1", "listed-and-disallowed"),
            ("/moved", "listed-and-redirected"),
            ("/to-private", "redirect-to-disallowed"),
            ("/loop", "page-unreachable"),
            ("/error", "listed-and-missing"),
            ("/gone/1", "listed-and-missing"),
            ("/canonical-copy", "canonical-elsewhere"),
            ("/canonical-noindex", "canonical-noindex"),
            ("/canonical-noindex", "listed-and-canonical-elsewhere"),
            ("/canonical-moved", "canonical-redirected"),
            ("/canonical-gone", "canonical-missing"),
            ("/canonical-private", "canonical-disallowed"),
            ("/canonicals", "canonicals-differ"),
            ("/noindex-canonical", "noindex-and-canonical"),
            ("/unlisted", "not-listed"),
        ],
    )
    def test_finding(self, whole: SiteAudit, path: str, code: str) -> None:
        """The page has it, with a level of the code and a whole sentence."""
        page = find(whole, path)
        [one] = [one for one in page.findings if one.code == code][:1]
        assert one.level == SITE_CODES.get(code, (one.level,))[0]
        assert "{" not in one.message

    @pytest.mark.parametrize("path", ["/", "/plain/0", "/canonical"])
    def test_fine_pages_have_none(self, whole: SiteAudit, path: str) -> None:
        """Nothing contradicts itself there."""
        assert find(whole, path).findings == ()

    @pytest.mark.parametrize(
        ("path", "code"),
        [
            ("/loop", "listed-and-redirected"),
            ("/canonical-copy", "not-listed"),
            ("/canonical-copy", "listed-and-canonical-elsewhere"),
            ("/moved", "page-status"),
            ("/error", "page-status"),  # listed-and-missing says it
            ("/private/1", "not-crawled"),  # listed-and-disallowed says it
            ("/canonical-noindex", "canonical-elsewhere"),
            ("/to-private", "noindex-not-seen"),  # its target has it
        ],
    )
    def test_what_is_not_said(self, whole: SiteAudit, path: str, code: str) -> None:
        """Findings that would repeat another one, or advise nothing."""
        assert code not in codes(find(whole, path))

    def test_of_the_site(self, whole: SiteAudit, example: Site) -> None:
        """Blocked URLs of sitemaps are told at their pages, and else once for each file."""
        assert not [one for one in whole.findings if one.code == "lists-disallowed"]
        with opened() as client:
            auditor = SiteAuditor(client, ["ExampleBot"])
            assert len(list(auditor.pages([f"{example.origin}/private/1"]))) == 1
            result = auditor.result()
        told = [one for one in result.findings if one.code == "lists-disallowed"]
        assert {one.where for one in told} == {f"sitemap {example.origin}/2.xml.gz"}
        group = next(one for one in result.groups() if one.code == "lists-disallowed")
        assert group.of_pages is False

    def test_groups(self, whole: SiteAudit) -> None:
        """Errors first, then by importance; a group counts pages and has examples."""
        groups = whole.groups()
        assert [one.level for one in groups] == sorted(
            (one.level for one in groups), key=LEVELS.index
        )
        assert groups[1].code == "noindex-not-seen"
        listed = next(one for one in groups if one.code == "listed-and-noindex")
        assert (listed.places, listed.of_pages) == (4, True)

    def test_every_code_is_documented(self, whole: SiteAudit) -> None:
        """All are earned here or below, and the manual has the row of each."""
        earned = {one.code for page in whole.pages for one in page.findings}
        assert set(SITE_CODES) - earned == {"page-skipped"}
        text = (DOCS / "cli/audit.md").read_text(encoding="utf-8")
        for code, (level, _) in SITE_CODES.items():
            assert f"\n| `{code}` | {level} | " in text


class TestRequests:
    """One robots.txt, one reading of sitemaps, each page once."""

    def test_each_is_requested_once(self) -> None:
        """Redirect targets that are pages too are requested for the redirect again."""
        with site_of_pages() as site:
            audit_of(site)
            for path in ("/robots.txt", "/index.xml", "/1.xml", "/2.xml.gz", "/meta", "/header"):
                assert site.asked.count(path) == 1
            assert not [path for path in site.asked if path.startswith("/private/")]

    def test_repeated_urls(self, example: Site) -> None:
        """The same URL in another spelling, or with a fragment, is one page."""
        with opened() as client:
            auditor = SiteAuditor(client)
            urls = ["/plain/1", "/plain/1#a", "/plain/%31", "/plain/2"]
            assert len(list(auditor.pages(example.origin + one for one in urls))) == 2
            assert auditor.is_known(f"{example.origin}/plain/1")
            assert not auditor.is_known(f"{example.origin}/plain/3")

    def test_what_is_not_a_url(self) -> None:
        """It is counted, and not requested."""
        auditor, transport, client = scripted({})
        with client:
            long = f"{ORIGIN}/" + "a" * 9000
            assert list(auditor.pages(["mailto:a@b", "/path", "", "http://", long])) == []
            assert auditor.result().skipped == 5
        assert transport.asked == []

    def test_given_sitemaps(self, example: Site) -> None:
        """They are read in place of those of the robots.txt."""
        with opened() as client:
            auditor = SiteAuditor(client)
            read = auditor.sitemaps([f"{example.origin}/1.xml"])
            assert len(list(read.urls())) == 30
            urls = [f"{example.origin}/meta", f"{example.origin}/plain/0"]
            list(auditor.pages([*urls, f"{example.origin}/unlisted"]))
            listed = [one.in_sitemap for one in auditor.result().pages]
        assert listed[1:] == [True, False]

    def test_without_sitemaps(self, example: Site) -> None:
        """Then it is unknown whether one lists a page, and that is no finding."""
        with opened() as client:
            auditor = SiteAuditor(client, max_sitemaps=0)
            list(auditor.pages([f"{example.origin}/unlisted"]))
            [page] = auditor.result().pages
        assert (page.in_sitemap, page.findings) == (None, ())

    def test_a_sitemap_does_not_decide_which_sites_are_asked(self) -> None:
        """Its URLs of other hosts are counted; those of a host that is named are pages."""
        urls = "".join(
            f"<url><loc>{url}</loc></url>"
            for url in (f"{ORIGIN}/a", "http://a.example/b", "https://b.example/c", "ftp://a/")
        )
        answers = {f"{ORIGIN}/s.xml": Response(200, XML, URLSET(urls).encode())}
        auditor, _, client = scripted(answers)
        with client:
            read = auditor.sitemaps([f"{ORIGIN}/s.xml"])
        assert listed_pages(read) == ([f"{ORIGIN}/a", "http://a.example/b"], 2)
        assert listed_pages(read, ["b.example"])[0][-1] == "https://b.example/c"

    def test_canonicals_of_many_hosts(self) -> None:
        """Pages must not make the audit ask any number of other sites."""
        answers: dict[str, Response | Failure] = {}
        for number in range(MAX_OTHER_ORIGINS + 10):
            link = f"<https://h{number}.example/>; rel=canonical"
            answers[f"{ORIGIN}/{number}"] = Response(200, {**PAGE, "Link": link}, b"")
        auditor, transport, client = scripted(answers)
        with client:
            list(auditor.pages(answers))
        asked = [one for one in transport.asked if "//h" in one]
        assert len(asked) == MAX_OTHER_ORIGINS

    def test_progress(self, example: Site) -> None:
        """Each URL is reported before its request."""
        told: list[str] = []
        with opened() as client:
            auditor = SiteAuditor(client, progress=told.append, max_sitemaps=0)
            list(auditor.pages([f"{example.origin}/meta"]))
        assert told == [f"{example.origin}/robots.txt", f"{example.origin}/meta"]


class TestFailures:
    """Sites that fail do not hold up the audit."""

    def test_a_site_that_fails_is_given_up(self) -> None:
        """After some failures in a row its pages are not requested; blocked ones stay blocked."""
        failure = Failure(FailureReason.TIMEOUT, "10 s in all")
        urls = [f"{ORIGIN}/{number}" for number in range(10)] + [f"{ORIGIN}/private/1"]
        auditor, transport, client = scripted(dict.fromkeys(urls, failure))
        with client:
            pages = list(auditor.pages(urls))
            result = auditor.result()
        assert sum(url in urls for url in transport.asked) == GIVE_UP_AFTER
        assert [one.failure for one in pages[:GIVE_UP_AFTER]] == ["10 s in all"] * GIVE_UP_AFTER
        assert codes(pages[GIVE_UP_AFTER]) == {"page-skipped"}
        assert pages[GIVE_UP_AFTER].answer.outcome is PageOutcome.UNKNOWN
        assert pages[-1].answer.outcome is PageOutcome.BLOCKED
        assert not result.is_clean

    @pytest.mark.parametrize(
        ("headers", "requested"), [({"Retry-After": "3600"}, 1), ({"Retry-After": "0"}, 5)]
    )
    def test_a_site_that_asks_to_wait(self, headers: dict[str, str], requested: int) -> None:
        """An hour is not waited for."""
        urls = [f"{ORIGIN}/{number}" for number in range(8)]
        auditor, transport, client = scripted(dict.fromkeys(urls, Response(503, headers)))
        with client:
            pages = list(auditor.pages(urls))
        assert sum(url in urls for url in transport.asked) == requested
        if requested == 1:
            assert "because its site asks to wait for 3,600 s." in pages[1].findings[0].message

    def test_blocked_pages_in_between(self) -> None:
        """They are not requested, so they say nothing about the site."""
        failure = Failure(FailureReason.CONNECT, "refused")
        urls = [f"{ORIGIN}{'/private' * (number % 2)}/{number}" for number in range(20)]
        auditor, transport, client = scripted(dict.fromkeys(urls, failure))
        with client:
            list(auditor.pages(urls))
        assert sum(url in urls for url in transport.asked) == GIVE_UP_AFTER

    def test_redirect_loops_are_not_failures_of_the_site(self) -> None:
        """It responds."""
        urls = [f"{ORIGIN}/{number}" for number in range(8)]
        answers = {url: Response(302, {"Location": url}) for url in urls}
        auditor, _, client = scripted(answers)
        with client:
            assert {codes(one) == {"page-unreachable"} for one in auditor.pages(urls)} == {True}

    def test_failures_in_between(self) -> None:
        """A site that answers in between is not given up."""
        urls = [f"{ORIGIN}/{number}" for number in range(20)]
        answers: dict[str, Response | Failure] = {
            url: Response(500) if number % 2 else Response(200, PAGE, b"")
            for number, url in enumerate(urls)
        }
        auditor, _, client = scripted(answers)
        with client:
            outcomes = [one.answer.outcome for one in auditor.pages(urls)]
        assert outcomes == [PageOutcome.INDEXABLE, PageOutcome.FAILED] * 10

    def test_an_unreachable_robots_txt(self) -> None:
        """No page is requested, and none counts as blocked by a rule."""
        auditor, transport, client = scripted({f"{ORIGIN}/robots.txt": Response(503)})
        with client:
            pages = list(auditor.pages([f"{ORIGIN}/{number}" for number in range(10)]))
            result = auditor.result()
        assert {one.answer.outcome for one in pages} == {PageOutcome.FAILED}
        assert "robots-unreachable" in [one.code for one in result.findings]
        assert [one for one in transport.asked if "robots.txt" not in one] == []

    def test_no_robots_txt(self) -> None:
        """Then everything is allowed."""
        answers = {f"{ORIGIN}/robots.txt": Response(404), f"{ORIGIN}/a": Response(200, PAGE, b"")}
        auditor, _, client = scripted(answers)
        with client:
            [page] = auditor.pages([f"{ORIGIN}/a"])
        assert page.answer.indexable

    def test_the_other_scheme(self) -> None:
        """A robots.txt of http with another result is told once for the site."""
        answers = {
            "http://a.example/robots.txt": Response(200, PLAIN, b"User-agent: *\nDisallow: /\n"),
            **{f"{ORIGIN}/{name}": Response(200, PAGE, b"") for name in "ab"},
        }
        auditor, _, client = scripted(answers)
        with client:
            list(auditor.pages([f"{ORIGIN}/a", f"{ORIGIN}/b"]))
            told = [one for one in auditor.result().findings if one.code == "schemes-disagree"]
        assert len(told) == 1

    def test_hostile_pages(self) -> None:
        """Binary pages, endless tags, and URLs with control characters are results, not errors."""
        answers = {
            f"{ORIGIN}/1": Response(
                200, {"Content-Type": "text/html; charset=\x00"}, bytes(range(256))
            ),
            f"{ORIGIN}/2": Response(200, {**PAGE, "X-Robots-Tag": "x, " * 5000}, b"<" * 100_000),
            f"{ORIGIN}/3": Response(
                200, {**PAGE, "Link": "<\x1b>; rel=canonical"}, b"<meta " * 9999
            ),
            f"{ORIGIN}/\x1b[31m": Response(200, PAGE, b"<link rel=canonical href='\x1b[2J'>"),
            f"{ORIGIN}/5": Response(302, {"Location": "http://[::1"}, b""),
        }
        auditor, _, client = scripted(answers)
        with client:
            pages = list(auditor.pages(answers))
            result = auditor.result()
        assert len(pages) == 5
        assert all(len(one.findings) <= 40 for one in pages)
        assert result.as_dict()["pages"][3]["url"] == f"{ORIGIN}/\x1b[31m"


class TestTakingOver:
    """Pages of an earlier run."""

    def test_round_trip(self, whole: SiteAudit, example: Site) -> None:
        """A page survives JSON, and is not requested again."""
        with opened() as client:
            auditor = SiteAuditor(client, ["ExampleBot", "OtherBot"])
            for page in whole.pages:
                again = PageAudit.from_dict(page.as_dict())
                assert again == page._replace(sitemap=None, in_sitemap=None)
                assert auditor.add(again)
                assert not auditor.add(again)
            asked = len(example.asked)
            assert list(auditor.pages([one.url for one in whole.pages])) == []
            result = auditor.result()
        assert len(example.asked) - asked == 4  # robots.txt and sitemaps
        assert result.outcomes() == whole.outcomes()
        assert {one.code for one in result.groups()} >= {"listed-and-noindex", "not-listed"}

    def test_another_crawler(self, whole: SiteAudit) -> None:
        """A page of another crawler is not taken over."""
        with opened() as client:
            assert not SiteAuditor(client, ["Third"]).add(whole.pages[0])

    @pytest.mark.parametrize(
        "change",
        [
            {"answers": []},
            {"answers": [{}]},
            {"answers": None},
            {"status": "x"},
            {"findings": [{"code": "a", "level": "bad", "message": "", "where": ""}]},
        ],
    )
    def test_values_that_are_not_a_page(self, whole: SiteAudit, change: dict[str, Any]) -> None:
        """They are refused."""
        with pytest.raises(ValueError, match=r"^(not a page|no answer|invalid literal)"):
            PageAudit.from_dict({**whole.pages[0].as_dict(), **change})

    def test_an_interrupt(self, example: Site) -> None:
        """The result of the pages until then makes no request, and says that it is partial."""
        with opened() as client:
            auditor = SiteAuditor(client, ["ExampleBot"])
            pages = auditor.pages([f"{example.origin}/plain/{number}" for number in range(9)])
            for _ in range(3):
                next(pages)
            asked = len(example.asked)
            result = auditor.result(not_audited=6, interrupted=True)
        assert (len(result.pages), result.is_partial, len(example.asked)) == (3, True, asked)


class TestMisuse:
    """Arguments that cannot be meant."""

    def test_a_string(self) -> None:
        """Its letters are not crawlers."""
        with opened() as client, pytest.raises(TypeError, match="pass a list"):
            SiteAuditor(client, "ExampleBot")

    def test_names(self) -> None:
        """Each crawler has one."""
        with opened() as client, pytest.raises(ValueError, match="pass one each"):
            SiteAuditor(client, ["A"], names=["a", "b"])

    def test_no_origin(self) -> None:
        """Without an origin there are no sitemaps."""
        with opened() as client:
            assert SiteAuditor(client).robots_sitemaps("mailto:a") is None


class _Endless:
    """A transport with any number of large pages."""

    def send(self, request: Request) -> Response | Failure:
        if request.url.endswith("/robots.txt"):
            return Response(200, PLAIN, b"User-agent: *\nDisallow: /private/\n")
        return Response(200, PAGE, b"<meta name=robots content=noindex>" + b"x" * 200_000)

    def close(self) -> None:
        pass


@pytest.mark.slow
def test_memory_of_many_pages() -> None:
    """Contents are not kept: a page takes a few kilobytes."""
    with Client("ExampleAudit/1.0", store="memory:", transport=_Endless(), min_delay=0.0) as client:
        auditor = SiteAuditor(client, ["ExampleBot"])
        pages = auditor.pages(f"{ORIGIN}/{number}" for number in range(4000))
        for _ in range(1000):
            next(pages)
        tracemalloc.start()
        for _ in pages:
            pass
        size, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(auditor.result().pages) == 4000
    assert size / 3000 < 6000


def test_a_page_that_is_cut() -> None:
    """A page that ends early is unknown: the rest may say noindex."""
    answers = {f"{ORIGIN}/a": Response(200, PAGE, b"<title>A", complete=False)}
    auditor, _, client = scripted(answers)
    with client:
        [page] = auditor.pages(answers)
    assert (page.answer.outcome, page.answer.indexable) == (PageOutcome.UNKNOWN, None)


class TestBrokenServers:
    """Real servers that are slow, cut connections or pour octets."""

    FAULTS: ClassVar[dict[bytes, Behaviour]] = {
        b"/cut": short,
        b"/reset": resets_mid_body,
        b"/closed": closes_at_once,
        b"/slow-head": drips_headers,
        b"/slow-body": drips_body,
        b"/silent": never_answers,
        b"/bomb": bombs,
    }

    def behave(self, peer: Peer) -> None:
        """Answer the robots.txt and good pages, and fail for the others."""
        path = peer.head.split(b" ")[1]
        if path in self.FAULTS:
            self.FAULTS[path](peer)
        elif path == b"/robots.txt":
            peer.send(message(b"User-agent: *\nDisallow: /private\n", "Content-Type: text/plain"))
        else:
            peer.send(message(b"<title>A</title>", "Content-Type: text/html"))

    def test_the_others_are_read(self) -> None:
        """Each failure is one page, within the time limit; good pages between them are read."""
        with serve(self.behave) as site, opened(timeout=0.5) as client:
            auditor = SiteAuditor(client)
            paths = [path.decode() for path in self.FAULTS]
            urls = [f"{site.url}{one}" for path in paths for one in (path, f"/good{path}")]
            began = time.monotonic()
            pages = list(auditor.pages(urls))
            assert time.monotonic() - began < 15
        outcomes = [one.answer.outcome for one in pages]
        assert outcomes[1::2] == [PageOutcome.INDEXABLE] * len(paths)
        assert PageOutcome.INDEXABLE not in outcomes[::2]
        assert all(one.failure for one in pages[0:12:2])

    def test_only_faults(self) -> None:
        """A server that is silent takes five time limits, however many pages it has."""
        with serve(self.behave) as site, opened(timeout=0.3) as client:
            auditor = SiteAuditor(client)
            urls = [f"{site.url}/silent?{number}" for number in range(40)]
            self.FAULTS.update({url.removeprefix(site.url).encode(): never_answers for url in urls})
            pages = list(auditor.pages(urls))
            result = auditor.result()
            requested = sum(b"silent" in head for head in site.heads)
        assert requested == GIVE_UP_AFTER
        assert result.outcomes()[PageOutcome.UNKNOWN] == 40 - GIVE_UP_AFTER
        assert codes(pages[-1]) == {"page-skipped"}
