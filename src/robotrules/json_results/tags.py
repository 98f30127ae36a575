"""The JSON of `robotrules tags`, and the inputs about pages that commands and the service share."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from robotrules.octets import to_text
from robotrules.profile import PROFILES
from robotrules.tags import Fields, UsageRules
from robotrules.tags.saved_responses import SavedResponse

__all__ = ["join_fields", "robots_profile", "split_header", "tags_values", "with_saved_notes"]

# The characters of a field name (RFC 9110 §5.1).
_FIELD_LINE = re.compile(rb"\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:(.*)", re.DOTALL)


def robots_profile(profile: str) -> str:
    """Return the robots.txt profile of the same name as a tag profile, otherwise default."""
    return profile if profile in PROFILES else "default"


def split_header(line: bytes) -> tuple[bytes, bytes] | None:
    """Return name and value of a header line; None if it is none."""
    found = _FIELD_LINE.match(line)
    return (found[1], found[2]) if found else None


def join_fields(many: Iterable[Fields | None]) -> Fields | None:
    """Return the fields of a response, followed by those that were added to it."""
    given = [fields for fields in many if fields is not None]
    if len(given) < 2:
        return given[0] if given else None
    return Fields(sum((fields.lines for fields in given), start=given[0].lines[:0]), given[0].apart)


def with_saved_notes(rules: UsageRules, saved: SavedResponse | None) -> UsageRules:
    """Return rules with the notes on the saved response that they were read from."""
    if saved is None or not saved.notes:
        return rules
    return rules._replace(notes=(*saved.notes, *rules.notes))


def tags_values(
    rules: UsageRules,
    *,
    url: bytes | None,
    profile: str,
    status: int | None = None,
    file: str | None = None,
) -> dict[str, Any]:
    """Return the tag rules of a page; *status* is that of a saved response, *file* its name."""
    return {
        "file": file,
        "url": None if url is None else to_text(url),
        "status": status,
        "profile": profile,
        **rules.as_dict(),
    }
