"""Sentences, page and journal of an audit of many pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robotrules.client.auditing.findings import CODES, SITE_CODES, Finding
from robotrules.client.auditing.page_audit import IndexingAnswer, PageAudit, PageOutcome
from robotrules.client.auditing.site_results import SiteAudit, SiteSummary
from robotrules.operations.site_audit import sentences
from robotrules.operations.site_audit.html_page import MAX_ROWS, MAX_SITES, site_audit_page
from robotrules.operations.site_audit.journal import AuditJournal, JournalError
from robotrules.operations.site_audit.sentences import describe_group, headline
from robotrules.tags.codes import CODES as TAG_CODES


def page(
    number: int,
    outcome: PageOutcome = PageOutcome.INDEXABLE,
    *findings: Finding,
    noindex: tuple[str, ...] = (),
    crawlers: tuple[str, ...] = ("ExampleBot",),
) -> PageAudit:
    """Return a page."""
    url = f"https://example.com/{number}"
    blocked = outcome is PageOutcome.BLOCKED
    if outcome is PageOutcome.NOINDEX:
        noindex = ("meta element 1: noindex",)
    answers = tuple(
        IndexingAnswer(name, not blocked, "line 2: Disallow: /", outcome, noindex)
        for name in crawlers
    )
    return PageAudit(url, url, None if blocked else 200, "", None, (), (), answers, findings)


def result(*pages: PageAudit, **changes: object) -> SiteAudit:
    """Return an audit of some pages."""
    crawlers = tuple(one.crawler for one in pages[0].answers) if pages else ("ExampleBot",)
    made = SiteAudit(crawlers, (), "ExampleAudit/1.0", 0.0, 1.0, pages, (), (), 0)
    return made._replace(**changes)  # type: ignore[arg-type]


WARNING = Finding("listed-and-noindex", "warning", "The sitemap lists it.", "sitemap x")


class TestHeadline:
    """The sentence for those who read nothing else."""

    @pytest.mark.parametrize(
        ("pages", "words"),
        [
            ([], "No page was audited."),
            ([page(1)], "Of one page, 1 may be indexed by ExampleBot."),
            ([page(1), page(2)], "Of 2 pages, all may be indexed by ExampleBot."),
            (
                [page(1), page(2, PageOutcome.NOINDEX)],
                "Of 2 pages, 1 may be indexed by ExampleBot; 1 says noindex.",
            ),
            (
                [page(1, PageOutcome.BLOCKED, noindex=("x",))],
                "Of one page, none may be indexed by ExampleBot; 1 is blocked by robots.txt (it "
                "says noindex, which ExampleBot cannot see).",
            ),
            (
                [page(number, PageOutcome.BLOCKED, noindex=("x",)) for number in range(2)],
                "Of 2 pages, none may be indexed by ExampleBot; 2 are blocked by robots.txt (all 2 "
                "say noindex, which ExampleBot cannot see).",
            ),
            (
                [
                    page(1, PageOutcome.NOINDEX),
                    page(2, PageOutcome.BLOCKED, noindex=("x",)),
                    page(3, PageOutcome.REDIRECTED),
                    page(4, PageOutcome.MISSING),
                    page(5, PageOutcome.FAILED),
                    page(6, PageOutcome.UNKNOWN),
                ],
                "Of 6 pages, none may be indexed by ExampleBot; 1 says noindex, 1 is blocked by "
                "robots.txt (it says noindex, which ExampleBot cannot see), 1 "
                "redirects, 1 is missing (status 400 to 499), 1 could not be read and 1 is "
                "unknown.",
            ),
            (
                [page(1, crawlers=("*", "OtherBot"))],
                "Of one page, 1 may be indexed by crawlers that no group names. Of one page, 1 may "
                "be indexed by OtherBot.",
            ),
        ],
    )
    def test_sentences(self, pages: list[PageAudit], words: str) -> None:
        """Numbers, with grammar."""
        assert headline(result(*pages)) == words

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"not_audited": 3}, "because of the limit on pages: 1 of 4 pages were read."),
            ({"not_audited": None}, "because of the limit on pages."),
            (
                {"not_audited": 1, "interrupted": True},
                "because it was interrupted: 1 of 2 pages were read.",
            ),
        ],
    )
    def test_partial(self, changes: dict[str, object], words: str) -> None:
        """A partial audit says so, and why."""
        assert headline(result(page(1), **changes)).endswith(f"This audit is partial, {words}")


class TestGroups:
    """What a kind of finding means."""

    def test_codes_are_known(self) -> None:
        """Each sentence is of a code that there is."""
        assert set(sentences._GROUPS) <= {*CODES, *SITE_CODES, *TAG_CODES}

    def test_one_and_many(self) -> None:
        """One finding is quoted; many are described."""
        [one] = result(page(1, PageOutcome.NOINDEX, WARNING)).groups()
        assert describe_group(one) == WARNING.message
        [two] = result(*(page(n, PageOutcome.NOINDEX, WARNING) for n in (1, 2))).groups()
        assert describe_group(two).startswith("Sitemaps list pages that say noindex")

    def test_who_cannot_read_a_canonical_page(self) -> None:
        """The audited crawler is named, and beside each page the URL that it names."""
        one = Finding("canonical-disallowed", "warning", "The page names it.", "page")
        made = (page(n, PageOutcome.INDEXABLE, one) for n in (1, 2))
        found = result(*(each._replace(canonicals=("https://example.com/x",)) for each in made))
        [group] = found.groups()
        assert describe_group(group, ["Googlebot"]).endswith("blocks: Googlebot cannot read it.")
        assert describe_group(group, ["A", "B"]).endswith("blocks: A and B cannot read it.")
        assert list(sentences.example_lines(group)) == [
            "https://example.com/1 names https://example.com/x",
            "https://example.com/2 names https://example.com/x",
        ]
        assert "https://example.com/1 names" in site_audit_page(found, "example.com")

    @pytest.mark.parametrize(
        ("robots", "words"),
        [
            (
                {
                    "state": "success",
                    "policy": "rules",
                    "failing_since": None,
                    "fetch_record": {"at": "2026-05-01T12:00:00Z", "status": 200, "octets": 1},
                },
                "robots.txt status 200, 1 byte, fetched for this audit 2026-05-01 12:00 UTC",
            ),
            (
                {
                    "state": "unreachable",
                    "policy": "rules",
                    "failing_since": "2026",
                    "fetch_record": {"at": "2026-05-01T12:00:00Z", "status": 200, "octets": 9},
                },
                "robots.txt unreachable now; a stored copy of 2026-05-01 12:00 UTC was used "
                "(9 bytes)",
            ),
            (
                {
                    "state": "unavailable",
                    "policy": "allow",
                    "fetch_record": {"at": "2026-05-01T12:00:00Z", "status": 404},
                },
                "no robots.txt (status 404, 2026-05-01 12:00 UTC)",
            ),
            ({"state": "unreachable", "policy": "disallow"}, "robots.txt unreachable"),
        ],
    )
    def test_which_robots_txt(self, robots: dict[str, object], words: str) -> None:
        """Its size and time, and whether it is an older copy."""
        assert sentences.robots_words(robots) == words

    def test_of_one_crawler(self) -> None:
        """The count names it."""
        [one] = result(page(1, PageOutcome.NOINDEX, WARNING._replace(crawlers=("A",)))).groups()
        assert sentences.count_places(one) == "1 page for A"


class TestPage:
    """The page for the browser."""

    def test_rows_are_limited(self) -> None:
        """Those with findings come first, and the page says what is left out."""
        pages = [page(number) for number in range(MAX_ROWS + 20)]
        pages.append(page(9999, PageOutcome.NOINDEX, WARNING))
        made = site_audit_page(result(*pages), "example.com")
        assert "21 more pages are not shown" in made
        assert "https://example.com/9999" in made[made.index("Audited pages") :]
        assert f"https://example.com/{MAX_ROWS + 5}<" not in made

    def test_sites(self) -> None:
        """Their number is limited, too."""
        sites = tuple(
            SiteSummary(f"https://{number}.example", {"state": "success"}, (), 0, True)
            for number in range(MAX_SITES + 5)
        )
        made = site_audit_page(result(page(1), sites=sites), "example.com")
        assert "5 more sites are not shown." in made

    def test_nothing(self) -> None:
        """An audit without pages or findings is a page all the same."""
        made = site_audit_page(result(), "no page")
        assert "No page was audited." in made
        assert "Nothing was found." in made

    def test_text_is_escaped(self) -> None:
        """URLs, reasons and messages of a site are text."""
        hostile = "https://example.com/<script>\x1b[31m\"'"
        one = page(1, PageOutcome.BLOCKED, WARNING._replace(message="<img src=x>"))
        one = one._replace(url=hostile, final_url=hostile + "x", canonicals=(hostile + "y",))
        made = site_audit_page(result(one), "<b>")
        assert "<script" not in made
        assert "<img" not in made
        assert "<b>\n" not in made
        assert "\x1b" not in made

    def test_small_shares(self) -> None:
        """Two of a thousand are not none."""
        pages = [
            page(n, PageOutcome.INDEXABLE if n > 1 else PageOutcome.FAILED) for n in range(999)
        ]
        assert "&lt;1%" in site_audit_page(result(*pages), "example.com")


class TestJournal:
    """What a later run continues."""

    def test_pages_are_kept(self, tmp_path: Path) -> None:
        """In order, over several runs."""
        path = tmp_path / "journal"
        for number in range(3):
            with AuditJournal(path, {"crawlers": ["ExampleBot"]}) as journal:
                assert [one.url[-1] for one in journal.pages] == list("012")[:number]
                journal.add(page(number))

    def test_other_settings(self, tmp_path: Path) -> None:
        """What differs is named."""
        path = tmp_path / "journal"
        AuditJournal(path, {"a": 1, "b": [2]}).__exit__(None, None, None)
        with pytest.raises(JournalError, match=r"a, c differ"):
            AuditJournal(path, {"a": 2, "b": [2], "c": None, "d": None} | {"c": 1})

    def test_an_empty_file(self, tmp_path: Path) -> None:
        """It becomes a journal."""
        path = tmp_path / "journal"
        path.touch()
        with AuditJournal(path, {}) as journal:
            journal.add(page(1))
        assert len(path.read_bytes().splitlines()) == 2

    @pytest.mark.parametrize("octets", [b"x", b"[" * 100_000, b"\xff\xfe\n", b'{"a": 1}\n'])
    def test_other_files(self, tmp_path: Path, octets: bytes) -> None:
        """They are refused, and stay as they are."""
        path = tmp_path / "file"
        path.write_bytes(octets)
        with pytest.raises(JournalError, match="not the journal of an audit"):
            AuditJournal(path, {})
        assert path.read_bytes() == octets

    @pytest.mark.parametrize("cut", [1, 9, -1])
    def test_a_first_line_that_was_cut(self, tmp_path: Path, cut: int) -> None:
        """Is written again: that run had no page yet."""
        path = tmp_path / "journal"
        AuditJournal(path, {"a": 1}).__exit__(None, None, None)
        whole = path.read_bytes()
        path.write_bytes(whole[:cut])
        with AuditJournal(path, {"a": 1}) as journal:
            assert journal.pages == []
        assert path.read_bytes() == whole

    @pytest.mark.parametrize("damage", [{"pad": "x" * 2_000_000}, {"status": float("inf")}])
    def test_a_damaged_line_before_others(self, tmp_path: Path, damage: dict[str, Any]) -> None:
        """Is an error, and what follows stays."""
        path = tmp_path / "journal"
        with AuditJournal(path, {}) as journal:
            journal.add(page(1))
        octets = path.read_bytes()
        last = octets.splitlines(True)[1]
        whole = octets + json.dumps(json.loads(last) | damage).encode() + b"\n" + last
        path.write_bytes(whole)
        with pytest.raises(JournalError, match="line 3 of the journal is damaged"):
            AuditJournal(path, {})
        assert path.read_bytes() == whole

    def test_an_endless_line(self, tmp_path: Path) -> None:
        """A line is read up to a limit, so a device or a huge file does not fill memory."""
        path = tmp_path / "file"
        path.write_bytes(b" " * 3_000_000)
        with pytest.raises(JournalError):
            AuditJournal(path, {})
