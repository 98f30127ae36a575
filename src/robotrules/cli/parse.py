"""
`robotrules parse`: what a robots.txt says, line by line, for a person or as JSON.

A few lines over `robotrules.parse`: lines with what each was read as, groups, records, and notes on
what was tolerated or could not be used. Every file can be read, so the exit code says nothing of
its content. It does not lint.
"""

from __future__ import annotations

import codecs
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import click

from robotrules import Group, Line, Note, Record, RobotsTxt, Role
from robotrules.cli.options import Command, json_option, profile_option
from robotrules.cli.streams import STDIN, Output, read_robots
from robotrules.cli.text import Excerpt, between, listed, plural, shortened
from robotrules.octets import visible

SECTIONS = ("lines", "groups", "records", "notes")
# Records stand in the lines already; who wants their spans asks for them.
FOR_PEOPLE = ("lines", "groups", "notes")
# Raised when a key of the JSON changes meaning or goes away.
SCHEMA_VERSION = 1
MOST_NAMES = 6
# Notes of one code that people see who did not ask for notes: a file may have one for each line.
MOST_NOTES = 1_000
# On a terminal a line longer than this is cut; a pipe gets all of it.
LONGEST_LINE = 1000
# A write for each line would cost more than making the line.
LINES_AT_ONCE = 1_000
# Which of a line's notes its mark stands for.
LEVELS = ("error", "warning", "info")
MARKS = {"error": "E", "warning": "W", "info": "I", "": " "}


def _section_option(name: str, words: str) -> Callable[[Command], Command]:
    return click.option(f"--{name}", is_flag=True, help=words)


@click.command()
@click.argument("file", metavar="FILE")
@_section_option("lines", "Show the lines and what each was read as.")
@_section_option("groups", "Show the groups.")
@_section_option("records", "Show the records with their positions.")
@_section_option("notes", "Show what was tolerated or could not be used.")
@profile_option
@json_option("Print one JSON object: the encoding and the sections.")
def parse(file: str, profile: str, as_json: bool, **sections: bool) -> int:
    """
    Show what a robots.txt says, and how it was read. '-' is stdin.

    Without a choice of sections, people see lines, groups and notes (of one kind the first 1,000;
    --notes shows all), and JSON has everything. Lines and columns count from 1, columns in octets;
    start and end are octets of the file. The exit code is 0 whatever the file holds, and 2 for
    usage or I/O.

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
        output.json(_as_dict(robots, file, octets, chosen or SECTIONS))
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


def _encoding(robots: RobotsTxt, octets: bytes) -> dict[str, Any]:
    """Return what is known of the octets: encoding, byte order mark, line ends, limits."""
    codes = {note.code for note in robots.notes}
    body = robots.body
    name: str | None = "utf-8"
    if "not-utf8" in codes:
        name = "utf-16-le" if octets.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"
    else:
        try:
            codecs.getincrementaldecoder("utf-8")().decode(body)
        except UnicodeDecodeError:
            name = None
    crlf = body.count(b"\r\n")
    return {
        "name": name,
        "byte_order_mark": bool(codes & {"bom", "cut-bom", "not-utf8"}),
        "octets": len(octets),
        "line_ends": {
            "lf": body.count(b"\n") - crlf,
            "crlf": crlf,
            "cr": body.count(b"\r") - crlf,
        },
        "truncated": "truncated" in codes,
    }


def _as_dict(
    robots: RobotsTxt, file: str, octets: bytes, sections: Sequence[str]
) -> dict[str, Any]:
    values: dict[str, Any] = {
        "schema": SCHEMA_VERSION,
        "file": None if file == STDIN else visible(os.fsencode(file)),
        "profile": robots.profile.name,
        "encoding": _encoding(robots, octets),
    }
    for name in sections:
        values[name] = [value.as_dict() for value in getattr(robots, name)]
        if name == "groups":
            found = robots.group_structures
            values["group_structures"] = [structure.as_dict() for structure in found]
    return values


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
        """Yield what the file is."""
        facts = _encoding(robots=self._robots, octets=octets)
        name = "stdin" if file == STDIN else visible(os.fsencode(file))
        counts = [
            plural(len(octets), "octet"),
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
        """Yield each line with its group and what it was read as."""
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
        """Return what a line is, and the style that says so."""
        if record is not None:
            key = shortened(visible(record.key), 12)
            if record.is_rule:
                return key, "allowed" if record.key == "allow" else "disallowed"
            return key, "start" if record.role is Role.START else "other"
        if not line.text.strip():
            return "", "faint"
        start = len(line.text) if line.comment is None else line.comment - line.start
        return ("-" if line.text[:start].strip() else "comment"), "faint"

    def _text(self, line: Line) -> str:
        if line.comment is None:
            return shortened(visible(line.text), self._cut)
        split = line.comment - line.start
        before = shortened(visible(line.text[:split]), self._cut)
        return before + self._paint("faint", shortened(visible(line.text[split:]), self._cut))

    def groups(self) -> Iterator[str]:
        """Yield each group: where it is, whom it is for, how much it says."""
        yield self._paint("heading", " group  lines        rules  user-agent lines")
        yield from map(self._group, self._groups)
        if not self._groups:
            yield "  none"
        for record, groups in self._robots.group_structures:
            yield ""
            words = f"{record} is read over other groups, those of its own document:"
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
            text = shortened(f"{visible(record.key)}: {visible(record.value)}", self._cut)
            yield (
                f"{record.line:6}  {columns:9}  {span:13}  {group:>5}  {record.role.value:5}  "
                f"{text}"
            ).rstrip()
        if not self._records:
            yield "  none"

    def notes(self) -> Iterator[str]:
        """Yield each note with the part of the file that it is about."""
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
            span = f", {between(note.start, note.end - 1, 'octet')}" if note.end else ""
            yield f"  file{span}: {words}"
            return
        start, end = note.start - line.start, min(note.end, line.end) - line.start
        yield f"  line {note.line}, {between(start + 1, end, 'column')}: {words}"
        excerpt = Excerpt(line.text, start, end, self._room)
        yield from excerpt.lines(f"{line.number:6}", "", self._paint, note.level)
