"""
Content-Type: whether a response is HTML, and its charset parameter (RFC 9110 §8.3, AMB-92).

Only `text/html` and `application/xhtml+xml` have robots meta elements. A response without a usable
Content-Type could be HTML, so it counts as HTML. The content itself is not inspected.
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
# A longer value is not a media type.
MAX_BYTES = 1024


def parse_media_type(fields: Fields) -> str | None:
    """Return the media type in lower case; None if no usable one is given."""
    content_type = _last_content_type(fields)
    return content_type[0] if content_type else None


def is_html(fields: Fields) -> bool:
    """Return whether a response may have robots meta elements; without a media type it may."""
    media_type = parse_media_type(fields)
    return media_type is None or media_type in HTML


def parse_charset(fields: Fields) -> str | None:
    """Return the charset parameter of Content-Type as written; None if there is none."""
    content_type = _last_content_type(fields)
    charset = _CHARSET.search(content_type[1]) if content_type else None
    return (charset[1] or charset[2] or None) if charset else None


def _last_content_type(fields: Fields) -> tuple[str, str] | None:
    """Return the last usable media type and its field value; browsers use the last one too."""
    for line in reversed(fields.get("content-type")):
        text = line[:MAX_BYTES].decode("latin-1")
        match = _TYPE.match(text)
        if match:
            return match[1].lower(), text
    return None
