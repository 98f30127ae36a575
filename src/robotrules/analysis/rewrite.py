"""
Rewrite: a file as lines that can be taken out or moved, and nothing else done to them.

What stays, stays octet for octet: spelling, comments, line ends, byte order mark. A comment that
stands right above lines belongs to them, and goes when the last of them does; a record that was
commented out belongs to nobody. Where something went, blank lines do not pile up. It does not know
what lines mean, nor whether they may go: `simplify` does.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from robotrules.profile import Role
from robotrules.robotstxt import RobotsTxt

BLANK, COMMENT, CONTENT = range(3)
# Somebody may want it back.
_COMMENTED_OUT = re.compile(
    rb"[#\s]*(?:user-?agent|(?:dis)?allow|sitemap|crawl-delay|host|noindex|clean-param)\s*:",
    re.IGNORECASE,
)


class Draft:
    """
    The lines of a file that are left, in their order. A line is known by its number in the file.

    Taking a line out or moving it costs the same in a small file and in a large one.
    """

    def __init__(self, robots: RobotsTxt) -> None:
        """*robots* is whole: what was cut off would come into reach."""
        body, lines = robots.body, robots.lines
        self._mark = body[: lines[0].start] if lines else body
        ends = [*(line.start for line in lines[1:]), len(body)]
        # Line 0 stands before the first and behind the last.
        self._octets = [b"", *(body[li.start : end] for li, end in zip(lines, ends, strict=False))]
        self._kinds = [CONTENT, *map(_kind_of, self._octets[1:])]
        self._starts = {record.line for record in robots.records if record.role is Role.START}
        count = len(self._octets)
        self._next = [(at + 1) % count for at in range(count)]
        self._before = [(at - 1) % count for at in range(count)]
        # Something was taken out right before this line.
        self._gap = [False] * count
        crlf = sum(octets.endswith(b"\r\n") for octets in self._octets)
        self._line_end = b"\r\n" if 2 * crlf > count else b"\n"

    def take_out(self, lines: Iterable[int]) -> None:
        """Take lines out, and the comments of which nothing is left below them."""
        for line in lines:
            self._unlink(line)
            before, after = self._before[line], self._next[line]
            if self._kinds[before] == COMMENT and (not after or self._kinds[after] != CONTENT):
                for comment in self._comments_up_from(before):
                    self._unlink(comment)

    def move(self, lines: Iterable[int], after: int) -> None:
        """Move lines, so that they stand behind another in this order."""
        for line in lines:
            self._unlink(line)
            follows = self._next[after]
            self._before[line], self._next[line] = after, follows
            self._next[after] = self._before[follows] = line
            self._gap[line] = False
            after = line

    def comments_above(self, line: int) -> list[int]:
        """Return the comments that stand right above a line."""
        return self._comments_up_from(self._before[line])[::-1]

    def render(self) -> tuple[bytes, list[int]]:
        """Return the octets, and for each line that is left its number in the file."""
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
        return self._joined(left)

    def _needs_no_blank_after(self, left: list[int]) -> bool:
        """Tell whether a blank line is one too many: some take it for the end of a group."""
        return not left or self._kinds[left[-1]] == BLANK or left[-1] in self._starts

    def _joined(self, left: list[int]) -> tuple[bytes, list[int]]:
        pieces: list[bytes] = []
        numbers: list[int] = []
        for line in left:
            octets = self._octets[line]
            if pieces and pieces[-1].endswith(b"\r") and octets.startswith(b"\n"):
                continue  # CR and LF would become the end of one line, and not of two
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
    """Lines that are taken out, after others were moved behind some line."""

    __slots__ = ("after", "moved", "taken")

    def __init__(self, taken: Collection[int], moved: Collection[int] = (), after: int = 0) -> None:
        self.taken, self.moved, self.after = tuple(taken), tuple(moved), after

    @property
    def lines(self) -> frozenset[int]:
        """All lines that do not stay where they are."""
        return frozenset((*self.taken, *self.moved))

    def renumbered(self, numbers: Sequence[int]) -> LineEdit:
        """Return it with other numbers for lines; *numbers* has that of line 1 first."""
        taken, moved = ([numbers[line - 1] for line in of] for of in (self.taken, self.moved))
        return LineEdit(taken, moved, numbers[self.after - 1] if self.after else 0)

    def apply(self, draft: Draft) -> None:
        """Do it."""
        draft.move(self.moved, self.after)
        draft.take_out(self.taken)


def rewritten(robots: RobotsTxt, edits: Iterable[LineEdit]) -> tuple[bytes, list[int]]:
    """Return a file after some edits, and for each line that is left its number in the file."""
    draft = Draft(robots)
    for edit in edits:
        edit.apply(draft)
    return draft.render()
