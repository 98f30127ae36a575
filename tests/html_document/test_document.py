"""Pages: text of others stays text, pages are complete, tables and charts are accessible."""

from __future__ import annotations

import re

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from robotrules.html_document import Html, document, element, fragment, section, text
from robotrules.html_document.charts import MOST_COLUMNS, Series, column_chart, share_bar
from robotrules.html_document.tables import TableColumn, pill, table, tiles

NASTY = "<script>alert(1)</script>\" ' & \x1b[31m \u202e"


def read(markup: str) -> LexborHTMLParser:
    """Parse markup as browsers do."""
    return LexborHTMLParser(markup)


def first(tree: LexborHTMLParser, selector: str) -> LexborNode:
    """Return the first element that a selector finds; there is one."""
    found = tree.css_first(selector)
    assert found is not None, selector
    return found


class TestElements:
    """Elements, attributes and text."""

    def test_text_is_escaped(self) -> None:
        """In children, in attributes, and in nested lists."""
        made = element("p", NASTY, [NASTY, [NASTY]], title=NASTY, data_x=1)
        tree = read(made)
        assert not tree.css("script")
        assert "\x1b" not in made
        assert "\u202e" not in made
        paragraph = first(tree, "p")
        assert paragraph.text().count("<script>alert(1)</script>") == 3
        assert "<script>" in (paragraph.attributes["title"] or "")
        assert paragraph.attributes["data-x"] == "1"

    def test_children(self) -> None:
        """None is nothing, numbers have separators, markup stays markup."""
        assert element("b", None, 12_345, Html("<i></i>")) == "<b>12,345<i></i></b>"
        assert fragment("a", ["b", None]) == "ab"

    def test_attributes(self) -> None:
        """True has no value; None and False are left out; an underscore at the end too."""
        made = element("input", disabled=True, checked=False, class_="x", value=None)
        assert made == '<input disabled class="x">'

    def test_long_text_is_cut_before_it_is_escaped(self) -> None:
        """A megabyte of control characters costs as little as a line."""
        assert text("x" * 10, 5) == "xxxx…"
        assert text("ab", 5) == "ab"
        assert len(text(b"\xff" * 1_000_000)) <= 300

    def test_sections(self) -> None:
        """A heading, an introduction, an anchor."""
        tree = read(section("Title", "body", intro="why", id_="here"))
        assert first(tree, "section#here h2").text() == "Title"
        assert first(tree, ".intro").text() == "why"
        assert not read(section("Title")).css(".intro")


class TestDocument:
    """A page that needs nothing else."""

    def test_it_is_complete(self) -> None:
        """A language, a policy that forbids scripts, a title; no control characters."""
        made = document(
            NASTY, "content", heading="Head", subtitle="sub", headline="line", footer="end"
        )
        tree = read(made)
        assert made.startswith('<!DOCTYPE html>\n<html lang="en">\n<head>')
        assert first(tree, "title").text() == "<script>alert(1)</script>\" ' & \\x1b[31m \\u202e"
        assert first(tree, "h1").text() == "Head"
        assert [first(tree, f".{name}").text() for name in ("subtitle", "headline")] == [
            "sub",
            "line",
        ]
        assert first(tree, "footer").text() == "endMade by robotrules."
        policy = (
            first(tree, 'meta[http-equiv="Content-Security-Policy"]').attributes["content"] or ""
        )
        assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")
        assert all(c.isprintable() or c == "\n" for c in made)
        assert "\\x0a" not in made
        assert not re.search(r"url\(|@import|https?://", made)

    def test_without_the_optional_parts(self) -> None:
        """The title is the heading."""
        tree = read(document("Title", before=Html("<svg></svg>"), style=".x { color: red; }"))
        assert first(tree, "h1").text() == "Title"
        assert not tree.css(".subtitle, .headline")
        assert first(tree, "body > svg")
        assert first(tree, "style").text().endswith(".x { color: red; }\n")


class TestTables:
    """Tables for screen readers and for keyboards."""

    def test_a_table(self) -> None:
        """A caption, headings with a scope, a box that can be scrolled with keys."""
        columns: list[TableColumn | str] = ["Name", TableColumn("Count", "number")]
        tree = read(table("Things", columns, [("a", 1), ("b", 2_000)]))
        assert first(tree, "caption").text() == "Things"
        assert [head.attributes["scope"] for head in tree.css("thead th")] == ["col", "col"]
        assert [cell.text() for cell in tree.css("tbody th[scope=row]")] == ["a", "b"]
        assert [cell.text() for cell in tree.css("td.number")] == ["1", "2,000"]
        box = first(tree, ".scroll").attributes
        assert (box["tabindex"], box["role"], box["aria-label"]) == ("0", "region", "Things")

    def test_a_table_without_headings_of_rows(self) -> None:
        """Then no cell is one."""
        assert not read(table("x", ["a"], [("b",)], row_headings=False)).css("tbody th")

    def test_small_things(self) -> None:
        """Tiles, pills and bars."""
        assert first(read(tiles([(5, "things")])), "li").text() == "5things"
        assert pill("no") == '<span class="pill">no</span>'
        assert pill("no", "error") == '<span class="pill error">no</span>'
        assert "width:4.00rem" in share_bar(1, 2)
        assert "width:0.15rem" in share_bar(1, 10_000)
        assert "width:0.00rem" in share_bar(0, 0)


class TestCharts:
    """Stacked columns."""

    @pytest.mark.parametrize(
        ("highest", "top"),
        [
            *((0, "1"), (1, "1"), (3, "4"), (13, "20"), (117, "120"), (399, "400")),
            *((1_990, "2,000"), (2_010, "2,500"), (2_510, "3,000"), (9_001, "10,000")),
        ],
    )
    def test_the_scale(self, highest: int, top: str) -> None:
        """It ends with a round number that is not much larger than the highest column."""
        tree = read(column_chart("t", ["a"], [Series("x", [highest])]))
        assert [node.text() for node in tree.css("text[text-anchor=end]")][-1] == top

    def test_columns_and_keys(self) -> None:
        """Each value is drawn, and a value of zero is not."""
        tree = read(
            column_chart("By day", ["1", "2"], [Series("GPTBot", [1, 0]), Series("others", [2, 4])])
        )
        assert [node.text() for node in tree.css("rect title")] == [
            *("1, GPTBot: 1", "1, others: 2", "2, others: 4")
        ]
        assert [node.text() for node in tree.css(".keys li")] == ["GPTBot", "others"]
        assert first(tree, "svg").attributes["role"] == "img"

    def test_many_columns_are_added_up(self) -> None:
        """Ten years of days are no more than a hundred or so columns, with the same sum."""
        days = 3_650
        tree = read(column_chart("t", [str(n) for n in range(days)], [Series("x", [1] * days)]))
        titles = [node.text() for node in tree.css("rect title")]
        assert len(titles) <= MOST_COLUMNS
        assert sum(int(title.rpartition(" ")[2]) for title in titles) == days

    def test_nothing_is_cut_at_the_edge(self) -> None:
        """The last label ends within the picture."""
        tree = read(
            column_chart("t", [f"2026-04-{n:02}" for n in range(29)], [Series("x", [1] * 29)])
        )
        last = tree.css("text")[-1].attributes
        assert last["text-anchor"] == "end"
        assert not column_chart("t", [], []).count("<rect")


def test_stacked_tables() -> None:
    """On a phone, each cell has the title of its column; an empty one has none."""
    columns: list[TableColumn | str] = ["Name", "Count"]
    tree = read(table("Things", columns, [("a", 1), ("b", None)], stacked=True))
    assert [cell.attributes.get("data-label") for cell in tree.css("td")] == ["Count", None]
    assert tree.css(".scroll.stacked")
    assert not read(table("Things", columns, [("a", 1)])).css("[data-label]")
