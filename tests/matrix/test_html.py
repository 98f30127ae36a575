"""
The page: a real table, whole without anything else, and safe whatever a file holds.

Read by a parser that follows the HTML standard, as browsers do.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from robotrules import parse
from robotrules.matrix import matrix
from robotrules.matrix.html import page
from robotrules.matrix.text import FOOTNOTE

BODY = """\
User-agent: *
Disallow: /search
Disallow: /private/

User-agent: GPTBot
User-agent: Own
User-agent: anthropic-ai
Disallow: /

User-agent: Twitterbot
Allow: /
"""
NASTY = (
    "<script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "' title='x",
    "&lt;b&gt;&amp;",
    "]]><!--",
    "x\u202egnp.exe",
    "x\x7f\x85y",
    "é" * 300,
)


def read(text: str) -> LexborHTMLParser:
    """Parse a page as browsers do."""
    return LexborHTMLParser(text)


def first(tree: LexborHTMLParser | LexborNode, selector: str) -> LexborNode:
    """Return the first element that a selector finds; there is one."""
    found = tree.css_first(selector)
    assert found is not None, selector
    return found


def drawn(body: str | bytes = BODY, **options: Any) -> LexborHTMLParser:
    """Return the page of a file, parsed."""
    date = options.pop("date", None)
    return read(page(matrix(parse(body), url="news.example", **options), date=date))


def lines(tree: LexborHTMLParser) -> list[LexborNode]:
    """Return the lines of the table that are about crawlers."""
    return [line for line in tree.css(".matrix tbody tr") if line.attributes.get("class") != "band"]


class TestTable:
    """For readers who see it, and for screen readers."""

    def test_every_line_has_every_cell(self) -> None:
        """A heading, a summary, a mark for each path, a group."""
        found = matrix(parse(BODY))
        tree = drawn()
        wide = len(found.columns) + 3
        assert len(lines(tree)) == len(found.rows)
        for line in [*tree.css(".matrix thead tr"), *lines(tree)]:
            assert len(line.css("th, td")) == wide
        for band in tree.css("tr.band th"):
            assert band.attributes["colspan"] == str(wide)

    def test_headings_have_a_scope(self) -> None:
        """Columns, lines and bands."""
        tree = drawn()
        assert {th.attributes["scope"] for th in tree.css(".matrix thead th")} == {"col"}
        assert {th.attributes["scope"] for th in tree.css("tr.band th")} == {"rowgroup"}
        assert all(len(line.css("th[scope=row]")) == 1 for line in lines(tree))
        assert len(tree.css(".matrix caption")) == 1
        assert first(tree, "html").attributes["lang"] == "en"

    def test_marks_have_words_and_reasons(self) -> None:
        """Colour and shape are not all: there is a word, and the deciding line."""
        found = matrix(parse(BODY))
        for line, asked in zip(lines(drawn()), found.rows, strict=True):
            marks = line.css("td")[1:-1]
            for mark, cell in zip(marks, asked.cells, strict=True):
                word = "allowed" if cell.allowed else "disallowed"
                by = f", line {cell.verdict.line}" if cell.verdict.line else ""
                assert mark.text(strip=True).replace("line", "line ") == word + by
                assert f"{asked.name} and {cell.path}: {cell.verdict}" in (
                    mark.attributes["title"] or ""
                )
                use = first(mark, "use").attributes["href"]
                assert use == ("#yes" if cell.allowed else "#no")

    def test_descriptions_of_crawlers(self) -> None:
        """Operator, controls, retired ones, and those that may not obey."""
        tree = drawn()
        told = {first(line, "th span").text(): first(line, "th").text() for line in lines(tree)}
        assert "Google" in told["Google-Extended"]
        assert "control" in told["Google-Extended"]
        assert "retired" in told["anthropic-ai"]
        assert "ChatGPT-User†may not obey" in told
        assert "Own" in told
        titles = [first(line, "th").attributes["title"] or "" for line in lines(tree)]
        assert any("OpenAI says that robots.txt may not apply." in title for title in titles)

    def test_groups(self) -> None:
        """The name of the deciding group, and the line on which it starts."""
        told = {
            first(line, "th span").text(): line.css("td")[-1].text(strip=True)
            for line in lines(drawn())
        }
        assert told["Googlebot"] == "everyone1"
        assert told["GPTBot"] == "own5"


class TestWhole:
    """It needs no network, no script and no clock."""

    def test_the_page_is_self_contained(self) -> None:
        """No element that fetches or runs, and no address except those of its marks."""
        text = page(matrix(parse(BODY), url="news.example"))
        tree = read(text)
        assert not tree.css("script, link, img, iframe, object, embed, base, form, audio, video")
        assert not re.search(r"url\(|@import|https?://", text)
        policy = first(tree, 'meta[http-equiv="Content-Security-Policy"]')
        content = policy.attributes["content"] or ""
        assert content.startswith("default-src 'none'; style-src 'unsafe-inline'; ")
        for node in tree.css("*"):
            assert not [name for name in node.attributes if name.startswith("on")]
            assert (node.attributes.get("href") or "#").startswith("#")

    def test_light_dark_and_paper(self) -> None:
        """As the reader wishes."""
        style = first(drawn(), "style").text()
        assert "@media (prefers-color-scheme: dark)" in style
        assert "@media print" in style
        assert "@media (max-width" in style

    def test_header(self) -> None:
        """The name of the file; a date only if one is passed."""
        tree = drawn()
        assert first(tree, "h1").text() == "Who may fetch what"
        assert first(tree, ".subtitle").text() == "What news.example asks of crawlers"
        assert first(drawn(date="16 November 2026"), ".subtitle").text().endswith("2026")
        told = first(tree, ".headline").text()
        counts = matrix(parse(BODY)).counts
        assert counts["everything"] == 3  # and two that ignore the star
        assert told == (
            f"Of the {sum(counts.values())} shown here, 3 may fetch everything, {counts['some']} "
            f"some URLs and {counts['nothing']} nothing."
        )
        unnamed = read(page(matrix(parse(""))))
        assert first(unnamed, ".subtitle").text() == "What a robots.txt asks of crawlers"
        assert first(unnamed, "title").text() == "Who may fetch what"

    def test_counts_and_legend(self) -> None:
        """By band; and the meaning of each word."""
        tree = drawn()
        counts = [item.attributes["title"] for item in tree.css(".counts li")]
        assert "SEO: 3 may fetch some URLs" in counts
        assert any(count and count.startswith("AI training: ") for count in counts)
        assert [item.text(strip=True) for item in tree.css(".legend li")] == [
            *("allowed", "disallowed", "everythingevery URL allowed"),
            *("somesome allowed, some not", "nothingno URL allowed"),
            "controlfetches nothing; controls the use of what other crawlers fetch",
            "retiredno crawler uses this name any more",
        ]
        undecided = "User-agent: *\nDisallow: /\nAllow: /*a*b*c$"
        legend = drawn(undecided, max_states=1, paths=["/"]).css(".legend li")
        told = [item.text(strip=True) for item in legend]
        assert "not decidednot decided" in told
        assert not [words for words in told if words.startswith("retired")]
        plain = drawn(crawlers=["GPTBot"])
        assert len(plain.css(".legend li")) == 5
        assert not plain.css(".badge")

    def test_footnote(self) -> None:
        """A request, and not access control."""
        footer = first(drawn(), "footer").text()
        assert FOOTNOTE in footer
        assert "a request, not access control: it does not keep out" in footer
        many = "".join(f"User-agent: x{'y' * n}\n" for n in range(120)) + "Disallow: /"
        assert "20 more names of the file are not shown." in first(drawn(many), "footer").text()
        one = "".join(f"User-agent: x{'y' * n}\n" for n in range(101)) + "Disallow: /"
        assert "1 more name of the file is not shown." in first(drawn(one), "footer").text()


class TestHostileFiles:
    """The content of a file is text, and stays text."""

    @pytest.mark.parametrize("nasty", NASTY)
    def test_markup_is_escaped(self, nasty: str) -> None:
        """In a name, a purpose, a path, a rule, and in the name of the file."""
        body = (
            f"User-agent: {nasty}\nDisallow: /{nasty}\n\nUser-Agent-Purpose: {nasty}\nDisallow: /p"
        )
        found = matrix(parse(body), url=nasty, paths=["/", f"/{nasty}"])
        tree = read(page(found, date=nasty))
        clean = read(page(matrix(parse(body), url="x", paths=["/", "/x"]), date="x"))
        for part in ("head", "header", ".matrix", "footer"):
            of_nasty, of_clean = (
                [node.tag for node in one.css(f"{part} *")] for one in (tree, clean)
            )
            assert [tag for tag in of_nasty if tag != "small"] == [
                tag
                for tag in of_clean
                if tag != "small"  # a number of a line
            ]
        usual = {"code"} | {node.tag for node in clean.css("*")}
        assert {node.tag for node in tree.css("*")} <= usual
        for node in tree.css("*"):
            allowed = {
                *("lang", "charset", "http-equiv", "content", "name", "class", "id", "title"),
                *("scope", "colspan", "tabindex", "role", "style", "width", "height", "viewbox"),
                *("viewBox", "rx", "d", "href", "aria-hidden", "aria-label"),
            }
            assert set(node.attributes) <= allowed

    def test_no_control_characters(self) -> None:
        """Nor invalid octets, nor bidirectional marks."""
        body = b"User-agent: a\x1b[31m\xff\xe2\x80\xae\x07\nDisallow: /\x1b\n"
        text = page(matrix(parse(body, "google"), url="x\x00y\u202e"))
        assert all(c.isprintable() or c == "\n" for c in text)
        text.encode("utf-8")

    def test_long_names_are_cut(self) -> None:
        """A page is not as long as the longest name."""
        text = page(matrix(parse(f"User-agent: {'x' * 100_000}\nDisallow: /{'y' * 100_000}")))
        assert len(text) < 100_000
