"""All URLs of a pattern: decided exactly, with a shortest URL that is otherwise."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules import parse
from robotrules.analysis import Undecided, Witness
from robotrules.expect.evaluate import NOTHING, counterexample
from robotrules.robotstxt.ruleset import RuleSet
from tests.expect.evaluation import evaluate_all, evaluate_one, passed


@pytest.mark.parametrize(
    ("pattern", "otherwise"),
    [
        ("/private/", "/private/press/"),
        ("/private/*", "/private/press/"),
        ("/private/$", None),
        ("/private/press", "/private/press/"),
        ("/private/press$", None),
        ("/private/*.pdf$", "/private/press/.pdf"),
        ("/private", "/private"),
        ("/", "/"),
    ],
)
def test_all_disallowed(pattern: str, otherwise: str | None) -> None:
    """Samples would miss the exception; a failure shows a shortest URL of it."""
    result = evaluate_one(f'all-disallowed = "{pattern}"')
    assert result.passed is (otherwise is None)
    assert result.witness == otherwise
    if otherwise:
        assert result.explanation is not None
        assert result.explanation.verdict.allowed


@pytest.mark.parametrize(
    ("pattern", "otherwise"),
    [("/public", None), ("/private/press/", None), ("/pri", "/private/"), ("/*?", "/private/?")],
)
def test_all_allowed(pattern: str, otherwise: str | None) -> None:
    """The same the other way round."""
    result = evaluate_one(f'all-allowed = "{pattern}"')
    assert (result.passed, result.witness) == (otherwise is None, otherwise)


def test_robots_txt_itself_is_left_out() -> None:
    """It is always allowed (RFC 9309 §2.2.2), and is never intended."""
    robots = "User-agent: *\nDisallow: /\n"
    assert passed('all-disallowed = ["/", "*", "/robots.txt"]', robots) == [True, True, True]
    assert passed('all-disallowed = "/robots.txt$"', robots) == [False]
    assert passed('all-allowed = "/robots.txt$"', robots) == [True]
    assert passed('all-allowed = "/robots.txt"', robots) == [False]
    assert passed('disallowed = "/robots.txt"', robots) == [False]


def test_without_a_group_all_is_allowed() -> None:
    """A crawler without a group may fetch every URL."""
    assert passed('all-allowed = "*"', "User-agent: One\nDisallow: /") == [True]
    assert passed('all-disallowed = "/x"', "") == [False]


@pytest.mark.parametrize("key", ["all-allowed", "all-disallowed"])
def test_a_pattern_that_no_url_matches_fails(key: str) -> None:
    """An expectation about no URL would always pass."""
    result = evaluate_one(f'{key} = "/a/../b"')
    assert (result.passed, result.found) == (False, "no URL matches this pattern")
    assert "nothing is checked" in result.cure


def test_an_undecided_expectation_fails() -> None:
    """The result is not guessed: neither a pass nor a witness."""
    rules = "".join(f"Disallow: /*{'ab'[number % 2]}{'*c' * number}$\n" for number in range(1, 12))
    [result] = evaluate_all('all-allowed = "/*z"', f"User-agent: *\n{rules}", max_states=3)
    assert (result.passed, result.undecided, result.witness) == (False, True, None)
    assert result.found.startswith("not decided within")
    assert "--max-states" in result.cure


def test_each_profile_uses_its_own_rules() -> None:
    """The rules of a profile and the pattern are compared in that profile's form."""
    robots = parse("User-agent: *\nDisallow: /\nAllow: /index.html\n", "google")
    assert counterexample(robots.rules_for("*"), "/$", False) == Witness("/")
    robots = parse("User-agent: *\nDisallow: /\nAllow: /index.html\n")
    assert counterexample(robots.rules_for("*"), "/$", False) is None


def test_an_index_page_is_a_single_url() -> None:
    """Profile google extends an index page rule to its directory; an expectation is not a rule."""
    rules = parse("User-agent: *\nDisallow: /index.html\n", "google").rules_for("*")
    assert counterexample(rules, "/index.html", False) is None
    assert counterexample(rules, "/$", False) == Witness("/")


PATTERNS = st.lists(st.sampled_from(["a", "b", "*", "/"]), max_size=4).map(
    lambda parts: "/" + "".join(parts)
)
ENDED = st.tuples(PATTERNS, st.sampled_from(["", "$"])).map("".join)
PATHS = ["/" + "".join(parts) for count in range(5) for parts in product("ab/", repeat=count)]


@given(st.lists(st.tuples(st.booleans(), ENDED), max_size=4), ENDED, st.booleans())
def test_the_answer_equals_a_search_of_all_short_urls(
    rules: list[tuple[bool, str]], pattern: str, allowed: bool
) -> None:
    """No URL contradicts a proof, and none that contradicts the expectation is shorter."""
    lines = [f"{'Allow' if allow else 'Disallow'}: {path}\n" for allow, path in rules]
    robots = parse("User-agent: *\n" + "".join(lines))
    found = counterexample(robots.rules_for("*"), pattern, allowed)
    matching = RuleSet.from_patterns([pattern])
    inside = [path for path in PATHS if matching.matches(path)[1] and not path.startswith("//")]
    against = [path for path in inside if robots.check(path, "*").allowed != allowed]
    assert not isinstance(found, Undecided)
    if found is None or found == NOTHING:
        assert not against
        assert not inside or found is None
    else:
        assert robots.check(found.url, "*").allowed != allowed
        assert matching.matches(found.url)[1]
        assert all(len(found.path) <= len(path) for path in against)
