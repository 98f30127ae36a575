"""
Binary files: what commands that expect the text of an author refuse.

To crawlers every byte string is a robots.txt (RFC 9309 §2.3.1.5). A person who passes a binary file
meant another one.
"""

from __future__ import annotations

import re

__all__ = ["describe_binary"]

# The bytes that are examined to detect binary files, and the share of control characters.
_SAMPLE = 64 * 1024
_CONTROLS = bytes({*range(0x20), 0x7F} - set(b"\t\n\v\f\r\x1b"))
_FEWEST, _SHARE = 3, 20
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
# A file that starts like a robots.txt is linted even if binary data follows; checks report that.
_RECORD = re.compile(rb"^[ \t]*(?:user-agent|disallow|allow|sitemap)[ \t]*:", re.I | re.M)
_RECORD_WITHIN = 1024


def describe_binary(octets: bytes) -> str:
    """Return why octets are not a text file, without a subject; empty if they are."""
    sample = octets[:_SAMPLE]
    if sample.startswith(_UTF16) or _RECORD.search(sample[:_RECORD_WITHIN]):
        return ""
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    if controls < _FEWEST or controls * _SHARE < len(sample):
        return ""
    return (
        f"is binary: {controls:,} of its first {len(sample):,} bytes are control characters; pass "
        "a text file"
    )
