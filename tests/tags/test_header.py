"""Robots-Tag and X-Robots-Tag: rules of field lines, and for whom (draft-illyes-repext §3.1.1)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, ClassVar

import pytest

from robotrules.registries import parse_json
from robotrules.tags import DEFAULT, STRICT, read_robots_tag, usage_rules
from robotrules.tags.header import (
    MAX_CACHED_LENGTH,
    ParsedField,
    parse_robots_tag,
    parse_x_robots_tag,
)
from robotrules.tags.known_rules import ParsedValue, read_text
from robotrules.tags.profile import TagProfile

Pairs = list[tuple[str, str, Any]]


def said(field: ParsedField) -> Pairs:
    """Return the rules of each crawler."""
    return [(one.token, one.name, one.value) for one in field.statements]


def codes(field: ParsedField) -> list[str]:
    return [one.code for one in field.notes]


def new(*lines: bytes, profile: TagProfile = DEFAULT) -> ParsedField:
    return parse_robots_tag(lines, profile)


def old(*lines: bytes, profile: TagProfile = DEFAULT, apart: bool = True) -> ParsedField:
    return parse_x_robots_tag(lines, profile, apart=apart)


# --- Robots-Tag -----------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", [DEFAULT, STRICT])
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([b"a;noindex, b;nosnippet"], [("a", "noindex", True), ("b", "nosnippet", True)]),
        ([b"a;noindex;nosnippet"], [("a", "noindex", True), ("a", "nosnippet", True)]),
        ([b"*;noindex", b"A;nosnippet"], [("*", "noindex", True), ("a", "nosnippet", True)]),
        ([b'"_bot";noindex'], [("_bot", "noindex", True)]),
        ([b"a;max-snippet=20"], [("a", "max-snippet", 20)]),
        ([b"a;max-image-preview=Large"], [("a", "max-image-preview", "large")]),
        ([b'a;max-image-preview="none"'], [("a", "max-image-preview", "none")]),
        ([b"a;shiny"], [("a", "shiny", True)]),
        ([b"a"], []),
        ([b"\tx;noindex "], [("x", "noindex", True)]),
        ([], []),
    ],
)
def test_members_name_crawlers_and_their_parameters_are_rules(
    lines: list[bytes], expected: Pairs, profile: TagProfile
) -> None:
    """What follows the grammar is read alike by every profile (RTG-3.1.1-01 to -12)."""
    assert said(new(*lines, profile=profile)) == expected


@pytest.mark.parametrize("member", [b"5;noindex", b"(a b);noindex", b"@1;noindex", b'"";noindex'])
def test_other_members_name_no_crawler(member: bytes) -> None:
    """A member that is not a Token or a String is ignored, and the rest is kept (AMB-76)."""
    field = new(member + b", a;nosnippet", profile=STRICT)
    assert said(field) == [("a", "nosnippet", True)]
    assert codes(field) == ["not-a-product-token"]


@pytest.mark.parametrize(
    ("value", "expected", "noted"),
    [
        (b"a;noindex=?0", None, []),
        (b"a;noindex;noindex=?0", None, []),
        (b"a;noindex=?0;noindex", True, []),
        (b"a;noindex=1", True, ["value-not-used"]),
        (b'a;noindex="yes"', True, ["value-not-used"]),
        (b"a;max-snippet", None, ["bad-value"]),
        (b"a;max-snippet=-2", None, ["bad-value"]),
        (b"a;max-snippet=1.5", None, ["bad-value"]),
        (b"a;max-image-preview=huge", None, ["bad-value"]),
        (b"a;unavailable_after=@0", datetime(1970, 1, 1, tzinfo=UTC), []),
        (b'a;unavailable_after="2020-09-21"', datetime(2020, 9, 21, 23, 59, 59, tzinfo=UTC), []),
        (b"a;unavailable_after=soon", None, ["bad-value"]),
    ],
)
def test_values_of_parameters(value: bytes, expected: Any, noted: list[str]) -> None:
    """False is not an instruction; the last of two counts; an unused value is noted."""
    field = new(value)
    assert [one.value for one in field.statements] == [expected]
    assert [code for code in codes(field) if code != "unknown-zone"] == noted


@pytest.mark.parametrize(
    ("lines", "tolerant", "noted"),
    [
        ([b"a;NoIndex"], [("a", "noindex", True)], ["uppercase-key"]),
        ([b"a;noindex, b ;x"], [("a", "noindex", True)], ["salvaged"]),
        ([b"a;noindex,"], [("a", "noindex", True)], ["salvaged"]),
        ([b"a;noindex, b;nosnippet;"], [("a", "noindex", True)], ["salvaged"]),
        ([b"a;noindex;"], [], ["bad-field"]),
        ([b"bad one", b"a;noindex"], [("a", "noindex", True)], ["salvaged"]),
        ([b'a;noindex, "open, b;nosnippet'], [("a", "noindex", True)], ["salvaged"]),
        ([b"googlebot: noindex"], [("googlebot", "noindex", True)], ["legacy-syntax", "salvaged"]),
        ([b"\xff"], [], ["bad-field"]),
        ([b"a;noindex, b;x=@99999999999999"], [("a", "noindex", True)], ["salvaged"]),
    ],
)
def test_a_field_that_fails(lines: list[bytes], tolerant: Pairs, noted: list[str]) -> None:
    """Strict ignores the whole field; others keep what is whole before the failure (AMB-67)."""
    assert said(new(*lines)) == tolerant
    assert codes(new(*lines)) == noted
    strict = new(*lines, profile=STRICT)
    assert said(strict) == []
    assert codes(strict) == ["bad-field"]
    assert strict.error


def test_empty_lines_are_skipped_unless_strict() -> None:
    """AMB-70."""
    assert said(new(b"a;noindex", b"", b"a;nosnippet")) == [
        ("a", "noindex", True),
        ("a", "nosnippet", True),
    ]
    assert said(new(b"a;noindex", b"", b"b;noindex", profile=STRICT)) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"noindex", [("*", "noindex", True)]),
        (b"noindex, NoFollow", [("*", "noindex", True), ("*", "nofollow", True)]),
        (b"max-snippet:20", [("*", "max-snippet", 20)]),
        (b"none", [("*", "noindex", True), ("*", "nofollow", True)]),
        (b"ExampleBot", []),
        (b"noindex;nosnippet", [("*", "noindex", True), ("*", "nosnippet", True)]),
        (b"Googlebot:noindex", [("googlebot", "noindex", True)]),
    ],
)
def test_legacy_text_in_the_new_field(value: bytes, expected: Pairs) -> None:
    """A member without rules that is a rule itself was meant as one (AMB-72)."""
    assert said(new(value)) == expected
    assert ("legacy-syntax" in codes(new(value))) == bool(expected)
    assert [one for one in said(new(value, profile=STRICT)) if one[0] == "*"] == []


def test_the_position_of_a_rule() -> None:
    """A rule has its line and the span of its member there."""
    field = new(b"a;noindex,  b;nosnippet", b"", b" c;noindex")
    assert [(one.line, one.start, one.end) for one in field.statements] == [
        (1, 0, 9),
        (1, 12, 23),
        (3, 0, 9),
    ]


# --- The limit ------------------------------------------------------------------------------------

MEMBER = b"ExampleBot;noindex"


@pytest.mark.parametrize("limit", [8192, 16384])
@pytest.mark.parametrize("profile", [DEFAULT, STRICT])
def test_every_octet_around_the_limit(limit: int, profile: TagProfile) -> None:
    """
    A member counts if its comma is within the limit, or the field ends within it (AMB-68).

    The member is moved over the limit octet by octet, once as the last and once with another after
    it; the one after it never counts, and no cut member looks complete.
    """
    profile = profile.replace(max_field_bytes=limit)
    for end in range(limit - len(MEMBER) - 3, limit + len(MEMBER) + 3):
        filler = b"x;nosnippet, " + b'f;y="' + b"," * (end - len(MEMBER) - 21) + b'", '
        value = filler + MEMBER
        assert len(value) == end
        last = new(value, profile=profile)
        assert (("examplebot", "noindex", True) in said(last)) == (end <= limit)
        assert ("field-cut" in codes(last)) == (end > limit)
        more = new(value + b", z;noindex" + b", q" * 9, profile=profile)
        # Its comma is the octet after it.
        assert (("examplebot", "noindex", True) in said(more)) == (end + 1 <= limit)
        for field in (last, more):
            assert ("x", "nosnippet", True) in said(field)
            assert {name for _, name, _ in said(field)} <= {"noindex", "nosnippet", "y"}


def test_commas_in_strings_and_inner_lists_do_not_end_a_member() -> None:
    """A member with a cut inside a String or an Inner List is removed."""
    profile = DEFAULT.replace(max_field_bytes=8192)
    for opened in (b'"', b'(a "', b"("):
        value = b"a;noindex, " + opened + b"a, " * 4000
        assert said(new(value, profile=profile)) == [("a", "noindex", True)]


def test_lines_are_one_value_for_the_limit() -> None:
    """The limit is for the combined field (AMB-69)."""
    profile = DEFAULT.replace(max_field_bytes=8192)
    lines = [b"a;noindex"] * 745 + [b"b;noindex"]  # 746 lines of 9 and a separator of 2: 8,204
    assert ("b", "noindex", True) not in said(new(*lines, profile=profile))
    assert ("b", "noindex", True) in said(new(*lines[2:], profile=profile))


def test_thousands_of_members_count() -> None:
    """Every complete member within the limit is honoured (RTG-3.1.1-16), whatever their number."""
    assert len(new(b", ".join([b"a;noindex"] * 1489)).statements) == 1489


def test_a_cut_field_without_commas() -> None:
    assert said(new(b"a" * 20_000 + b";noindex")) == []
    assert said(old(b"noindex" * 9_000)) == []


# --- X-Robots-Tag ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"noindex, nofollow", [("*", "noindex", True), ("*", "nofollow", True)]),
        (b"GoogleBot: NoFollow", [("googlebot", "nofollow", True)]),
        (
            b"BadBot: noindex, nofollow, googlebot: nofollow",
            [
                ("badbot", "noindex", True),
                ("badbot", "nofollow", True),
                ("googlebot", "nofollow", True),
            ],
        ),
        (b"max-snippet: 20, noindex", [("*", "max-snippet", 20), ("*", "noindex", True)]),
        (b"googlebot: max-snippet:20", [("googlebot", "max-snippet", 20)]),
        (b"googlebot:, noindex", [("googlebot", "noindex", True)]),
        (b"max-new:20, noindex", [("*", "max-new", True), ("*", "noindex", True)]),
        (b"noindex: googlebot", [("*", "noindex", True)]),
        (b"noai noimageai", [("*", "noai", True), ("*", "noimageai", True)]),
        (b"a: noai noimageai", [("a", "noai", True), ("a", "noimageai", True)]),
        (b"max-snippet:5 max-image-preview: none", [
            ("*", "max-snippet", 5),
            ("*", "max-image-preview", "none"),
        ]),
        (b" ,, ,", []),
        (b":", []),
        (b"none", [("*", "noindex", True), ("*", "nofollow", True)]),
    ],
)  # fmt: skip
def test_the_old_grammar(line: bytes, expected: Pairs) -> None:
    """XRT-01 to XRT-11, AMB-82."""
    assert said(old(line)) == expected
    assert codes(old(line))[0] == "deprecated-field"


@pytest.mark.parametrize(
    ("line", "moment", "others"),
    [
        (b"unavailable_after: 25 Jun 2010 15:00:00 PST", datetime(2010, 6, 25, 23), []),
        (b"Unavailable_After:2020-09-21", datetime(2020, 9, 21, 23, 59, 59), []),
        (
            b"unavailable_after: Wed, 03 Dec 2025 13:09:53 GMT, noarchive",
            datetime(2025, 12, 3, 13, 9, 53),
            ["noarchive"],
        ),
        (
            b"noindex, unavailable_after: Wednesday, 03-Dec-25 13:09:53 GMT",
            datetime(2025, 12, 3, 13, 9, 53),
            ["noindex"],
        ),
        (
            b"noai unavailable_after: Wed, 03 Dec 2025 13:09:53 GMT",
            datetime(2025, 12, 3, 13, 9, 53),
            ["noai"],
        ),
    ],
)
def test_a_date_keeps_its_comma(line: bytes, moment: datetime, others: list[str]) -> None:
    """XRT-12, XRT-13, AMB-83."""
    found = {name: value for _, name, value in said(old(line))}
    assert found.pop("unavailable_after") == moment.replace(tzinfo=UTC)
    assert list(found) == others


@pytest.mark.parametrize("date", [b"soon", b"", b"Wed", b"Wed, ", b"2020-13-45"])
def test_invalid_dates_are_not_used(date: bytes) -> None:
    field = old(b"unavailable_after: " + date)
    assert [one.value for one in field.statements if one.name == "unavailable_after"] == [None]
    assert "bad-value" in codes(field)


def test_the_new_grammar_under_the_old_name() -> None:
    """A semicolon and a known rule as a parameter: then it is a Structured Field (AMB-73)."""
    field = old(b"*;noindex, ExampleBot;NoSnippet", b"nofollow")
    assert said(field) == [
        ("*", "noindex", True),
        ("examplebot", "nosnippet", True),
        ("*", "nofollow", True),
    ]
    assert "structured-legacy-field" in codes(field)
    assert said(old(b"noindex; x")) == [("*", "noindex;", True), ("*", "x", True)]


def test_the_scope_of_a_joined_line() -> None:
    """The text after the comma of a scoped line may have been a separate line (AMB-82)."""
    joined = b"otherbot: nofollow, noindex"
    assert "scope-may-be-wider" not in codes(old(joined))
    assert "scope-may-be-wider" in codes(old(joined, apart=False))
    assert ("*", "noindex", True) not in said(old(joined, apart=False))
    both = DEFAULT.replace(scope_both=True)
    assert ("*", "noindex", True) in said(old(joined, profile=both, apart=False))
    assert ("*", "nofollow", True) not in said(old(joined, profile=both, apart=False))
    assert ("*", "noindex", True) not in said(old(joined, profile=both))


@pytest.mark.parametrize("end", range(8192 - 12, 8192 + 12))
def test_the_limit_of_the_old_field(end: int) -> None:
    """A word that is cut is not used, and neither is anything after it."""
    profile = DEFAULT.replace(max_field_bytes=8192)
    value = b"nosnippet," + b"x" * (end - 18) + b",noindex"
    assert len(value) == end
    assert (("*", "noindex", True) in said(old(value, profile=profile))) == (end <= 8192)
    cut = old(value + b", nofollow", profile=profile)
    assert (("*", "noindex", True) in said(cut)) == (end + 1 <= 8192)
    assert ("*", "nosnippet", True) in said(cut)
    lines = old(b"nosnippet", b"y" * (end - 11), b"noindex", profile=profile)
    assert (("*", "noindex", True) in said(lines)) == (end + 9 <= 8192)


# --- What is kept ---------------------------------------------------------------------------------


def test_short_values_are_read_once_and_long_ones_are_not_kept() -> None:
    """A crawl sees the same few values millions of times; strangers cannot fill the memory."""
    assert new(b"a;noindex") is new(b"a;noindex")
    assert new(b"a;noindex") is not new(b"a;noindex", profile=STRICT)
    long = b"a;noindex, " * (MAX_CACHED_LENGTH // 8) + b"b;noindex"
    assert new(long) == new(long)
    assert new(long) is not new(long)


def test_the_public_reader() -> None:
    """`read_robots_tag` takes one value or its lines, text or octets."""
    for given in ("a;noindex", b"a;noindex", ["a;noindex"], [b"a;noindex"]):
        assert said(read_robots_tag(given)) == [("a", "noindex", True)]
    assert read_robots_tag("a;NoIndex", "strict").error


class TestRecoveredLines:
    """The rules of an invalid field, line by line and word by word."""

    ENTRY: ClassVar = {"name": "shiny", "description": "Be shiny.", "reference": "here"}
    REGISTRY = parse_json(json.dumps({"tag_rules": {"entries": [ENTRY]}}))

    def test_empty_members_are_passed_over(self) -> None:
        assert usage_rules(headers=[("Robots-Tag", ",,*;noindex")]).rules == {"noindex": True}

    def test_line_of_a_note(self) -> None:
        found = usage_rules(headers=[("Robots-Tag", "*;a="), ("Robots-Tag", "a b, noindex")])
        [source] = [one.source for one in found.notes if one.code == "legacy-syntax"]
        assert source is not None
        assert (source.line, found.rules) == (2, {"noindex": True})

    def test_member_that_names_no_crawler(self) -> None:
        found = usage_rules(headers=[("Robots-Tag", "("), ("Robots-Tag", "5;noindex, *;nofollow")])
        assert found.rules == {"nofollow": True}
        assert "not-a-product-token" in [one.code for one in found.notes]

    def test_old_words_that_just_fit(self) -> None:
        """A line of as many octets as are read is whole, and one of more is cut."""
        line = "a b, " + "x" * (8192 - 14) + ", noindex"
        profile = DEFAULT.replace(max_field_bytes=8192)
        assert len(line) == 8192
        fits = usage_rules(headers=[("Robots-Tag", line)], profile=profile)
        assert (fits.rules, fits.complete) == ({"noindex": True}, True)
        cut = usage_rules(headers=[("Robots-Tag", f"{line}x")], profile=profile)
        assert (cut.rules, cut.complete) == ({}, False)

    def test_cut_members_in_the_old_field(self) -> None:
        line = "*;noindex, " + "a;b, " * 3_000 + "*;nofollow"
        for profile in ("default", "strict"):
            found = usage_rules(headers=[("X-Robots-Tag", line * 2)], profile=profile)
            assert (found.rules, found.complete) == ({"noindex": True}, False)

    @pytest.mark.parametrize("line", ["*;shiny;indexifembedded", "x, *;shiny;indexifembedded"])
    def test_registered_rules(self, line: str) -> None:
        """A rule that a registry adds identifies the new grammar in the old field."""
        found = usage_rules(headers=[("X-Robots-Tag", line)], registries=self.REGISTRY)
        assert found.rules["shiny"] is True

    @pytest.mark.parametrize(
        ("line", "rules"),
        [
            ("unavailable_after: 2020-09-21 10:00:00 noindex", {"noindex", "unavailable_after"}),
            ("unavailable_after: 2020-09-21 max-snippet:5", {"max-snippet", "unavailable_after"}),
            ("unavailable_after: 2020-09-21 10:00:00 UTC", {"unavailable_after"}),
            ("unavailable_after: 2020-09-21\xa0", set()),
            ("unavailable_after: 2020-09-21\xa0 noindex", {"noindex"}),
        ],
    )
    def test_words_behind_a_date(self, line: str, rules: set[str]) -> None:
        """The name of a rule is not a zone, and whitespace is that of HTTP and HTML."""
        assert set(usage_rules(headers=[("X-Robots-Tag", line.encode("latin-1"))]).rules) == rules

    @pytest.mark.parametrize("text", ["x", "-2", "1" * 19, ""])
    def test_numbers_that_are_none(self, text: str) -> None:
        assert read_text("max-snippet", text) == ParsedValue(None, "bad-value")
