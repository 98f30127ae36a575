"""
Forks: stores let go of what a child process must not inherit.

A SQLite connection that is carried across a fork can damage its file: locks belong to a process,
and the child believes to have those of its parent. A connection to a server would be spoken on by
two. And a lock that another thread holds stays locked in the child for ever. So a store that is
watched is asked before each fork to finish what it does and to close, and afterwards, in parent and
child alike, to go on; both open anew when they are next used.

Programs that fork beneath Python go past this; stores look at the process's number as well.
"""

from __future__ import annotations

import os
from threading import Lock
from typing import Protocol
from weakref import WeakSet

# A fork waits for what a store is doing, but not for ever: a handler of signals may fork in the
# middle of it, in the very thread that would have to finish.
PATIENCE = 5.0


class Forking(Protocol):
    """What has something that must not be carried across a fork."""

    def before_fork(self) -> None:
        """Finish, let go, and let nobody begin."""

    def after_fork(self) -> None:
        """Go on: in the parent, and in the child."""


_watched: WeakSet[Forking] = WeakSet()
_waiting: list[Forking] = []
_one_at_a_time = Lock()


def watch(store: Forking) -> None:
    """Ask a store to let go before each fork, as long as it is there."""
    _watched.add(store)


def _before() -> None:
    _one_at_a_time.acquire()
    for store in list(_watched):
        _waiting.append(store)
        store.before_fork()


def _after() -> None:
    while _waiting:
        _waiting.pop().after_fork()
    _one_at_a_time.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
