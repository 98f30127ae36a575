"""
What changes from one robots.txt to another, as text on a screen.

The verdict on the whole comes first, then each kind of crawlers with the URLs that change for them,
then those for whom nothing changes, then other records. Lines are wrapped to the terminal; what a
stranger wrote has no control characters left and is cut where it is very long. It does not compare
anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from robotrules.analysis import RecordDifference, RecordText
from robotrules.cli.diff_parts import MAX_REGIONS, Decided, DiffSection, Happens, Parts
from robotrules.cli.diff_words import (
    decided_words,
    elsewhere_words,
    groups_words,
    headline,
    known_words,
    names_of,
    statements_words,
    urls_words,
)
from robotrules.cli.impact_text import reach_lines
from robotrules.cli.streams import Output
from robotrules.cli.text import Paint, cells, plural, shortened
from robotrules.octets import visible

# What a person reads of a long text or list; JSON has all of it.
LONGEST = 200
MOST_PARTS = 12
MOST_NAMES = 8
MOST_RECORDS = 10
MOST_STATED = 10
# A pipe has no width, and what is pasted from one is read in 80 columns.
WIDTH = 80
NARROWEST = 40
# Spaces at which a line may end: `(line 4)` stays together.
_BREAKS = re.compile(r"(?<!\(line)(?<!\(lines) ")
HEADLINES = {"Same meaning": "allowed", "Different": "warning", "Not decided": "warning"}


class DiffPage:
    """A comparison as lines of text."""

    def __init__(self, parts: Parts, most: int, output: Output) -> None:
        """*most* regions are shown for each kind of crawlers."""
        self._parts = parts
        self._most = most
        self._paint: Paint = output.paint
        self._room = max(output.width, NARROWEST) if output.terminal else WIDTH

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        parts = self._parts
        word, rest = headline(parts, _name)
        yield from self._wrapped(f"{word}: {rest}", "", "", HEADLINES[word], len(word))
        if words := elsewhere_words(parts):
            yield from self._wrapped(words, "", "", "warning", len(words))
        for part in parts.changed[:MOST_PARTS]:
            yield ""
            yield from self._part(part)
        yield from self._left_out()
        if parts.statements:
            yield ""
            yield self._paint("heading", "Other records")
            for statements in parts.statements[:MOST_RECORDS]:
                yield from self._statements(statements)
            yield from self._more(len(parts.statements) - MOST_RECORDS, "change", "")
        yield from self._unchanged()
        if words := known_words(parts):
            yield ""
            yield from self._wrapped(words, "", "")
        yield from self._reach()

    def _part(self, part: DiffSection) -> Iterator[str]:
        names = names_of(part.crawlers, _name, MOST_NAMES, self._parts.alone)
        groups = groups_words(part)
        whole = f"{names}: {groups}" if groups else names
        yield from self._wrapped(whole, "", "    ", "heading", len(names))
        for happens in part.happens(self._most):
            yield from self._happens(happens)
        rest = len(part.gathered) - self._most
        if rest > 0:
            yield f"  and {plural(rest, 'region')} more; --most {len(part.gathered)} shows all"
        if not part.complete:
            many = f"more than {MAX_REGIONS:,} regions are not looked for"
            why = self._budget_words() if part.regions < MAX_REGIONS else many
            yield from self._wrapped(f"there may be more: {why}", "  ", "  ")

    def _happens(self, happens: Happens) -> Iterator[str]:
        words = ["allowed" if one.allowed else "disallowed" for one in (happens.old, happens.new)]
        change = f"{words[0]} → {words[1]}  "
        painted = f"{self._paint(words[0], words[0])} → {self._paint(words[1], words[1])}  "
        lines = self._wrapped(change + urls_words(happens, _mark), "  ", "      ")
        yield next(lines).replace(change, painted, 1)
        yield from lines
        yield from self._fact("such as", _mark(happens.witness))
        yield from self._fact("before", _words(happens.old))
        yield from self._fact("now", _words(happens.new))

    def _fact(self, name: str, words: str) -> Iterator[str]:
        lines = self._wrapped(f"{name:7}  {words}", "    ", " " * 13)
        yield next(lines).replace(name, self._paint("faint", name), 1)
        yield from lines

    def _left_out(self) -> Iterator[str]:
        """Yield how much is not shown."""
        rest = self._parts.changed[MOST_PARTS:]
        crawlers = [crawler for part in rest for crawler in part.crawlers]
        if crawlers:
            names = names_of(crawlers, _name, MOST_NAMES)
            yield ""
            yield from self._wrapped(
                f"Something changes for {names} too; --as shows one of them, --json all.", "", ""
            )

    def _statements(self, statements: RecordDifference) -> Iterator[str]:
        whom = names_of(statements.crawlers, _name, MOST_NAMES, self._parts.alone)
        words = statements_words(statements, whom, _mark)
        yield from self._wrapped(words, "  ", "      ")
        yield from self._stated("-", "disallowed", statements.record, statements.removed)
        yield from self._stated("+", "allowed", statements.record, statements.added)

    def _stated(
        self, sign: str, style: str, record: str, found: Sequence[RecordText]
    ) -> Iterator[str]:
        for one in found[:MOST_STATED]:
            words = f"{sign} line {one.line}: {record}: {_mark(one.text)}"
            for line in self._wrapped(words, "    ", "      "):
                yield self._paint(style, line)
        yield from self._more(len(found) - MOST_STATED, "line", "    ")

    def _more(self, rest: int, noun: str, indent: str) -> Iterator[str]:
        if rest > 0:
            yield f"{indent}and {plural(rest, noun)} more, which --json shows"

    def _unchanged(self) -> Iterator[str]:
        """Yield for whom nothing changes, and for whom nobody knows."""
        parts = self._parts
        if parts.unchanged and (parts.changed or parts.undecided):
            yield ""
            names = names_of(parts.unchanged, _name, MOST_NAMES)
            same = "Verdicts proved unchanged" if parts.statements else "Proved unchanged"
            yield from self._wrapped(f"{same}: {names}.", "", "  ")
        if parts.undecided:
            yield ""
            names = names_of(parts.unknown, _name, MOST_NAMES, parts.alone)
            words = f"N{self._budget_words()[1:]}: {names}; --budget N asks on."
            yield from self._wrapped(words, "", "  ")
        if not parts.complete:
            yield ""
            yield from self._wrapped(
                "Not everybody was compared: the files name more crawlers or purposes than can be.",
                "",
                "  ",
            )

    def _reach(self) -> Iterator[str]:
        """Yield what changes on real URLs."""
        if self._parts.reach is not None:
            yield ""
            yield from reach_lines(self._parts.reach, self._paint, self._room)

    def _budget_words(self) -> str:
        return f"not decided within {self._parts.budget:,} states"

    def _wrapped(
        self, words: str, indent: str, hang: str, style: str = "", styled: int = 0
    ) -> Iterator[str]:
        """
        Yield words in lines of the terminal's width.

        The first *styled* characters are painted. A word that is longer than a line stays whole and
        where it is, so that it can be copied.
        """
        line, used, done = indent, cells(indent), 0
        begun = False
        for word in _BREAKS.split(words):
            width = cells(word)
            fits = cells(hang) + width <= self._room
            if begun and fits and used + 1 + width > self._room:
                yield line.rstrip()
                line, used, begun = hang, cells(hang), False
            # What is painted ends with a word, or with a colon after it.
            part = max(min(styled - done, len(word)), 0)
            shown = self._paint(style, word[:part]) + word[part:] if part else word
            line += f" {shown}" if begun else shown
            used += width + begun
            begun, done = True, done + len(word) + 1
        yield line


def _words(decided: Decided) -> str:
    return decided_words(decided, _mark)


def _name(text: str) -> str:
    """Return the name of a crawler or a purpose, in quotes where one would not see its end."""
    shown = _mark(text)
    return f"'{shown}'" if set(shown) & set(" ,'") else shown


def _mark(text: str) -> str:
    # Cut first: a pattern can be as long as a file.
    return shortened(visible(text[: LONGEST + 1]), LONGEST)
