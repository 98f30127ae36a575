"""The contract of `robotrules.cache.Store`, on all four stores alike."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from robotrules.access import AccessState, Response
from robotrules.cache import MAX_CLOCK_SKEW, Entry, FetchRecord, Store, body_digest, updated_entry
from robotrules.client import open_store
from robotrules.client.rate_limiter import MAX_DELAY
from robotrules.errors import StoreError
from robotrules.http.fields import Fields
from tests.client.scripted import Clock, Server, opened
from tests.client.servers import PASSWORD
from tests.client.stores.sample_records import AGENT, BODY, NOW, ORIGIN, PLACES, made, numbered

DAY = 86_400.0


def put(store: Store, *fetch_records: FetchRecord, body: bytes | None = BODY) -> Entry | None:
    """Put fetch records one after the other; return the last entry."""
    entry = None
    for fetch_record in fetch_records:
        entry = updated_entry(store.get(fetch_record.origin, fetch_record.agent), fetch_record)
        store.put(
            fetch_record, body if fetch_record.digest == body_digest(body or b"") else None, entry
        )
    return entry


def moments(fetch_records: Iterable[FetchRecord]) -> list[float]:
    """Return the times of fetch records, relative to NOW."""
    return [fetch_record.at - NOW for fetch_record in fetch_records]


class TestEntries:
    """What is put is got; what is newer stays."""

    def test_a_new_store_knows_nothing(self, store: Store) -> None:
        """And says so without an error."""
        assert store.get(ORIGIN, AGENT) is None
        assert store.body(body_digest(BODY)) is None
        assert list(store.entries()) == []
        assert list(store.fetch_records()) == []
        assert list(store.fetch_records(ORIGIN)) == []
        assert store.prune(NOW) == 0
        assert store.prune_evidence(NOW) == 0
        store.release("key", "me")

    def test_what_is_put_is_got(self, store: Store) -> None:
        """Entry, body and fetch record are returned unchanged."""
        entry = put(store, made())
        assert store.get(ORIGIN, AGENT) == entry
        assert store.body(body_digest(BODY)) == BODY
        assert list(store.fetch_records()) == [made()]

    def test_failures_are_put_too(self, store: Store) -> None:
        """A file that is there and a failure after it make one entry of both."""
        entry = put(store, made(), made(NOW + 5, None), made(NOW + 9, None))
        assert entry is not None
        assert (entry.last_success, entry.failures, entry.failing_since) == (made(), 2, NOW + 5)
        assert store.get(ORIGIN, AGENT) == entry

    def test_an_empty_file_is_a_file(self, store: Store) -> None:
        """A body of no octets is there, and not none."""
        put(store, made(body=b""), body=b"")
        assert store.body(body_digest(b"")) == b""

    def test_large_bodies(self, store: Store) -> None:
        """As large as a robots.txt may be, of any octets."""
        body = bytes(range(256)) * 2_200
        put(store, made(body=body), body=body)
        assert store.body(body_digest(body)) == body

    def test_bad_validators_of_an_older_version(self, store: Store) -> None:
        """An entry that was stored with them is kept as it is, and they are not sent back."""
        fields = Fields((("etag", b"*"), ("last-modified", b"Fri, 31 Dec 9999 23:59:59 GMT")), True)
        put(store, made(fields=fields))
        entry = store.get(ORIGIN, AGENT)
        assert entry is not None
        assert entry.last_success is not None
        assert entry.last_success.fields == fields
        server, clock = Server(), Clock()
        clock.now = NOW + 2 * DAY
        server.answers[f"{ORIGIN}/robots.txt"] = Response(200, {"ETag": '"a"'}, BODY)
        with opened("sync", server, clock, store=store) as client:
            assert not client.check(f"{ORIGIN}/private")
        assert [request.headers for request in server.asked] == [()]
        renewed = store.get(ORIGIN, AGENT)
        assert renewed is not None
        assert renewed.last_success is not None
        assert renewed.last_success.fields.get("etag") == [b'"a"']

    def test_keys_are_origin_and_agent(self, store: Store) -> None:
        """Two crawlers, two schemes, two entries."""
        for fetch_record in (made(agent="OtherBot"), made(origin="http://example.com")):
            put(store, fetch_record)
            assert store.get(ORIGIN, AGENT) is None
        assert len(list(store.entries())) == 2

    def test_newer_entries_stay(self, store: Store) -> None:
        """An entry whose last fetch is newer is not replaced; the fetch record is still stored."""
        newer = put(store, made(NOW + 10))
        store.put(made(NOW), BODY, updated_entry(None, made(NOW)))
        assert store.get(ORIGIN, AGENT) == newer
        store.put(made(NOW + 1), None, None)
        assert store.get(ORIGIN, AGENT) == newer
        assert moments(store.fetch_records()) == [0, 1, 10]

    def test_a_clock_that_was_ahead(self, store: Store) -> None:
        """An entry of the future is replaced, or forgotten; up to a minute ahead it stays."""
        ahead = updated_entry(None, made(NOW + MAX_CLOCK_SKEW))
        store.put(made(NOW + MAX_CLOCK_SKEW), BODY, ahead)
        store.put(made(NOW), BODY, updated_entry(None, made(NOW)))
        store.put(made(NOW), None, None)
        assert store.get(ORIGIN, AGENT) == ahead
        now = updated_entry(None, made(NOW - 1, b"# now"))
        store.put(made(NOW - 1, b"# now"), b"# now", now)
        assert store.get(ORIGIN, AGENT) == now
        store.put(made(NOW + 86_400), BODY, updated_entry(None, made(NOW + 86_400)))
        store.put(made(NOW), None, None)
        assert store.get(ORIGIN, AGENT) is None
        assert moments(store.fetch_records()) == [-1, 0, 60, 86_400]
        # Only the fetch records refer to a body.
        assert store.prune_evidence(NOW + 1e6) == 4
        assert store.body(body_digest(BODY)) is store.body(body_digest(b"# now")) is None

    def test_entries_of_the_same_moment_are_replaced(self, store: Store) -> None:
        """Only a newer one stays."""
        put(store, made())
        other = Entry(ORIGIN, AGENT, made(), made(body=None), NOW, 7)
        store.put(made(body=None), None, other)
        assert store.get(ORIGIN, AGENT) == other

    def test_the_last_fetch_may_be_the_failure(self, store: Store) -> None:
        """`last` covers both fetches, not only the successful one."""
        put(store, made(NOW), made(NOW + 10, None))
        store.put(made(NOW + 5), BODY, updated_entry(None, made(NOW + 5)))
        entry = store.get(ORIGIN, AGENT)
        assert entry is not None
        assert entry.last_fetch_at == NOW + 10

    def test_no_store_forgets(self, store: Store) -> None:
        """Without an entry the old entry is deleted, and the fetch is stored without a body."""
        put(store, made())
        other = b"# secret"
        store.put(made(NOW + 5, other, may_store=False), None, None)
        assert store.get(ORIGIN, AGENT) is None
        assert store.body(body_digest(other)) is None
        assert [fetch_record.digest for fetch_record in store.fetch_records()] == [
            body_digest(BODY),
            body_digest(other),
        ]

    def test_a_fetch_is_stored_once(self, store: Store) -> None:
        """To put the same again changes nothing: a caller may try again after an error."""
        for _ in range(3):
            put(store, made())
        assert list(store.fetch_records()) == [made()]
        assert store.prune_evidence(NOW + 1) == 1

    def test_misuse(self, store: Store) -> None:
        """A body that does not match the fetch record raises, and nothing is stored."""
        with pytest.raises(ValueError, match="does not match"):
            store.put(made(), b"another", updated_entry(None, made()))
        with pytest.raises(ValueError, match="does not match"):
            store.add([(made(), b"another")])
        assert store.get(ORIGIN, AGENT) is None
        assert list(store.fetch_records()) == []

    def test_entries_are_sorted(self, store: Store) -> None:
        """By origin and agent, however many pages they fill."""
        keys = [(f"https://h{n}.example", agent) for n in range(100) for agent in ("b", "A", "a-b")]
        for origin, agent in reversed(keys):
            put(store, made(origin=origin, agent=agent))
        found = [(entry.origin, entry.agent) for entry in store.entries()]
        assert found == sorted(keys)


class TestLeases:
    """A lease has one holder, until it ends."""

    def test_one_holder(self, store: Store) -> None:
        """The holder can renew it; others wait."""
        assert store.lease("key", "me", 60)
        assert not store.lease("key", "you", 60)
        assert store.lease("key", "me", 60)
        assert store.lease("other", "you", 60)

    def test_release(self, store: Store) -> None:
        """Only the holder can release it."""
        assert store.lease("key", "me", 60)
        store.release("key", "you")
        assert not store.lease("key", "you", 60)
        store.release("key", "me")
        assert store.lease("key", "you", 60)

    def test_holder(self, store: Store) -> None:
        """The holder is returned until the lease is released or expires."""
        assert store.holder("key") is None
        assert store.lease("key", "me", 60)
        assert store.lease("other", "you \u65e5", 60)
        assert (store.holder("key"), store.holder("other")) == ("me", "you \u65e5")
        store.release("key", "me")
        assert store.holder("key") is None
        assert store.lease("key", "me", 0.05)
        time.sleep(0.1)
        assert store.holder("key") is None

    def test_expiry(self, store: Store) -> None:
        """It ends by itself, and not before; renewing it makes it longer."""
        assert store.lease("key", "me", 0.3)
        started = time.monotonic()
        while not store.lease("key", "you", 60):
            assert time.monotonic() < started + 5
            time.sleep(0.01)
        assert time.monotonic() >= started + 0.2
        assert not store.lease("key", "me", 1)
        store.release("key", "me")
        assert not store.lease("key", "me", 1)
        assert store.lease("key", "you", 0.05)
        assert store.lease("key", "you", 60)
        time.sleep(0.1)
        assert not store.lease("key", "me", 1)

    def test_long_ones(self, store: Store) -> None:
        """Longer than any caller needs."""
        assert store.lease("key", "me", 1e15)
        assert not store.lease("key", "you", 1e-9)

    def test_misuse(self, store: Store) -> None:
        """A lease with a duration of zero raises."""
        with pytest.raises(ValueError, match="above 0"):
            store.lease("key", "me", 0)


class TestTurns:
    """Slots at an origin are one interval apart, for all callers."""

    def test_one_after_the_other(self, store: Store) -> None:
        """The first is now, and each other an interval later."""
        turns = [store.reserve_slot(ORIGIN, NOW + 0.125, 1.5) for _ in range(4)]
        assert turns == [NOW + 0.125 + 1.5 * n for n in range(4)]
        assert store.reserve_slot("https://other.example", NOW, 1.5) == NOW

    def test_time_goes_on(self, store: Store) -> None:
        """A slot is never in the past, and unused slots are not made up for."""
        store.reserve_slot(ORIGIN, NOW, 10)
        assert store.reserve_slot(ORIGIN, NOW + 100, 10) == NOW + 100
        assert store.reserve_slot(ORIGIN, NOW + 101, 10) == NOW + 110
        assert store.reserve_slot(ORIGIN, NOW + 101, 0) == NOW + 110

    def test_postponed(self, store: Store) -> None:
        """No slot before the given time; an earlier time does not move it forward."""
        store.postpone_slot(ORIGIN, NOW + 50)
        store.postpone_slot(ORIGIN, NOW + 20)
        assert store.reserve_slot(ORIGIN, NOW, 1) == NOW + 50
        assert store.reserve_slot(ORIGIN, NOW, 1) == NOW + 51
        store.postpone_slot(ORIGIN, NOW + 60.5)
        assert store.reserve_slot(ORIGIN, NOW, 1) == NOW + 60.5

    def test_digits_are_kept(self, store: Store) -> None:
        """A moment comes back as it was given."""
        now = 1_800_000_000.123456
        assert store.reserve_slot(ORIGIN, now, 1) == now
        assert store.reserve_slot(ORIGIN, now, 0.1) == now + 0.1

    def test_misuse(self, store: Store) -> None:
        """An interval is a number of seconds."""
        with pytest.raises(ValueError, match="0 or more"):
            store.reserve_slot(ORIGIN, NOW, -1)
        with pytest.raises(ValueError, match="0 or more"):
            store.begin_slot(ORIGIN, NOW, -1)

    def test_begun(self, store: Store) -> None:
        """A slot begins now or not at all; a refused call changes nothing."""
        now = NOW + 0.123456
        assert store.begin_slot(ORIGIN, now, 10) == now
        assert [store.begin_slot(ORIGIN, now, 10) for _ in range(3)] == [now + 10] * 3
        assert store.begin_slot(ORIGIN, now + 9.5, 10) == now + 10
        assert store.begin_slot(ORIGIN, now + 9.5, 9) == now + 9.5
        assert store.begin_slot(ORIGIN, now + 9.5, 0) == now + 9.5
        assert store.begin_slot("https://other.example", now, 10) == now

    def test_begun_at_the_very_moment(self, store: Store) -> None:
        """A slot may begin at the time that was returned."""
        assert store.begin_slot(ORIGIN, NOW + 0.1, 0.7) == NOW + 0.1
        ready = store.begin_slot(ORIGIN, NOW + 0.3, 0.7)
        assert ready == NOW + 0.1 + 0.7
        assert store.begin_slot(ORIGIN, ready, 0.7) == ready

    def test_one_line_for_all(self, store: Store) -> None:
        """Slots that are begun, reserved and postponed affect each other."""
        assert store.begin_slot(ORIGIN, NOW, 5) == NOW
        assert store.reserve_slot(ORIGIN, NOW + 1, 5) == NOW + 5
        assert store.begin_slot(ORIGIN, NOW + 6, 5) == NOW + 10
        store.postpone_slot(ORIGIN, NOW + 30)
        assert store.begin_slot(ORIGIN, NOW + 20, 5) == NOW + 30
        assert store.begin_slot(ORIGIN, NOW + 30, 5) == NOW + 30
        assert store.reserve_slot(ORIGIN, NOW + 30, 5) == NOW + 35
        other = "https://other.example"
        store.postpone_slot(other, NOW + 30)
        assert store.begin_slot(other, NOW, 5) == NOW + 30
        assert store.reserve_slot(other, NOW, 5) == NOW + 30

    def test_a_day_ahead_at_most(self, store: Store) -> None:
        """The wait for a slot is bounded, however many slots are reserved."""
        assert MAX_DELAY == DAY
        assert store.reserve_slot(ORIGIN, NOW, 0) == NOW
        assert store.reserve_slot(ORIGIN, NOW, DAY) == NOW + DAY
        assert store.reserve_slot(ORIGIN, NOW, DAY) == NOW + DAY
        assert store.reserve_slot(ORIGIN, NOW + 10, 1) == NOW + DAY + 1
        # A clock that is slightly wrong, and an origin that requested a day.
        store.postpone_slot(ORIGIN, NOW + DAY + MAX_CLOCK_SKEW)
        assert store.begin_slot(ORIGIN, NOW, 1) == NOW + DAY + MAX_CLOCK_SKEW
        assert store.reserve_slot(ORIGIN, NOW, 1) == NOW + DAY

    @pytest.mark.parametrize("ahead", [DAY + MAX_CLOCK_SKEW + 1, 365 * DAY])
    def test_clocks_that_were_ahead(self, store: Store, ahead: float) -> None:
        """A recorded time beyond the maximum wait is ignored."""
        notes: list[Callable[[str], object]] = [
            lambda origin: store.reserve_slot(origin, NOW + ahead, 1),
            lambda origin: store.begin_slot(origin, NOW + ahead, 1),
            lambda origin: store.postpone_slot(origin, NOW + ahead),
        ]
        for n, note in enumerate(notes):
            note(f"https://r{n}.example")
            assert store.reserve_slot(f"https://r{n}.example", NOW, 1) == NOW
            assert store.reserve_slot(f"https://r{n}.example", NOW, 1) == NOW + 1
            note(f"https://b{n}.example")
            assert store.begin_slot(f"https://b{n}.example", NOW, 1) == NOW
            assert store.begin_slot(f"https://b{n}.example", NOW, 1) == NOW + 1

    def test_what_is_not_believed_hides_nothing(self, store: Store) -> None:
        """An origin that requests a pause gets it, even if a clock was ahead before."""
        for origin, begin in (
            ("https://b.example", store.begin_slot),
            (ORIGIN, store.reserve_slot),
        ):
            store.postpone_slot(origin, NOW + DAY + 90)
            assert begin(origin, NOW, 0) == NOW
            store.postpone_slot(origin, NOW + 50)
            assert store.begin_slot(origin, NOW, 0) == NOW + 50
            store.postpone_slot(origin, NOW + 365 * DAY)
            store.postpone_slot(origin, NOW + 40)
            assert store.begin_slot(origin, NOW, 0) == NOW + 40
            assert store.begin_slot(origin, NOW + 40, 0) == NOW + 40

    def test_one_of_many_begins(self, store: Store) -> None:
        """Of all callers that would begin at the same time, one does in each interval."""
        threads, rounds = 8, 20
        thread_pool = threading.Barrier(threads)

        def work(_: int) -> list[float]:
            said = []
            for n in range(rounds):
                thread_pool.wait(30)
                said.append(store.begin_slot(ORIGIN, NOW + 2 * n, 2.0) - NOW)
            return said

        with ThreadPoolExecutor(threads) as pool:
            all_said = list(pool.map(work, range(threads)))
        for n in range(rounds):
            said = sorted(one[n] for one in all_said)
            assert said == [2 * n] + [2 * n + 2] * (threads - 1)


class TestEvidence:
    """Fetch records are ordered by time, and deleted only on request."""

    def test_order_and_bounds(self, store: Store) -> None:
        """By time, whatever the order they came in; bounds belong to it."""
        for n in (3, 1, 2, 0, 4):
            put(store, made(NOW + n, origin=f"https://{n % 2}.example"))
        assert moments(store.fetch_records()) == [0, 1, 2, 3, 4]
        assert moments(store.fetch_records("https://0.example")) == [0, 2, 4]
        assert moments(store.fetch_records(after=NOW + 1, before=NOW + 3)) == [1, 2, 3]
        assert moments(store.fetch_records("https://1.example", after=NOW + 2)) == [3]
        assert moments(store.fetch_records("https://1.example", before=NOW + 2)) == [1]
        assert moments(store.fetch_records("https://2.example")) == []
        assert moments(store.fetch_records(after=NOW + 9)) == []

    def test_many(self, store: Store) -> None:
        """More than a page, and more than a page at one moment."""
        fetch_records = [made(NOW + n // 300, agent=f"a{n}") for n in range(600)]
        assert store.add((fetch_record, None) for fetch_record in fetch_records) == 600
        assert sorted(store.fetch_records()) == sorted(fetch_records)
        assert sorted(store.fetch_records(ORIGIN)) == sorted(fetch_records)
        assert moments(store.fetch_records(ORIGIN)) == [0.0] * 300 + [1.0] * 300
        assert len(list(store.fetch_records(after=NOW + 1))) == 300

    def test_what_comes_while_one_reads(self, store: Store) -> None:
        """Iteration continues during writes: it returns all existing records, and none twice."""
        before = [made(NOW + n) for n in range(600)]
        store.add((fetch_record, None) for fetch_record in before)
        walk = store.fetch_records()
        found = [next(walk) for _ in range(10)]
        put(store, made(NOW + 599.5), made(NOW + 0.5))
        found += walk
        assert [fetch_record for fetch_record in found if fetch_record in before] == before
        assert len(set(found)) == len(found)

    def test_added(self, store: Store) -> None:
        """What comes from elsewhere is evidence and no entry; what is known is not new."""
        put(store, made())
        other = made(NOW + 1, b"# other")
        assert store.add([(made(detail="imported"), BODY), (other, b"# other")]) == 1
        assert store.add([(other, b"# other"), (other, None)]) == 0
        assert store.add([]) == 0
        assert list(store.fetch_records()) == [made(), other]
        assert store.body(body_digest(b"# other")) == b"# other"
        entry = store.get(ORIGIN, AGENT)
        assert entry is not None
        assert entry.last_fetch_at == NOW

    def test_each_of_five_things_makes_another(self, store: Store) -> None:
        """Origin, agent, time, digest and status."""
        fetch_records = [
            made(),
            made(agent="b"),
            made(NOW + 1),
            made(status=203),
            made(body=b"x"),
            made(body=None),
            made(body=None, status=503),
            made(origin="https://b.example"),
        ]
        assert store.add((fetch_record, None) for fetch_record in fetch_records) == len(
            fetch_records
        )
        assert store.add((fetch_record, None) for fetch_record in fetch_records) == 0

    def test_a_body_that_was_missing_comes_later(self, store: Store) -> None:
        """A known fetch record can be put again with the body that was missing."""
        store.add([(made(), None)])
        assert store.body(body_digest(BODY)) is None
        assert store.add([(made(), BODY)]) == 0
        assert store.body(body_digest(BODY)) == BODY

    def test_prune_entries(self, store: Store) -> None:
        """Old entries go; those of that moment and all evidence stay."""
        for n in range(4):
            put(store, made(NOW + n, origin=f"https://{n}.example"))
        put(store, made(NOW + 5, None, origin="https://0.example"))
        assert store.prune(NOW + 2) == 1
        assert [entry.origin for entry in store.entries()] == [
            "https://0.example",
            "https://2.example",
            "https://3.example",
        ]
        assert len(list(store.fetch_records())) == 5
        assert store.body(body_digest(BODY)) == BODY

    def test_prune_forgets_what_is_over(self, store: Store) -> None:
        """Past slots are deleted, future ones remain; an active lease remains."""
        store.reserve_slot(ORIGIN, NOW, 1)
        store.postpone_slot("https://later.example", NOW + 100)
        assert store.lease("key", "me", 60)
        assert store.prune(NOW + 50) == 0
        assert store.reserve_slot("https://later.example", NOW, 1) == NOW + 100
        assert not store.lease("key", "you", 60)

    def test_prune_evidence(self, store: Store) -> None:
        """Old fetch records are deleted with the bodies that are no longer referenced."""
        old, used, new = b"# old", b"# used", b"# new"
        put(store, made(NOW, old), body=old)
        put(store, made(NOW + 1, used, origin="https://b.example"), body=used)
        put(store, made(NOW + 2, new), body=new)
        put(store, made(NOW + 3, old, origin="https://c.example"), body=old)
        assert store.prune_evidence(NOW + 2) == 2
        assert moments(store.fetch_records()) == [2, 3]
        assert moments(store.fetch_records("https://b.example")) == []
        # An entry needs the second, a fetch record the third, both the first.
        assert [store.body(body_digest(body)) for body in (old, used, new)] == [old, used, new]
        assert store.prune(NOW + 2) == 1
        assert store.prune_evidence(NOW + 3) == 1
        assert store.body(body_digest(used)) is None
        assert store.prune_evidence(NOW + 100) == 1
        # The entries are still there, and so is what they need.
        assert [store.body(body_digest(body)) for body in (old, used, new)] == [old, None, new]
        assert store.prune(NOW + 100) == 2
        assert store.prune_evidence(NOW + 100) == 0
        assert [store.body(body_digest(body)) for body in (old, used, new)] == [None, None, None]

    def test_a_replaced_entry_needs_its_body_no_more(self, store: Store) -> None:
        """After its fetch record is deleted, a body is deleted once the entry is replaced."""
        put(store, made(NOW, b"# a"), body=b"# a")
        assert store.prune_evidence(NOW + 1) == 1
        assert store.body(body_digest(b"# a")) == b"# a"
        put(store, made(NOW + 5, b"# b"), body=b"# b")
        assert store.prune_evidence(NOW + 1) == 0
        assert store.body(body_digest(b"# a")) is None
        assert store.body(body_digest(b"# b")) == b"# b"

    def test_many_are_pruned(self, store: Store) -> None:
        """More than one share, bodies too."""
        pairs = [(made(NOW + n, b"# %d" % n), b"# %d" % n) for n in range(1_300)]
        store.add(pairs)
        assert store.prune_evidence(NOW + 1_200) == 1_200
        assert moments(store.fetch_records()) == list(range(1_200, 1_300))
        there = [store.body(body_digest(body)) for _, body in pairs]
        assert there == [None] * 1_200 + [body for _, body in pairs[1_200:]]


class TestStores:
    """Properties of every store, and how it is closed."""

    def test_names_hold_no_password(self, store: Store) -> None:
        """For people, in logs."""
        assert store.name
        for words in (store.name, repr(store)):
            assert PASSWORD not in words
            assert "s3cr3t" not in words
            assert "robotrules:" not in words

    def test_inline(self, store: Store) -> None:
        """Only what needs no network is called by an event loop itself."""
        assert store.inline is (store.name.startswith(("memory", "SQLite")))

    def test_closed(self, store: Store) -> None:
        """After the end everything is a StoreError; to close twice is none."""
        put(store, made())
        walk = store.fetch_records()
        store.close()
        store.close()
        for call in (
            lambda: store.get(ORIGIN, AGENT),
            lambda: store.body(body_digest(BODY)),
            lambda: store.put(made(), None, None),
            lambda: store.lease("key", "me", 1),
            lambda: store.release("key", "me"),
            lambda: store.reserve_slot(ORIGIN, NOW, 1),
            lambda: store.begin_slot(ORIGIN, NOW, 1),
            lambda: store.postpone_slot(ORIGIN, NOW),
            lambda: next(store.entries()),
            lambda: next(walk),
            lambda: store.add([(made(), None)]),
            lambda: store.prune(NOW),
            lambda: store.prune_evidence(NOW),
        ):
            with pytest.raises(StoreError, match="closed"):
                call()

    def test_all_is_there_again(self, where: str) -> None:
        """Data that was put is returned after the store is opened again."""
        first = open_store(where)
        entry = put(first, made(), made(NOW + 1, None))
        first.close()
        second = open_store(where)
        try:
            assert second.get(ORIGIN, AGENT) == entry
            assert second.body(body_digest(BODY)) == BODY
            assert moments(second.fetch_records()) == [0, 1]
        finally:
            second.close()

    def test_two_at_once(self, where: str) -> None:
        """Two open instances see each other's changes."""
        first, second = open_store(where), open_store(where)
        try:
            entry = put(first, made())
            assert second.get(ORIGIN, AGENT) == entry
            entry = put(second, made(NOW + 1, b"# b"), body=b"# b")
            assert first.get(ORIGIN, AGENT) == entry
            assert first.lease("key", "me", 60)
            assert not second.lease("key", "you", 60)
            assert second.reserve_slot(ORIGIN, NOW, 5) == NOW
            assert first.reserve_slot(ORIGIN, NOW, 5) == NOW + 5
        finally:
            first.close()
            second.close()


class TestThreads:
    """Ten threads at once: nothing is lost, mixed up or wrong."""

    def test_hammered(self, store: Store) -> None:
        """Puts, gets, leases, slots and iteration, all at the same time."""
        count, threads = 60, 10
        turns: list[float] = []
        inside: list[int] = []

        def made_of(number: int) -> tuple[FetchRecord, bytes, Entry]:
            # All within a minute: what is further ahead would be of another clock.
            fetch_record, body, _ = numbered(number)
            fetch_record = fetch_record._replace(at=NOW + number / 16)
            return fetch_record, body, updated_entry(None, fetch_record)

        def work(thread: int) -> None:
            for step in range(count):
                fetch_record, body, entry = made_of(thread * count + step)
                store.put(fetch_record, body, entry)
                found = store.get(fetch_record.origin, fetch_record.agent)
                assert found is not None
                assert found.last_success is not None
                assert found == made_of(round((found.last_fetch_at - NOW) * 16))[2]
                assert found.last_fetch_at >= entry.last_fetch_at
                assert store.body(fetch_record.digest or "") == body
                turns.append(store.reserve_slot(ORIGIN, NOW, 1.0))
                if store.lease("key", f"{thread}", 30):
                    inside.append(thread)
                    assert inside == [thread]
                    inside.remove(thread)
                    store.release("key", f"{thread}")
                if step % 20 == 0:
                    times = [one.at for one in store.fetch_records(fetch_record.origin)]
                    assert all(a <= b for a, b in pairwise(times))

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, range(threads)))
        assert sorted(turns) == [NOW + n for n in range(count * threads)]
        fetch_records = list(store.fetch_records())
        assert fetch_records == [made_of(n)[0] for n in range(count * threads)]
        assert len(list(store.entries())) == PLACES

    def test_one_body_put_and_pruned(self, store: Store) -> None:
        """A body that an entry needs is there, however often evidence is forgotten meanwhile."""
        over = threading.Event()

        def forget() -> None:
            while not over.is_set():
                store.prune_evidence(NOW + 10_000)

        with ThreadPoolExecutor(1) as pool:
            task = pool.submit(forget)
            try:
                for n in range(150):
                    body = b"# %d" % (n % 2)
                    fetch_record = made(NOW + n, body)
                    store.put(fetch_record, body, updated_entry(None, fetch_record))
                    assert store.body(body_digest(body)) == body
            finally:
                over.set()
            task.result()
        assert fetch_record.state is AccessState.SUCCESS
