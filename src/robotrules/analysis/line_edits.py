"""
Line edits: remove or move lines of a file without changing the other lines.

All other lines keep their octets: spelling, comments, line ends, byte order mark. Comments directly
above lines belong to these lines, and are removed with the last of them; a record that is commented
out does not belong to other lines. Removals do not leave runs of blank lines. The module does not
know which lines can be removed: `simplify` does.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from robotrules.profile import Role
from robotrules.robotstxt import RobotsTxt

BLANK, COMMENT, CONTENT = range(3)
# A commented-out record is kept: the site owner may want to restore it.
_COMMENTED_OUT = re.compile(
    rb"[#\s]*(?:user-?agent|(?:dis)?allow|sitemap|crawl-delay|host|noindex|clean-param)\s*:",
    re.IGNORECASE,
)


class Draft:
    """
    The remaining lines of a file, in order. A line is identified by its number in the file.

    Removing or moving a line takes constant time.
    """

    def __init__(self, robots: RobotsTxt) -> None:
        """*robots* must be complete: with fewer lines, truncated content would be read."""
        body, lines = robots.body, robots.lines
        self._mark = body[: lines[0].start] if lines else body
        ends = [*(line.start for line in lines[1:]), len(body)]
        # Line 0 is the sentinel of the circular list.
        self._octets = [b"", *(body[li.start : end] for li, end in zip(lines, ends, strict=False))]
        self._kinds = [CONTENT, *map(_kind_of, self._octets[1:])]
        self._starts = {record.line for record in robots.records if record.role is Role.START}
        count = len(self._octets)
        self._next = [(at + 1) % count for at in range(count)]
        self._before = [(at - 1) % count for at in range(count)]
        # Whether a line was removed directly before this one.
        self._gap = [False] * count
        crlf = sum(octets.endswith(b"\r\n") for octets in self._octets)
        self._line_end = b"\r\n" if 2 * crlf > count else b"\n"

    def remove(self, lines: Iterable[int]) -> None:
        """Remove lines, and comments that no longer have lines below them."""
        for line in lines:
            self._unlink(line)
            before, after = self._before[line], self._next[line]
            if self._kinds[before] == COMMENT and (not after or self._kinds[after] != CONTENT):
                for comment in self._comments_up_from(before):
                    self._unlink(comment)

    def move(self, lines: Iterable[int], after: int) -> None:
        """Move lines after another line, in the given order."""
        for line in lines:
            self._unlink(line)
            follows = self._next[after]
            self._before[line], self._next[line] = after, follows
            self._next[after] = self._before[follows] = line
            self._gap[line] = False
            after = line

    def comments_above(self, line: int) -> list[int]:
        """Return the comments directly above a line."""
        return self._comments_up_from(self._before[line])[::-1]

    def render(self) -> tuple[bytes, list[int]]:
        """Return the octets, and the original number of each remaining line."""
        left: list[int] = []
        gap = False
        line = self._next[0]
        while line:
            gap = gap or self._gap[line]
            blank = self._kinds[line] == BLANK
            if not (blank and gap and self._needs_no_blank_after(left)):
                left.append(line)
                gap = False
            line = self._next[line]
        if gap or self._gap[0]:
            while left and self._kinds[left[-1]] == BLANK:
                left.pop()
        return self._join(left)

    def _needs_no_blank_after(self, left: list[int]) -> bool:
        """Return whether to omit a blank line: some parsers end a group at a blank line."""
        return not left or self._kinds[left[-1]] == BLANK or left[-1] in self._starts

    def _join(self, left: list[int]) -> tuple[bytes, list[int]]:
        pieces: list[bytes] = []
        numbers: list[int] = []
        for line in left:
            octets = self._octets[line]
            if pieces and pieces[-1].endswith(b"\r") and octets.startswith(b"\n"):
                continue  # CR and LF would become one line end
            if pieces and not pieces[-1].endswith((b"\r", b"\n")):
                pieces[-1] += self._line_end
            pieces.append(octets)
            numbers.append(line)
        return self._mark + b"".join(pieces), numbers

    def _unlink(self, line: int) -> None:
        before, after = self._before[line], self._next[line]
        self._next[before], self._before[after] = after, before
        self._gap[after] = True

    def _comments_up_from(self, line: int) -> list[int]:
        found = []
        while line and self._kinds[line] == COMMENT:
            found.append(line)
            line = self._before[line]
        return found


def _kind_of(octets: bytes) -> int:
    text = octets.strip()
    if not text:
        return BLANK
    return COMMENT if text.startswith(b"#") and not _COMMENTED_OUT.match(text) else CONTENT


class LineEdit:
    """Lines to remove, and lines to move after another line."""

    __slots__ = ("after", "moved", "removed")

    def __init__(
        self, removed: Collection[int], moved: Collection[int] = (), after: int = 0
    ) -> None:
        self.removed, self.moved, self.after = tuple(removed), tuple(moved), after

    @property
    def lines(self) -> frozenset[int]:
        """All lines that are removed or moved."""
        return frozenset((*self.removed, *self.moved))

    def renumbered(self, numbers: Sequence[int]) -> LineEdit:
        """Return the edit with other line numbers; *numbers* starts with that of line 1."""
        removed, moved = ([numbers[n - 1] for n in lines] for lines in (self.removed, self.moved))
        return LineEdit(removed, moved, numbers[self.after - 1] if self.after else 0)

    def apply(self, draft: Draft) -> None:
        """Apply the edit to a draft."""
        draft.move(self.moved, self.after)
        draft.remove(self.removed)


def apply_edits(robots: RobotsTxt, edits: Iterable[LineEdit]) -> tuple[bytes, list[int]]:
    """Return a file after edits, and the original number of each remaining line."""
    draft = Draft(robots)
    for edit in edits:
        edit.apply(draft)
    return draft.render()
