"""
Channels: where events go. Each delivers some events, and says whether they were accepted.

| module | where | told |
|---|---|---|
| `stream` | stdout | once, in a file; in a pipe once, or twice if the process is killed meanwhile |
| `webhook` | an HTTP endpoint | at least once; receivers drop what they know by its id |
| `command` | a program | at least once |
| `mail` | people | at least once; a repeated mail has the same Message-ID |
| `feed` | an Atom feed | once: the file is replaced, and has each event once |

A channel raises nothing for what happens in the world; a failure is a value, and the outbox tries
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from robotrules.operations.watch.events import WatchEvent


class Delivery(NamedTuple):
    """The outcome of an attempt to deliver events."""

    error: str = ""
    """Why they were not accepted, printable; empty if they were."""
    retry_after: float | None = None
    """Seconds that the receiver asks to wait."""
    only_these: bool = False
    """Whether the failure concerns these events, and others may be accepted."""


DELIVERED = Delivery()


class Channel(Protocol):
    """A place that events go to."""

    @property
    def key(self) -> str:
        """The name of its outbox: stable, without secrets."""

    @property
    def name(self) -> str:
        """The name for people, without secrets."""

    @property
    def batch(self) -> int:
        """The most events of one delivery."""

    def deliver(self, events: Sequence[WatchEvent]) -> Delivery:
        """Deliver events, the oldest first: all of them or, on failure, none."""
