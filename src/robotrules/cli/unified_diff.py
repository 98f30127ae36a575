"""
Unified diffs of two versions of a file, for people and for `patch`.

Control characters are escaped. On a terminal removed lines are red and added lines green.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from robotrules.cli.line_matching import BoundedMatcher
from robotrules.cli.text import Paint
from robotrules.octets import visible

# The line ends of RFC 9309 §2.2.
_LINE_END = re.compile(r"\r\n?|\n")
NO_LINE_END = "\\ No newline at end of file"
# By the first character of a line; the first two lines are the names of the files.
_STYLES = {"-": "disallowed", "+": "allowed", "@": "start", "\\": "faint"}
_NAMES = 2


def diff_lines(old: bytes, new: bytes, name: str, became: str) -> Iterator[str]:
    """Yield a unified diff of two files; *name* and *became* are their names."""
    for line in unified_lines(_lines(old), _lines(new), name, became):
        yield from map(visible, line.split("\n"))


def unified_lines(old: Sequence[str], new: Sequence[str], name: str, became: str) -> Iterator[str]:
    """
    Yield a unified diff with three lines of context, as `difflib.unified_diff` does.

    The work is bounded (see `line_matching`): a diff of large files may not be minimal.
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


def colourize(lines: Iterable[str], paint: Paint) -> list[str]:
    """Return the lines of a diff, coloured if colour is on."""
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
    return lines[:-1]  # nothing follows the last line end
