"""
Structured Fields (RFC 9651) through our surface: strict, typed, bounded, and never an exception.

The section of each test is one of RFC 9651. That http-sf passes the suite of the HTTP working group
is its own business; what counts here is that nothing between it and a reader bends the grammar.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import http_sf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules.http.structured_fields import (
    MAX_BYTES,
    MAX_MEMBERS,
    MAX_PARAMETERS,
    is_token,
    parse_dictionary,
    parse_list,
    serialise,
    to_plain_value,
    value_type,
)


def members(text: str) -> list[tuple[Any, dict[str, Any]]]:
    """Return the members of a List that parses."""
    parsed = parse_list(text.encode())
    assert parsed.error is None
    assert parsed.position is None
    return [(member, dict(parameters)) for member, parameters in parsed.value]


def fails(text: str | bytes, parse: Any = parse_list) -> Any:
    """Return the message for a value that does not parse."""
    octets = text if isinstance(text, bytes) else text.encode()
    parsed = parse(octets)
    assert parsed.value is None
    assert parsed.error
    assert parsed.position is None or 0 <= parsed.position <= len(octets)
    return parsed


class TestGrammar:
    """What is not the grammar is a failure of the whole value (§4.2)."""

    @pytest.mark.parametrize("text", ["a, b,", "a,", ",", "a,,b", "a, b, ", "a ,", ",a"])
    def test_commas(self, text: str) -> None:
        """A trailing comma is a failure, and so is one with nothing beside it (SF-4.2.1-01)."""
        fails(text)

    def test_commas_in_a_dictionary(self) -> None:
        """The same in a Dictionary."""
        fails("a=1,", parse_dictionary)
        fails(",a=1", parse_dictionary)

    @pytest.mark.parametrize(
        "text", ["a;", "a;b=1;", "a ;b", "a;b =1", "a;b= 1", "a;=1", "a;b=", "a\t;b", "a;\tb"]
    )
    def test_parameters(self, text: str) -> None:
        """A trailing `;`, and space before `;` or around `=`, are failures (SF-4.2.3.2-01)."""
        fails(text)

    def test_space_after_the_semicolon(self) -> None:
        """Space may follow a `;`, and space or tab may surround a comma."""
        assert members("a; b;  c=1") == [("a", {"b": True, "c": 1})]
        assert members("a\t,\tb , c") == [("a", {}), ("b", {}), ("c", {})]

    def test_a_parameter_without_value_is_true(self) -> None:
        """It is Boolean true, and not text (SF-3.1.2-02)."""
        ((_, parameters),) = members("a;noindex")
        assert parameters["noindex"] is True

    @pytest.mark.parametrize("text", ["a;b=1;b=2", "a;b;b=?0;b=2", 'a;b="1";b=2'])
    def test_the_last_of_duplicate_parameters_counts(self, text: str) -> None:
        """The last value of a key overwrites those before it (SF-4.2.3.2-02)."""
        assert members(text) == [("a", {"b": 2})]

    def test_an_overwritten_parameter_keeps_its_place(self) -> None:
        """Its value is overwritten in place (§4.2.3.2 step 7)."""
        ((_, parameters),) = members("a;b=1;c;b=2")
        assert list(parameters) == ["b", "c"]

    def test_the_last_of_duplicate_keys_counts(self) -> None:
        """In a Dictionary too, with its parameters (§4.2.2)."""
        assert parse_dictionary(b"a=1;x, b, a=2").value == {"a": (2, {}), "b": (True, {})}

    @pytest.mark.parametrize("key", ["NoIndex", "noIndex", "1a", "-a", "_a", ".a", "é", ""])
    def test_keys_are_lower_case(self, key: str) -> None:
        """A key starts with a lower-case letter or `*` and has no upper case (SF-3.1.2-01)."""
        fails(f"a;{key}")
        if key:
            fails(f"{key}=1", parse_dictionary)

    @pytest.mark.parametrize("key", ["max-snippet", "unavailable_after", "*", "a.b", "a1", "*a*"])
    def test_keys(self, key: str) -> None:
        """Letters, digits, `_`, `-`, `.` and `*` may follow."""
        assert members(f"a;{key}=1") == [("a", {key: 1})]

    @pytest.mark.parametrize("token", ["a", "A", "*", "a:b", "a/b", "ExampleBot/1.0", "a!#$%&'*+"])
    def test_tokens(self, token: str) -> None:
        """A Token starts with a letter or `*`, and keeps its case (SF-3.3.4-01)."""
        ((member, _),) = members(token)
        assert is_token(member)
        assert str(member) == token

    @pytest.mark.parametrize(
        "text", ["_bot", "-a", "/a", "googlebot: noindex", "a b", "a=1", "'a'"]
    )
    def test_no_tokens(self, text: str) -> None:
        """Another start, or content after a space, is not a List (SF-3.3.4-01)."""
        fails(text)

    def test_nothing(self) -> None:
        """Nothing at all is a List and a Dictionary without members (§4.2)."""
        assert parse_list(b"").value == []
        assert parse_dictionary(b"").value == {}

    def test_field_lines_are_joined(self) -> None:
        """Lines of a field are joined with commas; an empty one between is a failure (§4.2)."""
        assert [member for member, _ in members(", ".join(["a;x", "b"]))] == ["a", "b"]
        fails(", ".join(["1", "", "42"]))

    @pytest.mark.parametrize("octets", [b"\xff", b'a;b="\xc3\xa9"', b"a\x00", b"a;\x7f", b"\xef"])
    def test_octets_beyond_ascii(self, octets: bytes) -> None:
        """Structured Fields are ASCII; a text with more is a Display String (§3.3.8)."""
        fails(octets)


VALUES = [
    ("?0", "Boolean", False, False),
    ("?1", "Boolean", True, True),
    ("5", "Integer", 5, 5),
    ("-999999999999999", "Integer", -999999999999999, -999999999999999),
    ("0.5", "Decimal", Decimal("0.5"), 0.5),
    ("1.0", "Decimal", Decimal(1), 1.0),
    ('"s"', "String", "s", "s"),
    (r'"\"\\"', "String", '"\\', '"\\'),
    ("tok", "Token", "tok", "tok"),
    (":AQ==:", "Byte Sequence", b"\x01", "AQ=="),
    ("::", "Byte Sequence", b"", ""),
    ("@0", "Date", datetime(1970, 1, 1, tzinfo=UTC), 0),
    ("@-1", "Date", datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC), -1),
    ('%"f%c3%bc"', "Display String", "fü", "fü"),
]


class TestTypes:
    """The eight types of §3.3, each distinguished from the others."""

    @pytest.mark.parametrize(("text", "kind", "value", "json_value"), VALUES)
    def test_values(self, text: str, kind: str, value: Any, json_value: Any) -> None:
        """A value has its type, its Python value, its text again, and a value for JSON."""
        ((_, parameters),) = members(f"a;b={text}")
        found = parameters["b"]
        assert value_type(found) == kind
        assert found == value
        assert serialise(found) == text
        assert to_plain_value(found) == json_value
        assert json.loads(json.dumps(to_plain_value(found))) == json_value

    def test_a_token_is_not_a_string(self) -> None:
        """`a` and `"a"` differ in type."""
        ((token, _), (text, _)) = members('a, "a"')
        assert (value_type(token), value_type(text)) == ("Token", "String")
        assert is_token(token)
        assert not is_token(text)

    def test_an_inner_list_is_not_an_item(self) -> None:
        """An Inner List is none of the eight, and its members keep their values (§3.1.1)."""
        ((member, parameters),) = members("(a 1;x);b")
        assert value_type(member) == "Inner List"
        assert not is_token(member)
        assert to_plain_value(member) == ["a", 1]
        assert parameters == {"b": True}
        assert to_plain_value([http_sf.Token("a"), b"\x01"]) == ["a", "AQ=="]  # made by hand

    @pytest.mark.parametrize("seconds", [-62_135_596_800, 253_402_214_400, 1_735_689_600])
    def test_dates(self, seconds: int) -> None:
        """Dates of the years 1 to 9999 are read (§3.3.7, SF-3.3.7-01)."""
        ((_, parameters),) = members(f"a;unavailable_after=@{seconds}")
        assert value_type(parameters["unavailable_after"]) == "Date"
        assert to_plain_value(parameters["unavailable_after"]) == seconds

    @pytest.mark.parametrize("text", ["@", "@1.5", "@a", "@999999999999999", "@-999999999999999"])
    def test_no_dates(self, text: str) -> None:
        """A date with a fraction, or past the year 9999, is a failure and no exception."""
        fails(f"a;b={text}")

    @pytest.mark.parametrize(
        "text",
        [
            "1000000000000000",
            "1.",
            ".5",
            "1.2345",
            "--1",
            "?2",
            "?",
            '"a',
            '%"%C3%BC"',
            ":a",
            ":*:",
        ],
    )
    def test_no_values(self, text: str) -> None:
        """Integers of sixteen digits, upper-case escapes, open strings: failures (§4.2.3.1)."""
        fails(f"a;b={text}")


class TestLimits:
    """As much as §3.1 and §3.2 require is read; larger input is bounded."""

    def test_members(self) -> None:
        """1,024 members are read, one more is not (SF-3-01)."""
        assert len(members(",".join(["a"] * 1024))) == 1024 == MAX_MEMBERS
        assert fails(",".join(["a"] * 1025)).too_large

    def test_keys_of_a_dictionary(self) -> None:
        """1,024 keys of a Dictionary are read; a key that is written again is not another."""
        keys = [f"k{number}" for number in range(1024)]
        assert len(parse_dictionary(",".join(keys + keys).encode()).value) == 1024
        assert fails(",".join([*keys, "z"]), parse_dictionary).too_large

    def test_parameters(self) -> None:
        """256 parameters of a member are read, one more is not."""
        keys = [f";k{number}" for number in range(256)]
        ((_, parameters),) = members("a" + "".join(keys))
        assert len(parameters) == 256 == MAX_PARAMETERS
        assert fails("a" + "".join([*keys, ";z"])).too_large

    def test_octets(self) -> None:
        """A value longer than a file may be is not looked at."""
        assert fails(b"a" * (MAX_BYTES + 1)).too_large
        assert len(str(members("a" * MAX_BYTES)[0][0])) == MAX_BYTES

    @pytest.mark.parametrize(
        "text",
        ["(" * 100_000, ";a" * 100_000, "a" + ";" * 100_000, '"' + "\\" * 100_000, ":" * 99_999],
        ids=["parentheses", "parameters", "semicolons", "backslashes", "colons"],
    )
    def test_hostile_values(self, text: str) -> None:
        """Depth, length and repetition end in a failure, soon."""
        fails(text)

    @pytest.mark.parametrize("error", [OverflowError, ValueError("odd"), RecursionError])
    def test_whatever_the_parser_thinks_of(
        self, monkeypatch: pytest.MonkeyPatch, error: Any
    ) -> None:
        """An internal error that http-sf lets through is a failure too."""

        def parse(*_: Any, **__: Any) -> None:
            raise error

        monkeypatch.setattr(http_sf, "parse", parse)
        fails("a")

    def test_not_octets(self) -> None:
        """Text is not octets: that is the caller's mistake, and the error contains the fix."""
        with pytest.raises(TypeError, match="encode"):
            parse_list("a")  # type: ignore[arg-type]


KEYS = st.from_regex(r"[a-z*][a-z0-9_.*-]{0,6}", fullmatch=True)
TOKENS = st.from_regex(r"[A-Za-z*][A-Za-z0-9:/!#$%&'*+.^_`|~-]{0,6}", fullmatch=True)
ITEMS = st.one_of(
    st.booleans(),
    st.integers(-999_999_999_999_999, 999_999_999_999_999),
    st.decimals(-999_999_999_999, 999_999_999_999, places=3),
    st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=8),
    TOKENS.map(http_sf.Token),
    st.binary(max_size=8),
    st.integers(-62_135_596_800, 253_402_214_400).map(lambda s: datetime.fromtimestamp(s, UTC)),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8).map(http_sf.DisplayString),
)


class TestProperties:
    """Reading is total, and what is written is read back."""

    @given(st.binary(max_size=40))
    def test_any_octets(self, octets: bytes) -> None:
        """Every octet string is read or is a failure with its position inside."""
        for parse in (parse_list, parse_dictionary):
            parsed = parse(octets)
            assert (parsed.error is None) == (parsed.value is not None)
            if parsed.error is None:
                json.dumps([to_plain_value(value) for value, _ in _iterate_pairs(parsed.value)])
            else:
                fails(octets, parse)

    @given(st.text(st.sampled_from('aB1*;=,?@:%"\\()- \t.#/'), max_size=30))
    def test_near_the_grammar(self, text: str) -> None:
        """What nearly is a List is one or none, and the answer for it is http-sf's."""
        parsed = parse_list(text.encode())
        try:
            theirs = http_sf.parse(text.encode(), tltype="list")
        except ValueError:
            assert parsed.error
        else:
            assert parsed.value == theirs

    @given(st.lists(st.tuples(TOKENS.map(http_sf.Token), st.dictionaries(KEYS, ITEMS)), min_size=1))
    def test_what_is_written_is_read_back(self, value: list[tuple[Any, dict[str, Any]]]) -> None:
        """A List that is serialised parses to itself, types included (§4.1)."""
        parsed = parse_list(serialise(value).encode())
        assert parsed.value == value
        for (_, ours), (_, theirs) in zip(parsed.value, value, strict=True):
            assert [value_type(one) for one in ours.values()] == list(
                map(value_type, theirs.values())
            )


def _iterate_pairs(value: Any) -> list[tuple[Any, Any]]:
    return list(value.values()) if isinstance(value, dict) else value
