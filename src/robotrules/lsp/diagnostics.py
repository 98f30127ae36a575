"""
Diagnostics: the notes of lint as an editor shows them.

A note's code, words, place and related places; rules that decide nothing are shown faint. Which
checks are chosen is for the settings of the project to say. It does not know when to lint.
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
from robotrules.errors import CheckError, ConfigError
from robotrules.linting import BUDGET, lint
from robotrules.linting.check_docs import first_paragraph, parts
from robotrules.linting.note import LintNote
from robotrules.linting.selection import find_check
from robotrules.lsp.document import OpenDocument
from robotrules.lsp.markup import brief

__all__ = ["SOURCE", "TYPING_BUDGET", "Showing", "diagnostic", "diagnostics", "notes"]

SOURCE = "robotrules"
# States that an exact question may see while somebody types: a tenth of what lint takes. What that
# does not decide is asked again when the keyboard rests.
TYPING_BUDGET = BUDGET // 10
# What an editor can show; a hostile file has a note on every line.
MOST_SHOWN = 1_000
LONGEST_MESSAGE = 600
_SEVERITIES = {
    "error": DiagnosticSeverity.Error,
    "warning": DiagnosticSeverity.Warning,
    "info": DiagnosticSeverity.Information,
}
# Checks that find what could as well not be there.
UNNECESSARY = frozenset(
    (
        *("dead-rule", "duplicate-rule", "redundant-rule", "duplicate-sitemap"),
        *("repeated-user-agent", "unused-suppression"),
    )
)


class Showing(NamedTuple):
    """What a client can show beside a message."""

    related: bool = True
    tags: bool = True


EVERYTHING = Showing()


def notes(
    document: OpenDocument,
    config: Config | None = None,
    file: str = "",
    *,
    budget: int | None = None,
) -> list[LintNote]:
    """
    Return what lint finds, as the settings of a project want it.

    *budget* is for those who are in a hurry: settings may ask for less, not for more. A name in the
    settings that is no check raises ConfigError.
    """
    config = config or Config()
    chosen, ignored = config.lint, [*config.lint.ignore, *(config.ignored_in(file) if file else ())]
    asked = chosen.budget or BUDGET
    try:
        return lint(
            document.robots,
            select=chosen.select,
            ignore=ignored,
            registries=document.registries,
            budget=asked if budget is None else min(asked, budget),
        )
    except CheckError as error:
        raise ConfigError(f"{config.path}: {error}") from None


def diagnostics(
    document: OpenDocument, uri: str, found: Sequence[LintNote], showing: Showing = EVERYTHING
) -> list[Diagnostic]:
    """Return notes as diagnostics; of very many the first, and a last one that says so."""
    shown = [diagnostic(document, uri, note, showing) for note in found[:MOST_SHOWN]]
    if rest := len(found) - len(shown):
        shown.append(
            Diagnostic(
                document.places.range(0, 0),
                f"There are {rest:,} more notes: robotrules lint has all of them.",
                severity=DiagnosticSeverity.Information,
                source=SOURCE,
            )
        )
    return shown


def diagnostic(
    document: OpenDocument, uri: str, note: LintNote, showing: Showing = EVERYTHING
) -> Diagnostic:
    """Return one note as a diagnostic."""
    related = [
        DiagnosticRelatedInformation(
            Location(uri, document.places.range(one.start, one.end)), brief(one.message, 200)
        )
        for one in note.related[:20]
    ]
    message = brief(note.message, LONGEST_MESSAGE)
    if note.url and note.url not in message:
        message += f" ({brief(note.url, 200)})"
    return Diagnostic(
        range=place(document, note),
        message=message,
        severity=_SEVERITIES.get(note.level, DiagnosticSeverity.Information),
        code=note.code,
        source=SOURCE,
        tags=[DiagnosticTag.Unnecessary] if showing.tags and note.slug in UNNECESSARY else None,
        related_information=related if showing.related and related else None,
    )


def place(document: OpenDocument, note: LintNote) -> Range:
    """Return where a note is shown; what is about the whole file, at its first line."""
    if note.line is None:
        return document.places.range(0, 0)
    if note.end > note.start:
        return document.places.range(note.start, note.end)
    # An empty span shows nowhere: its line does.
    start, end = document.places.span_of(note.line - 1)
    return document.places.range(min(note.start, end) if note.start > start else start, end)


def at(document: OpenDocument, found: Iterable[LintNote], start: int, end: int) -> list[LintNote]:
    """Return the notes on the lines of a span of octets; those about the file are on its first."""
    first, last = (document.places.line_of(offset) for offset in (start, end))
    return [note for note in found if first <= (note.line or 1) - 1 <= last]


def teaching(note: LintNote) -> str:
    """Return the first part of what the check of a note teaches, as one paragraph."""
    check = find_check(note.code)
    return first_paragraph(parts(check).get("What it finds", "")) if check else ""
