"""
Notes of extension readers on records: codes, levels and messages.

All readers share this table, so that a code has one meaning. The parser's notes are in
`robotstxt.values`.
"""

from __future__ import annotations

from robotrules.robotstxt.values import SENTENCES, Note, Record

# `error`: the record or a part of it is not used; `warning`: it is used, but probably not as
# intended; `info`: for information.
CODES: dict[str, tuple[str, str]] = {
    # Structured Fields and paths (RFC 9651; AMB-105, AMB-111)
    "bad-structure": ("error", "The value is not a valid Structured Field, so it is ignored."),
    "too-large": ("error", "The value has too many members or parameters, so it is ignored."),
    "unusable-path": ("error", "The path pattern is not usable, so the record is ignored."),
    # User-Agent-Purpose (AMB-97, AMB-98)
    "unregistered-purpose": ("warning", "This purpose is not in the loaded registries."),
    "star-purpose": ("warning", "There is no '*' purpose: the line matches no crawler."),
    "leaking-purpose": (
        "warning",
        "Parsers without support for purposes add these rules to the group before: put a "
        "user-agent line that matches no crawler in front.",
    ),
    "empty-purpose": ("warning", "A purpose line without a value matches no crawler."),
    # App-Directives (AMB-104 to AMB-107)
    "not-an-application": ("error", "A list member is not a Token, so it names no application."),
    "type-mismatch": ("error", "The type of the value differs from the registered type."),
    "unregistered-application": ("info", "This application is not in the loaded registries."),
    "unregistered-directive": ("info", "The application has not registered this directive."),
    "deprecated-directive": ("warning", "The application has deprecated this directive."),
    "named-group-directives": (
        "warning",
        "Put application directives in a '*' group: other applications may not read them here.",
    ),
    "unseen-directives": (
        "warning",
        "The application obeys other groups, so it does not read this record.",
    ),
    "overridden-directive": ("warning", "A later record gives the directive another value."),
    "no-application": ("warning", "The record names no application, so it is ignored."),
    "comment-in-value": ("warning", "A '#' starts a comment even inside a value (AMB-16)."),
    # Content-Usage and Content-Signal (AMB-109 to AMB-116)
    "unknown-label": ("info", "The vocabulary has no such category; it is ignored."),
    "unknown-value": ("warning", "The value is neither y nor n, so the preference is unknown."),
    "bad-signal": ("error", "The signal is not a key=value pair, so it is ignored."),
    "odd-signal": ("warning", "The value is neither yes nor no, so the signal is ignored."),
    "empty-statement": ("error", "The record states nothing, so it is ignored."),
    "not-inherited": (
        "warning",
        "The record without a path states more preferences; none of them apply under this path.",
    ),
    # De-facto records
    "bad-sitemap": ("error", "The value is not a URL, so the sitemap is ignored."),
    "relative-sitemap": ("warning", "The URL of the sitemap is relative: write an absolute URL."),
    "duplicate-sitemap": ("info", "The same sitemap is listed above."),
    "bad-crawl-delay": ("error", "The value is not a number of seconds, so it is ignored."),
    "bad-request-rate": ("error", "The value is not a request rate such as 1/10m; it is ignored."),
    "bad-visit-time": ("error", "The value is not a time window such as 0600-0845; it is ignored."),
    "bad-clean-param": ("error", "The value names no query parameter, so it is ignored."),
    "bad-host": ("error", "The value is not a host, so it is ignored."),
    "second-value": ("info", "Another record of this name counts, so this one is ignored."),
    "record-outside-group": (
        "warning",
        "A record before the first group applies to no crawler: move it into a group.",
    ),
    "unsupported-record": ("warning", "No known crawler supports this record any more."),
    "unused-record": ("info", "google/robotstxt recognizes this record and does not use it."),
    # A crawler's configuration (REP-2.2.1-01 to -03, PUR-3.2-01)
    "product-token-grammar": ("warning", "A product token may have only letters, '_' and '-'."),
    "product-token-not-sent": (
        "warning",
        "The User-Agent header does not contain the product token.",
    ),
    "purpose-not-sent": ("warning", "The User-Agent header does not contain the purpose."),
    "no-contact": (
        "warning",
        "The User-Agent header has no contact: add a URL or an address that explains the crawler, "
        "such as '(+https://example.com/bot)'.",
    ),
}
SENTENCES.update({code: sentence for code, (_, sentence) in CODES.items()})


def note(code: str, record: Record, start: int | None = None, end: int | None = None) -> Note:
    """Return a note about a record, or about a part of its value."""
    level, _ = CODES[code]
    first = record.start if start is None else start
    return Note(code, level, record.line, first, record.end if end is None else end)
