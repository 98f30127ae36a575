"""Semantic tokens: record names, product tokens, values, wildcards, comments."""

from __future__ import annotations

from robotrules.editing import semantic_tokens
from robotrules.editing.document import OpenDocument
from robotrules.editing.semantic_tokens import LEGEND, encode_semantic_tokens


def decode(text: str, encoding: str = "utf-16") -> list[tuple[str, str]]:
    """Return the text and type of each token, decoded like a client."""
    lines = text.split("\n")
    data = encode_semantic_tokens(OpenDocument(text, encoding=encoding))
    found, line, column = [], 0, 0
    for delta_line, delta_start, length, token_type, _ in zip(*[iter(data)] * 5, strict=True):
        line, column = line + delta_line, delta_start if delta_line else column + delta_start
        units = lines[line].encode("utf-16-le")[2 * column : 2 * (column + length)]
        found.append(
            (units.decode("utf-16-le"), str(getattr(LEGEND.token_types[token_type], "value", "")))
        )
    return found


def test_each_part_has_its_type() -> None:
    """Names, product tokens, values, wildcards and comments."""
    found = decode("User-agent: ExampleBot # hi\nDisallow: /a*b$\nSitemap: https://x.example/")
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


def test_a_dollar_inside_a_pattern_is_literal() -> None:
    """`$` is special only at the end (RFC 9309 §2.2.3)."""
    assert decode("Disallow: /a$b") == [("Disallow", "keyword"), ("/a$b", "string")]


def test_columns_are_utf_16_code_units() -> None:
    """Tokens after a surrogate pair have the right columns."""
    assert decode("Disallow: /😀*x")[1:] == [("/😀", "string"), ("*", "operator"), ("x", "string")]


def test_a_range_of_lines() -> None:
    """A client may request the lines that it shows."""
    document = OpenDocument("A: 1\nB: 2\nC: 3\nD: 4\n")
    assert encode_semantic_tokens(document, 1, 2) == [
        1,
        0,
        1,
        0,
        0,
        0,
        3,
        1,
        2,
        0,
        1,
        0,
        1,
        0,
        0,
        0,
        3,
        1,
        2,
        0,
    ]
    assert encode_semantic_tokens(document, 9, 20) == []


def test_long_files_and_lines_are_bounded() -> None:
    """Past the limits there are no tokens."""
    many = OpenDocument("# x\n" * (semantic_tokens.MAX_LINES + 5))
    assert len(encode_semantic_tokens(many)) == 5 * semantic_tokens.MAX_LINES
    stars = OpenDocument("Disallow: /" + "a*" * 1_000)
    assert len(encode_semantic_tokens(stars)) // 5 <= 2 * semantic_tokens.MAX_WILDCARDS_PER_LINE + 3
