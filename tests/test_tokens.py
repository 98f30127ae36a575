"""Product tokens: the grammar, and the token a User-Agent header probably means."""

from __future__ import annotations

import string

import pytest

from robotrules import is_product_token, product_token


@pytest.mark.parametrize("text", ["a", "Z", "-", "_", "Foo_Bar-baz", string.ascii_letters + "-_"])
def test_the_grammar_knows_letters_underscore_and_hyphen(text: str) -> None:
    """A product token is one or more letters, `_` and `-` (RFC 9309 §2.2.1, REP-2.2-09)."""
    assert is_product_token(text)


@pytest.mark.parametrize(
    "text", ["", "*", "MJ12bot", "Foo/1", "a b", "a\n", "é", "\u212aite", "a.b", "a\0", " a"]
)
def test_the_grammar_knows_nothing_else(text: str) -> None:
    """Digits, dots, slashes, spaces, stars and letters past ASCII are outside it."""
    assert not is_product_token(text)


def test_every_ascii_character_is_judged_alone() -> None:
    """Of ASCII exactly 54 characters make a product token."""
    good = [chr(code) for code in range(128) if is_product_token(chr(code))]
    assert sorted(good) == sorted(string.ascii_letters + "-_")


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [
        # RFC 9309 §2.2.1, figure 1.
        (
            "Mozilla/5.0 (compatible; ExampleBot/0.1; https://www.example.com/bot.html)",
            "ExampleBot",
        ),
        ("ExampleBot/1.0 (+https://example.com/bot)", "ExampleBot"),
        ("ExampleBot", "ExampleBot"),
        ("Mozilla/5.0 (compatible; ExampleBot; +https://example.com)", "ExampleBot"),
        (
            "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ExampleBot/2.1; "
            "+http://www.example.com/bot.html) Chrome/120.0 Safari/537.36",
            "ExampleBot",
        ),
        (
            "Mozilla/5.0 (Linux; Android 6.0.1) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/1 "
            "Mobile Safari/537.36 (compatible; ExampleBot/2.1)",
            "ExampleBot",
        ),
        # A name the grammar does not know is still the crawler's name (AMB-22).
        ("Mozilla/5.0 (compatible; Example12/v1.4; http://example.com/)", "Example12"),
        # In a comment that does not say `compatible`, only a name with a version is a product.
        ("Mozilla/5.0 (X11; Linux; ExampleBot/1.0)", "ExampleBot"),
        ("Mozilla/5.0 (X11; SomePlatform; rv:1)", None),
        ("Mozilla/5.0 (Windows NT 10.0; Win64; x64) Gecko/2010 Firefox/128.0", None),
        ("Mozilla/5.0 (compatible; crawler@example.com; https://example.com)", None),
        ("", None),
        ("()", None),
        ("123", None),
    ],
)
def test_the_token_of_a_header(user_agent: str, token: str | None) -> None:
    """The first product that is no part of a browser's string is the crawler's name."""
    assert product_token(user_agent) == token


def test_nested_and_open_comments_are_survived() -> None:
    """Brackets that do not pair never raise."""
    for text in ("((((", "))))", "(a(b)c)", "(compatible; ", "a" * 5000 + "(" * 5000):
        product_token(text)
