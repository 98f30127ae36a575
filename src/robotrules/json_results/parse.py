"""The JSON of `robotrules parse`: facts about the bytes, lines, groups, records and notes."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from typing import Any

from robotrules.robotstxt import RobotsTxt

__all__ = ["SECTIONS", "encoding_values", "parse_values"]

SECTIONS = ("lines", "groups", "records", "notes")
# Raised when a key of the JSON changes meaning or goes away.
SCHEMA_VERSION = 1


def encoding_values(robots: RobotsTxt, octets: bytes) -> dict[str, Any]:
    """Return facts about the bytes: encoding, byte order mark, line ends, limits."""
    codes = {note.code for note in robots.notes}
    body = robots.body
    name: str | None = "utf-8"
    if "not-utf8" in codes:
        name = "utf-16-le" if octets.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"
    else:
        try:
            codecs.getincrementaldecoder("utf-8")().decode(body)
        except UnicodeDecodeError:
            name = None
    crlf = body.count(b"\r\n")
    return {
        "name": name,
        "byte_order_mark": bool(codes & {"bom", "cut-bom", "not-utf8"}),
        "octets": len(octets),
        "line_ends": {
            "lf": body.count(b"\n") - crlf,
            "crlf": crlf,
            "cr": body.count(b"\r") - crlf,
        },
        "truncated": "truncated" in codes,
    }


def parse_values(
    robots: RobotsTxt, octets: bytes, sections: Sequence[str] = SECTIONS, file: str | None = None
) -> dict[str, Any]:
    """Return how a file is parsed; *octets* is the file as received, *file* its name."""
    values: dict[str, Any] = {
        "schema": SCHEMA_VERSION,
        "file": file,
        "profile": robots.profile.name,
        "encoding": encoding_values(robots, octets),
    }
    for name in sections:
        values[name] = [value.as_dict() for value in getattr(robots, name)]
        if name == "groups":
            found = robots.group_structures
            values["group_structures"] = [structure.as_dict() for structure in found]
    return values
