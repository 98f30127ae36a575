"""
Text for terminals: colour, width, and excerpts with carets under a span.

The content of a file or URL is untrusted (RFC 9309 §3): `visible` escapes every control character
before it reaches a terminal.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping
from typing import Any, TextIO

import click

from robotrules.octets import visible

# The meaning of colours. Output without colour carries the same information.
STYLES: Mapping[str, Mapping[str, Any]] = {
    "allowed": {"fg": "green"},
    "disallowed": {"fg": "red"},
    "start": {"fg": "cyan"},
    "other": {"fg": "blue"},
    "error": {"fg": "red"},
    "warning": {"fg": "yellow"},
    "info": {"fg": "blue"},
    "faint": {"dim": True},
    "heading": {"bold": True},
}
CUT = "…"


def cell_width(text: str) -> int:
    """Return the number of terminal columns that a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def truncate(text: str, room: int) -> str:
    """Return the text, cut after *room* characters."""
    return text if len(text) <= room else text[: max(room - 1, 0)] + CUT


def plural(count: int, noun: str) -> str:
    """Return `1 rule`, `2,000 rules`."""
    if count == 1:
        return f"{count:,} {noun}"
    return f"{count:,} {noun}{'es' if noun.endswith('ch') else 's'}"


def listed(items: list[str], most: int) -> str:
    """Return the first *most* items, separated by commas, and how many more there are."""
    rest = len(items) - most
    return ", ".join(items[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def format_share(part: int, whole: int) -> str:
    """Return a percentage; a small share is never shown as 0 %, a large one never as 100 %."""
    if not part:
        return ""
    tenths = round(1000 * part / whole)
    if not tenths:
        return "<0.1%"
    if part < whole and tenths == 1000:
        return ">99.9%"
    return f"{tenths / 10:.1f}%" if tenths % 1000 else f"{tenths // 10}%"


def format_range(first: int, last: int, noun: str) -> str:
    """Return `line 3`, or `lines 3-5`."""
    return f"{noun} {first}" if last <= first else f"{noun}s {first}-{last}"


def use_colour(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Tell whether to use colour: by NO_COLOR, then FORCE_COLOR, then the terminal."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "") not in ("", "0"):
        return True
    return is_terminal(stream) and environment.get("TERM") != "dumb"


def is_terminal(stream: TextIO | None) -> bool:
    """Tell whether a stream is a terminal; a closed one is not."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


class Paint:
    """Colours text if colour is on."""

    __slots__ = ("on",)

    def __init__(self, on: bool) -> None:
        self.on = on

    def __call__(self, style: str, text: str) -> str:
        if not self.on or not text:
            return text
        return click.style(text, **STYLES[style])


class Excerpt:
    """A line of a file, with a line of carets under a part of it."""

    __slots__ = ("_after", "_before", "_marked", "_room")

    def __init__(self, line: bytes, start: int, end: int, room: int) -> None:
        """*start* and *end* are byte offsets in the line; the excerpt has *room* characters."""
        start = min(max(start, 0), len(line))
        before, marked = (
            visible(line[:start]),
            visible(line[start : max(start, end)]),
        )
        after = visible(line[max(start, end) :])
        if len(before) > room // 2:
            before = CUT + before[1 - room // 2 :]
        self._before = before
        self._room = room
        self._marked = truncate(marked, room - len(before))
        self._after = truncate(after, room - len(before) - len(self._marked))

    def lines(self, gutter: str, words: str, paint: Paint, style: str) -> list[str]:
        """Return the lines: *gutter* precedes the first, *words* follow the carets."""
        carets = "^" * max(cell_width(self._marked), 1)
        margin, bar = " " * len(gutter), paint("faint", "|")
        indent = " " * cell_width(self._before)
        shown = f"{self._before}{paint(style, self._marked)}{self._after}"
        lines = [f"{paint('faint', gutter)} {bar} {shown}"]
        if not words:
            lines.append(f"{margin} {bar} {indent}{paint(style, carets)}")
        elif len(indent) + len(carets) + len(words) + 2 <= self._room:
            lines.append(f"{margin} {bar} {indent}{paint(style, carets)}  {words}")
        else:
            lines.append(f"{margin} {bar} {indent}{paint(style, carets)}")
            lines.append(f"{margin} {bar} {words}")
        return [line.rstrip() for line in lines]
