"""
A diff of two robots.txt files as Markdown for a comment on a pull request.

A headline, a table for each section, and long parts in collapsed details. The content of files is
in code spans that it cannot close, so it cannot contain Markdown, HTML, mentions or links. The
result stays below the comment size limits of the common forges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from robotrules.analysis import RecordDifference, RecordText
from robotrules.cli.diff_text import (
    describe_groups,
    describe_known_crawlers,
    describe_other_profiles,
    headline,
)
from robotrules.cli.impact import impact_markdown
from robotrules.cli.markdown import code
from robotrules.cli.text import plural
from robotrules.json_results.crawler_names import format_names
from robotrules.json_results.diff_sections import MAX_REGIONS, DiffReport, DiffSection, RegionChange
from robotrules.json_results.diff_sentences import (
    describe_record_change,
    describe_rule,
    describe_urls,
)

MOST_NAMES = 8
MOST_STATED = 10
# Regions of a section in collapsed details; further ones are counted.
MOST_FOLDED = 20
# Some forges limit a comment to 65,536 characters; leave room for a sentence.
MOST_CHARACTERS = 60_000

ICONS = {"Same meaning": "✅", "Different": "⚠️", "Not decided": "❔"}
HEAD = ("| URLs | verdict | such as | before | now |", "|---|---|---|---|---|")


class DiffComment:
    """A comparison as Markdown."""

    def __init__(
        self, parts: DiffReport, most: int, names: Sequence[str], room: int = MOST_CHARACTERS
    ) -> None:
        """*most* regions are shown per section; *names* are those of the files."""
        self._most_characters = room
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
        if words := describe_other_profiles(parts):
            yield f"{words}"
        # The last part is short and always included.
        last = [*self._unchanged()]
        if words := describe_known_crawlers(parts):
            last += ["", words.replace("'*'", "`*`").replace("--literal", "`--literal`")]
        room = self._most_characters - sum(map(len, last))
        pieces: list[tuple[str, Iterable[str]]] = [
            (format_names(part.crawlers, code, MOST_NAMES), self._part(part))
            for part in parts.changed
        ]
        if parts.statements:
            pieces.append(("other records", self._other_records()))
        if parts.impact:
            pieces.append(
                ("real URLs", ["", "#### On real URLs", "", *impact_markdown(parts.impact)])
            )
        yield from _fitting(pieces, room)
        yield from last

    def _part(self, part: DiffSection) -> Iterator[str]:
        yield ""
        yield f"#### {format_names(part.crawlers, code, MOST_NAMES, self._parts.alone)}"
        yield ""
        if groups := describe_groups(part):
            # A bare star would start an emphasis.
            yield f"{groups[0].upper()}{groups[1:]}.".replace("*", "`*`")
            yield ""
        yield from HEAD
        yield from map(_line, part.region_changes(self._most))
        rest = len(part.gathered) - self._most
        if rest > 0:
            folded = min(rest, MOST_FOLDED)
            yield ""
            yield f"<details><summary>{plural(folded, 'region')} more</summary>"
            yield ""
            yield from HEAD
            yield from map(_line, part.region_changes(folded, self._most))
            yield ""
            yield "</details>"
            if rest > folded:
                yield ""
                yield f"And {plural(rest - folded, 'region')} more."
        if not part.complete:
            many = f"the search stops after {MAX_REGIONS:,} regions"
            why = self._describe_limit() if part.regions < MAX_REGIONS else many
            yield ""
            yield f"There may be more: {why}."

    def _other_records(self) -> Iterator[str]:
        yield ""
        yield "#### Other records"
        for statements in self._parts.statements:
            yield ""
            yield from self._statements(statements)

    def _statements(self, statements: RecordDifference) -> Iterator[str]:
        whom = format_names(statements.crawlers, code, MOST_NAMES, self._parts.alone)
        words = describe_record_change(statements, whom, code)
        yield f"{words}:"
        yield ""
        yield from _stated("removed", statements.record, statements.removed)
        yield from _stated("added", statements.record, statements.added)

    def _unchanged(self) -> Iterator[str]:
        parts = self._parts
        if parts.unchanged and (parts.changed or parts.undecided):
            same = "Verdicts proved unchanged" if parts.statements else "Proved unchanged"
            yield ""
            yield f"{same}: {format_names(parts.unchanged, code, MOST_NAMES)}."
        if parts.undecided:
            names = format_names(parts.unknown, code, MOST_NAMES, parts.alone)
            yield ""
            yield f"N{self._describe_limit()[1:]}: {names}."
        if not parts.complete:
            yield ""
            yield ("Not all crawlers were compared: the files name too many crawlers or purposes.")

    def _describe_limit(self) -> str:
        return f"not decided within {self._parts.max_states:,} states"


def _fitting(pieces: Sequence[tuple[str, Iterable[str]]], room: int) -> Iterator[str]:
    """Yield the lines of pieces while whole ones fit, and name the others."""
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
            f"This comment is too short for all changes. More changes, for "
            f"{'; '.join(left_out[:3])}{rest}: run `robotrules diff`."
        )


def _line(region_change: RegionChange) -> str:
    """Return a line of a table."""
    old, new = (
        "allowed" if one.allowed else "disallowed" for one in (region_change.old, region_change.new)
    )
    before, now = (describe_rule(one, code) for one in (region_change.old, region_change.new))
    such_as = code(region_change.witness)
    urls = describe_urls(region_change, code)
    return f"| {urls} | {old} → **{new}** | {such_as} | {before} | {now} |"


def _stated(word: str, record: str, found: Sequence[RecordText]) -> Iterator[str]:
    for one in found[:MOST_STATED]:
        yield f"- {word} line {one.line}: {code(f'{record}: {one.text}')}"
    if len(found) > MOST_STATED:
        yield f"- {word} {plural(len(found) - MOST_STATED, 'line')} more"
