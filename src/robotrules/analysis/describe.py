"""
A path pattern in words: what it matches, what it nearly matches, and common mistakes.

    from robotrules.analysis import describe
    description = describe("/*/print$")
    description.sentence                 # one or two sentences for the owner of a website
    description.matches[0].url           # a shortest URL that it matches
    [(miss.url, miss.reason) for miss in description.misses]

The engine's matcher confirms every URL before it is shown. Every pattern has a description, in time
and memory linear in its octets. The module does not use rules or files.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from robotrules.analysis.pattern_examples import (
    MAX_SEARCHED,
    MAX_STATES,
    Examples,
    Miss,
    find_examples,
    has_dot_segment,
)
from robotrules.analysis.pattern_hints import Hint, find_hints
from robotrules.analysis.pattern_trace import MatchedSpan, ParsedPattern, Trace, quote, trace
from robotrules.analysis.rules import includes
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

# Pieces that a sentence names, and pieces that are listed.
MAX_NAMED = 4
MAX_PARTS = 100


class PatternPart(NamedTuple):
    """A piece of a pattern as written, and what it requires."""

    text: str
    asks: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


class Description(NamedTuple):
    """The meaning of a path pattern."""

    pattern: str
    """As written; an octet that is not UTF-8 is shown as `\\xNN`."""
    form: str
    """The form that is compared."""
    octets: int
    """Its precedence: the octets of that form."""
    profile: str
    sentence: str
    parts: tuple[PatternPart, ...]
    """The pieces in order, at most a hundred."""
    matches: tuple[Witness, ...]
    """URLs that it matches, the shortest first; none of more than 8,000 octets."""
    shortest: bool
    """Whether it is proved that no shorter URL than the first matches."""
    misses: tuple[Miss, ...]
    """URLs that nearly match, each with the reason why it does not."""
    notes: tuple[Hint, ...]
    empty: bool | None
    """Whether no URL matches. None: no such URL was found, and its absence is not proved."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        lists = {
            name: [found.as_dict() for found in getattr(self, name)]
            for name in ("parts", "matches", "misses", "notes")
        }
        return self._asdict() | lists


def describe(pattern: str | bytes, profile: str | Profile = "default") -> Description:
    """Describe in words what a path pattern matches, with URLs that match and near misses."""
    parsed = ParsedPattern(pattern, profile)
    shown_by = find_examples(parsed)
    return Description(
        pattern=to_text(parsed.value),
        form=parsed.form,
        octets=parsed.octets,
        profile=parsed.given_profile.name,
        sentence=_sentence(parsed, shown_by),
        parts=tuple(_parts(parsed, shown_by)),
        matches=shown_by.matches,
        shortest=shown_by.shortest,
        misses=shown_by.misses,
        notes=find_hints(parsed, shown_by),
        empty=shown_by.empty,
    )


# --- The sentence ---------------------------------------------------------------------------------


def _sentence(parsed: ParsedPattern, found: Examples) -> str:
    if found.empty:
        return "Matches no URL at all."
    if _matches_all(parsed):
        return "Matches every URL."
    if not parsed.floats:
        return _about_beginning(parsed)
    if parsed.first in (b"", b"/"):
        return f"Matches every URL that {_about_floats(parsed)}{_about_first_slash(parsed, found)}"
    start = _begins(parsed.raw_first)
    return f"Matches every URL whose {start} and that {_about_floats(parsed, ' after it')}."


def _matches_all(parsed: ParsedPattern) -> bool:
    """Return whether it is proved that every URL matches."""
    if not parsed.value or parsed.reduced in (b"*", b"/"):
        return True
    if len(parsed.reduced) > MAX_SEARCHED or not parsed.path_of(b"/")[1]:
        return False
    return includes(parsed.reduced, "/", parsed.profile, max_states=MAX_STATES) is True


def _begins(first: bytes) -> str:
    if b"?" in first:
        return f"path and query begin with {quote(first)}"
    return f"path begins with {quote(first)}"


def _about_beginning(parsed: ParsedPattern) -> str:
    if not parsed.anchored:
        return f"Matches every URL whose {_begins(parsed.raw_first)}, whatever follows."
    if parsed.first == b"/":
        return "Matches only one URL: the home page, '/', without a query."
    query = "" if b"?" in parsed.first else " and no query"
    return f"Matches only one path: {quote(parsed.raw_first)}, with nothing after it{query}."


def _about_floats(parsed: ParsedPattern, after: str = "") -> str:
    """Describe the pieces after the beginning."""
    *inner, last = parsed.raw
    ends = f"ends with {quote(last)}" if parsed.anchored else ""
    if not parsed.anchored:
        inner.append(last)
    if not inner:
        return ends
    if inner == [b"?"] and not after:
        has = "has a '?'" if ends else "has a '?', with or without something after it"
    else:
        named = inner if len(inner) <= MAX_NAMED else inner[: MAX_NAMED - 1]
        has = "has " + " and later ".join(map(quote, named)) + after
        if len(named) < len(inner):
            has += f" and later {len(inner) - len(named):,} other pieces in this order"
        elif len(inner) == 1 and not ends and not after:
            has += " in it" if set(inner[0]) & set(b"?&=") else " in its path or query"
    return f"{has} and {ends}" if ends else has


def _about_first_slash(parsed: ParsedPattern, found: Examples) -> str:
    """Return the end of a sentence: a piece does not include the first slash of a path."""
    if parsed.first != b"/" or not parsed.floats[0][0].startswith(b"/"):
        return "."
    words = ", not counting the first '/' of its path."
    for miss in found.misses:
        if miss.code == "overlap":
            path = quote(miss.witness.path.encode("utf-8", "surrogateescape"))
            return f"{words} So {path} itself does not match."
    return words


# --- The pieces -----------------------------------------------------------------------------------


def _parts(parsed: ParsedPattern, found: Examples) -> list[PatternPart]:
    """Return the pieces in order; adjacent stars are one piece."""
    parts = []
    impossible = found.empty and (parsed.raw_first[:1] != b"/" or has_dot_segment(parsed))
    pieces = parsed.pieces()
    for number, (name, text) in enumerate(pieces[:MAX_PARTS]):
        last = number + 1 == len(pieces)
        behind_star = number > 0 and pieces[number - 1][0] == "star"
        if name == "first":
            asks = "every path begins with this" if text == b"/" else "the path begins with this"
            asks = "no path begins with this" if impossible else asks
        elif name == "float":
            asks = "then this, wherever it is"
            if not last and parsed.anchored and pieces[number + 1][0] == "end":
                asks = "then this, at the very end"
        elif name == "end":
            asks = "the end, but the '*' before it leaves it open"
            if not behind_star:
                asks = "the end: nothing follows, not even a query"
        else:
            at_end = last or pieces[number + 1][0] == "end"
            asks = "any characters, or none" + ("; without effect at the end" if at_end else "")
        parts.append(PatternPart(to_text(text), asks))
    if rest := len(pieces) - len(parts):
        parts.append(PatternPart("…", f"{rest:,} more pieces"))
    return parts
