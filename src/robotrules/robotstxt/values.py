"""
The values a robots.txt is made of: Line, Record, Rule, Group, Note (RFC 9309 §2.1, §2.2).

All are immutable and compare by value. Positions are octets of the parsed body; columns count them
from 1. They hold what was written, and do not know how a verdict is reached.
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
    """Where its comment starts, if it has one."""
    text: bytes

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        span = {"start": self.start, "end": self.end}
        return {"line": self.number, **span, "comment": self.comment, "text": to_text(self.text)}


class Record(NamedTuple):
    """A line with a key and a value (RFC 9309 §2.2.4)."""

    key: str
    """The canonical name, in lower case."""
    value: bytes
    """The value as written, without comment and whitespace at its ends."""
    line: int
    role: Role
    group: int | None
    """The number of its group; None before the first user-agent line."""
    start: int
    """Where the value starts."""
    end: int
    key_start: int
    key_end: int
    column: int
    """The column the value starts in, in octets from 1."""

    @property
    def text(self) -> str:
        """The value as text."""
        return to_text(self.value)

    @property
    def is_rule(self) -> bool:
        """Whether it is one of the two rules of RFC 9309 §2.2.2."""
        return self.key in ("allow", "disallow")

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
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
    """The pattern in the form it is compared in."""
    octets: int
    """How specific it is: the octets of that form, wildcards counted (AMB-38, AMB-39)."""
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
        """Return it as plain values for JSON."""
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
    """User-agent lines and what follows them, up to the next group (RFC 9309 §2.1)."""

    index: int  # type: ignore[assignment]  # a name of our own, not the method of tuple
    starts: tuple[Record, ...]
    """The records that opened it: user-agent lines, and those an extension declares as START."""
    rules: tuple[Rule, ...]
    records: tuple[Record, ...]
    """All its records in order, `starts` and rules included."""

    @property
    def user_agents(self) -> tuple[str, ...]:
        """The values of its user-agent lines as written."""
        return tuple(record.text for record in self.starts if record.key == "user-agent")

    @property
    def purposes(self) -> tuple[str, ...]:
        """The values of its purpose lines as written (draft-illyes-rep-purpose §3)."""
        return tuple(record.text for record in self.starts if record.key == "user-agent-purpose")

    @property
    def lines(self) -> tuple[int, int]:
        """The numbers of its first and its last record's line."""
        return self.records[0].line, self.records[-1].line

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "index": self.index,
            "user_agents": list(self.user_agents),
            "purposes": list(self.purposes),
            "first_line": self.lines[0],
            "last_line": self.lines[1],
            "rules": [rule.as_dict() for rule in self.rules],
        }


class GroupStructure(NamedTuple):
    """The groups over which a record of another document is read (AMB-29)."""

    record: str
    """The name of the record, such as `Content-Usage`."""
    groups: tuple[Group, ...]
    """Its groups, numbered from 0 in this structure."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "record": self.record,
            "groups": [
                {key: value for key, value in group.as_dict().items() if key != "rules"}
                for group in self.groups
            ],
        }


# What each note is: its level, and one sentence. `error`: the line or a part of it was not used;
# `warning`: a departure from the grammar was tolerated; `info`: good to know.
NOTES = {
    "bom": ("info", "A UTF-8 byte order mark was skipped."),
    "comma-list": ("warning", "A user-agent line has one product token; this looks like a list."),
    "control-character": ("error", "A control character makes the line unusable."),
    "control-kept": ("warning", "A control character is outside the grammar; it is kept as data."),
    "cut-bom": ("warning", "A byte order mark that lost octets was skipped."),
    "cut-line": ("error", "The file was cut inside this line, so the line is not used."),
    "empty-key": ("error", "Nothing stands before the colon."),
    "empty-user-agent": ("warning", "A user-agent line without a value: its group is for nobody."),
    "index-page": ("info", "This profile allows the directory of an index page as well."),
    "invalid-utf8": ("warning", "The value is not UTF-8."),
    "long-line": ("error", "The line is longer than this profile reads; its end is not used."),
    "looks-like-html": ("error", "The file starts like an HTML page."),
    "missing-colon": ("warning", "The colon is missing; two words were read as a record."),
    "no-separator": ("error", "The line has no colon, so it is not a record."),
    "not-utf8": ("error", "The file is UTF-16; robots.txt is UTF-8."),
    "nul": ("error", "A NUL ended the line's content."),
    "odd-whitespace": ("warning", "A vertical tab or form feed was trimmed like a space."),
    "pattern-start": ("error", "A path pattern starts with '/' or '*'; this one never matches."),
    "prefix-key": ("warning", "The record's name only begins like a known one."),
    "record-between-agents": ("warning", "A record between user-agent lines does not part them."),
    "rule-outside-group": ("error", "A rule before the first user-agent line is for nobody."),
    "space-in-pattern": ("warning", "Whitespace inside a path pattern is outside the grammar."),
    "star-with-text": ("warning", "Text after '*' in a user-agent line is ignored."),
    "truncated": ("error", "The file is longer than the parsing limit; the rest is ignored."),
    "typo": ("warning", "A known misspelling of a record's name was accepted."),
    "unusable-user-agent": ("warning", "The value begins with no product token: for nobody."),
    "user-agent-text": ("warning", "Only the leading letters, '_' and '-' are the product token."),
}
# Notes on a question, which only an explanation has: they are about no line of the file.
QUESTION_NOTES = {
    "purposes-not-read": ("warning", "This profile does not read User-Agent-Purpose."),
}
# What a person reads for a code; readers of extensions add theirs.
SENTENCES = {code: sentence for code, (_, sentence) in {**NOTES, **QUESTION_NOTES}.items()}
# Tolerances that keep a line usable: without them what earns the note is not used.
KEPT_BY = {"invalid-utf8": "keep_invalid_utf8", "space-in-pattern": "keep_spaces"}


class Note(NamedTuple):
    """What was tolerated or could not be used, as data: a code, a level and a byte span."""

    code: str
    level: str
    line: int | None
    """None when it is about the file."""
    start: int
    end: int

    @property
    def message(self) -> str:
        """One sentence for people."""
        return SENTENCES[self.code]

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        where = {"line": self.line, "start": self.start, "end": self.end}
        return {"code": self.code, "level": self.level, "message": self.message, **where}
