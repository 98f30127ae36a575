"""
Write a robots.txt from Python values, so that old and new parsers read it alike.

`write` orders the lines so that a parser that supports only RFC 9309, or less, adds no rule to the
wrong group (AMB-99). `read_back` returns the values of a parsed file:
`read_back(parse(write(x))) == x` for every x. `values` has the classes of the values; `policy`
makes them from a TOML file. It does no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from robotrules.errors import WriteError
from robotrules.extensions import scoped
from robotrules.extensions.vocabulary import Preference
from robotrules.http import structured_fields
from robotrules.profile import DOCUMENT_RULES, LEAST_MAX_BYTES, Profile, Role
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.tokens import is_product_token
from robotrules.robotstxt.values import Group, Line, Record
from robotrules.write.tag_values import meta_elements, robots_tag, robots_tag_fields
from robotrules.write.values import (
    FILE_KEYS,
    GROUP_KEYS,
    LONGEST_LINE,
    NAME,
    PLACEHOLDER,
    PURPOSE,
    SCOPED_KEYS,
    NewGroup,
    NewRecord,
    NewRobotsTxt,
    NewRule,
    allow,
    disallow,
    escape_pattern,
    most_specific_first,
)

__all__ = [
    "PLACEHOLDER",
    "NewGroup",
    "NewRecord",
    "NewRobotsTxt",
    "NewRule",
    "WriteError",
    "allow",
    "app_directives_record",
    "content_usage_record",
    "disallow",
    "display_string_value",
    "meta_elements",
    "most_specific_first",
    "read_back",
    "robots_tag",
    "robots_tag_fields",
    "token_value",
    "write",
]

# Codes of notes on lines that are not used, if their level is `error`.
NOT_USED = frozenset({"control-character", "invalid-utf8", "pattern-start", "space-in-pattern"})


# --- Writing --------------------------------------------------------------------------------------


def write(robots: NewRobotsTxt, *, strict: bool = False) -> str:
    """
    Return the text of a robots.txt: ASCII, LF, one blank line between groups and none inside.

    In every group user agents come first, then purposes, rules and other records. With *strict*,
    product tokens outside the grammar of RFC 9309 §2.2.1, and App-Directives that are not in a `*`
    group (draft-nottingham-plan-b §1.3), raise WriteError.
    """
    if not isinstance(robots, NewRobotsTxt):
        name = type(robots).__name__
        raise TypeError(f"write takes a NewRobotsTxt, not {name}: make one, or pass read_back(...)")
    if strict:
        _validate_strictly(robots)
    return str(robots)


def _validate_strictly(robots: NewRobotsTxt) -> None:
    stars = {
        record for group in robots.groups if "*" in group.user_agents for record in group.records
    }
    for group in robots.groups:
        for name in group.user_agents:
            if name != "*" and not is_product_token(name):
                raise WriteError(
                    f"invalid product token {name!r}: use only letters, '_' and '-' (RFC 9309 "
                    "§2.2.1); parsers may ignore the rest after another character"
                )
        for record in group.records:
            if record.key == "app-directives" and record not in stars:
                raise WriteError(
                    f"{str(record)!r} is not in a '*' group, where all applications read it: add "
                    "it there too"
                )


def app_directives_record(
    directives: Mapping[str, Mapping[str, Any]], path: str | None = None
) -> NewRecord:
    """
    Return an App-Directives record with the names and values of directives by application.

    Values are those of RFC 9651 §3.3 as http-sf has them: bool, int, Decimal, str, bytes, datetime,
    and what `token_value` and `display_string_value` return.
    """
    members = [(token_value(name), dict(values)) for name, values in directives.items()]
    return NewRecord("app-directives", _serialize(members), path)


def token_value(text: str) -> Any:
    """Return a Token, for a value of an app directive (RFC 9651 §3.3.4)."""
    from http_sf import Token

    return Token(text)


def display_string_value(text: str) -> Any:
    """Return a Display String, which may have non-ASCII characters (RFC 9651 §3.3.8)."""
    from http_sf import DisplayString

    return DisplayString(text)


def content_usage_record(
    preferences: Mapping[str, bool | Preference], path: str | None = None
) -> NewRecord:
    """
    Return a Content-Usage record: `{"train-ai": False}` is `train-ai=n`.

    `Preference.ALLOWED` and `Preference.DISALLOWED`, as read from a file, are accepted too.
    """
    values = {label: token_value(_to_letter(label, value)) for label, value in preferences.items()}
    return NewRecord("content-usage", _serialize(values), path)


def _to_letter(label: str, preference: object) -> str:
    # By identity: any text is truthy, even `"n"` and `"disallowed"`.
    if preference is True or preference is Preference.ALLOWED:
        return "y"
    if preference is False or preference is Preference.DISALLOWED:
        return "n"
    raise WriteError(
        f"{label} is {preference!r}: use True or False, Preference.ALLOWED or "
        "Preference.DISALLOWED; leave out unknown preferences"
    )


def _serialize(value: Any) -> str:
    try:
        return structured_fields.serialise(value)
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise WriteError(f"{value!r} cannot be a Structured Field: {error}; see RFC 9651") from None


# --- Reading back ---------------------------------------------------------------------------------


def read_back(robots: RobotsTxt) -> NewRobotsTxt:
    """
    Return the values of a parsed robots.txt, to be written again.

    Lines without effect, comments inside groups and records that cannot be written are left out; no
    verdict depends on them. The written file gives the same verdicts for every valid product token
    and every purpose. User agents that Content-Usage or App-Directives records separate (AMB-29)
    become groups of their own with copies of the rules, so that the written file has one group
    structure. If these copies would make the file larger than `LEAST_MAX_BYTES` octets, WriteError
    is raised.
    """
    if not isinstance(robots, RobotsTxt):
        raise TypeError(f"read_back takes a parsed robots.txt, not {type(robots).__name__}")
    not_used = {
        note.line for note in robots.notes if note.level == "error" and note.code in NOT_USED
    }
    comments = _Comments(robots)
    groups = []
    for group in _split_groups(robots):
        new_group = _convert_group(group, robots.profile, not_used, comments)
        groups += [new_group] if new_group else []
    records = [record for record in robots.records if record.group is None or _is_of_file(record)]
    converted = map(_convert_record, records)
    kept = [record for record in converted if record and record.key not in GROUP_KEYS]
    return NewRobotsTxt(groups, kept, comments.of_file())


# A group of the document that a record belongs to: the record's name, and the group's number.
_DocumentGroup = tuple[str, int]


class _DocumentGroups:
    """The groups of lines in the group structures of other documents (AMB-29)."""

    def __init__(self, robots: RobotsTxt) -> None:
        self.opened: set[int] = set()
        self.by_start: dict[int, list[_DocumentGroup]] = {}
        self.by_record: dict[int, _DocumentGroup] = {}
        for structure in robots.group_structures:
            for number, group in enumerate(structure.groups):
                place = structure.record, number
                self.opened.add(group.starts[0].line)
                for start in group.starts:
                    self.by_start.setdefault(start.line, []).append(place)
                for record in group.records:
                    if record.key in DOCUMENT_RULES[structure.record]:
                        self.by_record[record.line] = place


def _split_groups(robots: RobotsTxt) -> Iterator[Group]:
    """
    Yield the groups of a file; of a group that other documents split, each part.

    Each part has a copy of the rules, so the total is bounded by the size of a file. A larger group
    raises WriteError: unsplit, each of its user agents would read the records of all.
    """
    documents = _DocumentGroups(robots)
    left = LEAST_MAX_BYTES - len(robots.body)
    for group in robots.groups:
        parts = _split_group(group, documents)
        copies = sum(part.octets for part in parts) - _estimate_octets(group.records)
        if len(parts) == 1:
            yield group
            continue
        if copies > left:
            raise WriteError(
                f"line {group.starts[0].line}: App-Directives or Content-Usage records split this "
                f"group into {len(parts):,} groups; with a copy of its rules in each, the file "
                f"would have more than {LEAST_MAX_BYTES:,} bytes: use fewer rules, or fewer groups"
            )
        left -= max(copies, 0)
        for part in parts:
            records = sorted((r for some in part.records for r in some), key=lambda r: r.line)
            yield group._replace(starts=tuple(part.starts), records=(*part.starts, *records))


class _Part(NamedTuple):
    """User-agent lines of a group, and the records for their crawlers."""

    starts: list[Record]
    records: list[list[Record]]
    octets: int


def _split_group(group: Group, documents: _DocumentGroups) -> list[_Part]:
    """Return the parts of a group; user agents with the same records are one part."""
    shared: list[Record] = []
    own: dict[_DocumentGroup, list[Record]] = {}
    for record in group.records:
        if record.role is not Role.START:
            place = documents.by_record.get(record.line)
            (shared if place is None else own.setdefault(place, [])).append(record)
    # Records are compared by key and value, not by position.
    contents: dict[object, int] = {}
    content_ids = {
        place: contents.setdefault(tuple((r.key, r.value) for r in records), len(contents))
        for place, records in own.items()
    }
    octets = {place: _estimate_octets(records) for place, records in own.items()}
    shared_octets = _estimate_octets(shared)
    parts: dict[tuple[int, ...], _Part] = {}
    starts: list[Record] = []
    for start in group.starts:
        if not parts or start.line in documents.opened:
            places = [place for place in documents.by_start.get(start.line, ()) if place in own]
            content = tuple(content_ids[place] for place in places)
            if content not in parts:
                records = [shared, *(own[place] for place in places)]
                size = shared_octets + sum(octets[place] for place in places)
                parts[content] = _Part([], records, size)
            starts = parts[content].starts
        starts.append(start)
    return list(parts.values())


def _estimate_octets(records: Iterable[Record]) -> int:
    """Return the approximate size of rules and other records when written."""
    return sum(len(r.key) + len(r.value) + 3 for r in records if r.role is not Role.START)


def _is_of_file(record: Record) -> bool:
    return record.key in FILE_KEYS


def _convert_group(
    group: Group, profile: Profile, not_used: set[int | None], comments: _Comments
) -> NewGroup | None:
    starts = [record for record in group.starts if record.line not in not_used]
    agents = [
        name
        for record in starts
        if record.key == "user-agent"
        for name in _read_names(record.value, profile)
        if name.lower() != PLACEHOLDER
    ]
    purposes = [
        r.text for r in starts if r.key == "user-agent-purpose" if PURPOSE.fullmatch(r.text)
    ]
    if not agents and not purposes:
        return None
    members = [record for record in group.records if record.line not in not_used]
    rules = [
        NewRule(record.key == "allow", escape_pattern(record.value))
        for record in members
        if record.is_rule and record.value
    ]
    others = [_convert_record(r) for r in members if r.role.value == "OTHER" and not _is_of_file(r)]
    comment = comments.before(group.starts[0].line)
    return NewGroup(agents, purposes, rules, [record for record in others if record], comment)


def _read_names(value: bytes, profile: Profile) -> Iterator[str]:
    """Yield the names of a user-agent line in a form that can be written (AMB-21 to AMB-25)."""
    parts = value.split(b",") if profile.comma_user_agents else [value]
    for part in parts:
        text = part.strip(b" \t").decode("utf-8", "replace")
        if profile.star_with_text and re.match(r"\*[\t-\r ]", text):
            yield "*"
        elif NAME.fullmatch(text):
            yield text
        elif leading := re.match(r"[-A-Z_a-z]+", text):
            yield leading[0]


def _convert_record(record: Record) -> NewRecord | None:
    try:
        if record.key not in SCOPED_KEYS | {"app-directive"}:
            return NewRecord(record.key, record.value.decode())
        path, statement, _ = scoped.split(record)
        escaped = None if path is None else escape_pattern(path)
        return NewRecord(record.key, statement.decode(), escaped)
    except (WriteError, UnicodeDecodeError):
        return None


class _Comments:
    """The comments of a file: before groups, and at the top."""

    def __init__(self, robots: RobotsTxt) -> None:
        self._texts = {
            line.number: text for line in robots.lines if (text := _read_comment(line)) is not None
        }
        self._first = robots.groups[0].starts[0].line if robots.groups else 0

    def before(self, line: int) -> str:
        """Return the comment that ends right before a line."""
        first = line
        while first - 1 in self._texts:
            first -= 1
        return self._join(range(first, line))

    def of_file(self) -> str:
        """Return the comment at the top, unless it belongs to the first group."""
        end = 1
        while end in self._texts:
            end += 1
        return "" if end == self._first else self._join(range(1, end))

    def _join(self, lines: range) -> str:
        text = "\n".join(self._texts[number] for number in lines)
        # A comment that cannot be written is left out.
        longest = max(map(len, text.split("\n")))
        return "" if re.search(r"[^\n -~]", text) or longest > LONGEST_LINE - 2 else text


def _read_comment(line: Line) -> str | None:
    """Return the text of a line that has only a comment, else None."""
    before, mark, text = line.text.partition(b"#")
    if not mark or before.strip(b" \t"):
        return None
    return text.decode("utf-8", "replace").removeprefix(" ").rstrip()
