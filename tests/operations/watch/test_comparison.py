"""From what was seen before and what is seen now to events: levels, sentences, ids."""

from __future__ import annotations

import time

import pytest

from robotrules.operations.watch.comparison import SIZE_LIMIT, Baseline, advance
from robotrules.operations.watch.events import EventKind, is_at_least, parse_event
from robotrules.operations.watch.observations import (
    FileObservation,
    PageObservation,
    RedirectSeen,
    SitemapSeen,
)
from tests.operations.watch.samples import ORIGIN, between, file, looks, page

OPEN = "User-agent: *\nDisallow: /private/\n"
CLOSED = "User-agent: *\nDisallow: /\n"


class TestMeaning:
    """A change of meaning is one event with a sentence."""

    def test_a_crawler_is_blocked(self) -> None:
        """The sentence names the crawler, the URLs and the line."""
        [event] = between(file(OPEN), file(f"{OPEN}\nUser-agent: CCBot\nDisallow: /\n"))
        assert (event.kind, event.level) == (EventKind.CRAWLERS_BLOCKED, "warning")
        assert event.sentence == "CCBot may no longer fetch any URL (line 5: Disallow: /)."
        assert event.details["newly_blocked"] == ["CCBot"]
        assert event.target == f"{ORIGIN}/robots.txt"

    def test_a_search_engine_is_blocked(self) -> None:
        """That is an error, also for those that obey its group."""
        [event] = between(file(OPEN), file(f"{OPEN}\nUser-agent: Googlebot\nDisallow: /\n"))
        assert (event.kind, event.level) == (EventKind.CRAWLERS_BLOCKED, "error")
        assert "Googlebot-Image" in event.details["newly_blocked"]
        assert "crawlers may not fetch anything any more: " in event.sentence

    def test_everyone_is_blocked_and_let_in_again(self) -> None:
        """One event in each direction; the well-known crawlers are counted."""
        _, events = looks(file(OPEN), file(CLOSED), file(OPEN))
        [blocked], [allowed] = events[1:]
        assert (blocked.kind, blocked.level) == (EventKind.CRAWLERS_BLOCKED, "error")
        assert blocked.sentence.startswith("No crawler may fetch any URL any more (line 2: ")
        assert "bingbot" in blocked.details["newly_blocked"]
        assert allowed.kind is EventKind.CRAWLERS_ALLOWED
        assert allowed.sentence.startswith("Every crawler may fetch every URL, except /private/* (")

    def test_what_stays_allowed_is_said_and_what_was_blocked_is_not(self) -> None:
        """`except` means the other verdict."""
        [event] = between(file(OPEN), file("User-agent: *\nDisallow: /\nAllow: /news/\n"))
        assert event.sentence.startswith("No crawler may fetch any URL any more, except /news/* (")
        assert event.details["changes"][0]["except"] == ["/news/*"]
        assert event.kind is EventKind.RULES_CHANGED

    def test_exceptions_that_are_not_all_named(self) -> None:
        """A list of exceptions that was cut says so, in the sentence and in the details."""
        rules = "".join(f"Disallow: /{letter}/\n" for letter in "abcdef")
        [event] = between(file(CLOSED), file(f"User-agent: *\n{rules}"))
        assert event.sentence.startswith(
            "Every crawler may fetch every URL, except /a/*, /b/*, /c/* and others ("
        )
        assert event.details["changes"][0]["except_complete"] is False
        # The other way there is none: what was blocked before is no exception.
        [event] = between(file(f"User-agent: *\n{rules}"), file(CLOSED))
        assert event.sentence.startswith("No crawler may fetch any URL any more (line 2: ")
        assert event.details["changes"][0]["except_complete"] is True

    def test_the_text_alone(self) -> None:
        """A comment is news at the lowest level."""
        [event] = between(file(OPEN), file(f"# hello\n{OPEN}"))
        assert (event.kind, event.level) == (EventKind.TEXT_CHANGED, "info")
        assert "means the same: proved for every crawler" in event.sentence
        assert between(file(OPEN), file(OPEN)) == []

    def test_other_records(self) -> None:
        """A sitemap that is gone changes no verdict."""
        line = f"Sitemap: {ORIGIN}/s.xml\n"
        [event] = between(file(OPEN + line), file(OPEN))
        assert (event.kind, event.level) == (EventKind.RECORDS_CHANGED, "warning")
        assert f"Sitemap (removed line 3: {ORIGIN}/s.xml)" in event.sentence

    def test_a_file_vanishes_and_appears(self) -> None:
        """404 allows everything (§2.3.1.3); what that means for this file is said."""
        _, events = looks(file(OPEN), file(None, status=404), file(None, status=410), file(OPEN))
        [gone], [status], [back] = events[1:]
        assert (gone.kind, gone.level) == (EventKind.FILE_VANISHED, "error")
        assert "such as /private/ for everyone else" in gone.sentence
        assert gone.new_digest is None
        assert (status.kind, status.level) == (EventKind.STATUS_CHANGED, "info")
        assert (back.kind, back.level) == (EventKind.FILE_APPEARED, "warning")
        assert "No crawler may fetch /private/* any more" in back.sentence
        [quiet] = between(file("# nothing\n"), file(None, status=404))
        assert quiet.level == "warning"

    def test_a_file_that_may_not_be_kept(self) -> None:
        """After no-store and a restart, that it changed is known, and not what."""
        old = file(OPEN, may_store=False)._replace(body=None)
        [event] = between(old, file(CLOSED))
        assert (event.kind, event.level) == (EventKind.NOT_COMPARED, "warning")
        assert "no-store" in event.sentence

    def test_very_many_changes_are_cut(self) -> None:
        """Sentence and details have limits."""
        many = "".join(
            f"User-agent: Bot{chr(97 + n % 26) * (n // 26 + 1)}\nDisallow: /x{n}\n\n"
            for n in range(200)
        )
        [event] = between(file(OPEN), file(many))
        assert len(event.sentence) <= 1_000
        assert len(event.details["changes"]) <= 50
        assert event.details["more_changes"] > 0

    @pytest.mark.parametrize(("names", "rules"), [(1, 2_000), (100, 4)])
    def test_very_many_wildcards(self, names: int, rules: int) -> None:
        """A comparison has an end after seconds; that it is not complete is said."""

        def hostile(sign: str) -> FileObservation:
            groups = (
                f"User-agent: Bot{chr(97 + n % 26) * (n // 26 + 1)}\n"
                + "".join(f"Disallow: /*{sign}{n}*{k}*x{k * n}*\n" for k in range(rules))
                for n in range(names)
            )
            return file("\n".join(groups))

        old, new = hostile("a"), hostile("b")
        began = time.thread_time()
        [event] = between(old, new)
        assert time.thread_time() - began < 10
        assert event.kind is EventKind.RULES_CHANGED
        assert event.details["more_changes"] > 0
        assert " more changes" in event.sentence

    def test_hostile_text_is_printable(self) -> None:
        """Names and paths of the file cannot reach a terminal or a header."""
        bad = "User-agent: Evil\x1b[2J\nDisallow: /\x07\x9b\r\nUser-agent: *\nDisallow: /\u202e\n"
        for event in between(file(OPEN), file(bad)):
            assert event.sentence.isprintable()
            assert event.as_text_line().decode().rstrip("\n").isprintable()
            assert event.as_json_line().isascii()


class TestFailures:
    """A fetch that fails is not a file."""

    def test_one_failure_tells_nothing(self) -> None:
        """A blip wakes nobody, and the baseline stays."""
        baseline, events = looks(file(OPEN), file(None, status=503), file(OPEN))
        assert events == [(), (), ()]
        assert (baseline.failures, baseline.revision) == (0, 0)

    def test_failures_are_told_once_and_so_is_the_end(self) -> None:
        """After as many as asked; a change meanwhile is told then."""
        down = file(None, status=503)
        _, events = looks(file(OPEN), down, down, down, file(CLOSED), after=2)
        assert [len(told) for told in events] == [0, 0, 1, 0, 2]
        [told] = events[2]
        assert (told.kind, told.level) == (EventKind.UNREACHABLE, "error")
        assert "status 503, 2 times in a row" in told.sentence
        assert told.old_digest == told.new_digest
        assert [event.kind for event in events[4]] == [
            EventKind.REACHABLE,
            EventKind.CRAWLERS_BLOCKED,
        ]

    def test_a_site_that_was_never_reached(self) -> None:
        """It is told as well, and the first file is a baseline without news."""
        down = file(None, status=503)
        _, events = looks(down, file(OPEN), after=1)
        assert [event.kind for event in events[0]] == [EventKind.UNREACHABLE]
        assert "once" in events[0][0].sentence
        assert [event.kind for event in events[1]] == [EventKind.REACHABLE]


class TestResponses:
    """Redirects, media types, sizes, HTML."""

    def test_redirects(self) -> None:
        """New, elsewhere, gone."""
        first = (RedirectSeen(f"{ORIGIN}/robots.txt", 301, "https://www.example.com/robots.txt"),)
        second = (RedirectSeen(f"{ORIGIN}/robots.txt", 302, "https://cdn.example/robots.txt"),)
        _, events = looks(
            file(OPEN), file(OPEN, redirects=first), file(OPEN, redirects=second), file(OPEN)
        )
        told = [event.sentence for look in events for event in look]
        assert told == [
            "The robots.txt is redirected now: 301 to https://www.example.com/robots.txt.",
            "The robots.txt leads elsewhere now: 302 to https://cdn.example/robots.txt.",
            "The robots.txt is not redirected any more.",
        ]

    def test_media_types(self) -> None:
        """Another one than text/plain is a warning."""
        _, events = looks(file(OPEN), file(OPEN, media_type="text/html"), file(OPEN))
        assert [event.level for look in events for event in look] == ["warning", "info"]

    def test_an_html_page_with_status_200(self) -> None:
        """An error page that says 200 has no rules: everything is allowed."""
        html = file("<!doctype html><html><body>Sorry</body></html>", media_type="text/html")
        _, events = looks(file(OPEN), html, file(OPEN))
        assert [(event.kind, event.level) for event in events[1]] == [
            (EventKind.MEDIA_TYPE_CHANGED, "warning"),
            (EventKind.HTML_PAGE, "error"),
        ]
        assert events[1][1].details["changes"]
        assert EventKind.HTML_PAGE in [event.kind for event in events[2]]
        # Also at the first look: it is a problem.
        assert [event.kind for event in looks(html)[1][0]] == [EventKind.HTML_PAGE]

    def test_sizes(self) -> None:
        """Near the limit, over it, and away from it again."""
        near, over = (OPEN + "#" * (SIZE_LIMIT - 1_000), OPEN + "#" * SIZE_LIMIT)
        _, events = looks(
            file(OPEN), file(near), file(over.encode()[:SIZE_LIMIT], complete=False), file(OPEN)
        )
        sizes = [event for look in events for event in look if event.kind is EventKind.SIZE]
        assert [event.level for event in sizes] == ["warning", "error", "info"]
        assert "more than 512,000 bytes" in sizes[1].sentence

    def test_sitemaps(self) -> None:
        """Blocked, lost, and listing what is blocked; each way once."""
        url = f"{ORIGIN}/s.xml"
        good = SitemapSeen(url, 3, False, True, "", 5)
        steps = [
            good,
            good._replace(blocked=True),
            SitemapSeen(url, 3, False),  # not fetched: what was known stays
            good._replace(readable=False, trouble="status 404", urls=0),
            good._replace(urls_blocked=2, example=f"{ORIGIN}/private/a"),
            good,
        ]
        _, events = looks(*(file(OPEN, sitemaps=(one,)) for one in steps))
        kinds = [[(event.kind, event.level) for event in look] for look in events]
        assert kinds == [
            [],
            [(EventKind.SITEMAP_BLOCKED, "warning")],
            [(EventKind.SITEMAP_BLOCKED, "info")],
            [(EventKind.SITEMAP_LOST, "error")],
            [(EventKind.SITEMAP_LOST, "info"), (EventKind.SITEMAP_LISTS_BLOCKED, "warning")],
            [(EventKind.SITEMAP_LISTS_BLOCKED, "info")],
        ]
        assert events[1][0].target == url


class TestPages:
    """Tags, status and redirects of a page."""

    def test_noindex(self) -> None:
        """Its appearance is an error that says what search engines do, its end a warning."""
        hidden = page(tags={"*": {"noindex": "x-robots-tag", "nosnippet": "meta"}})
        _, events = looks(page(), hidden, page(), page())
        [appeared], [gone] = events[1:3]
        assert (appeared.kind, appeared.level) == (EventKind.PAGE_TAGS_CHANGED, "error")
        assert appeared.sentence == (
            "noindex and nosnippet appeared (in x-robots-tag and meta): search engines that obey "
            "it remove the page from their results."
        )
        assert gone.sentence == (
            "noindex and nosnippet are gone: search engines may show the page."
        )
        assert events[3] == ()

    def test_a_tag_for_one_crawler(self) -> None:
        """The sentence names it."""
        [event] = between(page(), page(tags={"*": {}, "googlebot": {"nosnippet": "meta"}}))
        assert event.sentence == "nosnippet appeared for googlebot (in meta)."
        assert event.level == "warning"

    def test_a_tag_for_several_crawlers(self) -> None:
        """All of them are named, in one event."""
        noindex = {"noindex": "meta"}
        both = page(tags={"*": {}, "googlebot": noindex, "bingbot": {"noindex": "x-robots-tag"}})
        [event] = between(page(), both)
        assert event.sentence == (
            "noindex appeared for googlebot and bingbot (in meta and x-robots-tag): search engines "
            "that obey it remove the page from their results."
        )
        assert event.details["crawlers"] == ["googlebot", "bingbot"]
        [back] = between(both, page(tags={"*": {}, "googlebot": noindex}))
        assert back.sentence == "noindex is gone for bingbot: search engines may show the page."
        [all_of_them] = between(page(), page(tags={"*": noindex}))
        assert all_of_them.details["crawlers"] == ["*"]

    @pytest.mark.parametrize(
        "away",
        [
            page(status=404, media_type="text/plain"),
            page(outcome="blocked", status=None, response="line 2: Disallow: /"),
        ],
    )
    def test_a_noindex_that_comes_with_the_page(self, away: PageObservation) -> None:
        """Compared with what was seen last, also in the rows of the state."""
        hidden = page(tags={"*": {"noindex": "meta"}})
        _, events = looks(page(), away, away, hidden, page())
        kinds = [[event.kind for event in look] for look in events]
        assert kinds[3][-1] is EventKind.PAGE_TAGS_CHANGED
        assert EventKind.MEDIA_TYPE_CHANGED not in kinds[3]
        assert events[3][-1].level == "error"
        assert kinds[4] == [EventKind.PAGE_TAGS_CHANGED]
        # Without an earlier look there is nothing to compare with.
        assert len(looks(away, hidden)[1][1]) == 1

    def test_status_and_redirect(self) -> None:
        """A page that is lost is an error."""
        [event] = between(page(), page(status=404))
        assert (event.kind, event.level) == (EventKind.STATUS_CHANGED, "error")
        hop = RedirectSeen(f"{ORIGIN}/a", 301, "/b")
        moved = page(redirects=(hop,), final_url=f"{ORIGIN}/b")
        assert [event.sentence for event in between(page(), moved)] == [
            f"The page is redirected now: 301 to {ORIGIN}/b."
        ]
        assert [event.level for event in between(moved, page())] == ["info"]
        assert [event.level for event in between(page(), page(media_type=None))] == ["info"]

    def test_a_page_that_is_blocked_to_us(self) -> None:
        """It is said once that its tags are unknown from now on."""
        blocked = page(outcome="blocked", status=None, response="line 2: Disallow: /")
        _, events = looks(page(), blocked, blocked, page())
        assert [[event.level for event in look] for look in events] == [
            [],
            ["warning"],
            [],
            ["info"],
        ]

    def test_a_page_that_fails(self) -> None:
        """Like a robots.txt that does."""
        failed = page(outcome="failed", status=None, response="no response in time")
        _, events = looks(page(), failed, failed)
        assert [event.sentence for event in events[2]] == [
            "The page is unreachable: no response in time, 2 times in a row."
        ]


class TestIds:
    """The same change has the same id; another change has another one."""

    def test_a_repeated_comparison_gives_the_same_events(self) -> None:
        """After a crash the comparison is done again, perhaps at another time."""
        baseline, _ = advance(Baseline(), file(OPEN))
        once, again = (advance(baseline, file(CLOSED, at=at))[1] for at in (1_000.0, 2_000.0))
        assert [event.id for event in once] == [event.id for event in again]
        assert [event.at for event in again] == [2_000.0]

    def test_the_same_change_later_is_another_event(self) -> None:
        """There and back, twice: four events with four ids."""
        _, events = looks(file(OPEN), file(CLOSED), file(OPEN), file(CLOSED), file(OPEN))
        names = [event.id for look in events for event in look]
        assert len(names) == len(set(names)) == 4

    def test_an_event_survives_its_row(self) -> None:
        """What the state stores is the event."""
        [event] = between(file(OPEN), file(CLOSED))
        assert parse_event(event.as_row()) == event
        assert str(event.uuid) == str(event.uuid)

    @pytest.mark.parametrize(
        ("level", "least", "answer"),
        [("error", "info", True), ("info", "warning", False), ("warning", "warning", True)],
    )
    def test_levels(self, level: str, least: str, answer: bool) -> None:
        """An error is more important than a warning."""
        assert is_at_least(level, least) is answer
