"""
Support of records: records without a reader, and the support status of every record (AMB-120).

Google ended its experiment with Noindex, Nofollow and Noarchive in robots.txt on 2019-09-01
(REC-noindex-01). License belongs to RSL 1.0 (REC-license-01). google/robotstxt recognizes Domain
and Revisit-after and uses neither (REC-unused-01). All are kept, and none changes a verdict. Other
crawlers may use them.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, NamedTuple

from robotrules.extensions import require_robots_txt
from robotrules.extensions.codes import note
from robotrules.profile import Extension, Role
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.values import Note, Record

_GOOGLE = "google/robotstxt, reporting_robots.cc"
EXTENSIONS = (
    Extension("Noindex", (), Role.OTHER, "group", "Google, until 2019-09-01"),
    Extension("Nofollow", (), Role.OTHER, "group", "Google, until 2019-09-01"),
    Extension("Noarchive", (), Role.OTHER, "group", "Google, until 2019-09-01"),
    Extension("License", (), Role.OTHER, "file", "Really Simple Licensing (RSL) 1.0"),
    Extension("Domain", (), Role.OTHER, "file", _GOOGLE),
    Extension("Revisit-after", (), Role.OTHER, "file", _GOOGLE),
)

UNSUPPORTED = frozenset({"noindex", "nofollow", "noarchive"})
"""Records that no known crawler supports any more."""
UNUSED = UNSUPPORTED | {
    *("clean-param", "content-signal", "content-usage", "crawl-delay", "domain", "host"),
    *("request-rate", "revisit-after", "visit-time"),
}
"""Records that google/robotstxt recognizes and does not use."""
READERS = {
    "app-directive": "app_directives",
    "app-directives": "app_directives",
    "clean-param": "clean_params",
    "content-signal": "content_signals",
    "content-usage": "preferences",
    "crawl-delay": "crawl_delay",
    "host": "preferred_host",
    "request-rate": "request_rates",
    "sitemap": "sitemaps",
    "user-agent-purpose": "check",
    "visit-time": "visit_times",
}
"""The function of robotrules that reads a record."""
_PROTOCOL = frozenset({"user-agent", "allow", "disallow"})


class RecordSupport(StrEnum):
    """The support of a record beyond User-agent, Allow and Disallow."""

    UNUSED = "unused"
    """google/robotstxt recognizes it and does not use it; other crawlers may."""
    READ = "read"
    """It is not on that list, and a function of robotrules reads it."""
    UNKNOWN = "unknown"
    """Neither."""


class OtherRecord(NamedTuple):
    """A record beyond User-agent, Allow and Disallow, with its support."""

    record: Record
    standing: RecordSupport
    reader: str | None
    """The function of robotrules that reads it; None: there is none."""

    @property
    def line(self) -> int:
        """The line it is written in."""
        return self.record.line

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "key": self.record.key,
            "value": self.record.text,
            "standing": str(self.standing),
            "reader": self.reader,
            "line": self.line,
        }


def unused_records(robots: RobotsTxt) -> tuple[OtherRecord, ...]:
    """Return every record beyond User-agent, Allow and Disallow, with its support."""
    require_robots_txt(robots)
    return tuple(
        OtherRecord(record, find_support(record.key), READERS.get(record.key))
        for record in robots.records
        if record.key not in _PROTOCOL
    )


def find_support(key: str) -> RecordSupport:
    """Return the support of a record by its name, case-insensitive."""
    key = key.lower()
    if key in UNUSED:
        return RecordSupport.UNUSED
    return RecordSupport.READ if key in READERS else RecordSupport.UNKNOWN


def notes(robots: RobotsTxt, registries: object = None) -> Iterator[Note]:
    """
    Yield a note for each record that is not supported any more.

    In profile google, also for each record that google/robotstxt recognizes and does not use; its
    readers return its value anyway (REC-crawl-delay-03).
    """
    for record in robots.records:
        if record.key in UNSUPPORTED:
            yield note("unsupported-record", record)
        elif record.key in UNUSED and robots.profile.name == "google":
            yield note("unused-record", record)
