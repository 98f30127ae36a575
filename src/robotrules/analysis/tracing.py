"""
One path pattern against one URL, step by step: where each piece is found, or why there is no match.

The engine says whether a URL matches, and this says where. The two never differ: each trace is put
to the engine's matcher, and one that disagrees is an error. It does not make examples: `examples`
does.
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

# What a sentence shows of a piece; patterns may have as many octets as a file.
MOST_SHOWN = 40
# Beyond so many octets, a pattern is matched without the stars that ask for nothing.
MOST_STARS = 4_096

ESCAPE = re.compile(rb"(%[0-9A-F]{2})")
Span = tuple[int, int]
# A piece as it is spelled in the path and in the query (AMB-33).
Spelled = tuple[bytes, bytes]


class MatchedSpan(NamedTuple):
    """A piece of a pattern, and the octets of the path that it took, counted from 0."""

    text: str
    start: int
    end: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


class Trace(NamedTuple):
    """What became of a URL that was held against a pattern."""

    url: str
    path: str
    """Path and query in the form that is compared."""
    matches: bool
    steps: tuple[MatchedSpan, ...]
    """The pieces in their order, as far as they were found."""
    code: str
    """Why it does not match, for programs; empty: it does."""
    reason: str
    """Why it does not match, for people."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {**self._asdict(), "steps": [step.as_dict() for step in self.steps]}


def trace(pattern: str | bytes, url: str | bytes, profile: str | Profile = "default") -> Trace:
    """Tell where the pieces of a path pattern are found in a URL, or why it does not match."""
    return Cut(pattern, profile).trace(url)


def quoted(octets: bytes) -> str:
    """Return octets in quotes, as many of them as a sentence has room for."""
    text = to_text(octets[: 4 * MOST_SHOWN])
    room = len(octets) <= 4 * MOST_SHOWN and len(text) <= MOST_SHOWN
    return f"'{text}'" if room else f"'{text[: MOST_SHOWN - 1]}…'"


class Cut:
    """A path pattern cut at its wildcards, with the engine's matcher of it."""

    def __init__(self, pattern: str | bytes, profile: str | Profile) -> None:
        self.value = to_octets(pattern)
        # What a rule for an index page allows beyond its pattern (AMB-47) is not of the pattern.
        self.asked = find_profile(profile)
        self.profile = self.asked.replace(index_page=False)
        self.settings = self.profile.settings(pure_settings)
        self.dollar = self.value.endswith(b"$")
        self.raw_first, *others = self.value.removesuffix(b"$").split(b"*")
        # `$` behind a star asks for nothing, nor does a star behind a star.
        self.bound = self.dollar and not (others and not others[-1])
        self.raw = [raw for raw in others if raw]
        self.stars = _runs(others)
        self.lean = self._lean()
        if len(self.value) <= MOST_STARS or self.lean == self.value:
            self.rules = RuleSet.from_patterns([pattern], self.profile)
            self.form = self.rules.rules[0].form
        else:
            self.rules = RuleSet.from_patterns([self.lean], self.profile)
            self.form = normalize_path(pattern, pattern=True, profile=self.profile)
        self.octets = len(self.form.encode())
        shape = Pattern(self.lean, self.settings)
        self.first = self.shown(shape.prefix)
        self.floats = [
            (self.shown(in_path), self.shown(in_query))
            for in_path, in_query in shape.pieces
            if in_path
        ]
        # What a path that matches has at least: all pieces, and nothing between them.
        self.least = max(len(self.first) + sum(min(map(len, pair)) for pair in self.floats), 1)

    def _lean(self) -> bytes:
        """Return a pattern that matches the same, without stars that ask for nothing."""
        value = b"*".join([self.raw_first, *self.raw])
        if self.bound:
            return value + b"$"
        # Behind a star, a `$` was an ordinary octet, and has to stay one.
        return value + b"*" if value.endswith(b"$") or (self.value and not value) else value

    @property
    def usable(self) -> bool:
        """Whether a rule with this pattern is used at all."""
        return self.rules.count_usable() > 0

    @property
    def trailing(self) -> int:
        """How many stars stand at the end, where they ask for nothing."""
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

    def shown(self, octets: bytes) -> bytes:
        """Return octets that are compared as people read them."""
        return to_readable(octets, self.settings)

    def places(self, path: bytes, *, bound: bool | None = None) -> tuple[list[Span], bool]:
        """Return where the pieces are in a path, and whether it matches."""
        bound = self.bound if bound is None else bound
        return places(self.compared(self.first), self.spelled(), bound, self.compared(path))

    def spelled(self) -> list[Spelled]:
        """Return the pieces after the stars as they are compared."""
        return [(self.compared(one), self.compared(other)) for one, other in self.floats]

    def path_of(self, url: str | bytes) -> tuple[bytes, bool]:
        """Return the path of a URL, and whether the engine says that it matches."""
        path, found = self.rules.find_matches(url)
        return path, bool(found)

    def trace(self, url: str | bytes) -> Trace:
        """Return what becomes of a URL, after the engine agreed."""
        path, matches = self.path_of(url)
        where, code, words = to_text(to_octets(url)), "", ""
        spans, found = self.places(path)
        if not self.usable:
            code, words = "never", "the pattern matches no URL at all"
            spans, found = [], False
        elif not found:
            code, words = why_not(self, path)
            if code == "follows":  # all pieces are there
                spans, _ = self.places(path, bound=False)
        if found != matches:
            raise WrongWitnessError(
                f"{where} {'matches' if matches else 'does not match'} {self.form!r}, and its "
                "pieces say otherwise: please report this with the pattern"
            )
        steps = self._steps(spans, found, len(path))
        return Trace(where, to_text(path), matches, tuple(steps), code, words)

    def _steps(self, spans: list[Span], found: bool, end: int) -> list[MatchedSpan]:
        """Return the pieces that were found, each star with what it stands for."""
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


def _runs(others: list[bytes]) -> list[int]:
    """Return how many stars stand before each piece that is not empty, and at the end."""
    runs, stars = [], 0
    for piece in others:
        stars += 1
        if piece:
            runs.append(stars)
            stars = 0
    return [*runs, stars]


# --- Where ----------------------------------------------------------------------------------------


def places(
    first: bytes, floats: list[Spelled], bound: bool, path: bytes
) -> tuple[list[Span], bool]:
    """
    Return where the beginning and the pieces after it are, and whether the path matches.

    All are as they are compared. Each as early as it can be, which is never worse than later;
    *bound*: the last at the very end.
    """
    if not path.startswith(first):
        return [], False
    spans = [(0, len(first))]
    if not floats:
        return spans, not bound or path == first
    query = query_of(path)
    for piece in floats[:-1] if bound else floats:
        span = find(piece, path, spans[-1][1], query)
        if span is None:
            return spans, False
        spans.append(span)
    if not bound:
        return spans, True
    span = find_last(floats[-1], path, query)
    if span is None or span[1] < len(path) or span[0] < spans[-1][1]:
        return spans, False
    return [*spans, span], True


def query_of(path: bytes) -> int:
    """Return where the query begins, behind the `?`."""
    return path.find(b"?") + 1 or len(path) + 1


def find(piece: Spelled, path: bytes, at: int, query: int) -> Span | None:
    """Return the first place of a piece from an octet on, in the spelling of the part it is in."""
    in_path, in_query = piece
    if in_path == in_query:
        start = path.find(in_path, at)
        return (start, start + len(in_path)) if start >= 0 else None
    start = path.find(in_path, at, query - 1 + len(in_path)) if at < query else -1
    if start >= 0:
        return start, start + len(in_path)
    start = path.find(in_query, max(at, query))
    return (start, start + len(in_query)) if start >= 0 else None


def find_last(piece: Spelled, path: bytes, query: int) -> Span | None:
    """Return the last place of a piece."""
    in_path, in_query = piece
    start = path.rfind(in_query, 0 if in_path == in_query else query)
    if start >= 0:
        return start, start + len(in_query)
    start = path.rfind(in_path, 0, query - 1 + len(in_path))
    return (start, start + len(in_path)) if start >= 0 else None


# --- Why not --------------------------------------------------------------------------------------


def why_not(cut: Cut, path: bytes) -> tuple[str, str]:
    """Return a code and a sentence for a path that does not match; what they say is true of it."""
    first, floats, bound = cut.compared(cut.first), cut.spelled(), cut.bound
    lowered = [(cut.compared(_lower(a)), cut.compared(_lower(b))) for a, b in cut.floats]
    if places(cut.compared(_lower(cut.first)), lowered, bound, cut.compared(_lower(path)))[1]:
        return "case", "upper and lower case differ"
    if bound and places(first, floats, False, cut.compared(path))[1]:
        units = cut.compared(path)
        last = find_last(floats[-1], units, query_of(path)) if floats else (0, len(first))
        rest = path[last[1] if last else 0 :]
        return "follows", f"something follows the end: {quoted(rest)}"
    before, mark, after = path.partition(b"?")
    if b"%2F" in before:
        if cut.places(before.replace(b"%2F", b"/") + mark + after)[1]:
            return "escaped-slash", "an escaped slash, '%2F', is no '/'"
    if places(cut.first, cut.floats, bound, path)[1]:
        return "inside-escape", "a '*' would end inside an escape, which counts as one character"
    spelled = normalize_minimal(path)
    if spelled != path and cut.places(spelled)[1]:
        return "spelling", f"a URL is compared as it is spelled, with {quoted(cut.form.encode())}"
    spans, _ = cut.places(path)
    if not spans:
        return _why_not_begun(cut, path)
    return _why_not_found(cut, path, spans)


def _lower(octets: bytes) -> bytes:
    """Return letters in lower case; those of an escape are no letters."""
    parts = ESCAPE.split(octets)
    parts[::2] = [part.lower() for part in parts[::2]]
    return b"".join(parts)


def _why_not_begun(cut: Cut, path: bytes) -> tuple[str, str]:
    """Say why a path does not have the beginning of the pattern."""
    first, written = cut.first, quoted(cut.raw_first)
    if b"?" in first and b"?" not in path:
        return "no-query", "no '?'"
    if first.startswith(path):
        return "incomplete", f"no {quoted(first[len(path) :])} after {quoted(path)}"
    if cut.compared(first) in cut.compared(path):
        return "not-at-beginning", f"{written} is not at the beginning"
    same = next(i for i, octet in enumerate(first) if path[i] != octet)
    if path[same:].startswith(first[same + 1 :]) and same + 1 < len(first):
        lost = quoted(first[same : same + 1])
        return "incomplete", f"no {lost} before {quoted(first[same + 1 :])}"
    end = len(first)
    end += 2 if path[end - 1 : end] == b"%" else path[end - 2 : end - 1] == b"%"  # no half escape
    return "begins-otherwise", f"begins with {quoted(path[:end])}, not with {written}"


def _why_not_found(cut: Cut, path: bytes, spans: list[Span]) -> tuple[str, str]:
    """Say why the next piece is not found behind those that are."""
    number, at, query = len(spans) - 1, spans[-1][1], query_of(path)
    piece, raw, units = cut.spelled()[number], cut.raw[number], cut.compared(path)
    behind = quoted(cut.raw[number - 1] if number else cut.raw_first)
    place = find_last(piece, units, query)
    if b"?" in raw and not path.count(b"?") and place is None:
        return "no-query", "no '?'"
    if place and place[0] < at:
        start = spans[-1][0]
        if place[1] <= start:
            return "order", f"{quoted(raw)} is only before {behind}"
        shared = path[max(place[0], start) : min(place[1], at)]
        return "overlap", f"the same {quoted(shared)} cannot count twice"
    at_end = cut.bound and number + 1 == len(cut.floats)
    for here, since in dict.fromkeys(((piece[0], at), (piece[1], max(at, query)))):
        if nearly := _one_lost(cut, here, units, since, at_end):
            return "incomplete", nearly
    after = f" after {behind}" if number or cut.raw_first not in (b"", b"/") else ""
    return "missing", f"no {quoted(raw)}{after}"


def _one_lost(cut: Cut, piece: bytes, path: bytes, at: int, at_end: bool) -> str:
    """Return which octet at an end of a piece is not there, if the others are; else nothing."""
    head, rest = piece[:1], piece[1:]
    if rest and head != b"%" and (start := path.find(rest, at)) >= 0:
        if not at_end or path.endswith(rest):
            directly = "directly " if head in path[at:start] else ""
            return f"no {quoted(head)} {directly}before {quoted(cut.shown(rest))}"
    rest, tail = piece[:-1], piece[-1:]
    if rest and piece[-3:-2] != b"%" and path.find(rest, at) >= 0:
        return f"no {quoted(tail)} after {quoted(cut.shown(rest))}"
    return ""
