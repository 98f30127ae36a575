"""Debounce: one lint per pause in typing, a quick one first; edits cancel older lints."""

from __future__ import annotations

import asyncio

from robotrules.lsp.debounce import Debouncer


class LintRecorder:
    """A lint callback that records its calls; quick lints take *duration* seconds."""

    def __init__(self, *, decided: bool = True, duration: float = 0.0) -> None:
        self.calls: list[tuple[str, bool]] = []
        self.cancelled = 0
        self._decided, self._duration = decided, duration

    async def __call__(self, uri: str, quick: bool) -> bool:
        """Record a lint."""
        try:
            await asyncio.sleep(self._duration if quick else 0)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        self.calls.append((uri, quick))
        return self._decided or not quick

    async def wait_for(self, count: int) -> None:
        """Wait for this many calls, and then a moment for unexpected ones."""
        while len(self.calls) < count:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.05)


def test_keystrokes_in_a_row_cause_one_lint() -> None:
    """The delay starts at the last keystroke, for each document separately."""

    async def _scenario() -> LintRecorder:
        recorder = LintRecorder()
        debouncer = Debouncer(recorder, quick_delay=0.01, thorough_delay=0)
        for _ in range(5):
            debouncer.schedule("a")
            debouncer.schedule("b")
            await asyncio.sleep(0)
        await recorder.wait_for(2)
        return recorder

    assert sorted(asyncio.run(_scenario()).calls) == [("a", True), ("b", True)]


def test_an_undecided_quick_lint_is_followed_by_a_thorough_one() -> None:
    """After the longer pause."""

    async def _scenario() -> LintRecorder:
        recorder = LintRecorder(decided=False)
        Debouncer(recorder, quick_delay=0, thorough_delay=0).schedule("a")
        await recorder.wait_for(2)
        return recorder

    assert asyncio.run(_scenario()).calls == [("a", True), ("a", False)]


def test_an_edit_cancels_the_running_lint() -> None:
    """The result for an old version is not needed."""

    async def _scenario() -> LintRecorder:
        recorder = LintRecorder(duration=60)
        debouncer = Debouncer(recorder, quick_delay=0, thorough_delay=0)
        debouncer.schedule("a")
        await asyncio.sleep(0.05)
        debouncer.run_now("a")
        await recorder.wait_for(1)
        return recorder

    recorder = asyncio.run(_scenario())
    assert (recorder.calls, recorder.cancelled) == ([("a", False)], 1)


def test_a_closed_document_is_not_linted() -> None:
    """Closing it twice is allowed."""

    async def _scenario() -> LintRecorder:
        recorder = LintRecorder()
        debouncer = Debouncer(recorder, quick_delay=0.01, thorough_delay=0)
        debouncer.schedule("a")
        debouncer.cancel("a")
        debouncer.cancel("a")
        await asyncio.sleep(0.05)
        return recorder

    assert asyncio.run(_scenario()).calls == []


def test_a_failed_lint_does_not_stop_the_debouncer() -> None:
    """The next lint runs."""

    async def _scenario() -> list[str]:
        calls: list[str] = []

        async def _lint(uri: str, quick: bool) -> bool:
            calls.append(uri)
            raise RuntimeError("no")

        debouncer = Debouncer(_lint, quick_delay=0, thorough_delay=0)
        debouncer.run_now("a")
        await asyncio.sleep(0.02)
        debouncer.run_now("b")
        await asyncio.sleep(0.02)
        return calls

    assert asyncio.run(_scenario()) == ["a", "b"]
