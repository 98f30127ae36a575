"""Freshness of rules (RFC 9111 §4.2), 304 and which response speaks for a URL (AMB-79, AMB-80)."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules.http.caching import (
    MAX_SECONDS,
    ResponseFreshness,
    _parse_short_directives,
    merge_fields,
    response_freshness,
    update_stored_fields,
)
from robotrules.http.fields import NO_FIELDS, Fields, read_fields

NOW = datetime(2025, 12, 3, 12, tzinfo=UTC)
DATE = "Wed, 03 Dec 2025 12:00:00 GMT"
HOUR_LATER = "Wed, 03 Dec 2025 13:00:00 GMT"
HOUR_BEFORE = "Wed, 03 Dec 2025 11:00:00 GMT"
TEN_DAYS_BEFORE = "Sun, 23 Nov 2025 12:00:00 GMT"


def seconds(*lines: tuple[str, str], **settings: Any) -> tuple[float | None, str]:
    """Return the lifetime that field lines give, and why."""
    found = response_freshness(lines, **settings)
    return found.lifetime, found.reason


def control(*values: str, **settings: Any) -> tuple[float | None, str]:
    """Return the lifetime that Cache-Control lines give, and why."""
    return seconds(*(("Cache-Control", value) for value in values), **settings)


# --- The lifetime ---------------------------------------------------------------------------------


class TestLifetime:
    """s-maxage for a shared store, else max-age, else Expires, else a heuristic (HC-4.2-01)."""

    def test_the_order(self) -> None:
        """The first value that is present decides."""
        lines = [
            ("Date", DATE),
            ("Last-Modified", TEN_DAYS_BEFORE),
            ("Expires", HOUR_LATER),
            ("Cache-Control", "max-age=60"),
            ("Cache-Control", "s-maxage=30"),
        ]
        assert seconds(*lines, recrawl_interval=7, shared=True) == (30, "s-maxage")
        assert seconds(*lines, recrawl_interval=7) == (60, "max-age")
        assert seconds(*lines[:3], recrawl_interval=7) == (3600, "expires")
        assert seconds(*lines[:2], recrawl_interval=7) == (7, "recrawl-interval")
        assert seconds(*lines[:2]) == (86_400, "last-modified")
        assert seconds(*lines[:1]) == (None, "nothing")
        assert seconds() == (None, "nothing")

    def test_s_maxage_alone_is_about_shared_stores(self) -> None:
        """A crawler's own store does not count it."""
        assert control("s-maxage=30") == (None, "nothing")

    def test_the_examples_of_the_requirements(self) -> None:
        """RTG-3.1.4-01, -03, -04; HC-4.2-01; HC-4.2.2-01."""
        hour = response_freshness({"Cache-Control": "max-age=3600"}, received=NOW)
        assert hour.fresh_until == NOW + timedelta(hours=1)
        assert seconds(("Date", DATE), ("Expires", HOUR_LATER)) == (3600, "expires")
        week = response_freshness({}, recrawl_interval=timedelta(days=7), received=NOW)
        assert week.fresh_until == NOW + timedelta(days=7)
        lines = [("Last-Modified", TEN_DAYS_BEFORE), ("Date", DATE)]
        assert seconds(*lines) == (86_400, "last-modified")

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            ("max-age=60", 60),
            ("Max-Age=60", 60),
            ('max-age="60"', 60),
            ("max-age = 60", 60),
            ("public, max-age=60, must-revalidate", 60),
            ("public,max-age=060", 60),
            (",,max-age=60,,", 60),
            ('community="a, max-age=1", max-age=60', 60),
            (r'community="a\", max-age=1", max-age=60', 60),
            ("max-age=0", 0),
            # Duplicates: the least. Invalid ones make it stale.
            ("max-age=60, max-age=30", 60),
            ("max-age=30, max-age=60", 30),
            ("max-age=soon, max-age=60", 0),
            *((f"max-age{rest}", 0) for rest in ("", "=", "=-1", "=+1", "=1.5", "=1h", "=²", '="')),
            ("max-age=6 0", 0),
            ("max-age=60;", 0),
            # Larger values are limited to the maximum.
            ("max-age=2147483647", 2**31 - 1),
            ("max-age=2147483649", 2**31),
            ("max-age=" + "9" * 5000, 2**31),
            ("max-age=" + "0" * 5000 + "7", 7),
        ],
    )
    def test_max_age(self, value: str, expected: float) -> None:
        """Directives without case, quoted or not; RFC 9111 §1.2.2, §4.2.1, §5.2."""
        assert control(value) == (expected, "max-age")

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            ('max-age="60", x', 60),
            (r'max-age="\6\0"', 60),
            ("max-age=X60X", 0),
            ("max-age=\x0b60", 0),  # a vertical tab is not whitespace in HTTP
            ("max-age=60\xa0", 0),
        ],
    )
    def test_forms_of_a_value(self, value: str, expected: float) -> None:
        """A quoted string is read, and a value that is not a number makes the response stale."""
        assert control(value) == (expected, "max-age")

    @pytest.mark.parametrize("value", ["Xmax-ageX=60", "\x0bmax-age=60"])
    def test_other_names(self, value: str) -> None:
        """They are not max-age."""
        assert control(value) == (None, "nothing")

    def test_a_shared_store(self) -> None:
        """It goes by max-age where there is no s-maxage."""
        assert control("max-age=60", shared=True) == (60, "max-age")

    def test_long_lines_are_not_remembered(self) -> None:
        """Strangers must not fill the memory."""
        before = _parse_short_directives.cache_info()
        assert control("max-age=60, " + "x" * 200) == (60, "max-age")
        assert _parse_short_directives.cache_info() == before

    def test_several_lines_are_one_list(self) -> None:
        """Lines of a field count together; a quote does not reach into the next line."""
        assert control("public", "max-age=60", "max-age=50") == (60, "max-age")
        assert control('community="open', "max-age=60") == (60, "max-age")

    @pytest.mark.parametrize("value", ["max-agee=60", "xmax-age=60", 'x="max-age=60"', "60"])
    def test_what_is_not_max_age(self, value: str) -> None:
        """Only the directive of that name counts."""
        assert control(value) == (None, "nothing")

    @pytest.mark.parametrize("value", ["0", "-1", "", "soon", "2025-12-03T13:00:00Z", HOUR_BEFORE])
    def test_expires_invalid_or_past(self, value: str) -> None:
        """An invalid Expires, 0 above all, is already expired (§5.3)."""
        assert seconds(("Date", DATE), ("Expires", value)) == (0, "expires")
        assert seconds(("Expires", value), received=NOW) == (0, "expires")

    def test_expires_without_a_date(self) -> None:
        """It counts from the receipt; where that is unknown, so is the lifetime."""
        assert seconds(("Expires", HOUR_LATER), received=NOW) == (3600, "expires")
        assert seconds(("Expires", HOUR_LATER)) == (None, "expires")
        assert seconds(("Expires", "0")) == (0, "expires")

    def test_several_expires(self) -> None:
        """The first counts (RFC 9111 §4.2.1)."""
        lines = [("Date", DATE), ("Expires", "Thu, 04 Dec 2025 12:00:00 GMT")]
        assert seconds(*lines, ("Expires", HOUR_LATER)) == (86_400, "expires")

    def test_expires_in_the_far_future(self) -> None:
        """It saturates."""
        expires = ("Expires", "Fri, 31 Dec 9999 23:59:59 GMT")
        assert seconds(("Date", DATE), expires) == (MAX_SECONDS, "expires")

    def test_a_heuristic_needs_a_past(self) -> None:
        """A modification in the future, or now, is ignored; so is an invalid date."""
        for value in (DATE, HOUR_LATER, "yesterday"):
            assert seconds(("Date", DATE), ("Last-Modified", value)) == (None, "nothing")
        assert seconds(("Last-Modified", TEN_DAYS_BEFORE)) == (None, "nothing")
        assert seconds(("Last-Modified", TEN_DAYS_BEFORE), received=NOW)[0] == 86_400

    def test_recrawl_interval(self) -> None:
        """A timedelta or a number of seconds; never more than 68 years."""
        assert seconds(recrawl_interval=timedelta(minutes=1)) == (60, "recrawl-interval")
        assert seconds(recrawl_interval=1.5) == (1.5, "recrawl-interval")
        assert seconds(recrawl_interval=0) == (0, "recrawl-interval")
        assert seconds(recrawl_interval=timedelta.max) == (MAX_SECONDS, "recrawl-interval")
        assert seconds(recrawl_interval=float("inf")) == (MAX_SECONDS, "recrawl-interval")


class TestAge:
    """Age is counted from Age and Date, not from receipt only (HC-4.2.3-01)."""

    def test_the_example_of_the_requirement(self) -> None:
        """`Age: 50` and `max-age=60` leave 10 seconds."""
        headers = {"Age": "50", "Cache-Control": "max-age=60"}
        found = response_freshness(headers, received=NOW)
        assert found.age == 50
        assert found.fresh_until == NOW + timedelta(seconds=10)

    @pytest.mark.parametrize(
        ("lines", "age"),
        [
            ([], 0),
            ([("Age", "50")], 50),
            ([("Age", "50, 60")], 50),
            ([("Age", "50"), ("Age", "60")], 50),
            ([("Age", "-50")], 0),
            ([("Age", "soon")], 0),
            ([("Age", "")], 0),
            ([("Age", "9" * 30)], MAX_SECONDS),
            ([("Date", HOUR_BEFORE)], 3600),
            ([("Date", HOUR_BEFORE), ("Age", "50")], 3600),
            ([("Date", HOUR_BEFORE), ("Age", "4000")], 4000),
            ([("Date", HOUR_LATER)], 0),  # a clock that is ahead
            ([("Date", HOUR_LATER), ("Age", "50")], 50),
            ([("Date", "soon")], 0),
        ],
    )
    def test_age(self, lines: list[tuple[str, str]], age: float) -> None:
        """The greater of Age and the apparent age."""
        assert response_freshness(lines, received=NOW).age == age

    @pytest.mark.parametrize("value", ["X5X", "\x0b5", "5\xa0"])
    def test_invalid_ages(self, value: str) -> None:
        """It counts as none."""
        assert response_freshness({"Age": value}).age == 0

    def test_without_receipt_only_the_field_counts(self) -> None:
        """The transit time of the response is unknown."""
        assert response_freshness([("Date", HOUR_BEFORE), ("Age", "5")]).age == 5

    def test_expires_is_a_moment_whatever_the_age(self) -> None:
        """Expires an hour after a Date of an hour ago is now: the age is what was spent of it."""
        lines = [("Date", HOUR_BEFORE), ("Expires", HOUR_LATER)]
        found = response_freshness(lines, received=NOW)
        assert (found.lifetime, found.age) == (7200, 3600)
        assert found.fresh_until == NOW + timedelta(hours=1)


class TestFresh:
    """A wish to recrawl, never a lapse (AMB-79)."""

    def test_fresh_and_stale(self) -> None:
        """Fresh while lifetime is greater than age (§4.2): the last moment is stale."""
        found = response_freshness({"Cache-Control": "max-age=60"}, received=NOW)
        assert found.is_fresh(NOW)
        assert found.is_fresh(NOW + timedelta(seconds=59.9))
        assert not found.is_fresh(NOW + timedelta(seconds=60))

    def test_other_zones(self) -> None:
        """Moments compare across zones, and are given in UTC."""
        berlin = timezone(timedelta(hours=1))
        found = response_freshness({"Cache-Control": "max-age=60"}, received=NOW.astimezone(berlin))
        assert found.received == NOW
        assert found.received.tzinfo is UTC
        assert found.is_fresh(NOW.astimezone(berlin))

    def test_unknown_is_a_wish_to_recrawl(self) -> None:
        """Without a lifetime, or a start, it is not fresh."""
        assert not response_freshness({}, received=NOW).is_fresh(NOW)
        assert not response_freshness({"Cache-Control": "max-age=60"}).is_fresh(NOW)
        assert response_freshness({"Cache-Control": "max-age=60"}).fresh_until is None

    @pytest.mark.parametrize(
        "value", ["no-cache", "No-Cache, max-age=60", 'no-cache="a"', "no-cache="]
    )
    def test_no_cache(self, value: str) -> None:
        """HC-5.2.2-01: no reuse without validation, whatever the lifetime."""
        headers = [("Cache-Control", value), ("Cache-Control", "max-age=60")]
        found = response_freshness(headers, received=NOW)
        assert found.must_validate
        assert found.may_store
        assert not found.is_fresh(NOW)

    def test_no_store(self) -> None:
        """HC-5.2.2-01: not to be stored; fresh all the same."""
        found = response_freshness({"Cache-Control": "NO-STORE, max-age=60"}, received=NOW)
        assert not found.may_store
        assert not found.must_validate
        assert found.is_fresh(NOW)
        assert response_freshness({"Cache-Control": 'x="no-store"'}).may_store

    def test_private(self) -> None:
        """§5.2.2.7: a shared store does not keep it; with names it is about those fields alone."""
        headers = {"Cache-Control": "private"}
        assert response_freshness(headers).may_store
        assert not response_freshness(headers, shared=True).may_store
        assert response_freshness({"Cache-Control": 'private="set-cookie"'}, shared=True).may_store

    def test_rules_do_not_lapse(self) -> None:
        """RTG-3.1.4-05: stored on day 0 with max-age 60, not recrawled for 90 days: the same."""
        stored = read_fields([("Robots-Tag", "*;noindex"), ("Cache-Control", "max-age=60")])
        late = NOW + timedelta(days=90)
        assert not response_freshness(stored, received=NOW).is_fresh(late)
        assert update_stored_fields(stored, None, None).get("robots-tag") == [b"*;noindex"]

    def test_at_the_ends_of_time(self) -> None:
        """Nothing overflows."""
        last, first = datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC)
        long = response_freshness({"Cache-Control": "max-age=2147483648"}, received=last)
        assert long.fresh_until == last
        old = response_freshness({"Cache-Control": "max-age=0", "Age": "99"}, received=first)
        assert old.fresh_until == first

    def test_as_dict(self) -> None:
        """It is plain, and JSON."""
        found = response_freshness({"Cache-Control": "max-age=60"}, received=NOW)
        assert json.loads(json.dumps(found.as_dict())) == {
            "lifetime": 60.0,
            "reason": "max-age",
            "age": 0.0,
            "received": "2025-12-03T12:00:00+00:00",
            "fresh_until": "2025-12-03T12:01:00+00:00",
            "must_validate": False,
            "may_store": True,
        }
        nothing = response_freshness(None).as_dict()
        assert nothing["received"] is nothing["fresh_until"] is nothing["lifetime"] is None


# --- Which response speaks ------------------------------------------------------------------------


STORED = read_fields(
    [
        ("Date", DATE),
        ("Age", "50"),
        ("Content-Type", "text/html"),
        ("X-Robots-Tag", "noindex"),
        ("X-Robots-Tag", "bingbot: nofollow"),
        ("ETag", '"1"'),
        ("Cache-Control", "max-age=60"),
    ]
)


class TestMerged:
    """A 304 updates stored fields with those it carries (HC-4.3.4-01, AMB-80)."""

    def test_a_field_is_added(self) -> None:
        """304 with Robots-Tag: the rule is added to the stored response."""
        found = merge_fields(STORED, [("Robots-Tag", "*;noindex")])
        assert found.get("robots-tag") == [b"*;noindex"]
        assert found.get("x-robots-tag") == [b"noindex", b"bingbot: nofollow"]
        assert found.get("etag") == [b'"1"']

    def test_a_field_replaces_all_lines_of_its_name(self) -> None:
        """Both stored lines go, whatever the case of the name."""
        found = merge_fields(STORED, [("x-robots-TAG", "nosnippet"), ("X-Robots-Tag", "nofollow")])
        assert found.get("x-robots-tag") == [b"nosnippet", b"nofollow"]

    def test_an_empty_field_replaces_too(self) -> None:
        """An empty field differs from a missing field."""
        assert merge_fields(STORED, [("X-Robots-Tag", "")]).get("x-robots-tag") == [b""]

    @pytest.mark.parametrize(
        "name",
        [
            *("Content-Length", "Content-Encoding", "Content-Type", "Content-Range"),
            *("Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Connection", "TE"),
            *("Trailer", "Transfer-Encoding", "Upgrade", "Proxy-Authorization"),
        ],
    )
    def test_what_a_304_does_not_change(self, name: str) -> None:
        """How the stored content is read, and the connection (RFC 9111 §3.1, §3.2)."""
        old = [(name, "old"), ("A", "1")]
        assert merge_fields(old, [(name, "new")]).get(name) == [b"old"]
        assert merge_fields([("A", "1")], [(name, "new")]).get(name) == []

    def test_fields_named_by_connection(self) -> None:
        """They are about the connection as well (RFC 9110 §7.6.1)."""
        newer = [("Connection", "close, X-Hop"), ("X-Hop", "1"), ("X-Stay", "1")]
        found = merge_fields([("X-Hop", "0")], newer)
        assert found.get("x-hop") == [b"0"]
        assert found.get("x-stay") == [b"1"]

    def test_several_names_in_connection(self) -> None:
        """In one line or in two; characters that are not HTTP whitespace are part of a name."""
        newer = [("a", "2"), ("b", "2"), ("c", "2"), ("d", "2"), ("e", "2")]
        connection = [
            ("Connection", "a,b"),
            ("Connection", "Xc"),
            ("Connection", "\x0bd"),
            ("Connection", "e"),
        ]
        found = merge_fields([(name, "1") for name in "abcde"], [*newer, *connection])
        assert {name: value for name, value in found.lines if name in "abcde"} == {
            "a": b"1",
            "b": b"1",
            "c": b"2",
            "d": b"2",
            "e": b"1",
        }

    def test_freshness_is_renewed(self) -> None:
        """A 304 an hour later makes it fresh for as long again, with or without a Date."""
        later = NOW + timedelta(hours=1)
        for newer in ([], [("Date", HOUR_LATER)]):
            found = response_freshness(merge_fields(STORED, newer), received=later)
            assert (found.age, found.fresh_until) == (0, later + timedelta(seconds=60))
        aged = response_freshness(merge_fields(STORED, [("Age", "20")]), received=later)
        assert aged.fresh_until == later + timedelta(seconds=40)

    def test_joined_lines_stay_suspect(self) -> None:
        """Lines are apart if they are on both sides."""
        assert merge_fields(STORED, [("A", "1")]).apart
        assert not merge_fields(STORED, {"A": "1"}).apart
        assert not merge_fields({"A": "1"}, [("A", "1")]).apart


class TestUpdated:
    """Which fields speak for the URL now (AMB-80, RTG-3.1.4-02)."""

    NEWER = read_fields([("X-Robots-Tag", "nosnippet")])

    @pytest.mark.parametrize("status", [200, 203, 206, 301, 302, 307, 308])
    def test_the_newer_response(self, status: int) -> None:
        """A success and a redirect speak for themselves: a rule may be gone from then on."""
        assert update_stored_fields(STORED, status, self.NEWER) == self.NEWER
        assert update_stored_fields(STORED, status, None) == NO_FIELDS

    @pytest.mark.parametrize(
        "status",
        [400, 401, 403, 404, 410, 429, 500, 502, 503, 504, 599, 600, 999, 100, 103, 0, -1, None],
    )
    def test_the_stored_response(self, status: int | None) -> None:
        """An answer without information about the resource leaves the last good one in force."""
        assert update_stored_fields(STORED, status, self.NEWER) == STORED
        assert update_stored_fields(STORED, status, None) == STORED

    def test_not_modified(self) -> None:
        """A 304 is merged."""
        found = update_stored_fields(STORED, 304, self.NEWER)
        assert found == merge_fields(STORED, self.NEWER)
        assert found.get("x-robots-tag") == [b"nosnippet"]
        assert update_stored_fields(STORED, 304, None).get("x-robots-tag") == STORED.get(
            "x-robots-tag"
        )

    @pytest.mark.parametrize("status", [200, 301, 304, 404, 500, None])
    def test_nothing_stored(self, status: int | None) -> None:
        """Then only a response that speaks for the URL counts; without one nothing does."""
        speaks = status in (200, 301, 304)
        assert update_stored_fields(None, status, self.NEWER) == (
            self.NEWER if speaks else NO_FIELDS
        )
        assert update_stored_fields(None, status, None) == NO_FIELDS


# --- Strangers and mistakes -----------------------------------------------------------------------


class TestHostile:
    """Content never raises and costs what its octets cost."""

    @pytest.mark.parametrize(
        "value", ['a="' * 300_000, '"' * 10**6, "\\" * 10**6, "," * 10**6, "a=" * 500_000, '"\\']
    )
    def test_cost(self, value: str) -> None:
        """Open quotes and commas by the million are read once."""
        start = time.process_time()
        response_freshness([("Cache-Control", value)])
        assert time.process_time() - start < 0.5

    @given(
        st.lists(
            st.tuples(
                st.sampled_from(["cache-control", "expires", "age", "date", "last-modified"]),
                st.text(max_size=40) | st.binary(max_size=40) | st.sampled_from([DATE, HOUR_LATER]),
            )
        ),
        st.booleans(),
    )
    def test_no_content_raises(self, lines: list[tuple[str, str | bytes]], shared: bool) -> None:
        """Whatever is sent, there is an answer, and it is sane."""
        found = response_freshness(lines, received=NOW, shared=shared)
        assert found.lifetime is None or 0 <= found.lifetime <= MAX_SECONDS
        assert found.age >= 0
        assert found.as_dict()

    @given(st.integers(-5, 1000) | st.none(), st.booleans(), st.booleans())
    def test_every_status_has_an_answer(self, status: int | None, old: bool, new: bool) -> None:
        """Restrictions of the last good response are never lost to an error."""
        found = update_stored_fields(STORED if old else None, status, [("A", "1")] if new else None)
        assert isinstance(found, Fields)


class TestMisuse:
    """Mistakes of the caller raise, and the error contains the fix."""

    def test_moments(self) -> None:
        """A moment without a zone is refused."""
        with pytest.raises(ValueError, match=r"received has no zone: pass datetime.now\(UTC\)"):
            response_freshness({}, received=datetime(2025, 1, 1))
        with pytest.raises(TypeError, match="received is a datetime, not str"):
            response_freshness({}, received="now")  # type: ignore[arg-type]
        found = response_freshness({"Cache-Control": "max-age=1"}, received=NOW)
        with pytest.raises(ValueError, match="now has no zone"):
            found.is_fresh(datetime(2025, 1, 1))

    @pytest.mark.parametrize("value", [-1, float("nan"), timedelta(-1)])
    def test_interval(self, value: Any) -> None:
        """An interval is not negative."""
        with pytest.raises(ValueError, match="cannot be negative or NaN"):
            response_freshness({}, recrawl_interval=value)

    @pytest.mark.parametrize("value", ["7d", True, b"1"])
    def test_interval_of_another_type(self, value: Any) -> None:
        """An interval is a timedelta or a number."""
        with pytest.raises(TypeError) as told:
            response_freshness({}, recrawl_interval=value)
        assert str(told.value) == (
            "recrawl_interval is a timedelta or a number of seconds, not " + type(value).__name__
        )

    @pytest.mark.parametrize("value", ["304", True, 304.0])
    def test_status(self, value: Any) -> None:
        """A status is an int."""
        with pytest.raises(TypeError) as told:
            update_stored_fields(STORED, value, None)
        words = f"a status is an int such as 200, or None; not {type(value).__name__}"
        assert str(told.value) == words

    def test_headers(self) -> None:
        """What holds no fields is refused, and what is immutable stays so."""
        with pytest.raises(TypeError, match=r"pass response\.headers"):
            response_freshness(5)
        assert response_freshness(None) == ResponseFreshness(
            None, "nothing", 0.0, None, False, True
        )
