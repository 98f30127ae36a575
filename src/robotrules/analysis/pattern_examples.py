"""
Example URLs of a path pattern: matches, a shortest one first, and near misses with reasons.

Matches are created by filling the stars, misses by changing a match slightly. The engine's matcher
and the trace of `pattern_trace` confirm each example; a path that is not in normal form is left
out, and so is a URL that is longer than clients support. The module does not describe patterns:
`describe` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from robotrules.analysis.pattern_trace import ParsedPattern, Span
from robotrules.analysis.rules import overlaps
from robotrules.analysis.solver import to_witness
from robotrules.analysis.values import Undecided, Witness
from robotrules.errors import WrongWitnessError

# RFC 9110 §4.1 recommends support for URLs of 8,000 octets, and many implementations stop there.
MAX_URL = 8_000
# A longer pattern is not searched for a shortest URL, unless counting octets proves one. Real
# patterns have less than a hundred octets, and need some hundred states.
MAX_SEARCHED = 1_000
MAX_STATES = 5_000
MAX_MATCHES = 5
MAX_MISSES = 6
# Misses for one reason; after an end, both a path and a query are worth showing.
MAX_PER_REASON = {"follows": 2, "incomplete": 2}
# Stars and open ends are filled with a letter that is not in the pattern, if there is one.
LETTERS = b"xyabcdefghijklmnopqrstuvwz"
PARAMETER = b"id=1"
LETTER = re.compile(rb"%[0-9A-F]{2}(?:%[89AB][0-9A-F]){0,3}")


class Miss(NamedTuple):
    """A URL that nearly matches, and why it does not."""

    witness: Witness
    code: str
    """The reason for programs, such as `case` or `follows`."""
    reason: str

    @property
    def url(self) -> str:
        """The path at `https://example.com`; the origin is arbitrary."""
        return self.witness.url

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {**self.witness.as_dict(), "code": self.code, "reason": self.reason}


class Examples(NamedTuple):
    """URLs that a pattern matches and nearly matches."""

    matches: tuple[Witness, ...]
    shortest: bool
    """Whether it is proved that no shorter URL than the first matches."""
    misses: tuple[Miss, ...]
    empty: bool | None
    """Whether no URL matches. None: no such URL was found, and its absence is not proved."""


def find_examples(parsed: ParsedPattern) -> Examples:
    """Return URLs that a pattern matches, the shortest first, and URLs that it nearly matches."""
    best, proved, empty = _shortest(parsed)
    if best is None:
        return Examples((), False, (), empty)
    if len(best) > MAX_URL:
        return Examples((), False, (), False)
    found = {best: _verify_example(parsed, best, True)}
    for path in _candidate_paths(parsed):
        if len(found) == MAX_MATCHES:
            break
        if path not in found and has_outcome(parsed, path, True):
            found[path] = _verify_example(parsed, path, True)
    ordered = sorted(found, key=lambda path: (path != best, len(path), path))
    matches = tuple(found[path] for path in ordered)
    return Examples(matches, proved, tuple(_find_misses(parsed, best)), False)


def has_outcome(parsed: ParsedPattern, path: bytes, matches: bool) -> bool:
    """Return whether a URL has exactly this path, and matches or not as given."""
    if len(path) > MAX_URL:
        return False
    return parsed.path_of(to_witness(path).url) == (path, matches)


def _verify_example(parsed: ParsedPattern, path: bytes, matches: bool) -> Witness:
    """Return a path as a witness, after the matcher and the trace confirmed it."""
    witness = to_witness(path)
    found = parsed.trace(witness.url)
    if found.matches != matches or parsed.path_of(witness.url)[0] != path:
        expected = "match" if matches else "not match"
        raise WrongWitnessError(
            f"{witness.url} should {expected} {parsed.form!r}, but its path is {found.path!r}: "
            "please report this with the pattern"
        )
    return witness


# --- Matches --------------------------------------------------------------------------------------


def _shortest(parsed: ParsedPattern) -> tuple[bytes | None, bool, bool | None]:
    """Return a shortest path that matches, whether that is proved, and whether none exists."""
    if not parsed.usable:
        return None, False, True
    best: bytes | None = None
    for fill, end in ((b"", b""), (b"?", b""), (b"a", b""), (b"a?", b""), (b"", b"a")):
        path = _join(parsed, fill, b"", b"" if parsed.anchored else end)
        if parsed.path_of(to_witness(path).url) == (path, True):
            best = path if best is None else min(best, path, key=len)
        if best and (len(best) == parsed.min_octets or parsed.min_octets > MAX_URL):
            # A path that matches has all pieces one after another: none is shorter.
            return best, len(best) == parsed.min_octets, False
    if len(parsed.reduced) <= MAX_SEARCHED:
        found = overlaps(parsed.reduced, "/", parsed.profile, max_states=MAX_STATES)
        if isinstance(found, Witness):
            return found.path.encode("utf-8", "surrogateescape"), True, False
        if not isinstance(found, Undecided):
            return None, False, True
    if best is None:
        return None, False, True if has_dot_segment(parsed) else None
    return best, False, False


def has_dot_segment(parsed: ParsedPattern) -> bool:
    """Return whether the literal prefix has a dot segment, which URLs do not keep."""
    if parsed.profile.url_as_given:
        return False
    before, mark, _ = parsed.first.partition(b"?")
    segments = before.split(b"/")
    closed = mark or (parsed.anchored and not parsed.floats)
    return any(segment in (b".", b"..") for segment in (segments if closed else segments[:-1]))


def _join(parsed: ParsedPattern, fill: bytes, then: bytes = b"", end: bytes = b"") -> bytes:
    """Return the pieces with *fill* for the first star, *then* for the others, and an *end*."""
    parts, queried, star = [parsed.first], b"?" in parsed.first, fill
    for in_path, in_query in parsed.floats:
        queried = queried or b"?" in star
        piece = in_query if queried else in_path
        parts += [star, piece]
        queried, star = queried or b"?" in piece, then
    path = b"".join(parts) + end
    return path if path.startswith(b"/") else b"/" + path


def fill_letter(parsed: ParsedPattern) -> bytes:
    """Return a letter to fill stars with."""
    return _fill_segments(parsed)[:1]


def _fill_segments(parsed: ParsedPattern) -> bytes:
    """Return a letter, a slash and another letter."""
    free = [octet for octet in LETTERS if octet not in parsed.value] + list(LETTERS[:2])
    return b"%c/%c" % (free[0], free[1])


def typical_path(parsed: ParsedPattern) -> bytes:
    """Return a realistic path: parameters in the query, folders before it."""
    fill, parts, queried = fill_letter(parsed), [parsed.first], b"?" in parsed.first
    before = parsed.raw_first
    for raw, (in_path, in_query) in zip(parsed.raw, parsed.floats, strict=True):
        star, valued, before = fill, before.endswith(b"="), raw
        if b"=" in raw or b"&" in raw:
            if queried and valued:
                star = b"1" if raw.startswith(b"&") else b"1&"
            elif not queried and b"?" not in raw:
                star = fill + (b"?n=1" if raw.startswith(b"&") else b"?")
        queried = queried or b"?" in star
        piece = in_query if queried else in_path
        parts += [star, piece]
        queried = queried or b"?" in piece
    path = b"".join(parts)
    return path if path.startswith(b"/") else b"/" + path


def open_endings(parsed: ParsedPattern, path: bytes) -> list[bytes]:
    """Return what may follow a path if the pattern is open."""
    fill = fill_letter(parsed)
    if parsed.anchored:
        return []
    if path.endswith(b"?"):
        return [PARAMETER]
    if b"?" in path:
        return [b"1", b"1&" + PARAMETER] if path.endswith(b"=") else [b"&" + PARAMETER]
    if path.endswith(b"/"):
        return [fill, b"?" + PARAMETER, _fill_segments(parsed)]
    return [b"/", b"?" + PARAMETER, b"/" + fill, b"-" + fill]


def _candidate_paths(parsed: ParsedPattern) -> Iterator[bytes]:
    """Yield paths that are likely to match, the most instructive first."""
    usual, fill = typical_path(parsed), fill_letter(parsed)
    if parsed.floats:
        yield usual
        if b"?" not in parsed.first:
            if b"?" in parsed.raw[0] or not set(parsed.raw[0]) & set(b"=&"):
                yield _join(parsed, _fill_segments(parsed), fill)
            if not any(b"?" in raw for raw in parsed.raw):
                yield _join(parsed, fill + b"?n=", fill)
    for end in open_endings(parsed, usual):
        yield usual + end


# --- Misses ---------------------------------------------------------------------------------------


def _find_misses(parsed: ParsedPattern, best: bytes) -> Iterator[Miss]:
    """Yield near misses, with a limit for each reason."""
    usual = typical_path(parsed)
    base = usual if has_outcome(parsed, usual, True) else best
    spans, _ = parsed.find_pieces(base)
    by_reason: dict[str, int] = {}
    seen: set[bytes] = set()
    given = 0
    for path in _variants(parsed, base, spans):
        # A space at the end is invisible.
        if path in seen or path.endswith(b" ") or not has_outcome(parsed, path, False):
            continue
        seen.add(path)
        witness = _verify_example(parsed, path, False)
        found = parsed.trace(witness.url)
        by_reason[found.code] = by_reason.get(found.code, 0) + 1
        if by_reason[found.code] <= MAX_PER_REASON.get(found.code, 1):
            yield Miss(witness, found.code, found.reason)
            given += 1
        if given == MAX_MISSES:
            return
    # Without near misses: a pattern that does not match every URL misses one of these.
    for path in (b"/", b"/" + fill_letter(parsed)) if not given else ():
        if has_outcome(parsed, path, False):
            found = parsed.trace(_verify_example(parsed, path, False).url)
            yield Miss(to_witness(path), found.code, found.reason)


def _variants(parsed: ParsedPattern, base: bytes, spans: list[Span]) -> Iterator[bytes]:
    """Yield paths that differ a little from one that matches; some of them match as well."""
    queried, fill = b"?" in base, fill_letter(parsed)
    end = spans[-1][1]
    if parsed.anchored:
        yield base + (b"&" if queried else b"?") + PARAMETER
        yield base + (fill if queried or base.endswith(b"/") else b"/")
    if parsed.first == b"/" and parsed.floats and parsed.floats[0][0].startswith(b"/"):
        yield _join(parsed, b"")[1:]  # one slash for both
    if (mark := _required_question_mark(base, spans)) >= 0:
        yield base[:mark].removesuffix(b"/") + b"/" + base[mark + 1 :]
        yield base[: mark + 1] + PARAMETER + b"&" + base[mark + 1 :]
    for begin, _ in spans[1:3]:
        yield base[:begin] + base[begin + _letter_length(base, begin) :]
    if not parsed.floats:
        yield base[: end - _last_letter_length(base, end)]
    yield _swap_case(base, spans)
    if len(parsed.first) > 1:
        yield b"/" + fill + base
    for _, stop in spans[:0:-1][:2]:
        yield base[: stop - _last_letter_length(base, stop)] + base[stop:]
    if len(parsed.floats) > 1:
        turned = [*parsed.floats[1::-1], *parsed.floats[2:]]
        filled = b"".join(fill + (pair[1] if queried else pair[0]) for pair in turned)
        yield parsed.first + filled
    slash = base.rfind(b"/", 1, spans[0][1])
    if slash > 0:
        yield base[:slash] + b"%2F" + base[slash + 1 :]
    if len(parsed.first) > 1:
        yield base[: spans[0][1] - _last_letter_length(base, spans[0][1])] + base[spans[0][1] :]


def _required_question_mark(path: bytes, spans: list[Span]) -> int:
    """Return where the `?` is, if a piece asks for it; else -1."""
    mark = path.find(b"?")
    return mark if any(start <= mark < end for start, end in spans) else -1


def _letter_length(path: bytes, at: int) -> int:
    """Return how many octets the letter there has: an escape three, and UTF-8 up to four such."""
    found = LETTER.match(path, at)
    return found.end() - at if found else 1


def _last_letter_length(path: bytes, end: int) -> int:
    """Return how many octets the last letter has: an escape three, and UTF-8 up to four such."""
    at = end
    while path[at - 3 : at - 2] == b"%" and path[at - 2 : at - 1] in b"89AB" and end - at < 9:
        at -= 3
    return end - at + (3 if path[at - 3 : at - 2] == b"%" else 0) or 1


def _swap_case(path: bytes, spans: list[Span]) -> bytes:
    """Return a path with a letter of the last piece that has one, or an ending, in other case."""
    for start, end in reversed(spans):
        at = start
        while at < end:
            if path[at : at + 1].isalpha():
                stop = at + 1
                while path[at - 1 : at] == b"." and stop < end and path[stop : stop + 1].isalpha():
                    stop += 1
                return path[:at] + path[at:stop].swapcase() + path[stop:]
            at += _letter_length(path, at)
    return path
