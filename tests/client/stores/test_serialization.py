"""Rows: written values are read back to the octet, and anything else is an invalid row."""

from __future__ import annotations

import json
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules.access import FailureReason
from robotrules.cache import Entry, FetchRecord, body_digest, updated_entry
from robotrules.client.stores import serialization
from tests.client.stores.sample_records import BODY, made
from tests.client.stores.strategies import ENTRIES, VISITS

# Values of other types that the test puts in the place of a value.
FITS = {
    **dict.fromkeys(("origin", "agent", "user_agent", "detail", "url"), ("str",)),
    **dict.fromkeys(("at", "until"), ("int", "float")),
    **dict.fromkeys(("digest", "address"), ("str", "NoneType")),
    **dict.fromkeys(("complete", "renewed", "may_store"), ("bool",)),
    "status": ("int", "NoneType"),
    "trouble": ("NoneType",),
    "size": ("int",),
}


class TestRoundTrip:
    """A row gives back what was written, whatever that was."""

    @given(ENTRIES)
    def test_entries(self, entry: Entry) -> None:
        """Every entry: infinity, no value, all code points, all octets."""
        row = serialization.serialize_entry(entry)
        assert serialization.parse_entry(row) == entry
        assert serialization.parse_record(row) is None

    @given(VISITS)
    def test_fetches(self, fetch_record: FetchRecord) -> None:
        """Every fetch record, and its parts have their original types."""
        row = serialization.serialize_record(fetch_record)
        found = serialization.parse_record(row)
        assert found == fetch_record
        assert repr(found) == repr(fetch_record)
        assert serialization.parse_entry(row) is None

    def test_values_have_their_types(self) -> None:
        """Plain texts would compare equal to what they are read as."""
        found = serialization.parse_record(serialization.serialize_record(made(body=None)))
        assert found is not None
        assert (type(found.failure_reason), type(found.hops), type(found.hops[0]).__name__) == (
            FailureReason,
            tuple,
            "Hop",
        )
        assert found.until == inf

    def test_long_rows_are_read_too(self) -> None:
        """What is too long to be remembered is read each time."""
        entry = updated_entry(None, made(detail="x" * 20_000))
        row = serialization.serialize_entry(entry)
        assert serialization.parse_entry(row) == entry
        assert serialization.parse_entry(row[:-1]) is None

    @pytest.mark.parametrize("fetch_record", [made(nan), made(until=nan)], ids=["at", "until"])
    def test_no_time(self, fetch_record: FetchRecord) -> None:
        """What is not a number has no place in an order."""
        with pytest.raises(ValueError, match="NaN"):
            serialization.serialize_record(fetch_record)

    def test_a_row_is_json(self) -> None:
        """Others can read it."""
        row = serialization.serialize_record(made(body=None))
        word, _, text = row.split(b" ", 2)
        assert word == b"visit/1"
        assert json.loads(text)["until"] == "inf"


class TestDamage:
    """What is not what was written is None, and never another value."""

    ENTRY = serialization.serialize_entry(
        updated_entry(updated_entry(None, made()), made(body=None))
    )
    VISIT = serialization.serialize_record(made())

    def test_every_truncation(self) -> None:
        """Each prefix, and each row with something behind it."""
        for row, read in (
            (self.ENTRY, serialization.parse_entry),
            (self.VISIT, serialization.parse_record),
        ):
            assert read(row) is not None
            for end in range(len(row)):
                assert read(row[:end]) is None
            assert read(row + b" ") is None
            assert read(b" " + row) is None

    def test_every_bit(self) -> None:
        """Each bit that flips."""
        for row, read in (
            (self.ENTRY, serialization.parse_entry),
            (self.VISIT, serialization.parse_record),
        ):
            for place in range(len(row)):
                for bit in range(8):
                    octets = bytearray(row)
                    octets[place] ^= 1 << bit
                    assert read(bytes(octets)) is None

    @given(st.binary(max_size=200))
    def test_noise(self, octets: bytes) -> None:
        """Any octets."""
        assert serialization.parse_entry(octets) is None
        assert serialization.parse_record(octets) is None

    @pytest.mark.parametrize("row", [None, "entry/1", 1, 1.5])
    def test_what_is_not_octets(self, row: Any) -> None:
        """A damaged file may give any type."""
        assert serialization.parse_entry(row) is None
        assert serialization.parse_record(row) is None
        assert serialization.verify_body(row, body_digest(b"")) is None

    def test_another_version(self) -> None:
        """A version that this one does not know is not guessed at."""
        text = self.VISIT.split(b" ", 2)[2]
        word = b"visit/2 "
        assert (
            serialization.parse_record(word + serialization._checksum(word, text) + b" " + text)
            is None
        )

    def test_a_good_checksum_over_nonsense(self) -> None:
        """The shape is looked at too."""
        for text in (b"", b"[]", b"{}", b"null", b"1", b"\xff", b"[" * 100_000, b'{"origin":1}'):
            for word, read in (
                (serialization._ENTRY, serialization.parse_entry),
                (serialization._RECORD, serialization.parse_record),
            ):
                assert read(word + serialization._checksum(word, text) + b" " + text) is None

    @pytest.mark.parametrize("name", [*FetchRecord._fields, "more"])
    def test_shapes_of_fetches(self, name: str) -> None:
        """A value of another type in any place makes the fetch record invalid."""
        there = json.loads(self.VISIT.split(b" ", 2)[2])
        word = serialization._RECORD
        value: Any
        for value in ({}, 1.5, True, "x", 7, None, [[1, 2, 3]], [[["a", 1]], True], [[], 1]):
            octets = json.dumps(there | {name: value}).encode()
            found = serialization.parse_record(
                word + serialization._checksum(word, octets) + b" " + octets
            )
            assert (found is not None) is (type(value).__name__ in FITS.get(name, ())), value

    @pytest.mark.parametrize(
        ("name", "value"),
        [("origin", 1), ("failures", True), ("since", "soon"), ("good", []), ("bad", {}), ("x", 1)],
    )
    def test_shapes_of_entries(self, name: str, value: Any) -> None:
        """The same of entries."""
        text = json.loads(self.ENTRY.split(b" ", 2)[2]) | {name: value}
        octets = json.dumps(text).encode()
        word = serialization._ENTRY
        assert (
            serialization.parse_entry(word + serialization._checksum(word, octets) + b" " + octets)
            is None
        )


class TestVetting:
    """Misuse raises before anything is written."""

    def test_bodies(self) -> None:
        """A body matches the digest in the fetch record, or there is none."""
        serialization.vet_record(made(), BODY)
        serialization.vet_record(made(), None)
        for fetch_record, body in ((made(), b"x"), (made(body=None), b"")):
            with pytest.raises(ValueError, match="does not match"):
                serialization.vet_record(fetch_record, body)

    def test_moments(self) -> None:
        """A fetch record has a time."""
        with pytest.raises(ValueError, match="no time"):
            serialization.vet_record(made(nan), None)

    @pytest.mark.parametrize("seconds", [0, -1, inf, nan])
    def test_leases(self, seconds: float) -> None:
        """A lease begins and ends."""
        with pytest.raises(ValueError, match="finite number above 0"):
            serialization.vet_lease("key", seconds)

    @pytest.mark.parametrize(("now", "interval"), [(nan, 1), (inf, 1), (0, -1), (0, inf), (0, nan)])
    def test_slots(self, now: float, interval: float) -> None:
        """A turn comes."""
        with pytest.raises(ValueError, match="0 or more"):
            serialization.vet_slot("https://example.com", now, interval)

    def test_batches_are_bounded(self) -> None:
        """Many or large fetch records are written in several batches."""
        sizes = [
            len(batch)
            for batch in serialization.split_batches((made(float(n)), None) for n in range(600))
        ]
        assert sizes == [256, 256, 88]
        large = b"x" * 3_000_000
        fetch_record = made(body=large)
        assert [
            len(batch) for batch in serialization.split_batches([(fetch_record, large)] * 7)
        ] == [
            3,
            3,
            1,
        ]
        assert list(serialization.split_batches([])) == []


def test_identity() -> None:
    """A fetch record is identified by five values."""
    assert serialization.record_identity(made(5)) == serialization.record_identity(
        made(5.0, user_agent="x", detail="y")
    )
    for change in ({"agent": "b"}, {"status": 404}, {"digest": "0"}, {"at": 1.0}, {"origin": "o"}):
        assert serialization.record_identity(made()) != serialization.record_identity(
            made(**change)
        )
