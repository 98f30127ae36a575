"""
What extension readers say about a record: codes, levels and sentences.

One table for all of them, so that a code means one thing. The parser's own notes are in
`robotstxt.values`. It does not know who makes a note or when.
"""

from __future__ import annotations

from robotrules.robotstxt.values import SENTENCES, Note, Record

# `error`: the record or a part of it is not used; `warning`: it is used, and probably not as meant;
# `info`: good to know.
CODES: dict[str, tuple[str, str]] = {
    # Structured Fields and paths (RFC 9651; AMB-105, AMB-111)
    "bad-structure": ("error", "The value is not the Structured Field it should be."),
    "too-large": ("error", "The value has more members or parameters than are read."),
    "unusable-path": ("error", "The path pattern cannot be used, so the record is not."),
    # User-Agent-Purpose (AMB-97, AMB-98)
    "unregistered-purpose": ("warning", "No registry that was loaded knows this purpose."),
    "star-purpose": ("warning", "There is no '*' purpose: the line names nobody."),
    "leaking-purpose": (
        "warning",
        "Parsers that do not know purposes give these rules to the group before: put a user-agent "
        "line that matches nobody in front.",
    ),
    "empty-purpose": ("warning", "A purpose line without a value names nobody."),
    # App-Directives (AMB-104 to AMB-107)
    "not-an-application": ("error", "A list member is no Token, so it names no application."),
    "type-mismatch": ("error", "The value has another type than the registered one."),
    "unregistered-application": ("info", "No registry that was loaded knows this application."),
    "unregistered-directive": ("info", "The application has not registered this directive."),
    "deprecated-directive": ("warning", "The application has deprecated this directive."),
    "named-group-directives": (
        "warning",
        "Application directives belong in a '*' group: others may not see them here.",
    ),
    "unseen-directives": (
        "warning",
        "The application obeys other groups than this one, so it does not read the record.",
    ),
    "overridden-directive": ("warning", "A later record gives the directive another value."),
    "no-application": ("warning", "The record names no application, so it says nothing."),
    "comment-in-value": ("warning", "A '#' starts a comment even inside a value (AMB-16)."),
    # Content-Usage and Content-Signal (AMB-109 to AMB-116)
    "unknown-label": ("info", "The vocabulary has no such category; it is ignored."),
    "unknown-value": ("warning", "The value is neither y nor n, so the preference is unknown."),
    "bad-signal": ("error", "The signal is no key=value pair, so it is not used."),
    "odd-signal": ("warning", "The value is neither yes nor no, so the signal says nothing."),
    "empty-statement": ("error", "Nothing is stated, so the record is not used."),
    "not-inherited": (
        "warning",
        "A record without a path states more; where this path matches, none of it counts.",
    ),
    # De-facto records
    "bad-sitemap": ("error", "The value is no URL, so the sitemap is not used."),
    "relative-sitemap": ("warning", "A sitemap is named by an absolute URL; this one is relative."),
    "duplicate-sitemap": ("info", "The same sitemap is named before."),
    "bad-crawl-delay": ("error", "The value is no number of seconds, so it is not used."),
    "bad-request-rate": ("error", "The value is no request rate such as 1/10m, so it is not used."),
    "bad-visit-time": ("error", "The value is no time window such as 0600-0845."),
    "bad-clean-param": ("error", "The value names no query parameter, so it is not used."),
    "bad-host": ("error", "The value is no host, so it is not used."),
    "second-value": ("info", "Another record of this name counts, so this one does not."),
    "record-outside-group": ("warning", "A record before the first group is for nobody."),
    "unsupported-record": ("warning", "No crawler that is known supports this record any more."),
    "unused-record": ("info", "google/robotstxt knows this record and does not use it."),
    # A crawler's configuration (REP-2.2.1-01 to -03, PUR-3.2-01)
    "product-token-grammar": ("warning", "A product token has letters, '_' and '-' only."),
    "product-token-not-sent": ("warning", "The User-Agent header does not hold the product token."),
    "purpose-not-sent": ("warning", "The User-Agent header does not hold the purpose."),
    "no-contact": (
        "warning",
        "The User-Agent header has no contact: add a page or an address that says what the crawler "
        "is for, such as '(+https://example.com/bot)'.",
    ),
}
SENTENCES.update({code: sentence for code, (_, sentence) in CODES.items()})


def note(code: str, record: Record, start: int | None = None, end: int | None = None) -> Note:
    """Return a note about a record, or about a part of its value."""
    level, _ = CODES[code]
    first = record.start if start is None else start
    return Note(code, level, record.line, first, record.end if end is None else end)
