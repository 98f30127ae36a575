"""
Diagnostics: lint notes as LSP diagnostics, for `textDocument/publishDiagnostics`.

A diagnostic has the note's code, message, range and related locations; rules without effect get the
tag `Unnecessary`, which editors show faded. The project's settings select the checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lsprotocol.types import (
    Diagnostic,
    DiagnosticRelatedInformation,
    DiagnosticSeverity,
    DiagnosticTag,
    Location,
    Range,
)

from robotrules.config import Config
from robotrules.editing.document import OpenDocument
from robotrules.editing.markdown import truncate
from robotrules.errors import CheckError, ConfigError
from robotrules.linting import MAX_STATES, lint
from robotrules.linting.check_docs import first_paragraph, parts
from robotrules.linting.note import LintNote
from robotrules.linting.selection import find_check

__all__ = [
    "SOURCE",
    "TYPING_MAX_STATES",
    "ClientSupport",
    "lint_document",
    "make_diagnostic",
    "make_diagnostics",
]

SOURCE = "robotrules"
# The state budget of an exact analysis while the user types: a tenth of the normal one. A thorough
# lint follows if this leaves anything undecided.
TYPING_MAX_STATES = MAX_STATES // 10
# Limits for the client; a hostile file has a note on every line.
MAX_DIAGNOSTICS = 1_000
MAX_MESSAGE_LENGTH = 600
_SEVERITIES = {
    "error": DiagnosticSeverity.Error,
    "warning": DiagnosticSeverity.Warning,
    "info": DiagnosticSeverity.Information,
}
# Checks that find lines that can be removed without effect.
UNNECESSARY = frozenset(
    (
        *("dead-rule", "duplicate-rule", "redundant-rule", "duplicate-sitemap"),
        *("repeated-user-agent", "unused-suppression"),
    )
)


class ClientSupport(NamedTuple):
    """The optional parts of a diagnostic that the client supports."""

    related_information: bool = True
    tags: bool = True


FULL_SUPPORT = ClientSupport()


def lint_document(
    document: OpenDocument,
    config: Config | None = None,
    file: str = "",
    *,
    max_states: int | None = None,
) -> list[LintNote]:
    """
    Return the lint notes of a document, with the settings of a project.

    *max_states* is an upper limit for the budget of the settings. An unknown check in the settings
    raises ConfigError.
    """
    config = config or Config()
    settings = config.lint
    ignored = [*settings.ignore, *(config.ignored_in(file) if file else ())]
    configured_budget = settings.max_states or MAX_STATES
    try:
        return lint(
            document.robots,
            select=settings.select,
            ignore=ignored,
            registries=document.registries,
            max_states=configured_budget
            if max_states is None
            else min(configured_budget, max_states),
        )
    except CheckError as error:
        raise ConfigError(f"{config.path}: {error}") from None


def make_diagnostics(
    document: OpenDocument,
    uri: str,
    notes: Sequence[LintNote],
    support: ClientSupport = FULL_SUPPORT,
) -> list[Diagnostic]:
    """Return notes as diagnostics; past the limit, one diagnostic counts the rest."""
    shown = [make_diagnostic(document, uri, note, support) for note in notes[:MAX_DIAGNOSTICS]]
    if rest := len(notes) - len(shown):
        shown.append(
            Diagnostic(
                document.positions.to_range(0, 0),
                f"{rest:,} more notes are not shown: run robotrules lint to see all of them.",
                severity=DiagnosticSeverity.Information,
                source=SOURCE,
            )
        )
    return shown


def make_diagnostic(
    document: OpenDocument, uri: str, note: LintNote, support: ClientSupport = FULL_SUPPORT
) -> Diagnostic:
    """Return one note as a diagnostic."""
    related = [
        DiagnosticRelatedInformation(
            Location(uri, document.positions.to_range(place.start, place.end)),
            truncate(place.message, 200),
        )
        for place in note.related[:20]
    ]
    message = truncate(note.message, MAX_MESSAGE_LENGTH)
    if note.url and note.url not in message:
        message += f" ({truncate(note.url, 200)})"
    return Diagnostic(
        range=find_range(document, note),
        message=message,
        severity=_SEVERITIES.get(note.level, DiagnosticSeverity.Information),
        code=note.code,
        source=SOURCE,
        tags=[DiagnosticTag.Unnecessary] if support.tags and note.slug in UNNECESSARY else None,
        related_information=related if support.related_information and related else None,
    )


def find_range(document: OpenDocument, note: LintNote) -> Range:
    """Return the range of a note; a note about the whole file is at the start of the file."""
    if note.line is None:
        return document.positions.to_range(0, 0)
    if note.end > note.start:
        return document.positions.to_range(note.start, note.end)
    # Editors do not show an empty range, so the range is the rest of the line.
    start, end = document.positions.line_span(note.line - 1)
    return document.positions.to_range(min(note.start, end) if note.start > start else start, end)


def find_notes(
    document: OpenDocument, notes: Iterable[LintNote], start: int, end: int
) -> list[LintNote]:
    """Return the notes on the lines of a span of bytes; notes about the file are on line 1."""
    first, last = (document.positions.line_at(offset) for offset in (start, end))
    return [note for note in notes if first <= (note.line or 1) - 1 <= last]


def summarize_check(note: LintNote) -> str:
    """Return the first paragraph of the documentation of a note's check; empty if unknown."""
    check = find_check(note.code)
    return first_paragraph(parts(check).get("What it finds", "")) if check else ""
