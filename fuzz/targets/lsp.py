"""The language server answers at every position of a file, with positions inside the file."""

from __future__ import annotations

from random import Random

from fuzz.generator import Case
from robotrules.editing.code_actions import EditTarget, make_fix_all, make_quick_fixes
from robotrules.editing.completion import complete
from robotrules.editing.diagnostics import lint_document, make_diagnostics
from robotrules.editing.document import OpenDocument
from robotrules.editing.hover import render_hover
from robotrules.editing.outline import list_document_symbols, list_folding_ranges
from robotrules.editing.semantic_tokens import encode_semantic_tokens
from robotrules.editing.text_edits import to_text_edits

URI = "file:///robots.txt"


def check(case: Case) -> None:
    """Open a file as text, and send the requests of an editor at some positions."""
    text = case.body.decode("utf-8", "replace")
    document = OpenDocument(text, profile=case.base)
    random, target = Random(case.body), EditTarget(URI, 1)
    notes = lint_document(document, max_states=300)
    last = len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    for diagnostic in make_diagnostics(document, URI, notes):
        span = diagnostic.range
        assert 0 <= span.start.line <= span.end.line <= last, diagnostic
    for note in notes:
        to_text_edits(document, note.fix.edits if note.fix else ())
    assert len(encode_semantic_tokens(document)) % 5 == 0
    for listed in (list_document_symbols(document), list_folding_ranges(document)):
        assert isinstance(listed, list)
    make_fix_all(document, notes, target)
    size = len(document.octets)
    for offset in sorted({0, size, *(random.randint(0, size) for _ in range(6))}):
        render_hover(document, offset, notes)
        complete(document, offset)
        make_quick_fixes(document, notes, offset, offset, target)
