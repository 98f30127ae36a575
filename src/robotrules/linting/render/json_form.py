"""
JSON: lint results as one object of plain values; `lint.schema.json` describes it.

Columns count octets, as everywhere in the library. The caller serialises the object.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from robotrules.linting.note import LEVELS
from robotrules.linting.render import STDIN, LintedFile, count_notes

# Incremented when a key of the JSON changes meaning or is removed.
SCHEMA_VERSION = 1
# Code, slug and level.
_CheckKey = tuple[str, str, str]


def as_json(files: Iterable[LintedFile]) -> dict[str, Any]:
    """Return the notes of files, as plain values."""
    total = dict.fromkeys(LEVELS, 0)
    by_check: Counter[_CheckKey] = Counter()
    rendered = []
    for file in files:
        counts = count_notes([file])
        for level, count in counts.items():
            total[level] += count
        by_check.update(_check_keys(file))
        rendered.append(_render_file(file, counts))
    return {
        "schema": SCHEMA_VERSION,
        "counts": total,
        "statistics": _statistics(by_check),
        "files": rendered,
    }


def statistics(files: Iterable[LintedFile]) -> list[dict[str, Any]]:
    """Return the number of notes of each check, most frequent first."""
    return _statistics(Counter(key for file in files for key in _check_keys(file)))


def _check_keys(file: LintedFile) -> Iterator[_CheckKey]:
    return ((note.code, note.slug, note.level) for note in file.notes)


def _statistics(counts: Counter[_CheckKey]) -> list[dict[str, Any]]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [
        {"code": code, "slug": slug, "level": level, "count": count}
        for (code, slug, level), count in ordered
    ]


def _render_file(file: LintedFile, counts: dict[str, int]) -> dict[str, Any]:
    url = None if file.is_file or file.name == STDIN else file.name
    return {
        "file": file.name if file.is_file else None,
        "url": url,
        "error": file.error or None,
        "counts": counts,
        "fixed": [note.as_dict() for note in file.fixed],
        "baseline": _render_baseline(file) if file.has_baseline else None,
        "notes": [note.as_dict() for note in file.notes],
    }


def _render_baseline(file: LintedFile) -> dict[str, Any]:
    return {
        "known": [note.as_dict() for note in file.known],
        "stale": [entry.as_dict() for entry in file.stale],
    }
