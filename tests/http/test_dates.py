"""Dates of unavailable_after (AMB-83, XRT-12) and of HTTP fields (RFC 9110 §5.6.7)."""

from __future__ import annotations

import locale
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules.http.dates import (
    MAX_CHARACTERS,
    YEAR_OF_REFERENCE,
    ParsedDate,
    parse_date,
    parse_http_date,
)

NOON = datetime(2025, 12, 3, 13, 9, 53, tzinfo=UTC)
MINUTE = NOON.replace(second=0)
END = datetime(2025, 12, 3, 23, 59, 59, tzinfo=UTC)


def moment(text: str) -> datetime | None:
    """Return the moment a text names."""
    found = parse_date(text)
    return found.moment if found else None


# --- unavailable_after ----------------------------------------------------------------------------


class TestForms:
    """RFC 822, RFC 850, asctime and ISO 8601 are dates, and nothing else is (XRT-12)."""

    @pytest.mark.parametrize(
        "text",
        [
            "Wed, 03 Dec 2025 13:09:53 GMT",
            "Wed, 3 Dec 2025 13:09:53 GMT",
            "03 Dec 2025 13:09:53 GMT",
            "03 Dec 25 13:09:53 GMT",
            "Wed 03 Dec 2025 13:09:53 GMT",
            "Wednesday, 3 December 2025 13:09:53 UTC",
            "wed, 03 DEC 2025 13:09:53 gmt",
            "Wed,  03\tDec 2025   13:09:53 GMT ",
            "Wednesday, 03-Dec-25 13:09:53 GMT",
            "Wednesday, 03-Dec-2025 13:09:53 GMT",
            "Wed, 03-Dec-2025 13:09:53 GMT",
            "03-Dec-25 13:09:53 GMT",
            "Wed Dec  3 13:09:53 UTC 2025",
            "2025-12-03T13:09:53Z",
            "2025-12-03t13:09:53z",
            "2025-12-03 13:09:53 UTC",
            "2025-12-03T14:09:53+01:00",
            "2025-12-03T14:09:53+0100",
            "2025-12-03T14:09:53+01",
            "2025-12-03T08:09:53-05:00",
            "2025-12-03T18:39:53+05:30",
            "Wed, 03 Dec 2025 14:09:53 +0100",
            "Wed, 03 Dec 2025 14:09:53 GMT+0100",
            "Wed, 03 Dec 2025 14:09:53 +0100 (CET)",
            "2025-12-04T00:09:53+11:00",
            "2025-12-04T13:08:53+23:59",
        ],
    )
    def test_the_same_moment(self, text: str) -> None:
        """Each of these is one moment, and nothing of it was assumed."""
        assert parse_date(text) == ParsedDate(NOON, None)

    @pytest.mark.parametrize(
        "text",
        ["Wed, 03 Dec 2025 13:09 GMT", "2025-12-03T13:09Z", "03-Dec-25 13:09 +0000"],
    )
    def test_without_seconds(self, text: str) -> None:
        """Seconds may be missing (RFC 822 §5.1, ISO 8601)."""
        assert parse_date(text) == ParsedDate(MINUTE, None)

    @pytest.mark.parametrize(
        ("text", "micro"),
        [(".5Z", 500_000), (",5Z", 500_000), (".123456789Z", 123_456), (".000001Z", 1)],
    )
    def test_fractions(self, text: str, micro: int) -> None:
        """Seconds may have fractions; of them a datetime holds six digits."""
        assert moment("2025-12-03T13:09:53" + text) == NOON.replace(microsecond=micro)

    @pytest.mark.parametrize(
        "text", ["2025-12-03", "03 Dec 2025", "Wed, 03 Dec 25", "Wednesday, 03-Dec-25"]
    )
    def test_a_date_alone_is_the_end_of_that_day(self, text: str) -> None:
        """AMB-83: a date only is the end of that day in UTC, by decision and not by guess."""
        assert parse_date(text) == ParsedDate(END, None)

    def test_the_example_of_the_requirement(self) -> None:
        """XRT-12: 25 Jun 2010 15:00:00 PST is 23:00 in UTC."""
        found = moment("25 Jun 2010 15:00:00 PST")
        assert found == datetime(2010, 6, 25, 23, tzinfo=UTC)

    def test_the_answer_is_in_utc(self) -> None:
        """Whatever zone is written, the moment is aware and in UTC."""
        found = moment("2025-12-03T14:09:53+01:00")
        assert found is not None
        assert found.tzinfo is UTC

    def test_september(self) -> None:
        """It is short in two ways."""
        for name in ("Sep", "SEPT", "Sept.", "September"):
            assert moment(f"03 {name} 2025") == END.replace(month=9)

    def test_a_weekday_need_not_fit(self) -> None:
        """A wrong weekday is tolerated: the date is what was meant."""
        assert moment("Mon, 03 Dec 2025 13:09:53 GMT") == NOON

    def test_midnight_at_the_end_of_a_day(self) -> None:
        """24:00 is the midnight that follows (ISO 8601); 24:01 is nothing."""
        assert moment("2025-12-03T24:00Z") == datetime(2025, 12, 4, tzinfo=UTC)
        assert moment("2025-12-03T24:01Z") is None

    def test_a_leap_second(self) -> None:
        """A 60th second is the last one of its minute; a 61st does not exist."""
        assert moment("2016-12-31T23:59:60Z") == datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC)
        assert moment("2016-12-31T23:59:61Z") is None

    @pytest.mark.parametrize(
        "text",
        [
            *("", " ", "soon", "never", "0", "2025", "2025-12", "20251203", "tomorrow", "Wed,"),
            *("2025-13-01", "2025-02-30", "2025-00-10", "32 Dec 2025", "0 Dec 2025"),
            *("03 Dez 2025 13:09 GMT", "03 Foo 2025", "3 de 2025", "03 Dec 202", "03 Dec 20255"),
            *("12/03/2025", "3.12.2025", "Dec 3, 2025", "2025-W49-3", "1764767393"),
            *("2025-12-03T", "2025-12-03T13", "2025-12-03T25:00Z", "2025-12-03T13:60Z"),
            *("2025-12-03T13:09:5Z", "2025-12-03T13:09:53.Z", "2025-12-03T13:09:53Z noindex"),
            *("2025-12-03T13:09+24:00", "2025-12-03T13:09+01:60", "2025-12-03T13:09+1:2"),
            *("03 Dec 2025 01:09:53 PM", "2025-12-03 01:09 am"),  # half a day is not a zone
            *("Wed03 Dec 2025", "03 Dec 2025, 13:09:53 GMT", "x03 Dec 2025", "03  - Dec - 2025"),
            *("0000-01-01", "0001-01-01T00:00+01:00", "9999-12-31T23:59-01:00"),
            *("9999-12-31T24:00Z", "-2025-12-03", "+2025-12-03", "Wed, 03 Dec 2025 13:09:53 GMT,"),
            # Digits and letters of other scripts, and the long s and Kelvin sign that fold to ours.
            *("２０２５-12-03", "٢٠٢٥-12-03", "03 \u017fep 2025", "2025\u201112\u201103"),
            "03 Dec 2025 13:09 E\u017fT",
            "2025-12-03\n",
            "X2025-12-03X",
        ],
    )
    def test_invalid_dates(self, text: str) -> None:
        """A form is recognised as a whole or not at all."""
        assert parse_date(text) is None


class TestZones:
    """Numeric, Z, UT, UTC, GMT and the North American names of RFC 822; others are UTC."""

    @pytest.mark.parametrize(
        ("zone", "hour"),
        [
            *(("Z", 12), ("UT", 12), ("UTC", 12), ("GMT", 12), ("gmt", 12)),
            *(("EST", 17), ("EDT", 16), ("CST", 18), ("CDT", 17)),
            *(("MST", 19), ("MDT", 18), ("PST", 20), ("PDT", 19)),
            *(("+0200", 10), ("-0200", 14), ("-0000", 12), ("UTC+2", 10), ("UTC-02:00", 14)),
        ],
    )
    def test_known_zones(self, zone: str, hour: int) -> None:
        """A zone that is known is used, and nothing is assumed."""
        expected = ParsedDate(datetime(2025, 6, 1, hour, tzinfo=UTC), None)
        assert parse_date(f"01 Jun 2025 12:00:00 {zone}") == expected

    @pytest.mark.parametrize(
        "zone", ["", " CET", " A", " IST", " Europe/Berlin", " America/New_York"]
    )
    def test_other_zones_are_utc(self, zone: str) -> None:
        """RFC 850 zones are not unique (AMB-83): UTC is assumed, and that is reported."""
        expected = ParsedDate(datetime(2025, 6, 1, 12, tzinfo=UTC), "zone")
        assert parse_date(f"01 Jun 2025 12:00{zone}") == expected
        assert parse_date(f"2025-06-01T12:00{zone}") == expected
        assert parse_date(f"Sunday, 01-Jun-25 12:00:00{zone}") == expected

    def test_asctime_has_no_zone(self) -> None:
        """In a tag rule asctime has no zone; in HTTP it means GMT."""
        assert parse_date("Wed Dec  3 13:09:53 2025") == ParsedDate(NOON, "zone")
        assert parse_http_date("Wed Dec  3 13:09:53 2025") == NOON


class TestTwoDigitYears:
    """RFC 9110 §5.6.7: over 50 years in the future is the past century."""

    @pytest.mark.parametrize(
        ("year", "full"), [("00", 2000), ("25", 2025), ("75", 2075), ("76", 1976), ("99", 1999)]
    )
    def test_years(self, year: str, full: int) -> None:
        """Exactly 50 years ahead is still the future."""
        assert YEAR_OF_REFERENCE == 2025
        assert moment(f"01 Jan {year}") == datetime(full, 1, 1, 23, 59, 59, tzinfo=UTC)
        http = parse_http_date(f"Monday, 01-Jan-{year} 00:00:00 GMT")
        assert http == datetime(full, 1, 1, tzinfo=UTC)

    @pytest.mark.parametrize(
        ("reference", "year", "full"), [(1990, "40", 2040), (1990, "41", 1941), (2060, "05", 2105)]
    )
    def test_another_year_of_reference(self, reference: int, year: str, full: int) -> None:
        """The caller may pass the year of reference."""
        found = parse_date(f"01 Jan {year}", year_of_reference=reference)
        assert found is not None
        assert found.moment.year == full
        text = f"Monday, 01-Jan-{year} 00:00:00 GMT"
        for spaced in (text, text.ljust(90)):
            http = parse_http_date(spaced, year_of_reference=reference)
            assert http is not None
            assert http.year == full


# --- HTTP -----------------------------------------------------------------------------------------


class TestHttpDates:
    """Three forms, in which case, places and GMT are fixed (RFC 9110 §5.6.7)."""

    @pytest.mark.parametrize(
        "text",
        [
            "Wed, 03 Dec 2025 13:09:53 GMT",
            " Wed, 03 Dec 2025 13:09:53 GMT\t",
            "Wednesday, 03-Dec-25 13:09:53 GMT",
            "Wed Dec  3 13:09:53 2025",
        ],
    )
    def test_forms(self, text: str) -> None:
        """Each form is the same moment."""
        assert parse_http_date(text) == NOON

    @pytest.mark.parametrize(
        "text",
        [
            *("", "0", "-1", "2025-12-03T13:09:53Z", "Wed, 03 Dec 2025 13:09:53 UTC"),
            *("Wed, 03 Dec 2025 13:09:53 +0000", "Wed, 3 Dec 2025 13:09:53 GMT"),
            *("wed, 03 dec 2025 13:09:53 gmt", "Wed, 03 Dec 2025 13:09 GMT"),
            *("Wed, 30 Feb 2025 13:09:53 GMT", "Wed, 03 Dec 2025 25:09:53 GMT"),
            *("Wed, 03 Dec 0000 13:09:53 GMT", "Wed,  03 Dec 2025 13:09:53 GMT"),
        ],
    )
    def test_what_is_none(self, text: str) -> None:
        """Everything else is an invalid HTTP date."""
        assert parse_http_date(text) is None


# --- Strangers ------------------------------------------------------------------------------------


class TestHostile:
    """Content never raises and costs nothing; misuse raises."""

    @pytest.mark.parametrize(
        "text", ["9" * 10**6, " " * 10**6, "Wed, " * 200_000, "2025-12-03T" + "0" * 10**6]
    )
    def test_a_megabyte_is_not_a_date(self, text: str) -> None:
        """What is longer than any date is refused unread."""
        start = time.process_time()
        assert parse_date(text) is None
        assert parse_http_date(text) is None
        assert time.process_time() - start < 0.05

    def test_the_longest_date_fits(self) -> None:
        """The limit is above every form."""
        text = "Wednesday, 03 December 2025 13:09:53.123456789 GMT+01:00 (Central European Time)"
        assert len(text) < MAX_CHARACTERS
        assert moment(text) is not None
        assert moment(text.ljust(MAX_CHARACTERS)) is not None
        assert moment(text.ljust(MAX_CHARACTERS + 1)) is None

    @given(st.text(max_size=MAX_CHARACTERS + 5) | st.from_regex(r"[0-9 :TZ,+-]{0,40}"))
    def test_no_text_raises(self, text: str) -> None:
        """Any input gives an answer."""
        found = parse_date(text)
        assert found is None or found.moment.tzinfo is UTC
        parse_http_date(text)

    @given(st.datetimes(timezones=st.just(UTC)))
    def test_iso_8601_round_trip(self, at: datetime) -> None:
        """What Python writes is read as it was meant."""
        assert moment(at.isoformat()) == at

    @given(st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC)))
    def test_http_round_trip(self, at: datetime) -> None:
        """A date in the preferred form is the same moment for both readers."""
        at = at.replace(microsecond=0)
        from email.utils import format_datetime

        text = format_datetime(at, usegmt=True)
        assert parse_http_date(text) == moment(text) == at

    def test_the_locale_does_not_matter(self) -> None:
        """Names of months are English, whatever the machine speaks."""
        was = locale.setlocale(locale.LC_ALL)
        try:
            for name in ("de_DE.UTF-8", "tr_TR.UTF-8", "C"):
                try:
                    locale.setlocale(locale.LC_ALL, name)
                except locale.Error:
                    continue
                assert moment("FRI, 05 JULI 2024") is None
                assert moment("FRI, 05 JULY 2024") is not None
        finally:
            locale.setlocale(locale.LC_ALL, was)

    @pytest.mark.parametrize("reader", [parse_date, parse_http_date])
    def test_misuse(self, reader: object) -> None:
        """Octets are a mistake of the caller."""
        assert callable(reader)
        for odd in (b"2025-12-03", bytearray(b"2025-12-03"), None):
            with pytest.raises(TypeError) as told:
                reader(odd)
            assert str(told.value) == (
                f"a date must be str, not {type(odd).__name__}: decode bytes as latin-1 first"
            )
