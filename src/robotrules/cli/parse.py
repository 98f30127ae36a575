"""
`robotrules parse`: how a robots.txt is parsed, line by line, as text or JSON.

A wrapper around `robotrules.parse`: lines and how each was read, groups, records, and notes on what
was tolerated or ignored. Every file can be parsed, so the exit code does not depend on its content.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

import click

from robotrules import Group, Line, Note, Record, RobotsTxt, Role
from robotrules.cli.console import STDIN, Output
from robotrules.cli.input_files import read_robots
from robotrules.cli.options import Command, json_option, profile_option
from robotrules.cli.text import Excerpt, format_range, listed, plural, truncate
from robotrules.json_results.parse import SECTIONS, encoding_values, parse_values
from robotrules.octets import visible

# Lines already show records; --records adds their positions.
FOR_PEOPLE = ("lines", "groups", "notes")
MOST_NAMES = 6
# Notes per code without --notes: a file may have one for each line.
MOST_NOTES = 1_000
# On a terminal a longer line is cut; a pipe gets all of it.
LONGEST_LINE = 1000
# Lines per write, for speed.
LINES_AT_ONCE = 1_000
# A line is marked with its worst note.
LEVELS = ("error", "warning", "info")
MARKS = {"error": "E", "warning": "W", "info": "I", "": " "}


def _section_option(name: str, words: str) -> Callable[[Command], Command]:
    return click.option(f"--{name}", is_flag=True, help=words)


@click.command()
@click.argument("file", metavar="FILE")
@_section_option("lines", "Show the lines and how each was read.")
@_section_option("groups", "Show the groups.")
@_section_option("records", "Show the records with their positions.")
@_section_option("notes", "Show notes on what was tolerated or ignored.")
@profile_option
@json_option("Print one JSON object: the encoding and the sections.")
def parse(file: str, profile: str, as_json: bool, **sections: bool) -> int:
    """
    Show how a robots.txt is parsed. '-' is stdin.

    By default text output has lines, groups and notes (the first 1,000 of each kind; --notes shows
    all), and JSON has everything. Lines and columns start at 1; columns count bytes; start and end
    are byte offsets in the file. The exit code is 0 for any file, and 2 for a usage or I/O error.

    \b
    Examples:
      robotrules parse robots.txt
      robotrules parse robots.txt --notes --profile strict
      curl -s https://example.com/robots.txt | robotrules parse - --json
    """
    robots, octets = read_robots(file, profile)
    chosen = [name for name in SECTIONS if sections[name]]
    output = Output()
    if as_json:
        name = None if file == STDIN else visible(os.fsencode(file))
        output.json(parse_values(robots, octets, chosen or SECTIONS, name))
    else:
        page = _Page(robots, output, MOST_NOTES if not chosen else sys.maxsize)
        blocks = [page.head(file, octets)] if not chosen else []
        blocks += [getattr(page, name)() for name in chosen or FOR_PEOPLE]
        for number, lines in enumerate(blocks):
            if number:
                output.lines([""])
            while some := list(islice(lines, LINES_AT_ONCE)):
                output.lines(some)
    output.flush()
    return 0


class _Page:
    """A parsed file as lines of text, a method for each section."""

    def __init__(self, robots: RobotsTxt, output: Output, most_notes: int) -> None:
        self._robots = robots
        self._most_notes = most_notes
        self._paint = output.paint
        self._room = max(output.width - 10, 40)
        self._cut = LONGEST_LINE if output.terminal else sys.maxsize
        self._lines = robots.lines
        self._records = {record.line: record for record in robots.records}
        self._groups = robots.groups
        self._notes = robots.notes

    def head(self, file: str, octets: bytes) -> Iterator[str]:
        """Yield the summary of the file."""
        facts = encoding_values(self._robots, octets)
        name = "stdin" if file == STDIN else visible(os.fsencode(file))
        counts = [
            plural(len(octets), "byte"),
            plural(len(self._lines), "line"),
            plural(len(self._records), "record"),
            plural(len(self._groups), "group"),
            plural(len(self._notes), "note"),
        ]
        yield f"{self._paint('heading', name)}: {', '.join(counts)}"
        encoding = facts["name"].upper() if facts["name"] else "not valid UTF-8"
        mark = ", byte order mark" if facts["byte_order_mark"] else ""
        ends = " and ".join(end.upper() for end, count in facts["line_ends"].items() if count)
        ends = f", lines end with {ends}" if ends else ""
        yield f"{encoding}{mark}{ends}, profile {self._robots.profile.name}"

    def lines(self) -> Iterator[str]:
        """Yield each line with its group and how it was read."""
        marks: dict[int, str] = {}
        for note in sorted(self._notes, key=lambda note: LEVELS.index(note.level)):
            marks.setdefault(note.line or 0, note.level)
        yield self._paint("heading", "  line  group  read as       text")
        for line in self._lines:
            level = marks.get(line.number, "")
            mark = self._paint(level, MARKS[level]) if level else " "
            if not line.text:  # half a million lines, at most
                yield f"{mark} {line.number:4}"
                continue
            record = self._records.get(line.number)
            group = "" if record is None or record.group is None else str(record.group)
            read_as, style = self._read_as(record, line)
            yield (
                f"{mark} {line.number:4}  {group:>5}"
                f"  {self._paint(style, read_as)}{' ' * (14 - len(read_as))}{self._text(line)}"
            ).rstrip()
        if not self._lines:
            yield "  none"

    def _read_as(self, record: Record | None, line: Line) -> tuple[str, str]:
        """Return how a line was read, and its style."""
        if record is not None:
            key = truncate(visible(record.key), 12)
            if record.is_rule:
                return key, "allowed" if record.key == "allow" else "disallowed"
            return key, "start" if record.role is Role.START else "other"
        if not line.text.strip():
            return "", "faint"
        start = len(line.text) if line.comment is None else line.comment - line.start
        return ("-" if line.text[:start].strip() else "comment"), "faint"

    def _text(self, line: Line) -> str:
        if line.comment is None:
            return truncate(visible(line.text), self._cut)
        split = line.comment - line.start
        before = truncate(visible(line.text[:split]), self._cut)
        return before + self._paint("faint", truncate(visible(line.text[split:]), self._cut))

    def groups(self) -> Iterator[str]:
        """Yield each group: its lines, crawlers and number of rules."""
        yield self._paint("heading", " group  lines        rules  user-agent lines")
        yield from map(self._group, self._groups)
        if not self._groups:
            yield "  none"
        for record, groups in self._robots.group_structures:
            yield ""
            words = f"{record} uses other groups, as its specification defines them:"
            yield self._paint("heading", words)
            yield from map(self._group, groups)

    def _group(self, group: Group) -> str:
        named = [visible(name) for name in group.user_agents]
        named += [f"purpose {visible(purpose)}" for purpose in group.purposes]
        names = self._paint("start", listed(named, MOST_NAMES))
        lines = f"{group.lines[0]}-{group.lines[1]}"
        return f"{group.index:6}  {lines:11}  {len(group.rules):5}  {names}"

    def records(self) -> Iterator[str]:
        """Yield each record with its role and the position of its value."""
        yield self._paint("heading", "  line  columns    start:end      group  role   record")
        for record in self._records.values():
            columns = f"{record.column}-{max(record.column + record.end - record.start - 1, 1)}"
            span = f"{record.start}:{record.end}"
            group = "" if record.group is None else str(record.group)
            text = truncate(f"{visible(record.key)}: {visible(record.value)}", self._cut)
            yield (
                f"{record.line:6}  {columns:9}  {span:13}  {group:>5}  {record.role.value:5}  "
                f"{text}"
            ).rstrip()
        if not self._records:
            yield "  none"

    def notes(self) -> Iterator[str]:
        """Yield each note with an excerpt of the file."""
        yield self._paint("heading", "notes")
        lines = {line.number: line for line in self._lines}
        seen: Counter[str] = Counter()
        for note in self._notes:
            seen[note.code] += 1
            if seen[note.code] <= self._most_notes:
                yield from self._note(note, lines)
        for code, count in seen.items():
            if count > self._most_notes:
                yield f"  and {count - self._most_notes:,} more {code} (--notes)"
        if not self._notes:
            yield "  none"

    def _note(self, note: Note, lines: dict[int, Line]) -> Iterator[str]:
        words = f"{self._paint(note.level, note.level)} {note.code}: {note.message}"
        line = lines.get(note.line or 0)
        if line is None:
            span = f", {format_range(note.start, note.end - 1, 'byte')}" if note.end else ""
            yield f"  file{span}: {words}"
            return
        start, end = note.start - line.start, min(note.end, line.end) - line.start
        yield f"  line {note.line}, {format_range(start + 1, end, 'column')}: {words}"
        excerpt = Excerpt(line.text, start, end, self._room)
        yield from excerpt.lines(f"{line.number:6}", "", self._paint, note.level)
