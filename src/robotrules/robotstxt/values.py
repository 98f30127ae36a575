"""
The parts of a robots.txt as values: Line, Record, Rule, Group, Note (RFC 9309 §2.1, §2.2).

All are immutable and compare by value. Positions are octet offsets in the parsed body; columns are
octets counted from 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from robotrules.octets import to_text
from robotrules.profile import Role


class Line(NamedTuple):
    """A physical line, without its terminator."""

    number: int
    start: int
    end: int
    comment: int | None
    """The position of the comment, or None."""
    text: bytes

    def as_dict(self) -> dict[str, Any]:
        """Return the value as plain data for JSON."""
        span = {"start": self.start, "end": self.end}
        return {"line": self.number, **span, "comment": self.comment, "text": to_text(self.text)}


class Record(NamedTuple):
    """A line with a key and a value (RFC 9309 §2.2.4)."""

    key: str
    """The canonical name, in lower case."""
    value: bytes
    """The value as written, without the comment and surrounding whitespace."""
    line: int
    role: Role
    group: int | None
    """The index of its group; None before the first user-agent line."""
    start: int
    """The position of the value's first octet."""
    end: int
    key_start: int
    key_end: int
    column: int
    """The column of the value, in octets from 1."""

    @property
    def text(self) -> str:
        """The value as text."""
        return to_text(self.value)

    @property
    def is_rule(self) -> bool:
        """Whether the record is an allow or disallow rule (RFC 9309 §2.2.2)."""
        return self.key in ("allow", "disallow")

    def as_dict(self) -> dict[str, Any]:
        """Return the value as plain data for JSON."""
        return {
            "key": self.key,
            "value": self.text,
            "role": self.role.value,
            "group": self.group,
            "line": self.line,
            "column": self.column,
            "start": self.start,
            "end": self.end,
            "key_start": self.key_start,
            "key_end": self.key_end,
        }


class Rule(NamedTuple):
    """An allow or disallow record with its path pattern (RFC 9309 §2.2.2)."""

    allow: bool
    pattern: str
    """The path pattern as written."""
    form: str
    """The pattern in normal form, as it is compared."""
    octets: int
    """How specific the rule is: the octets of `form`, including wildcards (AMB-38, AMB-39)."""
    line: int
    column: int
    start: int
    end: int

    @property
    def key(self) -> str:
        """`Allow` or `Disallow`."""
        return "Allow" if self.allow else "Disallow"

    def __str__(self) -> str:
        return f"{self.key}: {self.pattern}".rstrip()

    def as_dict(self) -> dict[str, Any]:
        """Return the value as plain data for JSON."""
        return {
            "key": self.key.lower(),
            "pattern": self.pattern,
            "form": self.form,
            "octets": self.octets,
            "line": self.line,
            "column": self.column,
            "end_column": self.column + self.end - self.start,
            "start": self.start,
            "end": self.end,
        }


class Group(NamedTuple):
    """User-agent lines and the records after them, up to the next group (RFC 9309 §2.1)."""

    index: int  # type: ignore[assignment]  # replaces the method of tuple
    starts: tuple[Record, ...]
    """The records that start the group: user-agent lines, and records with role START."""
    rules: tuple[Rule, ...]
    records: tuple[Record, ...]
    """All records of the group in order, including `starts` and rules."""

    @property
    def user_agents(self) -> tuple[str, ...]:
        """The values of the user-agent lines as written."""
        return tuple(record.text for record in self.starts if record.key == "user-agent")

    @property
    def purposes(self) -> tuple[str, ...]:
        """The values of the purpose lines as written (draft-illyes-rep-purpose §3)."""
        return tuple(record.text for record in self.starts if record.key == "user-agent-purpose")

    @property
    def lines(self) -> tuple[int, int]:
        """The line numbers of the first and the last record."""
        return self.records[0].line, self.records[-1].line

    def as_dict(self) -> dict[str, Any]:
        """Return the value as plain data for JSON."""
        return {
            "index": self.index,
            "user_agents": list(self.user_agents),
            "purposes": list(self.purposes),
            "first_line": self.lines[0],
            "last_line": self.lines[1],
            "rules": [rule.as_dict() for rule in self.rules],
        }


class GroupStructure(NamedTuple):
    """The groups in which a record of another document is read (AMB-29)."""

    record: str
    """The name of the record, such as `Content-Usage`."""
    groups: tuple[Group, ...]
    """The groups, with indices from 0 in this structure."""

    def as_dict(self) -> dict[str, Any]:
        """Return the value as plain data for JSON."""
        return {
            "record": self.record,
            "groups": [
                {key: value for key, value in group.as_dict().items() if key != "rules"}
                for group in self.groups
            ],
        }


# The level and message of each note. `error`: the line or a part of it is ignored; `warning`: the
# parser tolerated a departure from the grammar; `info`: no problem.
NOTES = {
    "bom": ("info", "A UTF-8 byte order mark was skipped."),
    "comma-list": ("warning", "A user-agent line names one crawler; this looks like a list."),
    "control-character": ("error", "The line contains a control character, so it is ignored."),
    "control-kept": ("warning", "The grammar does not allow control characters; this one is kept."),
    "cut-bom": ("warning", "An incomplete UTF-8 byte order mark was skipped."),
    "cut-line": ("error", "The file was truncated inside this line, so the line is ignored."),
    "empty-key": ("error", "The line has no name before the colon, so it is ignored."),
    "empty-user-agent": ("warning", "The user-agent line has no value, so it names no crawler."),
    "index-page": ("info", "This profile also allows the directory of an index page."),
    "invalid-utf8": ("warning", "The value is not valid UTF-8."),
    "long-line": ("error", "The line is longer than this profile reads; the rest is ignored."),
    "looks-like-html": ("error", "The file starts like an HTML page."),
    "missing-colon": ("warning", "The colon is missing; the two words were read as a record."),
    "no-separator": ("error", "The line has no colon, so it is ignored."),
    "not-utf8": ("error", "The file is UTF-16; a robots.txt file must be UTF-8."),
    "nul": ("error", "The line contains a NUL byte; the rest of the line is ignored."),
    "odd-whitespace": ("warning", "A vertical tab or form feed was treated as whitespace."),
    "pattern-start": ("error", "A path pattern must start with '/' or '*'; this never matches."),
    "prefix-key": ("warning", "The name was read as the known name that it starts with."),
    "record-between-agents": ("warning", "This record does not separate the user-agent lines."),
    "rule-outside-group": ("error", "A rule before the first user-agent line has no effect."),
    "space-in-pattern": ("warning", "The grammar does not allow whitespace in a path pattern."),
    "star-with-text": ("warning", "Text after '*' in a user-agent line is ignored."),
    "truncated": ("error", "The file is longer than the parsing limit; the rest is ignored."),
    "typo": ("warning", "A known misspelling of a record's name was accepted."),
    "unusable-user-agent": ("warning", "The value has no product token, so it names no crawler."),
    "user-agent-text": ("warning", "Only the leading letters, '_' and '-' are read as the name."),
}
# Notes on a query, which only an explanation has: they do not refer to a line of the file.
QUESTION_NOTES = {
    "purposes-not-read": ("warning", "This profile does not read User-Agent-Purpose."),
}
# The message of each code; extension readers add their own.
SENTENCES = {code: sentence for code, (_, sentence) in {**NOTES, **QUESTION_NOTES}.items()}
# The switch that keeps a line with this note usable; without the switch the line is ignored.
KEPT_BY = {"invalid-utf8": "keep_invalid_utf8", "space-in-pattern": "keep_spaces"}


class Note(NamedTuple):
    """A note on something the parser tolerated or ignored: a code, a level and a byte span."""

    code: str
    level: str
    line: int | None
    """The line number; None if the note is about the whole file."""
    start: int
    end: int

    @property
    def message(self) -> str:
        """The note as a sentence."""
        return SENTENCES[self.code]

    def as_dict(self) -> dict[str, Any]:
        """Return the value as plain data for JSON."""
        where = {"line": self.line, "start": self.start, "end": self.end}
        return {"code": self.code, "level": self.level, "message": self.message, **where}
