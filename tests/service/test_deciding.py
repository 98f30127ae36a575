"""Check and explain: the same answers as the commands, for any file and any URL."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from robotrules.service.problems import Problem
from robotrules.service.settings import Limits
from robotrules.service.verbs import NDJSON, JsonLines, load_verbs
from tests.service.answers import (
    answer,
    base64_of,
    every_file,
    every_small_file,
    printed,
    problem,
    raw_answer,
    schema_errors,
)

URLS = [
    *("/", "/private/x", "/private/open", "/p1/a", "/p1/b/x", "/robots.txt", "", " /a \n"),
    *(
        "https://example.com/a%00b?q=é",
        "https://example.com/\x00",
        '/"x","y"\\',
        "//host/a",
        "ftp://a/",
    ),
    *("/\u2028\U0001f600", "/%E9", "/%C3%A9", "example.com/private/", "/b", "/p"),
]
# Options of the command, and the fields with the same meaning.
QUESTIONS: list[tuple[list[str], dict[str, Any]]] = [
    (["--as", "ExampleBot"], {"as": "ExampleBot"}),
    (["--as", "Googlebot-News"], {"as": "Googlebot-News"}),
    (["--as", "Googlebot-News", "--literal"], {"as": ["Googlebot-News"], "literal": True}),
    (["--as", "b,ExampleBot"], {"as": ["b", "ExampleBot"]}),
    (
        ["--as", "OtherBot", "--purpose", "EXAMPLE-PURPOSE-1"],
        {"as": "OtherBot", "purpose": ["EXAMPLE-PURPOSE-1"]},
    ),
    (
        ["--as", "OtherBot", "--purpose", "P", "--profile", "google"],
        {"as": "OtherBot", "purpose": ["P"], "profile": "google"},
    ),
    (
        ["--as", "ExampleBot/1.0", "--profile", "google"],
        {"as": "ExampleBot/1.0", "profile": "google"},
    ),
    (["--as", "ExampleBot", "--profile", "strict"], {"as": "ExampleBot", "profile": "strict"}),
]
every_question = pytest.mark.parametrize(("options", "fields"), QUESTIONS)


def lines(octets: bytes) -> list[Any]:
    """Return the values of JSON lines, each as the schema says."""
    values = [json.loads(line) for line in octets.decode().splitlines()]
    assert not [error for value in values for error in schema_errors("check", value)]
    return values


def check_many(**fields: Any) -> list[Any]:
    """Return the lines that check answers."""
    found = raw_answer("check", json.dumps(fields).encode())
    assert isinstance(found, JsonLines)
    return lines(found)


class TestCheck:
    """One URL, and many."""

    @every_file
    def test_files(self, octets: bytes) -> None:
        as_printed = printed(
            "check", "--robots", "-", "--as", "ExampleBot", "--", *URLS, stdin=octets
        )
        given = {"robots_base64": base64_of(octets), "as": "ExampleBot"}
        assert check_many(**given, urls=URLS) == as_printed
        assert [answer("check", **given, url=url) for url in URLS] == as_printed
        allowed = [one["allowed"] for one in as_printed]
        assert answer("check", **given, urls=URLS, fields="allowed") == {
            "allowed": allowed,
            "count": len(URLS),
            "disallowed": allowed.count(False),
        }

    @every_question
    @every_small_file
    def test_questions(self, octets: bytes, options: list[str], fields: dict[str, Any]) -> None:
        as_printed = printed("check", "--robots", "-", *options, "--", *URLS, stdin=octets)
        assert check_many(robots_base64=base64_of(octets), **fields, urls=URLS) == as_printed

    @given(
        octets=st.one_of(
            st.binary(max_size=80),
            st.lists(
                st.sampled_from(
                    [b"User-agent: *", b"User-agent: a", b"Disallow: /a*b$", b"Allow: /\xff", b"\0"]
                )
            ).map(b"\n".join),
        ),
        urls=st.lists(
            st.one_of(
                st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
                st.sampled_from(['","', '"', "\\", '\\","', "/ab"]),
            ).filter(lambda url: url.strip() != "-"),
            min_size=1,
            max_size=5,
        ),
        profile=st.sampled_from(["default", "strict", "google"]),
    )
    @example(b"", ['"', ',"', '","', "\\", '\\"'], "default")
    def test_any_bytes_and_any_urls(self, octets: bytes, urls: list[str], profile: str) -> None:
        options = ["--robots", "-", "--as", "a", "--profile", profile]
        as_printed = printed("check", *options, "--", *urls, stdin=octets)
        given_fields = {"robots_base64": base64_of(octets), "as": "a", "profile": profile}
        assert check_many(**given_fields, urls=urls) == as_printed
        allowed = answer("check", **given_fields, urls=urls, fields="allowed")["allowed"]
        assert allowed == [one["allowed"] for one in as_printed]

    def test_text_is_utf_8(self) -> None:
        robots = "User-agent: *\nDisallow: /é\n"
        both = [answer("check", **{"as": "a"}, robots=robots, url=url) for url in ("/%C3%A9", "/é")]
        assert [one["allowed"] for one in both] == [False, False]

    @pytest.mark.parametrize("verb", ["check", "explain"])
    def test_purposes_that_a_profile_does_not_read(self, verb: str) -> None:
        """No warning: in tests it is an error, as with `python -W error`."""
        fields = {"as": "a", "purpose": ["P"], "profile": "google", "url": "/"}
        assert answer(verb, robots="User-agent-purpose: P\nDisallow: /\n", **fields)["allowed"]

    def test_no_urls(self) -> None:
        assert check_many(robots="", urls=[], **{"as": "a"}) == []
        found = answer("check", robots="", urls=[], fields="allowed", **{"as": "a"})
        assert found == {"allowed": [], "count": 0, "disallowed": 0}

    def test_the_media_types_are_declared(self) -> None:
        assert load_verbs()["/v1/check"].media_types == ("application/json", NDJSON)
        assert JsonLines.media_type == NDJSON

    def test_half_a_surrogate_pair(self) -> None:
        """It is U+FFFD, as a browser sends it; pairs and escaped backslashes are kept."""
        urls = rb'"\ud800x", "\ud83d\ude00", "\\ud800", "\udc00\ud800"'
        found = lines(raw_answer("check", b'{"robots": "", "as": "a", "urls": [' + urls + b"]}"))
        assert [one["url"] for one in found] == ["\ufffdx", "\U0001f600", "\\ud800", "\ufffd\ufffd"]


class TestExplain:
    """One explanation."""

    @every_question
    @every_small_file
    def test_questions(self, octets: bytes, options: list[str], fields: dict[str, Any]) -> None:
        as_printed = printed("explain", "--robots", "-", *options, "--", *URLS, stdin=octets)
        found = [
            answer("explain", robots_base64=base64_of(octets), **fields, url=url) for url in URLS
        ]
        assert found == as_printed

    @pytest.mark.slow
    @every_file
    def test_files(self, octets: bytes) -> None:
        (as_printed,) = printed("explain", "--robots", "-", "--as", "b", "/p1/a/x", stdin=octets)
        given = {"robots_base64": base64_of(octets), "as": "b"}
        assert answer("explain", **given, url="/p1/a/x") == as_printed


class TestMisuse:
    """A problem says what is wrong, where, and how to fix it."""

    @pytest.mark.parametrize("verb", ["check", "explain"])
    @pytest.mark.parametrize(
        ("fields", "at", "cure"),
        [
            ({"as": ""}, "$.as", "as is empty: pass the crawler's product token"),
            ({"as": " \t"}, "$.as", "as is empty"),
            ({"as": []}, "$.as", "as is empty"),
            ({"as": ["a", ""]}, "$.as[1]", "as is empty"),
            ({"as": "https://e.com/"}, "$.as", "is a URL: pass it in url"),
            ({"as": "Mozilla/5.0 (compatible; ExampleBot/2.1)"}, "$.as", "; use 'ExampleBot'"),
            ({"as": "a, b"}, "$.as", "pass an array with a text for each token"),
            ({"as": "a\x00b"}, "$.as", r"'a\x00b' is not a product token"),
            ({"as": "x y" * 300}, "$.as", "…' is not a product token"),
            ({"as": "a1", "profile": "strict"}, "$.as", "only letters, '_' and '-' are allowed"),
            ({"as": ["a", "b/"], "literal": True}, "$.as[1]", "'b/' is not a product token"),
            ({"as": "a", "purpose": ["p", " "]}, "$.purpose[1]", "a purpose is empty"),
            ({"as": "a", "robots": None}, "$.robots", "pass either robots or robots_base64"),
            ({"as": "a", "robots_base64": ""}, "$.robots", "pass either robots or robots_base64"),
        ],
    )
    def test_values(self, verb: str, fields: dict[str, Any], at: str, cure: str) -> None:
        found = problem(verb, **{"robots": "", "url": "/", **fields})
        assert (found.slug, found.extra["at"]) == ("invalid-request", at)
        assert cure in found.detail
        assert len(found.detail) < 400

    @pytest.mark.parametrize("verb", ["check", "explain"])
    @pytest.mark.parametrize(
        ("fields", "at"),
        [
            ({"as": 1}, "$.as"),
            ({"as": None}, "$.as"),
            ({"as": "a" * 1_001}, "$.as"),
            ({"as": ["a"] * 21}, "$.as"),
            ({"purpose": "p"}, "$.purpose"),
            ({"purpose": ["p"] * 21}, "$.purpose"),
            ({"profile": "stale"}, "$.profile"),
            ({"literal": 1}, "$.literal"),
            ({"robots": 1}, "$.robots"),
            ({"robots_base64": "?"}, "$.robots_base64"),
            ({"url": 1}, "$.url"),
            ({"url": ["/"]}, "$.url"),
        ],
    )
    def test_types(self, verb: str, fields: dict[str, Any], at: str) -> None:
        found = problem(verb, **{"as": "a", "robots": "", "url": "/", **fields})
        assert (found.slug, found.extra.get("at")) == ("invalid-request", at)

    @pytest.mark.parametrize("verb", ["check", "explain"])
    def test_unknown_and_missing_fields(self, verb: str) -> None:
        unknown = problem(verb, **{"as": "a", "robots": "", "url": "/", "user_agent": "a"})
        assert (unknown.slug, "user_agent" in unknown.detail) == ("invalid-request", True)
        missing = problem(verb, robots="", url="/")
        assert (missing.slug, "`as`" in missing.detail) == ("invalid-request", True)

    @pytest.mark.parametrize(
        "body",
        [
            *(b"", b"{", b'{"as": "\xff"}', b"[" * 100_000, b'{"url": "\\ud8"}', b"\xff\xfe{\0"),
            b'{"as": "a", "robots": "\xed\xa0\x80", "url": "/"}',
        ],
    )
    def test_bodies_that_are_not_json(self, body: bytes) -> None:
        with pytest.raises(Problem) as caught:
            raw_answer("check", body)
        assert caught.value.slug in ("malformed-body", "invalid-request")
        assert caught.value.detail

    @pytest.mark.parametrize("fields", [{}, {"url": "/", "urls": ["/"]}])
    def test_url_or_urls(self, fields: dict[str, Any]) -> None:
        found = problem("check", **{"as": "a"}, robots="", **fields)
        assert (found.slug, found.detail) == ("invalid-request", "pass either url or urls")

    def test_too_many_urls(self) -> None:
        def ask(count: int) -> bytes:
            body = json.dumps({"as": "a", "robots": "", "urls": ["/"] * count}).encode()
            return raw_answer("check", body, Limits(max_urls=2))

        assert ask(2).count(b"\n") == 2
        with pytest.raises(Problem) as caught:
            ask(3)
        found = caught.value
        assert (found.slug, found.status, found.extra["limit"]) == ("too-many-urls", 413, 2)
        assert "at most 2" in found.detail

    @given(
        fields=st.dictionaries(
            st.sampled_from(
                ["as", "robots", "robots_base64", "url", "urls", "purpose", "profile", "literal"]
            ),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
                lambda inner: (
                    st.lists(inner, max_size=3)
                    | st.dictionaries(st.text(max_size=3), inner, max_size=2)
                ),
                max_leaves=4,
            ),
        )
    )
    def test_any_fields(self, fields: dict[str, Any]) -> None:
        """An answer or a problem; nothing else."""
        body = json.dumps({"as": "a", "robots": "", "url": "/", **fields}).encode()
        for verb in ("check", "explain"):
            with suppress(Problem):
                raw_answer(verb, body)
