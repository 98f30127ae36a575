"""
Parsing: the text that a caller of a drop-in supplies, with a larger limit than that of a fetch.

The originals read the whole text. A rule after the first 500 KiB that is ignored would make the
answer laxer than theirs, so 16 MiB are read here; RFC 9309 §2.5 sets only a lower bound. Files that
a drop-in fetches are read up to 500 KiB, as by `robotrules.Client`.
"""

from __future__ import annotations

from robotrules.profile import DEFAULT, LEAST_MAX_BYTES
from robotrules.robotstxt import RobotsTxt, parse

MAX_BYTES = 16 * 1024 * 1024
_LARGE_TEXT = DEFAULT.replace(max_bytes=MAX_BYTES)
# A character takes at most four octets, so a shorter text is not cut by profile default, whose
# parser is prepared: making another one takes longer than parsing a small file.
_SHORT = LEAST_MAX_BYTES // 4


def parse_supplied(text: str | bytes | bytearray) -> RobotsTxt:
    """Parse a robots.txt that the caller has; lines after 16 MiB are ignored."""
    # `parse()` raises on other types, and names the fix.
    if isinstance(text, (str, bytes, bytearray)) and len(text) > _SHORT:
        return parse(text, _LARGE_TEXT)
    return parse(text)


# The file of a parser that has read nothing. It is immutable, so all of them share it.
EMPTY = parse(b"")
