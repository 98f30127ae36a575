"""
Results for an agent: small, and with the text of sites made harmless as text.

Strings are cut, lists are shortened, and invisible characters, line ends included, are escaped: an
escaped text cannot pretend to be a new line, a new message, or to be empty. `left_out` says what is
missing, by path. This does not make the words of a site true or safe to follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from robotrules.octets import visible

__all__ = ["Verbatim", "bound", "quote"]

MAX_TEXT = 300
MAX_BYTES = 40 * 1024
"""Bytes of the JSON of a result: some ten thousand tokens of a language model."""
# Lists are shortened further until the result is small enough.
MAX_ITEMS = (50, 20, 8, 3, 1)
MAX_PATHS = 20


class Verbatim(str):
    """Text that is used as it is, such as the text of a fix: neither cut nor escaped."""

    __slots__ = ()


def quote(text: str, most: int = MAX_TEXT) -> str:
    """Return text of a site with invisible characters escaped, cut if it is long."""
    # A character becomes at most ten; more than is shown need not be escaped.
    shown = visible(text[: most + 1])
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def bound(
    values: dict[str, Any], site_text: Sequence[str], left_out: dict[str, int] | None = None
) -> dict[str, Any]:
    """
    Return a result for an agent; *site_text* names the fields that may have text of a site.

    Those that have text are listed in the result. `groups[].rules` is a field of every group.
    *left_out* counts what the caller has left out already.
    """
    found: dict[str, Any] = {}
    for most in MAX_ITEMS:
        counts = dict(left_out or {})
        bounded = _bounded(values, most, "", counts)
        named = [path for path in site_text if _has_text(bounded, path.split("."))]
        found = {**bounded, "site_text": named, "left_out": _first_paths(counts)}
        if len(msgspec.json.encode(found)) <= MAX_BYTES:
            break
    return found


def _bounded(value: Any, most: int, path: str, left_out: dict[str, int]) -> Any:
    if isinstance(value, Verbatim):
        return str(value)
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, dict):
        if len(value) > 2 * MAX_ITEMS[0]:
            left_out[path] = len(value) - 2 * MAX_ITEMS[0]
        return {
            quote(key): _bounded(part, most, f"{path}.{quote(key, 40)}".lstrip("."), left_out)
            for key, part in list(value.items())[: 2 * MAX_ITEMS[0]]
        }
    if isinstance(value, (list, tuple)):
        if len(value) > most:
            left_out[path] = left_out.get(path, 0) + len(value) - most
        return [
            _bounded(part, most, f"{path}.{number}", left_out)
            for number, part in enumerate(value[:most])
        ]
    return value


def _has_text(value: Any, path: Sequence[str] = ()) -> bool:
    """Return whether there is text at a path, or below it."""
    if not path:
        if isinstance(value, dict):
            return any(map(_has_text, value.values()))
        return any(map(_has_text, value)) if isinstance(value, list) else isinstance(value, str)
    name = path[0].removesuffix("[]")
    part = value.get(name) if isinstance(value, dict) else None
    if name == path[0]:
        return _has_text(part, path[1:])
    return any(_has_text(item, path[1:]) for item in part or ())


def _first_paths(counts: dict[str, int]) -> dict[str, int]:
    """Return the first paths; the others are one number."""
    if len(counts) <= MAX_PATHS:
        return counts
    paths = list(counts.items())
    return {**dict(paths[:MAX_PATHS]), "elsewhere": sum(count for _, count in paths[MAX_PATHS:])}
