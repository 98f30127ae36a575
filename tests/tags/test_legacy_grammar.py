"""Words of the legacy grammar: commas, scopes, and what is behind a date."""

from __future__ import annotations

import pytest

from robotrules.tags.legacy_grammar import MAX_PARTS, LegacyRule, parse_legacy_rules


def read(text: str, *, scopes: bool = True, space_separates: bool = True) -> list[LegacyRule]:
    """Return the words of a text."""
    return list(parse_legacy_rules(text, scopes=scopes, space_separates=space_separates))


def test_empty_items_between_commas() -> None:
    """An empty item is not a word, also at the beginning."""
    assert [word.name for word in read(",noindex,, nofollow,")] == ["noindex", "nofollow"]


@pytest.mark.parametrize(
    ("text", "name", "value", "scope"),
    [
        ("foo: noindex", "noindex", None, "foo"),
        ("Foo :noindex", "noindex", None, "foo"),
        ("*: noindex", "noindex", None, "*"),
        ("foo: 5", "foo", "5", None),
        ("max-foo: bar", "max-foo", "bar", None),
        ("max-snippet: 20", "max-snippet", "20", None),
        ("none: x", "none", "x", None),
        ("\x0bfoo: noindex", "\x0bfoo", "noindex", None),
    ],
)
def test_scopes(text: str, name: str, value: str | None, scope: str | None) -> None:
    """A product token is one, if no number follows and no rule has its name."""
    (word,) = read(text, space_separates=False)
    assert (word.name, word.value, word.scope) == (name, value, scope)


def test_a_scope_holds_until_the_next() -> None:
    """What it holds for behind a comma is inherited."""
    found = read("a: noindex, nofollow, b: noai")
    assert [(word.scope, word.inherited) for word in found] == [
        *(("a", False), ("a", True), ("b", False)),
    ]


@pytest.mark.parametrize(
    ("rest", "value", "others"),
    [
        ("2025-12-03 noindex", "2025-12-03", ["noindex"]),
        ("2025-12-03 max-snippet:5", "2025-12-03", ["max-snippet"]),
        ("soon noindex", "soon", ["noindex"]),
        ("soon max-snippet:5", "soon", ["max-snippet"]),
        ("soon", "soon", []),
        ("Wed, 03 Dec 2025 13:09:53 GMT noai", "Wed, 03 Dec 2025 13:09:53 GMT", ["noai"]),
    ],
)
def test_words_behind_a_date(rest: str, value: str, others: list[str]) -> None:
    """The name of a rule is not part of it."""
    dated, *more = read(f"unavailable_after: {rest}")
    assert (dated.name, dated.value) == ("unavailable_after", value)
    assert [word.name for word in more] == others
    assert all(word.by_space for word in more)


def test_how_far_a_rule_is_looked_for() -> None:
    """A date has no more words than some."""
    for count, names in (
        (MAX_PARTS, ["unavailable_after", "noindex"]),
        (MAX_PARTS + 1, ["unavailable_after"]),
    ):
        text = "unavailable_after: " + "x " * count + "noindex"
        assert [word.name for word in read(text)] == names


def test_a_vertical_tab_is_not_a_space() -> None:
    """With one there is no date, and the text continues to the next rule."""
    text = "unavailable_after: \x0b2025-12-03 noindex"
    dated, _ = read(text)
    assert (dated.end, dated.value) == (text.index("noindex"), "\x0b2025-12-03")


def test_all_that_is_known_of_a_word() -> None:
    """Value, scope, what parts it from the word before, text and place."""
    text = "Foo: noai unavailable_after: 2025-12-03 noindex, unavailable_after: 2025-12-04, x y"
    first, second = "unavailable_after: 2025-12-03", "unavailable_after: 2025-12-04"
    found = [tuple(word) for word in read(text)]
    assert found == [
        ("noai", None, "foo", False, False, "noai", 5, 9),
        ("unavailable_after", "2025-12-03", "foo", False, True, first, 10, 39),
        ("noindex", None, "foo", False, True, "noindex", 40, 47),
        ("unavailable_after", "2025-12-04", "foo", True, False, second, 49, 78),
        ("x", None, "foo", True, False, "x", 80, 81),
        ("y", None, "foo", True, True, "y", 82, 83),
    ]
    assert all(type(part) is bool for word in found for part in word[3:5])


def test_words_separated_by_commas_only() -> None:
    """White space around name and value is removed; a vertical tab is not white space."""
    found = [tuple(word) for word in read(" noindex\x0b : 5 \x0b, x y ", space_separates=False)]
    assert found == [
        ("noindex\x0b", "5 \x0b", None, False, False, "noindex\x0b : 5 \x0b", 1, 15),
        ("x y", None, None, False, False, "x y", 17, 20),
    ]
    assert all(type(part) is bool for word in found for part in word[3:5])
    (one, _) = read("a unavailable_after: Wed,x", space_separates=False)
    assert (one.name, one.value) == ("a unavailable_after", "Wed")


def test_a_weekday_and_its_comma() -> None:
    """They belong to the date if the day follows (AMB-83)."""
    dated, *others = read("unavailable_after: Wed,03 Dec 2025 13:09:53 GMT,x")
    assert (dated.value, [word.name for word in others]) == ("Wed,03 Dec 2025 13:09:53 GMT", ["x"])
    assert [word.name for word in read("unavailable_after: \x0bWed, 03")] == [
        "unavailable_after",
        "03",
    ]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (":x", []),
        ("a b unavailable_after: 2025-12-03", ["a", "b", "unavailable_after"]),
        ("unavailable_after: 2025-12-03 noai noml", ["unavailable_after", "noai", "noml"]),
        ("unavailable_after: Wed, noindex", ["unavailable_after", "noindex"]),
        ("unavailable_after: Wed, shiny", ["unavailable_after", "shiny"]),
        ("unavailable_after: Wed,3 Dec 2025 13:09:53 GMT", ["unavailable_after"]),
        ("unavailable_after: Wed, 3 Dec 2025 13:09:53 GMT", ["unavailable_after"]),
    ],
)
def test_words_that_spaces_part(text: str, names: list[str]) -> None:
    """Before a date and behind it."""
    assert [word.name for word in read(text)] == names


def test_a_date_that_only_a_comma_ends() -> None:
    """Where spaces part no words, all of it is the value."""
    (dated,) = read("unavailable_after: 2025-12-03 noindex", space_separates=False)
    assert dated.value == "2025-12-03 noindex"
    (dated,) = read("unavailable_after: soon\x0b")
    assert dated.text == "unavailable_after: soon\x0b"
