"""TDM Reservation Protocol: the file, the fields, the meta elements, and which supersedes which."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules._engine import engine, native
from robotrules.tags.tdm import (
    MAX_ENTRIES,
    MOST_OCTETS,
    TdmReservation,
    tdm_reservation,
)

URL = "https://example.com/a/x"
POLICY = "https://example.com/policy.json"


def entry(location: object = "/", value: object = 1, policy: object = None) -> dict[str, object]:
    """Return an entry of a tdmrep.json."""
    made = {"location": location, "tdm-reservation": value}
    return made if policy is None else made | {"tdm-policy": policy}


def in_file(*entries: object, url: str | bytes = URL) -> TdmReservation:
    """Return the result of a tdmrep.json with these entries for a URL."""
    return tdm_reservation(url, tdmrep=json.dumps(entries))


def codes(found: TdmReservation) -> list[tuple[str, str, int | None]]:
    """Return the notes."""
    return [(note.code, note.carrier, note.entry) for note in found.notes]


# --- Values ---------------------------------------------------------------------------------------


class TestValues:
    """`tdm-reservation` is 1 or 0; any other value counts as unset (TDM-01)."""

    @pytest.mark.parametrize(
        ("value", "reserved"), [("1", True), ("0", False), (" 1\t", True), ("1, 1", True)]
    )
    def test_texts(self, value: str, reserved: bool) -> None:
        """In a field and in an element it is the text 1 or 0."""
        assert tdm_reservation(URL, headers={"TDM-Reservation": value}) == (
            *(reserved, None, "field", ()),
        )

    @pytest.mark.parametrize(("value", "reserved"), [("1", True), ("0", False), ("\n1 ", True)])
    def test_elements(self, value: str, reserved: bool) -> None:
        """The name of an element is compared without case."""
        found = tdm_reservation(URL, metas=[("TDM-Reservation", value)])
        assert found == TdmReservation(reserved, None, "meta")

    @pytest.mark.parametrize(
        "value", ["true", "", "2", "01", "1.0", "-1", "yes", "1;x", "１", '"1"', "X1X", "\x0b1"]
    )
    def test_other_texts(self, value: str) -> None:
        """The example of the requirement, `true`, and its like."""
        field = tdm_reservation(URL, headers=[("tdm-reservation", value)])
        assert field[:3] == (None, None, None)
        assert codes(field) == [("bad-reservation", "field", None)]
        meta = tdm_reservation(URL, metas=[("tdm-reservation", value)])
        assert meta[:3] == (None, None, None)
        assert codes(meta) == [("bad-reservation", "meta", None)]

    @pytest.mark.parametrize(("value", "reserved"), [(1, True), (0, False)])
    def test_numbers(self, value: int, reserved: bool) -> None:
        """In the file it is a number."""
        assert in_file(entry(value=value)) == TdmReservation(reserved, None, "tdmrep.json")

    @pytest.mark.parametrize("value", ["1", "0", True, False, 1.0, 0.0, 2, -1, None, [1], {"a": 1}])
    def test_other_json(self, value: object) -> None:
        """A text, a boolean, a fraction: unset, with a note."""
        found = in_file(entry(value=value))
        assert found[:3] == (None, None, None)
        assert codes(found) == [("bad-reservation", "tdmrep.json", 1)]

    def test_no_statement(self) -> None:
        """Without a statement the result is unset."""
        assert tdm_reservation(URL) == TdmReservation(None, None, None)
        assert in_file() == TdmReservation(None, None, None)
        assert tdm_reservation(URL, headers={"A": "1"}, metas=[("robots", "1")]).reserved is None

    @pytest.mark.parametrize("lines", [["1", "0"], ["0", "1"], ["0, 1"]])
    def test_both(self, lines: list[str]) -> None:
        """Contradicting statements count as a reservation, and it is noted."""
        headers = [("tdm-reservation", line) for line in lines]
        found = tdm_reservation(URL, headers=headers)
        assert found.reserved is True
        assert codes(found) == [("two-reservations", "field", None)]
        metas = [("tdm-reservation", "0"), ("tdm-reservation", "1")]
        assert tdm_reservation(URL, metas=metas).reserved is True


class TestPolicy:
    """`tdm-policy` is an optional URL, not processed when the value is 0 (TDM-01)."""

    @pytest.mark.parametrize(("value", "kept"), [(1, POLICY), (0, None), ("1", None)])
    def test_only_where_reserved(self, value: Any, kept: str | None) -> None:
        """In the file."""
        assert in_file(entry(value=value, policy=POLICY)).policy == kept

    @pytest.mark.parametrize(("value", "kept"), [("1", POLICY), ("0", None), ("x", None)])
    def test_only_where_reserved_by_text(self, value: str, kept: str | None) -> None:
        """In fields and elements."""
        pairs = [("tdm-policy", f" {POLICY} "), ("tdm-reservation", value)]
        assert tdm_reservation(URL, headers=pairs).policy == kept
        assert tdm_reservation(URL, metas=pairs).policy == kept

    @pytest.mark.parametrize("policy", ["", " ", "a b", "a\nb", 5, True, [POLICY], "x" * 10_000])
    def test_invalid_urls(self, policy: Any) -> None:
        """The policy is not kept; the reservation is."""
        found = in_file(entry(policy=policy))
        assert (found.reserved, found.policy) == (True, None)
        assert codes(found) == [("bad-policy", "tdmrep.json", 1)]

    def test_what_just_fits(self) -> None:
        """So many characters, each of which is part of the URL."""
        for count, kept in ((8192, True), (8193, False)):
            policy = "x" * count
            assert in_file(entry(policy=policy)).policy == (policy if kept else None)
        for policy, is_kept in ((f"X{POLICY}X", True), (f"\u00a0{POLICY}", False)):
            pairs = [("tdm-policy", policy), ("tdm-reservation", "1")]
            assert tdm_reservation(URL, metas=pairs).policy == (policy if is_kept else None)

    def test_the_first_of_several(self) -> None:
        """An invalid element does not hide a valid one."""
        pairs = [("tdm-reservation", "1"), ("tdm-policy", ""), ("tdm-policy", POLICY)]
        found = tdm_reservation(URL, metas=[*pairs, ("tdm-policy", "https://example.com/2")])
        assert found.policy == POLICY
        assert codes(found) == [("bad-policy", "meta", None)]


# --- The file -------------------------------------------------------------------------------------


ODD_ENTRIES: tuple[object, ...] = (5, None, "x", [], [entry()], {}, True)
ODD_LOCATIONS: tuple[object, ...] = (5, None, ["/"], True)


class TestFile:
    """Patterns use `*` and `$`; the first match in sequence decides (TDM-02)."""

    def test_the_example_of_the_requirement(self) -> None:
        """/a/ is reserved, the rest is not."""
        entries = [entry("/a/", 1), entry("/", 0)]
        assert in_file(*entries, url="https://example.com/a/x").reserved is True
        assert in_file(*entries, url="https://example.com/b").reserved is False

    def test_the_first_and_not_the_longest(self) -> None:
        """Other than in a robots.txt."""
        entries = [entry("/", 0), entry("/a/", 1), entry("/a/x", 1)]
        assert in_file(*entries).reserved is False

    @pytest.mark.parametrize(
        ("location", "url", "matches"),
        [
            ("/", "https://example.com", True),
            ("/a", "/a/x", True),
            ("/a$", "/a", True),
            ("/a$", "/a/x", False),
            ("/*.jpg", "/b/c.jpg?size=1", True),
            ("/*.jpg$", "/b/c.jpg?size=1", False),
            ("*.jpg", "/b/c.jpg", True),
            ("*", "/b", True),
            ("/A", "/a", False),
            ("/é", "/%C3%A9", True),
            ("/%C3%A9", "/é", True),
            ("/robots.txt", "/robots.txt", True),
            ("/a?b", "/a?b=1", True),
        ],
    )
    def test_patterns(self, location: str, url: str, matches: bool) -> None:
        """They are compared as those of a robots.txt are."""
        assert in_file(entry(location), url=url).reserved is (True if matches else None)
        assert in_file(entry(location), url=url.encode()).reserved is (True if matches else None)

    def test_an_empty_match_decides(self) -> None:
        """It is the first match in sequence; its values are unset."""
        found = in_file(entry("/a/", "1"), entry("/", 1))
        assert found.reserved is None
        assert codes(found) == [("bad-reservation", "tdmrep.json", 1)]

    @pytest.mark.parametrize(
        ("odd", "code"),
        [
            *((odd, "bad-tdmrep-entry") for odd in ODD_ENTRIES),
            *((entry(odd), "bad-tdmrep-entry") for odd in ODD_LOCATIONS),
            *((entry(odd), "bad-location") for odd in ("", "a", "https://example.com/", " /")),
        ],
    )
    def test_invalid_entries_are_skipped(self, odd: object, code: str) -> None:
        """The others count, and are numbered as in the file."""
        found = in_file(odd, entry(value=0))
        assert found.reserved is False
        assert codes(found) == [(code, "tdmrep.json", 1)]

    @pytest.mark.parametrize(
        "text",
        [
            *(b"", b" ", b"{", b"[", b"null", b"1", b'"x"', b"{}", b"true", b"<html>", b"\xff\xfe"),
            b'{"location": "/", "tdm-reservation": 1}',
            b'[{"location": "/", "tdm-reservation": 1},]',
            b'[{"location": "/", "tdm-reservation": NaN}]',
            b'[{"location": "/", "tdm-reservation": 1}, Infinity]',
            b'[{"location": "/", "tdm-reservation": ' + b"1" * 5000 + b"}]",
            b'[{"location": "\xff", "tdm-reservation": 1}]',
            b"[" * 120_000,
            b"[" * 60_000 + b"]" * 60_000,
            b'{"a":' * 15_000 + b"1" + b"}" * 15_000,
        ],
    )
    def test_invalid_files(self, text: bytes) -> None:
        """With any content there is no error, and one note."""
        found = tdm_reservation(URL, tdmrep=text)
        assert found[:3] == (None, None, None)
        assert codes(found) == [("bad-tdmrep", "tdmrep.json", None)]

    @pytest.mark.parametrize(
        "text",
        [
            b'\xef\xbb\xbf[{"location": "/", "tdm-reservation": 1}]',
            '\ufeff[{"location": "/", "tdm-reservation": 1}]',
            '[{"location": "/", "tdm-reservation": 1}]'.encode("utf-16"),
            b' [ {"location" : "\\u002f" , "tdm-reservation":1, "more": [1, {}]} ] ',
        ],
    )
    def test_encodings(self, text: bytes | str) -> None:
        """A byte order mark and other members do not matter."""
        assert tdm_reservation(URL, tdmrep=text) == TdmReservation(True, None, "tdmrep.json")

    def test_a_member_twice(self) -> None:
        """The last counts, and it is noted."""
        text = '[{"location": "/", "tdm-reservation": 0, "tdm-reservation": 1}]'
        found = tdm_reservation(URL, tdmrep=text)
        assert found.reserved is True
        assert codes(found) == [("repeated-member", "tdmrep.json", 1)]

    def test_lone_surrogates(self) -> None:
        """JSON can name what no URL has."""
        text = r'[{"location": "/\ud800", "tdm-reservation": 1, "tdm-policy": "\ud800"}]'
        assert tdm_reservation("/%ED%A0%80", tdmrep=text).policy is None
        assert tdm_reservation("/b", tdmrep=text).reserved is None


class TestLimits:
    """A stranger's file has an end."""

    def test_entries(self) -> None:
        """Only so many are read, and it is noted."""
        entries = [entry("/b/", 0)] * (MAX_ENTRIES - 1)
        assert in_file(*entries, entry("/a/")) == TdmReservation(True, None, "tdmrep.json")
        found = in_file(*entries, entry("/b/"), entry("/a/"))
        assert found.reserved is None
        assert codes(found) == [("tdmrep-cut", "tdmrep.json", None)]

    def test_size(self) -> None:
        """A file over the limit is not read at all."""
        text = json.dumps([entry()]).encode()
        padded = text + b" " * (MOST_OCTETS - len(text))
        assert tdm_reservation(URL, tdmrep=padded).reserved is True
        found = tdm_reservation(URL, tdmrep=padded + b" ")
        assert found.reserved is None
        assert codes(found) == [("tdmrep-too-large", "tdmrep.json", None)]

    @pytest.mark.parametrize("location", ["/" + "*a" * 40 + "$", "/*", "/a" * 40, "/*a*b*c*d*e"])
    def test_cost(self, location: str) -> None:
        """Thousands of patterns against a long URL."""
        entries = [entry(location, 0, None)] * (MOST_OCTETS // (len(location) + 60) - 100)
        start = time.process_time()
        in_file(*entries[:MAX_ENTRIES], url="https://example.com/" + "a" * 2000 + "z")
        # The pure engine is for reading, and slower.
        assert time.process_time() - start < (2 if engine is native else 30)

    def test_cost_of_lines(self) -> None:
        """Fields and elements by the thousand."""
        start = time.process_time()
        pairs = [("tdm-reservation", "1,"), ("tdm-policy", "x")] * 50_000
        assert tdm_reservation(URL, headers=pairs, metas=pairs).reserved is True
        assert time.process_time() - start < 2


# --- Carriers -------------------------------------------------------------------------------------


class TestCarriers:
    """File, then field, then element; absence never resets (TDM-03)."""

    @pytest.mark.parametrize("file", [None, 0, 1])
    @pytest.mark.parametrize("field", [None, "0", "1", "x"])
    @pytest.mark.parametrize("meta", [None, "0", "1", "x"])
    def test_the_last_statement_counts(
        self, file: int | None, field: str | None, meta: str | None
    ) -> None:
        """Each of them, in all combinations."""
        found = tdm_reservation(
            URL,
            tdmrep=None if file is None else json.dumps([entry(value=file)]),
            headers=None if field is None else {"tdm-reservation": field},
            metas=[] if meta is None else [("tdm-reservation", meta)],
        )
        said = [
            (carrier, str(value) == "1")
            for carrier, value in (("tdmrep.json", file), ("field", field), ("meta", meta))
            if str(value) in ("0", "1")
        ]
        assert (found.carrier, found.reserved) == (said[-1] if said else (None, None))

    def test_the_examples_of_the_requirement(self) -> None:
        """File 1 and header 0 is 0; without the header it is 1."""
        file = json.dumps([entry()])
        assert tdm_reservation(URL, tdmrep=file, headers={"tdm-reservation": "0"}).reserved is False
        assert tdm_reservation(URL, tdmrep=file, headers={}).reserved is True

    def test_the_policy_by_itself(self) -> None:
        """A carrier without a policy leaves the earlier one, and one without a value names one."""
        file = json.dumps([entry(policy=POLICY)])
        kept = tdm_reservation(URL, tdmrep=file, headers={"tdm-reservation": "1"})
        assert (kept.policy, kept.carrier) == (POLICY, "field")
        newer = tdm_reservation(URL, tdmrep=file, metas=[("tdm-policy", "https://example.com/2")])
        assert (newer.policy, newer.carrier) == ("https://example.com/2", "tdmrep.json")

    def test_the_policy_beside_a_zero(self) -> None:
        """It is not processed, so a later 1 does not bring it back."""
        headers = {"tdm-reservation": "0", "tdm-policy": POLICY}
        found = tdm_reservation(URL, headers=headers, metas=[("tdm-reservation", "1")])
        assert (found.reserved, found.policy) == (True, None)


# --- Strangers and mistakes -----------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["location", "tdm-reservation", "tdm-policy", "x"]), inner, max_size=3
        )
    ),
    max_leaves=10,
)


class TestAnswers:
    """There is an answer to everything, and it is plain."""

    @given(JSON | st.lists(JSON))
    def test_no_json_raises(self, value: object) -> None:
        """With any JSON."""
        found = tdm_reservation(URL, tdmrep=json.dumps(value))
        assert found.reserved in (None, True, False)
        assert json.dumps(found.as_dict())

    @given(st.binary(max_size=60) | st.text(max_size=60))
    def test_no_text_raises(self, text: bytes | str) -> None:
        """With any octets."""
        tdm_reservation(URL, tdmrep=text, headers=[("tdm-reservation", text)])
        tdm_reservation(text)

    def test_as_dict(self) -> None:
        """It is JSON, notes included."""
        found = in_file(entry("x"), entry(policy=POLICY))
        assert json.loads(json.dumps(found.as_dict())) == {
            "reserved": True,
            "policy": POLICY,
            "carrier": "tdmrep.json",
            "notes": [
                {
                    "code": "bad-location",
                    "level": "error",
                    "carrier": "tdmrep.json",
                    "entry": 1,
                    "message": "The location is not a path pattern, so the entry is ignored.",
                }
            ],
        }

    @pytest.mark.parametrize(
        ("wrong", "cure"),
        [
            ({"tdmrep": [entry()]}, r"pass response\.content"),
            ({"headers": 5}, r"pass response\.headers"),
            ({"metas": ["tdm-reservation"]}, "pairs of name and content"),
            ({"url": 5}, "a URL is str or bytes"),
        ],
    )
    def test_misuse(self, wrong: dict[str, Any], cure: str) -> None:
        """Mistakes of the caller raise an error with a fix."""
        with pytest.raises(TypeError, match=cure):
            tdm_reservation(**{"url": URL} | wrong)


def test_the_most_entries() -> None:
    """What is behind them is not read, and that is noted."""
    last = entry("/a/", 1)
    for count, noted in ((MAX_ENTRIES - 1, False), (MAX_ENTRIES, True)):
        found = in_file(*[entry("/b/", 0)] * count, last)
        assert found.reserved is (None if noted else True)
        assert codes(found) == ([("tdmrep-cut", "tdmrep.json", None)] if noted else [])


def test_arguments_of_another_type() -> None:
    """The error states what to pass; a name that is not text is ignored."""
    given: Any = 5
    with pytest.raises(TypeError, match=r"\bint\b"):
        tdm_reservation(given)
    with pytest.raises(TypeError) as told:
        tdm_reservation(URL, tdmrep=given)
    assert str(told.value) == "a tdmrep.json is bytes or str, not int: pass response.content"
    for odd, name in ((5, "int"), (("a",), "tuple"), ("ab", "str")):
        given = [odd]
        with pytest.raises(TypeError) as told:
            tdm_reservation(URL, metas=given)
        assert str(told.value) == f"metas are pairs of name and content, not {name}"
    given = [(5, "1"), ("tdm-reservation", 1)]
    assert tdm_reservation(URL, metas=given) == TdmReservation(None, None, None)
