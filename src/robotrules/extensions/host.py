"""
Host: the preferred mirror of a site (Yandex until 2018; REC-host-01).

File scope. The first valid record counts, as it did for Yandex. It has no effect on crawling:
neither URLs nor verdicts change. It is not checked whether the host exists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from robotrules.extensions import require_robots_txt
from robotrules.extensions.codes import note
from robotrules.profile import Extension, Role
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.values import Note, Record

EXTENSION = Extension("Host", (), Role.OTHER, "file", "Yandex, obsolete since 2018")

# Loose: letters of any script, `_`, a scheme, a port and a final slash all occur in files.
_HOST = re.compile(r"(?:(https?)://)?([-\w]+(?:\.[-\w]+)*)\.?(?::([0-9]{1,5}))?/?", re.IGNORECASE)
# RFC 1035 §2.3.4: a name has at most 253 characters, in addition to the scheme and the port.
_LONGEST_NAME = 253
_LONGEST = len("https://") + _LONGEST_NAME + len(":65535/") + 1


class PreferredHost(NamedTuple):
    """The preferred host of a site."""

    host: str
    """The name in lower case, without a final dot."""
    port: int | None
    scheme: str | None
    """`http` or `https`, if given."""
    record: Record

    @property
    def line(self) -> int:
        """The line it is named in."""
        return self.record.line

    def __str__(self) -> str:
        scheme = f"{self.scheme}://" if self.scheme else ""
        port = f":{self.port}" if self.port is not None else ""
        return f"{scheme}{self.host}{port}"

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {"host": self.host, "port": self.port, "scheme": self.scheme, "line": self.line}


def preferred_host(robots: RobotsTxt) -> PreferredHost | None:
    """Return the host of the first valid Host record of a file, in any group."""
    require_robots_txt(robots)
    hosts = (_parse_host(record) for record in robots.records if record.key == "host")
    return next((host for host in hosts if host), None)


def notes(robots: RobotsTxt, registries: object = None) -> Iterator[Note]:
    """Yield notes on the Host records of a file."""
    counted = False
    for record in robots.records:
        if record.key != "host":
            continue
        if _parse_host(record) is None:
            yield note("bad-host", record)
        elif counted:
            yield note("second-value", record)
        else:
            counted = True


def _parse_host(record: Record) -> PreferredHost | None:
    text = record.text
    match = _HOST.fullmatch(text) if len(text) <= _LONGEST else None
    if not match or len(match[2]) > _LONGEST_NAME:
        return None
    scheme, name, digits = match.groups()
    port = int(digits) if digits else None
    if port is not None and not 0 < port < 1 << 16:
        return None
    return PreferredHost(name.lower(), port, scheme.lower() if scheme else None, record)
