"""
One App-Directives line: whom it names, what it says to them, and what the registries say to that.

The value is an optional path pattern and a List of Structured Fields, whose members are Tokens that
name applications and whose parameters are the app directives (draft-nottingham-plan-b §2). A line
is read alone, so one that cannot be read hides no line beside it (AMB-105). It does not know which
lines count for a URL: `app_directives` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from robotrules.extensions.codes import note
from robotrules.extensions.scoped import is_usable, split
from robotrules.http.structured_fields import (
    is_token,
    parse_list,
    serialise,
    to_plain_value,
    value_type,
)
from robotrules.octets import to_text
from robotrules.profile import Extension
from robotrules.registries import Registries
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.values import Note, Record

# The ABNF has the singular, every example the plural (AMB-101). Neither is a misspelling, so
# neither is a spelling of the other. Role OTHER: for Allow and Disallow neither ends a list of
# user-agent lines; over the groups of their own document both do (AMB-29).
REFERENCE = "draft-nottingham-plan-b §2"
EXTENSION = Extension("App-Directives", reference=REFERENCE)
EXTENSIONS = (EXTENSION, Extension("App-Directive", reference=REFERENCE))
KEYS = tuple(extension.key.lower() for extension in EXTENSIONS)


# --- An app directive ----------------------------------------------------------------------------


class Registration(StrEnum):
    """What the registries say of an app directive (§3.2)."""

    REGISTERED = "registered"
    DEPRECATED = "deprecated"
    """Registered, and the application would rather not see it."""
    UNREGISTERED = "unregistered"
    """No registry knows it. Registration is not mandatory (§1.1), so it applies."""
    TYPE_MISMATCH = "type-mismatch"
    """The value has another type than the registered one, so it is not applied (APP-3.2-02)."""


class AppDirective(NamedTuple):
    """One app directive, and the record it comes from."""

    name: str
    value: Any
    """A bool, int, Decimal, str, bytes, datetime, or http-sf's Token or DisplayString."""
    type: str
    """What RFC 9651 §3.3 calls the type of the value: Boolean, Integer, Token, …"""
    record: Record
    status: Registration

    @property
    def path(self) -> str | None:
        """The path pattern of its record as written; None: it covers every path."""
        path = split(self.record).path
        return None if path is None else to_text(path)

    def __str__(self) -> str:
        return f"{self.name}={serialise(self.value)}"

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON: octets in base64, a date in seconds."""
        return {
            "name": self.name,
            "value": to_plain_value(self.value),
            "type": self.type,
            "status": str(self.status),
            "path": self.path,
            "line": self.record.line,
            "column": self.record.column,
            "start": self.record.start,
            "end": self.record.end,
        }


# --- A line ---------------------------------------------------------------------------------------


class AppLine(NamedTuple):
    """A record that was read: its path, and whom it tells what."""

    record: Record
    path: bytes | None
    start: int
    """Where its List starts in the file."""
    told: Mapping[str, Sequence[Mapping[str, Any]]]
    """For each application that it names, the parameters of each member that does."""
    notes: tuple[Note, ...]

    @property
    def is_broken(self) -> bool:
        """Whether its List fails to parse."""
        return any(found.code in ("bad-structure", "too-large") for found in self.notes)

    def note(self, code: str) -> Note:
        """Return a note on the List."""
        return note(code, self.record, self.start)


def read_line(record: Record, robots: RobotsTxt) -> AppLine:
    """Read a record; one that cannot be used names nobody and has a note of level error."""
    path, text, start = split(record)
    if path is not None and not is_usable(path, robots):
        found = note("unusable-path", record, record.start, record.start + len(path))
        return AppLine(record, path, start, {}, (found,))
    parsed = parse_list(text)
    notes = []
    if _comment_cuts(robots.body, record.end, parsed.error is not None):
        notes.append(note("comment-in-value", record, start))
    if parsed.error is not None:
        code = "too-large" if parsed.too_large else "bad-structure"
        notes.append(note(code, record, min(start + (parsed.position or 0), record.end)))
        return AppLine(record, path, start, {}, tuple(notes))
    if not parsed.value:
        notes.append(note("no-application", record, start))
    told: dict[str, list[Mapping[str, Any]]] = {}
    for member, parameters in parsed.value:
        if is_token(member):
            told.setdefault(str(member), []).append(parameters)
    if sum(map(len, told.values())) < len(parsed.value):
        notes.append(note("not-an-application", record, start))
    return AppLine(record, path, start, told, tuple(notes))


def _comment_cuts(body: bytes, end: int, failed: bool) -> bool:
    """Tell whether a `#` ended a value that was probably meant to go on (AMB-16)."""
    if failed:
        while body[end : end + 1] in (b" ", b"\t"):
            end += 1
    return body[end : end + 1] == b"#"


# --- What it says to one application --------------------------------------------------------------


class AppStatement(NamedTuple):
    """What a line says to one application."""

    line: AppLine
    directives: tuple[AppDirective, ...]
    notes: tuple[Note, ...]


CODES = {
    Registration.DEPRECATED: "deprecated-directive",
    Registration.UNREGISTERED: "unregistered-directive",
    Registration.TYPE_MISMATCH: "type-mismatch",
}


def statement_for(application: str, line: AppLine, registries: Registries) -> AppStatement:
    """Return what a line says to an application, and what the registries say to that."""
    directives = []
    for parameters in line.told.get(application, ()):  # Tokens are case sensitive (AMB-107)
        for name, value in parameters.items():
            kind = value_type(value)
            status = _registration(application, name, kind, registries)
            directives.append(AppDirective(name, value, kind, line.record, status))
    codes = {CODES[found.status]: None for found in directives if found.status in CODES}
    if application not in registries.applications:
        codes = {"unregistered-application": None, **codes}
        codes.pop("unregistered-directive", None)  # goes without saying
    return AppStatement(line, tuple(directives), (*line.notes, *map(line.note, codes)))


def _registration(application: str, name: str, kind: str, registries: Registries) -> Registration:
    entry = registries.directives.get((application, name))
    if entry is None:
        return Registration.UNREGISTERED
    if entry.value_type != kind:
        return Registration.TYPE_MISMATCH
    return Registration.DEPRECATED if entry.status == "deprecated" else Registration.REGISTERED
