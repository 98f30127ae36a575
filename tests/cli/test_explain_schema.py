"""
`explain.schema.json` describes every explanation, and describes it completely.

The checker here knows the words of JSON Schema that our schema uses, and fails on any other, so
the schema cannot say more than is tested.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import robotrules
from robotrules import Outcome, Reason
from robotrules.json_results.schemas import load_schema
from robotrules.robotstxt.verdict import SCHEMA_VERSION, GroupMatch
from tests.cli.schema import objects, problems
from tests.cli.shell import robotrules as run

SCHEMA = load_schema("explain")
BODY = b"""\xef\xbb\xbfUser-agent: *
Disallow: /private/
Disalow: /\xe9
Allow: /private/press
Allow: press
Disallow:

User-agent: ExampleBot
User-agent: OtherBot/1.0
Disallow: /a
Allow: /a
Allow: /%61
Disallow: /*

User-agent: NoRules
"""
URLS: list[str | bytes] = [
    "/",
    "/private/x",
    "/private/press",
    b"/\xe9",
    "https://example.com/a?b=c#d",
    "/robots.txt",
    "",
]
TOKENS: list[str | list[str]] = ["AnyBot", "ExampleBot", "NoRules", ["AnyBot", "ExampleBot"], "*"]


@pytest.mark.parametrize("profile", ["default", "strict", "google"])
def test_explanations_are_as_described(profile: str) -> None:
    """Whatever is explained, under any profile, follows the schema."""
    reasons = set()
    for body in (
        BODY,
        BODY.removeprefix(b"\xef\xbb\xbfUser-agent: *"),
        b"",
        b"\xff\xfe" + b"a\0" * 9,
    ):
        robots = robotrules.parse(body, profile)
        for token in TOKENS:
            for url in URLS:
                values = robots.explain(url, token).as_dict()
                assert list(problems(json.loads(json.dumps(values)), SCHEMA)) == []
                reasons.add(values["reason"])
    assert len(reasons) >= 5


def test_the_command_prints_it() -> None:
    """The output of the command line is the same."""
    ran = run("explain", "/a", "--as", "ExampleBot", "--robots", "-", "--json", stdin=BODY)
    assert list(problems(json.loads(ran.out), SCHEMA)) == []


def test_the_checker_finds_errors() -> None:
    """A checker without findings would prove nothing."""
    good = robotrules.parse(BODY).explain("/a", "ExampleBot").as_dict()
    wrongs: list[dict[str, Any]] = [
        {"schema": 2},
        {"url": None},
        {"allowed": 1},
        {"reason": "because"},
        {"product_token": 1},
        {"winner": {}},
        {"losers": [{**good["winner"], "line": 0}]},
        {"losers": [{**good["winner"], "octets": True}]},
        {"notes": [{**good["notes"][0], "level": "fatal"}]},
        {"more": 1},
    ]
    for wrong in wrongs:
        assert list(problems({**good, **wrong}, SCHEMA)), wrong
    for name in good:
        assert list(problems({key: good[key] for key in good if key != name}, SCHEMA)), name


def test_everything_is_required_described_and_closed() -> None:
    """Every object lists its keys and allows no others; every key has a description."""
    for schema in objects(SCHEMA):
        assert schema["additionalProperties"] is False
        assert schema["required"] == list(schema["properties"])
        assert all(len(value["description"]) > 10 for value in schema["properties"].values())


def test_codes_are_those_of_the_library() -> None:
    """The schema knows every code, and no other."""
    properties, match = SCHEMA["properties"], SCHEMA["$defs"]["match"]["properties"]
    assert properties["schema"]["const"] == SCHEMA_VERSION
    assert set(properties["reason"]["enum"]) == set(Reason)
    assert set(properties["matched_by"]["enum"]) == set(GroupMatch)
    assert set(match["outcome"]["enum"]) == set(Outcome)
