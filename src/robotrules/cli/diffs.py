"""
Diffs: what would change in a file, as lines for a person and for `patch`.

What a file holds comes from strangers, so nothing but visible characters is left of it. On a
terminal what goes is red and what comes is green. It does not know why a file should change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from robotrules.cli.line_matching import BoundedMatcher
from robotrules.cli.text import Paint
from robotrules.octets import visible

# RFC 9309 §2.2 knows no other.
_LINE_END = re.compile(r"\r\n?|\n")
NO_LINE_END = "\\ No newline at end of file"
# By the first character of a line; the names of both files stand on two lines before all others.
_STYLES = {"-": "disallowed", "+": "allowed", "@": "start", "\\": "faint"}
_NAMES = 2


def diff_lines(old: bytes, new: bytes, name: str, became: str) -> Iterator[str]:
    """Yield a unified diff of two files, each with what it is called."""
    for line in unified(_lines(old), _lines(new), name, became):
        yield from map(visible, line.split("\n"))


def unified(old: Sequence[str], new: Sequence[str], name: str, became: str) -> Iterator[str]:
    """
    Yield a unified diff with three lines of context, as `difflib.unified_diff` does.

    The work is bounded (see `line_matching`): a diff of large files may be longer than it must be.
    """
    matcher = BoundedMatcher(old, new)
    for number, codes in enumerate(matcher.get_grouped_opcodes()):
        if not number:
            yield from (f"--- {name}", f"+++ {became}")
        first, last = codes[0], codes[-1]
        yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"
        for tag, start, end, start_new, end_new in codes:
            if tag == "equal":
                yield from (f" {line}" for line in old[start:end])
                continue
            yield from (f"-{line}" for line in old[start:end])
            yield from (f"+{line}" for line in new[start_new:end_new])


def painted(lines: Iterable[str], paint: Paint) -> list[str]:
    """Return the lines of one diff in colour, where there is colour."""
    found = []
    for at, line in enumerate(lines):
        style = "heading" if at < _NAMES else _STYLES.get(line[:1])
        found.append(paint(style, line) if style else line)
    return found


def _range(start: int, end: int) -> str:
    """Return the lines of a hunk; an empty range starts at the line before it."""
    count = end - start
    if count == 1:
        return f"{start + 1}"
    return f"{start + 1 if count else start},{count}"


def _lines(octets: bytes) -> list[str]:
    lines = _LINE_END.split(octets.decode("utf-8", "backslashreplace"))
    if lines[-1]:
        lines[-1] += "\n" + NO_LINE_END
        return lines
    return lines[:-1]  # what follows the last line end is no line
