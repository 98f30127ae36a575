"""
Write: a robots.txt made of Python values, which parsers of every age read as it was meant.

`write` lays values out so that a parser that knows RFC 9309 alone, or less, reads no rule into a
group it does not belong to (AMB-99). `read_back` makes the values again of a parsed file:
`read_back(parse(write(x))) == x` for every x. `values` says what can be written at all. It does no
I/O, and does not know what a site wants to say: `policy` does.
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
    escaped,
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

# Notes on lines that are not used, if their level is `error`.
NOT_USED = frozenset({"control-character", "invalid-utf8", "pattern-start", "space-in-pattern"})


# --- Out ------------------------------------------------------------------------------------------


def write(robots: NewRobotsTxt, *, strict: bool = False) -> str:
    """
    Return the text of a robots.txt: ASCII, LF, one blank line between groups and none inside.

    In every group user agents come first, then purposes, rules and other records. *strict* refuses
    product tokens outside the grammar of RFC 9309 §2.2.1, and App-Directives that stand in no `*`
    group (draft-nottingham-plan-b §1.3).
    """
    if not isinstance(robots, NewRobotsTxt):
        name = type(robots).__name__
        raise TypeError(f"write takes a NewRobotsTxt, not {name}: make one, or pass read_back(...)")
    if strict:
        _vet(robots)
    return str(robots)


def _vet(robots: NewRobotsTxt) -> None:
    stars = {
        record for group in robots.groups if "*" in group.user_agents for record in group.records
    }
    for group in robots.groups:
        for name in group.user_agents:
            if name != "*" and not is_product_token(name):
                raise WriteError(
                    f"{name!r} is no product token: RFC 9309 §2.2.1 knows letters, '_' and '-' "
                    "only, and a parser that does reads the letters before the first other sign"
                )
        for record in group.records:
            if record.key == "app-directives" and record not in stars:
                raise WriteError(
                    f"{str(record)!r} stands in no '*' group, where all applications look for it: "
                    "put it there too"
                )


def app_directives_record(
    directives: Mapping[str, Mapping[str, Any]], path: str | None = None
) -> NewRecord:
    """
    Return an App-Directives record: for each application the names and values of its directives.

    Values are those of RFC 9651 §3.3 as http-sf has them: bool, int, Decimal, str, bytes, datetime,
    and what `token_value` and `display_string_value` return.
    """
    members = [(token_value(name), dict(values)) for name, values in directives.items()]
    return NewRecord("app-directives", _serialised(members), path)


def token_value(text: str) -> Any:
    """Return a Token, for a value of an app directive (RFC 9651 §3.3.4)."""
    from http_sf import Token

    return Token(text)


def display_string_value(text: str) -> Any:
    """Return a Display String, which may have more than ASCII (RFC 9651 §3.3.8)."""
    from http_sf import DisplayString

    return DisplayString(text)


def content_usage_record(
    preferences: Mapping[str, bool | Preference], path: str | None = None
) -> NewRecord:
    """
    Return a Content-Usage record: `{"train-ai": False}` is `train-ai=n`.

    A preference that was read may be written: `Preference.ALLOWED` and `Preference.DISALLOWED`.
    """
    said = {label: token_value(_letter(label, found)) for label, found in preferences.items()}
    return NewRecord("content-usage", _serialised(said), path)


def _letter(label: str, preference: object) -> str:
    # By identity: any text would be true, `"n"` and `"disallowed"` too.
    if preference is True or preference is Preference.ALLOWED:
        return "y"
    if preference is False or preference is Preference.DISALLOWED:
        return "n"
    raise WriteError(
        f"{label} is {preference!r}: say True or False, Preference.ALLOWED or "
        "Preference.DISALLOWED; leave out what is unknown"
    )


def _serialised(value: Any) -> str:
    try:
        return structured_fields.serialise(value)
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise WriteError(f"{value!r} cannot be a Structured Field: {error}; see RFC 9651") from None


# --- Back -----------------------------------------------------------------------------------------


def read_back(robots: RobotsTxt) -> NewRobotsTxt:
    """
    Return the values that a parsed robots.txt says, ready to be written again.

    Of a file that was not written here, what has no effect, and comments inside groups, are left
    out; so are records that cannot be written, none of which a verdict depends on. `write` of the
    values decides like the file did, for every product token of the grammar and every purpose.
    Names that Content-Usage or App-Directives part (AMB-29) become groups of their own with the
    same rules, so that what is written has one group structure. Where those copies would make a
    file of more than `LEAST_MAX_BYTES` octets, the names stay together as RFC 9309 groups them, and
    each reads all of these records.
    """
    if not isinstance(robots, RobotsTxt):
        raise TypeError(f"read_back takes a parsed robots.txt, not {type(robots).__name__}")
    not_used = {
        note.line for note in robots.notes if note.level == "error" and note.code in NOT_USED
    }
    comments = _Comments(robots)
    groups = []
    for group in _unparted(robots):
        found = _group(group, robots.profile, not_used, comments)
        groups += [found] if found else []
    records = [record for record in robots.records if record.group is None or _of_file(record)]
    kept = [record for record in map(_record, records) if record and record.key not in GROUP_KEYS]
    return NewRobotsTxt(groups, kept, comments.of_file())


# A group of the document that a record belongs to: the record's name, and the group's number.
_DocumentGroup = tuple[str, int]


class _DocumentGroups:
    """Which groups of their own documents the lines of a file are in (AMB-29), read once."""

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


def _unparted(robots: RobotsTxt) -> Iterator[Group]:
    """
    Yield the groups of a file; of one that documents of records part, each of its parts.

    Each part has a copy of the rules, so parts times rules has a bound: what a file may have. A
    group beyond it is refused: left whole, each of its names would read the records of all.
    """
    documents = _DocumentGroups(robots)
    left = LEAST_MAX_BYTES - len(robots.body)
    for group in robots.groups:
        parts = _parts(group, documents)
        copies = sum(part.octets for part in parts) - _octets(group.records)
        if len(parts) == 1:
            yield group
            continue
        if copies > left:
            raise WriteError(
                f"line {group.starts[0].line}: App-Directives or Content-Usage records part this "
                f"group into {len(parts):,}, and with a copy of its rules for each the file would "
                f"have more than {LEAST_MAX_BYTES:,} bytes: write fewer rules, or fewer groups"
            )
        left -= max(copies, 0)
        for part in parts:
            records = sorted((r for some in part.records for r in some), key=lambda r: r.line)
            yield group._replace(starts=tuple(part.starts), records=(*part.starts, *records))


class _Part(NamedTuple):
    """User-agent lines of a group, and lists of the records that their crawlers read."""

    starts: list[Record]
    records: list[list[Record]]
    octets: int


def _parts(group: Group, documents: _DocumentGroups) -> list[_Part]:
    """Return the parts of a group, those as one that read the same."""
    shared: list[Record] = []
    own: dict[_DocumentGroup, list[Record]] = {}
    for record in group.records:
        if record.role is not Role.START:
            place = documents.by_record.get(record.line)
            (shared if place is None else own.setdefault(place, [])).append(record)
    # What a part reads is compared by what it says, and not by where it stands.
    texts: dict[object, int] = {}
    said = {
        place: texts.setdefault(tuple((r.key, r.value) for r in records), len(texts))
        for place, records in own.items()
    }
    octets = {place: _octets(records) for place, records in own.items()}
    of_shared = _octets(shared)
    parts: dict[tuple[int, ...], _Part] = {}
    starts: list[Record] = []
    for start in group.starts:
        if not parts or start.line in documents.opened:
            places = [place for place in documents.by_start.get(start.line, ()) if place in own]
            read = tuple(said[place] for place in places)
            if read not in parts:
                records = [shared, *(own[place] for place in places)]
                size = of_shared + sum(octets[place] for place in places)
                parts[read] = _Part([], records, size)
            starts = parts[read].starts
        starts.append(start)
    return list(parts.values())


def _octets(records: Iterable[Record]) -> int:
    """Return about how many octets the rules and other records have when they are written."""
    return sum(len(r.key) + len(r.value) + 3 for r in records if r.role is not Role.START)


def _of_file(record: Record) -> bool:
    return record.key in FILE_KEYS


def _group(
    group: Group, profile: Profile, not_used: set[int | None], comments: _Comments
) -> NewGroup | None:
    starts = [record for record in group.starts if record.line not in not_used]
    agents = [
        name
        for record in starts
        if record.key == "user-agent"
        for name in _names(record.value, profile)
        if name.lower() != PLACEHOLDER
    ]
    purposes = [
        r.text for r in starts if r.key == "user-agent-purpose" if PURPOSE.fullmatch(r.text)
    ]
    if not agents and not purposes:
        return None
    members = [record for record in group.records if record.line not in not_used]
    rules = [
        NewRule(record.key == "allow", escaped(record.value))
        for record in members
        if record.is_rule and record.value
    ]
    others = [_record(r) for r in members if r.role.value == "OTHER" and not _of_file(r)]
    comment = comments.before(group.starts[0].line)
    return NewGroup(agents, purposes, rules, [record for record in others if record], comment)


def _names(value: bytes, profile: Profile) -> Iterator[str]:
    """Yield the names that a user-agent line has, each as it can be written (AMB-21 to AMB-25)."""
    parts = value.split(b",") if profile.comma_user_agents else [value]
    for part in parts:
        text = part.strip(b" \t").decode("utf-8", "replace")
        if profile.star_with_text and re.match(r"\*[\t-\r ]", text):
            yield "*"
        elif NAME.fullmatch(text):
            yield text
        elif found := re.match(r"[-A-Z_a-z]+", text):
            yield found[0]


def _record(record: Record) -> NewRecord | None:
    try:
        if record.key not in SCOPED_KEYS | {"app-directive"}:
            return NewRecord(record.key, record.value.decode())
        path, statement, _ = scoped.split(record)
        return NewRecord(record.key, statement.decode(), None if path is None else escaped(path))
    except (WriteError, UnicodeDecodeError):
        return None


class _Comments:
    """The comments of a file that stand before a group, or alone at its top."""

    def __init__(self, robots: RobotsTxt) -> None:
        self._texts = {
            line.number: text for line in robots.lines if (text := _said(line)) is not None
        }
        self._first = robots.groups[0].starts[0].line if robots.groups else 0

    def before(self, line: int) -> str:
        """Return the comment whose last line stands right before a line."""
        first = line
        while first - 1 in self._texts:
            first -= 1
        return self._joined(range(first, line))

    def of_file(self) -> str:
        """Return the comment at the top, if it is not that of the first group."""
        end = 1
        while end in self._texts:
            end += 1
        return "" if end == self._first else self._joined(range(1, end))

    def _joined(self, lines: range) -> str:
        text = "\n".join(self._texts[number] for number in lines)
        # What cannot be written says nothing to a crawler.
        longest = max(map(len, text.split("\n")))
        return "" if re.search(r"[^\n -~]", text) or longest > LONGEST_LINE - 2 else text


def _said(line: Line) -> str | None:
    """Return what a line that is nothing but a comment says."""
    before, mark, text = line.text.partition(b"#")
    if not mark or before.strip(b" \t"):
        return None
    return text.decode("utf-8", "replace").removeprefix(" ").rstrip()
