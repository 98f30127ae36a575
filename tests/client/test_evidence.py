"""
Evidence: the rules at a given time are those that a client would have applied then.

Histories are written by hand (`diary`), by a client over a scripted server, and by a client over a
real one.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from math import nextafter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules import ProductTokenError, ProfileError, Reason, StoreError, parse
from robotrules.access import ACCESS_PROFILES, AccessState, Failure, FailureReason, Response
from robotrules.cache import EffectivePolicy, FetchRecord, body_digest
from robotrules.client import Client, open_store
from robotrules.client.evidence import Evidence
from robotrules.client.historical_verdict import HistoricalVerdict, describe_fetch
from robotrules.client.origin_state import OriginState, StateSource
from robotrules.client.stores import MemoryStore, SQLiteStore
from robotrules.client.warc import export_warc, import_warc
from robotrules.http import origins
from robotrules.http.fields import Fields
from tests.client import fault_servers
from tests.client.histories import DAY, HOUR, SITE, START, History, file, refused, rules
from tests.client.scripted import Clock, Server, opened
from tests.client.warc_readers import READERS

A, B = f"{SITE}/a", f"{SITE}/b"
NEVER, LONG_AGO = b"Fri, 31 Dec 9999 23:59:59 GMT", b"Thu, 01 Jan 2026 00:00:00 GMT"


def at(history: History, days: float, url: str = A, **options: Any) -> HistoricalVerdict:
    """Check as ExampleBot, a number of days after the start."""
    profile = options.pop("profile", "default")
    token = options.pop("token", "ExampleBot")
    return Evidence(history.store, profile).at(url, START + days * DAY, token, **options)


def codes(testimony: HistoricalVerdict) -> list[str]:
    """Return the codes of the notes."""
    return [note.code for note in testimony.notes]


class TestWithinWhatWasKnown:
    """The file in force decides, and the testimony reports how that is known."""

    def test_the_file_of_that_time(self) -> None:
        history = History()
        history.record_fetch(0, file("/a"))
        history.record_fetch(1, file("/b"))
        history.record_fetch(2, file("/a"))
        assert [at(history, days).allowed for days in (0.5, 1.5, 2.5)] == [False, True, False]
        assert [at(history, days, B).allowed for days in (0.5, 1.5, 2.5)] == [True, False, True]

    def test_at_the_exact_time_of_a_fetch(self) -> None:
        """A fetch at the requested time decides, and is not the next fetch."""
        history = History()
        first = history.record_fetch(0, file("/a"))
        second = history.record_fetch(0.5, file("/b"))
        third = history.record_fetch(0.75, file("/a"))
        found = at(history, 0.5)
        assert (found.fetch_record, found.next_fetch_record, found.allowed) == (second, third, True)
        before = Evidence(history.store).at(A, nextafter(second.at, 0), "ExampleBot")
        assert (before.fetch_record, before.next_fetch_record, before.allowed) == (
            first,
            second,
            False,
        )
        assert at(history, 0.75).next_fetch_record is None
        begin = at(history, 0)
        assert (begin.fetch_record, begin.allowed, begin.in_force) == (first, False, True)

    def test_how_it_is_known(self) -> None:
        history = History()
        fetch_record = history.record_fetch(0, file("/a"))
        found = at(history, 0.5)
        assert found.in_force
        assert found.fetch_record == fetch_record
        assert found.until == fetch_record.until == START + DAY
        assert found.verdict is not None
        assert (found.verdict.reason, found.verdict.line) == (Reason.DISALLOW_RULE, 2)
        assert found.explanation is not None
        assert found.explanation.winner is not None
        assert isinstance(found.explanation.access, OriginState)
        assert (found.explanation.access.source, found.explanation.access.fetch_record) == (
            *(StateSource.STORE, fetch_record),
        )
        assert (found.policy, found.policy_reason) == (EffectivePolicy.RULES, "fresh")
        assert found.robots is not None
        assert found.robots.body == rules("/a")
        assert found.next_fetch_record is None
        assert found.notes == ()
        assert found.entry is not None
        assert found.entry.last_success == fetch_record

    def test_a_moment_is_seconds_or_a_datetime(self) -> None:
        history = History()
        history.record_fetch(0, file("/a"))
        evidence = Evidence(history.store)
        moment = datetime(2026, 5, 1, 12, 30, tzinfo=UTC)
        there = moment.astimezone(timezone(timedelta(hours=5)))
        found = [evidence.at(A, one, "ExampleBot") for one in (START + 12.5 * HOUR, moment, there)]
        assert found[0] == found[1] == found[2]

    def test_the_profile_reads_the_file(self) -> None:
        """And decides what a product token is."""
        history = History()
        history.record_fetch(0, file("/a"))
        found = at(history, 0.5, profile="google", token="ExampleBot/1.0")
        assert found.robots is not None
        assert (found.robots.profile.name, found.profile, found.allowed) == (
            *("google", "google", False),
        )
        with pytest.raises(ProductTokenError, match="is not a product token"):
            at(history, 0.5, token="ExampleBot/1.0")

    def test_several_tokens(self) -> None:
        """All of them are named."""
        assert at(History(), 0, token=["ExampleBot-News", "ExampleBot"]).product_token == (
            "ExampleBot-News, ExampleBot"
        )

    def test_the_next_fetch_is_of_the_same_origin(self) -> None:
        """Fetches of other origins are not part of the history."""
        history = History()
        history.record_fetch(0, file("/a"))
        history.record_fetch(0.6, file("/b"), site="https://elsewhere.example")
        later = history.record_fetch(0.7, file("/b"))
        assert at(history, 0.5).next_fetch_record == later

    def test_until_patience_ends(self) -> None:
        """A failure may be waited for until after the day when failures begin to allow."""
        history = History()
        history.record_fetch(0, Response(503))
        history.record_fetch(29.5, Response(503, {"Retry-After": "86400"}))
        assert [at(history, days).until for days in (29.6, 30.1)] == [
            *(START + 30 * DAY, START + 30.5 * DAY),
        ]
        assert [at(history, days).allowed for days in (29.6, 30.1)] == [False, True]

    def test_what_is_read_is_closed(self) -> None:
        """A store may keep a connection open while its fetch records are read."""
        read = []

        class Slow(MemoryStore):
            def fetch_records(self, *args: Any, **options: Any) -> Iterator[FetchRecord]:
                found = super().fetch_records(*args, **options)
                read.append(found)
                return found

        history = History(Slow())
        for days in range(3):
            history.record_fetch(days, file("/a"))
        assert at(history, 0.5).next_fetch_record is not None
        assert at(history, -1).next_fetch_record is not None
        assert [inspect.getgeneratorstate(one) for one in read] == ["GEN_CLOSED"] * len(read)  # type: ignore[arg-type]
        assert len(read) == 4

    def test_the_time_of_the_fetch_itself(self) -> None:
        history = History()
        history.record_fetch(0, file("/a"))
        history.record_fetch(1, file("/b"))
        assert at(history, 0).allowed is False
        assert at(history, 1).allowed is True

    def test_the_moment_it_ends(self) -> None:
        """Until is the first time at which it is no longer known."""
        history = History()
        history.record_fetch(0, file("/a"))
        assert at(history, 1 - 1e-9).in_force
        assert not at(history, 1).in_force

    def test_an_unchanged_file(self) -> None:
        """After a 304 the file of before holds on."""
        history = History()
        history.record_fetch(0, file("/a", ("ETag", '"1"')))
        renewed = history.record_fetch(1, Response(304))
        found = at(history, 1.5)
        assert renewed.revalidated
        assert (found.in_force, found.allowed, found.fetch_record) == (True, False, renewed)

    def test_a_file_for_another_crawler(self) -> None:
        history = History()
        body = b"User-agent: ExampleBot\nDisallow: /a\nUser-agent: *\nAllow: /\n"
        history.record_fetch(0, Response(200, [], body))
        assert at(history, 0.5).allowed is False
        assert at(history, 0.5, token="OtherBot").allowed is True
        assert at(history, 0.5, token=["OtherBot", "ExampleBot"]).allowed is False

    def test_purposes(self) -> None:
        history = History()
        history.record_fetch(0, Response(200, [], b"User-agent-purpose: EXAMPLE-1\nDisallow: /a\n"))
        assert at(history, 0.5).allowed is True
        found = at(history, 0.5, purposes=["EXAMPLE-1"])
        assert (found.allowed, found.purposes) == (False, ("EXAMPLE-1",))

    def test_a_url_in_octets(self) -> None:
        history = History()
        history.record_fetch(0, file("/%FF"))
        found = Evidence(history.store).at(b"https://example.com/\xff", START, "ExampleBot")
        assert (found.allowed, found.url) == (False, "https://example.com/\\xff")

    def test_no_file(self) -> None:
        history = History()
        history.record_fetch(0, Response(404))
        found = at(history, 0.5)
        assert found.verdict is not None
        assert (found.allowed, found.verdict.reason) == (True, Reason.UNAVAILABLE)
        assert found.policy is EffectivePolicy.ALLOW

    def test_a_redirect(self) -> None:
        history = History()
        there = Response(301, {"Location": "https://www.example.com/robots.txt"})
        history.record_fetch(0, there, file("/a"))
        found = at(history, 0.5)
        assert found.allowed is False
        assert found.fetch_record is not None
        assert [hop.status for hop in found.fetch_record.hops] == [301]
        assert at(history, 0.5, "https://www.example.com/a").allowed is None

    def test_a_cut_file(self) -> None:
        """A line that was cut is not used (AMB-12)."""
        history = History()
        history.record_fetch(0, Response(200, [], b"User-agent: *\nDisallow: /a", complete=False))
        assert at(history, 0.5).allowed is True


class TestUnreachable:
    """While the content of the file was unknown, nothing was allowed (RFC 9309 §2.3.1.4)."""

    @pytest.fixture
    def history(self) -> History:
        history = History()
        history.record_fetch(0, file("/a"))
        for number in range(12):
            history.record_fetch(1 + number / 24, refused())
        return history

    def test_the_fresh_file_decides(self) -> None:
        """A failure while a file is fresh changes nothing."""
        history = History()
        fetch_record = history.record_fetch(0, file("/a"))
        history.record_fetch(0.5, Response(503))
        found = at(history, 0.6, B)
        assert (found.allowed, found.fetch_record, found.in_force) == (True, fetch_record, True)
        assert codes(found) == ["failing"]

    def test_complete_disallow(self, history: History) -> None:
        found = at(history, 1 + 3 / 24 + 1e-4, B)
        assert found.verdict is not None
        assert (found.allowed, found.verdict.reason) == (False, Reason.UNREACHABLE)
        assert found.fetch_record is not None
        assert found.fetch_record.failure_reason is FailureReason.CONNECT
        assert found.in_force
        assert codes(found) == ["failing", "failed-later"]
        assert "4 times in a row, first on 2026-05-02T00:00:00Z" in found.notes[0].message
        assert at(history, 1 + 3 / 24 + 1e-4, f"{SITE}/robots.txt").allowed is True

    def test_profiles_choose_the_reading(self, history: History) -> None:
        """`stale` uses the copy; `google` stops for twelve hours first (AMB-58)."""
        history.record_fetch(1.6, refused())
        moment = 1.6 + 1e-4
        assert [at(history, moment, B, profile=name).allowed for name in ACCESS_PROFILES] == [
            *(False, False, True, True)
        ]
        found = at(history, moment, profile="stale")
        assert (found.policy_reason, found.allowed) == ("stale-copy", False)
        assert found.fetch_record is not None
        assert found.fetch_record.state is AccessState.SUCCESS
        assert (found.profile, found.access) == ("default", "stale")

    def test_after_thirty_days_of_failures(self) -> None:
        history = History()
        for day in range(32):
            history.record_fetch(day, refused())
        assert at(history, 29 + 1e-4).allowed is False
        found = at(history, 31 + 1e-4)
        assert (found.allowed, found.policy_reason) == (True, "gave-up")

    def test_thirty_days_without_requests_are_not_failures(self) -> None:
        """Without a request there is no failure: the last known answer remains, and is flagged."""
        history = History()
        history.record_fetch(0, refused())
        found = at(history, 40)
        assert (found.allowed, found.in_force, found.policy_reason) == (False, False, "unreachable")
        assert codes(found) == ["lapsed", "failing"]

    @pytest.mark.parametrize(
        ("status", "recorded", "profile", "allowed"),
        [
            (429, "default", "default", False),
            (429, "default", "strict", True),
            (429, "strict", "strict", True),
            (429, "strict", "default", False),
            (408, "default", "google", True),
            (408, "default", "strict", True),
            (425, "strict", "default", False),
            (421, "strict", "google", True),
            (404, "default", "google", True),
            (503, "default", "strict", False),
        ],
    )
    def test_statuses(self, status: int, recorded: str, profile: str, allowed: bool) -> None:
        """The current profile interprets the status, whichever recorded it (AMB-50, AMB-52)."""
        history = History(profile=recorded)
        history.record_fetch(0, Response(status))
        found = at(history, 1e-4, profile=profile)
        assert (found.allowed, found.in_force) == (allowed, True)

    def test_an_earlier_file_that_another_profile_forgot(self) -> None:
        """A 429 that was recorded as no file is a failure to others, and the file counts again."""
        history = History(profile="strict")
        history.record_fetch(0, file("/a"))
        history.record_fetch(1, Response(429))
        assert at(history, 1 + 1e-4, B, profile="strict").policy_reason == "fresh"
        found = at(history, 1 + 1e-4, B, profile="stale")
        assert (found.policy_reason, found.allowed) == ("stale-copy", True)

    def test_restricted(self) -> None:
        access = ACCESS_PROFILES["default"].replace(name="old", deny_on_401_403=True)
        history = History()
        history.record_fetch(0, Response(403))
        found = Evidence(history.store, access=access).at(A, START + HOUR, "ExampleBot")
        assert found.verdict is not None
        assert (found.verdict.allowed, found.verdict.reason) == (False, Reason.RESTRICTED)
        assert at(history, 0.1).allowed is True

    def test_how_long_is_long(self) -> None:
        """A profile that uses a file for an hour has nothing after that."""
        access = ACCESS_PROFILES["default"].replace(name="brief", max_ttl=HOUR)
        history = History()
        history.record_fetch(0, file("/a"))
        found = Evidence(history.store, access=access).at(A, START + 2 * HOUR, "ExampleBot")
        assert (found.in_force, found.until) == (False, START + HOUR)
        assert at(history, 2 / 24).in_force

    def test_loops(self) -> None:
        access = ACCESS_PROFILES["default"].replace(
            name="careful", redirect_failure_unreachable=True
        )
        history = History()
        history.record_fetch(0, Response(302, {"Location": "/robots.txt"}))
        assert at(history, 1e-4).allowed is True
        found = Evidence(history.store, access=access).at(A, START + 1, "ExampleBot")
        assert found.verdict is not None
        assert (found.verdict.allowed, found.verdict.reason) == (False, Reason.UNREACHABLE)
        assert found.fetch_record is not None
        assert (found.fetch_record.digest, found.fetch_record.size) == (None, 0)
        assert found.fetch_record.user_agent == f"ExampleBot/1.0 (+{SITE}/bot)"
        history.record_fetch(1, Response(302, {"Location": "/robots.txt"}))
        again = Evidence(history.store, access=access).at(A, START + DAY + 1, "ExampleBot")
        # A second failure in a row is waited for twice as long.
        assert (found.until, again.until) == (START + 60, START + DAY + 120)

    @pytest.mark.parametrize("recorded", ["default", "strict", "google"])
    @pytest.mark.parametrize(
        "answer", [Response(302, {"Location": "mailto:me"}), Response(301), Response(300)]
    )
    def test_broken_redirects(self, recorded: str, answer: Response) -> None:
        """They mean no file to profile google and nothing to others, whichever recorded them."""
        history = History(profile=recorded)
        history.record_fetch(0, answer)
        allowed = {name: at(history, 1e-4, profile=name).allowed for name in ACCESS_PROFILES}
        assert allowed == {"default": False, "strict": False, "stale": False, "google": True}

    def test_redirect_to_a_name_that_could_not_be_read(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """That is not a broken redirect: the earlier client, or this one, lacks a library."""
        history = History()
        origins._normalize.cache_clear()
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "idna", None)
            location = "https://bücher.example/r".encode()
            fetch_record = history.record_fetch(0, Response(302, [("Location", location)]))
            assert (fetch_record.state, fetch_record.failure_reason) == (
                AccessState.UNREACHABLE,
                FailureReason.LOCATION,
            )
            assert at(history, 1e-4, profile="google").allowed is False
        assert at(history, 1e-4, profile="google").allowed is False


class TestRenewalsInDoubt:
    """A 304 that an earlier version accepted as a renewal is distinguished from a valid one."""

    @staticmethod
    def renewed(first: Fields, second: Fields) -> History:
        """Return a history of a file and a 304, as an earlier version recorded them."""
        history = History()
        found = history.record_fetch(0, file("/a"))._replace(fields=first)
        again = found._replace(
            at=START + DAY, until=START + 2 * DAY, status=304, revalidated=True, fields=second
        )
        later = again._replace(at=START + 2 * DAY, until=START + 3 * DAY)
        history.store = MemoryStore()
        for one in (found, again, later):
            history.store.put(one, rules("/a"), None)
        return history

    @pytest.mark.parametrize(
        ("first", "second", "doubt"),
        [
            ((("etag", b'"1"'),), (("etag", b'"1"'),), False),
            ((("etag", b'"1"'),), (("etag", b'W/"1"'),), False),
            ((("etag", b'"1"'),), (("etag", b'"2"'),), True),
            ((("etag", b"*"),), (("etag", b"*"),), True),
            ((("etag", b"*"),), (("etag", b'"2"'),), True),
            ((("last-modified", NEVER),), (("last-modified", NEVER),), True),
            ((("last-modified", LONG_AGO),), (("last-modified", LONG_AGO),), False),
            ((), (), True),
        ],
    )
    def test_validators(self, first: Any, second: Any, doubt: bool) -> None:
        history = self.renewed(Fields(first, True), Fields(second, True))
        assert "renewal-in-doubt" not in codes(at(history, 0.5))
        for days in (1.5, 2.5):  # a renewal of what is in doubt is in doubt
            found = at(history, days)
            assert ("renewal-in-doubt" in codes(found)) is doubt
            assert found.allowed is False
        if doubt:
            [note] = [note for note in found.notes if note.code == "renewal-in-doubt"]
            assert note.level == "warning"
            assert "2026-05-02T00:00:00Z" in note.message

    def test_a_new_file_ends_it(self) -> None:
        history = self.renewed(Fields((("etag", b"*"),), True), Fields((), True))
        history.record_fetch(3, file("/a"))
        assert "renewal-in-doubt" not in codes(at(history, 3.5))
        assert "renewal-in-doubt" in codes(at(history, 2.5))

    def test_failures_do_not(self) -> None:
        """The copy is the same one after a failure, where a profile goes on with it."""
        history = self.renewed(Fields((("etag", b"*"),), True), Fields((), True))
        history.record_fetch(3, refused())
        assert "renewal-in-doubt" in codes(at(history, 3 + 1e-5, profile="stale"))
        assert "renewal-in-doubt" not in codes(at(history, 3 + 1e-5))

    def test_without_the_file_before(self) -> None:
        """What was forgotten cannot be judged."""
        history = self.renewed(Fields((("etag", b'"1"'),), True), Fields((("etag", b'"2"'),), True))
        history.store.prune_evidence(START + 0.5 * DAY)
        assert "renewal-in-doubt" not in codes(at(history, 1.5))


class TestWhatIsNotKnown:
    """Without data there is no verdict, and the reason is given."""

    def test_never_fetched(self) -> None:
        found = at(History(), 0)
        assert (found.allowed, found.in_force, found.until, found.entry) == (
            None,
            False,
            None,
            None,
        )
        assert codes(found) == ["never-visited"]
        assert found.notes[0].message == "There is no fetch of https://example.com."

    def test_before_the_first_fetch(self) -> None:
        history = History()
        first = history.record_fetch(0, file("/a"))
        found = at(history, -1)
        assert (found.allowed, found.next_fetch_record) == (None, first)
        assert "before 2026-05-01T00:00:00Z, the first one" in found.notes[0].message

    def test_another_crawler(self) -> None:
        history = History()
        history.record_fetch(0, file("/a"))
        found = at(history, 0.5, agent="OtherBot")
        assert found.allowed is None
        assert "by OtherBot" in found.notes[0].message

    def test_lapsed(self) -> None:
        """The last known file is shown, and that nothing is known after it."""
        history = History()
        fetch_record = history.record_fetch(0, file("/a", ("Cache-Control", "max-age=7200")))
        found = at(history, 0.5)
        assert (found.in_force, found.allowed, found.fetch_record) == (False, False, fetch_record)
        assert found.until == START + 2 * HOUR
        assert codes(found) == ["lapsed"]
        assert "expired on 2026-05-01T02:00:00Z" in found.notes[0].message

    @pytest.mark.parametrize(
        ("later", "code", "words"),
        [
            (file("/a"), "same-later", "found the same"),
            (file("/b"), "changed-later", "found another file"),
            (Response(404), "changed-later", "found no file"),
            (refused(), "failed-later", "failed"),
        ],
    )
    def test_the_next_fetch(self, later: Response | Failure, code: str, words: str) -> None:
        """The next file shows how reliable the earlier one is as evidence."""
        history = History()
        history.record_fetch(0, file("/a"))
        following = history.record_fetch(3, later)
        history.record_fetch(4, file("/c"))
        found = at(history, 2)
        assert found.next_fetch_record == following
        assert codes(found) == ["lapsed", code]
        assert words in found.notes[1].message

    def test_a_file_later_where_there_was_none(self) -> None:
        history = History()
        history.record_fetch(0, Response(404))
        history.record_fetch(1, file("/a"))
        assert at(history, 0.5).notes[0].message.endswith("found a file.")

    def test_no_store(self) -> None:
        """A file with no-store is not stored, but its digest identifies it."""
        history = History()
        fetch_record = history.record_fetch(0, file("/a", ("Cache-Control", "no-store")))
        found = at(history, 1e-4)
        assert (found.allowed, found.in_force, found.fetch_record) == (None, True, fetch_record)
        assert found.policy is EffectivePolicy.RULES
        assert codes(found) == ["no-store"]
        assert found.explanation is None
        assert found.as_dict()["allowed"] is None

    @pytest.mark.parametrize(
        ("body", "code"),
        [
            (None, "body-missing"),
            (b"User-agent: *\nAllow: /\n", "body-damaged"),
            (StoreError("the disk is gone"), "body-missing"),
        ],
    )
    def test_a_file_that_is_lost(self, body: bytes | StoreError | None, code: str) -> None:
        class Leaky(MemoryStore):
            def body(self, digest: str) -> bytes | None:
                if isinstance(body, StoreError):
                    raise body
                return body

        history = History(Leaky())
        history.record_fetch(0, file("/a"))
        found = at(history, 0.5)
        assert (found.allowed, found.in_force, codes(found)) == (None, True, [code])

    def test_no_origin(self) -> None:
        found = at(History(), 0, "mailto:somebody@example.com")
        assert (found.allowed, found.origin, codes(found)) == (None, None, ["no-origin"])

    def test_a_file_without_lifetime_was_in_force_when_fetched(self) -> None:
        """An archive may contain a fetch with a lifetime of zero."""
        history = History()
        fetch_record = history.record_fetch(0, file("/a"))
        store = MemoryStore()
        store.add([(fetch_record._replace(until=fetch_record.at), rules("/a"))])
        found = Evidence(store).at(A, START, "ExampleBot")
        assert (found.in_force, found.allowed) == (True, False)
        assert not Evidence(store).at(A, START + 1, "ExampleBot").in_force


class TestSeveralCrawlers:
    """Sites answer crawlers differently: each crawler has a separate history."""

    @pytest.fixture
    def history(self) -> History:
        history = History()
        history.record_fetch(0, file("/a"), agent="ExampleBot")
        history.record_fetch(0.1, file("/b"), agent="OtherBot")
        return history

    def test_a_crawler_gets_its_own_history(self, history: History) -> None:
        found = at(history, 0.5)
        assert found.entry is not None
        assert (found.entry.agent, found.allowed) == ("ExampleBot", False)
        assert codes(found) == ["crawlers-differ"]
        assert "OtherBot found something else" in found.notes[0].message
        assert at(history, 0.5, token="OtherBot").allowed is True

    def test_an_unknown_crawler_gets_the_last_fetch(self, history: History) -> None:
        found = at(history, 0.5, token="ThirdBot")
        assert found.entry is not None
        assert found.entry.agent == "OtherBot"

    def test_one_alone(self, history: History) -> None:
        for name in ("OtherBot", "otherbot"):
            found = at(history, 0.5, agent=name)
            assert (found.allowed, codes(found)) == (True, [])

    def test_what_was_known_comes_before_what_had_lapsed(self, history: History) -> None:
        """At 1.05 days ExampleBot's file had lapsed and OtherBot's had not."""
        found = at(history, 1.05)
        assert found.entry is not None
        assert (found.entry.agent, found.in_force, codes(found)) == ("OtherBot", True, [])

    def test_the_same_file_needs_no_note(self) -> None:
        history = History()
        history.record_fetch(0, file("/a"), agent="ExampleBot")
        history.record_fetch(0.1, file("/a"), agent="OtherBot")
        assert codes(at(history, 0.5)) == []

    def test_the_failures_of_one_are_not_those_of_another(self, history: History) -> None:
        history.record_fetch(0.2, refused(), agent="OtherBot")
        found = at(history, 0.5)
        assert found.entry is not None
        assert found.entry.failures == 0

    def test_the_next_fetch_is_of_the_same_crawler(self, history: History) -> None:
        history.record_fetch(0.6, file("/c"), agent="OtherBot")
        later = history.record_fetch(0.7, file("/a"), agent="ExampleBot")
        assert at(history, 0.5).next_fetch_record == later


class TestHistory:
    """All fetches of an origin, and what changed."""

    @pytest.fixture
    def evidence(self) -> Evidence:
        history = History()
        history.record_fetch(0, file("/a", ("ETag", '"1"')))
        history.record_fetch(1, Response(304))
        history.record_fetch(2, file("/b"))
        history.record_fetch(2.5, file("/a"), agent="OtherBot")
        history.record_fetch(3, refused())
        history.record_fetch(3.1, refused())
        history.record_fetch(4, Response(404))
        history.record_fetch(0, file("/z"), site="https://elsewhere.example")
        return Evidence(history.store)

    def test_fetches(self, evidence: Evidence) -> None:
        found = list(evidence.fetch_records(A))
        assert [(fetch_record.at - START) / DAY for fetch_record in found] == pytest.approx(
            [0, 1, 2, 2.5, 3, 3.1, 4]
        )
        assert [
            fetch_record.agent for fetch_record in evidence.fetch_records(A, agent="otherbot")
        ] == ["OtherBot"]
        some = evidence.fetch_records(A, after=START + DAY, before=START + 2 * DAY)
        assert len(list(some)) == 2

    def test_periods(self, evidence: Evidence) -> None:
        found = evidence.periods(A)
        assert [(one.first.state, one.fetches) for one in found] == [
            (AccessState.SUCCESS, 2),
            (AccessState.SUCCESS, 1),
            (AccessState.SUCCESS, 1),
            (AccessState.UNREACHABLE, 2),
            (AccessState.UNAVAILABLE, 1),
        ]
        assert [one.first.agent for one in found].count("OtherBot") == 1
        assert found[0].last.revalidated
        assert json.loads(json.dumps(found[0].as_dict()))["fetches"] == 2

    def test_without_an_origin(self, evidence: Evidence) -> None:
        with pytest.raises(ValueError, match="has no origin: pass a URL"):
            evidence.fetch_records("/a")


class TestAsValues:
    """A testimony is JSON, and a few lines of text."""

    def test_json(self) -> None:
        history = History()
        history.record_fetch(0, file("/a"))
        history.record_fetch(1, refused())
        found = json.loads(json.dumps(at(history, 0.5).as_dict()))
        assert (found["allowed"], found["reason"], found["line"]) == (False, "disallow-rule", 2)
        assert found["at"] == "2026-05-01T12:00:00.000+00:00"
        assert found["until"] == "2026-05-02T00:00:00.000+00:00"
        assert found["fetch_record"]["sha256"]
        assert found["fetch_record"]["user_agent"] == "ExampleBot/1.0 (+https://example.com/bot)"
        assert found["next_fetch_record"]["failure_reason"] == "connect"
        assert found["explanation"]["winner"]["line"] == 2
        assert "access" not in found["explanation"]
        assert (found["agent"], found["failing_since"], found["failures"]) == (
            "ExampleBot",
            None,
            0,
        )
        failed = at(history, 1 + 1e-4).as_dict()
        assert (failed["failing_since"], failed["failures"]) == ("2026-05-02T00:00:00.000+00:00", 1)
        assert at(History(), 0).as_dict()["reason"] is None

    def test_text(self) -> None:
        history = History()
        fetch_record = history.record_fetch(0, file("/a"))
        lines = str(at(history, 0.5)).splitlines()
        assert lines == [
            "https://example.com/a for ExampleBot at 2026-05-01T12:00:00Z: disallowed by line 2: "
            "Disallow: /a",
            "  fetched on 2026-05-01T00:00:00Z by ExampleBot from https://example.com/robots.txt, "
            f"SHA-256 {fetch_record.digest}",
            "  valid until 2026-05-02T00:00:00Z",
        ]
        assert str(at(History(), 0)).endswith("error: There is no fetch of https://example.com.")

    def test_fetches_as_sentences(self) -> None:
        history = History()
        assert describe_fetch(history.record_fetch(0, Response(404))).endswith(
            "; no file: status 404"
        )
        assert describe_fetch(history.record_fetch(1, refused())).endswith(
            "unreachable: connection refused"
        )
        timeout = history.record_fetch(1.1, Failure(FailureReason.TIMEOUT))
        assert describe_fetch(timeout).endswith("unreachable: no response in time")
        history.record_fetch(2, file("/a", ("ETag", '"1"')))
        assert ", unchanged (304), SHA-256 " in describe_fetch(
            history.record_fetch(3, Response(304))
        )
        far = history.record_fetch(0, Response(404))._replace(at=1e300)
        assert "1e+300" in describe_fetch(far)


class TestMisuse:
    """Misuse raises, and the error contains the fix."""

    @pytest.mark.parametrize(
        ("moment", "error", "words"),
        [
            (datetime(2026, 5, 1), ValueError, "add tzinfo=UTC"),
            (float("nan"), ValueError, "pass seconds since 1970"),
            (float("inf"), ValueError, "pass seconds since 1970"),
            (True, TypeError, "not bool"),
            ("2026-05-01", TypeError, "not str"),
        ],
    )
    def test_moments(self, moment: Any, error: type[Exception], words: str) -> None:
        with pytest.raises(error, match=words):
            Evidence(MemoryStore()).at(A, moment, "ExampleBot")

    def test_names(self) -> None:
        """A name is vetted even where nothing is known."""
        with pytest.raises(ProductTokenError):
            Evidence(MemoryStore()).at(A, 0, "")
        with pytest.raises(ProductTokenError):
            Evidence(MemoryStore(), "strict").at(A, 0, "Example Bot")
        with pytest.raises(TypeError, match="purposes are a list"):
            Evidence(MemoryStore()).at(A, 0, "ExampleBot", "EXAMPLE-1")

    def test_profiles(self) -> None:
        with pytest.raises(ProfileError):
            Evidence(MemoryStore(), "lenient")
        with pytest.raises(ProfileError):
            Evidence(MemoryStore(), access="lenient")


class TestWhatItCosts:
    """One file is looked up, however long the history is, and cursors are closed."""

    def test_one_body(self) -> None:
        class Counting(MemoryStore):
            bodies = 0
            open = 0

            def body(self, digest: str) -> bytes | None:
                self.bodies += 1
                return super().body(digest)

            def fetch_records(self, *args: Any, **options: Any) -> Iterator[FetchRecord]:
                self.open += 1
                try:
                    yield from super().fetch_records(*args, **options)
                finally:
                    self.open -= 1

        history = History(store := Counting())
        for number in range(300):
            history.record_fetch(number, file(f"/{number}"))
        assert at(history, 150.5, f"{SITE}/150").allowed is False
        assert (store.bodies, store.open) == (1, 0)

    def test_a_store_may_give_any_iterator(self) -> None:
        class Listing(MemoryStore):
            def fetch_records(self, *args: Any, **options: Any) -> Iterator[FetchRecord]:
                return iter(list(super().fetch_records(*args, **options)))

        history = History(Listing())
        history.record_fetch(0, file("/a"))
        assert at(history, 0.5).allowed is False


# --- The same as the client -----------------------------------------------------------------------

answers: st.SearchStrategy[Response | Failure] = st.one_of(
    st.sampled_from(["/a", "/b", "/", ""]).map(lambda path: file(path, ("ETag", f'"{path}"'))),
    st.sampled_from([304, 401, 403, 404, 408, 410, 429, 500, 503]).map(Response),
    st.builds(lambda age: file("/a", ("Cache-Control", f"max-age={age}")), st.integers(0, 99_999)),
    # What a client would not do is its own, and no evidence.
    st.sampled_from(
        [one for one in list(FailureReason)[:8] if one is not FailureReason.REFUSED]
    ).map(Failure),
    st.just(Response(302, {"Location": "mailto:nobody"})),
    st.builds(lambda after: Response(503, {"Retry-After": str(after)}), st.integers(0, 99_999)),
)
pauses = st.one_of(st.floats(1, 7 * HOUR), st.floats(HOUR, 40 * DAY))


class TestAsTheClient:
    """Evidence for any time gives the answer that the client gave at that time."""

    @given(
        st.lists(st.tuples(pauses, answers), min_size=1, max_size=12),
        st.sampled_from(list(ACCESS_PROFILES)),
    )
    def test_every_answer(
        self, history: list[tuple[float, Response | Failure]], profile: str
    ) -> None:
        server, clock, store = Server(), Clock(), MemoryStore()
        access = ACCESS_PROFILES[profile]
        asked = []
        with opened("sync", server, clock, store=store, access=access) as client:
            for pause, answer in history:
                clock.now += pause
                server.answers[f"{SITE}/robots.txt"] = answer
                verdict = client.check(A)
                asked.append((clock.now, verdict))
        evidence = Evidence(store, access=access)
        for moment, verdict in asked:
            found = evidence.at(A, moment, "ExampleBot")
            assert found.in_force
            assert found.verdict == verdict


# --- Must show ------------------------------------------------------------------------------------

# Hours after the start, and what the URL's verdict is then: three changes, and failures in between.
FOUR = [(6.0, False), (30.0, True), (54.0, False), (78.0, True)]


def four_answers(store: Any, origin: str) -> list[tuple[bool | None, bool, str | None, int | None]]:
    """Return the four answers, each with what it rests on."""
    evidence = Evidence(store)
    found = [evidence.at(f"{origin}/a", START + hours * HOUR, "ExampleBot") for hours, _ in FOUR]
    return [
        (
            one.allowed,
            one.in_force,
            one.fetch_record.digest if one.fetch_record else None,
            one.verdict.line if one.verdict is not None else None,
        )
        for one in found
    ]


class TestThreeChanges:
    """A robots.txt changes three times; four moments get four right answers, and so do archives."""

    def test_four_answers(self, tmp_path: Path) -> None:
        bodies = [rules("/a"), rules("/b"), b"User-agent: ExampleBot\nDisallow: /a\n", b""]
        coming = [
            (0.0, fault_servers.message(bodies[0], 'ETag: "1"')),
            (12.0, fault_servers.message(b"", status="304 Not Modified")),
            (24.0, fault_servers.message(bodies[1])),
            (36.0, fault_servers.message(b"", status="503 Service Unavailable")),
            (37.0, b"garbage\r\n\r\n"),
            (38.0, fault_servers.message(bodies[1])),
            (48.0, fault_servers.message(bodies[2])),
            (60.0, b""),
            (72.0, fault_servers.message(bodies[3])),
        ]
        clock = Clock()
        answer = [b""]
        with (
            fault_servers.serve(lambda peer: peer.send(answer[0])) as site,
            closing(open_store(tmp_path / "evidence.sqlite")) as store,
            Client(
                "ExampleBot/1.0", store=store, clock=clock, allow_private=["127.0.0.1"]
            ) as client,
        ):
            for hours, octets in coming:
                clock.now = START + hours * HOUR
                answer[0] = octets
                client.refresh(site.url)
            expected = four_answers(store, site.url)
            assert [allowed for allowed, _, _, _ in expected] == [allowed for _, allowed in FOUR]
            assert all(state for _, state, _, _ in expected)
            assert len({digest for _, _, digest, _ in expected}) == 4
            states = [fetch_record.state for fetch_record in store.fetch_records()]
            assert states.count(AccessState.UNREACHABLE) == 3
            for name in ("evidence.warc", "evidence.warc.gz"):
                archive = tmp_path / name
                assert export_warc(store, archive) == len(coming)
                with closing(SQLiteStore(tmp_path / f"{name}.sqlite")) as empty:
                    assert import_warc(empty, archive)[:3] == (len(coming), 0, {})
                    assert four_answers(empty, site.url) == expected
                for read in READERS:
                    files = {body_digest(one.body): one.body for one in read(archive)}
                    for allowed, _, digest, line in expected:
                        verdict = parse(files[digest or ""]).check(f"{site.url}/a", "ExampleBot")
                        assert (verdict.allowed, verdict.line) == (allowed, line)
