"""
Known tag rules: noindex, nosnippet, and those that vendors document; their values.

Two are defined in draft-illyes-repext §3.1.3; the others are practice and shown as "unregistered"
(RTG-5.2-02). A registry may add rules, which are then plain rules. The table has the kind of value
that a rule takes; `stricter` returns which of two values restricts more. It does not parse
carriers.
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

# The value of a rule: True for a plain one.
Value = bool | int | str | datetime

# draft-illyes-repext §3.1.1, §3.1.2: the name for all crawlers in a field and in a meta element.
EVERYONE = "*"
ROBOTS = "robots"

# max-image-preview, the most restrictive first (AMB-84).
PREVIEWS = ("none", "standard", "large")
# No number of characters or seconds has more digits.
MAX_DIGITS = 18
MOST_LETTERS = 40


class ValueKind(StrEnum):
    """What kind of value a known rule takes."""

    PLAIN = "plain"
    """None: noindex."""
    NUMBER = "number"
    PREVIEW = "preview"
    DATE = "date"
    PERMITS = "permits"
    """None, and the rule permits the default, so it has no effect (AMB-86): index, follow, all."""


class KnownTagRule(NamedTuple):
    """A tag rule that is known."""

    name: str
    kind: ValueKind
    words: str
    """What it requests, in a few words."""
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
# The rules that a permitting rule lifts, for a vendor that lets it win (VEN-09).
LIFTS = {
    "index": ("noindex",),
    "follow": ("nofollow",),
    "archive": ("noarchive",),
    "all": ("noindex", "nofollow", "noarchive"),
}
# The rule that permits indexing beside the `noindex` that it lifts.
EMBEDS = "indexifembedded"
# VEN-05: it weakens a `noarchive` beside it, in one profile.
NOCACHE = "nocache"
# "No limit" in a rule that is a number (XRT-08, XRT-10).
NO_LIMIT = -1


class ParsedValue(NamedTuple):
    """The value of a rule, read from text or from a Structured Field."""

    value: Value | None
    """None: it cannot be used."""
    note: str | None = None
    """The code of a note about it."""


def permits(name: str, value: Value | None) -> bool:
    """
    Return whether a page with this rule permits more than a page without it.

    Such a rule counts only if it follows the grammar of its carrier. Rules recovered from a
    malformed field may only restrict (AMB-67).
    """
    known = KNOWN.get(name)
    permitting = known is not None and known.kind is ValueKind.PERMITS
    return permitting or name == EMBEDS or value == PREVIEWS[-1]


def read_text(name: str, text: str | None) -> ParsedValue:
    """Read the text after the colon of a rule; None: there was no colon."""
    known = KNOWN.get(name)
    if known is None or name not in VALUED:
        # No vendor documents `noindex:true`, but the intention is clear.
        return ParsedValue(True) if text is None else _without_value(name)
    return _READERS[known.kind](text.strip(" \t\r\n\f") if text is not None else "")


def read_parameter(name: str, value: Any) -> ParsedValue:
    """
    Read the value of a parameter (AMB-71): False means no instruction, any other value the rule.

    A rule that takes a value accepts one of its type, and text in a String or Token as `read_text`.
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
    """Return the value of a rule that takes none and was given one: it may still restrict."""
    return (
        ParsedValue(None, "bad-value")
        if permits(name, True)
        else ParsedValue(True, "value-not-used")
    )


def _read_number(text: str) -> ParsedValue:
    number = re.fullmatch(r"-1|\d+", text, re.ASCII)
    if not number or len(text) > MAX_DIGITS:
        return ParsedValue(None, "bad-value")
    return ParsedValue(int(text))


def _read_preview(text: str) -> ParsedValue:
    return ParsedValue(text.lower()) if text.lower() in PREVIEWS else ParsedValue(None, "bad-value")


def _read_date(text: str) -> ParsedValue:
    date = parse_date(text)
    if date is None:
        return ParsedValue(None, "bad-value")
    return ParsedValue(date.moment, "unknown-zone" if date.assumed else None)


_READERS: dict[ValueKind, Callable[[str], ParsedValue]] = {
    ValueKind.NUMBER: _read_number,
    ValueKind.PREVIEW: _read_preview,
    ValueKind.DATE: _read_date,
}


@lru_cache(2048)
def resembles_known_rule(name: str) -> bool:
    """Return whether an unknown rule looks like a known one: `no-index`, `nofollow;`."""
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


def to_json_value(value: Value) -> bool | int | str:
    """Return a value for JSON: a datetime in ISO 8601."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return value
