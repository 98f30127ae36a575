"""
Diffs: what would change in a file, as lines for a person and for `patch`.

What a file holds comes from strangers, so nothing but visible characters is left of it. On a
terminal what goes is red and what comes is green. It does not know why a file should change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import unified_diff

from robotrules.cli.text import Paint
from robotrules.robotstxt.values import visible

# RFC 9309 §2.2 knows no other.
_LINE_END = re.compile(r"\r\n?|\n")
NO_LINE_END = "\\ No newline at end of file"
# By the first character of a line; the names of both files stand on two lines before all others.
_STYLES = {"-": "disallowed", "+": "allowed", "@": "start", "\\": "faint"}
_NAMES = 2


def diff_lines(old: bytes, new: bytes, name: str, became: str) -> Iterator[str]:
    """Yield a unified diff of two files, each with what it is called."""
    was, now = map(_lines, (old, new))
    for line in unified_diff(was, now, name, became, lineterm=""):
        yield from map(visible, line.split("\n"))


def painted(lines: Iterable[str], paint: Paint) -> list[str]:
    """Return the lines of one diff in colour, where there is colour."""
    found = []
    for at, line in enumerate(lines):
        style = "heading" if at < _NAMES else _STYLES.get(line[:1])
        found.append(paint(style, line) if style else line)
    return found


def _lines(octets: bytes) -> list[str]:
    lines = _LINE_END.split(octets.decode("utf-8", "backslashreplace"))
    if lines[-1]:
        lines[-1] += "\n" + NO_LINE_END
        return lines
    return lines[:-1]  # what follows the last line end is no line
