"""
Record info: the canonical name, a description and the reference of each record.

A table for hover, completion and outline. The roles, scopes and references of extensions come from
their declarations; this module adds the descriptions.
"""

from __future__ import annotations

from typing import NamedTuple

from robotrules.extensions import ALL
from robotrules.profile import Role

__all__ = ["RECORDS", "RecordInfo", "canonical_name", "find_record_info"]

_RFC = "RFC 9309"


class RecordInfo(NamedTuple):
    """The documentation of one record name."""

    name: str
    description: str
    """One or two sentences."""
    reference: str
    is_file_wide: bool
    """Whether it applies to the file, wherever it is."""
    is_offered: bool = True
    """Whether completion offers it: False for records that no known crawler reads."""


_PROTOCOL = (
    RecordInfo(
        "User-agent",
        "Names the crawler that the rules below apply to, by its product token. `*` applies to all "
        "crawlers that no other group names.",
        f"{_RFC} §2.2.1",
        False,
    ),
    RecordInfo(
        "Disallow",
        "Asks crawlers not to fetch URLs that match the path pattern. An empty Disallow blocks "
        "nothing.",
        f"{_RFC} §2.2.2",
        False,
    ),
    RecordInfo(
        "Allow",
        "Allows crawlers to fetch URLs that match the path pattern, if the pattern is at least as "
        "long as that of every matching Disallow rule.",
        f"{_RFC} §2.2.2",
        False,
    ),
)
_DESCRIPTIONS = {
    "user-agent-purpose": "Opens a group for crawlers that have a registered purpose and that no "
    "group names. Parsers that do not support this record apply its rules to the group before it.",
    "app-directives": "States a site's preferences to an application, such as "
    "`examplesearch;widgets=?0`; with a path first, for URLs that match it. It does not allow or "
    "block fetching.",
    "app-directive": "Another spelling of App-Directives, which is the usual one.",
    "content-usage": "States what content may be used for after it was fetched, such as "
    "`train-ai=n`; with a path first, for URLs that match it. Only the longest matching path "
    "counts.",
    "content-signal": "States preferences in the vocabulary of contentsignals.org, such as "
    "`ai-train=no`. The IETF draft for the same purpose is Content-Usage.",
    "sitemap": "Names a sitemap by its absolute URL. It does not belong to a group.",
    "crawl-delay": "Asks crawlers to wait this many seconds between two requests. Bing reads it, "
    "Google does not.",
    "request-rate": "Asks for at most this many requests per period, such as `1/10m`. Few crawlers "
    "read it.",
    "visit-time": "Asks crawlers to fetch only at this time of day, in UTC, such as `0600-0845`. "
    "Few crawlers read it.",
    "clean-param": "Names query parameters that do not change the page, such as `sid /forum/`. "
    "Yandex reads it.",
    "host": "Formerly named the preferred host for Yandex. No known crawler reads it now.",
    "noindex": "Used experimentally in robots.txt until 2019. No known crawler reads it: use a "
    "robots meta element or an X-Robots-Tag field, and let crawlers fetch the page.",
    "nofollow": "Used experimentally in robots.txt until 2019. No known crawler reads it: use a "
    "robots meta element or an X-Robots-Tag field.",
    "noarchive": "Used experimentally in robots.txt until 2019. No known crawler reads it: use a "
    "robots meta element or an X-Robots-Tag field.",
    "license": "Names a licence (Really Simple Licensing). It does not allow or block fetching.",
    "domain": "google/robotstxt recognises the name and ignores the record.",
    "revisit-after": "google/robotstxt recognises the name and ignores the record.",
}
_NOT_OFFERED = frozenset(
    ("app-directive", "host", "noindex", "nofollow", "noarchive", "domain", "revisit-after")
)


def _build_table() -> dict[str, RecordInfo]:
    table = {info.name.lower(): info for info in _PROTOCOL}
    for extension in ALL:
        key = extension.key.lower()
        is_file_wide = extension.scope == "file" and extension.role is Role.OTHER
        description, is_offered = _DESCRIPTIONS.get(key, ""), key not in _NOT_OFFERED
        table[key] = RecordInfo(
            extension.key, description, extension.reference, is_file_wide, is_offered
        )
    return table


RECORDS = _build_table()
"""All records of RFC 9309 and the extensions, by name in lower case."""


def find_record_info(key: str) -> RecordInfo | None:
    """Return the documentation of a record name; None for an unknown name."""
    return RECORDS.get(key.lower())


def canonical_name(key: str) -> str:
    """Return the usual spelling of a record name; an unknown name is returned unchanged."""
    info = find_record_info(key)
    return info.name if info else key
