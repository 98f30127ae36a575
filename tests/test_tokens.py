"""Product tokens: the grammar, and the token a User-Agent header probably means."""

from __future__ import annotations

import pickle
import string

import pytest

from robotrules import DEFAULT, GOOGLE, STRICT, ProductTokenError, is_product_token, product_token
from robotrules.robotstxt.tokens import CrawlerNames, vet_names, vetted_name


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


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Mozilla/5.0 (compatible; FooBot/1.0 extra words)", "FooBot"),
        ("Mozilla/5.0 (compatible; Linux box; FooBot)", "FooBot"),
        ("Mozilla/5.0 (compatible; FooBot/1.0; compatible; BarBot/2.0)", "FooBot"),
        ("FooBot/1.0 (compatible; Mozilla/5.0; Library +https://example.com)", "FooBot"),
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
    """Contacts, addresses and platforms are no names; the vectors have real headers."""
    assert product_token(header) == token


def test_several_names_are_vetted_one_by_one() -> None:
    """A header among them is refused; what a registry says of a crawler is taken as it is."""
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
    """It says what is missing."""
    for empty in ("", " \t"):
        with pytest.raises(ProductTokenError) as told:
            vetted_name(empty, DEFAULT)
        assert str(told.value) == "the product token is empty: pass the crawler's name"


def test_an_empty_name_in_profile_google() -> None:
    """What begins with no name is the star's, as google/robotstxt has it (AMB-22)."""
    assert [vetted_name(name, GOOGLE) for name in ("", " a", "(a)", "a/1")] == ["*", "*", "*", "a"]


def message_of(name: str) -> str:
    """Return why a name is refused."""
    with pytest.raises(ProductTokenError) as told:
        vetted_name(name, DEFAULT)
    return str(told.value)


def test_a_header_for_a_name() -> None:
    """The error says what no name has, and what to pass instead."""
    for header, cure in (
        ("ExampleBot/1.0", "pass 'ExampleBot'"),
        ("Mozilla/5.0 (X11) Firefox/1", "pass the crawler's name, such as 'ExampleBot'"),
    ):
        assert message_of(header) == (
            f"{header!r} is not a product token: a name has no '/', '(', ';', ',', no control "
            "character and no white space. From a User-Agent header use "
            f"robotrules.product_token(); here, {cure}"
        )


def test_a_list_for_a_name() -> None:
    """The error shows the list to pass: four names of it at most."""
    for names, shown in (
        ("a,b,c,d", "'a', 'b', 'c', 'd'"),
        ("a,b,c,d,e", "'a', 'b', 'c', 'd', ..."),
    ):
        assert message_of(names) == (
            f"{names!r} is not a product token: pass several names as a list, [{shown}]"
        )


def test_a_long_name() -> None:
    """The error repeats 80 characters of it."""
    assert message_of("x" * 79 + "/").startswith(f"'{'x' * 79}/' is not a product token")
    assert message_of("x" * 80 + "/").startswith(f"'{'x' * 80}...' is not a product token")


def test_what_strict_refuses() -> None:
    """The error says what is allowed, and both ways out."""
    with pytest.raises(ProductTokenError) as told:
        vetted_name("MJ12bot", STRICT)
    assert str(told.value) == (
        "'MJ12bot' is no product token: RFC 9309 §2.2.1 knows letters, '_' and '-' only. "
        "robotrules.product_token() finds the token in a User-Agent header; profile 'default' "
        "compares other names literally."
    )


def test_names_of_a_crawler() -> None:
    """They are a tuple that says how it chooses."""
    assert repr(CrawlerNames(["a", "b"])) == "CrawlerNames(('a', 'b'))"
    assert repr(CrawlerNames(["a"], ignores_star=True)) == (
        "CrawlerNames(('a',), ignores_star=True)"
    )
    again = pickle.loads(pickle.dumps(CrawlerNames(["a"], ignores_star=True)))
    assert (again, again.ignores_star) == (("a",), True)
