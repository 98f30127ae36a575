"""The outline: groups with their rules, what stands for the file, and what can be folded."""

from __future__ import annotations

from lsprotocol.types import FoldingRangeKind, SymbolKind

from robotrules.lsp import outline
from robotrules.lsp.document import OpenDocument
from robotrules.lsp.outline import foldings, symbols

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


def test_groups_are_called_after_whom_they_are_for() -> None:
    """Each with its rules and records, in the order of the file."""
    found = symbols(OpenDocument(FILE))
    assert [one.name for one in found] == [
        "Sitemap: https://shop.example/a.xml",
        "ExampleBot, OtherBot",
        "*",
        "Sitemap: https://shop.example/c.xml",
    ]
    group = found[1]
    assert (group.kind, group.detail) == (SymbolKind.Namespace, "2 rules")
    assert [one.name for one in group.children or ()] == [
        "Disallow: /a",
        "Crawl-delay: 2",
        "Sitemap: https://shop.example/b.xml",  # between rules, so it is among them
        "Allow: /a/b",
    ]


def test_ranges_hold_what_they_should() -> None:
    """A range includes its selection and its children (LSP 3.17, DocumentSymbol)."""
    group = symbols(OpenDocument(FILE))[1]
    assert (group.range.start.line, group.range.end.line) == (4, 9)
    assert (group.selection_range.start.line, group.selection_range.end.line) == (4, 4)
    for child in group.children or ():
        assert group.range.start <= child.range.start <= child.range.end <= group.range.end


def test_a_file_without_groups_has_its_records() -> None:
    """Rules before the first user-agent line are for nobody, and still there."""
    assert [one.name for one in symbols(OpenDocument("Disallow: /x"))] == ["Disallow: /x"]
    assert symbols(OpenDocument("")) == []
    assert symbols(OpenDocument("# nothing")) == []


def test_names_hold_no_control_characters() -> None:
    """What is not visible shows, and a long name is cut."""
    document = OpenDocument(f"User-agent: a\u202eb{'x' * 200}\nDisallow: /\x07\n")
    (group,) = symbols(document)
    assert group.name.startswith("a\\u202eb")
    assert len(group.name) < 100
    assert [one.name for one in group.children or ()] == ["Disallow: /\\x07"]


def test_of_very_long_files_the_beginning_is_shown() -> None:
    """However many records there are, the answer is bounded and says that it is."""
    many = "User-agent: *\n" + "Disallow: /x\n" * (outline.MOST_SYMBOLS + 10)
    group, rest = symbols(OpenDocument(many))
    assert len(group.children or ()) == outline.MOST_SYMBOLS - 1
    assert rest.name == "… 11 more"
    groups = "User-agent: a\nDisallow: /\n" * outline.MOST_SYMBOLS
    found = symbols(OpenDocument(groups))
    assert sum(1 + len(one.children or ()) for one in found) <= outline.MOST_SYMBOLS + 1


def test_groups_and_comments_can_be_folded() -> None:
    """From the first line to the last, sitemaps at the end left out."""
    found = foldings(OpenDocument(FILE))
    assert [(one.start_line, one.end_line, one.kind) for one in found] == [
        (0, 1, FoldingRangeKind.Comment),
        (4, 9, FoldingRangeKind.Region),
        (11, 12, FoldingRangeKind.Region),
    ]


def test_what_has_one_line_is_not_folded() -> None:
    """Nor are comments that stand apart."""
    assert foldings(OpenDocument("# a\n\n# b\nUser-agent: *\n")) == []
    assert len(foldings(OpenDocument("User-agent: *\nDisallow: /\n# a\n# b"))) == 2
