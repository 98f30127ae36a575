"""Product tokens: the grammar, validation, and the token in a User-Agent header."""

from __future__ import annotations

import pickle
import string

import pytest

from robotrules import DEFAULT, GOOGLE, STRICT, ProductTokenError, is_product_token, product_token
from robotrules.robotstxt.tokens import CrawlerNames, vet_name, vet_names


@pytest.mark.parametrize("text", ["a", "Z", "-", "_", "Foo_Bar-baz", string.ascii_letters + "-_"])
def test_the_grammar_allows_letters_underscore_and_hyphen(text: str) -> None:
    """A product token is one or more letters, `_` and `-` (RFC 9309 §2.2.1, REP-2.2-09)."""
    assert is_product_token(text)


@pytest.mark.parametrize(
    "text", ["", "*", "MJ12bot", "Foo/1", "a b", "a\n", "é", "\u212aite", "a.b", "a\0", " a"]
)
def test_invalid_tokens(text: str) -> None:
    """Digits, dots, slashes, spaces, stars and letters past ASCII are outside it."""
    assert not is_product_token(text)


def test_every_ascii_character() -> None:
    """Exactly 54 ASCII characters are allowed in a product token."""
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
        # A name outside the grammar is still the crawler's name (AMB-22).
        ("Mozilla/5.0 (compatible; Example12/v1.4; http://example.com/)", "Example12"),
        # In a comment without `compatible`, only a name with a version is a product.
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
    """The first product that is not part of a browser's string is the crawler's name."""
    assert product_token(user_agent) == token


def test_nested_and_unclosed_comments() -> None:
    """Unbalanced parentheses do not raise an error."""
    for text in ("((((", "))))", "(a(b)c)", "(compatible; ", "a" * 5000 + "(" * 5000):
        product_token(text)


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Mozilla/5.0 (compatible; FooBot/1.0 extra words)", "FooBot"),
        ("Mozilla/5.0 (compatible; Linux box; FooBot)", "FooBot"),
        ("Mozilla/5.0 (compatible; FooBot/1.0; compatible; BarBot/2.0)", "FooBot"),
        ("FooBot/1.0 (compatible; Mozilla/5.0; Library +https://example.com)", "FooBot"),
        # The first product is the most significant one, whatever a comment contains.
        ("FooBot/1.0 (compatible; Debian)", "FooBot"),
        ("FooBot/1.0 (compatible; Python/3.11)", "FooBot"),
        ("foobot (compatible; BarBot/3.3.0 +https://example.com)", "foobot"),
        ("FooBot(compatible; BarBot)", "FooBot"),
        # A library or a phone is the name only if there is no other.
        ("python-requests/2.32 (compatible; FooBot/1.0)", "FooBot"),
        ("Nokia6820/2.0 (4.83) Profile/MIDP-1.0 (compatible; FooBot/2.1)", "FooBot"),
        ("python-requests/2.32", "python-requests"),
        ("Mozilla/5.0 (compatible; +FooBot; BarBot)", "BarBot"),
        ("Mozilla/5.0 (compatible; www.example.com/bot; BarBot)", "BarBot"),
        ("Mozilla/5.0 (compatible; example.com; BarBot)", "BarBot"),
        ("Mozilla/5.0 (Nexus Build Foo/1.0; RealBot/2.0)", "RealBot"),
        ("Mozilla/5.0 360Spider", "360Spider"),
        ("XeroBotX, version 2", "XeroBotX"),
        ("Mozilla/5.0 12ab", None),
        ("", None),
    ],
)
def test_parts_of_headers(header: str, token: str | None) -> None:
    """Contacts, hosts and platforms are not names; the vectors have real headers."""
    assert product_token(header) == token


def test_several_names_are_validated_one_by_one() -> None:
    """A header among them is rejected; names of a registry entry are not checked."""
    vet_names("a", DEFAULT)
    vet_names(["a", "MJ12bot"], DEFAULT)
    vet_names(CrawlerNames(["Sogou web spider"]), DEFAULT)
    for wrong in ("a/1", ["a", "b/1"], ("a b",)):
        with pytest.raises(ProductTokenError, match="is not a product token"):
            vet_names(wrong, DEFAULT)
    for odd, name in ((b"a", "bytes"), (1, "int"), ([1], "int"), ({"a"}, "set")):
        with pytest.raises(TypeError, match=f"in the order of preference; not {name}$"):
            vet_names(odd, DEFAULT)  # type: ignore[arg-type]


def test_an_empty_name() -> None:
    """The message says what is missing."""
    for empty in ("", " \t"):
        with pytest.raises(ProductTokenError) as error:
            vet_name(empty, DEFAULT)
        assert str(error.value) == "the product token is empty: pass the crawler's name"


def test_an_empty_name_in_profile_google() -> None:
    """Without a leading name the star group applies, as in google/robotstxt (AMB-22)."""
    assert [vet_name(name, GOOGLE) for name in ("", " a", "(a)", "a/1")] == ["*", "*", "*", "a"]


def message_of(name: str) -> str:
    """Return the message of the error for a name."""
    with pytest.raises(ProductTokenError) as error:
        vet_name(name, DEFAULT)
    return str(error.value)


def test_a_header_as_name() -> None:
    """The message says what a name cannot contain, and what to pass instead."""
    for header, fix in (
        ("ExampleBot/1.0", "pass 'ExampleBot'"),
        ("Mozilla/5.0 (X11) Firefox/1", "pass the crawler's name, such as 'ExampleBot'"),
    ):
        assert message_of(header) == (
            f"{header!r} is not a product token: a name has no '/', '(', ';', ',', no control "
            "character and no whitespace. From a User-Agent header use "
            f"robotrules.product_token(); here, {fix}"
        )


def test_a_list_as_name() -> None:
    """The message shows the list to pass, with at most four names."""
    for names, shown in (
        ("a,b,c,d", "'a', 'b', 'c', 'd'"),
        ("a,b,c,d,e", "'a', 'b', 'c', 'd', ..."),
    ):
        assert message_of(names) == (
            f"{names!r} is not a product token: pass several names as a list, [{shown}]"
        )


def test_a_long_name() -> None:
    """The message quotes at most 80 characters of the name."""
    assert message_of("x" * 79 + "/").startswith(f"'{'x' * 79}/' is not a product token")
    assert message_of("x" * 80 + "/").startswith(f"'{'x' * 80}...' is not a product token")


def test_an_invalid_name_in_strict() -> None:
    """The message says what is allowed, and two ways to fix the call."""
    with pytest.raises(ProductTokenError) as error:
        vet_name("MJ12bot", STRICT)
    assert str(error.value) == (
        "invalid product token 'MJ12bot': only letters, '_' and '-' are allowed (RFC 9309 §2.2.1). "
        "robotrules.product_token() finds the token in a User-Agent header; profile 'default' "
        "compares other names literally."
    )


def test_names_of_a_crawler() -> None:
    """CrawlerNames is a tuple with the flag `ignores_star`."""
    assert repr(CrawlerNames(["a", "b"])) == "CrawlerNames(('a', 'b'))"
    assert repr(CrawlerNames(["a"], ignores_star=True)) == (
        "CrawlerNames(('a',), ignores_star=True)"
    )
    again = pickle.loads(pickle.dumps(CrawlerNames(["a"], ignores_star=True)))
    assert (again, again.ignores_star) == (("a",), True)
