"""
SIGHUP, which reads the token file again: it is blocked until a handler is installed.

The default of SIGHUP ends a process. A blocked one waits, also across the start of another process,
so none is lost and none ends a process that has not started yet.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator

__all__ = ["block_hangups", "hangups_blocked", "hangups_handled"]

_HANGUP = {signal.SIGHUP} if hasattr(signal, "SIGHUP") else set()


def block_hangups() -> None:
    """Let SIGHUP wait from now on, in this thread and what it starts."""
    if _HANGUP:
        signal.pthread_sigmask(signal.SIG_BLOCK, _HANGUP)


@contextlib.contextmanager
def hangups_blocked() -> Iterator[None]:
    """Let SIGHUP wait; a process that is started meanwhile begins with it blocked."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _HANGUP)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def hangups_handled(handler: Callable[[], object]) -> Iterator[None]:
    """Call *handler* at SIGHUP; only the main thread can."""
    if not _HANGUP or threading.current_thread() is not threading.main_thread():
        yield
        return
    (number,) = _HANGUP
    handler_before = signal.signal(number, lambda *_: handler())
    mask_before = signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANGUP)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask_before)
        signal.signal(number, handler_before)
