"""
Content-Signal: Cloudflare's record of 2025 about search, AI input and AI training.

`[path] key=value, …` in a group, with values yes and no; a missing signal neither grants nor
restricts (REC-content-signal-01). It is not a Structured Field, so it has a lenient parser: a
comma-separated list, case-insensitive, unknown keys kept (AMB-116).

It is not Content-Usage and changes neither verdicts nor preferences. `to_content_usage` converts
signals explicitly. It does not interpret keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from robotrules.extensions import require_robots_txt
from robotrules.extensions.codes import note
from robotrules.extensions.scoped import ScopedSet, is_usable, split
from robotrules.octets import to_text
from robotrules.profile import Extension, Role
from robotrules.robotstxt import RobotsTxt, Tokens
from robotrules.robotstxt.ruleset import URL
from robotrules.robotstxt.values import Note, Record

EXTENSION = Extension("Content-Signal", (), Role.OTHER, "group", "contentsignals.org (2025-09)")
KEY = "content-signal"

# The keys that its policy defines, and their two values. `use=` is being tested.
KEYS = ("search", "ai-input", "ai-train")
VALUES = ("yes", "no")
# Keys with a counterpart in draft-ietf-aipref-vocab-07 §6.1; `ai-input` has none.
COUNTERPARTS = {"ai-train": "train-ai", "search": "search"}


class Signal(NamedTuple):
    """One `key=value` of a Content-Signal record, both in lower case."""

    key: str
    value: str
    record: Record
    path: str | None = None
    """The path pattern of its record as written; None: it covers every path."""

    @property
    def line(self) -> int:
        """The line of its record."""
        return self.record.line

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {"key": self.key, "value": self.value, "line": self.line, "path": self.path}


class ContentSignals(NamedTuple):
    """The signals for one URL, as written."""

    signals: tuple[Signal, ...]
    notes: tuple[Note, ...] = ()
    """Notes on the Content-Signal records of the selected groups."""

    def get(self, key: str) -> str | None:
        """
        Return the value of a key, such as `ai-train`; None if there is no signal.

        If a key has several values, `no` counts before `yes`, as for preferences, and both before
        other values, of which the last counts.
        """
        return self.values().get(key.lower())

    def values(self) -> dict[str, str]:
        """Return every key with the value that counts."""
        values: dict[str, str] = {}
        for key, value, *_ in self.signals:
            before = values.get(key)
            if before is None or before not in VALUES or value == "no":
                values[key] = value
        return values

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "values": self.values(),
            "signals": [signal.as_dict() for signal in self.signals],
            "notes": [note.as_dict() for note in self.notes],
        }


def content_signals(
    robots: RobotsTxt, url: URL, product_token: Tokens, purposes: Sequence[str] = ()
) -> ContentSignals:
    """
    Return the signals of a site for *product_token* and *url*.

    Its groups are those whose rules it obeys. Of records with a path, the longest matching path
    counts, as for Content-Usage; records without a path count if no path matches.
    """
    require_robots_txt(robots)
    groups = robots.select_groups(product_token, purposes).groups
    records = [record for group in groups for record in group.records if record.key == KEY]
    entries = []
    for record in records:
        scoped, signals = _read(record)
        # A record without a valid signal is ignored, so a shorter path still counts (as AMB-111).
        if signals:
            entries.append((scoped, signals))
    matching = ScopedSet(entries, robots, tuple).at(url)
    notes = tuple(note for record in records for note in _notes(record, robots))
    return ContentSignals(tuple(signal for signals in matching for signal in signals), notes)


def to_content_usage(signals: ContentSignals | Mapping[str, str]) -> str:
    """
    Return signals as the text of a Content-Usage statement; empty if none has a counterpart.

    `ai-train` becomes `train-ai`, `search` stays, yes and no become y and n. `ai-input` and
    unknown keys have no counterpart and are left out. Never done implicitly (AMB-116).
    """
    if isinstance(signals, ContentSignals):
        signals = signals.values()
    if not isinstance(signals, Mapping):
        raise TypeError(
            "signals must be a result of content_signals(), or a dict such as "
            f"{{'ai-train': 'no'}}; not {type(signals).__name__}"
        )
    given = {key.lower(): value.lower() for key, value in signals.items()}
    return ", ".join(
        f"{label}={given[key][0]}"
        for key, label in COUNTERPARTS.items()
        if given.get(key) in VALUES
    )


def notes(robots: RobotsTxt, registries: object = None) -> Iterator[Note]:
    """Yield notes on the Content-Signal records of a file."""
    for record in robots.records:
        if record.key == KEY:
            if record.group is None:
                yield note("record-outside-group", record)
            yield from _notes(record, robots)


def _notes(record: Record, robots: RobotsTxt) -> Iterator[Note]:
    scoped = split(record)
    if scoped.path is not None and not is_usable(scoped.path, robots):
        yield note("unusable-path", record, end=record.start + len(scoped.path))
    if not scoped.statement:
        yield note("empty-statement", record)
    for start, end, key, value in _members(scoped.statement):
        place = scoped.start + start, scoped.start + end
        if not key or not value:
            yield note("bad-signal", record, *place)
        elif key in KEYS and value not in VALUES:
            yield note("odd-signal", record, *place)


def _read(record: Record) -> tuple[bytes | None, tuple[Signal, ...]]:
    """Return the path of a record, and its valid signals."""
    path, statement, _ = split(record)
    written = None if path is None else to_text(path)
    members = _members(statement)
    return path, tuple(
        Signal(key, value, record, written) for _, _, key, value in members if key and value
    )


def _members(statement: bytes) -> Iterator[tuple[int, int, str, str]]:
    """Yield each part between commas: its span, key and value; without `=` an empty value."""
    for match in re.finditer(rb"[^,]+", statement):
        part = match[0].strip(b" \t")
        if part:  # an extra comma is ignored
            start = match.start() + match[0].index(part)
            key, _, value = to_text(part).partition("=")
            yield start, start + len(part), key.strip().lower(), value.strip().lower()
