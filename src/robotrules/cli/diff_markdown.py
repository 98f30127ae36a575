"""
What changes from one robots.txt to another, as Markdown for a comment on a pull request.

A headline, a table for each kind of crawlers, and what is long folded away. What a stranger wrote
stands in code spans that it cannot end: it is no Markdown and no HTML, names nobody and links
nowhere. All of it stays below what the common forges take for a comment. It does not compare
anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from robotrules.analysis import RecordDifference, RecordText
from robotrules.cli.diff_parts import MAX_REGIONS, DiffSection, Happens, Parts
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
from robotrules.cli.text import plural, shortened
from robotrules.octets import visible

# What is read of a long text; JSON has all of it.
LONGEST = 120
MOST_NAMES = 8
MOST_STATED = 10
# Regions of one kind of crawlers that are folded away; more are counted.
MOST_FOLDED = 20
# Some forges take 65,536 characters for a comment, and somebody may want to add a sentence.
MOST_CHARACTERS = 60_000

_PLAIN = re.compile(r"[^`|\s](?:[^`|]*[^`|\s])?")
_WORD = re.compile(r"[A-Za-z0-9 ]")
ICONS = {"Same meaning": "✅", "Different": "⚠️", "Not decided": "❔"}
HEAD = ("| URLs | verdict | such as | before | now |", "|---|---|---|---|---|")


class DiffComment:
    """A comparison as Markdown."""

    def __init__(self, parts: Parts, most: int, names: Sequence[str]) -> None:
        """*most* regions are shown for each kind of crawlers; *names* are those of the files."""
        self._parts = parts
        self._most = most
        self._names = names

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        parts = self._parts
        word, rest = headline(parts, code)
        old, new = map(code, self._names)
        yield f"### {ICONS[word]} robots.txt: {word.lower()}"
        yield ""
        yield f"{rest[0].upper()}{rest[1:]} Compared: {old} → {new}."
        if words := elsewhere_words(parts):
            yield f"{words}"
        # What comes last is short, and is never left out.
        last = [*self._unchanged()]
        if words := known_words(parts):
            last += ["", words.replace("'*'", "`*`").replace("--literal", "`--literal`")]
        room = MOST_CHARACTERS - sum(map(len, last))
        pieces: list[tuple[str, Iterable[str]]] = [
            (names_of(part.crawlers, code, MOST_NAMES), self._part(part)) for part in parts.changed
        ]
        if parts.statements:
            pieces.append(("other records", self._other_records()))
        if parts.reach:
            from robotrules.cli.impact_text import reach_markdown  # which needs `code`

            pieces.append(
                ("real URLs", ["", "#### On real URLs", "", *reach_markdown(parts.reach)])
            )
        yield from _fitting(pieces, room)
        yield from last

    def _part(self, part: DiffSection) -> Iterator[str]:
        yield ""
        yield f"#### {names_of(part.crawlers, code, MOST_NAMES, self._parts.alone)}"
        yield ""
        if groups := groups_words(part):
            # The star of `*` would begin an emphasis.
            yield f"{groups[0].upper()}{groups[1:]}.".replace("*", "`*`")
            yield ""
        yield from HEAD
        yield from map(_line, part.happens(self._most))
        rest = len(part.gathered) - self._most
        if rest > 0:
            folded = min(rest, MOST_FOLDED)
            yield ""
            yield f"<details><summary>{plural(folded, 'region')} more</summary>"
            yield ""
            yield from HEAD
            yield from map(_line, part.happens(folded, self._most))
            yield ""
            yield "</details>"
            if rest > folded:
                yield ""
                yield f"And {plural(rest - folded, 'region')} more."
        if not part.complete:
            many = f"more than {MAX_REGIONS:,} regions are not looked for"
            why = self._budget_words() if part.regions < MAX_REGIONS else many
            yield ""
            yield f"There may be more: {why}."

    def _other_records(self) -> Iterator[str]:
        yield ""
        yield "#### Other records"
        for statements in self._parts.statements:
            yield ""
            yield from self._statements(statements)

    def _statements(self, statements: RecordDifference) -> Iterator[str]:
        whom = names_of(statements.crawlers, code, MOST_NAMES, self._parts.alone)
        words = statements_words(statements, whom, code)
        yield f"{words}:"
        yield ""
        yield from _stated("removed", statements.record, statements.removed)
        yield from _stated("added", statements.record, statements.added)

    def _unchanged(self) -> Iterator[str]:
        parts = self._parts
        if parts.unchanged and (parts.changed or parts.undecided):
            same = "Verdicts proved unchanged" if parts.statements else "Proved unchanged"
            yield ""
            yield f"{same}: {names_of(parts.unchanged, code, MOST_NAMES)}."
        if parts.undecided:
            names = names_of(parts.unknown, code, MOST_NAMES, parts.alone)
            yield ""
            yield f"N{self._budget_words()[1:]}: {names}."
        if not parts.complete:
            yield ""
            yield (
                "Not everybody was compared: the files name more crawlers or purposes than can be."
            )

    def _budget_words(self) -> str:
        return f"not decided within {self._parts.budget:,} states"


def _fitting(pieces: Sequence[tuple[str, Iterable[str]]], room: int) -> Iterator[str]:
    """Yield the lines of pieces as long as there is room for a whole one, and name the others."""
    left_out: list[str] = []
    for name, piece in pieces:
        lines = [] if left_out else [*piece]
        room -= sum(len(line) + 1 for line in lines)
        if room < 0 or left_out:
            left_out.append(name)
        else:
            yield from lines
    if left_out:
        rest = f" and {len(left_out) - 3:,} more" if len(left_out) > 3 else ""
        yield ""
        yield (
            f"A comment has no room for all of it. Something changes for {'; '.join(left_out[:3])}"
            f"{rest} too: `robotrules diff` shows it."
        )


def _line(happens: Happens) -> str:
    """Return a line of a table."""
    old, new = ("allowed" if one.allowed else "disallowed" for one in (happens.old, happens.new))
    before, now = (decided_words(one, code) for one in (happens.old, happens.new))
    such_as = code(happens.witness)
    return f"| {urls_words(happens, code)} | {old} → **{new}** | {such_as} | {before} | {now} |"


def _stated(word: str, record: str, found: Sequence[RecordText]) -> Iterator[str]:
    for one in found[:MOST_STATED]:
        yield f"- {word} line {one.line}: {code(f'{record}: {one.text}')}"
    if len(found) > MOST_STATED:
        yield f"- {word} {plural(len(found) - MOST_STATED, 'line')} more"


def code(text: str) -> str:
    """Return text as a code span, from which nothing gets out."""
    shown = _shown(text)
    return f"`{shown}`" if _PLAIN.fullmatch(shown) else html_code(text)


def html_code(text: str) -> str:
    """
    Return text as a code element, for where a span cannot stand.

    All but letters and digits are references: Markdown and HTML read no structure in them. Readers
    do not agree on any other way to write what would end a span, or a cell of the table around it.
    """
    parts = (c if _WORD.fullmatch(c) else f"&#{ord(c)};" for c in _shown(text))
    return f"<code>{''.join(parts)}</code>"


def _shown(text: str) -> str:
    # Cut first: a pattern can be as long as a file.
    return shortened(visible(text[: LONGEST + 1]), LONGEST)
