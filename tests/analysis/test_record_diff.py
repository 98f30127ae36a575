"""Records other than rules are compared by their effect, not by their text."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from robotrules import RobotsTxt
from robotrules.analysis import Crawler, RecordDifference, RecordText, Undecided, solver
from robotrules.analysis.record_diff import MAX_PATHS, diff_records

Read = Callable[..., RobotsTxt]
EVERYONE = Crawler("*")
PURPOSE = "EXAMPLE-PURPOSE-1"


def changed(
    read: Read,
    old: str,
    new: str,
    crawler: Crawler | None = EVERYONE,
    *,
    profile: str = "default",
    max_states: int = solver.MAX_STATES,
) -> list[RecordDifference]:
    """Return what changes for a crawler; for None, what changes of the file."""
    named = () if crawler is None else (crawler,)
    files = [read(body, profile) for body in (old, new)]
    return list(diff_records(files[0], files[1], crawler, named, max_states=max_states))


def texts(found: list[RecordDifference]) -> list[tuple[str, list[str], list[str]]]:
    """Return records with what was removed and added."""
    return [
        (one.record, [s.text for s in one.removed], [s.text for s in one.added]) for one in found
    ]


def group(*lines: str) -> str:
    """Write a `*` group."""
    return "User-agent: *\n" + "\n".join(lines) + "\n"


class TestOfTheFile:
    """Sitemap, Host and Clean-param apply to the file, for every crawler."""

    def test_sitemaps(self, read: Read) -> None:
        """Added and removed, with their lines."""
        old = "Sitemap: https://example.com/a.xml\nSitemap: https://example.com/b.xml"
        new = "Sitemap: https://example.com/b.xml\n\nSitemap: https://example.com/c.xml"
        (found,) = changed(read, old, new, None)
        assert found == RecordDifference(
            "Sitemap",
            (),
            (RecordText("https://example.com/a.xml", 1),),
            (RecordText("https://example.com/c.xml", 3),),
        )
        assert found.is_decided

    def test_order_and_repetition(self, read: Read) -> None:
        """Neither has a meaning."""
        one, two = "Sitemap: https://example.com/a.xml\n", "Sitemap: https://example.com/b.xml\n"
        assert changed(read, one + two, two + one + two, None) == []

    def test_host(self, read: Read) -> None:
        """The first counts; case does not."""
        assert (
            changed(read, "Host: Example.com", "Host: example.com\nHost: other.example", None) == []
        )
        found = changed(read, "Host: example.com", "", None)
        assert texts(found) == [("Host", ["example.com"], [])]

    def test_clean_params(self, read: Read) -> None:
        """Parameters are a set."""
        assert changed(read, "Clean-param: a&b /x", "Clean-param: b&a /x", None) == []
        found = changed(read, "Clean-param: a /x", "Clean-param: a /y", None)
        assert texts(found) == [("Clean-param", ["a /x"], ["a /y"])]

    def test_groups_do_not_count(self, read: Read) -> None:
        """Records of groups are not records of the file."""
        assert changed(read, group("Crawl-delay: 5"), "", None) == []


class TestOfGroups:
    """Crawl-delay, Request-rate and Visit-time: of the groups that a crawler obeys."""

    def test_delays(self, read: Read) -> None:
        """The number counts, and not its spelling."""
        assert changed(read, group("Crawl-delay: 5"), group("Crawl-delay: 5.0")) == []
        (found,) = changed(read, group("Crawl-delay: 5"), group("Crawl-delay: 10"))
        assert found == RecordDifference(
            "Crawl-delay", (EVERYONE,), (RecordText("5", 2),), (RecordText("10", 2),)
        )

    def test_crawlers_of_the_group(self, read: Read) -> None:
        """Only for crawlers that obey the group."""
        old = "User-agent: Foo\nCrawl-delay: 5\nDisallow: /\n"
        assert changed(read, old, "User-agent: Foo\nDisallow: /\n") == []
        (found,) = changed(read, old, "User-agent: Foo\nDisallow: /\n", Crawler("Foo"))
        assert found.crawlers == (Crawler("Foo"),)

    def test_rates_and_times(self, read: Read) -> None:
        """Each record by what it comes to."""
        old, new = group("Request-rate: 1/5", "Visit-time: 0600-0845"), group("Request-rate: 2/10")
        found = texts(changed(read, old, new))
        assert ("Visit-time", ["0600-0845"], []) in found
        assert all(record in ("Visit-time", "Request-rate") for record, *_ in found)

    def test_purposes(self, read: Read) -> None:
        """The group of a purpose applies to crawlers that have it."""
        old = f"User-agent-purpose: {PURPOSE}\nCrawl-delay: 5\nDisallow: /\n"
        assert changed(read, old, "") == []
        assert texts(changed(read, old, "", Crawler("*", (PURPOSE,)))) == [
            ("Crawl-delay", ["5"], [])
        ]


class TestOfPaths:
    """Content-Usage, Content-Signal and App-Directives: for every URL, what they come to."""

    def test_the_same_in_another_spelling(self, read: Read) -> None:
        """Order, spelling and repeated lines have no effect."""
        old = group("Content-Usage: train-ai=n", "Content-Usage: /a train-ai=y")
        for new in (
            group("Content-Usage: /a train-ai=y", "Content-Usage: train-ai=n"),
            group("Content-Usage: train-ai=n", "Content-Usage: /%61 train-ai=y"),
            group(*old.splitlines()[1:], "Content-Usage: /a/b train-ai=y"),
            group("Content-Usage: / train-ai=n", "Content-Usage: /a* train-ai=y"),
        ):
            assert changed(read, old, new) == [], new

    def test_a_url_shows_it(self, read: Read) -> None:
        """A change has a shortest URL."""
        old = group("Content-Usage: train-ai=n", "Content-Usage: /a train-ai=y")
        new = group("Content-Usage: train-ai=n", "Content-Usage: /a/ train-ai=y")
        (found,) = changed(read, old, new)
        assert texts([found]) == [("Content-Usage", ["/a train-ai=y"], ["/a/ train-ai=y"])]
        assert found.witness is not None
        assert found.witness.path == "/a"
        assert found.is_decided
        assert json.loads(json.dumps(found.as_dict())) == found.as_dict()

    def test_a_line_without_path(self, read: Read) -> None:
        """It counts where no pattern does."""
        old, new = group("Content-Usage: train-ai=n"), group("Content-Usage: train-ai=y")
        (found,) = changed(read, old, new)
        assert found.witness is not None
        assert found.witness.path == "/"
        (found,) = changed(read, old, group())
        assert (len(found.removed), len(found.added)) == (1, 0)

    def test_robots_txt_is_a_path(self, read: Read) -> None:
        """To these records `/robots.txt` is a path like others."""
        old, new = group("Content-Usage: /robots.txt$ train-ai=n"), group()
        (found,) = changed(read, old, new)
        assert found.witness is not None
        assert found.witness.path == "/robots.txt"

    def test_content_signal(self, read: Read) -> None:
        """Content-Signal is compared alike."""
        old = group("Content-Signal: ai-train=no, search=yes")
        assert changed(read, old, group("Content-Signal: search=yes, ai-train=no")) == []
        (found,) = changed(read, old, group("Content-Signal: search=yes"))
        assert found.record == "Content-Signal"
        assert found.witness is not None

    def test_app_directives(self, read: Read) -> None:
        """App-Directives are compared by application; both spellings are one record."""
        old = group("App-Directives: /x examplesearch;nosnippet")
        assert changed(read, old, group("App-Directive: /x examplesearch;nosnippet")) == []
        (found,) = changed(read, old, group("App-Directives: /x examplesearch;nosnippet=?0"))
        assert found.record == "App-Directives"
        assert found.witness is not None
        assert found.witness.path == "/x"

    def test_app_directives_ignore_purposes(self, read: Read) -> None:
        """Records in the group of a purpose are ignored; a crawler with the purpose obeys `*`."""
        body = (
            f"User-agent-purpose: {PURPOSE}\nApp-Directives: /a examplesearch;nosnippet\nAllow: /\n"
            "User-agent: *\nApp-Directives: /b examplesearch;nosnippet\nAllow: /\n"
        )
        crawler = Crawler("*", (PURPOSE,))
        assert changed(read, body, body.replace("/a", "/c"), crawler) == []
        found = changed(read, body, body.replace("/a", "/z").replace("/b", "/z"), crawler)
        assert texts(found) == [
            (
                "App-Directives",
                ["/b examplesearch;nosnippet"],
                ["/z examplesearch;nosnippet"],
            )
        ]

    def test_profiles(self, read: Read) -> None:
        """Under each profile the paths are those of its URLs."""
        for profile in ("default", "strict", "google"):
            old = group("Content-Usage: /a train-ai=y", "Content-Usage: train-ai=n")
            new = group("Content-Usage: /a* train-ai=y", "Content-Usage: train-ai=n")
            assert changed(read, old, new, profile=profile) == []


class TestUndecided:
    """An undecided change is reported as text, and never as a difference."""

    TIED = ("Content-Usage: /a*c train-ai=n", "Content-Usage: /*bc search=y")

    def test_ties(self, read: Read) -> None:
        """Two overlapping patterns of the same length tie: that is not decided."""
        old, new = group(*self.TIED), group(*self.TIED[::-1])
        (found,) = changed(read, old, new)
        assert found.witness is None
        assert not found.is_decided
        # Where only the order differs, all of them are named.
        assert len(found.removed) == len(found.added) == 2

    def test_ties_apart(self, read: Read) -> None:
        """Patterns with equally many octets do not tie if no URL matches both."""
        lines = "Content-Usage: /a*c$ train-ai=n", "Content-Usage: /b*d$ search=y"
        assert changed(read, group(*lines), group(*lines[::-1])) == []
        literal = "Content-Usage: /ab train-ai=n", "Content-Usage: /cd search=y"
        assert changed(read, group(*literal), group(*literal[::-1])) == []

    def test_a_difference_beside_ties(self, read: Read) -> None:
        """With ties on one side, the added records are reported, undecided."""
        (found,) = changed(read, group(*self.TIED), group(self.TIED[0]))
        assert texts([found]) == [("Content-Usage", ["/*bc search=y"], [])]
        assert not found.is_decided
        (found,) = changed(read, group(self.TIED[0]), group(*self.TIED))
        assert not found.is_decided

    def test_many_paths(self, read: Read) -> None:
        """Past a bound lines are compared as written."""
        lines = [f"Content-Usage: /{n}/ train-ai=n" for n in range(MAX_PATHS + 1)]
        (found,) = changed(read, group(*lines), group(*lines[::-1]))
        assert not found.is_decided
        assert changed(read, group(*lines[1:]), group(*lines[:0:-1])) == []
        assert changed(read, group(*lines), group(*lines)) == []

    def test_many_applications(self, read: Read) -> None:
        """So are directives for more applications than that."""
        lines = [f"App-Directives: /a app{n};nosnippet" for n in range(70)]
        (found,) = changed(read, group(*lines), group(*lines[::-1]))
        assert not found.is_decided

    def test_budget(self, read: Read) -> None:
        """Questions that the budget is too small for are undecided."""
        lines = "Content-Usage: /*abc*def train-ai=n", "Content-Usage: /*ghi search=y"
        (found,) = changed(read, group(*lines), group(*lines[::-1]), max_states=1)
        assert not found.is_decided
        tied = "Content-Usage: /*abc train-ai=n", "Content-Usage: /*abd search=y"
        (found,) = changed(read, group(*tied), group(*tied[::-1]), max_states=1)
        assert not found.is_decided

    def test_records_without_paths_are_decided(self) -> None:
        """A record that is not about paths is compared by value."""
        assert RecordDifference("Sitemap", (), (RecordText("a", 1),), ()).is_decided
        assert (
            RecordDifference("Sitemap", (), (RecordText("a", 1),), ()).as_dict()["witness"] is None
        )

    def test_no_truth(self) -> None:
        """An undecided answer has no truth to be taken for one."""
        with pytest.raises(TypeError):
            bool(Undecided(1))
