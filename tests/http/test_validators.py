"""Validators: what is kept, what is sent, and which file a 304 renews (RFC 9110 §8.8)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules.access import CachedCopy, Response, access
from robotrules.http.fields import Fields, read_fields
from robotrules.http.validators import (
    MAX_VALIDATOR_LENGTH,
    EntityTag,
    conditional_headers,
    confirms_stored,
    drop_invalid_validators,
    parse_etag,
    parse_last_modified,
)

ORIGIN = "https://e.example"
# 2026-01-01T00:00:00Z, the second before it and the one after it.
NOW = 1_767_225_600.0
BEFORE, THEN = "Wed, 31 Dec 2025 23:59:59 GMT", "Thu, 01 Jan 2026 00:00:00 GMT"
AFTER, NEVER = "Thu, 01 Jan 2026 00:00:01 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"


def fields_of(*lines: tuple[str, str | bytes]) -> Fields:
    """Return field lines."""
    return read_fields(list(lines))


def names(fields: Fields) -> list[str]:
    """Return the names of the lines."""
    return [name for name, _ in fields.lines]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (b'"a"', EntityTag(b'"a"', False)),
        (b'W/"a"', EntityTag(b'"a"', True)),
        (b'""', EntityTag(b'""', False)),
        (b'"!#~"', EntityTag(b'"!#~"', False)),
        (b"*", None),
        (b"a", None),
        (b'w/"a"', None),
        (b'"a" ', EntityTag(b'"a"', False)),  # whitespace at the ends is not part of a value
        (b'"a b"', None),
        (b'"a"b"', None),
        (b'"a","b"', None),
        (b'"\x7f"', None),
        (b'"\x80"', None),
        (b"", None),
    ],
)
def test_entity_tags(value: bytes, found: EntityTag | None) -> None:
    """The form of §8.8.3, and nothing else."""
    assert parse_etag(fields_of(("ETag", value))) == found


def test_longest_tag() -> None:
    """What is longer than any real tag is not carried about."""
    fits = b'"' + b"a" * (MAX_VALIDATOR_LENGTH - 2) + b'"'
    assert parse_etag(fields_of(("ETag", fits))) is not None
    assert parse_etag(fields_of(("ETag", fits[:-1] + b'a"'))) is None


def test_comparison() -> None:
    """The table of §8.8.3.2."""
    weak1, weak2 = EntityTag(b'"1"', True), EntityTag(b'"2"', True)
    strong = EntityTag(b'"1"', False)
    table = [(weak1, weak1), (weak1, weak2), (weak1, strong), (strong, strong)]
    assert [one.strongly_equals(other) for one, other in table] == [False, False, False, True]
    assert [one.weakly_equals(other) for one, other in table] == [True, False, True, True]
    assert not strong.strongly_equals(weak1)


@pytest.mark.parametrize(
    ("lines", "received", "kept"),
    [
        ([("Last-Modified", THEN)], NOW, True),
        ([("Last-Modified", AFTER)], NOW, False),
        ([("Last-Modified", AFTER)], NOW + 1, True),
        ([("Last-Modified", NEVER)], NOW, False),
        ([("Last-Modified", THEN), ("Date", THEN)], NOW, True),
        ([("Last-Modified", THEN), ("Date", BEFORE)], NOW, False),
        ([("Last-Modified", AFTER), ("Date", AFTER)], NOW, False),
        ([("Last-Modified", NEVER), ("Date", NEVER)], NOW, False),
        ([("Last-Modified", THEN), ("Date", "soon")], NOW, True),
        ([("Last-Modified", THEN), ("Date", THEN)], None, False),
        ([("Last-Modified", NEVER), ("Date", NEVER)], None, False),
        ([("Last-Modified", AFTER), ("Date", THEN)], None, False),
        ([("Last-Modified", BEFORE)], None, False),
        ([("Last-Modified", "yesterday")], NOW, False),
        ([("Last-Modified", BEFORE), ("Last-Modified", THEN)], NOW, False),
        ([("Last-Modified", THEN), ("Last-Modified", THEN)], NOW, True),
    ],
)
def test_last_modified(lines: list[tuple[str, str]], received: float | None, kept: bool) -> None:
    """It counts if it is not later than the answer, by the server's clock and by ours."""
    fields = drop_invalid_validators(fields_of(*lines), received)
    assert ("last-modified" in names(fields)) is kept
    assert bool(conditional_headers(fields)) is kept


def test_others_stay() -> None:
    """Only the two fields are looked at, and what is in order is the same object."""
    odd = fields_of(("ETag", "*"), ("X", "1"), ("Last-Modified", NEVER), ("Date", THEN))
    assert names(drop_invalid_validators(odd, NOW)) == ["x", "date"]
    good = fields_of(("ETag", '"a"'), ("X", "1"), ("Last-Modified", THEN))
    assert drop_invalid_validators(good, NOW) is good
    acquire = Fields(odd.lines, False)
    assert drop_invalid_validators(acquire, NOW).apart is False


def test_conditions() -> None:
    """Both are sent, as they came."""
    fields = fields_of(("Last-Modified", THEN), ("ETag", 'W/"a"'))
    assert conditional_headers(fields) == (("If-None-Match", 'W/"a"'), ("If-Modified-Since", THEN))
    assert conditional_headers(fields_of()) == ()


TAGS = ['"1"', '"2"', 'W/"1"', 'W/"2"']


@pytest.mark.parametrize("known", [*TAGS, None])
@pytest.mark.parametrize("newer", TAGS)
def test_tags_of_a_304(known: str | None, newer: str) -> None:
    """A strong tag has to be the same strong tag, and a weak one the same by weak comparison."""
    stored = fields_of(*([("ETag", known)] if known else []), ("Last-Modified", THEN))
    same = known == newer if newer[0] == '"' else known in ('"1"', 'W/"1"', '"2"', 'W/"2"')
    same = same and known is not None and known[-3:] == newer[-3:]
    for date in (THEN, AFTER):
        assert confirms_stored(stored, fields_of(("ETag", newer), ("Last-Modified", date))) is same


@pytest.mark.parametrize(
    ("newer", "same"),
    [
        ([], True),
        ([("Last-Modified", THEN)], True),
        ([("Last-Modified", "Thursday, 01-Jan-26 00:00:00 GMT")], True),
        ([("Last-Modified", AFTER)], False),
        ([("Last-Modified", BEFORE)], False),
        ([("Last-Modified", "yesterday")], True),
        # It names no file, so which one the 304 is about is not known (RFC 9111 §4.3.4).
        ([("ETag", "*"), ("Last-Modified", THEN)], False),
        ([("ETag", "a")], False),
        ([("ETag", "")], False),
        ([("ETag", '"a"'), ("ETag", '"b"')], False),
        ([("ETag", '"a"'), ("ETag", '"a"')], True),
    ],
)
def test_dates_of_a_304(newer: list[tuple[str, str]], same: bool) -> None:
    """Without a tag the dates are compared; a malformed date is not there, a malformed tag is."""
    stored = fields_of(("ETag", '"a"'), ("Last-Modified", THEN))
    assert confirms_stored(stored, fields_of(*newer)) is same
    assert parse_last_modified(stored) is not None


def test_date_where_there_was_none() -> None:
    """A date that the stored file does not have is not its date."""
    assert not confirms_stored(fields_of(("ETag", '"a"')), fields_of(("Last-Modified", THEN)))


ANY = st.lists(
    st.tuples(
        st.sampled_from(["ETag", "Last-Modified", "Date"]),
        st.sampled_from([*TAGS, "*", "1", BEFORE, THEN, AFTER, NEVER, "0"]).map(str.encode)
        | st.binary(max_size=8),
    ),
    max_size=5,
)


class TestLaws:
    """A condition that any file meets is never sent, whatever was stored."""

    @given(ANY, ANY, st.none() | st.floats(NOW - 1, NOW + 1))
    def test_what_is_sent(
        self,
        lines: list[tuple[str, bytes]],
        newer: list[tuple[str, bytes]],
        received: float | None,
    ) -> None:
        """A tag in quotes and a date of the past; after a 304 too; and then nothing more."""
        stored = CachedCopy(f"{ORIGIN}/robots.txt", b"", read_fields(lines), True, received)
        flow = access(ORIGIN, cached=stored)
        sent = dict(next(flow).headers)
        assert sent.keys() <= {"If-None-Match", "If-Modified-Since"}
        assert sent.get("If-None-Match", '""')[-1] == '"'
        assert sent.get("If-Modified-Since", BEFORE) in (BEFORE, THEN, AFTER)
        dropped = drop_invalid_validators(stored.fields, received)
        assert drop_invalid_validators(dropped, received) == dropped
        if sent:
            self.answered(flow, dropped, newer)

    @staticmethod
    def answered(flow: Any, stored: Fields, newer: list[tuple[str, bytes]]) -> None:
        """A 304 renews, or the same URL is requested without conditions."""
        result: Any = None
        again: Any = None
        try:
            again = flow.send(Response(304, newer))
        except StopIteration as end:
            result = end.value
        if result is None:
            assert (again.url, again.headers) == (f"{ORIGIN}/robots.txt", ())
            return
        assert result.revalidated
        assert confirms_stored(stored, result.fields)
        assert parse_etag(result.fields) or "etag" not in names(result.fields)
