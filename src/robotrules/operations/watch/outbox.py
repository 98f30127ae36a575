"""
The outbox: delivery of events to channels, with back-off.

An event leaves the outbox of a channel when the channel has accepted it. After a failure the
channel is tried again after seconds, then minutes, at most an hour later, for as long as it takes;
a Retry-After of the receiver counts instead. A failure that concerns one event postpones that
event, and others are delivered. Each channel is delivered by its own thread: none waits for
another.

A delivery can be stopped. One that is under way gets a moment more; then it is left behind, and its
events stay in the outbox, for the next process.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread
from typing import NamedTuple

from robotrules.octets import visible
from robotrules.operations.watch.channels import Channel, Delivery
from robotrules.operations.watch.channels.command import CommandChannel
from robotrules.operations.watch.channels.stream import StreamChannel
from robotrules.operations.watch.events import WatchEvent
from robotrules.operations.watch.state import WatchState

# Seconds until the second attempt; the interval doubles up to the longest.
FIRST_BACKOFF, LONGEST_BACKOFF = 5.0, 3_600.0
# Each interval is changed by up to this part, so that many watches do not retry at the same time.
JITTER = 0.1
# Seconds between checks for a stop, and those that a delivery has left after it.
POLL, GRACE = 0.1, 2.0


class DeliverySummary(NamedTuple):
    """What one pass over the outbox of a channel did."""

    name: str
    delivered: int
    waiting: int
    """Events that stay in the outbox."""
    error: str = ""
    """Why the last delivery failed."""
    next_attempt: float | None = None
    """When the rest is due; None: nothing waits."""


class Outbox:
    """Delivers what is due, to all channels."""

    def __init__(
        self,
        state: WatchState,
        channels: Sequence[Channel],
        *,
        clock: Callable[[], float] = time.time,
        first_backoff: float = FIRST_BACKOFF,
    ) -> None:
        names = [channel.key for channel in channels]
        if len(set(names)) < len(names):
            raise ValueError("two channels are the same: pass each once")
        self._state = state
        self._channels = tuple(channels)
        self._clock = clock
        self._first_backoff = first_backoff

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Key and name of each channel, for `WatchState.record()`."""
        return [(channel.key, channel.name) for channel in self._channels]

    def resume(self) -> int:
        """Complete the writes that a crash interrupted; return the number of their events."""
        resumed = 0
        for channel in self._channels:
            note = self._state.note(channel.key)
            if note is None or not isinstance(channel, StreamChannel):
                continue
            numbers = note["numbers"]
            channel.resume(note["position"], self._state.events_by_number(numbers))
            self._state.acknowledge(channel.key, numbers)
            resumed += len(numbers)
        return resumed

    def deliver(self, stop: Event | None = None) -> list[DeliverySummary]:
        """
        Deliver what is due; return a summary of each channel that had something.

        After *stop* is set, no further delivery begins, and one that hangs is left behind.
        """
        ending = Event() if stop is None else stop
        due = [channel for channel in self._channels if self._is_due(channel)]
        if len(due) < 2:
            return [self._deliver(channel, ending) for channel in due]
        with ThreadPoolExecutor(len(due), "robotrules-outbox") as pool:
            return list(pool.map(self._deliver, due, [ending] * len(due)))

    def next_attempt(self) -> float | None:
        """Return when a channel has something to deliver; None: nothing waits."""
        found = (self._state.next_due(channel.key) for channel in self._channels)
        return min((due for due in found if due is not None), default=None)

    def _is_due(self, channel: Channel) -> bool:
        due = self._state.next_due(channel.key)
        return due is not None and due <= self._clock()

    def _deliver(self, channel: Channel, stop: Event) -> DeliverySummary:
        delivered, error = 0, ""
        while not stop.is_set() and self._is_due(channel):
            pending = self._state.pending(channel.key, self._clock(), channel.batch)
            if not pending:
                break
            numbers = [one.number for one in pending]
            self._note_position(channel, numbers)
            found = _attempt(channel, [one.event for one in pending], stop)
            if found is None or (found.error and stop.is_set()):
                break  # it is tried again by the next process, at once
            if not found.error:
                self._state.acknowledge(channel.key, numbers)
                delivered += len(numbers)
                continue
            error = found.error
            attempts = max(one.attempts for one in pending)
            until = self._clock() + self._backoff(found, attempts)
            self._state.postpone(
                channel.key, numbers, until=until, error=error, whole=not found.only_these
            )
            if not found.only_these:
                break
        waiting = next((one.pending for one in self._state.channels() if one.key == channel.key), 0)
        again = self._state.next_due(channel.key)
        return DeliverySummary(channel.name, delivered, waiting, error, again)

    def _note_position(self, channel: Channel, numbers: Sequence[int]) -> None:
        """Store where a file ends before it is written, so that a crash repeats no line."""
        position = channel.position() if isinstance(channel, StreamChannel) else None
        if position is not None:
            self._state.put_note(channel.key, {"position": position, "numbers": list(numbers)})

    def _backoff(self, found: Delivery, attempts: int) -> float:
        if found.retry_after is not None:
            # A receiver that asks for no pause gets one.
            return max(found.retry_after, self._first_backoff)
        seconds: float = min(self._first_backoff * 2 ** min(attempts, 20), LONGEST_BACKOFF)
        return seconds * random.uniform(1 - JITTER, 1 + JITTER)


def _attempt(channel: Channel, events: Sequence[WatchEvent], stop: Event) -> Delivery | None:
    """Deliver events; None: a stop came, and whether they were accepted is not known."""
    if isinstance(channel, StreamChannel):
        return channel.deliver(events)  # what cannot be written ends the watch
    found: list[Delivery] = []

    def work() -> None:
        """Deliver, in a thread that keeps no process from ending."""
        try:
            found.append(channel.deliver(events))
        except Exception as error:  # a fault of one channel is not the end of the others
            words = f"{type(error).__name__}: {error}"
            found.append(Delivery(f"unexpected error: {visible(words)[:200]}"))

    thread = Thread(target=work, name="robotrules-delivery", daemon=True)
    thread.start()
    while thread.is_alive() and not stop.is_set():
        thread.join(POLL)
    if stop.is_set():
        if isinstance(channel, CommandChannel):
            channel.interrupt()
        thread.join(GRACE)
    return found[0] if found else None
