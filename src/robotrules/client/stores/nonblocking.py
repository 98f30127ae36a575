"""
Non-blocking mode: a caller that cannot wait gets StoreBusyError instead of waiting for a busy
store.

An event loop calls the SQLite store directly, because that takes microseconds; but another process
may lock the file for seconds, which would block the loop. The loop therefore calls the store in
non-blocking mode, and repeats the call in a thread if the store is busy:

    try:
        with nonblocking():
            return work()
    except StoreBusyError:
        return await loop.run_in_executor(None, work)

The mode is a context variable (PEP 567): leave it before `asyncio.to_thread`, which copies the
context.
"""

from __future__ import annotations

from contextvars import ContextVar, Token

# Maximum wait in seconds in non-blocking mode; starting a thread and waiting for it costs a
# fraction.
NONBLOCKING_TIMEOUT = 0.02

_nonblocking: ContextVar[bool] = ContextVar("robotrules_nonblocking", default=False)
is_nonblocking = _nonblocking.get
"""Return whether the caller is in non-blocking mode."""


class NonBlocking:
    """Context manager of the non-blocking mode; a class, because a generator takes 1 µs."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        """Enter non-blocking mode."""
        self._token: Token[bool] = _nonblocking.set(True)

    def __exit__(self, *error: object) -> None:
        """Restore the previous mode."""
        _nonblocking.reset(self._token)


def nonblocking() -> NonBlocking:
    """Return a context in which a busy store raises StoreBusyError, after at most 20 ms."""
    return NonBlocking()
