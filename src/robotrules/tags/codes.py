"""
Notes on tags: codes, levels and messages, and the class of a note on a field or an element.

A note on a robots.txt has a line of that file; a note here has a source, which is a field line or a
meta element. A code has the same meaning in both.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

from robotrules.robotstxt.values import SENTENCES

# `error`: something is not used; `warning`: it is used, but probably not as intended; `info`: for
# information.
CODES: dict[str, tuple[str, str]] = {
    "bad-field": ("error", "The field is not a Structured Fields List, so it is ignored."),
    "salvaged": ("error", "The field fails to parse; only the rules before the failure count."),
    "field-cut": ("error", "Longer than the limit: the rule that is cut and the rest are ignored."),
    "uppercase-key": (
        "warning",
        "Write rules in Robots-Tag in lower case: strict parsers ignore the whole field.",
    ),
    "empty-field-line": ("info", "A field line without a value was skipped."),
    "legacy-syntax": (
        "warning",
        "A rule without a product token: in Robots-Tag write '*;noindex'.",
    ),
    "not-a-product-token": ("error", "The member names no product token, so it is ignored."),
    "deprecated-field": (
        "info",
        "A draft renames it to Robots-Tag. Most crawlers read only X-Robots-Tag, so send both.",
    ),
    "structured-legacy-field": ("info", "X-Robots-Tag has the syntax of Robots-Tag; it was read."),
    "field-not-documented": (
        "warning",
        "Robots-Tag was not read: this vendor documents only X-Robots-Tag. Send both.",
    ),
    "odd-product-token": (
        "warning",
        "Not a product token, so no tag can name it: robotrules.product_token() finds the token in "
        "a User-Agent header.",
    ),
    "no-field-line": ("warning", "The text has no field line: write a name, ':' and a value."),
    "misspelt-rule": ("warning", "Unknown rule; a known rule has a similar name."),
    "field-not-read": ("info", "There is a Robots-Tag, so X-Robots-Tag was not read."),
    "scope-may-be-wider": (
        "warning",
        "Field lines may have been joined, so later rules may be for all crawlers.",
    ),
    "unknown-rule": ("info", "No draft and no known vendor defines this rule; it has no effect."),
    "bad-value": ("error", "The value is not valid for this rule, so the rule is ignored."),
    "value-not-used": ("warning", "The rule takes no value; it is in force without it."),
    "unknown-zone": ("warning", "The time zone is missing or unknown; UTC was assumed."),
    "space-separated": ("warning", "Separate rules by commas; the space was read as one."),
    "meta-outside-head": (
        "warning",
        "Only meta elements in the head count; this one is in the body.",
    ),
    "only-without-scripting": ("info", "The element is in the head only if scripting is off."),
    "only-in-final-dom": ("info", "A script added this rule; it is not in the initial HTML."),
    "only-in-initial-html": ("info", "A script removed this rule; it stays in force."),
    "not-a-carrier": ("warning", "Only the attribute 'name' makes a robots meta element."),
    "head-not-final": (
        "error",
        "The head does not end within max_html_bytes, or the page was cut: the rest is not read.",
    ),
    # Notes of `guidance`, over all carriers
    "not-crawled": (
        "warning",
        "robots.txt blocks the URL, so the tags of its page are unknown. A URL that other pages "
        "link to may still be listed: to keep it out, allow the crawl and use noindex.",
    ),
    "noindex-not-seen": (
        "warning",
        "Crawlers do not see the noindex of this page, because robots.txt blocks it: allow the "
        "crawl, or remove the noindex.",
    ),
    "tags-not-seen": (
        "warning",
        "Crawlers do not see the tag rules of this page, because robots.txt blocks it.",
    ),
    "page-not-read": (
        "info",
        "Not all of the page was given or read, so there may be more tag rules.",
    ),
    "headers-not-read": ("info", "The headers were not given, so their tag rules are unknown."),
    "tags-not-read": ("info", "Neither headers nor a page were given, so its tags are unknown."),
    "page-too-complex": (
        "error",
        "The page is nested too deeply or has too many names to parse; the rest is not read.",
    ),
    "not-html": ("info", "The media type is not HTML, so meta elements were not read."),
}
SENTENCES.update({code: sentence for code, (_, sentence) in CODES.items()})


class Carrier(StrEnum):
    """A carrier of tag rules: a field, or meta elements."""

    ROBOTS_TAG = "Robots-Tag"
    X_ROBOTS_TAG = "X-Robots-Tag"
    META = "meta"


class PageState(StrEnum):
    """The state of a page that has an element (draft-illyes-repext §4)."""

    INITIAL = "initial"
    FINAL = "final"


class TagSource(NamedTuple):
    """The source of a tag rule: a line of a field, or an element of a page."""

    carrier: Carrier
    line: int | None = None
    """The number of the field line among those of the same name, from 1."""
    element: int | None = None
    """The position of the element among the page's meta elements, from 1."""
    state: PageState | None = None
    """Initial HTML or final DOM; None for a field."""
    over_tls: bool | None = None
    """Whether it came over TLS; without TLS it may have been changed in transit (§4)."""

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
    """A note on something tolerated or not used: a code, a level, a source, a span."""

    code: str
    level: str
    source: TagSource | None
    """None if it is about the page or the response as a whole."""
    start: int | None = None
    """The position in the field line in octets, or in the element's content in characters."""
    end: int | None = None

    @property
    def message(self) -> str:
        """The message of its code, a sentence."""
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
