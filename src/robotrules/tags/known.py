"""
The tag rules that are known: noindex, nosnippet, and those that vendors document.

Two are of draft-illyes-repext §3.1.3; the rest are practice, and "unregistered" is said of them
wherever they show (RTG-5.2-02). A registry may add others, which then are plain rules. The table
says what value a rule takes and which of two values restricts more. It does not know where a rule
was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from difflib import get_close_matches
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from robotrules.http.dates import parse_date
from robotrules.http.structured_fields import value_type

# What a rule is set to: True for a plain one.
Value = bool | int | str | datetime

# draft-illyes-repext §3.1.2, §3.1.1: how a meta element and a field call every crawler.
EVERYONE = "*"
ROBOTS = "robots"

# max-image-preview, the most restrictive first (AMB-84).
PREVIEWS = ("none", "standard", "large")
# A number with more digits than this is no number of characters or seconds that anybody counts.
MOST_DIGITS = 18
MOST_LETTERS = 40


class ValueKind(StrEnum):
    """What a known word is."""

    PLAIN = "plain"
    """It is there or it is not: noindex."""
    NUMBER = "number"
    PREVIEW = "preview"
    DATE = "date"
    PERMITS = "permits"
    """It permits what nobody forbade, which has no effect (AMB-86): index, follow, all."""


class KnownTagRule(NamedTuple):
    """A tag rule that is known."""

    name: str
    kind: ValueKind
    words: str
    """What it asks, for people."""
    reference: str


_GOOGLE = "Google, robots meta tag specifications"
_BING = "Bing, Webmaster Guidelines"
_DRAFT = "draft-illyes-repext §3.1.3"

_TABLE = (
    KnownTagRule("noindex", ValueKind.PLAIN, "keep this out of public indexes", _DRAFT),
    KnownTagRule("nosnippet", ValueKind.PLAIN, "show no excerpt of this", _DRAFT),
    KnownTagRule("nofollow", ValueKind.PLAIN, "do not follow the links of this page", _GOOGLE),
    KnownTagRule("noarchive", ValueKind.PLAIN, "offer no stored copy of this", _BING),
    KnownTagRule("nocache", ValueKind.PLAIN, "offer no stored copy of this", _BING),
    KnownTagRule("notranslate", ValueKind.PLAIN, "offer no translation of this", _GOOGLE),
    KnownTagRule("noimageindex", ValueKind.PLAIN, "do not index the images of this page", _GOOGLE),
    KnownTagRule(
        "nositelinkssearchbox", ValueKind.PLAIN, "show no search box for this site", _GOOGLE
    ),
    KnownTagRule("indexifembedded", ValueKind.PLAIN, "index this where it is embedded", _GOOGLE),
    KnownTagRule("noai", ValueKind.PLAIN, "do not use this to train AI", "DeviantArt, 2022"),
    KnownTagRule(
        "noimageai", ValueKind.PLAIN, "do not use the images to train AI", "DeviantArt, 2022"
    ),
    KnownTagRule("noml", ValueKind.PLAIN, "do not use this for machine learning", "Mojeek"),
    KnownTagRule(
        "max-snippet", ValueKind.NUMBER, "show at most this many characters of it", _GOOGLE
    ),
    KnownTagRule(
        "max-video-preview", ValueKind.NUMBER, "show at most this many seconds of a video", _GOOGLE
    ),
    KnownTagRule("max-image-preview", ValueKind.PREVIEW, "show images at most this large", _GOOGLE),
    KnownTagRule(
        "unavailable_after", ValueKind.DATE, "do not show this after that moment", _GOOGLE
    ),
    KnownTagRule("index", ValueKind.PERMITS, "index this", _GOOGLE),
    KnownTagRule("follow", ValueKind.PERMITS, "follow the links of this page", _GOOGLE),
    KnownTagRule("archive", ValueKind.PERMITS, "offer a stored copy of this", "Yandex"),
    KnownTagRule("snippet", ValueKind.PERMITS, "show an excerpt of this", "practice"),
    KnownTagRule("all", ValueKind.PERMITS, "no restriction", _GOOGLE),
)
KNOWN = {known.name: known for known in _TABLE}
# `none` stands for others, and which depends on the profile (AMB-85).
NONE = "none"
VALUED = frozenset(
    known.name
    for known in _TABLE
    if known.kind in (ValueKind.NUMBER, ValueKind.PREVIEW, ValueKind.DATE)
)
# What a permitting word speaks against, where a vendor lets it win (VEN-09).
LIFTS = {
    "index": ("noindex",),
    "follow": ("nofollow",),
    "archive": ("noarchive",),
    "all": ("noindex", "nofollow", "noarchive"),
}
# What makes something permitted that would not be without it: it stands beside what it lifts.
EMBEDS = "indexifembedded"
# VEN-05: beside `noarchive` it leaves less of it, in one profile.
NOCACHE = "nocache"
# "No limit" in a rule that is a number (XRT-08, XRT-10).
NO_LIMIT = -1


class ParsedValue(NamedTuple):
    """The value of a rule, read from text or from a Structured Field."""

    value: Value | None
    """None: it cannot be used."""
    note: str | None = None
    """The code of a note it earns."""


def permits(name: str, value: Value | None) -> bool:
    """
    Tell whether a rule with this value permits more than a page without it.

    Such a rule counts only where its carrier says it by its own grammar. What is read of a broken
    field may restrict, and nothing else (AMB-67).
    """
    known = KNOWN.get(name)
    permitting = known is not None and known.kind is ValueKind.PERMITS
    return permitting or name == EMBEDS or value == PREVIEWS[-1]


def read_text(name: str, text: str | None) -> ParsedValue:
    """Read what stands after the colon of a word; None: there was no colon."""
    known = KNOWN.get(name)
    if known is None or name not in VALUED:
        # `noindex:true` is no rule that anybody documents, and it shows what is meant.
        return ParsedValue(True) if text is None else _without_value(name)
    return _READERS[known.kind](text.strip(" \t\r\n\f") if text is not None else "")


def read_parameter(name: str, value: Any) -> ParsedValue:
    """
    Read the value of a parameter (AMB-71): False is no instruction, anything else is the rule.

    A rule that takes a value reads a fitting one, and the text of a String or Token as `read_text`.
    """
    known = KNOWN.get(name)
    if value is False:
        return ParsedValue(None)
    if known is None or name not in VALUED:
        return ParsedValue(True) if value is True else _without_value(name)
    if isinstance(value, datetime) and known.kind is ValueKind.DATE:
        return ParsedValue(value.astimezone(UTC))
    if isinstance(value, int) and not isinstance(value, bool) and known.kind is ValueKind.NUMBER:
        return ParsedValue(value) if value >= NO_LIMIT else ParsedValue(None, "bad-value")
    if value_type(value) in ("Token", "String"):
        return _READERS[known.kind](str(value))
    return ParsedValue(None, "bad-value")


def _without_value(name: str) -> ParsedValue:
    """Return what a rule is with a value that it does not take: it may restrict all the same."""
    return (
        ParsedValue(None, "bad-value")
        if permits(name, True)
        else ParsedValue(True, "value-not-used")
    )


def _number(text: str) -> ParsedValue:
    found = re.fullmatch(r"-1|\d+", text, re.ASCII)
    if not found or len(text) > MOST_DIGITS:
        return ParsedValue(None, "bad-value")
    return ParsedValue(int(text))


def _preview(text: str) -> ParsedValue:
    return ParsedValue(text.lower()) if text.lower() in PREVIEWS else ParsedValue(None, "bad-value")


def _date(text: str) -> ParsedValue:
    found = parse_date(text)
    if found is None:
        return ParsedValue(None, "bad-value")
    return ParsedValue(found.moment, "unknown-zone" if found.assumed else None)


_READERS: dict[ValueKind, Callable[[str], ParsedValue]] = {
    ValueKind.NUMBER: _number,
    ValueKind.PREVIEW: _preview,
    ValueKind.DATE: _date,
}


@lru_cache(2048)
def looks_known(name: str) -> bool:
    """Tell whether an unknown rule looks like a known one: `no-index`, `nofollow;`."""
    bare = re.sub(r"[^a-z]", "", name[:MOST_LETTERS])
    if any(bare == re.sub(r"[^a-z]", "", known) for known in KNOWN):
        return True
    return bool(get_close_matches(name[:MOST_LETTERS], KNOWN, 1, 0.85))


def stricter(one: Value, other: Value) -> Value:
    """Return the value that restricts more (XRT-15, AMB-84); -1 is not a limit and never wins."""
    match one, other:
        case datetime(), datetime():
            return min(one, other)
        case str(), str():
            return min(one, other, key=PREVIEWS.index)
        case (bool(), _) | (_, bool()):
            return one
        case int(), int():
            limits = [limit for limit in (one, other) if limit != NO_LIMIT]
            return min(limits, default=NO_LIMIT)
    return one


def plain(value: Value) -> bool | int | str:
    """Return a value as JSON has it: a moment in ISO 8601."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return value
