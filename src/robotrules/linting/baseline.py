"""
Baselines: the known notes of a project, so that a run reports only new ones.

    known = read_baseline(octets)
    found = known.compare("robots.txt", notes, Fingerprints(Places(body)))
    found.new, found.known, found.stale

A note is known if the baseline has its fingerprint (`render.fingerprints`): the check and the text
of the line, wherever the line is now. A note of a more severe level than its entry is new. Equal
notes are counted: of three equal notes, two are known if the baseline has two. An entry without a
note is stale. All functions are pure; the caller reads and writes the file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from robotrules.linting.note import LEVELS, ROBOTS_TXT, LintNote
from robotrules.linting.render.fingerprints import Fingerprints
from robotrules.octets import visible

__all__ = [
    "MAX_BYTES",
    "BaselineComparison",
    "BaselineEntry",
    "BaselineError",
    "LintBaseline",
    "Scope",
    "read_baseline",
]

SCHEMA_VERSION = 1
# A larger file is refused: an entry has about 200 bytes, so this is about 80,000 entries.
MAX_BYTES = 16 << 20
# How much of a line is shown in an entry; the fingerprint is of the whole line.
LONGEST_TEXT = 100
_COMMENT = (
    "Known notes of robotrules lint: written by --write-baseline, read by --baseline. "
    "Correct the lines, then write it again."
)


class BaselineError(ValueError):
    """The octets are not a baseline; the message says why."""


class BaselineEntry(NamedTuple):
    """Known notes with the same fingerprint in one file."""

    fingerprint: str
    code: str
    slug: str
    level: str
    text: str = ""
    """The line, or the part of a page, shortened; for people who read the file."""
    notes: int = 1
    """Their number."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        values = self._asdict()
        return values | {"count": values.pop("notes")}


class Scope(NamedTuple):
    """What a run looked for in a file: entries outside of it are neither stale nor removed."""

    codes: Collection[str]
    """The checks that ran."""
    levels: Collection[str] = LEVELS
    """The levels that counted."""

    def covers(self, entry: BaselineEntry) -> bool:
        """Return whether the run would have found the note of an entry."""
        return entry.code in self.codes and entry.level in self.levels


class BaselineComparison(NamedTuple):
    """The notes of a file, compared with a baseline."""

    new: tuple[LintNote, ...] = ()
    known: tuple[LintNote, ...] = ()
    stale: tuple[BaselineEntry, ...] = ()
    """Entries without a note; `notes` is the number of missing ones."""


class LintBaseline:
    """The known notes of a project, by file."""

    __slots__ = ("_files",)

    def __init__(self, files: Mapping[str, Sequence[BaselineEntry]] | None = None) -> None:
        """*files*: entries by the name of the file."""
        self._files = {name: tuple(entries) for name, entries in (files or {}).items() if entries}

    @property
    def files(self) -> Mapping[str, tuple[BaselineEntry, ...]]:
        """The entries by file."""
        return self._files

    def __len__(self) -> int:
        """Return the number of known notes."""
        return sum(entry.notes for entries in self._files.values() for entry in entries)

    def compare(
        self, file: str, notes: Iterable[LintNote], prints: Fingerprints, scope: Scope
    ) -> BaselineComparison:
        """Return which notes of a file are new and known, and which entries are stale."""
        entries = self._files.get(file, ())
        left: Counter[tuple[str, str]] = Counter()
        for entry in entries:
            left[entry.fingerprint, entry.level] += entry.notes
        found = [(note, prints.of(note)) for note in notes]
        is_known = [False] * len(found)
        # First those of the same level, so that what is left are entries of other levels.
        for levels in (_same_level, _higher_levels):
            for place, (note, same) in enumerate(found):
                keys = [(same, level) for level in levels(note.level) if left[same, level] > 0]
                if keys and not is_known[place]:
                    left[keys[0]] -= 1
                    is_known[place] = True
        pairs = [(note, was) for (note, _), was in zip(found, is_known, strict=True)]
        known = [note for note, was in pairs if was]
        new = [note for note, was in pairs if not was]
        stale = []
        for entry in entries:
            key = entry.fingerprint, entry.level
            missing = min(entry.notes, left[key])
            if missing > 0 and scope.covers(entry):
                left[key] -= missing
                stale.append(entry._replace(notes=missing))
        return BaselineComparison(tuple(new), tuple(known), tuple(stale))

    def entries(
        self, file: str, notes: Iterable[LintNote], prints: Fingerprints, scope: Scope
    ) -> list[BaselineEntry]:
        """Return entries for the notes of a file, and its entries outside of *scope*."""
        kept = [entry for entry in self._files.get(file, ()) if not scope.covers(entry)]
        return [*kept, *_entries(notes, prints)]

    def render(self) -> bytes:
        """Return the baseline as JSON: sorted, an entry per line, so that changes are readable."""
        lines = []
        for name in sorted(self._files):
            entries = sorted(self._files[name], key=lambda one: (one.code, one.text, one))
            rows = ",\n".join(f"      {json.dumps(one.as_dict())}" for one in entries)
            lines.append(f"    {json.dumps(name)}: [\n{rows}\n    ]")
        files = "{\n" + ",\n".join(lines) + "\n  }" if lines else "{}"
        head = f'  "comment": {json.dumps(_COMMENT)},\n  "schema": {SCHEMA_VERSION}'
        return f'{{\n{head},\n  "files": {files}\n}}\n'.encode()


def _same_level(level: str) -> tuple[str, ...]:
    return (level,)


def _higher_levels(level: str) -> tuple[str, ...]:
    """Return the more severe levels, the next one first."""
    return LEVELS[: LEVELS.index(level)][::-1]


def _entries(notes: Iterable[LintNote], prints: Fingerprints) -> list[BaselineEntry]:
    found: dict[tuple[str, str], BaselineEntry] = {}
    for note in notes:
        key = prints.of(note), note.level
        if key in found:
            found[key] = found[key]._replace(notes=found[key].notes + 1)
            continue
        text = visible(prints.line_text(note)[: 4 * LONGEST_TEXT].strip())
        if not text and note.part != ROBOTS_TXT:
            text = visible(note.part)
        found[key] = BaselineEntry(key[0], note.code, note.slug, note.level, text[:LONGEST_TEXT])
    return list(found.values())


# --- Reading --------------------------------------------------------------------------------------


def read_baseline(octets: bytes) -> LintBaseline:
    """Return a baseline; raises `BaselineError` with the reason."""
    if len(octets) > MAX_BYTES:
        raise BaselineError(f"it is larger than {MAX_BYTES >> 20} MiB")
    try:
        value = json.loads(octets)
    except (ValueError, RecursionError):
        raise BaselineError("it is not JSON") from None
    if not isinstance(value, dict) or not isinstance(value.get("files"), dict):
        raise BaselineError("it has no object 'files'")
    if value.get("schema") != SCHEMA_VERSION:
        raise BaselineError(f"its 'schema' is not {SCHEMA_VERSION}")
    return LintBaseline({name: _read_entries(name, part) for name, part in value["files"].items()})


def _read_entries(name: str, value: Any) -> list[BaselineEntry]:
    if not isinstance(value, list):
        raise BaselineError(f"the entries of {visible(name)!r} are not a list")
    return [_read_entry(name, one) for one in value]


def _read_entry(name: str, value: Any) -> BaselineEntry:
    fields = {} if not isinstance(value, dict) else value
    texts = [fields.get(key, "") for key in ("fingerprint", "code", "slug", "level", "text")]
    count = fields.get("count", 1)
    valid = all(isinstance(text, str) for text in texts) and texts[0] and texts[3] in LEVELS
    if not valid or type(count) is not int or count < 1:
        raise BaselineError(f"an entry of {visible(name)!r} is not one that robotrules writes")
    fingerprint, code, slug, level, text = texts
    return BaselineEntry(fingerprint, code, slug, level, text, count)
