"""
Structured Fields (RFC 9651) in records and header fields: parsed by http-sf, with size limits.

The grammar is strict: nothing here splits on commas or repairs a value. http-sf is imported when
the first value is parsed, because importing it takes longer than importing robotrules. The meaning
of members is not interpreted here.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

# RFC 9651 §3.1, §3.1.2 and §3.2 require support for at least this many members and parameters; a
# larger value is rejected.
MAX_MEMBERS = 1024
MAX_PARAMETERS = 256
# 1,024 members with 256 parameters of usual size fit into this many bytes, and so does the longest
# line that is read from a robots.txt.
MAX_BYTES = 512_000


class Parsed(NamedTuple):
    """A parsed value, or the reason why it is invalid."""

    value: Any
    """List: `[(member, parameters), …]`. Dictionary: `{key: (value, parameters)}`. None: error."""
    error: str | None = None
    """What is wrong, in words."""
    position: int | None = None
    """Byte offset of the error."""
    too_large: bool = False


def parse_list(octets: bytes, max_members: int | None = MAX_MEMBERS) -> Parsed:
    """
    Parse a List: its members, each with its parameters; an inner list is a list as member.

    *max_members* None: unlimited, for callers that already bounded the input.
    """
    return _parse(octets, "list", max_members)


def parse_dictionary(octets: bytes) -> Parsed:
    """Parse a Dictionary: the value and parameters of each key; the last of a repeated key wins."""
    return _parse(octets, "dictionary", MAX_MEMBERS)


def _parse(octets: bytes, kind: str, max_members: int | None) -> Parsed:
    if len(octets) > MAX_BYTES:
        return Parsed(None, f"more than {MAX_BYTES:,} bytes", MAX_BYTES, too_large=True)
    import http_sf

    try:
        value: Any = http_sf.parse(octets, tltype=kind)
    except http_sf.StructuredFieldError as error:
        return Parsed(None, str(error), getattr(error, "position", None))
    except (ValueError, OverflowError, RecursionError) as error:
        # For example, a date outside the range of datetime.
        return Parsed(None, str(error) or type(error).__name__)
    members = [_with_parameters(member) for member in (value if kind == "list" else value.values())]
    if max_members is None:
        return Parsed(members)
    if len(members) > max_members:
        return Parsed(None, f"more than {max_members:,} members", too_large=True)
    if any(len(parameters) > MAX_PARAMETERS for _, parameters in members):
        return Parsed(None, f"more than {MAX_PARAMETERS} parameters", too_large=True)
    return Parsed(members if kind == "list" else dict(zip(value, members, strict=True)))


def _with_parameters(member: Any) -> tuple[Any, Mapping[str, Any]]:
    if isinstance(member, tuple):
        value, parameters = member
        return value, parameters
    return member, {}


def value_type(value: Any) -> str:
    """Return the name of the type of a value (RFC 9651 §3.3)."""
    import http_sf

    for kind, name in (
        (bool, "Boolean"),  # before Integer: a bool is an int
        (int, "Integer"),
        ((Decimal, float), "Decimal"),
        (http_sf.Token, "Token"),
        (http_sf.DisplayString, "Display String"),
        (str, "String"),
        ((bytes, bytearray), "Byte Sequence"),
        (datetime, "Date"),
    ):
        if isinstance(value, kind):
            return name
    return "Inner List"


def is_token(value: Any) -> bool:
    """Return whether a value is a Token (§3.3.4)."""
    return value_type(value) == "Token"


def to_plain_value(value: Any) -> Any:
    """Return a value in a form that JSON supports: bytes as base64, a date as seconds."""
    match value_type(value):
        case "Byte Sequence":
            return base64.b64encode(value).decode()
        case "Date":
            return int(value.timestamp())
        case "Decimal":
            return float(value)
        case "Token" | "Display String" | "String":
            return str(value)
        case "Inner List":
            return [to_plain_value(member) for member, _ in map(_with_parameters, value)]
    return value


def serialise(value: Any) -> str:
    """Return the text of a List, a Dictionary or a value (RFC 9651 §4.1)."""
    import http_sf

    return http_sf.ser(value)
