"""
The outline of a robots.txt: groups with their rules, sitemaps, and what can be folded.

A group is called after whom it is for. What stands for the whole file, such as a sitemap, is listed
on its own where it does not stand between the rules of a group. Of very long files the beginning is
shown, and a last symbol says how much is not. It does not know verdicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol.types import DocumentSymbol, FoldingRange, FoldingRangeKind, SymbolKind

from robotrules.lsp.document import OpenDocument
from robotrules.lsp.markup import brief, many
from robotrules.lsp.records import find, spelled
from robotrules.profile import Role
from robotrules.robotstxt.values import Group, Record

__all__ = ["foldings", "symbols"]

# What an editor shows in a list: a file of 500 KiB can have a hundred thousand records.
MOST_SYMBOLS = 5_000
MOST_FOLDINGS = 5_000
LONGEST_NAME = 80


def symbols(document: OpenDocument) -> list[DocumentSymbol]:
    """Return the groups and what stands outside of them, in the order of the file."""
    found: list[DocumentSymbol] = []
    left, unseen = MOST_SYMBOLS, 0
    alone = [record for record in document.robots.records if record.group is None]
    for group in document.robots.groups:
        own, after = _parted(group)
        alone += after
        shown = own[: max(left - 1, 0)] if left > 0 else []
        unseen += len(own) - len(shown) + (left <= 0)
        if left > 0:
            found.append(_group(document, group, own, shown))
        left -= 1 + len(shown)
    found += [_symbol(document, record) for record in alone[: max(left, 0)]]
    unseen += len(alone[max(left, 0) :])
    found.sort(key=lambda one: (one.range.start.line, one.range.start.character))
    if unseen:
        end = document.places.range(len(document.robots.body), len(document.robots.body))
        found.append(DocumentSymbol(f"… {unseen:,} more", SymbolKind.Null, end, end))
    return found


def _parted(group: Group) -> tuple[list[Record], list[Record]]:
    """Return what a group has beside its names, and what stands for the file at its end."""
    records = [record for record in group.records if record.role is not Role.START]
    end = len(records)
    while end and _of_file(records[end - 1]):
        end -= 1
    return records[:end], records[end:]


def _of_file(record: Record) -> bool:
    about = find(record.key)
    return about is not None and about.of_file


def _group(
    document: OpenDocument, group: Group, own: Sequence[Record], shown: Sequence[Record]
) -> DocumentSymbol:
    first, last = group.records[0], own[-1] if own else group.starts[-1]
    names = [record.text or "(nobody)" for record in group.starts]
    name = brief(", ".join(names[:20]), LONGEST_NAME)
    rules = sum(record.is_rule for record in own)
    return DocumentSymbol(
        name=name,
        detail=many(rules, "rule"),
        kind=SymbolKind.Namespace,
        range=document.places.range(first.key_start, last.end),
        selection_range=document.places.range(first.key_start, first.end),
        children=[_symbol(document, record) for record in shown],
    )


def _symbol(document: OpenDocument, record: Record) -> DocumentSymbol:
    if record.is_rule:
        shape = SymbolKind.Boolean
    else:
        shape = SymbolKind.File if record.key == "sitemap" else SymbolKind.Property
    place = document.places.range(record.key_start, max(record.end, record.key_end))
    name = brief(f"{spelled(record.key)}: {record.text}".rstrip(), LONGEST_NAME)
    return DocumentSymbol(name, shape, place, place)


# --- Folding --------------------------------------------------------------------------------------


def foldings(document: OpenDocument) -> list[FoldingRange]:
    """Return what can be folded: groups, and comments of several lines."""
    found = [*_groups(document), *_comments(document)]
    return sorted(found, key=lambda one: one.start_line)[:MOST_FOLDINGS]


def _groups(document: OpenDocument) -> Iterator[FoldingRange]:
    for group in document.robots.groups:
        own, _ = _parted(group)
        first, last = group.records[0].line, (own or group.starts)[-1].line
        if last > first:
            yield FoldingRange(first - 1, last - 1, kind=FoldingRangeKind.Region)


def _comments(document: OpenDocument) -> Iterator[FoldingRange]:
    """Yield lines in a row that hold comments alone."""
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
