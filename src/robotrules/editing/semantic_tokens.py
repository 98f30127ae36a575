"""
Semantic tokens: record names, product tokens, values, wildcards and comments.

Most editors have no grammar for robots.txt; semantic tokens replace one. LSP encodes each token
relative to the one before it, in the negotiated position encoding (LSP 3.16).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol.types import SemanticTokensLegend, SemanticTokenTypes

from robotrules.editing.document import OpenDocument
from robotrules.robotstxt.values import Line, Record

__all__ = ["LEGEND", "encode_semantic_tokens"]

_NAME, _PRODUCT_TOKEN, _VALUE, _WILDCARD, _COMMENT = range(5)
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
# Each token takes five integers. Clients get tokens of later lines with range requests.
MAX_LINES = 5_000
MAX_WILDCARDS_PER_LINE = 200
# The two special characters of a path pattern (RFC 9309 §2.2.3).
_WILDCARDS = re.compile(rb"\*+|\$$")


def encode_semantic_tokens(
    document: OpenDocument, first: int = 0, last: int | None = None
) -> list[int]:
    """Return the tokens of lines *first* to *last*, counted from 0, both included."""
    locate = document.positions.locate
    data: list[int] = []
    previous_line, previous_column = 0, 0
    limit = first + MAX_LINES
    lines = document.lines[first : limit if last is None else min(last + 1, limit)]
    records = document.records_on(lines)
    for line in lines:
        for start, end, token_type in _find_tokens(line, records.get(line.number)):
            begin_line, begin = locate(start)
            _, stop = locate(end)
            if stop <= begin:
                continue
            if begin_line != previous_line:
                previous_column = 0
            delta_line, delta_start = begin_line - previous_line, begin - previous_column
            data += [delta_line, delta_start, stop - begin, token_type, 0]
            previous_line, previous_column = begin_line, begin
    return data


def _find_tokens(line: Line, record: Record | None) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and type of each token on a line."""
    if record is not None:
        yield record.key_start, record.key_end, _NAME
        if record.key in ("user-agent", "user-agent-purpose"):
            yield record.start, record.end, _PRODUCT_TOKEN
        elif record.is_rule:
            yield from _find_pattern_tokens(record)
        else:
            yield record.start, record.end, _VALUE
    if line.comment is not None:
        yield line.comment, line.end, _COMMENT


def _find_pattern_tokens(record: Record) -> Iterator[tuple[int, int, int]]:
    done = 0
    for count, wildcard in enumerate(_WILDCARDS.finditer(record.value)):
        if count >= MAX_WILDCARDS_PER_LINE:
            break
        yield record.start + done, record.start + wildcard.start(), _VALUE
        yield record.start + wildcard.start(), record.start + wildcard.end(), _WILDCARD
        done = wildcard.end()
    yield record.start + done, record.end, _VALUE
