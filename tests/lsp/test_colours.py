"""Semantic tokens: names, crawlers, patterns with their signs, comments."""

from __future__ import annotations

from robotrules.lsp import semantic_tokens
from robotrules.lsp.document import OpenDocument
from robotrules.lsp.semantic_tokens import LEGEND, tokens


def painted(text: str, encoding: str = "utf-16") -> list[tuple[str, str]]:
    """Return each token's text and its name, read as a client reads the numbers."""
    lines = text.split("\n")
    data = tokens(OpenDocument(text, encoding=encoding))
    found, line, column = [], 0, 0
    for down, right, size, shape, _ in zip(*[iter(data)] * 5, strict=True):
        line, column = line + down, right if down else column + right
        units = lines[line].encode("utf-16-le")[2 * column : 2 * (column + size)]
        found.append(
            (units.decode("utf-16-le"), str(getattr(LEGEND.token_types[shape], "value", "")))
        )
    return found


def test_each_part_has_its_name() -> None:
    """What a record is called, whom it names, what it says, and what is said beside it."""
    found = painted("User-agent: ExampleBot # hi\nDisallow: /a*b$\nSitemap: https://x.example/")
    assert found == [
        ("User-agent", "keyword"),
        ("ExampleBot", "class"),
        ("# hi", "comment"),
        ("Disallow", "keyword"),
        ("/a", "string"),
        ("*", "operator"),
        ("b", "string"),
        ("$", "operator"),
        ("Sitemap", "keyword"),
        ("https://x.example/", "string"),
    ]


def test_a_dollar_inside_is_no_sign() -> None:
    """`$` means the end at the end alone (RFC 9309 §2.2.3)."""
    assert painted("Disallow: /a$b") == [("Disallow", "keyword"), ("/a$b", "string")]


def test_columns_are_those_of_the_client() -> None:
    """What stands behind a character of two units is found."""
    assert painted("Disallow: /😀*x")[1:] == [("/😀", "string"), ("*", "operator"), ("x", "string")]


def test_some_lines_alone() -> None:
    """An editor may ask for what it shows."""
    document = OpenDocument("A: 1\nB: 2\nC: 3\nD: 4\n")
    assert tokens(document, 1, 2) == [1, 0, 1, 0, 0, 0, 3, 1, 2, 0, 1, 0, 1, 0, 0, 0, 3, 1, 2, 0]
    assert tokens(document, 9, 20) == []


def test_long_files_and_lines_are_bounded() -> None:
    """What is beyond the limits has no colour, and nothing takes long."""
    many = OpenDocument("# x\n" * (semantic_tokens.MOST_LINES + 5))
    assert len(tokens(many)) == 5 * semantic_tokens.MOST_LINES
    stars = OpenDocument("Disallow: /" + "a*" * 1_000)
    assert len(tokens(stars)) // 5 <= 2 * semantic_tokens.MOST_IN_A_LINE + 3
