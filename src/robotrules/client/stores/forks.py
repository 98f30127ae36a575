"""
Forks: stores close what a child process must not inherit.

A SQLite connection that is used after a fork can damage its file: locks belong to a process, and
the child assumes that it has those of its parent. Parent and child would share a connection to a
server. And a lock that another thread holds stays locked in the child for ever. Registered stores
therefore finish and close before each fork, and continue afterwards in parent and child; both
reopen on next use.

Forks outside of Python bypass this; stores check the process id as well.
"""

from __future__ import annotations

import os
from threading import Lock
from typing import Protocol
from weakref import WeakSet

# A fork waits for a store's current call, with a timeout: a signal handler may fork within that
# call, in the thread that would have to finish it.
FORK_TIMEOUT = 5.0


class Forking(Protocol):
    """An object with resources that must not be used across a fork."""

    def before_fork(self) -> None:
        """Finish, close, and block further calls."""

    def after_fork(self) -> None:
        """Continue, in the parent and in the child."""


_registered: WeakSet[Forking] = WeakSet()
_prepared: list[Forking] = []
_one_at_a_time = Lock()


def register(store: Forking) -> None:
    """Call the hooks of a store at each fork, as long as it exists."""
    _registered.add(store)


def _before() -> None:
    _one_at_a_time.acquire()
    for store in list(_registered):
        _prepared.append(store)
        store.before_fork()


def _after() -> None:
    while _prepared:
        _prepared.pop().after_fork()
    _one_at_a_time.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
