"""
Records that nothing here gives a meaning to, and a word on each other record (AMB-120).

Noindex, Nofollow and Noarchive once were tried in robots.txt; Google stopped on 2019-09-01
(REC-noindex-01). License belongs to RSL 1.0 (REC-license-01). Domain and Revisit-after are known to
google/robotstxt, which uses neither (REC-unused-01). All are kept, and none touches a verdict. It
does not know what a crawler elsewhere makes of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, NamedTuple

from robotrules.extensions import vet
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
"""What no crawler that is known supports any more."""
UNUSED = UNSUPPORTED | {
    *("clean-param", "content-signal", "content-usage", "crawl-delay", "domain", "host"),
    *("request-rate", "revisit-after", "visit-time"),
}
"""What google/robotstxt knows by name and does not use."""
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
"""Which function of robotrules reads a record."""
_PROTOCOL = frozenset({"user-agent", "allow", "disallow"})


class RecordSupport(StrEnum):
    """What is known of a record beyond User-agent, Allow and Disallow."""

    UNUSED = "unused"
    """google/robotstxt knows its name and does not use it; others may."""
    READ = "read"
    """It is not on that list, and a function here reads it."""
    UNKNOWN = "unknown"
    """Neither."""


class OtherRecord(NamedTuple):
    """A record beyond User-agent, Allow and Disallow, and what is known of it."""

    record: Record
    standing: RecordSupport
    reader: str | None
    """The function of robotrules that reads it, whoever else uses it or not."""

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
    """Return every record beyond User-agent, Allow and Disallow, with what is known of it."""
    vet(robots)
    return tuple(
        OtherRecord(record, standing(record.key), READERS.get(record.key))
        for record in robots.records
        if record.key not in _PROTOCOL
    )


def standing(key: str) -> RecordSupport:
    """Return what is known of a record by its name; case does not matter."""
    key = key.lower()
    if key in UNUSED:
        return RecordSupport.UNUSED
    return RecordSupport.READ if key in READERS else RecordSupport.UNKNOWN


def notes(robots: RobotsTxt, registries: object = None) -> Iterator[Note]:
    """
    Yield a note for each record that is not supported any more.

    In profile google, also for each that google/robotstxt knows and does not use: its value is
    read here all the same (REC-crawl-delay-03).
    """
    for record in robots.records:
        if record.key in UNSUPPORTED:
            yield note("unsupported-record", record)
        elif record.key in UNUSED and robots.profile.name == "google":
            yield note("unused-record", record)
