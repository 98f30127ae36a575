"""Outline: document symbols and folding ranges."""

from __future__ import annotations

from lsprotocol.types import FoldingRangeKind, SymbolKind

from robotrules.editing import outline
from robotrules.editing.document import OpenDocument
from robotrules.editing.outline import list_document_symbols, list_folding_ranges

FILE = """\
# Two lines
# about it
Sitemap: https://shop.example/a.xml

User-agent: ExampleBot
User-agent: OtherBot
Disallow: /a
Crawl-delay: 2
Sitemap: https://shop.example/b.xml
Allow: /a/b

User-agent: *
Disallow:
Sitemap: https://shop.example/c.xml
"""


def test_a_group_is_named_after_its_crawlers() -> None:
    """With its rules and records as children, in the order of the file."""
    found = list_document_symbols(OpenDocument(FILE))
    assert [symbol.name for symbol in found] == [
        "Sitemap: https://shop.example/a.xml",
        "ExampleBot, OtherBot",
        "*",
        "Sitemap: https://shop.example/c.xml",
    ]
    group = found[1]
    assert (group.kind, group.detail) == (SymbolKind.Namespace, "2 rules")
    assert [child.name for child in group.children or ()] == [
        "Disallow: /a",
        "Crawl-delay: 2",
        "Sitemap: https://shop.example/b.xml",  # between rules, so it is a child
        "Allow: /a/b",
    ]


def test_ranges_are_nested() -> None:
    """A range includes its selection and its children (LSP 3.17, DocumentSymbol)."""
    group = list_document_symbols(OpenDocument(FILE))[1]
    assert (group.range.start.line, group.range.end.line) == (4, 9)
    assert (group.selection_range.start.line, group.selection_range.end.line) == (4, 4)
    for child in group.children or ():
        assert group.range.start <= child.range.start <= child.range.end <= group.range.end


def test_a_file_without_groups_has_its_records() -> None:
    """Rules before the first user-agent line are listed at the top level."""
    assert [one.name for one in list_document_symbols(OpenDocument("Disallow: /x"))] == [
        "Disallow: /x"
    ]
    assert list_document_symbols(OpenDocument("")) == []
    assert list_document_symbols(OpenDocument("# nothing")) == []


def test_names_hold_no_control_characters() -> None:
    """Invisible characters are escaped, and long names truncated."""
    document = OpenDocument(f"User-agent: a\u202eb{'x' * 200}\nDisallow: /\x07\n")
    (group,) = list_document_symbols(document)
    assert group.name.startswith("a\\u202eb")
    assert len(group.name) < 100
    assert [child.name for child in group.children or ()] == ["Disallow: /\\x07"]


def test_the_number_of_symbols_is_limited() -> None:
    """The last symbol says how many records are omitted."""
    many = "User-agent: *\n" + "Disallow: /x\n" * (outline.MAX_SYMBOLS + 10)
    group, rest = list_document_symbols(OpenDocument(many))
    assert len(group.children or ()) == outline.MAX_SYMBOLS - 1
    assert rest.name == "… 11 more"
    groups = "User-agent: a\nDisallow: /\n" * outline.MAX_SYMBOLS
    found = list_document_symbols(OpenDocument(groups))
    assert sum(1 + len(symbol.children or ()) for symbol in found) <= outline.MAX_SYMBOLS + 1


def test_groups_and_comments_can_be_folded() -> None:
    """From the first line to the last, without sitemaps at the end."""
    found = list_folding_ranges(OpenDocument(FILE))
    assert [(folding.start_line, folding.end_line, folding.kind) for folding in found] == [
        (0, 1, FoldingRangeKind.Comment),
        (4, 9, FoldingRangeKind.Region),
        (11, 12, FoldingRangeKind.Region),
    ]


def test_a_single_line_is_not_folded() -> None:
    """Nor are separate comment lines."""
    assert list_folding_ranges(OpenDocument("# a\n\n# b\nUser-agent: *\n")) == []
    assert len(list_folding_ranges(OpenDocument("User-agent: *\nDisallow: /\n# a\n# b"))) == 2
