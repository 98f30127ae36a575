"""
Politeness: the seconds between requests, and slots driven by hand, one effect at a time.

Clients drive the same flows in `test_client`, and processes in `test_fleet`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Any

import pytest

from robotrules import parse
from robotrules.client import rate_limiter
from robotrules.client.cache_engine import MIN_POLL, Wait
from robotrules.client.rate_limiter import (
    MAX_BUSY,
    MAX_DELAY,
    MAX_SLOT_POLL,
    MAX_WAIT,
    SLOT_TTL,
    Delay,
    RateLimiter,
    Slot,
    find_retry_delay,
    is_rate_limited,
    read_rate_limits,
    required_delay,
)

SITE = "https://example.com"
NOON = 1_800_014_400.0  # 2027-01-15T12:00Z


class TestDelays:
    """The longest of the requested delays."""

    FILE = parse(
        b"User-agent: *\nCrawl-delay: 5\nDisallow: /x\n"
        b"User-agent-purpose: EXAMPLE-1\nCrawl-delay: 7\nDisallow: /x\n"
        b"User-agent: RateBot\nRequest-rate: 1/30\nRequest-rate: 1/600 0000-0600\nDisallow: /x\n"
        b"User-agent: NeverBot\nCrawl-delay: 9999999\nDisallow: /x\n"
        b"User-agent: ZeroBot\nCrawl-delay: 0\nDisallow: /x\n"
        b"User-agent: HalfBot\nCrawl-delay: 0.5\nDisallow: /x\n"
    )

    @pytest.mark.parametrize(
        ("token", "purposes", "least", "delay"),
        [
            ("AnyBot", (), 0.0, Delay(5.0, "crawl-delay", 2)),
            ("AnyBot", (), 5.5, Delay(5.5, "min-delay")),
            ("AnyBot", ("EXAMPLE-1",), 0.0, Delay(7.0, "crawl-delay", 5)),
            ("RateBot", (), 1.0, Delay(30.0, "request-rate", 8)),
            ("NeverBot", (), 1.0, Delay(MAX_DELAY, "crawl-delay", 12)),
            ("ZeroBot", (), 0.0, Delay(0.0, "min-delay")),
        ],
    )
    def test_delay_of(
        self, token: str, purposes: tuple[str, ...], least: float, delay: Delay
    ) -> None:
        found = required_delay(self.FILE, token, purposes, now=NOON, min_delay=least)
        assert found == delay
        assert found.as_dict() == dict(zip(("seconds", "reason", "line"), delay, strict=True))

    def test_a_rate_counts_in_its_hours(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Which are hours of UTC, wherever the crawler is."""
        monkeypatch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        try:
            self._check_hours()
        finally:
            monkeypatch.undo()
            time.tzset()

    def _check_hours(self) -> None:
        assert required_delay(self.FILE, "RateBot", now=NOON).seconds == 30.0
        night = NOON - 12 * 3600
        assert required_delay(self.FILE, "RateBot", now=night) == Delay(600.0, "request-rate", 9)

    @pytest.mark.parametrize(
        ("token", "states"),
        [("AnyBot", True), ("RateBot", True), ("ZeroBot", False), ("HalfBot", True)],
    )
    def test_states_pace(self, token: str, states: bool) -> None:
        """Any delay counts, and a rate at any time of the day."""
        assert is_rate_limited(read_rate_limits(self.FILE, token)) is states
        assert is_rate_limited(read_rate_limits(parse(b""), token)) is False


class TestPauses:
    """The pause that an answer requests (RFC 9110 §10.2.3)."""

    @pytest.mark.parametrize(
        ("status", "after", "seconds"),
        [
            *((200, "9", None), (299, "9", None), (300, "9", 9), (301, "9", 9), (404, "9", 9)),
            *((429, "9", 9), (503, "9", 9), (429, None, 60), (503, None, 60), (500, None, None)),
        ],
    )
    def test_pause_after(self, status: int, after: str | None, seconds: float | None) -> None:
        assert find_retry_delay(status, {"Retry-After": after} if after else {}, NOON) == seconds


class Told:
    """A store with configured answers that records its calls."""

    def __init__(self, **answers: Any) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.answers = answers

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            """Answer the next in line, or the same again."""
            self.asked.append((name, *given))
            answers = self.answers[name]
            return answers.pop(0) if len(answers) > 1 else answers[0]

        return call


class CacheEngine:
    """The parts of a cache engine that slots use: a store, and a clock that is set by hand."""

    def __init__(self, **answers: Any) -> None:
        self.now, self.exclusive, self.closed = NOON, False, False
        self.store = Told(**answers)
        self.asked = self.store.asked

    def clock(self) -> float:
        """Return the time."""
        return self.now

    def lease(self, *given: Any) -> Generator[Any, Any, Any]:
        """Request a lease from the store."""
        return self.call_store(self.store.lease, *given)

    def call_store(self, call: Callable[..., Any], *given: Any) -> Generator[Any, Any, Any]:
        """Call the store."""
        return call(*given)
        yield


def turns(**answers: Any) -> tuple[RateLimiter, CacheEngine]:
    """Return slots over a cache engine."""
    engine = CacheEngine(**answers)
    made: Any = RateLimiter(engine)  # type: ignore[arg-type]
    return made, engine


def driven(flow: Generator[Any, Any, Any]) -> tuple[list[float], Any]:
    """Drive a flow to its end; return the seconds it waited, and what it returned."""
    waits: list[float] = []
    while True:
        try:
            effect = next(flow)
        except StopIteration as ended:
            return waits, ended.value
        assert isinstance(effect, Wait)
        waits.append(effect.seconds)


class TestTurns:
    """The calls of the store, and the length of the waits."""

    def test_reserved(self) -> None:
        """The store sets the time; without it, memory does, one interval after the other."""
        made, engine = turns(reserve_slot=[NOON + 9])
        assert driven(made.reserve(SITE, 5.0)) == ([], NOON + 9)
        assert engine.asked == [("reserve_slot", SITE, NOON, 5.0)]
        made, engine = turns(reserve_slot=[None])
        moments = [driven(made.reserve(SITE, 5.0))[1] for _ in range(3)]
        assert moments == [NOON, NOON + 5, NOON + 10]
        engine.now += 100
        assert driven(made.reserve(SITE, 5.0))[1] == NOON + 100
        assert driven(made.reserve("https://other.example", 5.0))[1] == NOON + 100

    def test_taken(self) -> None:
        made, engine = turns(lease=[True], begin_slot=[NOON])
        assert driven(made.take(SITE, lambda: 5.0, "me")) == ([], 0)
        assert engine.asked == [
            ("lease", f"turn {SITE}", "me", SLOT_TTL),
            ("begin_slot", SITE, NOON, 5.0),
        ]

    def test_others_have_it(self) -> None:
        """One looks again soon, then less often, and not less often than that."""
        made, _ = turns(lease=[*[False] * 8, True], begin_slot=[NOON])
        waits, slot = driven(made.take(SITE, lambda: 5.0, "me"))
        expected = [min(MIN_POLL * 2**number, MAX_SLOT_POLL) for number in range(8)]
        assert (waits, slot) == (expected, 0)
        assert waits[-1] == MAX_SLOT_POLL

    def test_slots(self) -> None:
        """The first that is free."""
        made, engine = turns(lease=[False, False, True], begin_slot=[NOON])
        assert driven(made.take(SITE, lambda: 0.0, "me", 3)) == ([], 2)
        assert [one[1] for one in engine.asked[:3]] == [
            *(f"turn {SITE}", f"turn {SITE} 1", f"turn {SITE} 2"),
        ]
        engine.store.answers["release"] = [None]
        driven(made.end(SITE, "me", range(3)))
        assert [one[1] for one in engine.asked[-3:]] == [one[1] for one in engine.asked[:3]]

    def test_changed_after(self) -> None:
        """The lease is given back while one waits, and a long wait is cut in parts."""
        made, engine = turns(lease=[True], release=[None], begin_slot=[NOON + 3, NOON + 500, NOON])
        waits, slot = driven(made.take(SITE, lambda: 5.0, "me"))
        assert (waits, slot) == ([3.0, MAX_WAIT], 0)
        names = [one[0] for one in engine.asked]
        assert names == [*("lease", "begin_slot", "release") * 2, "lease", "begin_slot"]
        assert engine.asked[2] == ("release", f"turn {SITE}", "me")

    def test_an_ended_slot_lets_others_go_first(self) -> None:
        """One lookup, unless no other process can use the store."""
        for alone, waited in ((False, [MAX_SLOT_POLL]), (True, [])):
            made, engine = turns(lease=[True], release=[None], begin_slot=[NOON])
            engine.exclusive = alone
            driven(made.end(SITE, "me"))
            assert driven(made.take(SITE, lambda: 0.0, "me")) == (waited, 0)
            assert driven(made.take(SITE, lambda: 0.0, "me")) == ([], 0)

    def test_without_a_store(self) -> None:
        """Memory keeps the interval, and what was put off."""
        made, engine = turns(lease=[None], release=[None], begin_slot=[None], postpone_slot=[None])
        assert driven(made.take(SITE, lambda: 5.0, "me")) == ([], 0)
        flow = made.take(SITE, lambda: 5.0, "me")
        wait = next(flow)
        assert isinstance(wait, Wait)
        assert wait.seconds == 5.0
        flow.close()
        driven(made.postpone(SITE, NOON + 50))
        driven(made.postpone(SITE, NOON + 20))
        assert engine.asked[-1] == ("postpone_slot", SITE, NOON + 20)
        wait = next(made.take(SITE, lambda: 5.0, "me"))
        assert isinstance(wait, Wait)
        assert wait.seconds == 50.0

    def test_few_are_remembered(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """With more than so many origins, what is over goes."""
        monkeypatch.setattr(rate_limiter, "MAX_REMEMBERED_SLOTS", 2)
        some, engine = turns(release=[None])
        some._next_slot = {"a": NOON + 5, "b": NOON}
        some._remember("c", NOON - 1)
        assert list(some._next_slot) == ["a", "b", "c"]
        some._remember("d", NOON + 1)
        assert some._next_slot == {"a": NOON + 5, "d": NOON + 1}
        for origin in ("a", "b", "c"):
            driven(some.end(origin, "me"))
        assert list(some._ended_at) == ["a", "b", "c"]
        driven(some.end("d", "me"))
        assert list(some._ended_at) == ["d"]
        assert engine.asked[0] == ("release", "turn a", "me")

    def test_the_slot_that_is_let_go(self) -> None:
        """While one waits for a moment, others may have the slot that was leased."""
        some, engine = turns(lease=[False, True, True], begin_slot=[NOON + 5, NOON], release=[None])
        assert driven(some.take("a", lambda: 1.0, "me", 2)) == ([5.0], 0)
        assert [one for one in engine.asked if one[0] == "release"] == [
            ("release", "turn a 1", "me")
        ]

    def test_how_long_others_go_first(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Up to that moment, and no longer."""
        monkeypatch.setattr(rate_limiter, "MAX_SLOT_POLL", 0.5)
        for now, waits in ((100.25, [0.5]), (100.5, [])):
            some, _ = turns(lease=[True], begin_slot=[NOON])
            some._ended_at["a"] = 100.0
            with monkeypatch.context() as patch:
                patch.setattr(rate_limiter, "monotonic", lambda now=now: now)
                assert driven(some.take("a", lambda: 1.0, "me")) == (waits, 0)

    def test_a_busy_process_lets_others_go_first(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """After so long without a pause it waits once; a pause of its own counts as one."""
        moment = 100.0
        monkeypatch.setattr(rate_limiter, "monotonic", lambda: moment)
        some, _ = turns(lease=[True], release=[None], begin_slot=[NOON])
        waited: dict[float, list[float]] = {}
        for pause in [0.0, *[0.0625] * 40, 0.125, *[0.0625] * 31]:
            moment += pause
            if waits := driven(some.take("a", lambda: 0.0, "me"))[0]:
                waited[moment - 100.0] = waits
            driven(some.end("a", "me"))
        assert waited == {MAX_BUSY: [MAX_SLOT_POLL]}

    @pytest.mark.parametrize(
        ("change", "begun"),
        [
            *(({}, True), ({"exclusive": False}, False), ({"closed": True}, False)),
            *(({"store_error": "gone"}, False), ({"now": NOON - 1}, False)),
        ],
    )
    def test_begin_now(self, change: dict[str, Any], begun: bool) -> None:
        """Without a lease, if no other process uses the store and there is nothing to wait for."""
        some, engine = turns(begin_slot=[NOON])
        state = {"exclusive": True, "closed": False, "store_error": None, **change}
        for name, value in state.items():
            setattr(engine, name, value)
        assert some.begin_now("a", engine.now, 2.0) is begun
        assert all(call == ("begin_slot", "a", engine.now, 2.0) for call in engine.asked)

    def test_a_slot(self) -> None:
        """It has its origin, its delay and the end of a pause."""
        turn = Slot("a", Delay(1.0, "min-delay"), lambda: NOON)
        assert (turn.origin, turn.delay.seconds, turn.until) == ("a", 1.0, None)
        assert turn.record_response(503) == 60.0
        assert turn.until == NOON + 60.0


class TestTies:
    """Where several groups set the same delay, one is named; and purposes count."""

    def test_the_source_of_a_delay(self) -> None:
        """The Crawl-delay goes first, and what the site asks for before the client's own delay."""
        robots = parse(b"User-agent: *\nRequest-rate: 1/10\nCrawl-delay: 10\n")
        assert required_delay(robots, "x", now=NOON, min_delay=10.0) == (10.0, "crawl-delay", 3)
        rate = parse(b"User-agent: *\nRequest-rate: 1/10\n")
        assert required_delay(rate, "x", now=NOON, min_delay=10.0).reason == "request-rate"
        assert required_delay(robots, "x", now=NOON) == (10.0, "crawl-delay", 3)

    def test_no_requested_delay(self) -> None:
        """Then there is none."""
        assert required_delay(parse(b""), "x", now=NOON) == (0.0, "min-delay", None)

    def test_purposes(self) -> None:
        """Of both records."""
        for line in (b"Request-rate: 1/9", b"Crawl-delay: 9"):
            robots = parse(b"User-agent-purpose: P\n" + line + b"\n")
            assert required_delay(robots, "x", ["P"], now=NOON).seconds == 9.0
            assert required_delay(robots, "x", now=NOON).seconds == 0.0
