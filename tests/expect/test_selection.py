"""`-k`: words with and, or, not and parentheses; errors have a column; nothing is evaluated."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from robotrules.errors import ExpectationError
from robotrules.expect import read_expectations
from robotrules.expect.selection import MAX_DEPTH, MAX_LENGTH, parse_selection

EXPECTED = b"""
[[expect]]
crawlers = ["Googlebot", "bingbot"]
allowed = ["/shoes", "/Summer (new)"]
why = "What we sell, and not more."

[[expect]]
page = "pages/draft.html"
at = "/drafts/1"
tags = ["noindex"]

[[expect]]
crawlers = ["GPTBot"]
all-disallowed = "/"
"""
QUESTIONS = read_expectations(EXPECTED, "robots.test.toml").questions


def titles(text: str) -> list[str]:
    """Return the titles of the selected questions."""
    selected = parse_selection(text)
    return [one.title for one in QUESTIONS if selected(one)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("googlebot", 2),
        ("GOOGLEBOT and shoes", 1),
        ("googlebot or bingbot", 4),
        ("not googlebot", 4),
        ("not not googlebot", 2),
        ("googlebot and not /shoes", 1),
        ("not (googlebot or bingbot)", 2),
        ("not googlebot and not bingbot", 2),
        ("gptbot or googlebot and /shoes", 2),
        ("(gptbot or googlebot) and /shoes", 1),
        ("'Summer (new)'", 2),
        ('"what we sell"', 4),
        ('"and"', 4),
        ("draft.html", 1),
        ("noindex", 1),
        ("all-disallowed", 1),
        ("nothing", 0),
        ("((((bingbot))))", 2),
    ],
)
def test_words(text: str, count: int) -> None:
    """A word is a part of crawler, URL, page, key, value or reason, in any case."""
    assert len(titles(text)) == count


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "column 1: expected a word, 'not' or '(' at the end"),
        ("  ", "column 3: expected a word"),
        ("a b", "column 3: expected 'and' or 'or' before 'b'"),
        ("a and", "column 6: expected a word, 'not' or '(' at the end"),
        ("or a", "column 1: expected a word, 'not' or '(' before 'or'"),
        ("(a", "column 3: expected ')' at the end"),
        ("a)", "column 2: expected 'and' or 'or' before ')'"),
        ("a and )", "column 7: expected a word"),
        ("a or  'b", "column 7: the quote is not closed"),
        ("a or ''", "column 6: the word is empty"),
        ("(" * (MAX_DEPTH + 1) + "a", "more than 50 parentheses"),
        ("a" * (MAX_LENGTH + 1), "longer than 2,000 characters"),
    ],
)
def test_errors(text: str, words: str) -> None:
    """What is not an expression is refused in one line, with its column."""
    with pytest.raises(ExpectationError) as caught:
        parse_selection(text)
    assert words in str(caught.value)


def test_nothing_is_evaluated() -> None:
    """Python is words like any others."""
    assert titles("__import__") == []
    with pytest.raises(ExpectationError):
        parse_selection("__import__('os').system('true')")


@given(
    st.lists(st.sampled_from(["a", "and", "or", "not", "(", ")", '"', "'", " ", "é"]), max_size=40)
)
@example(["not"] * 40)
def test_any_text_is_an_expression_or_an_error(parts: list[str]) -> None:
    """Nothing else is raised, and an expression gives an answer for every question."""
    try:
        selected = parse_selection(" ".join(parts))
    except ExpectationError:
        return
    assert {selected(one) for one in QUESTIONS} <= {True, False}
