"""
Structured Fields (RFC 9651) in records and header fields, read by http-sf and bounded.

The grammar is strict and stays so: nothing here splits on commas or repairs a value. http-sf is
imported when the first value is read, because it takes longer to import than all of robotrules.
It does not know what a member means.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

# RFC 9651 §3.1, §3.1.2 and §3.2 ask for at least this many members and parameters; more is a
# stranger's appetite, not a preference.
MOST_MEMBERS = 1024
MOST_PARAMETERS = 256
# A field of this many octets holds 1,024 members with 256 parameters of usual size, and no less
# than what a robots.txt may hold in one line.
MOST_OCTETS = 512_000


class Parsed(NamedTuple):
    """A value that was read, or why it could not be."""

    value: Any
    """List: `[(member, parameters), …]`. Dictionary: `{key: (value, parameters)}`. None: failed."""
    error: str | None = None
    """What is wrong, for people."""
    position: int | None = None
    """Where, in octets from the start."""
    too_large: bool = False


def parse_list(octets: bytes, most_members: int | None = MOST_MEMBERS) -> Parsed:
    """
    Read a List: its members, each with its parameters; an inner list is a list as a member.

    *most_members* None: the caller has bounded the octets and wants every member.
    """
    return _parse(octets, "list", most_members)


def parse_dictionary(octets: bytes) -> Parsed:
    """Read a Dictionary: for each key its value with its parameters; the last of a key counts."""
    return _parse(octets, "dictionary", MOST_MEMBERS)


def _parse(octets: bytes, kind: str, most_members: int | None) -> Parsed:
    if len(octets) > MOST_OCTETS:
        return Parsed(None, f"more than {MOST_OCTETS:,} octets", MOST_OCTETS, too_large=True)
    import http_sf

    try:
        value: Any = http_sf.parse(octets, tltype=kind)
    except http_sf.StructuredFieldError as error:
        return Parsed(None, str(error), getattr(error, "position", None))
    except (ValueError, OverflowError, RecursionError) as error:
        # A date past what datetime holds, and whatever else a stranger thinks of.
        return Parsed(None, str(error) or type(error).__name__)
    members = [_with_parameters(member) for member in (value if kind == "list" else value.values())]
    if most_members is None:
        return Parsed(members)
    if len(members) > most_members:
        return Parsed(None, f"more than {most_members:,} members", too_large=True)
    if any(len(parameters) > MOST_PARAMETERS for _, parameters in members):
        return Parsed(None, f"more than {MOST_PARAMETERS} parameters", too_large=True)
    return Parsed(members if kind == "list" else dict(zip(value, members, strict=True)))


def _with_parameters(member: Any) -> tuple[Any, Mapping[str, Any]]:
    if isinstance(member, tuple):
        value, parameters = member
        return value, parameters
    return member, {}


def value_type(value: Any) -> str:
    """Return what RFC 9651 §3.3 calls the type of a value."""
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
    """Tell whether a value is a Token (§3.3.4)."""
    return value_type(value) == "Token"


def to_plain_value(value: Any) -> Any:
    """Return a value as JSON can have it: octets in base64, a date in seconds."""
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
