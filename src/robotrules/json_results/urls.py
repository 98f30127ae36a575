"""The URLs of a list, an access log, JSON lines, CSV or a sitemap, as plain values for JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from robotrules.url_lists import BLOCK, UrlReader

__all__ = ["urls_values"]

# Bytes of a decompressed list: a hundred thousand requests of a log.
MOST_UNPACKED = 64 * 1024 * 1024
# How surrogateescape decodes octets that are not UTF-8.
_NOT_UTF8 = re.compile("[\udc80-\udcff]")


def urls_values(octets: bytes, most: int) -> dict[str, Any]:
    """Return at most *most* URLs, the format, the lines that were skipped, and what went wrong."""
    reader = UrlReader(_blocks(octets), any_scheme=True, max_unpacked=MOST_UNPACKED)
    urls: list[bytes] = []
    error = ""
    for chunk in reader.chunks():
        urls += chunk.urls
        if len(urls) > most:
            del urls[most:]
            error = f"it has more than {most:,} URLs; the rest was not read"
            break
    return {
        "form": str(reader.form),
        "urls": list(map(_as_text, urls)),
        "skipped": reader.skipped.as_dict(),
        "error": error or reader.error or None,
        "hint": reader.hint or None,
    }


def _blocks(octets: bytes) -> Iterator[bytes]:
    for start in range(0, len(octets), BLOCK):
        yield octets[start : start + BLOCK]


def _as_text(url: bytes) -> str:
    """Return a URL as text; octets that are not UTF-8 are percent-encoded, which is equivalent."""
    text = url.decode("utf-8", "surrogateescape")
    return text if text.isascii() else _NOT_UTF8.sub(_percent_encoded, text)


def _percent_encoded(found: re.Match[str]) -> str:
    return f"%{ord(found[0]) - 0xDC00:02X}"
