"""
Sitemap: the URLs of a site's sitemaps (sitemaps.org; REC-sitemap-01 to -03, AMB-117).

File scope: a sitemap belongs to no group, may be anywhere in the file, may repeat and may be on
another host. Values keep their case and are not escaped. It does not fetch or parse sitemaps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from robotrules.extensions import require_robots_txt
from robotrules.extensions.codes import note
from robotrules.profile import Extension, Role
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.values import Note, Record

EXTENSION = Extension("Sitemap", (), Role.OTHER, "file", "https://www.sitemaps.org/protocol.html")

# RFC 3986 §3.1. A value with a scheme is absolute, or not the URL of a sitemap: `mailto:`,
# `https:/a`.
_SCHEME = re.compile(r"[A-Za-z][-+.0-9A-Za-z]*:")
_AUTHORITY = re.compile(r"[A-Za-z][-+.0-9A-Za-z]*://[^/?#\s]")
# Control characters, or a second URL after a space: not a URL.
_NO_URL = re.compile(r"[\x00-\x1f\x7f]|\s[A-Za-z][-+.0-9A-Za-z]{1,20}://")
_SURROGATE = re.compile("[\udc80-\udcff]")


class Sitemap(NamedTuple):
    """A sitemap that a robots.txt lists."""

    url: str
    """Its URL as written, or resolved if it is relative and the URL of the robots.txt is known."""
    relative: bool
    """Whether it was written as a relative URL, which the format does not allow."""
    record: Record

    @property
    def line(self) -> int:
        """The line of its record."""
        return self.record.line

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {"url": self.url, "relative": self.relative, "line": self.line}


def sitemaps(robots: RobotsTxt, url: str | None = None) -> tuple[Sitemap, ...]:
    """
    Return the sitemaps of a file in its order, each once.

    *url* is the URL of the robots.txt. Relative URLs are resolved against it; without it they are
    returned as written.
    """
    require_robots_txt(robots)
    _validate_url(url)
    return tuple(part for part in _read(robots, url) if isinstance(part, Sitemap))


def notes(robots: RobotsTxt, registries: object = None, url: str | None = None) -> Iterator[Note]:
    """Yield notes on the Sitemap records of a file."""
    _validate_url(url)
    for part in _read(robots, url):
        if isinstance(part, Note):
            yield part
        elif part.relative:
            yield note("relative-sitemap", part.record)


def _read(robots: RobotsTxt, url: str | None) -> Iterator[Sitemap | Note]:
    """Yield each sitemap once, and a note for each record without one."""
    seen: set[str] = set()
    for record in robots.records:
        if record.key != "sitemap":
            continue
        sitemap = _parse_sitemap(record, url)
        if sitemap is None:
            yield note("bad-sitemap", record)
        elif sitemap.url in seen:
            yield note("duplicate-sitemap", record)
        else:
            seen.add(sitemap.url)
            yield sitemap


def _parse_sitemap(record: Record, url: str | None) -> Sitemap | None:
    # Octets that are not UTF-8 are escaped, so that the URL can be fetched (AMB-06).
    text = _SURROGATE.sub(_percent_encode, record.value.decode("utf-8", "surrogateescape"))
    if not text or _NO_URL.search(text):
        return None
    relative = not _SCHEME.match(text)
    if not relative and not _AUTHORITY.match(text):
        return None
    try:
        urlsplit(text)  # raises for an unclosed bracket and other invalid hosts
        resolved = urljoin(url, text) if relative and url is not None else text
    except ValueError:
        return None
    return Sitemap(resolved, relative, record)


def _percent_encode(octet: re.Match[str]) -> str:
    return f"%{ord(octet[0]) - 0xDC00:02X}"


def _validate_url(url: str | None) -> None:
    if url is None:
        return
    if not isinstance(url, str):
        raise TypeError(f"the URL of a robots.txt must be a str, not {type(url).__name__}")
    if not _AUTHORITY.match(url):
        raise ValueError(
            f"{url!r} is not the URL of a robots.txt: pass an absolute URL, such as "
            "https://www.example.com/robots.txt"
        )
