"""
Robots-Tag and X-Robots-Tag: parse field lines to statements (draft-illyes-repext §3.1.1).

Robots-Tag is a List of Structured Fields, parsed by http-sf. Profile strict stops there. The other
profiles read more of a malformed field, and never less: a crawler may always restrict itself
further (AMB-64 to AMB-72). The few rules that permit something count only if they follow the
grammar. X-Robots-Tag has the grammar of `legacy_grammar` (AMB-73). A crawl sees the same few values
millions of times, so results for short values are cached.

Sections: values, entry points, Robots-Tag, X-Robots-Tag, positions in a List.

It does not select the rules for one crawler: `rules` does.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from robotrules.http.structured_fields import Parsed, serialise, value_type
from robotrules.http.structured_fields import parse_list as parse_bounded_list
from robotrules.octets import to_text
from robotrules.tags.known_rules import (
    EVERYONE,
    NOCACHE,
    NONE,
    Value,
    permits,
    read_parameter,
    read_text,
)
from robotrules.tags.legacy_grammar import LegacyRule, is_rule, parse_legacy_rules
from robotrules.tags.profile import TagProfile

# Longer values are not cached, so that rare values of strangers do not fill the memory.
MAX_CACHED_LENGTH = 256
CACHE_SIZE = 1024
# Notes of one code that are kept for a field.
MAX_NOTES_PER_CODE = 20
# The code of a carrier that was not read to its end.
CUT = "field-cut"
# Switches that read more of a malformed carrier than its grammar allows.
TOLERANCES = (
    *("lower_keys", "recover_malformed", "skip_empty_lines", "legacy_words", "space_separates"),
    "scope_both",
)


class TagStatement(NamedTuple):
    """One tag rule of a carrier, for one product token."""

    token: str
    """The product token in lower case; `*` means all crawlers."""
    name: str
    """The rule in lower case; `none` is expanded to the rules it stands for."""
    value: Value | None
    """None: there is no instruction, or no usable one."""
    text: str
    """The rule as written."""
    line: int
    """Among the lines of its field, from 1."""
    start: int
    """The position in that line; for Robots-Tag, the position of the member."""
    end: int
    recovered: bool = False
    """True: it would permit something, and was read only because of a tolerance."""


class FieldNote(NamedTuple):
    """A note on a field, before its source is known."""

    code: str
    line: int | None = None
    start: int | None = None
    end: int | None = None


class ParsedField(NamedTuple):
    """The statements of a field, and notes on it."""

    statements: tuple[TagStatement, ...] = ()
    notes: tuple[FieldNote, ...] = ()
    error: str | None = None
    """Why it fails to parse as a Structured Field; None if it parses."""


NOTHING = ParsedField()


def parse_robots_tag(
    lines: Sequence[bytes], profile: TagProfile, more: frozenset[str] = frozenset()
) -> ParsedField:
    """Parse the lines of Robots-Tag; *more* are rules that a registry adds."""
    if not lines:
        return NOTHING
    short = sum(map(len, lines)) <= MAX_CACHED_LENGTH
    return (_read_robots_tag_cached if short else _read_robots_tag)(tuple(lines), profile, more)


def parse_x_robots_tag(
    lines: Sequence[bytes],
    profile: TagProfile,
    more: frozenset[str] = frozenset(),
    *,
    apart: bool = True,
) -> ParsedField:
    """Parse the lines of X-Robots-Tag; if not *apart*, a line may be several joined lines."""
    if not lines:
        return NOTHING
    short = sum(map(len, lines)) <= MAX_CACHED_LENGTH
    return (_read_x_robots_tag_cached if short else _read_x_robots_tag)(
        tuple(lines), profile, more, apart
    )


def _read_robots_tag(
    lines: tuple[bytes, ...], profile: TagProfile, more: frozenset[str]
) -> ParsedField:
    field = _parse_robots_tag(lines, profile, more)
    return _mark_recovered(field, profile, lambda exact: _parse_robots_tag(lines, exact, more))


def _read_x_robots_tag(
    lines: tuple[bytes, ...], profile: TagProfile, more: frozenset[str], apart: bool
) -> ParsedField:
    def _reread(exact: TagProfile) -> ParsedField:
        return _parse_x_robots_tag(lines, exact, more, apart)

    return _mark_recovered(_reread(profile), profile, _reread)


def _mark_recovered(
    field: ParsedField, profile: TagProfile, reread: Callable[[TagProfile], ParsedField]
) -> ParsedField:
    """
    Return a field with statements marked that must not permit anything.

    A tolerance adds restrictions and no permissions (AMB-67): a permitting statement must also be
    found without tolerances. The part after the limit may restrict, so nothing in a field that was
    cut permits anything; a profile without tolerances reads the field as §3.1.1 says.
    """
    exact = without_tolerance(profile)
    if exact == profile or not any(may_lift(s.name, s.value) for s in field.statements):
        return field
    sure: set[tuple[str, str, Value | None]] = set()
    if not any(note.code == CUT for note in field.notes):
        sure = {(s.token, s.name, s.value) for s in reread(exact).statements}
    marked = [
        statement._replace(
            recovered=may_lift(statement.name, statement.value) and statement[:3] not in sure
        )
        for statement in field.statements
    ]
    return field._replace(statements=tuple(marked))


def may_lift(name: str, value: Value | None) -> bool:
    """Return whether a rule may lift the restriction of another, in some profile."""
    return name == NOCACHE or permits(name, value)


@lru_cache(64)
def without_tolerance(profile: TagProfile) -> TagProfile:
    """Return the profile with all tolerances off."""
    return profile.replace(**dict.fromkeys(TOLERANCES, False))


# --- Robots-Tag -------------------------------------------------------------------------------


class _Field(NamedTuple):
    """Field lines joined to one value (RFC 9110 §5.3), and the position of each line in it."""

    value: bytes
    starts: tuple[int, ...]
    numbers: tuple[int, ...]

    def locate(self, start: int, end: int) -> tuple[int, int, int]:
        """Return the line of a span of the whole value, and the span in that line."""
        at = max(0, bisect_right(self.starts, start) - 1)
        first = self.starts[at]
        return self.numbers[at], max(0, start - first), max(0, end - first)


def _parse_robots_tag(
    lines: tuple[bytes, ...], profile: TagProfile, more: frozenset[str]
) -> ParsedField:
    notes: list[FieldNote] = []
    limit = profile.max_field_bytes
    numbered = list(enumerate((line.strip(b" \t") for line in lines), 1))
    if profile.skip_empty_lines:
        notes += [FieldNote("empty-field-line", number) for number, line in numbered if not line]
        numbered = [(number, line) for number, line in numbered if line]
    field = _join_lines(numbered)
    value = field.value
    ends = find_commas(value[:limit])
    # A String or an Inner List may run from one line into the next and include the comma between.
    apart = {first - 2 for first in field.starts[1:] if first - 2 < limit} <= {*ends}
    if len(value) > limit:
        # AMB-68: a member is complete if its comma is within the limit. Any other may be cut,
        # and a cut member may look like a whole one.
        value, ends = (value[: ends[-1]], ends[:-1]) if ends else (b"", [])
        notes.append(FieldNote(CUT))
    parsed = parse_list(_lowercase_keys(value, profile, notes))
    statements: list[TagStatement] = []
    members = find_members(value, ends)
    for span, (token, parameters) in zip(members, parsed.value or (), strict=False):
        statements += _parse_member(token, parameters, field.locate(*span), profile, more, notes)
    if profile.recover_malformed and parsed.value is None:
        for span, (token, parameters) in _parse_members(_lowercase_keys(value, profile, []), ends):
            place = field.locate(*span)
            statements += _parse_member(token, parameters, place, profile, more, notes)
    if profile.recover_malformed and (parsed.value is None or not apart):
        # The joined value must not lose rules that a line has on its own.
        for (number, line), start in zip(numbered, field.starts, strict=True):
            if start >= limit:
                break
            statements += _parse_line_alone(line, limit - start, number, profile, more, notes)
    if parsed.value is None:
        notes.append(FieldNote("salvaged" if statements else "bad-field"))
    # Statements found both in the whole value and in a line are kept once.
    return ParsedField(
        tuple(dict.fromkeys(statements)), _limit_notes(list(dict.fromkeys(notes))), parsed.error
    )


def _lowercase_keys(value: bytes, profile: TagProfile, notes: list[FieldNote]) -> bytes:
    lowered = lowercase_keys(value) if profile.lower_keys else value
    if lowered != value:
        notes.append(FieldNote("uppercase-key"))
    return lowered


def _join_lines(numbered: Sequence[tuple[int, bytes]]) -> _Field:
    # With a space, as RFC 9651 §4.2 allows and two of its vectors require.
    starts, at = [], 0
    for _, line in numbered:
        starts.append(at)
        at += len(line) + 2
    numbers = tuple(number for number, _ in numbered) or (1,)
    return _Field(b", ".join(line for _, line in numbered), tuple(starts) or (0,), numbers)


def _parse_line_alone(
    line: bytes,
    room: int,
    number: int,
    profile: TagProfile,
    more: frozenset[str],
    notes: list[FieldNote],
) -> Iterator[TagStatement]:
    """
    Yield the statements of one line of a field that fails to parse (AMB-67).

    Every line is read alone, so that another line never removes a restriction. Members count up to
    the first that fails; an empty member is skipped (AMB-70). A line of the legacy grammar is read
    by that grammar (AMB-72).
    """
    ends = find_commas(line[:room])
    whole = line
    if len(line) > room:
        whole, ends = (line[: ends[-1]], ends[:-1]) if ends else (b"", [])
    lowered = _lowercase_keys(whole, profile, [])
    parsed = parse_list(lowered)
    if parsed.value is None and profile.legacy_words and b";" not in line[:room]:
        if len(line) > room:
            whole = line[: max(line.rfind(b",", 0, room), 0)]
        line_notes: list[FieldNote] = []
        legacy = list(_parse_legacy_line(whole, number, profile, more, True, line_notes))
        if any(is_rule(statement.name, more) for statement in legacy):
            notes += [FieldNote("legacy-syntax", number), *line_notes]
            yield from (statement for statement in legacy if is_rule(statement.name, more))
    for (start, end), (token, parameters) in _parse_members(lowered, ends):
        yield from _parse_member(token, parameters, (number, start, end), profile, more, notes)


def _parse_members(value: bytes, ends: Sequence[int]) -> Iterator[tuple[tuple[int, int], Any]]:
    """Yield the members before the first that fails, each with its span; skip empty ones."""
    for start, end in find_members(value, ends):
        if start == end:
            continue
        member = parse_list(value[start:end]).value
        if member is None or len(member) != 1:
            return
        yield (start, end), member[0]


def _limit_notes(notes: Sequence[FieldNote]) -> tuple[FieldNote, ...]:
    """Return the first notes of each code: a field may repeat one problem thousands of times."""
    kept: list[FieldNote] = []
    counts: dict[str, int] = {}
    for note in notes:
        counts[note.code] = counts.get(note.code, 0) + 1
        if counts[note.code] <= MAX_NOTES_PER_CODE:
            kept.append(note)
    return tuple(kept)


def _parse_member(
    token: Any,
    parameters: Mapping[str, Any],
    place: tuple[int, int, int],
    profile: TagProfile,
    more: frozenset[str],
    notes: list[FieldNote],
) -> Iterator[TagStatement]:
    name = str(token).lower() if value_type(token) in ("Token", "String") else ""
    if not name:
        notes.append(FieldNote("not-a-product-token", *place))
        return
    if profile.legacy_words and "," not in name:
        # A Token may contain a colon, so `max-snippet:20` and `googlebot:noindex` are Tokens. No
        # crawler has the name of a rule: `noindex;nofollow` was meant for all crawlers.
        for rule in parse_legacy_rules(name, scopes=True, space_separates=False):
            if is_rule(rule.name, more):
                notes.append(FieldNote("legacy-syntax", *place))
                scope = rule.scope or EVERYONE
                yield from _make_statements(rule, scope, place[0], place[1], profile, notes)
                name = scope
    for key, given in parameters.items():
        parsed = read_parameter(key, given)
        if parsed.note:
            notes.append(FieldNote(parsed.note, *place))
        text = key if given is True else f"{key}={serialise(given)}"
        for rule_name in expand_rule(key, profile):
            yield TagStatement(name, rule_name, parsed.value, text, *place)


# --- X-Robots-Tag -----------------------------------------------------------------------------


def _parse_x_robots_tag(
    lines: tuple[bytes, ...], profile: TagProfile, more: frozenset[str], apart: bool
) -> ParsedField:
    statements: list[TagStatement] = []
    notes: list[FieldNote] = [FieldNote("deprecated-field")]
    left = profile.max_field_bytes
    for number, line in enumerate(lines, 1):
        if left <= 0:
            notes.append(FieldNote(CUT))
            break
        if len(line) > left:
            notes.append(FieldNote(CUT, number, left, len(line)))
            line = _cut_at_limit(line, left, profile, more)
            left = 0
        left -= len(line) + 2
        structured = _parse_structured(line, profile, more) if b";" in line else None
        if structured is not None:
            notes.append(FieldNote("structured-legacy-field", number))
            for (start, end), (token, parameters) in structured:
                place = (number, start, end)
                statements += _parse_member(token, parameters, place, profile, more, notes)
            continue
        statements += _parse_legacy_line(line, number, profile, more, apart, notes)
    return ParsedField(tuple(statements), _limit_notes(notes))


def _cut_at_limit(line: bytes, left: int, profile: TagProfile, more: frozenset[str]) -> bytes:
    """Return the complete members or rules of a line that is longer than the limit (AMB-68)."""
    ends = find_commas(line[:left])
    members = line[: ends[-1]] if ends else b""
    if b";" in members and _parse_structured(members, profile, more) is not None:
        return members
    return line[: max(line.rfind(b",", 0, left), 0)]


def _parse_structured(line: bytes, profile: TagProfile, more: frozenset[str]) -> list[Any] | None:
    """Return the members of a line in the Robots-Tag grammar, or None if it is not (AMB-73)."""
    value = lowercase_keys(line) if profile.lower_keys else line
    members = parse_list(value).value
    if not members or not any(is_rule(key, more) for _, given in members for key in given):
        return None
    return list(zip(find_members(value, find_commas(value)), members, strict=False))


def _parse_legacy_line(
    line: bytes,
    number: int,
    profile: TagProfile,
    more: frozenset[str],
    apart: bool,
    notes: list[FieldNote],
) -> Iterator[TagStatement]:
    # One character for each octet, so that positions are octets.
    text = line.decode("latin-1")
    warned = apart
    for rule in parse_legacy_rules(text, scopes=True, space_separates=profile.space_separates):
        if ";" in rule.text and profile.legacy_words:
            # `nofollow, *;noindex`: a Robots-Tag member among legacy rules.
            structured = _parse_structured(rule.text.encode("latin-1"), profile, more)
            if structured is not None:
                for _, (token, parameters) in structured:
                    place = (number, rule.start, rule.end)
                    yield from _parse_member(token, parameters, place, profile, more, notes)
                continue
        scope = rule.scope or EVERYONE
        yield from _make_statements(rule, scope, number, rule.start, profile, notes)
        if rule.inherited and not apart:
            if not warned:
                notes.append(FieldNote("scope-may-be-wider", number, rule.start, rule.end))
                warned = True
            if profile.scope_both:
                yield from _make_statements(rule, EVERYONE, number, rule.start, profile, [])


def _make_statements(
    rule: LegacyRule, token: str, line: int, start: int, profile: TagProfile, notes: list[FieldNote]
) -> Iterator[TagStatement]:
    end = start + rule.end - rule.start
    parsed = read_text(rule.name, rule.value)
    if rule.by_space:
        notes.append(FieldNote("space-separated", line, start, end))
    if parsed.note and is_rule(rule.name):
        notes.append(FieldNote(parsed.note, line, start, end))
    text = to_text(rule.text.encode("latin-1"))
    for name in expand_rule(rule.name, profile):
        yield TagStatement(token, name, parsed.value, text, line, start, end)


def expand_rule(name: str, profile: TagProfile) -> tuple[str, ...]:
    """Return the rules that a name stands for: itself, unless it is `none` (AMB-85)."""
    return profile.none_means if name == NONE else (name,)


# --- Positions in a List (RFC 9651 §3.1) --------------------------------------------------------

# http-sf returns the value of a List without the positions of its members, and nothing for a List
# that fails to parse. These functions find positions in one pass.

# A Display String, in which a backslash is not an escape, or a String, either of them possibly
# without an end; or a character that matters outside of them.
_SIGN = re.compile(rb'%"[^"]*(?:"|\Z)|"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[(),]', re.DOTALL)
# A parameter's key, which follows `;`; Strings are skipped.
_KEY = re.compile(rb'%"[^"]*(?:"|\Z)|"(?:[^"\\]|\\.)*(?:"|\\?\Z)|;[ ]*[A-Za-z0-9_.*-]+', re.DOTALL)


def parse_list(value: bytes) -> Parsed:
    """Parse a List with any number of members; the caller limits its octets."""
    return parse_bounded_list(value, None)


def find_commas(value: bytes) -> list[int]:
    """Return the positions of commas that end members: not in a String or an Inner List."""
    positions, depth = [], 0
    for sign in _SIGN.finditer(value):
        match value[sign.start()]:
            case 0x28:
                depth += 1
            case 0x29:
                depth = max(0, depth - 1)
            case 0x2C if depth == 0:
                positions.append(sign.start())
    return positions


def find_members(value: bytes, ends: Sequence[int]) -> list[tuple[int, int]]:
    """Return the spans of the members without whitespace; *ends* are their commas."""
    spans, start = [], 0
    for end in (*ends, len(value)):
        member = value[start:end]
        first = start + len(member) - len(member.lstrip(b" \t"))
        spans.append((first, max(first, start + len(member.rstrip(b" \t")))))
        start = end + 1
    return spans


def lowercase_keys(value: bytes) -> bytes:
    """Return a List with the keys of its parameters in lower case (AMB-66)."""
    return _KEY.sub(lambda key: key[0].lower() if key[0].startswith(b";") else key[0], value)


_read_robots_tag_cached = lru_cache(CACHE_SIZE)(_read_robots_tag)
_read_x_robots_tag_cached = lru_cache(CACHE_SIZE)(_read_x_robots_tag)
