"""Bodies that are not JSON, or not valid: the problem says where, and what is accepted there."""

from __future__ import annotations

from typing import Any

import pytest

from robotrules.service.decoding import decode_request, in_body
from robotrules.service.live.routes import OriginCheckRequest
from robotrules.service.live.slots import ResponseReport, SlotRequest
from robotrules.service.live.streams import StreamLine
from robotrules.service.problems import Problem
from robotrules.service.verbs.deciding import CheckRequest
from robotrules.service.verbs.writing import WriteRequest


def problem_of(body: bytes, type_: type[Any], what: str = "body") -> Problem:
    """Return the problem of a body."""
    with pytest.raises(Problem) as caught:
        decode_request(body, type_, what)
    return caught.value


@pytest.mark.parametrize(
    ("body", "type_", "at", "words"),
    [
        (b'{"url":"a","agent":"b"}', SlotRequest, "$.agent", "the fields of this body are as, "),
        (b"{}", SlotRequest, "$.url", "missing required field `url`; the fields of this body are"),
        (b'{"status":"a","url":"b"}', ResponseReport, "$.status", "Expected `int`, got `str`"),
        (b'{"url":"a","profile":"lenient"}', SlotRequest, "$.profile", "default, google, stale"),
        (b'{"as":"A","fields":"any"}', CheckRequest, "$.fields", "; pass all, allowed"),
        (b'{"url":"a","as":["b",1]}', StreamLine, "$.as[1]", "Expected `str`"),
        (b'{"url":"%b"}' % (b"a" * 9000), SlotRequest, "$.url", "<= 8192, got 9,000 at $.url"),
        (b'{"url":"a","as":[]}', SlotRequest, "$.as", ">= 1, got 0 at $.as"),
        (b"[]", OriginCheckRequest, "$", "Expected `object`, got `array`"),
        (b'{"form":{"crawlers":[{"x":1}]}}', WriteRequest, "$.form.crawlers[0].x", "its fields"),
        (b'{"form":{"paths":1}}', WriteRequest, "$.form.paths", "unknown field `paths`"),
    ],
)
def test_where_and_what(body: bytes, type_: type[Any], at: str, words: str) -> None:
    """`at` is the field, also of one that is missing or unknown."""
    problem = problem_of(body, type_)
    assert (problem.slug, problem.extra["at"]) == ("invalid-request", at)
    assert words in problem.detail


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "the body is empty: pass a JSON object"),
        (b" \n", "the body is empty: pass a JSON object"),
        (b"{", "the body is not JSON: Input data was truncated"),
        (b'{"url": "\xff"}', "the body is not JSON: byte 1 of a text is not UTF-8"),
    ],
)
def test_what_is_not_json(body: bytes, words: str) -> None:
    """400, and why."""
    problem = problem_of(body, SlotRequest)
    assert (problem.slug, problem.detail) == ("malformed-body", words)
    assert problem_of(body, SlotRequest, "line").detail == words.replace("the body", "the line")


def test_what_is_nested_too_deeply() -> None:
    """As bodies and as lines."""
    for what in ("body", "line"):
        problem = problem_of(b"[" * 100_000, list, what)
        assert (problem.slug, problem.detail) == (
            "malformed-body",
            f"the {what} is nested too deeply",
        )


def test_the_length_of_a_large_body_is_not_found() -> None:
    """It would be decoded twice."""
    body = b'{"url":"%b"}' % (b"a" * 100_000)
    assert problem_of(body, SlotRequest).detail == "Expected `str` of length <= 8192 at $.url"


def test_parameters_and_fields() -> None:
    """What is checked after decoding names a parameter, which is a field of a body."""
    assert in_body(Problem("invalid-request", "", at="url")).extra == {"at": "$.url"}
    assert in_body(Problem("invalid-request", "", at="$.url")).extra == {"at": "$.url"}
    assert in_body(Problem("busy", "")).extra == {}
