"""The flow of a client and others: leases, what they find meanwhile, stores that fail."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from robotrules.access import ACCESS_PROFILES, Failure, FailureReason, Request, Response
from robotrules.cache import MAX_CLOCK_SKEW, EffectivePolicy
from robotrules.client import cache_engine
from robotrules.client.cache_engine import Call, RefreshMode, Wait
from robotrules.client.origin_state import OriginState, StateSource
from robotrules.client.stores import MemoryStore
from tests.client.scripted import START, Clock
from tests.client.test_cache_engine import FILE, FOUND, OTHER, SITE, Told, desk_of, run

SOMEBODY = "somebody else"


@pytest.fixture
def store() -> Told:
    """A store that records its calls."""
    return Told()


class Named(Told):
    """A store that records the holder of each lease."""

    def __init__(self) -> None:
        super().__init__()
        self.leases: list[tuple[str, str]] = []

    def lease(self, *args: Any) -> Any:
        """Take a lease."""
        self.leases.append(args[:2])
        return super().lease(*args)


def interrupted(
    going: cache_engine.Refresh, clock: Clock, before: Callable[[str, int], object]
) -> tuple[OriginState, list[float]]:
    """
    Drive a flow that sends no request; return what it ends with, and its pauses.

    *before* gets the next method of the store, and the number of pauses so far.
    """
    pauses: list[float] = []
    answer = None
    while True:
        try:
            effect = going.send(answer)
        except StopIteration as ended:
            return ended.value, pauses
        if isinstance(effect, Wait):
            pauses.append(effect.seconds)
            clock.sleep(effect.seconds)
            answer = None
        else:
            assert isinstance(effect, Call)
            assert isinstance(effect.work, partial)
            before(effect.work.func.__name__, len(pauses))
            answer = effect.work()


def driven(going: cache_engine.Refresh, answer: Any) -> Any:
    """Drive a flow that sends no more requests; return what it ends with."""
    while True:
        try:
            effect = going.send(answer)
        except StopIteration as ended:
            return ended.value
        assert isinstance(effect, Call)
        answer = effect.work()


class TestWaiting:
    """Another process holds the lease."""

    def test_what_they_put_is_taken_at_once(self, store: Told, clock: Clock) -> None:
        """Also by who wants one now, and though their lease is not given back yet."""
        run(desk_of(store, clock).refresh(SITE), FOUND)
        clock.now += 10
        assert MemoryStore.lease(store, SITE, SOMEBODY, 1000)

        def put(method: str, pauses: int) -> None:
            if (method, pauses) == ("get", 3):
                fetch_record, _, _ = run(desk_of(MemoryStore(), clock).refresh(SITE), FOUND)
                MemoryStore.put(store, fetch_record.fetch_record, FILE, fetch_record.entry)

        going = desk_of(store, clock).refresh(SITE, RefreshMode.NOW)
        found, pauses = interrupted(going, clock, put)
        assert pauses == [0.01, 0.02, 0.04]
        assert (found.source, found.entry.last_fetch_at) == (StateSource.STORE, clock.now)
        assert store.holder(SITE) == SOMEBODY

    def test_what_they_found_at_the_moment_this_began(self, store: Told, clock: Clock) -> None:
        """It is new enough."""
        fetch_record, _, _ = run(desk_of(MemoryStore(), clock).refresh(SITE), FOUND)
        assert MemoryStore.lease(store, SITE, SOMEBODY, 1000)

        def put(method: str, pauses: int) -> None:
            if (method, pauses) == ("get", 2):
                MemoryStore.put(store, fetch_record.fetch_record, FILE, fetch_record.entry)

        going = desk_of(store, clock).refresh(SITE, RefreshMode.NOW)
        found, pauses = interrupted(going, clock, put)
        assert (found.source, found.entry.last_fetch_at, len(pauses)) == (
            StateSource.STORE,
            START,
            2,
        )

    def test_what_they_put_before_the_lease_is_taken(self, store: Told, clock: Clock) -> None:
        """Another process finished between lookup and lease: no second request is sent."""
        run(desk_of(store, clock).refresh(SITE), FOUND)
        clock.now += 10
        assert MemoryStore.lease(store, SITE, SOMEBODY, 1000)

        def end(method: str, pauses: int) -> None:
            if (method, pauses) == ("acquire", 2):
                MemoryStore.release(store, SITE, SOMEBODY)
                run(desk_of(store, clock).refresh(SITE, RefreshMode.NOW), Response(304, {}))

        going = desk_of(store, clock).refresh(SITE, RefreshMode.NOW)
        found, pauses = interrupted(going, clock, end)
        assert pauses == [0.01, 0.02]
        assert (found.source, found.entry.last_fetch_at) == (StateSource.STORE, clock.now)
        assert store.holder(SITE) is None

    def test_then_the_lease_is_ours(self, clock: Clock) -> None:
        """All leases of one flow have one holder, and it is given back."""
        store = Named()
        run(desk_of(store, clock).refresh(SITE), FOUND)
        assert MemoryStore.lease(store, SITE, SOMEBODY, 1000)
        store.leases.clear()
        clock.now += 600
        going = desk_of(store, clock).refresh(SITE)
        effect = going.send(None)
        while not isinstance(effect, Request):
            if isinstance(effect, Wait):
                MemoryStore.release(store, SITE, SOMEBODY)
            effect = going.send(effect.work() if isinstance(effect, Call) else None)
        assert len(store.leases) == 2
        assert len(set(store.leases)) == 1
        assert store.leases[0] == (SITE, store.holder(SITE))

    def test_the_copy_is_not_forgotten(self, store: Told, clock: Clock) -> None:
        """After a wait without result the request has the condition of the stored copy."""
        run(desk_of(store, clock).refresh(SITE), FOUND)
        clock.now += 10
        assert MemoryStore.lease(store, SITE, SOMEBODY, 1000)
        engine = desk_of(store, clock, timeout=1.0)
        _, requests, _ = run(engine.refresh(SITE, RefreshMode.NOW), Response(304, {}), clock=clock)
        assert [dict(request.headers) for request in requests] == [{"If-None-Match": '"1"'}]

    def test_how_long(self, store: Told, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
        """Twice the time of a lease, and not a look more."""
        monkeypatch.setattr(cache_engine, "MIN_POLL", 0.25)
        assert MemoryStore.lease(store, SITE, SOMEBODY, 1000)
        _, _, pauses = run(desk_of(store, clock, timeout=1.0).refresh(SITE), FOUND, clock=clock)
        assert sum(pauses) == 2 * (1.0 + cache_engine.LEASE_MARGIN)


class TestClaiming:
    """The lease, and what is known when it is taken."""

    def test_what_the_store_knows_and_is_old(self, clock: Clock) -> None:
        """The first look takes no lease; then it is taken, for this origin and by one holder."""
        store = Named()
        run(desk_of(store, clock).refresh(SITE), FOUND)
        clock.now += 600
        store.calls.clear()
        store.leases.clear()
        run(desk_of(store, clock).refresh(SITE), Response(304, {}))
        assert store.calls == ["get", "lease", "get", "body", "put", "release"]
        assert [key for key, _ in store.leases] == [SITE]
        assert store.holder(SITE) is None

    def test_another_process_puts_just_before_the_lease(self, clock: Clock) -> None:
        """What they found is taken, and the lease given back."""

        class Between(Told):
            def lease(self, *args: Any) -> Any:
                fetch_record, _, _ = run(desk_of(MemoryStore(), clock).refresh(SITE), FOUND)
                MemoryStore.put(self, fetch_record.fetch_record, FILE, fetch_record.entry)
                return super().lease(*args)

        store = Between()
        found, requests, _ = run(desk_of(store, clock).refresh(SITE))
        assert (found.source, requests) == (StateSource.STORE, [])
        assert store.calls == ["get", "lease", "get", "body", "release"]
        assert MemoryStore.holder(store, SITE) is None

    def test_now_is_now(self, store: Told, clock: Clock) -> None:
        """What was found at this very moment, before this was asked, will not do."""
        engine = desk_of(store, clock)
        run(engine.refresh(SITE), FOUND)
        _, requests, _ = run(engine.refresh(SITE, RefreshMode.NOW), Response(304, {}))
        assert len(requests) == 1

    def test_old_in_the_store_alone(self, store: Told, clock: Clock) -> None:
        """A refresh of an old file sends a request, even if this process never had the file."""
        run(desk_of(store, clock).refresh(SITE), FOUND)
        clock.now += 601
        engine = desk_of(store, clock, stale_while_revalidate=True)
        _, requests, _ = run(engine.refresh(SITE, RefreshMode.SOON), Response(304, {}))
        assert len(requests) == 1
        engine = desk_of(store, clock, stale_while_revalidate=True)
        assert run(engine.refresh(SITE, RefreshMode.SOON))[1] == []

    def test_what_memory_alone_knows(self, store: Told, clock: Clock) -> None:
        """A file that is not to be stored is used while it is fresh, without a lease."""
        engine = desk_of(store, clock)
        private = Response(200, {"Cache-Control": "no-store"}, FILE)
        run(engine.refresh(SITE), private)
        store.calls.clear()
        assert run(engine.refresh(SITE))[1] == []
        assert store.calls == ["get"]

    def test_a_copy_that_could_not_be_stored(self, store: Told, clock: Clock) -> None:
        """What memory knows is newer: the condition is that of its copy."""
        engine = desk_of(store, clock)
        run(engine.refresh(SITE), FOUND)
        clock.now += 700
        engine._writes.trip(float("inf"))
        run(engine.refresh(SITE), Response(200, {"ETag": '"2"'}, OTHER))
        engine._writes.reset()
        _, [request], _ = run(engine.refresh(SITE, RefreshMode.NOW), Response(304, {}))
        assert dict(request.headers) == {"If-None-Match": '"2"'}

    def test_two_of_one_moment(self, store: Told, clock: Clock) -> None:
        """That of the store counts, which others have too."""
        engine = desk_of(store, clock)
        run(engine.refresh(SITE), FOUND)
        run(desk_of(store, clock).refresh(SITE, RefreshMode.NOW), Response(200, {}, OTHER))
        assert run(engine.refresh(SITE))[0].robots.body == OTHER

    def test_one_transaction(self, clock: Clock) -> None:
        """The lease with a look, and what was found with the release."""

        class Kept(Told):
            @contextmanager
            def transaction(self) -> Iterator[None]:
                self.calls.append("begin")
                yield
                self.calls.append("commit")

        store = Kept()
        run(desk_of(store, clock).refresh(SITE), FOUND)
        assert store.calls == [
            *("begin", "get", "lease", "get", "commit"),
            *("begin", "put", "release", "commit"),
        ]

    def test_others_may_have_the_store(self, store: Told, clock: Clock) -> None:
        """Unless it is known that nobody has."""
        assert desk_of(store, clock).exclusive is False
        assert desk_of(store, clock, exclusive=True).exclusive is True

    def test_what_was_refused(self, store: Told, clock: Clock) -> None:
        """Nothing is put, and the lease is given back."""
        run(desk_of(store, clock).refresh(SITE), Failure(FailureReason.REFUSED, "private"))
        assert MemoryStore.holder(store, SITE) is None

    def test_after_a_dead_one(self, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
        """The lease is taken by who asked for it; where that fails, a lease that works ends it."""
        monkeypatch.setattr(cache_engine, "is_dead", lambda holder: holder == "dead")
        monkeypatch.setattr(cache_engine, "COOLDOWN", 0.0)

        class Once(Told):
            def release(self, *args: Any) -> Any:
                super().release(*args)
                self.failing = {"lease", "put"}

        plain = Told()
        MemoryStore.lease(plain, "turn", "dead", 1000)
        assert run(desk_of(plain, clock).lease("turn", "me", 5.0))[0] is True
        assert plain.holder("turn") == "me"
        store = Once()
        MemoryStore.lease(store, SITE, "dead", 1000)
        engine = desk_of(store, clock)
        going = engine._acquire(SITE, "me", 5.0)
        assert run(going)[0] == (None, None)
        assert engine.store_error == "lease fails"
        store.failing = set()
        assert run(engine.lease("turn", "me", 5.0))[0] is True
        assert engine.store_error is None

    def test_a_lease_that_works_again(
        self, store: Told, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It does not matter what it is for."""
        monkeypatch.setattr(cache_engine, "COOLDOWN", 0.0)
        store.failing = {"lease", "put"}
        engine = desk_of(store, clock)
        run(engine._acquire(SITE, "me", 5.0))
        assert engine.store_error == "lease fails"
        store.failing = set()
        run(engine.lease("turn", "me", 5.0))
        assert engine.store_error is None


def test_the_profile_sets_the_number_of_redirects(store: Told, clock: Clock) -> None:
    """Six are followed where six may be."""
    access = ACCESS_PROFILES["default"].replace(max_redirects=6)
    moved = [Response(301, {"Location": f"/{number}"}) for number in range(6)]
    found, requests, _ = run(desk_of(store, clock, access=access).refresh(SITE), *moved, FOUND)
    assert (len(requests), found.policy) == (7, EffectivePolicy.RULES)


class TestTrouble:
    """A store that fails, and then does not."""

    def test_a_successful_put_clears_all_failures(
        self, store: Told, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A file that could not be read is no longer reported once it was put again."""
        monkeypatch.setattr(cache_engine, "COOLDOWN", 0.0)
        run(desk_of(store, clock).refresh(SITE), FOUND)
        store.failing = {"body"}
        engine = desk_of(store, clock)
        assert run(engine.refresh(SITE), FOUND)[1][0].headers == ()
        assert engine.store_error is None

    def test_the_fallback_reason_applies_again(
        self, store: Told, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: Any
    ) -> None:
        """The reason for the fallback store is reported again, and logged once."""
        monkeypatch.setattr(cache_engine, "COOLDOWN", 0.0)
        engine = desk_of(store, clock, fallback_reason="no folder")
        store.failing = {"put"}
        with caplog.at_level(logging.WARNING, "robotrules"):
            assert run(engine.refresh(SITE), FOUND)[0].store_error == "put fails"
            store.failing = set()
            assert run(engine.refresh("https://b.example"), FOUND)[0].store_error == "no folder"
            run(engine.refresh("https://c.example"), FOUND)
        assert engine.store_error == "no folder"
        assert [record.getMessage() for record in caplog.records] == [
            "store unavailable; continuing without it: no folder",
            "store available again: memory",
        ]

    def test_how_long_it_is_left_alone(
        self, store: Told, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """After five seconds the store is used again."""
        now = [100.0]
        monkeypatch.setattr(cache_engine, "monotonic", lambda: now[0])
        monkeypatch.setattr("robotrules.client.circuit_breaker.time.monotonic", lambda: now[0])
        store.failing = {"get"}
        engine = desk_of(store, clock)
        asked = partial(engine.call_store, store.get, SITE, "ExampleBot")
        for moment, calls in ((100.0, 1), (104.9, 1), (105.0, 2)):
            now[0] = moment
            run(asked())
            assert len(store.calls) == calls

    def test_a_clock_that_has_just_started(
        self, store: Told, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A store that has not failed is used, for reading and writing."""
        monkeypatch.setattr(cache_engine, "monotonic", lambda: 0.0)
        monkeypatch.setattr("robotrules.client.circuit_breaker.time.monotonic", lambda: 0.0)
        run(desk_of(store, clock).refresh(SITE), FOUND)
        assert store.calls == ["get", "lease", "get", "put", "release"]

    def test_methods_without_a_name(self, store: Told, clock: Clock) -> None:
        """A user's store may have objects that can be called."""
        engine = desk_of(store, clock)
        assert run(engine.call_store(partial(store.get, SITE), "ExampleBot"))[0] is None
        assert store.calls == ["get"]

    @pytest.mark.parametrize(
        ("seconds", "each", "left"),
        [(8.0, 4.0, [8.0, 4.0]), (9.0, 4.3004, [9.0, 4.7, 0.399])],
    )
    def test_the_time_that_is_left(
        self,
        store: Told,
        clock: Clock,
        monkeypatch: pytest.MonkeyPatch,
        seconds: float,
        each: float,
        left: list[float],
    ) -> None:
        """In milliseconds; with no time left, no request is sent."""
        asked: list[float | None] = []
        monkeypatch.setattr(cache_engine, "monotonic", lambda: 100.0 + each * len(asked))
        monkeypatch.setattr(
            "robotrules.client.circuit_breaker.time.monotonic", lambda: 100.0 + each * len(asked)
        )
        going = desk_of(store, clock, timeout=seconds).refresh(SITE)
        answer = None
        while True:
            try:
                effect = going.send(answer)
            except StopIteration as ended:
                found = ended.value
                break
            if isinstance(effect, Request):
                asked.append(effect.timeout)
                answer = Response(301, {"Location": f"/{len(asked)}"})
            else:
                assert isinstance(effect, Call)
                answer = effect.work()
        assert asked == left
        assert found.entry.last_failure.failure_reason is FailureReason.TIMEOUT

    def test_a_transport_that_returns_something_else(self, store: Told, clock: Clock) -> None:
        """The error names the value and the expected type."""
        going = desk_of(store, clock).refresh(SITE)
        effect = going.send(None)
        while isinstance(effect, Call):
            effect = going.send(effect.work())
        effect = going.send("text")
        assert isinstance(effect, Call)  # which gives the lease back
        with pytest.raises(TypeError) as caught:
            going.send(effect.work())
        assert str(caught.value) == "a transport must return Response or Failure, not str"
        assert MemoryStore.holder(store, SITE) is None

    def test_closed(self, store: Told, clock: Clock) -> None:
        """The message contains the fix."""
        engine = desk_of(store, clock)
        engine.close()
        with pytest.raises(RuntimeError) as caught:
            run(engine.refresh(SITE))
        assert str(caught.value) == "this client is closed: create another one"


class TestCopies:
    """A file that the store had, and has no more; or has, and that does not decide."""

    def test_while_it_does_not_decide(self, store: Told, clock: Clock) -> None:
        """It is not read, and is available when the server answers that it is unchanged."""
        run(desk_of(store, clock).refresh(SITE), FOUND)
        clock.now += 600
        run(desk_of(store, clock).refresh(SITE), Response(503))
        engine = desk_of(store, clock)
        store.calls.clear()
        found, requests, _ = run(engine.refresh(SITE))
        assert (found.policy, requests, store.calls) == (EffectivePolicy.DISALLOW, [], ["get"])
        clock.now += 60
        found, [request], _ = run(engine.refresh(SITE), Response(304, {}))
        assert dict(request.headers) == {"If-None-Match": '"1"'}
        assert (found.policy, found.robots.body) == (EffectivePolicy.RULES, FILE)

    def test_until_the_failure_is_due_for_a_retry(self, store: Told, clock: Clock) -> None:
        """Not until the lifetime of the lost file ends; and the store's failure is reported."""
        run(desk_of(store, clock).refresh(SITE), FOUND)
        clock.now += 10
        store.failing = {"body"}
        found, _, _ = run(desk_of(store, clock).refresh(SITE, RefreshMode.NOW), Response(503))
        assert (found.policy, found.until) == (EffectivePolicy.DISALLOW, clock.now + 60)
        assert found.store_error == "body fails"

    def test_what_another_thread_found_meanwhile_stays(self, store: Told, clock: Clock) -> None:
        """Also where the clock was set back a little."""
        run(desk_of(store, clock).refresh(SITE), FOUND)
        store._bodies.clear()
        engine = desk_of(store, clock)
        going = engine.refresh(SITE, RefreshMode.NOW)
        effect = going.send(None)
        while isinstance(effect, Call):
            effect = going.send(effect.work())
        clock.now = START + 20
        newer, _, _ = run(desk_of(MemoryStore(), clock).refresh(SITE), Response(200, {}, OTHER))
        engine.memory.put(newer, None, clock.now)
        clock.now = START + 10
        driven(going, Response(503))
        found = engine.memory.get(SITE)
        assert found is not None
        assert found.entry == newer.entry


class TestMemory:
    """What this process has."""

    def test_a_clock_that_was_set_back(self, store: Told, clock: Clock) -> None:
        """By a minute at most; beyond that its age is unknown."""
        engine = desk_of(store, clock)
        run(engine.refresh(SITE), FOUND)
        for back, is_used in ((MAX_CLOCK_SKEW, True), (MAX_CLOCK_SKEW + 1, False)):
            clock.now = START - back
            assert (engine.lookup_memory(SITE)[0] is not None) is is_used

    def test_where_it_is_from(self, store: Told, clock: Clock) -> None:
        """From memory, also while it is renewed."""
        engine = desk_of(store, clock, stale_while_revalidate=True)
        run(engine.refresh(SITE), FOUND)
        clock.now += 601
        found, refresh = engine.lookup_memory(SITE)
        assert found is not None
        assert (found.source, refresh) == (StateSource.MEMORY, True)

    def test_a_copy_that_decides_from_now_on(self, store: Told, clock: Clock) -> None:
        """It needs no renewal before the time that the server has requested."""
        access = ACCESS_PROFILES["default"].replace(stale_after=100.0)
        engine = desk_of(store, clock, access=access)
        run(engine.refresh(SITE), FOUND)
        clock.now += 600
        run(engine.refresh(SITE), Response(503, {"Retry-After": "3600"}))
        found, refresh = engine.lookup_memory(SITE)
        assert found is not None
        assert (found.policy, found.until, refresh) == (
            EffectivePolicy.DISALLOW,
            clock.now + 100,
            False,
        )
        clock.now += 100
        found, refresh = engine.lookup_memory(SITE)
        assert found is not None
        assert (found.policy, found.reason, refresh) == (EffectivePolicy.RULES, "stale-copy", False)
