"""
Robots-Tag and X-Robots-Tag: field lines in, what they say to whom out (draft-illyes-repext §3.1.1).

Robots-Tag is a List of Structured Fields, read by http-sf. Profile strict stops there. The others
read more of a broken field, and never less: a crawler may always restrict itself further (AMB-64 to
AMB-72). The few rules that permit something are read as the grammar has them, and no further.
X-Robots-Tag has the grammar of `words` (AMB-73). A crawl sees the same few values millions of
times, so what was read of a short one is kept.

It does not know who asks: `rules` picks what is for a crawler.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from robotrules.http.structured_fields import serialise
from robotrules.octets import to_text
from robotrules.tags.known import (
    EVERYONE,
    NOCACHE,
    NONE,
    Value,
    permits,
    read_parameter,
    read_text,
)
from robotrules.tags.profile import TagProfile
from robotrules.tags.structure import commas, is_structured, lowered, parse_list, spans
from robotrules.tags.words import Word, is_rule, words

# A longer value is read anew each time: strangers must not fill the memory with rare ones.
LONGEST_KEPT = 256
MOST_KEPT = 1024
# Notes of one code that are kept of a field.
MOST_ODD = 20
# Not all of a carrier was read.
CUT = "field-cut"
# Switches that read more of a broken carrier than its grammar has.
TOLERANCES = (
    *("lower_keys", "recover_malformed", "skip_empty_lines", "legacy_words", "space_separates"),
    "scope_both",
)


class Said(NamedTuple):
    """One tag rule as a carrier says it, to whomever."""

    token: str
    """The product token in lower case; `*` is everyone."""
    name: str
    """The rule in lower case; one that `none` stands for has its own name."""
    value: Value | None
    """None: there is no instruction, or none that can be used."""
    text: str
    """The rule as written."""
    line: int
    """Among the lines of its field, from 1."""
    start: int
    """Where it stands in that line; for Robots-Tag, where its member does."""
    end: int
    recovered: bool = False
    """True: it would permit something, and its carrier says it only if read with tolerance."""


class Odd(NamedTuple):
    """What is odd about a field, before a source is known."""

    code: str
    line: int | None = None
    start: int | None = None
    end: int | None = None


class ParsedField(NamedTuple):
    """All that a field says."""

    said: tuple[Said, ...] = ()
    odd: tuple[Odd, ...] = ()
    error: str | None = None
    """Why it fails to parse as a Structured Field; None: it does not."""


NOTHING = ParsedField()


def robots_tag(
    lines: Sequence[bytes], profile: TagProfile, more: frozenset[str] = frozenset()
) -> ParsedField:
    """Read the lines of Robots-Tag; *more* are rules that a registry adds."""
    if not lines:
        return NOTHING
    short = sum(map(len, lines)) <= LONGEST_KEPT
    return (_kept_robots_tag if short else _read_robots_tag)(tuple(lines), profile, more)


def x_robots_tag(
    lines: Sequence[bytes],
    profile: TagProfile,
    more: frozenset[str] = frozenset(),
    *,
    apart: bool = True,
) -> ParsedField:
    """Read the lines of X-Robots-Tag; not *apart*: a line may be several that were joined."""
    if not lines:
        return NOTHING
    short = sum(map(len, lines)) <= LONGEST_KEPT
    return (_kept_x_robots_tag if short else _read_x_robots_tag)(tuple(lines), profile, more, apart)


def _read_robots_tag(
    lines: tuple[bytes, ...], profile: TagProfile, more: frozenset[str]
) -> ParsedField:
    found = _robots_tag(lines, profile, more)
    return _restrained(found, profile, lambda plain: _robots_tag(lines, plain, more))


def _read_x_robots_tag(
    lines: tuple[bytes, ...], profile: TagProfile, more: frozenset[str], apart: bool
) -> ParsedField:
    found = _x_robots_tag(lines, profile, more, apart)
    return _restrained(found, profile, lambda plain: _x_robots_tag(lines, plain, more, apart))


def _restrained(
    found: ParsedField, profile: TagProfile, reread: Callable[[TagProfile], ParsedField]
) -> ParsedField:
    """
    Return what a field says, with a mark at what may not permit anything.

    A tolerance adds restrictions and no permission (AMB-67): what permits has to stand in the
    reading without tolerances too. What was behind the limit may restrict, so nothing in a field
    that was cut permits anything; a profile without tolerances takes it as §3.1.1 says.
    """
    plain = without_tolerance(profile)
    if plain == profile or not any(lifts(one.name, one.value) for one in found.said):
        return found
    sure: set[tuple[str, str, Value | None]] = set()
    if not any(one.code == CUT for one in found.odd):
        sure = {(one.token, one.name, one.value) for one in reread(plain).said}
    marked = [
        one._replace(recovered=lifts(one.name, one.value) and one[:3] not in sure)
        for one in found.said
    ]
    return found._replace(said=tuple(marked))


def lifts(name: str, value: Value | None) -> bool:
    """Tell whether a rule may take away from what others forbid, in some profile."""
    return name == NOCACHE or permits(name, value)


@lru_cache(64)
def without_tolerance(profile: TagProfile) -> TagProfile:
    """Return a profile that reads carriers by their grammar, and is otherwise the same."""
    return profile.replace(**dict.fromkeys(TOLERANCES, False))


# --- Robots-Tag -------------------------------------------------------------------------------


class _Field(NamedTuple):
    """Field lines as one value (RFC 9110 §5.3), and where each line starts in it."""

    value: bytes
    starts: tuple[int, ...]
    numbers: tuple[int, ...]

    def place(self, start: int, end: int) -> tuple[int, int, int]:
        """Return a line and a span in it, for a span of the whole value."""
        at = max(0, bisect_right(self.starts, start) - 1)
        first = self.starts[at]
        return self.numbers[at], max(0, start - first), max(0, end - first)


def _robots_tag(lines: tuple[bytes, ...], profile: TagProfile, more: frozenset[str]) -> ParsedField:
    odd: list[Odd] = []
    limit = profile.max_field_bytes
    numbered = list(enumerate((line.strip(b" \t") for line in lines), 1))
    if profile.skip_empty_lines:
        odd += [Odd("empty-field-line", number) for number, line in numbered if not line]
        numbered = [(number, line) for number, line in numbered if line]
    field = _joined(numbered)
    value = field.value
    ends = commas(value[:limit])
    # A String or an Inner List may run from one line into the next and swallow what is between.
    apart = {first - 2 for first in field.starts[1:] if first - 2 < limit} <= {*ends}
    if len(value) > limit:
        # AMB-68: a member is complete if its comma is within the limit. Anything else may be cut,
        # and a cut member may look like a whole one.
        value, ends = (value[: ends[-1]], ends[:-1]) if ends else (b"", [])
        odd.append(Odd(CUT))
    parsed = parse_list(_lowered(value, profile, odd))
    said: list[Said] = []
    for span, (token, parameters) in zip(spans(value, ends), parsed.value or (), strict=False):
        said += _member(token, parameters, field.place(*span), profile, more, odd)
    if profile.recover_malformed and parsed.value is None:
        for span, (token, parameters) in _members(_lowered(value, profile, []), ends):
            said += _member(token, parameters, field.place(*span), profile, more, odd)
    if profile.recover_malformed and (parsed.value is None or not apart):
        # That is what the grammar says; it may not take back what a line says alone.
        for (number, line), start in zip(numbered, field.starts, strict=True):
            if start >= limit:
                break
            said += _line(line, limit - start, number, profile, more, odd)
    if parsed.value is None:
        odd.append(Odd("salvaged" if said else "bad-field"))
    # What was read of the whole and of a line is said once.
    return ParsedField(tuple(dict.fromkeys(said)), _few(list(dict.fromkeys(odd))), parsed.error)


def _lowered(value: bytes, profile: TagProfile, odd: list[Odd]) -> bytes:
    read = lowered(value) if profile.lower_keys else value
    if read != value:
        odd.append(Odd("uppercase-key"))
    return read


def _joined(numbered: Sequence[tuple[int, bytes]]) -> _Field:
    # With a space, as RFC 9651 §4.2 allows and two of its vectors want.
    starts, at = [], 0
    for _, line in numbered:
        starts.append(at)
        at += len(line) + 2
    numbers = tuple(number for number, _ in numbered) or (1,)
    return _Field(b", ".join(line for _, line in numbered), tuple(starts) or (0,), numbers)


def _line(
    line: bytes,
    room: int,
    number: int,
    profile: TagProfile,
    more: frozenset[str],
    odd: list[Odd],
) -> Iterator[Said]:
    """
    Yield what one line says whose field fails to parse (AMB-67).

    Every line is read alone, so that one more is never a restriction less. Members count up to the
    first that fails; nothing between two commas is no member (AMB-70). A line of the old grammar is
    read as one (AMB-72).
    """
    ends = commas(line[:room])
    whole = line
    if len(line) > room:
        whole, ends = (line[: ends[-1]], ends[:-1]) if ends else (b"", [])
    read = _lowered(whole, profile, [])
    parsed = parse_list(read)
    if parsed.value is None and profile.legacy_words and b";" not in line[:room]:
        if len(line) > room:
            whole = line[: max(line.rfind(b",", 0, room), 0)]
        aside: list[Odd] = []
        legacy = list(_legacy_line(whole, number, profile, more, True, aside))
        if any(is_rule(one.name, more) for one in legacy):
            odd += [Odd("legacy-syntax", number), *aside]
            yield from (one for one in legacy if is_rule(one.name, more))
    for (start, end), (token, parameters) in _members(read, ends):
        yield from _member(token, parameters, (number, start, end), profile, more, odd)


def _members(value: bytes, ends: Sequence[int]) -> Iterator[tuple[tuple[int, int], Any]]:
    """Yield the members before the first that fails, each with its span; empty ones are none."""
    for start, end in spans(value, ends):
        if start == end:
            continue
        member = parse_list(value[start:end]).value
        if member is None or len(member) != 1:
            return
        yield (start, end), member[0]


def _few(odd: Sequence[Odd]) -> tuple[Odd, ...]:
    """Return some of each code: a stranger may write one thing thousands of times."""
    kept: list[Odd] = []
    seen: dict[str, int] = {}
    for one in odd:
        seen[one.code] = seen.get(one.code, 0) + 1
        if seen[one.code] <= MOST_ODD:
            kept.append(one)
    return tuple(kept)


def _member(
    token: Any,
    parameters: Mapping[str, Any],
    place: tuple[int, int, int],
    profile: TagProfile,
    more: frozenset[str],
    odd: list[Odd],
) -> Iterator[Said]:
    name = str(token).lower() if is_structured(token, "Token", "String") else ""
    if not name:
        odd.append(Odd("not-a-product-token", *place))
        return
    if profile.legacy_words and "," not in name:
        # A Token may hold a colon, so `max-snippet:20` and `googlebot:noindex` are Tokens. No
        # crawler is called by the name of a rule: `noindex;nofollow` was meant for everyone.
        for word in words(name, scopes=True, space_separates=False):
            if is_rule(word.name, more):
                odd.append(Odd("legacy-syntax", *place))
                yield from _word(word, word.scope or EVERYONE, place[0], place[1], profile, odd)
                name = word.scope or EVERYONE
    for key, given in parameters.items():
        read = read_parameter(key, given)
        if read.note:
            odd.append(Odd(read.note, *place))
        text = key if given is True else f"{key}={serialise(given)}"
        for rule in expanded(key, profile):
            yield Said(name, rule, read.value, text, *place)


# --- X-Robots-Tag -----------------------------------------------------------------------------


def _x_robots_tag(
    lines: tuple[bytes, ...], profile: TagProfile, more: frozenset[str], apart: bool
) -> ParsedField:
    said: list[Said] = []
    odd: list[Odd] = [Odd("deprecated-field")]
    left = profile.max_field_bytes
    for number, line in enumerate(lines, 1):
        if left <= 0:
            odd.append(Odd(CUT))
            break
        if len(line) > left:
            odd.append(Odd(CUT, number, left, len(line)))
            line = _cut(line, left, profile, more)
            left = 0
        left -= len(line) + 2
        structured = _as_structured(line, profile, more) if b";" in line else None
        if structured is not None:
            odd.append(Odd("structured-legacy-field", number))
            for (start, end), (token, parameters) in structured:
                place = (number, start, end)
                said += _member(token, parameters, place, profile, more, odd)
            continue
        said += _legacy_line(line, number, profile, more, apart, odd)
    return ParsedField(tuple(said), _few(odd))


def _cut(line: bytes, left: int, profile: TagProfile, more: frozenset[str]) -> bytes:
    """Return the whole members or words of a line that goes on behind the limit (AMB-68)."""
    ends = commas(line[:left])
    members = line[: ends[-1]] if ends else b""
    if b";" in members and _as_structured(members, profile, more) is not None:
        return members
    return line[: max(line.rfind(b",", 0, left), 0)]


def _as_structured(line: bytes, profile: TagProfile, more: frozenset[str]) -> list[Any] | None:
    """Return the members of a line in the new grammar; None: it is in the old one (AMB-73)."""
    value = lowered(line) if profile.lower_keys else line
    members = parse_list(value).value
    if not members or not any(is_rule(key, more) for _, given in members for key in given):
        return None
    return list(zip(spans(value, commas(value)), members, strict=False))


def _legacy_line(
    line: bytes,
    number: int,
    profile: TagProfile,
    more: frozenset[str],
    apart: bool,
    odd: list[Odd],
) -> Iterator[Said]:
    # One character for each octet, so that positions are octets.
    text = line.decode("latin-1")
    warned = apart
    for word in words(text, scopes=True, space_separates=profile.space_separates):
        if ";" in word.text and profile.legacy_words:
            # `nofollow, *;noindex`: a member of the new grammar among words of the old one.
            structured = _as_structured(word.text.encode("latin-1"), profile, more)
            if structured is not None:
                for _, (token, parameters) in structured:
                    place = (number, word.start, word.end)
                    yield from _member(token, parameters, place, profile, more, odd)
                continue
        yield from _word(word, word.scope or EVERYONE, number, word.start, profile, odd)
        if word.inherited and not apart:
            if not warned:
                odd.append(Odd("scope-may-be-wider", number, word.start, word.end))
                warned = True
            if profile.scope_both:
                yield from _word(word, EVERYONE, number, word.start, profile, [])


def _word(
    word: Word, token: str, line: int, start: int, profile: TagProfile, odd: list[Odd]
) -> Iterator[Said]:
    end = start + word.end - word.start
    read = read_text(word.name, word.value)
    if word.by_space:
        odd.append(Odd("space-separated", line, start, end))
    if read.note and is_rule(word.name):
        odd.append(Odd(read.note, line, start, end))
    text = to_text(word.text.encode("latin-1"))
    for rule in expanded(word.name, profile):
        yield Said(token, rule, read.value, text, line, start, end)


def expanded(name: str, profile: TagProfile) -> tuple[str, ...]:
    """Return the rules that a name stands for: itself, unless it is `none` (AMB-85)."""
    return profile.none_means if name == NONE else (name,)


_kept_robots_tag = lru_cache(MOST_KEPT)(_read_robots_tag)
_kept_x_robots_tag = lru_cache(MOST_KEPT)(_read_x_robots_tag)
