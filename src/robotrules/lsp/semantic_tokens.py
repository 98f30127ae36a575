"""
Colours: which part of a line is a name, a crawler, a pattern, a sign or a comment.

Most editors have no grammar for robots.txt; with semantic tokens they need none. Positions are told
as distances from the token before, in the units of the client (LSP 3.16). It does not know colours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol.types import SemanticTokensLegend, SemanticTokenTypes

from robotrules.lsp.document import OpenDocument
from robotrules.robotstxt.values import Line, Record

__all__ = ["LEGEND", "tokens"]

_NAME, _CRAWLER, _TEXT, _SIGN, _COMMENT = range(5)
LEGEND = SemanticTokensLegend(
    token_types=[
        SemanticTokenTypes.Keyword,
        SemanticTokenTypes.Class,
        SemanticTokenTypes.String,
        SemanticTokenTypes.Operator,
        SemanticTokenTypes.Comment,
    ],
    token_modifiers=[],
)
# Each token is five numbers. What is beyond has colours once an editor asks for the lines it shows.
MOST_LINES = 5_000
MOST_IN_A_LINE = 200
# The two signs that mean something in a path pattern (RFC 9309 §2.2.3).
_SIGNS = re.compile(rb"\*+|\$$")


def tokens(document: OpenDocument, first: int = 0, last: int | None = None) -> list[int]:
    """Return the tokens of some lines, counted from 0, the last one included."""
    records = {record.line: record for record in document.robots.records}
    data: list[int] = []
    before, column = 0, 0
    most = first + MOST_LINES
    for line in document.lines[first : most if last is None else min(last + 1, most)]:
        for start, end, shape in _parts(line, records.get(line.number)):
            at, upto = document.places.position(start), document.places.position(end)
            if upto.character <= at.character:
                continue
            if at.line != before:
                column = 0
            size = upto.character - at.character
            data += [at.line - before, at.character - column, size, shape, 0]
            before, column = at.line, at.character
    return data


def _parts(line: Line, record: Record | None) -> Iterator[tuple[int, int, int]]:
    if record is not None:
        yield record.key_start, record.key_end, _NAME
        if record.key in ("user-agent", "user-agent-purpose"):
            yield record.start, record.end, _CRAWLER
        elif record.is_rule:
            yield from _pattern(record)
        else:
            yield record.start, record.end, _TEXT
    if line.comment is not None:
        yield line.comment, line.end, _COMMENT


def _pattern(record: Record) -> Iterator[tuple[int, int, int]]:
    at = 0
    for number, sign in enumerate(_SIGNS.finditer(record.value)):
        if number >= MOST_IN_A_LINE:
            break
        yield record.start + at, record.start + sign.start(), _TEXT
        yield record.start + sign.start(), record.start + sign.end(), _SIGN
        at = sign.end()
    yield record.start + at, record.end, _TEXT
