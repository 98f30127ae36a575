"""The name that a drop-in compares with groups, given a product token or a User-Agent header."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules import ProductTokenError, parse
from robotrules.compat.user_agents import MAX_CACHED, ChecksByUserAgent, crawler_name


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        ("ExampleBot", "ExampleBot"),
        ("MJ12bot", "MJ12bot"),
        ("MJ12bot/v1.4", "MJ12bot"),
        ("foo/1.0 (x)", "foo"),
        ("FigTree Robot libwww-perl/5.04", "FigTree"),
        ("Mozilla/5.0 (compatible; ExampleBot/2.1; +https://example.com/bot)", "ExampleBot"),
        # A browser's header has no product token: its first word, as urllib takes it.
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/1 Safari/2", "Mozilla"),
        # The first product is the name, also beside a product or a comment of a browser.
        ("ExampleBot/2.1 (Linux) curl/8.0", "ExampleBot"),
        ("ExampleBot/2.1 Mozilla/5.0 (compatible; OtherBot/1.0)", "ExampleBot"),
        ("UnicödeBöt/2.1 (compatible; OtherBot/1.0)", "UnicödeBöt"),
        # An HTTP library is the name only if there is no other product.
        ("python-requests/2.32", "python-requests"),
        ("python-requests/2.32 (compatible; ExampleBot/2.1)", "ExampleBot"),
        ("UnicödeBöt", "UnicödeBöt"),
        ("UnicödeBöt/1.0", "UnicödeBöt"),
        ("Mozilla/5.0 (compatible; Львів-bot/1.1)", "Львів-bot"),
        ("http://example.com/bot ExampleBot/1.0", "ExampleBot"),
        ("*", "*"),
        ("", "*"),
        (" \t", "*"),
        ("(", "*"),
        ("a,b", "a"),
        ("foo\x00bar", "foo"),
    ],
)
def test_names(user_agent: str, name: str) -> None:
    """A name is itself; of a header it is the product token, else the first word, else `*`."""
    assert crawler_name(user_agent) == name


@pytest.mark.parametrize("user_agent", ["https://example.com/a", "/path"])
def test_swapped_arguments_raise(user_agent: str) -> None:
    """A URL in place of the user agent would match no group, so that all is allowed."""
    with pytest.raises(ProductTokenError, match="order of the arguments"):
        crawler_name(user_agent)


@pytest.mark.parametrize("user_agent", [None, 1, b"ExampleBot"])
def test_other_types_raise(user_agent: object) -> None:
    """A user agent is text."""
    with pytest.raises(TypeError, match="a user agent is a str"):
        crawler_name(user_agent)  # type: ignore[arg-type]


@given(st.text())
def test_every_other_text_has_a_name_that_can_be_checked(user_agent: str) -> None:
    """No text but a URL raises, and the name obeys groups: `*` disallows everything here."""
    robots = parse("User-agent: *\nDisallow: /")
    try:
        name = crawler_name(user_agent)
    except ProductTokenError:
        assert user_agent.strip().startswith("/") or "://" in user_agent
        return
    assert not robots.check("/a", name)


def test_checks_are_bounded_and_can_be_copied() -> None:
    """Many headers do not fill the memory; copies and pickles answer the same."""
    checks = ChecksByUserAgent(parse("User-agent: foo\nDisallow: /"))
    for number in range(3 * MAX_CACHED):
        assert checks[f"bot-{number}/1.0"]("/")
    assert len(checks) <= MAX_CACHED
    for other in (copy.copy(checks), copy.deepcopy(checks), pickle.loads(pickle.dumps(checks))):
        assert not other["foo/2"]("/")
