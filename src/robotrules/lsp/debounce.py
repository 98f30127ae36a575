"""
Debounce: when to lint a text while it is being edited.

Not at every keystroke: a short pause starts a quick lint, and a longer one a thorough lint if the
quick one left something undecided. An edit cancels whatever was waiting or running for the text
before it. It does not know what linting is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

__all__ = ["PAUSE", "REST", "Debouncer"]

# Seconds after the last key. People pause longer between words than between letters.
PAUSE = 0.25
REST = 1.5

# Looks at a text; told whether quickly, it tells whether everything was decided.
Look = Callable[[str, bool], Awaitable[bool]]


class Debouncer:
    """What is to be looked at next, for each text by its name. Used from one event loop."""

    def __init__(self, look: Look, *, pause: float = PAUSE, rest: float = REST) -> None:
        self._look = look
        self._pause = pause
        self._rest = rest
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def typed(self, name: str) -> None:
        """Look at a text once the keyboard pauses."""
        self._start(name, self._quick_then_thorough(name))

    def saved(self, name: str) -> None:
        """Look at a text thoroughly, now."""
        self._start(name, self._thorough(name))

    def closed(self, name: str) -> None:
        """Look at a text no more."""
        if task := self._tasks.pop(name, None):
            task.cancel()

    def _start(self, name: str, work: Awaitable[None]) -> None:
        self.closed(name)
        task = asyncio.ensure_future(work)
        self._tasks[name] = task
        task.add_done_callback(lambda done: self._done(name, done))

    def _done(self, name: str, task: asyncio.Future[None]) -> None:
        if self._tasks.get(name) is task:
            del self._tasks[name]
        if not task.cancelled():
            task.exception()  # was told where it happened; asyncio is not to tell it again

    async def _quick_then_thorough(self, name: str) -> None:
        await asyncio.sleep(self._pause)
        if not await self._look(name, True):
            await asyncio.sleep(self._rest)
            await self._look(name, False)

    async def _thorough(self, name: str) -> None:
        await self._look(name, False)
