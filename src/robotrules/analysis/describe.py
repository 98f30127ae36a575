"""
A path pattern in words: what it matches, what it nearly matches, and what people get wrong.

    from robotrules.analysis import describe
    found = words.describe("/*/print$")
    found.sentence                       # one or two sentences for whoever runs a website
    found.matches[0].url                 # a shortest URL that it matches
    [(miss.url, miss.reason) for miss in found.misses]

Every URL was put to the engine's matcher before it is shown. Whatever a pattern holds, there is an
answer, in time and room that grow with its octets and no faster. It does not know rules or files.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from robotrules.analysis.examples import (
    BUDGET,
    MOST_SEARCHED,
    Examples,
    Miss,
    examples,
    has_dot_segment,
)
from robotrules.analysis.hints import Hint, hints
from robotrules.analysis.rules import includes
from robotrules.analysis.tracing import Cut, MatchedSpan, Trace, quoted, trace
from robotrules.analysis.values import Witness
from robotrules.octets import to_text
from robotrules.profile import Profile

__all__ = [
    "Description",
    "Hint",
    "MatchedSpan",
    "Miss",
    "PatternPart",
    "Trace",
    "describe",
    "trace",
]

# Pieces that a sentence names, and those that are listed.
MOST_NAMED = 4
MOST_PARTS = 100


class PatternPart(NamedTuple):
    """A piece of a pattern as it was written, and what it asks for."""

    text: str
    asks: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


class Description(NamedTuple):
    """What a path pattern says."""

    pattern: str
    """As written; an octet that is not UTF-8 shows as `\\xNN`."""
    form: str
    """The form that is compared."""
    octets: int
    """How specific it is: the octets of that form."""
    profile: str
    sentence: str
    parts: tuple[PatternPart, ...]
    """The pieces in their order, the first hundred of them."""
    matches: tuple[Witness, ...]
    """URLs that it matches, the shortest first. None are given of more than 8,000 octets."""
    shortest: bool
    """Whether it is proved that no URL that matches is shorter than the first."""
    misses: tuple[Miss, ...]
    """URLs that it just misses, each with the reason."""
    notes: tuple[Hint, ...]
    empty: bool | None
    """Whether no URL matches. None: no such URL was found, and that there is none is not proved."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        lists = {
            name: [found.as_dict() for found in getattr(self, name)]
            for name in ("parts", "matches", "misses", "notes")
        }
        return self._asdict() | lists


def describe(pattern: str | bytes, profile: str | Profile = "default") -> Description:
    """Say in words what a path pattern matches, with URLs that it matches and near misses."""
    cut = Cut(pattern, profile)
    shown_by = examples(cut)
    return Description(
        pattern=to_text(cut.value),
        form=cut.form,
        octets=cut.octets,
        profile=cut.asked.name,
        sentence=_sentence(cut, shown_by),
        parts=tuple(_parts(cut, shown_by)),
        matches=shown_by.matches,
        shortest=shown_by.shortest,
        misses=shown_by.misses,
        notes=hints(cut, shown_by),
        empty=shown_by.empty,
    )


# --- The sentence ---------------------------------------------------------------------------------


def _sentence(cut: Cut, found: Examples) -> str:
    if found.empty:
        return "Matches no URL at all."
    if _matches_all(cut):
        return "Matches every URL."
    if not cut.floats:
        return _about_beginning(cut)
    if cut.first in (b"", b"/"):
        return f"Matches every URL that {_about_floats(cut)}{_about_first_slash(cut, found)}"
    start = _begins(cut.raw_first)
    return f"Matches every URL whose {start} and that {_about_floats(cut, ' after it')}."


def _matches_all(cut: Cut) -> bool:
    """Tell whether every URL matches, as far as that is proved."""
    if not cut.value or cut.lean in (b"*", b"/"):
        return True
    if len(cut.lean) > MOST_SEARCHED or not cut.path_of(b"/")[1]:
        return False
    return includes(cut.lean, "/", cut.profile, budget=BUDGET) is True


def _begins(first: bytes) -> str:
    if b"?" in first:
        return f"path and query begin with {quoted(first)}"
    return f"path begins with {quoted(first)}"


def _about_beginning(cut: Cut) -> str:
    if not cut.bound:
        return f"Matches every URL whose {_begins(cut.raw_first)}, whatever follows."
    if cut.first == b"/":
        return "Matches one URL alone: the home page, '/', without a query."
    query = "" if b"?" in cut.first else " and no query"
    return f"Matches one path alone: {quoted(cut.raw_first)}, with nothing after it{query}."


def _about_floats(cut: Cut, after: str = "") -> str:
    """Say what comes after the beginning."""
    *inner, last = cut.raw
    ends = f"ends with {quoted(last)}" if cut.bound else ""
    if not cut.bound:
        inner.append(last)
    if not inner:
        return ends
    if inner == [b"?"] and not after:
        has = "has a '?'" if ends else "has a '?', with or without something after it"
    else:
        named = inner if len(inner) <= MOST_NAMED else inner[: MOST_NAMED - 1]
        has = "has " + " and later ".join(map(quoted, named)) + after
        if len(named) < len(inner):
            has += f" and later {len(inner) - len(named):,} other pieces in their order"
        elif len(inner) == 1 and not ends and not after:
            has += " in it" if set(inner[0]) & set(b"?&=") else " in its path or query"
    return f"{has} and {ends}" if ends else has


def _about_first_slash(cut: Cut, found: Examples) -> str:
    """End a sentence: the first slash of a path is no part of a piece that begins with one."""
    if cut.first != b"/" or not cut.floats[0][0].startswith(b"/"):
        return "."
    words = ", not counting the first '/' of its path."
    for miss in found.misses:
        if miss.code == "overlap":
            path = quoted(miss.witness.path.encode("utf-8", "surrogateescape"))
            return f"{words} So {path} itself does not match."
    return words


# --- The pieces -----------------------------------------------------------------------------------


def _parts(cut: Cut, found: Examples) -> list[PatternPart]:
    """Return the pieces in their order; stars in a row are one."""
    parts = []
    impossible = found.empty and (cut.raw_first[:1] != b"/" or has_dot_segment(cut))
    pieces = cut.pieces()
    for number, (name, text) in enumerate(pieces[:MOST_PARTS]):
        last = number + 1 == len(pieces)
        behind_star = number > 0 and pieces[number - 1][0] == "star"
        if name == "first":
            asks = "every path begins with this" if text == b"/" else "the path begins with this"
            asks = "no path begins with this" if impossible else asks
        elif name == "float":
            asks = "then this, wherever it is"
            if not last and cut.bound and pieces[number + 1][0] == "end":
                asks = "then this, at the very end"
        elif name == "end":
            asks = "the end, which is open behind a '*'"
            if not behind_star:
                asks = "the end: nothing follows, and no query either"
        else:
            at_end = last or pieces[number + 1][0] == "end"
            asks = "anything, or nothing" + (", as if it were not there" if at_end else "")
        parts.append(PatternPart(to_text(text), asks))
    if rest := len(pieces) - len(parts):
        parts.append(PatternPart("…", f"{rest:,} more pieces"))
    return parts
