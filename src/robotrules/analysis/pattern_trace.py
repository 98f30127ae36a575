"""
A path pattern matched against a URL, step by step: where each piece is found, or why it is not.

The engine decides whether a URL matches; the trace shows where. Each trace is checked against the
engine's matcher, and a difference raises an exception. The module does not create examples:
`pattern_examples` does.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from robotrules._engine import pure_settings
from robotrules._engine.pure_rules import Pattern, normalize_minimal, to_compared, to_readable
from robotrules.errors import WrongWitnessError
from robotrules.octets import to_octets, to_text
from robotrules.profile import Profile, find_profile
from robotrules.robotstxt import normalize_path
from robotrules.robotstxt.ruleset import RuleSet

# The length at which a sentence truncates a piece; patterns may be as long as a file.
MAX_SHOWN = 40
# A longer pattern is matched without its redundant stars.
MAX_STARS = 4_096

ESCAPE = re.compile(rb"(%[0-9A-F]{2})")
Span = tuple[int, int]
# A piece as it is spelled in the path and in the query (AMB-33).
Spelled = tuple[bytes, bytes]


class MatchedSpan(NamedTuple):
    """A piece of a pattern, and the octets of the path that it matched, counted from 0."""

    text: str
    start: int
    end: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


class Trace(NamedTuple):
    """The result of matching a URL against a pattern."""

    url: str
    path: str
    """Path and query in the form that is compared."""
    matches: bool
    steps: tuple[MatchedSpan, ...]
    """The pieces in order, as far as they were found."""
    code: str
    """Why it does not match, for programs; empty if it does."""
    reason: str
    """Why it does not match, for people."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {**self._asdict(), "steps": [step.as_dict() for step in self.steps]}


def trace(pattern: str | bytes, url: str | bytes, profile: str | Profile = "default") -> Trace:
    """Return where the pieces of a path pattern are in a URL, or why it does not match."""
    return ParsedPattern(pattern, profile).trace(url)


def quote(octets: bytes) -> str:
    """Return octets in quotes, truncated to the length that a sentence permits."""
    text = to_text(octets[: 4 * MAX_SHOWN])
    fits = len(octets) <= 4 * MAX_SHOWN and len(text) <= MAX_SHOWN
    return f"'{text}'" if fits else f"'{text[: MAX_SHOWN - 1]}…'"


class ParsedPattern:
    """A path pattern split at its wildcards, with the engine's matcher for it."""

    def __init__(self, pattern: str | bytes, profile: str | Profile) -> None:
        self.value = to_octets(pattern)
        # The directory that a rule for an index page also allows (AMB-47) is not considered.
        self.given_profile = find_profile(profile)
        self.profile = self.given_profile.replace(index_page=False)
        self.settings = self.profile.settings(pure_settings)
        self.dollar = self.value.endswith(b"$")
        self.raw_first, *others = self.value.removesuffix(b"$").split(b"*")
        # `$` after a star has no effect, nor has a star after a star.
        self.anchored = self.dollar and not (others and not others[-1])
        self.raw = [raw for raw in others if raw]
        self.stars = _count_stars(others)
        self.reduced = self._reduce()
        if len(self.value) <= MAX_STARS or self.reduced == self.value:
            self.rules = RuleSet.from_patterns([pattern], self.profile)
            self.form = self.rules.rules[0].form
        else:
            self.rules = RuleSet.from_patterns([self.reduced], self.profile)
            self.form = normalize_path(pattern, pattern=True, profile=self.profile)
        self.octets = len(self.form.encode())
        shape = Pattern(self.reduced, self.settings)
        self.first = self.to_readable(shape.prefix)
        self.floats = [
            (self.to_readable(in_path), self.to_readable(in_query))
            for in_path, in_query in shape.pieces
            if in_path
        ]
        # The shortest path that can match has all pieces, and nothing between them.
        self.min_octets = max(len(self.first) + sum(min(map(len, pair)) for pair in self.floats), 1)

    def _reduce(self) -> bytes:
        """Return a pattern that matches the same, without redundant stars."""
        value = b"*".join([self.raw_first, *self.raw])
        if self.anchored:
            return value + b"$"
        # A `$` before a star is an ordinary octet, and has to stay one.
        return value + b"*" if value.endswith(b"$") or (self.value and not value) else value

    @property
    def usable(self) -> bool:
        """Whether a parser uses a rule with this pattern."""
        return self.rules.count_usable() > 0

    @property
    def trailing(self) -> int:
        """The number of stars at the end, where they have no effect."""
        return self.stars[-1]

    def pieces(self) -> list[tuple[str, bytes]]:
        """Return the pieces as written; each is the `first`, a `star`, a `float` or the `end`."""
        found = [("first", self.raw_first)] if self.raw_first else []
        for raw, stars in zip(self.raw, self.stars[:-1], strict=True):
            found += [("star", b"*" * stars), ("float", raw)]
        if self.trailing:
            found.append(("star", b"*" * self.trailing))
        return [*found, ("end", b"$")] if self.dollar else found

    def compared(self, octets: bytes) -> bytes:
        """Return octets of a normal form as they are compared: an escape is one unit (AMB-43)."""
        return to_compared(octets, self.settings)

    def to_readable(self, octets: bytes) -> bytes:
        """Return compared octets in readable form."""
        return to_readable(octets, self.settings)

    def find_pieces(self, path: bytes, *, bound: bool | None = None) -> tuple[list[Span], bool]:
        """Return the spans of the pieces in a path, and whether it matches."""
        bound = self.anchored if bound is None else bound
        return find_pieces(self.compared(self.first), self.spelled(), bound, self.compared(path))

    def spelled(self) -> list[Spelled]:
        """Return the pieces after the stars as they are compared."""
        return [(self.compared(one), self.compared(other)) for one, other in self.floats]

    def path_of(self, url: str | bytes) -> tuple[bytes, bool]:
        """Return the path of a URL, and whether the engine's matcher accepts it."""
        path, found = self.rules.find_matches(url)
        return path, bool(found)

    def trace(self, url: str | bytes) -> Trace:
        """Return the trace of a URL, after the engine's matcher confirmed it."""
        path, matches = self.path_of(url)
        url_text, code, reason = to_text(to_octets(url)), "", ""
        spans, found = self.find_pieces(path)
        if not self.usable:
            code, reason = "never", "the pattern matches no URL at all"
            spans, found = [], False
        elif not found:
            code, reason = explain_mismatch(self, path)
            if code == "follows":  # all pieces were found
                spans, _ = self.find_pieces(path, bound=False)
        if found != matches:
            raise WrongWitnessError(
                f"{url_text} {'matches' if matches else 'does not match'} {self.form!r}, but the "
                "trace differs: please report this with the pattern"
            )
        steps = self._steps(spans, found, len(path))
        return Trace(url_text, to_text(path), matches, tuple(steps), code, reason)

    def _steps(self, spans: list[Span], found: bool, end: int) -> list[MatchedSpan]:
        """Return the pieces that were found, each star with the octets it matched."""
        steps: list[MatchedSpan] = []
        number, at = 0 if self.raw_first else 1, 0
        for name, text in self.pieces():
            start = at
            if name in ("first", "float"):
                if number >= len(spans):
                    break
                start, at = spans[number]
                number += 1
            elif number < len(spans):
                at = spans[number][0]
            elif found:
                at = end
            else:
                break
            steps.append(MatchedSpan(to_text(text), start, at))
        return steps


def _count_stars(others: list[bytes]) -> list[int]:
    """Return the number of stars before each non-empty piece, and at the end."""
    runs, stars = [], 0
    for piece in others:
        stars += 1
        if piece:
            runs.append(stars)
            stars = 0
    return [*runs, stars]


# --- Pieces ---------------------------------------------------------------------------------------


def find_pieces(
    first: bytes, floats: list[Spelled], bound: bool, path: bytes
) -> tuple[list[Span], bool]:
    """
    Return the spans of the beginning and of the pieces after it, and whether the path matches.

    All arguments are in compared form. Each piece is taken as early as possible, which is never
    worse than later; with *bound*, the last piece has to be at the end.
    """
    if not path.startswith(first):
        return [], False
    spans = [(0, len(first))]
    if not floats:
        return spans, not bound or path == first
    query = query_of(path)
    for piece in floats[:-1] if bound else floats:
        span = find_piece(piece, path, spans[-1][1], query)
        if span is None:
            return spans, False
        spans.append(span)
    if not bound:
        return spans, True
    span = find_last_piece(floats[-1], path, query)
    if span is None or span[1] < len(path) or span[0] < spans[-1][1]:
        return spans, False
    return [*spans, span], True


def query_of(path: bytes) -> int:
    """Return the start of the query, after the `?`."""
    return path.find(b"?") + 1 or len(path) + 1


def find_piece(piece: Spelled, path: bytes, at: int, query: int) -> Span | None:
    """Return the first span of a piece from an octet on, in the spelling of path or query."""
    in_path, in_query = piece
    if in_path == in_query:
        start = path.find(in_path, at)
        return (start, start + len(in_path)) if start >= 0 else None
    start = path.find(in_path, at, query - 1 + len(in_path)) if at < query else -1
    if start >= 0:
        return start, start + len(in_path)
    start = path.find(in_query, max(at, query))
    return (start, start + len(in_query)) if start >= 0 else None


def find_last_piece(piece: Spelled, path: bytes, query: int) -> Span | None:
    """Return the last span of a piece."""
    in_path, in_query = piece
    start = path.rfind(in_query, 0 if in_path == in_query else query)
    if start >= 0:
        return start, start + len(in_query)
    start = path.rfind(in_path, 0, query - 1 + len(in_path))
    return (start, start + len(in_path)) if start >= 0 else None


# --- Reasons --------------------------------------------------------------------------------------


def explain_mismatch(parsed: ParsedPattern, path: bytes) -> tuple[str, str]:
    """Return a code and a sentence that explain why a path does not match."""
    first, floats, bound = parsed.compared(parsed.first), parsed.spelled(), parsed.anchored
    lowered = [(parsed.compared(_lower(a)), parsed.compared(_lower(b))) for a, b in parsed.floats]
    if find_pieces(
        parsed.compared(_lower(parsed.first)), lowered, bound, parsed.compared(_lower(path))
    )[1]:
        return "case", "upper and lower case differ"
    if bound and find_pieces(first, floats, False, parsed.compared(path))[1]:
        units = parsed.compared(path)
        last = find_last_piece(floats[-1], units, query_of(path)) if floats else (0, len(first))
        rest = path[last[1] if last else 0 :]
        return "follows", f"something follows the end: {quote(rest)}"
    before, mark, after = path.partition(b"?")
    if b"%2F" in before:
        if parsed.find_pieces(before.replace(b"%2F", b"/") + mark + after)[1]:
            return "escaped-slash", "an escaped slash, '%2F', is not a '/'"
    if find_pieces(parsed.first, parsed.floats, bound, path)[1]:
        return "inside-escape", "a '*' would end inside an escape, which counts as one character"
    spelled = normalize_minimal(path)
    if spelled != path and parsed.find_pieces(spelled)[1]:
        return "spelling", f"a URL is compared as it is spelled, with {quote(parsed.form.encode())}"
    spans, _ = parsed.find_pieces(path)
    if not spans:
        return _explain_prefix(parsed, path)
    return _explain_piece(parsed, path, spans)


def _lower(octets: bytes) -> bytes:
    """Return letters in lower case, except those of escapes."""
    parts = ESCAPE.split(octets)
    parts[::2] = [part.lower() for part in parts[::2]]
    return b"".join(parts)


def _explain_prefix(parsed: ParsedPattern, path: bytes) -> tuple[str, str]:
    """Explain why a path does not start with the literal prefix of the pattern."""
    first, written = parsed.first, quote(parsed.raw_first)
    if b"?" in first and b"?" not in path:
        return "no-query", "no '?'"
    if first.startswith(path):
        return "incomplete", f"no {quote(first[len(path) :])} after {quote(path)}"
    if parsed.compared(first) in parsed.compared(path):
        return "not-at-beginning", f"{written} is not at the beginning"
    same = next(i for i, octet in enumerate(first) if path[i] != octet)
    if path[same:].startswith(first[same + 1 :]) and same + 1 < len(first):
        lost = quote(first[same : same + 1])
        return "incomplete", f"no {lost} before {quote(first[same + 1 :])}"
    end = len(first)
    end += 2 if path[end - 1 : end] == b"%" else path[end - 2 : end - 1] == b"%"  # whole escapes
    return "begins-otherwise", f"begins with {quote(path[:end])}, not with {written}"


def _explain_piece(parsed: ParsedPattern, path: bytes, spans: list[Span]) -> tuple[str, str]:
    """Explain why the next piece is not found after the previous ones."""
    number, at, query = len(spans) - 1, spans[-1][1], query_of(path)
    piece, raw, units = parsed.spelled()[number], parsed.raw[number], parsed.compared(path)
    behind = quote(parsed.raw[number - 1] if number else parsed.raw_first)
    place = find_last_piece(piece, units, query)
    if b"?" in raw and not path.count(b"?") and place is None:
        return "no-query", "no '?'"
    if place and place[0] < at:
        start = spans[-1][0]
        if place[1] <= start:
            return "order", f"{quote(raw)} is only before {behind}"
        shared = path[max(place[0], start) : min(place[1], at)]
        return "overlap", f"the same {quote(shared)} cannot count twice"
    at_end = parsed.anchored and number + 1 == len(parsed.floats)
    for here, since in dict.fromkeys(((piece[0], at), (piece[1], max(at, query)))):
        if nearly := _find_missing_octet(parsed, here, units, since, at_end):
            return "incomplete", nearly
    after = f" after {behind}" if number or parsed.raw_first not in (b"", b"/") else ""
    return "missing", f"no {quote(raw)}{after}"


def _find_missing_octet(
    parsed: ParsedPattern, piece: bytes, path: bytes, at: int, at_end: bool
) -> str:
    """Return which octet at an end of a piece is missing, if all others are found; else empty."""
    head, rest = piece[:1], piece[1:]
    if rest and head != b"%" and (start := path.find(rest, at)) >= 0:
        if not at_end or path.endswith(rest):
            directly = "directly " if head in path[at:start] else ""
            return f"no {quote(head)} {directly}before {quote(parsed.to_readable(rest))}"
    rest, tail = piece[:-1], piece[-1:]
    if rest and piece[-3:-2] != b"%" and path.find(rest, at) >= 0:
        return f"no {quote(tail)} after {quote(parsed.to_readable(rest))}"
    return ""
