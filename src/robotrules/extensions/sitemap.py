"""
Sitemap: where a site lists its pages (sitemaps.org; REC-sitemap-01 to -03, AMB-117).

File scope: a sitemap belongs to no group, may stand anywhere, may repeat and may name another host.
Values keep their case and are not escaped. It does not fetch a sitemap and does not know what is in
one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from robotrules.extensions import vet
from robotrules.extensions.codes import note
from robotrules.profile import Extension, Role
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.values import Note, Record

EXTENSION = Extension("Sitemap", (), Role.OTHER, "file", "https://www.sitemaps.org/protocol.html")

# RFC 3986 §3.1. What has a scheme is absolute, or is no URL of a sitemap: `mailto:`, `https:/a`.
_SCHEME = re.compile(r"[A-Za-z][-+.0-9A-Za-z]*:")
_AUTHORITY = re.compile(r"[A-Za-z][-+.0-9A-Za-z]*://[^/?#\s]")
# A tab or another control character is in no URL, escaped or not; nor are two URLs one.
_NO_URL = re.compile(r"[\x00-\x1f\x7f]|\s[A-Za-z][-+.0-9A-Za-z]{1,20}://")
_SMUGGLED = re.compile("[\udc80-\udcff]")


class Sitemap(NamedTuple):
    """A sitemap that a robots.txt names."""

    url: str
    """Its URL: as written, or resolved where it was relative and the file's own URL is known."""
    relative: bool
    """Whether it was written as a relative URL, which the format does not know."""
    record: Record

    @property
    def line(self) -> int:
        """The line it is named in."""
        return self.record.line

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {"url": self.url, "relative": self.relative, "line": self.line}


def sitemaps(robots: RobotsTxt, url: str | None = None) -> tuple[Sitemap, ...]:
    """
    Return the sitemaps of a file in its order, each once.

    *url* is where the robots.txt stands. Relative ones are resolved against it; without it they
    are as written.
    """
    vet(robots)
    _vet(url)
    return tuple(found for found in _read(robots, url) if isinstance(found, Sitemap))


def notes(robots: RobotsTxt, registries: object = None, url: str | None = None) -> Iterator[Note]:
    """Yield what is odd about the sitemaps of a file."""
    _vet(url)
    for found in _read(robots, url):
        if isinstance(found, Note):
            yield found
        elif found.relative:
            yield note("relative-sitemap", found.record)


def _read(robots: RobotsTxt, url: str | None) -> Iterator[Sitemap | Note]:
    """Yield each sitemap once, and a note where there is none."""
    seen: set[str] = set()
    for record in robots.records:
        if record.key != "sitemap":
            continue
        found = _sitemap(record, url)
        if found is None:
            yield note("bad-sitemap", record)
        elif found.url in seen:
            yield note("duplicate-sitemap", record)
        else:
            seen.add(found.url)
            yield found


def _sitemap(record: Record, url: str | None) -> Sitemap | None:
    # Octets that are not UTF-8 are escaped, or there would be no URL to ask for (AMB-06).
    text = _SMUGGLED.sub(_escaped, record.value.decode("utf-8", "surrogateescape"))
    if not text or _NO_URL.search(text):
        return None
    relative = not _SCHEME.match(text)
    if not relative and not _AUTHORITY.match(text):
        return None
    try:
        urlsplit(text)  # a bracket that is never closed, and other hosts that are none
        resolved = urljoin(url, text) if relative and url is not None else text
    except ValueError:
        return None
    return Sitemap(resolved, relative, record)


def _escaped(octet: re.Match[str]) -> str:
    return f"%{ord(octet[0]) - 0xDC00:02X}"


def _vet(url: str | None) -> None:
    if url is None:
        return
    if not isinstance(url, str):
        raise TypeError(f"the URL of a robots.txt is a str, not {type(url).__name__}")
    if not _AUTHORITY.match(url):
        raise ValueError(
            f"{url!r} is not where a robots.txt stands: pass its absolute URL, such as "
            "https://www.example.com/robots.txt"
        )
