"""
Outline: document symbols (groups with their rules, sitemaps) and folding ranges.

A group's symbol is named after the crawlers it is for. A record that applies to the whole file,
such as a sitemap, is a symbol at the top level unless it is between the rules of a group. Long
files are truncated, and the last symbol says how many records are not listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol.types import DocumentSymbol, FoldingRange, FoldingRangeKind, SymbolKind

from robotrules.editing.document import OpenDocument
from robotrules.editing.markdown import pluralize, truncate
from robotrules.editing.record_info import canonical_name, find_record_info
from robotrules.profile import Role
from robotrules.robotstxt.values import Group, Record

__all__ = ["list_document_symbols", "list_folding_ranges"]

# Limits for the client: a file of 500 KiB can have a hundred thousand records.
MAX_SYMBOLS = 5_000
MAX_FOLDING_RANGES = 5_000
MAX_NAME_LENGTH = 80


def list_document_symbols(document: OpenDocument) -> list[DocumentSymbol]:
    """Return the groups, and the records outside of groups, in the order of the file."""
    symbols: list[DocumentSymbol] = []
    remaining, omitted = MAX_SYMBOLS, 0
    top_level = [record for record in document.robots.records if record.group is None]
    for group in document.robots.groups:
        members, trailing = _split_members(group)
        top_level += trailing
        shown = members[: max(remaining - 1, 0)] if remaining > 0 else []
        omitted += len(members) - len(shown) + (remaining <= 0)
        if remaining > 0:
            symbols.append(_group_symbol(document, group, members, shown))
        remaining -= 1 + len(shown)
    symbols += [_record_symbol(document, record) for record in top_level[: max(remaining, 0)]]
    omitted += len(top_level[max(remaining, 0) :])
    symbols.sort(key=lambda symbol: (symbol.range.start.line, symbol.range.start.character))
    if omitted:
        end = document.positions.to_range(len(document.robots.body), len(document.robots.body))
        symbols.append(DocumentSymbol(f"… {omitted:,} more", SymbolKind.Null, end, end))
    return symbols


def _split_members(group: Group) -> tuple[list[Record], list[Record]]:
    """Return the records after a group's user-agent lines, and the file-wide ones at its end."""
    records = [record for record in group.records if record.role is not Role.START]
    end = len(records)
    while end and _is_file_wide(records[end - 1]):
        end -= 1
    return records[:end], records[end:]


def _is_file_wide(record: Record) -> bool:
    info = find_record_info(record.key)
    return info is not None and info.is_file_wide


def _group_symbol(
    document: OpenDocument, group: Group, members: Sequence[Record], shown: Sequence[Record]
) -> DocumentSymbol:
    first, last = group.records[0], members[-1] if members else group.starts[-1]
    names = [record.text or "(no crawler)" for record in group.starts]
    rule_count = sum(record.is_rule for record in members)
    return DocumentSymbol(
        name=truncate(", ".join(names[:20]), MAX_NAME_LENGTH),
        detail=pluralize(rule_count, "rule"),
        kind=SymbolKind.Namespace,
        range=document.positions.to_range(first.key_start, last.end),
        selection_range=document.positions.to_range(first.key_start, first.end),
        children=[_record_symbol(document, record) for record in shown],
    )


def _record_symbol(document: OpenDocument, record: Record) -> DocumentSymbol:
    if record.is_rule:
        kind = SymbolKind.Boolean
    else:
        kind = SymbolKind.File if record.key == "sitemap" else SymbolKind.Property
    span = document.positions.to_range(record.key_start, max(record.end, record.key_end))
    name = truncate(f"{canonical_name(record.key)}: {record.text}".rstrip(), MAX_NAME_LENGTH)
    return DocumentSymbol(name, kind, span, span)


# --- Folding ranges -------------------------------------------------------------------------------


def list_folding_ranges(document: OpenDocument) -> list[FoldingRange]:
    """Return the foldable ranges: groups, and comments of several lines."""
    ranges = [*_fold_groups(document), *_fold_comments(document)]
    return sorted(ranges, key=lambda folding: folding.start_line)[:MAX_FOLDING_RANGES]


def _fold_groups(document: OpenDocument) -> Iterator[FoldingRange]:
    for group in document.robots.groups:
        members, _ = _split_members(group)
        first, last = group.records[0].line, (members or group.starts)[-1].line
        if last > first:
            yield FoldingRange(first - 1, last - 1, kind=FoldingRangeKind.Region)


def _fold_comments(document: OpenDocument) -> Iterator[FoldingRange]:
    """Yield runs of lines that have only a comment."""
    first = last = 0
    for line in document.lines:
        if line.comment is not None and not line.text[: line.comment - line.start].strip():
            first = first if last == line.number - 1 and last else line.number
            last = line.number
            continue
        if last > first:
            yield FoldingRange(first - 1, last - 1, kind=FoldingRangeKind.Comment)
        first = last = 0
    if last > first:
        yield FoldingRange(first - 1, last - 1, kind=FoldingRangeKind.Comment)
