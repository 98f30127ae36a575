"""
URLs that a path pattern matches, a shortest one first, and near misses with the reason of each.

Matches are made by filling the stars; misses by changing a match a little. None is believed: all
are put to the engine's matcher and to the trace of `tracing`, and what is not in the form that is
compared is left out. Nothing longer than a URL can be is shown. It does not say what a pattern
means: `words` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from robotrules.analysis.rules import overlaps
from robotrules.analysis.solver import vetted
from robotrules.analysis.tracing import Cut, Span
from robotrules.analysis.values import Undecided, Witness
from robotrules.errors import WrongWitnessError

# RFC 9110 §4.1 asks everybody to support URLs of 8,000 octets, and many support no more.
LONGEST_URL = 8_000
# A pattern of more octets is not searched for a shortest URL, where counting does not prove one.
# Real patterns have less than a hundred octets, and see some hundred states.
MOST_SEARCHED = 1_000
BUDGET = 5_000
MOST_MATCHES = 5
MOST_MISSES = 6
# Misses for one reason; of what follows an end, a path and a query are worth showing.
MOST_ALIKE = {"follows": 2, "incomplete": 2}
# Stars and open ends are filled with a letter that the pattern does not have, if one is left.
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
        """The path at `https://example.com`: any other origin would do."""
        return self.witness.url

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {**self.witness.as_dict(), "code": self.code, "reason": self.reason}


class Examples(NamedTuple):
    """What a pattern matches and nearly matches."""

    matches: tuple[Witness, ...]
    shortest: bool
    """Whether it is proved that no URL that matches is shorter than the first."""
    misses: tuple[Miss, ...]
    empty: bool | None
    """Whether no URL matches. None: none was found, and that there is none is not proved."""


def examples(cut: Cut) -> Examples:
    """Return URLs that a pattern matches, the shortest first, and some that it just misses."""
    best, proved, empty = _shortest(cut)
    if best is None:
        return Examples((), False, (), empty)
    if len(best) > LONGEST_URL:
        return Examples((), False, (), False)
    found = {best: _sure(cut, best, True)}
    for path in _candidates(cut):
        if len(found) == MOST_MATCHES:
            break
        if path not in found and is_real(cut, path, True):
            found[path] = _sure(cut, path, True)
    ordered = sorted(found, key=lambda path: (path != best, len(path), path))
    matches = tuple(found[path] for path in ordered)
    return Examples(matches, proved, tuple(_misses(cut, best)), False)


def is_real(cut: Cut, path: bytes, matches: bool) -> bool:
    """Tell whether a URL has this very path, and whether it matches is as said."""
    if len(path) > LONGEST_URL:
        return False
    return cut.path_of(vetted(path, []).url) == (path, matches)


def _sure(cut: Cut, path: bytes, matches: bool) -> Witness:
    """Return a path as a witness, after the matcher and the trace confirmed it."""
    witness = vetted(path, [])
    found = cut.trace(witness.url)
    if found.matches != matches or cut.path_of(witness.url)[0] != path:
        says = "match" if matches else "not match"
        raise WrongWitnessError(
            f"{witness.url} should {says} {cut.form!r}, and its path is {found.path!r}: please "
            "report this with the pattern"
        )
    return witness


# --- Matches --------------------------------------------------------------------------------------


def _shortest(cut: Cut) -> tuple[bytes | None, bool, bool | None]:
    """Return a shortest path that matches, whether that is proved, and whether there is none."""
    if not cut.usable:
        return None, False, True
    best: bytes | None = None
    for fill, end in ((b"", b""), (b"?", b""), (b"a", b""), (b"a?", b""), (b"", b"a")):
        path = _joined(cut, fill, b"", b"" if cut.bound else end)
        if cut.path_of(vetted(path, []).url) == (path, True):
            best = path if best is None else min(best, path, key=len)
        if best and (len(best) == cut.least or cut.least > LONGEST_URL):
            # A path that matches has all pieces, one after another: nothing can be shorter.
            return best, len(best) == cut.least, False
    if len(cut.lean) <= MOST_SEARCHED:
        found = overlaps(cut.lean, "/", cut.profile, budget=BUDGET)
        if isinstance(found, Witness):
            return found.path.encode("utf-8", "surrogateescape"), True, False
        if not isinstance(found, Undecided):
            return None, False, True
    if best is None:
        return None, False, True if has_dot_segment(cut) else None
    return best, False, False


def has_dot_segment(cut: Cut) -> bool:
    """Tell whether the literal beginning has a dot segment, which the paths of URLs lose."""
    if cut.profile.url_as_given:
        return False
    before, mark, _ = cut.first.partition(b"?")
    segments = before.split(b"/")
    closed = mark or (cut.bound and not cut.floats)
    return any(segment in (b".", b"..") for segment in (segments if closed else segments[:-1]))


def _joined(cut: Cut, fill: bytes, then: bytes = b"", end: bytes = b"") -> bytes:
    """Return the pieces with *fill* for the first star, *then* for the others, and an *end*."""
    parts, queried, star = [cut.first], b"?" in cut.first, fill
    for in_path, in_query in cut.floats:
        queried = queried or b"?" in star
        piece = in_query if queried else in_path
        parts += [star, piece]
        queried, star = queried or b"?" in piece, then
    path = b"".join(parts) + end
    return path if path.startswith(b"/") else b"/" + path


def word(cut: Cut) -> bytes:
    """Return a letter to fill stars with."""
    return _words(cut)[:1]


def _words(cut: Cut) -> bytes:
    """Return a letter, a slash and another letter."""
    free = [octet for octet in LETTERS if octet not in cut.value] + list(LETTERS[:2])
    return b"%c/%c" % (free[0], free[1])


def typical(cut: Cut) -> bytes:
    """Return a path such as people have: parameters in the query, folders before it."""
    fill, parts, queried = word(cut), [cut.first], b"?" in cut.first
    before = cut.raw_first
    for raw, (in_path, in_query) in zip(cut.raw, cut.floats, strict=True):
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


def endings(cut: Cut, path: bytes) -> list[bytes]:
    """Return what may follow a path where the pattern is open."""
    fill = word(cut)
    if cut.bound:
        return []
    if path.endswith(b"?"):
        return [PARAMETER]
    if b"?" in path:
        return [b"1", b"1&" + PARAMETER] if path.endswith(b"=") else [b"&" + PARAMETER]
    if path.endswith(b"/"):
        return [fill, b"?" + PARAMETER, _words(cut)]
    return [b"/", b"?" + PARAMETER, b"/" + fill, b"-" + fill]


def _candidates(cut: Cut) -> Iterator[bytes]:
    """Yield paths that may well match, those that show most first."""
    usual, fill = typical(cut), word(cut)
    if cut.floats:
        yield usual
        if b"?" not in cut.first:
            if b"?" in cut.raw[0] or not set(cut.raw[0]) & set(b"=&"):
                yield _joined(cut, _words(cut), fill)
            if not any(b"?" in raw for raw in cut.raw):
                yield _joined(cut, fill + b"?n=", fill)
    for end in endings(cut, usual):
        yield usual + end


# --- Misses ---------------------------------------------------------------------------------------


def _misses(cut: Cut, best: bytes) -> Iterator[Miss]:
    """Yield near misses, each for a reason that was not given often enough."""
    usual = typical(cut)
    base = usual if is_real(cut, usual, True) else best
    spans, _ = cut.places(base)
    alike: dict[str, int] = {}
    seen: set[bytes] = set()
    given = 0
    for path in _changed(cut, base, spans):
        # What ends with a space does not look as if it did.
        if path in seen or path.endswith(b" ") or not is_real(cut, path, False):
            continue
        seen.add(path)
        witness = _sure(cut, path, False)
        found = cut.trace(witness.url)
        alike[found.code] = alike.get(found.code, 0) + 1
        if alike[found.code] <= MOST_ALIKE.get(found.code, 1):
            yield Miss(witness, found.code, found.reason)
            given += 1
        if given == MOST_MISSES:
            return
    # Nothing nearer: what does not match every URL misses the home page, or another one.
    for path in (b"/", b"/" + word(cut)) if not given else ():
        if is_real(cut, path, False):
            found = cut.trace(_sure(cut, path, False).url)
            yield Miss(vetted(path, []), found.code, found.reason)


def _changed(cut: Cut, base: bytes, spans: list[Span]) -> Iterator[bytes]:
    """Yield paths that differ a little from one that matches; some of them match as well."""
    queried, fill = b"?" in base, word(cut)
    end = spans[-1][1]
    if cut.bound:
        yield base + (b"&" if queried else b"?") + PARAMETER
        yield base + (fill if queried or base.endswith(b"/") else b"/")
    if cut.first == b"/" and cut.floats and cut.floats[0][0].startswith(b"/"):
        yield _joined(cut, b"")[1:]  # one slash for both
    if (mark := _asked_mark(base, spans)) >= 0:
        yield base[:mark].removesuffix(b"/") + b"/" + base[mark + 1 :]
        yield base[: mark + 1] + PARAMETER + b"&" + base[mark + 1 :]
    for begin, _ in spans[1:3]:
        yield base[:begin] + base[begin + _unit(base, begin) :]
    if not cut.floats:
        yield base[: end - _last_unit(base, end)]
    yield _other_case(base, spans)
    if len(cut.first) > 1:
        yield b"/" + fill + base
    for _, stop in spans[:0:-1][:2]:
        yield base[: stop - _last_unit(base, stop)] + base[stop:]
    if len(cut.floats) > 1:
        turned = [*cut.floats[1::-1], *cut.floats[2:]]
        filled = b"".join(fill + (pair[1] if queried else pair[0]) for pair in turned)
        yield cut.first + filled
    slash = base.rfind(b"/", 1, spans[0][1])
    if slash > 0:
        yield base[:slash] + b"%2F" + base[slash + 1 :]
    if len(cut.first) > 1:
        yield base[: spans[0][1] - _last_unit(base, spans[0][1])] + base[spans[0][1] :]


def _asked_mark(path: bytes, spans: list[Span]) -> int:
    """Return where the `?` is, if a piece asks for it; else -1."""
    mark = path.find(b"?")
    return mark if any(start <= mark < end for start, end in spans) else -1


def _unit(path: bytes, at: int) -> int:
    """Return how many octets the letter there has: an escape three, and UTF-8 up to four such."""
    found = LETTER.match(path, at)
    return found.end() - at if found else 1


def _last_unit(path: bytes, end: int) -> int:
    """Return how many octets the last letter has: an escape three, and UTF-8 up to four such."""
    at = end
    while path[at - 3 : at - 2] == b"%" and path[at - 2 : at - 1] in b"89AB" and end - at < 9:
        at -= 3
    return end - at + (3 if path[at - 3 : at - 2] == b"%" else 0) or 1


def _other_case(path: bytes, spans: list[Span]) -> bytes:
    """Return a path with a letter of the last piece that has one, or an ending, in other case."""
    for start, end in reversed(spans):
        at = start
        while at < end:
            if path[at : at + 1].isalpha():
                stop = at + 1
                while path[at - 1 : at] == b"." and stop < end and path[stop : stop + 1].isalpha():
                    stop += 1
                return path[:at] + path[at:stop].swapcase() + path[stop:]
            at += _unit(path, at)
    return path
