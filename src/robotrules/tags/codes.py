"""
What readers of tags say about a field or an element: codes, levels, sentences, and the note.

A note of a robots.txt has a line of that file; a note here has a source, which is a field line or a
meta element. Codes mean one thing in both. It does not know who makes a note or when.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

from robotrules.robotstxt.values import SENTENCES

# `error`: something is not used; `warning`: it is used, and probably not as meant; `info`: good to
# know.
CODES: dict[str, tuple[str, str]] = {
    "bad-field": ("error", "The field is no Structured Fields List, so it says nothing."),
    "salvaged": ("error", "The field fails to parse; only what stands before the failure counts."),
    "field-cut": ("error", "Longer than the limit: what is cut, and the rest, is not used."),
    "uppercase-key": ("warning", "Rules in Robots-Tag are in lower case; elsewhere this voids it."),
    "empty-field-line": ("info", "A field line without a value was skipped."),
    "legacy-syntax": ("warning", "A rule without a product token; Robots-Tag wants '*;noindex'."),
    "not-a-product-token": ("error", "The member names no product token, so it says nothing."),
    "deprecated-field": (
        "info",
        "A draft renames it to Robots-Tag; most crawlers know only the old name, so send both.",
    ),
    "structured-legacy-field": ("info", "X-Robots-Tag in the grammar of Robots-Tag was read so."),
    "field-not-documented": (
        "warning",
        "Robots-Tag was not read: this vendor documents X-Robots-Tag alone. Send both.",
    ),
    "odd-product-token": (
        "warning",
        "This is no product token, so no tag can name it: robotrules.product_token() finds the one "
        "in a User-Agent header.",
    ),
    "no-field-line": ("warning", "The text has no field line, which is a name, ':' and a value."),
    "misspelt-rule": ("warning", "Nobody has defined this rule; one that is known looks like it."),
    "field-not-read": ("info", "There is a Robots-Tag, so X-Robots-Tag was not read."),
    "scope-may-be-wider": ("warning", "Lines may have been joined, so later rules may be for all."),
    "unknown-rule": ("info", "Nobody that is known has defined this rule; it has no effect."),
    "bad-value": ("error", "The rule cannot have this value, so it is not used."),
    "value-not-used": ("warning", "The rule takes no value; it is in force all the same."),
    "unknown-zone": ("warning", "The time zone is missing or unknown; it was read as UTC."),
    "space-separated": ("warning", "Commas part rules; whitespace was read like one."),
    "meta-outside-head": (
        "warning",
        "Only meta elements in the head count; this one is in the body.",
    ),
    "only-without-scripting": ("info", "The element is in the head only where scripting is off."),
    "only-in-final-dom": ("info", "A script added this rule; it is not in the initial HTML."),
    "only-in-initial-html": ("info", "A script removed this rule, which lifts nothing."),
    "not-a-carrier": ("warning", "Only the attribute 'name' makes a robots meta element."),
    "head-not-final": (
        "error",
        "The head does not end within max_html_bytes, or the page was cut: the rest is not read.",
    ),
    # One answer over all carriers
    "not-crawled": (
        "warning",
        "robots.txt disallows the URL, so the tags of its page are unknown. A URL that others link "
        "to may be listed all the same: to keep it out, allow the crawl and say noindex there.",
    ),
    "noindex-not-seen": (
        "warning",
        "The page says noindex to nobody, because robots.txt keeps crawlers from reading it: allow "
        "the crawl, or drop the noindex.",
    ),
    "tags-not-seen": (
        "warning",
        "The page has tag rules that nobody reads, because robots.txt keeps crawlers from it.",
    ),
    "page-not-read": (
        "info",
        "Not all of the page was given or read, so there may be more tag rules.",
    ),
    "headers-not-read": ("info", "The headers were not given, so what fields say is unknown."),
    "tags-not-read": ("info", "Neither headers nor a page were given, so its tags are unknown."),
    "page-too-complex": (
        "error",
        "The page nests too deep or has too many names to be parsed; what follows is not read.",
    ),
    "not-html": ("info", "The media type is not HTML, so no meta element was looked for."),
}
SENTENCES.update({code: sentence for code, (_, sentence) in CODES.items()})


class Carrier(StrEnum):
    """What carries tag rules."""

    ROBOTS_TAG = "Robots-Tag"
    X_ROBOTS_TAG = "X-Robots-Tag"
    META = "meta"


class PageState(StrEnum):
    """Which state of a page an element is in (draft-illyes-repext §4)."""

    INITIAL = "initial"
    FINAL = "final"


class TagSource(NamedTuple):
    """Where a tag rule was said: a line of a field, or an element of a page."""

    carrier: Carrier
    line: int | None = None
    """The number of the field's line among those of its name, from 1."""
    element: int | None = None
    """The position of the element among the page's meta elements, from 1."""
    state: PageState | None = None
    """Initial HTML or final DOM; None for a field."""
    over_tls: bool | None = None
    """Whether it came over TLS, without which anybody on the way may have changed it (§4)."""

    def __str__(self) -> str:
        if self.carrier is Carrier.META:
            where = f"meta element {self.element}"
            return where if self.state is PageState.INITIAL else f"{where} of the final DOM"
        return f"{self.carrier} line {self.line}" if self.line else str(self.carrier)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "carrier": str(self.carrier),
            "line": self.line,
            "element": self.element,
            "state": str(self.state) if self.state else None,
            "over_tls": self.over_tls,
        }


class TagNote(NamedTuple):
    """What was tolerated or could not be used, as data: a code, a level, a source, a span."""

    code: str
    level: str
    source: TagSource | None
    """None when it is about the page or the response as a whole."""
    start: int | None = None
    """Where in the field line or in the element's content, in octets or characters."""
    end: int | None = None

    @property
    def message(self) -> str:
        """One sentence for people."""
        return SENTENCES[self.code]

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "code": self.code,
            "level": self.level,
            "message": self.message,
            "source": self.source.as_dict() if self.source else None,
            "start": self.start,
            "end": self.end,
        }


def note(
    code: str, source: TagSource | None = None, start: int | None = None, end: int | None = None
) -> TagNote:
    """Return a note with the level of its code."""
    return TagNote(code, CODES[code][0], source, start, end)
