"""
Hurry: who cannot wait says so, and is told that a store is busy instead of being kept waiting.

An event loop asks the store in a file itself, because that takes microseconds; but another process
may hold the file for seconds, and the loop would stand still for as long. So it asks in a hurry,
and if the store is busy it asks once more in a thread, without:

    try:
        with hurried():
            return work()
    except StoreBusyError:
        return await loop.run_in_executor(None, work)

It is a matter of the context (PEP 567), so it must be left before `asyncio.to_thread`, which
carries the context along. It does not know what is waited for.
"""

from __future__ import annotations

from contextvars import ContextVar, Token

# Seconds that somebody in a hurry waits; to start a thread and wait for it costs a fraction.
HURRY = 0.02

_hurried: ContextVar[bool] = ContextVar("robotrules_hurried", default=False)
is_hurried = _hurried.get
"""Tell whether this is asked by somebody who cannot wait."""


class Hurry:
    """A context in which nothing is waited for; a class, because a generator takes 1 µs."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        """Begin to be in a hurry."""
        self._token: Token[bool] = _hurried.set(True)

    def __exit__(self, *error: object) -> None:
        """Be as before."""
        _hurried.reset(self._token)


def hurried() -> Hurry:
    """Return a context in which a busy store raises StoreBusyError, after 20 ms at most."""
    return Hurry()
