"""Tag rules as text: Robots-Tag, X-Robots-Tag on request, meta elements; which values raise."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from robotrules.errors import WriteError
from robotrules.registries import parse_json
from robotrules.tags import usage_rules
from robotrules.write import meta_elements, robots_tag, robots_tag_fields

RULES: dict[str, Any] = {
    "*": ["nosnippet"],
    "ExampleBot": {
        "noindex": True,
        "max-snippet": 20,
        "max-image-preview": "none",
        "unavailable_after": datetime(2030, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
    },
}


def test_the_field() -> None:
    """Tokens as members, rules as parameters; a String where no Token can hold a name (AMB-65)."""
    assert robots_tag(RULES) == (
        "*;nosnippet, ExampleBot;noindex;max-snippet=20;max-image-preview=none"
        ";unavailable_after=@1893456000"
    )
    assert robots_tag({"_bot": ["noindex"]}) == '"_bot";noindex'
    assert robots_tag({}) == robots_tag({"a": []}) == ""


def test_the_old_name_only_on_request() -> None:
    """New text has no X- name (RTG-5.3-01); on request each crawler has a separate line."""
    assert [name for name, _ in robots_tag_fields(RULES)] == ["Robots-Tag"]
    assert robots_tag_fields(RULES, legacy=True)[1:] == [
        ("X-Robots-Tag", "nosnippet"),
        (
            "X-Robots-Tag",
            "ExampleBot: noindex, max-snippet:20, max-image-preview:none, "
            "unavailable_after: 2030-01-01T00:00:00Z",
        ),
    ]
    assert robots_tag_fields({}) == []


def test_elements() -> None:
    assert meta_elements(RULES) == (
        '<meta name="robots" content="nosnippet">\n'
        '<meta name="ExampleBot" content="noindex, max-snippet:20, max-image-preview:none, '
        'unavailable_after: 2030-01-01T00:00:00Z">\n'
    )


def test_what_is_in_force_can_be_written_again() -> None:
    found = usage_rules(headers={"Robots-Tag": robots_tag(RULES)}, product_token="ExampleBot")
    again = usage_rules(headers={"Robots-Tag": robots_tag({"*": found.rules})})
    assert again.rules == found.rules
    assert found.unavailable_after == datetime(2030, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"*": ["nonindex"]}, "did you mean 'noindex'"),
        ({"*": ["qqq"]}, "add it to a registry"),
        ({"*": ["NoIndex"]}, "did you mean 'noindex'"),
        ({"*": ["none"]}, "crawlers read 'none' differently"),
        ({"*": ["index"]}, "restricts nothing"),
        ({"*": {"noindex": False}}, "takes no value"),
        ({"*": {"max-snippet": True}}, "use a number"),
        ({"*": {"max-snippet": -2}}, "use a number"),
        ({"*": {"max-snippet": 10**15}}, "use a number"),
        ({"*": {"max-image-preview": "huge"}}, "use one of none, standard, large"),
        ({"*": {"unavailable_after": datetime(2030, 1, 1)}}, "with a time zone"),
        ({"*": {"unavailable_after": "2030-01-01"}}, "with a time zone"),
        ({"": ["noindex"]}, "is not a product token"),
        ({"x ": ["noindex"]}, "spaces at its ends"),
        ({"a\nb": ["noindex"]}, "is not a product token"),
        ({"é": ["noindex"]}, "is not a product token"),
        ({f"bot-{n}": ["noindex"] for n in range(1000)}, "name fewer crawlers"),
    ],
)
def test_invalid_values(rules: Any, words: str) -> None:
    with pytest.raises(WriteError, match=words):
        robots_tag(rules)


@pytest.mark.parametrize("token", ["noindex", "x:y", "None", "a:noindex"])
def test_names_that_are_read_as_rules(token: str) -> None:
    with pytest.raises(WriteError, match="would be read as a rule"):
        robots_tag({token: ["nosnippet"]})


@pytest.mark.parametrize("token", ["a b", "a/b", "a!"])
def test_names_that_the_old_grammar_cannot_hold(token: str) -> None:
    assert robots_tag({token: ["nosnippet"]})
    with pytest.raises(WriteError, match="X-Robots-Tag cannot name"):
        robots_tag_fields({token: ["nosnippet"]}, legacy=True)


@pytest.mark.parametrize("token", ["robots", "a b", 'x"y'])
def test_names_that_no_element_can_hold(token: str) -> None:
    with pytest.raises(WriteError, match="a meta element cannot name"):
        meta_elements({token: ["noindex"]})


@pytest.mark.parametrize("wrong", [["noindex"], {"*": "noindex"}, {"*": 5}, {"*": [5]}, None])
def test_misuse(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"such as|not"):
        robots_tag(wrong)


def test_a_registry_adds_rules() -> None:
    entry = {"name": "shiny", "description": "Be shiny.", "reference": "here"}
    known = parse_json(json.dumps({"tag_rules": {"entries": [entry]}}))
    assert robots_tag({"*": ["shiny"]}, registries=known) == "*;shiny"
