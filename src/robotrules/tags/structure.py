"""
Where the members of a List stand (RFC 9651 §3.1): commas that part them, keys that name parameters.

http-sf says what a field means and not where its members are, and says nothing at all of a field
that fails. This looks for places, in one pass, and leaves the meaning to http-sf. It does not know
tag rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from robotrules.http.structured_fields import Parsed, value_type
from robotrules.http.structured_fields import parse_list as parse_bounded

# A Display String, in which a backslash is no escape, or a String, also one without an end; or a
# sign that matters outside of them.
_SIGN = re.compile(rb'%"[^"]*(?:"|\Z)|"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[(),]', re.DOTALL)
# A parameter's key, which stands after `;`; Strings are passed over.
_KEY = re.compile(rb'%"[^"]*(?:"|\Z)|"(?:[^"\\]|\\.)*(?:"|\\?\Z)|;[ ]*[A-Za-z0-9_.*-]+', re.DOTALL)


def parse_list(value: bytes) -> Parsed:
    """Read a List whose octets the caller has bounded; every member counts."""
    return parse_bounded(value, None)


def commas(value: bytes) -> list[int]:
    """Return where the commas are that end members: not in a String, not in an Inner List."""
    found, depth = [], 0
    for sign in _SIGN.finditer(value):
        match value[sign.start()]:
            case 0x28:
                depth += 1
            case 0x29:
                depth = max(0, depth - 1)
            case 0x2C if depth == 0:
                found.append(sign.start())
    return found


def spans(value: bytes, ends: Sequence[int]) -> list[tuple[int, int]]:
    """Return where the members are, whitespace left out; *ends* are their commas."""
    found, start = [], 0
    for end in (*ends, len(value)):
        member = value[start:end]
        first = start + len(member) - len(member.lstrip(b" \t"))
        found.append((first, max(first, start + len(member.rstrip(b" \t")))))
        start = end + 1
    return found


def lowered(value: bytes) -> bytes:
    """Return a List with the keys of its parameters in lower case (AMB-66)."""
    return _KEY.sub(lambda key: key[0].lower() if key[0].startswith(b";") else key[0], value)


def is_structured(value: Any, *types: str) -> bool:
    """Tell whether a member is of one of these types of RFC 9651 §3.3."""
    return value_type(value) in types
