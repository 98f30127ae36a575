"""Robots-Tag and X-Robots-Tag: positions of rules, and notes, field by field."""

from __future__ import annotations

from typing import Any

import pytest

from robotrules.tags import DEFAULT, STRICT, header
from robotrules.tags.header import (
    CUT,
    MAX_CACHED_LENGTH,
    MAX_NOTES_PER_CODE,
    parse_robots_tag,
    parse_x_robots_tag,
)

LIMIT = 8192
BOTH = DEFAULT.replace(scope_both=True)
SMALL = DEFAULT.replace(max_field_bytes=LIMIT)
FOO = frozenset({"foo"})
OLD = ("deprecated-field", None, None, None)


def told(found: Any) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return rules and notes as plain tuples."""
    return [tuple(one) for one in found.statements], [tuple(one) for one in found.notes]


def test_scopes_of_joined_lines() -> None:
    """A word behind a comma may be for all; that is noted once in a line (AMB-82)."""
    lines = [b"noai", b"googlebot: noindex, nofollow, max-snippet:x"]
    assert told(parse_x_robots_tag(lines, BOTH, apart=False)) == (
        [
            ("*", "noai", True, "noai", 1, 0, 4, False),
            ("googlebot", "noindex", True, "noindex", 2, 11, 18, False),
            ("googlebot", "nofollow", True, "nofollow", 2, 20, 28, False),
            ("*", "nofollow", True, "nofollow", 2, 20, 28, False),
            ("googlebot", "max-snippet", None, "max-snippet:x", 2, 30, 43, False),
            ("*", "max-snippet", None, "max-snippet:x", 2, 30, 43, False),
        ],
        [OLD, ("scope-may-be-wider", 2, 20, 28), ("bad-value", 2, 30, 43)],
    )
    said, odd = told(parse_x_robots_tag(lines[1:], DEFAULT, apart=False))
    assert {one[0] for one in said} == {"googlebot"}
    assert odd == [OLD, ("scope-may-be-wider", 1, 20, 28), ("bad-value", 1, 30, 43)]
    assert told(parse_x_robots_tag(lines[1:], BOTH))[1] == [OLD, ("bad-value", 1, 30, 43)]
    said, _ = told(parse_x_robots_tag([b"googlebot: noai, none"], BOTH, apart=False))
    assert [one[:2] for one in said[-2:]] == [("*", "noindex"), ("*", "nofollow")]


def test_new_members_in_the_old_field() -> None:
    """A whole line of them, or one among words of the old grammar (AMB-73)."""
    assert told(parse_x_robots_tag([b"x", b"a;NoIndex, b;max-snippet=x"], DEFAULT)) == (
        [
            ("*", "x", True, "x", 1, 0, 1, False),
            ("a", "noindex", True, "noindex", 2, 0, 9, False),
            ("b", "max-snippet", None, "max-snippet=x", 2, 11, 26, False),
        ],
        [OLD, ("structured-legacy-field", 2, None, None), ("bad-value", 2, 11, 26)],
    )
    assert told(parse_x_robots_tag([b"noai nofollow, A;noindex=5, noml"], DEFAULT)) == (
        [
            ("*", "noai", True, "noai", 1, 0, 4, False),
            ("*", "nofollow", True, "nofollow", 1, 5, 13, False),
            ("a", "noindex", True, "noindex=5", 1, 15, 26, False),
            ("*", "noml", True, "noml", 1, 28, 32, False),
        ],
        [OLD, ("space-separated", 1, 5, 13), ("value-not-used", 1, 15, 26)],
    )


@pytest.mark.parametrize(
    ("line", "profile", "more", "said"),
    [
        (b"a;NoIndex", DEFAULT.replace(lower_keys=False), frozenset(), ("*", "a;noindex")),
        (b"a;foo", DEFAULT, frozenset(), ("*", "a;foo")),
        (b"a;foo", DEFAULT, FOO, ("a", "foo")),
        (b"x y, a;foo", DEFAULT, FOO, ("a", "foo")),
        (b"x y, a;noindex", DEFAULT, frozenset(), ("a", "noindex")),
        (b"x y, a;noindex", STRICT, frozenset(), ("*", "a;noindex")),
        (b";", DEFAULT, frozenset(), ("*", ";")),
    ],
)
def test_what_is_a_new_member(line: bytes, profile: Any, more: Any, said: tuple[str, str]) -> None:
    """It has a parameter that is a rule, of the table or of a registry."""
    assert parse_x_robots_tag([line], profile, more).statements[-1][:2] == said


def test_places_in_several_lines() -> None:
    """Each rule has its own line; an empty one is passed over."""
    lines = [b"a;noindex, b;max-snippet=x", b"", b"noindex;nofollow", b"googlebot:noindex"]
    assert told(parse_robots_tag(lines, DEFAULT)) == (
        [
            ("a", "noindex", True, "noindex", 1, 0, 9, False),
            ("b", "max-snippet", None, "max-snippet=x", 1, 11, 26, False),
            ("*", "noindex", True, "noindex", 3, 0, 7, False),
            ("*", "nofollow", True, "nofollow", 3, 0, 16, False),
            ("googlebot", "noindex", True, "noindex", 4, 0, 7, False),
        ],
        [
            ("empty-field-line", 2, None, None),
            ("bad-value", 1, 11, 26),
            ("legacy-syntax", 3, 0, 16),
            ("legacy-syntax", 4, 0, 17),
        ],
    )
    assert told(parse_robots_tag([b"", b" "], DEFAULT)) == (
        [],
        [("empty-field-line", 1, None, None), ("empty-field-line", 2, None, None)],
    )


def test_ends_of_lines() -> None:
    """Spaces and tabs are not part of a line, and letters are."""
    found = parse_robots_tag([b" \tX;noindex\t ", b"a;noai, X"], DEFAULT)
    assert [one[:2] for one in found.statements] == [("x", "noindex"), ("a", "noai")]
    assert [one.code for one in found.notes] == []


def test_places_in_a_field_that_fails() -> None:
    """Every line is read alone, and each word and member has its place."""
    found = parse_robots_tag([b"a;noindex, b;;", b"noindex nofollow, x", b"c;NoAI, (d"], DEFAULT)
    assert told(found) == (
        [
            ("a", "noindex", True, "noindex", 1, 0, 9, False),
            ("*", "noindex", True, "noindex", 2, 0, 7, False),
            ("*", "nofollow", True, "nofollow", 2, 8, 16, False),
            ("c", "noai", True, "noai", 3, 0, 6, False),
        ],
        [
            ("uppercase-key", None, None, None),
            ("legacy-syntax", 2, None, None),
            ("space-separated", 2, 8, 16),
            ("salvaged", None, None, None),
        ],
    )
    assert found.error is not None
    assert told(parse_robots_tag([b"foo, bar", b"?"], DEFAULT, FOO)) == (
        [("*", "foo", True, "foo", 1, 0, 3, False)],
        [("legacy-syntax", 1, 0, 3), ("salvaged", None, None, None)],
    )
    assert told(parse_robots_tag([b"?"], DEFAULT)) == ([], [("bad-field", None, None, None)])
    assert parse_robots_tag([b"\x0ba;noindex"], STRICT).statements == ()


def test_some_of_each_note() -> None:
    """A stranger may write one thing thousands of times: twenty of a code are kept."""
    for words, kept in (
        (MAX_NOTES_PER_CODE, MAX_NOTES_PER_CODE - 1),
        (MAX_NOTES_PER_CODE + 1, MAX_NOTES_PER_CODE),
        (100, MAX_NOTES_PER_CODE),
    ):
        line = b" ".join([b"a"] * words) + b", max-snippet:x"
        found = [one.code for one in parse_x_robots_tag([line], DEFAULT).notes]
        assert found == ["deprecated-field", *["space-separated"] * kept, "bad-value"]


class TestCutLines:
    """Of a line that goes on behind the limit, whole words or members count (AMB-68)."""

    def test_words(self) -> None:
        """Up to the last comma before the limit."""
        line = b"noindex, nofollow, ".ljust(LIMIT) + b", noai"
        found = parse_x_robots_tag([line, b"noml"], SMALL)
        assert [one.name for one in found.statements] == ["noindex", "nofollow"]
        assert [tuple(one) for one in found.notes] == [
            OLD,
            (CUT, 1, LIMIT, LIMIT + 6),
            (CUT, None, None, None),
        ]

    def test_lines_that_just_fit(self) -> None:
        """Two octets part lines; where none is left the next one is not looked at."""
        found = parse_x_robots_tag([b"y" * (LIMIT - 3), b"x"], SMALL)
        assert [one.name[:1] for one in found.statements] == ["y", "x"]
        assert [tuple(one) for one in found.notes] == [OLD]
        found = parse_x_robots_tag([b"y" * (LIMIT - 2), b"x"], SMALL)
        assert [one.name[:1] for one in found.statements] == ["y"]
        assert [tuple(one) for one in found.notes] == [OLD, (CUT, None, None, None)]

    def test_what_is_long_is_not_remembered(self) -> None:
        """Strangers must not fill the memory."""
        before = header._read_x_robots_tag_cached.cache_info()
        parse_x_robots_tag([b"noindex, ".ljust(MAX_CACHED_LENGTH + 1)], DEFAULT)
        assert header._read_x_robots_tag_cached.cache_info() == before

    def test_members(self) -> None:
        """A comma in a String ends no member."""
        line = b'a;noindex, b;nofollow="x, ' + b"y" * LIMIT + b'"'
        assert [one[:2] for one in parse_x_robots_tag([line], SMALL).statements] == [
            ("a", "noindex")
        ]
        line = b'a;foo, b;foo="x, ' + b"y" * LIMIT + b'"'
        assert [one[:2] for one in parse_x_robots_tag([line], SMALL, FOO).statements] == [
            ("a", "foo")
        ]

    def test_an_open_string(self) -> None:
        """In the old grammar a quote has no special meaning."""
        line = b'x;y, "a, noindex, '.ljust(LIMIT) + b"z"
        assert "noindex" in [one.name for one in parse_x_robots_tag([line], SMALL).statements]

    def test_no_complete_word(self) -> None:
        """Without a comma there is no complete word."""
        assert parse_x_robots_tag([b"noindex".ljust(LIMIT + 1)], SMALL).statements == ()
        assert parse_x_robots_tag([b"noindex".ljust(LIMIT)], SMALL).statements != ()

    def test_words_of_a_field_that_fails(self) -> None:
        """A line has what the lines before it left of the limit."""
        line = b"noindex z, nofollow, ".ljust(LIMIT) + b"x, noai, y"
        assert [one.name for one in parse_robots_tag([b"?", line], SMALL).statements] == [
            "noindex",
            "nofollow",
        ]

    def test_members_of_a_field_that_fails(self) -> None:
        """Whole members of a line count."""
        line = b"a;noindex, b;nofollow, c;noai, d;" + b"x" * LIMIT
        assert [one[:2] for one in parse_robots_tag([b"?", line], SMALL).statements] == [
            *(("a", "noindex"), ("b", "nofollow"), ("c", "noai")),
        ]
        assert parse_robots_tag([b"?", b"a;" + b"x" * LIMIT], SMALL).statements == ()


@pytest.mark.parametrize(
    ("line", "more", "said", "odd"),
    [
        (b"5;noindex", frozenset(), [], [("not-a-product-token", 1, 0, 9)]),
        (b'"noindex, a";nofollow', frozenset(), [("noindex, a", "nofollow")], []),
        (b'"noindex a";nofollow', frozenset(), [("noindex a", "nofollow")], []),
        (b"foo;noindex", frozenset(), [("foo", "noindex")], []),
        (
            b"foo;noindex",
            FOO,
            [("*", "foo"), ("*", "noindex")],
            [("legacy-syntax", 1, 0, 11)],
        ),
        (
            b"max-snippet:x",
            frozenset(),
            [("*", "max-snippet")],
            [("legacy-syntax", 1, 0, 13), ("bad-value", 1, 0, 13)],
        ),
    ],
)
def test_names_that_are_rules(line: bytes, more: Any, said: Any, odd: Any) -> None:
    """No crawler is called by the name of a rule, but by a text with spaces or commas (AMB-72)."""
    found = parse_robots_tag([line], DEFAULT, more)
    assert [one[:2] for one in found.statements] == said
    assert [tuple(one) for one in found.notes] == odd


def test_lines_of_the_old_grammar_are_apart() -> None:
    """In the new field no line was joined, so no scope is wider; rules of a registry count."""
    found = parse_robots_tag([b"googlebot: noindex, nofollow", b"?"], BOTH)
    assert [one[:2] for one in found.statements] == [
        ("googlebot", "noindex"),
        ("googlebot", "nofollow"),
    ]
    assert [one.code for one in found.notes] == ["legacy-syntax", "salvaged"]
    assert [one.name for one in parse_robots_tag([b"foo x", b"?"], DEFAULT, FOO).statements] == [
        "foo"
    ]
    assert parse_robots_tag([b"foo x", b"?"], DEFAULT).statements == ()


def test_lines_that_a_string_joins() -> None:
    """A String may continue in the next line; that line alone is read as well."""
    for lines in ([b'a;x="', b'b;noindex, "'], [b'a;x="', b"b;noindex", b'"']):
        found = parse_robots_tag(lines, DEFAULT)
        assert found.error is None
        assert ("b", "noindex") in [one[:2] for one in found.statements]


def test_lines_behind_the_limit() -> None:
    """They are not read, and what is before them is."""
    lines = [b"? " + b"x" * 50, b"noindex, nofollow, ".ljust(LIMIT - 40) + b"x, noai, y", b"noml"]
    assert [one.name for one in parse_robots_tag(lines, SMALL).statements] == [
        "noindex",
        "nofollow",
    ]


def test_what_permits_in_a_field() -> None:
    """It counts where the grammar has it, and not in a field that fails or is cut (AMB-67)."""
    found = parse_robots_tag([b"a;max-image-preview=large, ;;"], DEFAULT)
    assert [(one.name, one.recovered) for one in found.statements] == [("max-image-preview", True)]
    found = parse_robots_tag([b"a;max-image-preview=large;noindex"], DEFAULT)
    assert [one.recovered for one in found.statements] == [False, False]
    assert [one.recovered for one in parse_x_robots_tag([b"index"], DEFAULT).statements] == [False]
    line = b"a;max-image-preview=large, ".ljust(LIMIT) + b"x, y"
    assert [one.recovered for one in parse_robots_tag([line], SMALL).statements] == [True]
    line = b"index, ".ljust(LIMIT) + b"x, y"
    for profile, recovered in ((DEFAULT, True), (STRICT, False)):
        small = profile.replace(max_field_bytes=LIMIT)
        found = parse_x_robots_tag([line], small)
        assert [(one.name, one.recovered) for one in found.statements] == [("index", recovered)]
