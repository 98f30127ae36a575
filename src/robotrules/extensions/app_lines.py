"""
App-Directives lines: the applications that a line names, their directives, and registrations.

The value is an optional path pattern and a List of Structured Fields, whose members are Tokens that
name applications and whose parameters are the app directives (draft-nottingham-plan-b §2). Each
line is read alone, so one that cannot be read does not affect others (AMB-105). Which lines count
for a URL is decided in `app_directives`.
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

# The ABNF has the singular, every example the plural (AMB-101). Neither is a misspelling of the
# other. Role OTHER: for Allow and Disallow neither ends a list of user-agent lines; in the group
# structure of their own document both do (AMB-29).
REFERENCE = "draft-nottingham-plan-b §2"
EXTENSION = Extension("App-Directives", reference=REFERENCE)
EXTENSIONS = (EXTENSION, Extension("App-Directive", reference=REFERENCE))
KEYS = tuple(extension.key.lower() for extension in EXTENSIONS)


# --- An app directive ----------------------------------------------------------------------------


class Registration(StrEnum):
    """The registration status of an app directive (§3.2)."""

    REGISTERED = "registered"
    DEPRECATED = "deprecated"
    """Registered, and the application discourages its use."""
    UNREGISTERED = "unregistered"
    """Not in the registries. Registration is not mandatory (§1.1), so it applies."""
    TYPE_MISMATCH = "type-mismatch"
    """The value has another type than the registered one, so it is not applied (APP-3.2-02)."""


class AppDirective(NamedTuple):
    """One app directive and its record."""

    name: str
    value: Any
    """A bool, int, Decimal, str, bytes, datetime, or http-sf's Token or DisplayString."""
    type: str
    """The type of the value in RFC 9651 §3.3: Boolean, Integer, Token, …"""
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
        """Return it as plain values for JSON: bytes in base64, a date in seconds."""
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
    """A parsed record: its path, and the parameters for each application."""

    record: Record
    path: bytes | None
    start: int
    """Where its List starts in the file."""
    parameters: Mapping[str, Sequence[Mapping[str, Any]]]
    """For each application that it names, the parameters of each member that names it."""
    notes: tuple[Note, ...]

    @property
    def is_broken(self) -> bool:
        """Whether its List fails to parse."""
        return any(note.code in ("bad-structure", "too-large") for note in self.notes)

    def note(self, code: str) -> Note:
        """Return a note on the List."""
        return note(code, self.record, self.start)


def read_line(record: Record, robots: RobotsTxt) -> AppLine:
    """Parse a record; an unusable one names no application and has a note of level error."""
    path, text, start = split(record)
    if path is not None and not is_usable(path, robots):
        unusable = note("unusable-path", record, record.start, record.start + len(path))
        return AppLine(record, path, start, {}, (unusable,))
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
    by_application: dict[str, list[Mapping[str, Any]]] = {}
    for member, parameters in parsed.value:
        if is_token(member):
            by_application.setdefault(str(member), []).append(parameters)
    if sum(map(len, by_application.values())) < len(parsed.value):
        notes.append(note("not-an-application", record, start))
    return AppLine(record, path, start, by_application, tuple(notes))


def _comment_cuts(body: bytes, end: int, failed: bool) -> bool:
    """Return whether a `#` ended a value that was probably meant to continue (AMB-16)."""
    if failed:
        while body[end : end + 1] in (b" ", b"\t"):
            end += 1
    return body[end : end + 1] == b"#"


# --- The directives for one application -----------------------------------------------------------


class AppStatement(NamedTuple):
    """The directives of a line for one application."""

    line: AppLine
    directives: tuple[AppDirective, ...]
    notes: tuple[Note, ...]


CODES = {
    Registration.DEPRECATED: "deprecated-directive",
    Registration.UNREGISTERED: "unregistered-directive",
    Registration.TYPE_MISMATCH: "type-mismatch",
}


def statement_for(application: str, line: AppLine, registries: Registries) -> AppStatement:
    """Return the directives of a line for an application, with their registration status."""
    directives = []
    for parameters in line.parameters.get(application, ()):  # Tokens are case-sensitive (AMB-107)
        for name, value in parameters.items():
            kind = value_type(value)
            status = _registration(application, name, kind, registries)
            directives.append(AppDirective(name, value, kind, line.record, status))
    codes = {CODES[one.status]: None for one in directives if one.status in CODES}
    if application not in registries.applications:
        codes = {"unregistered-application": None, **codes}
        codes.pop("unregistered-directive", None)  # implied by the note on the application
    return AppStatement(line, tuple(directives), (*line.notes, *map(line.note, codes)))


def _registration(application: str, name: str, kind: str, registries: Registries) -> Registration:
    entry = registries.directives.get((application, name))
    if entry is None:
        return Registration.UNREGISTERED
    if entry.value_type != kind:
        return Registration.TYPE_MISMATCH
    return Registration.DEPRECATED if entry.status == "deprecated" else Registration.REGISTERED
