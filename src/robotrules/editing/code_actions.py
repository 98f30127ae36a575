"""
Code actions: quick fixes for lint notes, comments that suppress a note, and `source.fixAll`.

The fixes are those of lint. A fix that changes the meaning of the file says so in its title and is
never the preferred action. `source.fixAll` applies all safe fixes together, after a proof that they
change no verdict.
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

from robotrules.editing.diagnostics import FULL_SUPPORT, ClientSupport, find_notes, make_diagnostic
from robotrules.editing.document import OpenDocument
from robotrules.editing.markdown import truncate
from robotrules.editing.text_edits import diff_text_edits, to_text_edits
from robotrules.linting.fixing import fix
from robotrules.linting.note import Edit, LintNote
from robotrules.linting.suppressions import parse_suppressions

__all__ = ["FIX_ALL", "EditTarget", "is_proved_safe", "make_fix_all", "make_quick_fixes"]

FIX_ALL = "source.fixAll.robotrules"
# Notes for which actions are offered: a person chooses from the list.
MAX_NOTES = 20


class EditTarget(NamedTuple):
    """The document that a workspace edit is for, and what its client supports."""

    uri: str
    version: int | None = None
    versioned: bool = False
    """Whether the client supports edits that name the version they apply to."""
    support: ClientSupport = FULL_SUPPORT

    def workspace_edit(self, edits: Sequence[TextEdit]) -> WorkspaceEdit:
        """Return text edits of this document as a workspace edit."""
        if not self.versioned:
            return WorkspaceEdit(changes={self.uri: list(edits)})
        document = OptionalVersionedTextDocumentIdentifier(uri=self.uri, version=self.version)
        return WorkspaceEdit(document_changes=[TextDocumentEdit(document, list(edits))])


def make_quick_fixes(
    document: OpenDocument, notes: Sequence[LintNote], start: int, end: int, target: EditTarget
) -> list[CodeAction]:
    """Return the code actions for the notes on the lines of a span of bytes."""
    nearby = find_notes(document, notes, start, end)[:MAX_NOTES]
    fixes = [action for note in nearby for action in _make_fixes(document, note, target)]
    return fixes + list(_make_suppressions(document, nearby, target))


def _make_fixes(document: OpenDocument, note: LintNote, target: EditTarget) -> Iterator[CodeAction]:
    if note.fix is None:
        return
    title = truncate(note.fix.title, 200)
    unsafe = not is_proved_safe(document, note)
    yield CodeAction(
        title=f"{title} ({note.code}; changes the file's meaning)"
        if unsafe
        else f"{title} ({note.code})",
        kind=CodeActionKind.QuickFix,
        diagnostics=[make_diagnostic(document, target.uri, note, target.support)],
        is_preferred=not unsafe,
        edit=target.workspace_edit(to_text_edits(document, note.fix.edits)),
    )


def is_proved_safe(document: OpenDocument, note: LintNote) -> bool:
    """Tell whether it is proved that the fix of a note changes no verdict, applied alone."""
    # A fix that claims to be safe is safe only if the proof succeeds.
    changes = note.fix is None or note.fix.changes_verdicts
    return not changes and bool(fix(document.robots, [note]).applied)


# --- Suppression comments -------------------------------------------------------------------------


def _make_suppressions(
    document: OpenDocument, notes: Sequence[LintNote], target: EditTarget
) -> Iterator[CodeAction]:
    for note in {(note.code, note.line): note for note in notes}.values():
        where = "in this file" if note.line is None else "on this line"
        yield CodeAction(
            title=f"Ignore {note.code} ({note.slug}) {where}",
            kind=CodeActionKind.QuickFix,
            diagnostics=[make_diagnostic(document, target.uri, note, target.support)],
            edit=target.workspace_edit(to_text_edits(document, [_suppress(document, note)])),
        )


def _suppress(document: OpenDocument, note: LintNote) -> Edit:
    """Return the edit that writes a comment which suppresses a note."""
    if note.line is None:
        start = 3 if document.octets.startswith(b"\xef\xbb\xbf") else 0
        comment = f"# robotrules: ignore-file[{note.code}]".encode()
        return Edit(start, start, comment + _first_line_end(document))
    line = document.lines[note.line - 1]
    for suppression in parse_suppressions([line]):
        if suppression.about is not None and suppression.names:
            # The line has a suppression comment for another check: add this one to its list.
            end = suppression.names[-1].end
            return Edit(end, end, f", {note.code}".encode())
    space = b"" if not line.text or line.text.endswith((b" ", b"\t")) else b"  "
    comment = f"# robotrules: ignore[{note.code}]".encode()
    return Edit(line.end, line.end, space + comment)


def _first_line_end(document: OpenDocument) -> bytes:
    """Return the line end of the first line; LF if the document has only one line."""
    _, end = document.positions.line_span(0)
    following = document.octets[end : end + 2]
    return following if following == b"\r\n" else following[:1] or b"\n"


# --- source.fixAll --------------------------------------------------------------------------------


def make_fix_all(
    document: OpenDocument, notes: Sequence[LintNote], target: EditTarget
) -> CodeAction | None:
    """Return one action with all fixes that are proved to change no verdict; None if none is."""
    fixed = fix(document.robots, notes)
    if not fixed.applied:
        return None
    return CodeAction(
        title="Apply all safe fixes",
        kind=FIX_ALL,
        edit=target.workspace_edit(diff_text_edits(document, fixed.body)),
    )
