"""The outbox: back-off, order, crashes, and channels that do not wait for each other."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event, Thread, Timer
from typing import Any
from unittest import mock

import pytest

from robotrules.operations.watch import outbox as outbox_module
from robotrules.operations.watch.channels import DELIVERED, Delivery
from robotrules.operations.watch.channels.command import CommandChannel
from robotrules.operations.watch.channels.stream import StreamChannel
from robotrules.operations.watch.channels.webhook import WebhookChannel
from robotrules.operations.watch.comparison import Baseline
from robotrules.operations.watch.events import WatchEvent
from robotrules.operations.watch.outbox import LONGEST_BACKOFF, Outbox
from robotrules.operations.watch.state import WatchState
from tests.operations.watch.receivers import webhook_endpoint
from tests.operations.watch.test_state import change

TARGET = "https://example.com/robots.txt"


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Recorder:
    """A channel that records, and fails as told."""

    batch = 1

    def __init__(self, key: str = "recorder") -> None:
        self.key = self.name = key
        self.told: list[str] = []
        self.fails: Callable[[WatchEvent], Delivery] = lambda event: DELIVERED

    def deliver(self, events: Sequence[WatchEvent]) -> Delivery:
        """Record events that are accepted."""
        [event] = events
        found = self.fails(event)
        if not found.error:
            self.told.append(event.sentence)
        return found


class Crash(BaseException):
    """The process ends here."""


@pytest.fixture
def state(tmp_path: Path) -> Iterator[WatchState]:
    """A state whose lease this process has."""
    with WatchState(tmp_path / "store.sqlite") as opened:
        opened.acquire()
        yield opened


def fill(state: WatchState, outbox: Outbox, count: int) -> list[WatchEvent]:
    """Record so many events."""
    events = [change(number) for number in range(count)]
    state.record(TARGET, Baseline(), events, outbox.keys)
    return events


class TestBackoff:
    """A channel that fails is tried again, ever more rarely."""

    def test_a_webhook_that_is_down_for_an_hour(self, state: WatchState) -> None:
        """By a clock that is set: attempts become rare, nothing is lost, all is told after."""
        clock = Clock()
        with webhook_endpoint() as hook:
            outbox = Outbox(state, [WebhookChannel(hook.url, clock=clock)], clock=clock)
            events = fill(state, outbox, 5)
            hook.status = 503
            while clock.now < 1_000 + 3_600:
                for summary in outbox.deliver():
                    assert (summary.delivered, summary.waiting) == (0, 5)
                due = outbox.next_attempt()
                assert due is not None
                clock.now = due
            assert 8 <= hook.refused <= 13
            hook.status = 200
            outbox.deliver()
            assert [one["id"] for one in hook.events] == [one.id for one in events]
            assert outbox.next_attempt() is None
            [channel] = state.channels()
            assert (channel.delivered, channel.pending, channel.error) == (5, 0, "")

    def test_the_longest_interval(self, state: WatchState) -> None:
        """An hour, more or less."""
        clock, channel = Clock(), Recorder()
        channel.fails = lambda event: Delivery("down")
        outbox = Outbox(state, [channel], clock=clock)
        fill(state, outbox, 1)
        for _ in range(30):
            outbox.deliver()
            before, clock.now = clock.now, outbox.next_attempt() or 0.0
        assert LONGEST_BACKOFF * 0.9 <= clock.now - before <= LONGEST_BACKOFF * 1.1

    def test_retry_after(self, state: WatchState) -> None:
        """What the receiver asks for counts."""
        clock, channel = Clock(), Recorder()
        channel.fails = lambda event: Delivery("later", 120.0)
        outbox = Outbox(state, [channel], clock=clock)
        fill(state, outbox, 1)
        [summary] = outbox.deliver()
        assert summary.next_attempt == 1_120.0
        assert outbox.deliver() == []
        # A pause of nothing would be a loop.
        channel.fails = lambda event: Delivery("now", 0.0)
        clock.now = 1_120.0
        [summary] = outbox.deliver()
        assert summary.next_attempt == 1_125.0

    def test_an_event_that_is_refused_does_not_block_others(self, state: WatchState) -> None:
        """It alone waits."""
        clock, channel = Clock(), Recorder()
        bad = change(0).sentence
        channel.fails = lambda event: (
            Delivery("status 422", None, True) if event.sentence == bad else DELIVERED
        )
        outbox = Outbox(state, [channel], clock=clock)
        events = fill(state, outbox, 3)
        [summary] = outbox.deliver()
        assert (summary.delivered, summary.waiting, summary.error) == (2, 1, "status 422")
        assert channel.told == [one.sentence for one in events[1:]]
        channel.fails = lambda event: DELIVERED
        clock.now = outbox.next_attempt() or 0.0
        outbox.deliver()
        assert channel.told[-1] == bad

    def test_a_channel_that_fails_does_not_block_another(self, state: WatchState) -> None:
        """Each has its own outbox."""
        first, second = Recorder("first"), Recorder("second")
        first.fails = lambda event: Delivery("down")
        outbox = Outbox(state, [first, second])
        fill(state, outbox, 3)
        outbox.deliver()
        assert (len(first.told), len(second.told)) == (0, 3)

    def test_the_same_channel_twice(self, state: WatchState) -> None:
        """Would tell everything twice."""
        with pytest.raises(ValueError, match="the same"):
            Outbox(state, [Recorder(), Recorder()])


class TestStops:
    """A signal during a delivery: it ends soon, and what was not accepted stays."""

    def test_between_events(self, state: WatchState) -> None:
        """The one that has begun is delivered, and no other."""
        channel, stop = Recorder(), Event()

        def accept(event: WatchEvent) -> Delivery:
            stop.set()
            return DELIVERED

        channel.fails = accept
        outbox = Outbox(state, [channel])
        events = fill(state, outbox, 3)
        [summary] = outbox.deliver(stop)
        assert (summary.delivered, summary.waiting, summary.error) == (1, 2, "")
        assert channel.told == [events[0].sentence]
        assert outbox.deliver(stop)[0].delivered == 0

    def test_a_receiver_that_hangs(self, state: WatchState) -> None:
        """It is left behind; the next process need not wait for a back-off."""
        channel, stop, release = Recorder(), Event(), Event()
        channel.fails = lambda event: Delivery("" if release.wait(60) else "late")
        other = Recorder("other")
        outbox = Outbox(state, [channel, other])
        fill(state, outbox, 2)
        with mock.patch.object(outbox_module, "GRACE", 0.1):
            Timer(0.3, stop.set).start()
            began = time.monotonic()
            outbox.deliver(stop)
        assert time.monotonic() - began < 10
        waiting = {one.key: (one.pending, one.failures) for one in state.channels()}
        assert waiting == {"recorder": (2, 0), "other": (0, 0)}
        assert outbox.next_attempt() == 0.0
        release.set()

    def test_a_program_that_hangs(self, state: WatchState, tmp_path: Path) -> None:
        """It and its children are ended; that is not a failure of it."""
        channel, stop = CommandChannel(["sh", "-c", f"touch {tmp_path}/on; sleep 60"]), Event()
        outbox = Outbox(state, [channel])
        fill(state, outbox, 2)

        def stop_then() -> None:
            while not (tmp_path / "on").exists():
                time.sleep(0.02)
            stop.set()

        Thread(target=stop_then).start()
        began = time.monotonic()
        outbox.deliver(stop)
        assert time.monotonic() - began < 30
        [found] = state.channels()
        assert (found.pending, found.failures, found.error) == (2, 0, "")

    def test_a_fault_of_one_channel(self, state: WatchState) -> None:
        """Is a failed delivery, and not the end of the watch."""
        bad, good = Recorder("bad"), Recorder("good")

        def fail(event: WatchEvent) -> Delivery:
            raise UnicodeError("label empty\x1b")

        bad.fails = fail
        outbox = Outbox(state, [bad, good])
        fill(state, outbox, 1)
        told = {summary.name: summary for summary in outbox.deliver()}
        assert told["bad"].error == "unexpected error: UnicodeError: label empty\\x1b"
        assert told["good"].delivered == 1


class TestCrashes:
    """The process ends between any two steps; the next one goes on."""

    def deliver_in(self, folder: Path, crash: str = "") -> None:
        """Deliver to a file as a process would; *crash* is the step in which it ends."""
        with (folder / "out").open("ab") as stream, WatchState(folder / "store.sqlite") as state:
            state.acquire()
            channel: Any = StreamChannel(stream, WatchEvent.as_json_line)
            outbox = Outbox(state, [channel])
            outbox.resume()
            patches = {
                "before the note": (state, "put_note"),
                "before the write": (channel, "_write"),
                "before the acknowledgement": (state, "acknowledge"),
            }
            if crash:
                with mock.patch.object(*patches[crash], side_effect=Crash), pytest.raises(Crash):
                    outbox.deliver()
            else:
                outbox.deliver()

    @pytest.mark.parametrize(
        "crash", ["before the note", "before the write", "before the acknowledgement"]
    )
    def test_each_line_is_there_once(self, tmp_path: Path, crash: str) -> None:
        """In a file, whatever the moment, and however often."""
        events = []
        for first in range(0, 9, 3):
            with WatchState(tmp_path / "store.sqlite") as state:
                state.acquire()
                new = [change(number) for number in range(first, first + 3)]
                state.record(TARGET, Baseline(), new, [("stdout", "stdout")])
            events += new
            self.deliver_in(tmp_path, crash)
            self.deliver_in(tmp_path)
        lines = (tmp_path / "out").read_bytes().splitlines()
        assert [json.loads(line)["id"] for line in lines] == [one.id for one in events]

    def test_a_webhook_gets_the_same_id_again(self, state: WatchState) -> None:
        """Accepted, and the process ended before it was noted: the receiver knows the id."""
        with webhook_endpoint() as hook:
            outbox = Outbox(state, [WebhookChannel(hook.url)])
            [event] = fill(state, outbox, 1)
            with mock.patch.object(state, "acknowledge", side_effect=Crash), pytest.raises(Crash):
                outbox.deliver()
            outbox.deliver()
            assert [fields["webhook-id"] for fields, _ in hook.requests] == [event.id] * 2
