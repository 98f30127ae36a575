"""
Debounce: delay linting while a document is being edited.

After a short pause in typing, a quick lint runs; if it left something undecided, a thorough lint
follows after a longer pause. Each edit cancels the pending or running lint of its document. The
lint itself is a callback.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

__all__ = ["QUICK_DELAY", "THOROUGH_DELAY", "Debouncer"]

# Seconds after the last keystroke, and after the quick lint.
QUICK_DELAY = 0.25
THOROUGH_DELAY = 1.5

# Lints the document with this URI; the flag is True for a quick lint. Returns whether every
# question was decided.
LintCallback = Callable[[str, bool], Awaitable[bool]]


class Debouncer:
    """Schedules lints, at most one per document at a time. Used from one event loop."""

    def __init__(
        self,
        lint: LintCallback,
        *,
        quick_delay: float = QUICK_DELAY,
        thorough_delay: float = THOROUGH_DELAY,
    ) -> None:
        self._lint = lint
        self._quick_delay = quick_delay
        self._thorough_delay = thorough_delay
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def schedule(self, uri: str) -> None:
        """Lint a document after the next pause in typing."""
        self._start(uri, self._lint_quick_then_thorough(uri))

    def run_now(self, uri: str) -> None:
        """Lint a document thoroughly, without delay."""
        self._start(uri, self._lint_thorough(uri))

    def cancel(self, uri: str) -> None:
        """Cancel the pending or running lint of a document."""
        if task := self._tasks.pop(uri, None):
            task.cancel()

    def _start(self, uri: str, work: Awaitable[None]) -> None:
        self.cancel(uri)
        task = asyncio.ensure_future(work)
        self._tasks[uri] = task
        task.add_done_callback(lambda done: self._finish(uri, done))

    def _finish(self, uri: str, task: asyncio.Future[None]) -> None:
        if self._tasks.get(uri) is task:
            del self._tasks[uri]
        if not task.cancelled():
            # The callback has logged it; retrieving it keeps asyncio from logging it again.
            task.exception()

    async def _lint_quick_then_thorough(self, uri: str) -> None:
        await asyncio.sleep(self._quick_delay)
        if not await self._lint(uri, True):
            await asyncio.sleep(self._thorough_delay)
            await self._lint(uri, False)

    async def _lint_thorough(self, uri: str) -> None:
        await self._lint(uri, False)
