"""
A progress bar on stderr: by bytes if the size of the input is known, otherwise a counter.

It appears after a short delay, so short work shows nothing, and is erased at the end. A stream that
is not a terminal can get plain lines instead. Where there is nothing to count, `StatusLine` shows
the current step. Both are silent without a stream.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TextIO

from robotrules.cli.text import is_terminal, plural, truncate

FIRST_AFTER = 0.4
AGAIN_AFTER = 0.1
BAR = 30


class Progress:
    """Counts items and bytes; a context manager that erases its line at the end."""

    __slots__ = (
        "_clock",
        "_done",
        "_next",
        "_noun",
        "_plain_every",
        "_shown",
        "_size",
        "_started",
        "_stream",
        "count",
    )

    def __init__(
        self,
        stream: TextIO | None,
        size: int | None,
        noun: str,
        clock: Callable[[], float] = time.monotonic,
        plain_every: float | None = None,
    ) -> None:
        """
        *stream* is None for no bar, *size* None if it is unknown; *noun* is in the singular.

        With *plain_every*, there is a line of text every so many seconds instead of a bar.
        """
        self._stream = stream
        self._size = size
        self._noun = noun
        self._clock = clock
        self._started = clock()
        self._plain_every = plain_every
        self._next = self._started + (plain_every or FIRST_AFTER)
        self._done = 0
        self._shown = False
        self.count = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._draw("")

    @property
    def seconds(self) -> float:
        """The elapsed time."""
        return self._clock() - self._started

    def add(self, count: int, octets: int) -> None:
        """
        Count items and bytes, and redraw the bar if it is due.

        Bytes without items were done before: the remaining time is estimated without them.
        """
        self.count += count
        if count or self._size is None:
            self._done += octets
        else:
            self._size = max(self._size - octets, 1)
        if self._stream is None:
            return
        now = self._clock()
        if now < self._next:
            return
        if self._plain_every is not None:
            self._next = now + self._plain_every
            with suppress(OSError, ValueError):
                self._stream.write(f"{self.line()}\n")
                self._stream.flush()
            return
        self._next = now + AGAIN_AFTER
        self._shown = True
        self._draw(self.line())

    def clear(self) -> None:
        """Erase the bar, so that a line can be printed; `add` draws it again."""
        if self._shown:
            self._draw("")
            self._next = min(self._next, self._clock())

    def line(self) -> str:
        """Return the text of the bar."""
        seconds = max(self.seconds, 1e-9)
        counted = f"{plural(self.count, self._noun)}  {self.count / seconds:,.0f}/s"
        if not self._size:
            return counted
        part = min(self._done / self._size, 1.0)
        full = int(part * BAR)
        left = seconds / part - seconds if part else 0.0
        minutes, rest = divmod(round(left), 60)
        bar = "#" * full + "-" * (BAR - full)
        return f"[{bar}] {part:4.0%}  {counted}  {minutes}:{rest:02} left"

    def _draw(self, text: str) -> None:
        assert self._stream is not None
        _draw(self._stream, text)


@contextmanager
def progress_bar(noun: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a callback that takes the number done and the total; a terminal shows a bar."""
    with ExitStack() as opened:
        shown: list[Progress] = []

        def progress(done: int, count: int) -> None:
            """Update the bar; it is created with the first call, which knows the total."""
            if not shown:
                stream = sys.stderr if is_terminal(sys.stderr) else None
                shown.append(opened.enter_context(Progress(stream, count, noun)))
            more = done - shown[0].count
            shown[0].add(more, more)

        yield progress


class StatusLine:
    """Shows the current step; a context manager that erases its line at the end."""

    __slots__ = ("_shown", "_stream")

    def __init__(self, stream: TextIO | None) -> None:
        """*stream* is None for silence."""
        self._stream = stream
        self._shown = False

    def __enter__(self) -> StatusLine:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def show(self, words: str) -> None:
        """Show a step."""
        if self._stream is not None:
            self._shown = True
            _draw(self._stream, words)

    def clear(self) -> None:
        """Erase the line, so that another can be printed."""
        if self._shown and self._stream is not None:
            self._shown = False
            _draw(self._stream, "")


def _draw(stream: TextIO, text: str) -> None:
    with suppress(OSError, ValueError):
        width = os.get_terminal_size(stream.fileno()).columns or 80
        # Carriage return, text, erase to the end of the line.
        stream.write(f"\r{truncate(text, width - 1)}\x1b[K")
        stream.flush()
