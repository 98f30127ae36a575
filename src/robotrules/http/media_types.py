"""
Content-Type: whether a response is HTML, and the charset it names (RFC 9110 §8.3, AMB-92).

Only `text/html` and `application/xhtml+xml` have robots meta elements. A response without a usable
Content-Type may be anything, so it is looked at. It does not look at any content.
"""

from __future__ import annotations

import re

from robotrules.http.fields import Fields

HTML = ("text/html", "application/xhtml+xml")
# token "/" token; RFC 9110 §5.6.2.
_TYPE = re.compile(r"\s*([!#$%&'*+.^_`|~\w-]+/[!#$%&'*+.^_`|~\w-]+)\s*(?:;|$)", re.ASCII)
_CHARSET = re.compile(
    r";\s*charset\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s;\"]+))", re.ASCII | re.IGNORECASE
)
# A longer one is no media type.
MOST_OCTETS = 1024


def parse_media_type(fields: Fields) -> str | None:
    """Return the media type in lower case; None: there is none that can be used."""
    found = _last(fields)
    return found[0] if found else None


def is_html(fields: Fields) -> bool:
    """Tell whether a response may have robots meta elements; without a media type it may."""
    found = parse_media_type(fields)
    return found is None or found in HTML


def parse_charset(fields: Fields) -> str | None:
    """Return the charset that Content-Type names, as written; None: it names none."""
    found = _last(fields)
    named = _CHARSET.search(found[1]) if found else None
    return (named[1] or named[2] or None) if named else None


def _last(fields: Fields) -> tuple[str, str] | None:
    """Return the last usable media type with the text around it, as browsers take it."""
    for line in reversed(fields.get("content-type")):
        text = line[:MOST_OCTETS].decode("latin-1")
        found = _TYPE.match(text)
        if found:
            return found[1].lower(), text
    return None
