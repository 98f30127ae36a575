"""
Actions: what an editor offers to do about notes.

Quick fixes are those of lint; one that changes verdicts says so in its title and is never the
preferred one. A note can be silenced where it is. All fixes that change nothing can be made at
once, and are proved together to change nothing. It does not know how an editor applies them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lsprotocol.types import (
    CodeAction,
    CodeActionKind,
    OptionalVersionedTextDocumentIdentifier,
    TextDocumentEdit,
    TextEdit,
    WorkspaceEdit,
)

from robotrules.linting.fixing import fix
from robotrules.linting.note import Edit, LintNote
from robotrules.linting.suppressions import parse_suppressions
from robotrules.lsp.diagnostics import EVERYTHING, Showing, at, diagnostic
from robotrules.lsp.document import OpenDocument
from robotrules.lsp.edits import between, of_octets
from robotrules.lsp.markup import brief

__all__ = ["FIX_ALL", "EditTarget", "fix_all", "quick_fixes"]

FIX_ALL = "source.fixAll.robotrules"
# What a person chooses from.
MOST_NOTES = 20


class EditTarget(NamedTuple):
    """Which text an edit is for."""

    uri: str
    version: int | None = None
    versioned: bool = False
    """Whether the client takes edits that name the version they are for."""
    showing: Showing = EVERYTHING

    def edit(self, edits: Sequence[TextEdit]) -> WorkspaceEdit:
        """Return edits of this text."""
        if not self.versioned:
            return WorkspaceEdit(changes={self.uri: list(edits)})
        document = OptionalVersionedTextDocumentIdentifier(uri=self.uri, version=self.version)
        return WorkspaceEdit(document_changes=[TextDocumentEdit(document, list(edits))])


def quick_fixes(
    document: OpenDocument, found: Sequence[LintNote], start: int, end: int, place: EditTarget
) -> list[CodeAction]:
    """Return what can be done about the notes that touch a span of octets."""
    here = at(document, found, start, end)[:MOST_NOTES]
    fixes = [action for note in here for action in _fixes(document, note, place)]
    return fixes + list(_silences(document, here, place))


def _fixes(document: OpenDocument, note: LintNote, place: EditTarget) -> Iterator[CodeAction]:
    if note.fix is None:
        return
    words = brief(note.fix.title, 200)
    # What is not about verdicts is proved to keep them, or is offered as what it is.
    loud = note.fix.changes_verdicts or not fix(document.robots, [note]).applied
    yield CodeAction(
        title=f"{words} ({note.code}; changes verdicts)" if loud else f"{words} ({note.code})",
        kind=CodeActionKind.QuickFix,
        diagnostics=[diagnostic(document, place.uri, note, place.showing)],
        is_preferred=not loud,
        edit=place.edit(of_octets(document, note.fix.edits)),
    )


# --- Silence --------------------------------------------------------------------------------------


def _silences(
    document: OpenDocument, notes: Sequence[LintNote], place: EditTarget
) -> Iterator[CodeAction]:
    for code, note in {(note.code, note.line): note for note in notes}.items():
        where = "in this file" if note.line is None else "on this line"
        yield CodeAction(
            title=f"Ignore {code[0]} ({note.slug}) {where}",
            kind=CodeActionKind.QuickFix,
            diagnostics=[diagnostic(document, place.uri, note, place.showing)],
            edit=place.edit(of_octets(document, [_silence(document, note)])),
        )


def _silence(document: OpenDocument, note: LintNote) -> Edit:
    """Return the comment that silences a check where a note is."""
    if note.line is None:
        start = 3 if document.octets.startswith(b"\xef\xbb\xbf") else 0
        comment = f"# robotrules: ignore-file[{note.code}]".encode()
        return Edit(start, start, comment + _line_end(document))
    line = document.lines[note.line - 1]
    for one in parse_suppressions([line]):
        if one.about is not None and one.names:  # there is one already: it names another check
            at = one.names[-1].end
            return Edit(at, at, f", {note.code}".encode())
    room = b"" if not line.text or line.text.endswith((b" ", b"\t")) else b"  "
    comment = f"# robotrules: ignore[{note.code}]".encode()
    return Edit(line.end, line.end, room + comment)


def _line_end(document: OpenDocument) -> bytes:
    """Return how the first line of a document ends; LF where it has but one."""
    _, end = document.places.span_of(0)
    found = document.octets[end : end + 2]
    return found if found == b"\r\n" else found[:1] or b"\n"


# --- All at once ----------------------------------------------------------------------------------


def fix_all(
    document: OpenDocument, found: Sequence[LintNote], place: EditTarget
) -> CodeAction | None:
    """Return all fixes that are proved to change no verdict as one action; None: there is none."""
    fixed = fix(document.robots, found)
    if not fixed.applied:
        return None
    return CodeAction(
        title="Fix all that changes no verdict",
        kind=FIX_ALL,
        edit=place.edit(between(document, fixed.body)),
    )
