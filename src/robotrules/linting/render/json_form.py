"""
JSON: all that lint found as one object of plain values; `docs/lint.schema.json` describes it.

Columns count octets, as everywhere in the library. It does not know how the object is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from robotrules.linting.note import LEVELS
from robotrules.linting.render import STDIN, Linted, counted

# Raised when a key of the JSON changes meaning or goes away.
SCHEMA_VERSION = 1
_Named = tuple[str, str, str]


def as_json(files: Iterable[Linted]) -> dict[str, Any]:
    """Return what was found in files, as plain values."""
    total = dict.fromkeys(LEVELS, 0)
    by_check: Counter[_Named] = Counter()
    listed = []
    for one in files:
        counts = counted([one])
        for level, count in counts.items():
            total[level] += count
        by_check.update(_named(one))
        listed.append(_file(one, counts))
    return {
        "schema": SCHEMA_VERSION,
        "counts": total,
        "statistics": _statistics(by_check),
        "files": listed,
    }


def statistics(files: Iterable[Linted]) -> list[dict[str, Any]]:
    """Return how often each check has a note, the most frequent first."""
    return _statistics(Counter(name for one in files for name in _named(one)))


def _named(one: Linted) -> Iterator[_Named]:
    return ((note.code, note.slug, note.level) for note in one.notes)


def _statistics(counts: Counter[_Named]) -> list[dict[str, Any]]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [
        {"code": code, "slug": slug, "level": level, "count": count}
        for (code, slug, level), count in ordered
    ]


def _file(one: Linted, counts: dict[str, int]) -> dict[str, Any]:
    url = None if one.is_file or one.name == STDIN else one.name
    return {
        "file": one.name if one.is_file else None,
        "url": url,
        "trouble": one.trouble or None,
        "counts": counts,
        "fixed": [note.as_dict() for note in one.fixed],
        "notes": [note.as_dict() for note in one.notes],
    }
