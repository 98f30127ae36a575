"""The language server answers at every position of a file, with positions inside the file."""

from __future__ import annotations

from random import Random

from fuzz.generator import Case
from robotrules.lsp.code_actions import EditTarget, fix_all, quick_fixes
from robotrules.lsp.completion import complete
from robotrules.lsp.diagnostics import diagnostics, notes
from robotrules.lsp.document import OpenDocument
from robotrules.lsp.edits import of_octets
from robotrules.lsp.hover import hover
from robotrules.lsp.outline import foldings, symbols
from robotrules.lsp.semantic_tokens import tokens

URI = "file:///robots.txt"


def check(case: Case) -> None:
    """Open a file as text, and send the requests of an editor at some positions."""
    text = case.body.decode("utf-8", "replace")
    document = OpenDocument(text, profile=case.base)
    random, place = Random(case.body), EditTarget(URI, 1)
    found = notes(document, budget=300)
    last = len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    for one in diagnostics(document, URI, found):
        assert 0 <= one.range.start.line <= one.range.end.line <= last, one
    for note in found:
        of_octets(document, note.fix.edits if note.fix else ())
    assert len(tokens(document)) % 5 == 0
    for listed in (symbols(document), foldings(document)):
        assert isinstance(listed, list)
    fix_all(document, found, place)
    size = len(document.octets)
    for offset in sorted({0, size, *(random.randint(0, size) for _ in range(6))}):
        hover(document, offset, found)
        complete(document, offset)
        quick_fixes(document, found, offset, offset, place)
