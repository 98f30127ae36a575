"""
The facts and the page of a report: exact facts, reasons in view, text of others stays text.

Pages are read by a parser that follows the HTML standard, as browsers do.
"""

from __future__ import annotations

import json
import re
import time
from html import unescape
from itertools import pairwise
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from robotrules import StoreError, parse
from robotrules.access import Response
from robotrules.client.stores import MemoryStore
from robotrules.html_document import section
from robotrules.json_results.schemas import load_schema
from robotrules.linting import ServedResponse, lint
from robotrules.matrix import matrix
from robotrules.matrix.text import FOOTNOTE
from robotrules.operations.site_report import SiteReport
from robotrules.operations.site_report.comparison import MOST_COMPARED, compare_sites
from robotrules.operations.site_report.facts import HostFacts, SiteSource, host_facts
from robotrules.operations.site_report.history import (
    MAX_CHANGES,
    changes_from_git,
    changes_from_store,
)
from robotrules.operations.site_report.pages import FULL_HOSTS, MOST_CHECKS, report_page
from robotrules.operations.site_report.sitemap_coverage import (
    EXAMPLES,
    SitemapUrls,
    sitemap_coverage,
)
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from tests.cli.schema import problems
from tests.client.histories import SITE, History, file, refused
from tests.operations.repositories import Repository

BODY = """\
User-agent: *
Disallow: /search
Disalow: /old/

User-agent: GPTBot
User-agent: CCBot
Disallow: /
"""
NASTY = "<script>alert(1)</script>\"'\x1b[31m\u202e&"


def source_of(body: str | bytes = BODY, name: str = "news.example") -> SiteSource:
    """Return the source of a file."""
    return SiteSource(name, parse(body), status="status 200")


def page_of(*facts: HostFacts, **options: object) -> LexborHTMLParser:
    """Return the page about hosts, parsed."""
    return LexborHTMLParser(report_page(SiteReport("Title", facts, **options)))  # type: ignore[arg-type]


def text_of(tree: LexborHTMLParser, selector: str = "main") -> str:
    """Return the text of an element, with single spaces."""
    found = tree.css_first(selector)
    assert found is not None, selector
    return " ".join(found.text(separator=" ").split())


class TestFacts:
    """What is known about a host."""

    def test_purposes_count_active_crawlers(self) -> None:
        """By first purpose; collecting for training counts also as another purpose."""
        facts = host_facts(source_of())
        training = facts.purpose("ai-training")
        assert training is not None
        expected = {
            known.product_token
            for known in KNOWN_CRAWLERS
            if known.status == "active" and "ai-training" in known.purposes
        }
        assert {one.name for one in training.crawlers} == expected
        assert {one.name for one in training.crawlers if one.summary == "nothing"} == {
            *("GPTBot", "CCBot")
        }
        assert training.blocked == "some"
        names = [one.name for one in training.crawlers]
        mains = [one.name for one in training.main]
        assert names[: len(mains)] == mains == sorted(mains, key=str.lower)
        assert facts.purpose("no such") is None

    def test_notes_by_importance(self) -> None:
        """Each check once, errors first, with the lines as they are in the file."""
        facts = host_facts(source_of(BODY + "Disalow: /x\nDisalow: /y\nDisalow: /z\n"))
        levels = [group.level for group in facts.notes]
        assert levels == sorted(levels, key=["error", "warning", "info"].index)
        typo = next(group for group in facts.notes if group.slug == "typo")
        assert typo.total == 4
        assert typo.lines == ((3, "Disalow: /old/"), (8, "Disalow: /x"), (9, "Disalow: /y"))
        assert typo.fix == "Write 'Disallow'"
        assert facts.count_notes("warning") == sum(
            note.level == "warning" for note in lint(facts.source.robots or b"")
        )

    def test_what_is_not_known(self) -> None:
        """A host that could not be fetched has no facts; its name and problem remain."""
        facts = host_facts(SiteSource("a.example", problem="gone"))
        assert not facts.is_known
        assert (facts.purposes, facts.matrix, facts.notes, facts.whole) == ((), None, (), None)

    def test_no_file(self) -> None:
        """Everything is allowed, and lint is about the response only."""
        served = ServedResponse(url="https://a.example/robots.txt", status=403)
        source = SiteSource("a.example", parse(""), "https://a.example", "x", is_file=False)
        assert host_facts(source).notes == ()
        found = host_facts(source._replace(served=served))
        assert found.whole == "everything"
        assert {group.code for group in found.notes} == {"RR703"}

    def test_json(self) -> None:
        """The values are complete: the schema allows no other key, and requires all of them."""
        facts = host_facts(source_of())
        coverage = sitemap_coverage(parse(BODY), [SitemapUrls("s.xml", ("https://a/search",))])
        history, words = changes_from_store(changed_store().store, SITE)
        full = facts._replace(sitemaps=coverage, history=history, history_words=words)
        gone = host_facts(SiteSource("a.example", problem="gone"))
        value = SiteReport("Title", (full, facts, gone), log_values={}).as_dict()
        assert list(problems(json.loads(json.dumps(value)), load_schema("report"))) == []


def changed_store() -> History:
    """Return a store with a file that changed, failed and went away."""
    history = History()
    history.record_fetch(0, file("/a"))
    history.record_fetch(1, file("/a"))
    history.record_fetch(2, Response(200, [], b"User-agent: GPTBot\nDisallow: /\n"))
    history.record_fetch(3, refused())
    history.record_fetch(4, Response(404))
    history.record_fetch(5, file("/"))
    return history


class TestHistory:
    """What each version changed for the main crawlers."""

    def test_from_a_store(self) -> None:
        """Versions, failures and a missing file; the latest first."""
        changes, words = changes_from_store(changed_store().store, SITE)
        assert words == "As fetched by ExampleBot."
        assert [change.title for change in changes] == [
            *("the file changed", "no robots.txt (status 404)", "unreachable: connection refused"),
            *("the file changed", "first known version"),
        ]
        assert [change.day for change in changes][-1] == "2026-05-01 00:00"
        assert changes[-1].source == "seen in 2 fetches"
        assert changes[3].source == "seen in one fetch"
        assert changes[3].lines == "2 lines added, 2 removed"
        assert "GPTBot: from some to nothing" in changes[3].effects
        assert any(effect.endswith("from some to everything") for effect in changes[3].effects)
        assert "GPTBot: from nothing to everything" in changes[1].effects
        assert any(
            effect.endswith(" more: from everything to nothing") for effect in changes[0].effects
        )

    def test_the_home_page(self) -> None:
        """A change of the home page alone is told."""
        history = History()
        history.record_fetch(0, file("/a"))
        history.record_fetch(1, file("/$"))
        changes, _ = changes_from_store(history.store, SITE)
        assert changes[0].effects[0].endswith("the home page is now blocked")

    def test_changes_without_an_effect(self) -> None:
        """Other lines, or the same in another order."""
        history = History()
        history.record_fetch(0, Response(200, [], b"User-agent: *\nDisallow: /a\nDisallow: /b\n"))
        history.record_fetch(1, Response(200, [], b"User-agent: *\nDisallow: /b\nDisallow: /a\n"))
        changes, _ = changes_from_store(history.store, SITE)
        assert changes[0].lines == "the same lines in another order"
        assert changes[0].effects == (
            "for the main crawlers, all URLs and the home page: no change",
        )

    def test_several_crawlers(self) -> None:
        """Sites answer crawlers differently: one history, of the crawler that fetched most."""
        history = History()
        history.record_fetch(0, file("/a"), agent="OtherBot")
        history.record_fetch(1, file("/b"))
        history.record_fetch(2, file("/b"))
        changes, words = changes_from_store(history.store, SITE)
        assert (len(changes), words) == (1, "As fetched by ExampleBot.")

    def test_long_histories_are_cut(self) -> None:
        """The latest changes are shown, and how many are not."""
        history = History()
        for day in range(MAX_CHANGES + 5):
            history.record_fetch(day, file(f"/{day}"))
        changes, words = changes_from_store(history.store, SITE)
        assert len(changes) == MAX_CHANGES
        assert changes[0].at > changes[-1].at
        assert words.endswith(" 5 earlier changes are not shown.")

    def test_nothing_is_known(self) -> None:
        """An empty store, and a file that the store lost."""
        assert changes_from_store(MemoryStore(), SITE) == (
            (),
            "The store has no fetch of this host.",
        )
        for lost in (_Lost(), _Broken()):
            history = History(lost)
            history.record_fetch(0, file("/a"))
            changes, _ = changes_from_store(history.store, SITE)
            assert changes[0].title == "a file whose content was not stored"

    def test_from_git(self, tmp_path: Path) -> None:
        """Commits with their subjects; a deletion allows everything."""
        repository = Repository(tmp_path)
        repository.commit("first", robots_txt=BODY.encode())
        repository.commit("gone \x1b[31m", robots_txt=None)
        changes, words = changes_from_git(repository.folder / "robots.txt")
        assert [change.title for change in changes] == [
            "the file was deleted",
            "first known version",
        ]
        assert "\x1b" not in changes[0].source
        assert "GPTBot, CCBot: from nothing to everything" in changes[0].effects
        assert words.startswith("Times are those of commits")

    def test_impossible_times(self) -> None:
        """A time that no calendar has is said to be one."""
        changes, _ = changes_from_store(changed_store().store, SITE)
        assert changes[0]._replace(at=1e30).day == "a time out of range"


class _Lost(MemoryStore):
    """A store that has lost its files."""

    def body(self, digest: str) -> bytes | None:
        """Return nothing."""
        return None


class _Broken(MemoryStore):
    """A store whose files cannot be read."""

    def body(self, digest: str) -> bytes | None:
        """Fail."""
        raise StoreError("broken")


class TestSitemaps:
    """Which URLs of sitemaps are blocked."""

    URLS = tuple(
        f"https://a.example/{path}" for path in ("", "search?q=1", "news/1", "search", "s")
    )

    def test_blocked_urls(self) -> None:
        """Crawlers with the same rules together, with examples and the rule."""
        found = sitemap_coverage(
            parse(BODY), [SitemapUrls("s.xml", self.URLS), SitemapUrls("t.xml", self.URLS[:2])]
        )
        assert (found.checked, found.elsewhere, found.left_out) == (5, 0, 0)
        first, second, *others = found.groups
        assert set(first.crawlers) == {"GPTBot", "CCBot"}
        assert (first.blocked, len(first.examples)) == (5, EXAMPLES)
        assert second.blocked == 2
        assert "Googlebot" in second.crawlers
        assert "everyone else" in second.crawlers
        assert second.examples[0] == (self.URLS[1], "line 2: Disallow: /search")
        assert {group.blocked for group in others} == {0}
        assert found.blocked_for(["Googlebot"]) == 2
        assert found.blocked_for(["GPTBot", "Googlebot"]) == 5
        assert found.blocked_for([]) == 0
        assert [(one.name, one.urls) for one in found.files] == [("s.xml", 5), ("t.xml", 2)]

    def test_other_hosts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """URLs of other hosts are counted; so are those beyond the limit."""
        monkeypatch.setattr("robotrules.operations.site_report.sitemap_coverage.MAX_URLS", 2)
        urls = ("https://b.example/", *self.URLS)
        found = sitemap_coverage(parse(BODY), [SitemapUrls("s", urls)], "https://a.example")
        assert (found.checked, found.elsewhere, found.left_out) == (2, 1, 3)
        words = text_of(page_of(host_facts(source_of())._replace(sitemaps=found)))
        assert "1 are of other hosts, to which other rules apply. 3 more were not checked." in words

    def test_no_sitemap_was_read(self) -> None:
        """Nothing is claimed: not in the numbers, nor in the section, nor for programs."""
        found = sitemap_coverage(parse(BODY), [SitemapUrls("s.xml", (), "status 500")])
        assert (found.is_known, found.unread, found.groups) == (False, 1, ())
        assert found.as_dict()["known"] is False
        facts = host_facts(source_of())._replace(sitemaps=found)
        for hosts in ([facts], [facts, host_facts(source_of(""))]):
            words = text_of(page_of(*hosts))
            assert "Not known: no sitemap could be read." in words
            assert "No URL of the sitemaps is blocked" not in words
            assert "0 of 0" not in words
            assert "not known" in words
            assert "status 500" in words

    def test_some_sitemaps_were_read(self) -> None:
        """What is said is about the URLs that were read."""
        files = [SitemapUrls("s.xml", self.URLS), SitemapUrls("t.xml", (), "status 500")]
        found = sitemap_coverage(parse(""), files)
        assert (found.is_known, found.unread, found.blocked_for(["Googlebot"])) == (True, 1, 0)
        words = text_of(page_of(host_facts(source_of(""))._replace(sitemaps=found)))
        assert "None of the URLs that were read is blocked for a main crawler." in words
        assert "not all sitemaps were read completely" in words

    def test_no_sitemap_is_named(self) -> None:
        """There is nothing to count, and the section says so."""
        facts = host_facts(source_of(""))._replace(sitemaps=sitemap_coverage(parse(""), []))
        words = text_of(page_of(facts))
        assert "The robots.txt names no sitemap, so no URL was checked." in words
        assert "sitemap URLs blocked" not in words


class TestComparison:
    """A few sites side by side."""

    OTHER = "User-agent: *\nDisallow: /cart\n\nUser-agent: GPTBot\nDisallow: /\n"

    def test_two_files(self) -> None:
        """By purpose, then the crawlers that differ, on the paths of both."""
        hosts = [host_facts(source_of(BODY, "a.txt")), host_facts(source_of(self.OTHER, "b.txt"))]
        found = compare_sites(hosts)
        assert found is not None
        assert {"/", "/search", "/cart"} <= set(found.paths)
        by_name = {name: one for one in found.differences for name in one.crawlers}
        assert "GPTBot" not in by_name  # blocked by both
        assert by_name["CCBot"].summaries == ("nothing", "some")
        assert dict(by_name["CCBot"].paths)["/"] == (False, True)
        assert dict(by_name["Googlebot"].paths) == {
            "/search": (False, True),
            "/old/": (False, True),
            "/cart": (True, False),
        }
        robots = hosts[0].source.robots
        assert robots is not None
        assert len(by_name) + found.alike == len(matrix(robots).rows)
        differing = {one.purpose for one in found.purposes if one.differs}
        assert "ai-training" in differing
        tree = page_of(*hosts)
        words = text_of(tree, "#comparison")
        assert "robotrules diff" in words
        assert "/cart" in words
        links = [node.attributes["href"] for node in tree.css("nav.contents a")]
        assert links == ["#comparison", "#overview", "#host-1", "#host-2"]
        assert all(tree.css_first(f"section{link}") for link in links)

    def test_verdicts_are_those_of_the_files(self) -> None:
        """Each mark is the verdict on that path."""
        bodies = (BODY, self.OTHER, "")
        hosts = [host_facts(source_of(body, f"{at}.txt")) for at, body in enumerate(bodies)]
        found = compare_sites(hosts)
        assert found is not None
        for one in found.differences:
            for name in one.crawlers:
                token = "*" if name == "everyone else" else name
                for path, verdicts in one.paths:
                    expected = tuple(parse(body).check(path, token).allowed for body in bodies)
                    assert verdicts == expected, (name, path)

    def test_equal_files(self) -> None:
        """It says that there is no difference, and of what."""
        hosts = [host_facts(source_of(BODY, name)) for name in ("a.txt", "b.txt")]
        found = compare_sites(hosts)
        assert found is not None
        assert found.differences == ()
        assert not any(one.differs for one in found.purposes)
        assert "gets the same from each file" in text_of(page_of(*hosts), "#comparison")

    def test_many_sites(self) -> None:
        """Four to six are compared by purpose only, more in the overview only."""
        hosts = [host_facts(source_of(BODY, f"{at}.txt")) for at in range(MOST_COMPARED + 1)]
        found = compare_sites(hosts[:4])
        assert found is not None
        assert found.paths == ()
        assert compare_sites(hosts) is None
        gone = HostFacts(SiteSource("x", problem="gone"))
        assert compare_sites([hosts[0], gone]) is None
        assert "not known" in text_of(page_of(*hosts[:2], gone), "#comparison")


class TestPage:
    """One file with everything."""

    def test_one_host(self) -> None:
        """The sentence, the numbers, the table, its reasons, the notes."""
        facts = host_facts(source_of())
        tree = page_of(facts, date="1 May 2026")
        assert text_of(tree, "h1") == "Title"
        assert text_of(tree, ".headline") == (
            "Two of the eight main AI-training crawlers (CCBot and GPTBot) may not fetch "
            "anything, and "
            "the other six may read the home page; all six main search engines may read the home "
            "page."
        )
        assert (
            text_of(tree, ".subtitle")
            == f"news.example · status 200 · {len(BODY)} bytes · 1 May 2026"
        )
        tiles = [text for node in tree.css(".tiles li") if (text := node.text(separator=" "))]
        assert "2 of 15 known AI-training crawlers blocked" in tiles
        assert "6 of 6 main search engines may read the home page" in tiles
        assert [node.text() for node in tree.css("h2")] == [
            *("By purpose", "Who may fetch what", "Notes")
        ]
        assert text_of(tree, ".reasons tbody tr") == "2 Disallow: /search /search"
        assert FOOTNOTE in text_of(tree, "footer")
        notes = text_of(tree, ".note")
        assert "3 Disalow: /old/" in notes
        assert "What to do: Write 'Disallow'." in notes

    def test_every_mark_has_its_reason_in_view(self) -> None:
        """The line number is text, and the line is quoted on the page."""
        facts = host_facts(source_of())
        tree = page_of(facts)
        assert facts.matrix is not None
        quoted = {row.css("th")[0].text(): row.text() for row in tree.css(".reasons tbody tr")}
        marks = [
            cell for row in tree.css(".matrix tr:not(.band)") for cell in row.css("td:has(.mark)")
        ]
        cells = [cell for row in facts.matrix.rows for cell in row.cells]
        assert len(marks) == len(cells)
        for mark, cell in zip(marks, cells, strict=True):
            if rule := cell.verdict.rule:
                assert mark.text().endswith(f", line {rule.line}")
                assert str(rule) in quoted[str(rule.line)]

    def test_it_needs_nothing_else(self) -> None:
        """No script, no request, no element that could make one."""
        made = report_page(SiteReport("Title", (host_facts(source_of()),)))
        tree = LexborHTMLParser(made)
        assert not tree.css("script, link, img, iframe, object, embed, base, form, audio, video")
        assert not re.search(r"url\(|@import|https?://", made)
        assert "\\x0a" not in unescape(made)

    def test_headings_and_anchors_are_unique(self) -> None:
        """Ids occur once; headings do not skip a level."""
        tree = page_of(*[host_facts(source_of(name=f"h{n}.example")) for n in range(3)])
        ids = [node.attributes["id"] for node in tree.css("[id]")]
        assert len(ids) == len(set(ids))
        levels = [int((node.tag or "")[1]) for node in tree.css("h1, h2, h3, h4")]
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))

    def test_many_hosts(self) -> None:
        """An overview that links to a section for each, with the same sentence."""
        hosts = [
            host_facts(source_of(name="a.example")._replace(origin="https://a.example")),
            host_facts(source_of("", "b.example")._replace(origin="https://b.example")),
            host_facts(
                SiteSource("c.example", problem="the robots.txt is unreachable (status 503)")
            ),
        ]
        tree = page_of(*hosts)
        rows = tree.css("#overview tbody tr")[:3]
        assert [" ".join(row.text(separator=" ").split())[:60] for row in rows] == [
            "a.example partly blocked 6 of 6 0 2 Two of the eight main AI",
            "b.example allowed 6 of 6 0 0 Every crawler may fetch everyth",
            "c.example not known The robots.txt is unreachable (status 50",
        ]
        for number, host in enumerate(hosts, 1):
            section_of = tree.css_first(f"section#host-{number}")
            assert section_of is not None
            assert host.name in section_of.text()
            assert tree.css(f'a[href="#host-{number}"]')
        assert "While a robots.txt cannot be fetched" in text_of(tree, "#host-3")
        headline = text_of(tree, ".headline")
        assert headline.endswith("; the robots.txt of one more could not be read.")

    def test_very_many_hosts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Sections are short, hosts beyond the limit have none, and the page says so."""
        monkeypatch.setattr("robotrules.operations.site_report.pages.MOST_HOSTS", 15)
        facts = host_facts(source_of())
        many = [
            facts._replace(source=source_of(name=f"h{n}.example")._replace(origin=SITE))
            for n in range(FULL_HOSTS + 8)
        ]
        made = report_page(SiteReport("Title", tuple(many)))
        tree = LexborHTMLParser(made)
        assert not tree.css(".matrix")
        assert len(tree.css("section.host")) == 15
        assert "3 hosts have no section of their own." in text_of(tree)
        assert len(made) / len(many) < 25_000

    def test_sitemaps_history_and_logs(self) -> None:
        """Parts that were asked for."""
        coverage = sitemap_coverage(
            parse(BODY), [SitemapUrls("s.xml", TestSitemaps.URLS, "it ends early")]
        )
        changes, words = changes_from_store(changed_store().store, SITE)
        facts = host_facts(source_of())._replace(
            sitemaps=coverage, history=changes, history_words=words
        )
        tree = page_of(facts, logs=(section("Crawlers in the log"),))
        told = text_of(tree)
        assert [node.text() for node in tree.css("h2")][-3:] == [
            *("Sitemaps", "History", "Crawlers in the log")
        ]
        assert "2 of 5 sitemap URLs blocked for a main search engine" in told
        assert "https://a.example/search?q=1 line 2: Disallow: /search" in told
        assert "it ends early" in told
        assert "unreachable: connection refused" in told
        clean = sitemap_coverage(parse(""), [SitemapUrls("s.xml", TestSitemaps.URLS)])
        words = text_of(page_of(facts._replace(sitemaps=clean)))
        assert "No URL of the sitemaps is blocked for a main crawler." in words

    def test_contents(self) -> None:
        """Links to the sections of one site stand before the table of crawlers."""
        facts = host_facts(source_of())._replace(sitemaps=sitemap_coverage(parse(""), []))
        tree = page_of(facts, logs=(section("Crawlers in the log"),))
        links = [node.attributes["href"] for node in tree.css("nav.contents a")]
        assert links == ["#by-purpose", "#who-may-fetch-what", "#notes", "#sitemaps", "#logs"]
        assert all(len(tree.css(str(link))) == 1 for link in links)

    def test_crawlers_with_two_purposes(self) -> None:
        """Those that count for AI training, and stand elsewhere, are named."""
        words = text_of(page_of(host_facts(source_of())), "#who-may-fetch-what")
        assert "CCBot also collects for AI training, and counts there too" in words
        alone = host_facts(source_of(), crawlers=["GPTBot"])
        assert "main purpose" not in text_of(page_of(alone), "#who-may-fetch-what")

    def test_no_notes(self) -> None:
        """Lint's silence is said; an empty history says why."""
        clean = "User-agent: *\nDisallow: /search/\n"
        facts = host_facts(source_of(clean))._replace(history=(), history_words="No fetch.")
        told = text_of(page_of(facts))
        assert "Lint has no notes on this file." in told
        assert "History No fetch." in told


def many(line: str, count: int) -> bytes:
    """Return lines that differ by their numbers."""
    return "".join(line.format(n, "abc"[n % 3]) for n in range(count)).encode()


LARGE = {
    "groups": many("User-agent: b{0}x\nDisallow: /{0}/*x\nAllow: /{0}$\n\n", 5_000),
    "rules": b"User-agent: *\n" + many("Disallow: /{1}*{0}*z$\n", 15_000),
    "markup": b"<script>alert(1)</script>\"'\x00\x1b\xff\n" * 14_000,
    "one line": b"User-agent: *\nDisallow: /" + b"a*" * 250_000,
    "notes": b"User-agent: *\n" + b"Disalow: /x\nSitemap: http://a.example/x\n" * 10_000,
}


class TestHostileFiles:
    """The content of a file is text, and pages stay small."""

    def test_markup_is_escaped(self) -> None:
        """In names, rules, notes, sitemaps, problems and histories."""
        body = f"User-agent: {NASTY}\nDisalow: /{NASTY}\nDisallow: /{NASTY}\nSitemap: {NASTY}\n"
        coverage = sitemap_coverage(
            parse("User-agent: *\nDisallow: /"),
            [SitemapUrls(NASTY, (f"https://a/{NASTY}",), NASTY)],
        )
        history = History()
        history.record_fetch(0, Response(200, [], body.encode()))
        changes, _ = changes_from_store(history.store, SITE)
        changes = (*changes, changes[0]._replace(title=NASTY, source=NASTY, effects=(NASTY,)))
        full = host_facts(SiteSource(NASTY, parse(body), status=NASTY))
        full = full._replace(sitemaps=coverage, history=changes, history_words=NASTY)
        gone = host_facts(SiteSource(NASTY, problem=NASTY))
        for hosts in ((full,), (gone,), (full, gone)):
            made = report_page(SiteReport(NASTY, hosts, date=NASTY))
            tree = LexborHTMLParser(made)
            assert not tree.css("script, img")
            assert all(c.isprintable() or c == "\n" for c in made)
            for node in tree.css("*"):
                assert not [name for name in node.attributes if name.startswith("on")]

    @pytest.mark.parametrize("body", LARGE.values(), ids=LARGE)
    def test_large_files(self, body: bytes) -> None:
        """Half a mebibyte of anything takes seconds and makes a page of less than a mebibyte."""
        began = time.process_time()
        facts = host_facts(source_of(body[:512_000]))
        made = report_page(SiteReport("Title", (facts,)))
        assert time.process_time() - began < 30
        assert len(made) < 1_000_000
        assert len(LexborHTMLParser(made).css(".note")) <= MOST_CHECKS
