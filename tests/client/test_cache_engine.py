"""The flow of a client, step by step: what it wants done, in which order, and what comes of it."""

from __future__ import annotations

import logging
from collections.abc import Generator
from typing import Any

import pytest

from robotrules.access import ACCESS_PROFILES, Failure, FailureReason, Request, Response
from robotrules.access.values import SLACK
from robotrules.cache import EffectivePolicy, Entry, FetchRecord
from robotrules.client import cache_engine, lease_holders
from robotrules.client.cache_engine import CacheEngine, Call, RefreshMode, Wait
from robotrules.client.origin_state import OriginState, StateSource
from robotrules.client.stores import MemoryStore
from robotrules.errors import StoreError
from robotrules.profile import DEFAULT
from tests.client.scripted import START, Clock

SITE = "https://example.com"
FILE = b"User-agent: *\nDisallow: /private\n"
OTHER = b"User-agent: *\nDisallow: /other\n"
DAY = 86_400.0
AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
FOUND = Response(200, {"ETag": '"1"', "Cache-Control": "max-age=600"}, FILE)


class Told(MemoryStore):
    """A store that records its calls, and fails where it is configured to."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []
        self.failing: set[str] = set()

    def _told(self, name: str, *args: Any) -> Any:
        self.calls.append(name)
        if name in self.failing:
            raise StoreError(f"{name} fails")
        return getattr(MemoryStore, name)(self, *args)

    def get(self, *args: Any) -> Any:
        """Return an entry."""
        return self._told("get", *args)

    def body(self, *args: Any) -> Any:
        """Return a body."""
        return self._told("body", *args)

    def put(self, *args: Any) -> Any:
        """Store a fetch record."""
        return self._told("put", *args)

    def lease(self, *args: Any) -> Any:
        """Take a lease."""
        return self._told("lease", *args)

    def release(self, *args: Any) -> Any:
        """Give a lease back."""
        return self._told("release", *args)

    def holder(self, *args: Any) -> Any:
        """Return the holder of a lease."""
        return self._told("holder", *args)


@pytest.fixture
def store() -> Told:
    """A store that records its calls."""
    return Told()


class Plain:
    """A user's store, without what a store need not have."""

    def __init__(self) -> None:
        self._store = MemoryStore()

    def __getattr__(self, name: str) -> Any:
        if name in ("holder", "transaction"):
            raise AttributeError(name)
        return getattr(self._store, name)


def desk_of(store: Any, clock: Clock, **options: Any) -> CacheEngine:
    """Return the cache engine of a client."""
    given: dict[str, Any] = {"access": ACCESS_PROFILES["default"], "stale_while_revalidate": False}
    given |= {"profile": DEFAULT, "timeout": 30.0} | options
    return CacheEngine(store, user_agent=AGENT, agent="ExampleBot", clock=clock, **given)


def run(
    flow: Generator[Any, Any, Any], *answers: Response | Failure, clock: Clock | None = None
) -> tuple[Any, list[Request], list[float]]:
    """Drive a flow; return what it ends with, its requests and its pauses."""
    coming = iter(answers)
    requests: list[Request] = []
    pauses: list[float] = []
    step, answer = flow.send, None
    while True:
        try:
            effect = step(answer)
        except StopIteration as ended:
            return ended.value, requests, pauses
        step = flow.send
        if isinstance(effect, Request):
            requests.append(effect)
            answer = next(coming)
        elif isinstance(effect, Wait):
            pauses.append(effect.seconds)
            if clock is not None:
                clock.sleep(effect.seconds)
            answer = None
        else:
            assert isinstance(effect, Call)
            try:
                answer = effect.work()
            except StoreError as error:
                step, answer = flow.throw, error  # type: ignore[assignment]


class TestFirstVisit:
    """An origin without any data."""

    def test_order(self, store: Told, clock: Clock) -> None:
        """A look, the lease, a second look; the server; then what came, with the lease."""
        engine = desk_of(store, clock)
        found, requests, pauses = run(engine.refresh(SITE), FOUND)
        assert store.calls == ["get", "lease", "get", "put", "release"]
        assert pauses == []
        [request] = requests
        assert (request.url, request.limit) == (*(f"{SITE}/robots.txt", DEFAULT.max_bytes + SLACK),)
        assert isinstance(found, OriginState)
        assert (found.source, found.policy, found.until) == (
            *(StateSource.FETCHED, EffectivePolicy.RULES, START + 600),
        )
        assert (found.store_error, found.origin, found.robots.body) == (None, SITE, FILE)
        fetch_record = found.fetch_record
        assert fetch_record is not None
        assert (fetch_record.at, fetch_record.agent, fetch_record.user_agent) == (
            START,
            "ExampleBot",
            AGENT,
        )
        assert store.holder(SITE) is None
        assert [*store.fetch_records()] == [fetch_record]

    def test_within_a_transaction(self, clock: Clock) -> None:
        """No other caller can put after the first lookup: there is no second one."""

        class Within(Told):
            in_transaction = True

        store = Within()
        run(desk_of(store, clock).refresh(SITE), FOUND)
        assert store.calls == ["get", "lease", "put", "release"]

    def test_then_memory_has_it(self, store: Told, clock: Clock) -> None:
        """As long as it holds."""
        engine = desk_of(store, clock)
        assert engine.lookup_memory(SITE) == (None, False)
        found, _, _ = run(engine.refresh(SITE), FOUND)
        again, refresh = engine.lookup_memory(SITE)
        assert again is not None
        assert (again.entry, again.source, refresh) == (found.entry, StateSource.MEMORY, False)
        clock.now = START + 600
        assert engine.lookup_memory(SITE) == (None, False)
        clock.now = START - 1000
        assert engine.lookup_memory(SITE) == (None, False)

    def test_the_next_process_sends_no_request(self, store: Told, clock: Clock) -> None:
        """What the store has is as good."""
        run(desk_of(store, clock).refresh(SITE), FOUND)
        store.calls.clear()
        found, requests, _ = run(desk_of(store, clock).refresh(SITE))
        assert requests == []
        assert store.calls == ["get", "body"]
        assert (found.source, found.robots.body) == (StateSource.STORE, FILE)

    def test_a_body_that_is_another(self, store: Told, clock: Clock) -> None:
        """It is requested again, and without a condition."""
        run(desk_of(store, clock).refresh(SITE), FOUND)
        store._bodies = dict.fromkeys(store._bodies, OTHER)
        found, requests, _ = run(desk_of(store, clock).refresh(SITE), FOUND)
        assert [request.headers for request in requests] == [()]
        assert found.source is StateSource.FETCHED

    def test_wanted_now(self, store: Told, clock: Clock) -> None:
        """Whatever is stored, a request is sent; the stored copy serves as the condition."""
        engine = desk_of(store, clock)
        run(engine.refresh(SITE), FOUND)
        clock.now += 1
        store.calls.clear()
        found, requests, _ = run(engine.refresh(SITE, RefreshMode.NOW), Response(304, {}))
        assert store.calls == ["lease", "get", "put", "release"]
        assert dict(requests[0].headers) == {"If-None-Match": '"1"'}
        assert (found.fetch_record.revalidated, found.robots.body) == (True, FILE)

    def test_after_its_time(self, store: Told, clock: Clock) -> None:
        """A due file is requested; a file in memory is looked up in the store first."""
        engine = desk_of(store, clock)
        run(engine.refresh(SITE), FOUND)
        clock.now += 600
        store.calls.clear()
        _, requests, _ = run(engine.refresh(SITE), Response(200, {}, OTHER))
        assert store.calls == ["get", "lease", "get", "put", "release"]
        assert len(requests) == 1

    def test_closed(self, store: Told, clock: Clock) -> None:
        """Nothing is done any more."""
        engine = desk_of(store, clock)
        run(engine.refresh(SITE), FOUND)
        engine.close()
        assert engine.lookup_memory(SITE) == (None, False)
        with pytest.raises(RuntimeError, match="this client is closed: create another one"):
            run(engine.refresh(SITE))


class TestSoon:
    """Answers that are used while they are fetched again."""

    def test_background(self, store: Told, clock: Clock) -> None:
        """Memory answers, and reports that the file is to be renewed."""
        engine = desk_of(store, clock, stale_while_revalidate=True)
        run(engine.refresh(SITE), FOUND)
        clock.now += 601
        found, refresh = engine.lookup_memory(SITE)
        assert found is not None
        assert refresh
        # A caller with a due file takes the answer; a caller with an old file does not.
        _, requests, _ = run(engine.refresh(SITE))
        assert requests == []
        _, requests, _ = run(engine.refresh(SITE, RefreshMode.SOON), FOUND)
        assert len(requests) == 1
        assert engine.lookup_memory(SITE)[1] is False


class TestOthers:
    """Another process requests the same file."""

    def test_its_answer_is_taken(self, store: Told, clock: Clock) -> None:
        """It is waited for, longer each time."""
        engine, other = desk_of(store, clock), desk_of(store, clock)
        assert MemoryStore.lease(store, SITE, "somebody else", 100)
        mine = engine.refresh(SITE)
        effect = mine.send(None)
        pauses = []
        while True:
            assert isinstance(effect, (Call, Wait))
            if isinstance(effect, Wait):
                pauses.append(effect.seconds)
                clock.sleep(effect.seconds)
                if len(pauses) == 7:
                    MemoryStore.release(store, SITE, "somebody else")
                    run(other.refresh(SITE), FOUND)
                effect = mine.send(None)
                continue
            try:
                effect = mine.send(effect.work())
            except StopIteration as ended:
                found = ended.value
                break
        assert pauses == [0.01, 0.02, 0.04, 0.08, 0.16, 0.25, 0.25]
        assert (found.source, found.robots.body) == (StateSource.STORE, FILE)

    def test_the_wait_is_bounded(self, store: Told, clock: Clock) -> None:
        """After twice the duration of a lease the request is sent without one."""
        engine = desk_of(store, clock, timeout=1.0)
        assert MemoryStore.lease(store, SITE, "somebody else", 1000)
        found, requests, pauses = run(engine.refresh(SITE), FOUND, clock=clock)
        assert len(requests) == 1
        assert 12.0 <= sum(pauses) <= 12.3
        assert found.source is StateSource.FETCHED
        assert store.holder(SITE) == "somebody else"

    def test_an_older_answer_will_not_do(self, store: Told, clock: Clock) -> None:
        """A forced refresh accepts only an answer that arrived after the call."""
        run(desk_of(store, clock).refresh(SITE), FOUND)
        clock.now += 10
        assert MemoryStore.lease(store, SITE, "somebody else", 1000)
        engine = desk_of(store, clock, timeout=1.0)
        _, requests, pauses = run(engine.refresh(SITE, RefreshMode.NOW), FOUND, clock=clock)
        assert (len(requests), bool(pauses)) == (1, True)

    def test_a_dead_one_is_not_waited_for(
        self, store: Told, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Its lease is freed."""
        monkeypatch.setattr(cache_engine, "is_dead", lambda holder: holder == "dead")
        for other, waits in (("dead", False), ("alive", True)):
            clock.now += 10
            assert MemoryStore.lease(store, SITE, other, 1000)
            engine = desk_of(store, clock, timeout=1.0)
            store.calls.clear()
            _, requests, pauses = run(engine.refresh(SITE, RefreshMode.NOW), FOUND, clock=clock)
            assert (len(requests), bool(pauses)) == (1, waits)
            if waits:
                assert store.calls[:3] == ["lease", "holder", "get"]
            else:
                assert store.calls == [
                    *("lease", "holder", "release", "lease", "get", "put", "release"),
                ]
        leased, _, _ = run(engine.lease("turn", "me", 5.0))
        assert (leased, store.holder("turn")) == (True, "me")
        assert run(engine.lease("turn", "you", 5.0))[0] is False
        MemoryStore.release(store, "turn", "me")
        MemoryStore.lease(store, "turn", "dead", 5.0)
        assert run(engine.lease("turn", "you", 5.0))[0] is True

    def test_a_store_that_does_not_report_holders(self, clock: Clock) -> None:
        """Then leases end by themselves."""
        store = Plain()
        store.lease("turn", "dead", 5.0)
        engine = desk_of(store, clock)
        assert engine.transaction is None
        going = engine.lease("turn", "you", 5.0)
        effect = going.send(None)
        assert isinstance(effect, Call)
        with pytest.raises(StopIteration) as ended:
            going.send(effect.work())
        assert ended.value.value is False

    def test_a_store_that_cannot_report_the_lease_holder(self, store: Told, clock: Clock) -> None:
        """Reading the holder is a read: if it fails, the store cannot be read."""
        MemoryStore.lease(store, "turn", "somebody", 5.0)
        store.failing = {"holder"}
        engine = desk_of(store, clock)
        assert run(engine.lease("turn", "you", 5.0))[0] is False
        assert engine.store_error == "holder fails"
        assert engine._reads.is_open
        assert engine._writes.is_open

    def test_a_plain_store(self, clock: Clock) -> None:
        """A user's store may have less."""
        engine = desk_of(Plain(), clock)
        assert run(engine.refresh(SITE), FOUND)[0].source is StateSource.FETCHED

    def test_holders_are_named(self, clock: Clock) -> None:
        """By this process."""
        names: list[str] = []

        class Named(Told):
            def lease(self, *args: Any) -> Any:
                names.append(args[1])
                return super().lease(*args)

        run(desk_of(Named(), clock).refresh(SITE), FOUND)
        assert not lease_holders.is_dead(names[0])
        assert names[0] != lease_holders.new_holder()


class TestTrouble:
    """A store that fails is done without."""

    def test_it_is_reported_once(
        self, store: Told, clock: Clock, caplog: pytest.LogCaptureFixture
    ) -> None:
        """And it is left alone for a while, but for what others wait for."""
        store.failing = {"get", "lease", "put", "release", "holder", "body"}
        engine = desk_of(store, clock)
        with caplog.at_level(logging.WARNING, "robotrules"):
            found, _, _ = run(engine.refresh(SITE), FOUND)
        assert (engine.store_error, found.store_error) == ("get fails", "get fails")
        assert [record.getMessage() for record in caplog.records] == [
            "store unavailable; continuing without it: get fails"
        ]
        assert store.calls == ["get", "get"]  # with the lease, and alone
        store.calls.clear()
        run(engine.refresh("https://b.example"), FOUND)
        assert store.calls == []

    def test_it_answers_again(
        self,
        store: Told,
        clock: Clock,
        caplog: pytest.LogCaptureFixture,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """The recovery is also reported, once the failed operation succeeds."""
        monkeypatch.setattr(cache_engine, "COOLDOWN", 0.0)
        store.failing = {"put"}
        engine = desk_of(store, clock)
        with caplog.at_level(logging.WARNING, "robotrules"):
            run(engine.refresh(SITE), FOUND)
            assert engine.store_error == "put fails"
            # What can be read need not be writable.
            run(engine.refresh("https://b.example"), Failure(FailureReason.REFUSED, "no"))
            assert engine.store_error == "put fails"
            store.failing = set()
            run(engine.refresh("https://c.example"), FOUND)
        assert engine.store_error is None
        assert [record.getMessage() for record in caplog.records] == [
            "store unavailable; continuing without it: put fails",
            "store available again: memory",
        ]

    def test_reads_go_on(self, store: Told, clock: Clock) -> None:
        """Without space to write, the existing data can still be read."""
        run(desk_of(store, clock).refresh(SITE), FOUND)
        store.failing = {"put", "lease"}
        engine = desk_of(store, clock)
        store.calls.clear()
        run(engine.refresh("https://b.example"), FOUND)
        assert "put" not in store.calls  # the lease failed: writes rest
        found, requests, _ = run(engine.refresh(SITE))
        assert (found.source, requests) == (StateSource.STORE, [])

    def test_another_store_than_was_wanted(
        self, store: Told, clock: Clock, caplog: pytest.LogCaptureFixture
    ) -> None:
        """It is reported for as long as it is used, and logged once."""
        engine = desk_of(store, clock, fallback_reason="no folder")
        with caplog.at_level(logging.WARNING, "robotrules"):
            for site in (SITE, "https://b.example"):
                found, _, _ = run(engine.refresh(site), FOUND)
                assert found.store_error == engine.store_error == "no folder"
        assert [record.getMessage() for record in caplog.records] == [
            "store unavailable; continuing without it: no folder"
        ]

    def test_closed_meanwhile(
        self, store: Told, clock: Clock, caplog: pytest.LogCaptureFixture
    ) -> None:
        """A closed engine reports no failure."""
        engine = desk_of(store, clock)
        store.failing = {"get"}
        engine.closed = True
        assert run(engine.call_store(store.get, SITE, "ExampleBot"))[0] is None
        assert (engine.store_error, caplog.records) == (None, [])

    def test_a_lease_is_given_back_in_any_case(self, store: Told, clock: Clock) -> None:
        """Also while the store rests, and when something is raised."""
        engine = desk_of(store, clock)
        engine._reads.trip(float("inf"))
        engine._writes.trip(float("inf"))
        assert run(engine.call_store(store.get, SITE, "ExampleBot"))[0] is None
        run(engine.call_store(store.release, "key", "me"))
        assert store.calls == ["release"]
        engine = desk_of(store, clock)
        going = engine.refresh(SITE)
        effect = going.send(None)
        while isinstance(effect, Call):
            effect = going.send(effect.work())
        assert store.holder(SITE) is not None
        effect = going.throw(KeyboardInterrupt())
        assert isinstance(effect, Call)
        effect.work()
        with pytest.raises(KeyboardInterrupt):
            going.send(None)
        assert MemoryStore.holder(store, SITE) is None


class TestKeeping:
    """What goes into the store."""

    def entry(self, store: Told) -> Entry | None:
        """Return what is known."""
        found: Entry | None = MemoryStore.get(store, SITE, "ExampleBot")
        return found

    def test_no_store(self, store: Told, clock: Clock) -> None:
        """A file with no-store is kept in memory only; a later failure is stored."""
        engine = desk_of(store, clock)
        private = Response(200, {"Cache-Control": "no-store"}, FILE)
        found, _, _ = run(engine.refresh(SITE), private)
        assert found.robots.body == FILE
        assert self.entry(store) is None
        assert store._bodies == {}
        clock.now += DAY
        run(engine.refresh(SITE), Response(503))
        entry = self.entry(store)
        assert entry is not None
        assert entry.last_success is None
        assert entry.last_failure is not None

    def test_what_was_refused(self, store: Told, clock: Clock) -> None:
        """It does not describe the origin."""
        found, _, _ = run(
            desk_of(store, clock).refresh(SITE), Failure(FailureReason.REFUSED, "private")
        )
        assert "put" not in store.calls
        assert store.calls[-1] == "release"
        assert found.policy is EffectivePolicy.DISALLOW

    def test_a_copy_that_is_lost(self, store: Told, clock: Clock) -> None:
        """Where it would decide, the rules are unknown until the failure is due for a retry."""
        access = ACCESS_PROFILES["stale"]
        run(desk_of(store, clock, access=access).refresh(SITE), FOUND)
        store._bodies.clear()
        clock.now += DAY
        engine = desk_of(store, clock, access=access)
        found, _, _ = run(engine.refresh(SITE), Response(503))
        assert (found.policy, found.reason, found.source) == (
            *(EffectivePolicy.DISALLOW, "unreachable", StateSource.FETCHED),
        )
        assert found.until == clock.now + 60
        assert found.robots.body == b"User-agent: *\nDisallow: /\n"
        again, _ = engine.lookup_memory(SITE)
        assert again is not None
        assert (again.policy, again.source) == (EffectivePolicy.DISALLOW, StateSource.MEMORY)

    def test_a_file_that_was_cut_by_a_smaller_reader(self, store: Told, clock: Clock) -> None:
        """A client with a larger limit requests it again, without a condition."""
        cut = Response(200, {"ETag": '"1"'}, FILE, complete=False)
        run(desk_of(store, clock).refresh(SITE), cut)
        more = DEFAULT.replace(max_bytes=4 * DEFAULT.max_bytes)
        _, requests, _ = run(desk_of(store, clock, profile=more).refresh(SITE), FOUND)
        assert [request.headers for request in requests] == [()]
        assert requests[0].limit == 4 * DEFAULT.max_bytes + SLACK

    def test_the_newer_of_two(self, store: Told, clock: Clock) -> None:
        """Memory may be newer than the store."""
        engine = desk_of(store, clock)
        run(engine.refresh(SITE), FOUND)
        clock.now += 700
        engine._writes.trip(float("inf"))
        newer, _, _ = run(engine.refresh(SITE), Response(200, {}, OTHER))
        engine._writes.reset()
        clock.now += 1
        store.calls.clear()
        found, requests, _ = run(engine.refresh(SITE))
        assert (found.entry, requests, store.calls) == (newer.entry, [], ["get"])

    def test_time_in_all(self, store: Told, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
        """Redirects share one time limit, and each request gets the remaining time."""
        now = [100.0]
        monkeypatch.setattr(cache_engine, "monotonic", lambda: now[0])
        monkeypatch.setattr("robotrules.client.circuit_breaker.time.monotonic", lambda: now[0])
        going = desk_of(store, clock, timeout=9.0).refresh(SITE)
        effect = going.send(None)
        left: list[float | None] = []
        while True:
            if isinstance(effect, Call):
                answer = effect.work()
            else:
                assert isinstance(effect, Request)
                left.append(effect.timeout)
                now[0] += 4.0001
                answer = Response(301, {"Location": f"/{len(left)}"})
            try:
                effect = going.send(answer)
            except StopIteration as ended:
                found = ended.value
                break
        assert left == [9.0, 5.0, 1.0]
        bad: FetchRecord | None = found.entry.last_failure
        assert bad is not None
        assert (bad.failure_reason, bad.detail) == (FailureReason.TIMEOUT, "9 s in all")
