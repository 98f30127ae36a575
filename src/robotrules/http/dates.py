"""
Dates in unavailable_after rules and in HTTP header fields (AMB-83; RFC 9110 §5.6.7).

Accepts RFC 822, RFC 850, asctime and ISO 8601. A text either matches one of these forms completely
or is not a date (None); nothing is guessed from parts. Month and day names are English in every
locale. The module does not read the clock and does not search for dates inside longer text.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

# The longest date of any accepted form has about 50 characters; longer text is not a date.
MAX_CHARACTERS = 100
# RFC 9110 §5.6.7: a two-digit year that appears to be more than 50 years in the future is in the
# past century. That needs a reference year. This module has no clock, and results must not change
# from day to day, so the default is the year in which this was written; callers may pass another.
YEAR_OF_REFERENCE = 2025

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAMES = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# RFC 822 §5.1; the military letters are left out as RFC 5322 §4.3 advises, all but Z.
_US_ZONES = {"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7}
_ZONES = dict.fromkeys(("z", "ut", "utc", "gmt"), 0) | _US_ZONES


class ParsedDate(NamedTuple):
    """A parsed date."""

    moment: datetime
    """Aware, in UTC."""
    assumed: str | None = None
    """`zone`: the text has no zone or an unknown one, and UTC was assumed; otherwise None."""


# --- Formats --------------------------------------------------------------------------------------

# Every part has a maximum length, which bounds backtracking.
_WEEKDAY = rf"(?:{'|'.join(f'{day[:3]}(?:{day[3:]})?' for day in _DAYS)}|tues|thurs?)\.?"
_CLOCK = (
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9}))?)?"
)
# `GMT+0100` names GMT and then an offset; the offset counts. A name from the time zone database is
# treated as unknown: that database depends on the machine.
_ZONE = (
    r"(?:(?:gmt|utc)?(?P<offset>[+-](?:[0-9]{2}:?[0-9]{2}|[0-9]{1,2}))"
    r"|(?P<zone>[a-z]{1,10}(?:[/_][a-z]{1,20}){0,3}))(?: \([a-z ]{1,40}\))?"
)
_MONTH = r"(?P<month>[a-z]{3,9})\.?"
_YEAR = r"(?P<year>[0-9]{4}|[0-9]{2})"
_FIRST = rf"(?:{_WEEKDAY}(?:, ?| ))?(?P<day>[0-9]{{1,2}})"
_THEN = rf"(?: {_CLOCK}(?: ?{_ZONE})?)?"

_RFC_822 = rf"{_FIRST} {_MONTH} {_YEAR}{_THEN}"
_RFC_850 = rf"{_FIRST}-{_MONTH}-{_YEAR}{_THEN}"
_ASCTIME = rf"{_WEEKDAY} {_MONTH} (?P<day>[0-9]{{1,2}}) {_CLOCK}(?: {_ZONE})? (?P<year>[0-9]{{4}})"
_ISO_8601 = (
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
    rf"(?:[t ]{_CLOCK}(?: ?{_ZONE})?)?"
)
_FORMS = tuple(
    re.compile(form, re.ASCII | re.IGNORECASE) for form in (_RFC_822, _RFC_850, _ASCTIME, _ISO_8601)
)

# RFC 9110 §5.6.7: case and column positions are fixed, the zone is GMT; asctime implies GMT.
_SHORT, _LONG = "|".join(day[:3].title() for day in _DAYS), "|".join(map(str.title, _DAYS))
_NAME = rf"(?P<month>{'|'.join(map(str.title, _MONTHS))})"
_TIME = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
_HTTP_FORMS = tuple(
    re.compile(form, re.ASCII)
    for form in (
        rf"(?:{_SHORT}), (?P<day>[0-9]{{2}}) {_NAME} (?P<year>[0-9]{{4}}) {_TIME} GMT",
        rf"(?:{_LONG}), (?P<day>[0-9]{{2}})-{_NAME}-(?P<year>[0-9]{{2}}) {_TIME} GMT",
        rf"(?:{_SHORT}) {_NAME} (?P<day>[0-9]{{2}}| [0-9]) {_TIME} (?P<year>[0-9]{{4}})",
    )
)


# --- Parsing --------------------------------------------------------------------------------------


def parse_date(text: str, *, year_of_reference: int = YEAR_OF_REFERENCE) -> ParsedDate | None:
    """
    Return the date and time in *text*, or None if it is not a date (AMB-83).

    Case and runs of spaces are ignored, and the weekday is not checked against the date. A date
    without a time means the end of that day in UTC: "available until a day" includes that day.
    """
    parts = _match_parts(text, _FORMS)
    if parts is None or (moment := _to_datetime(parts, year_of_reference)) is None:
        return None
    if parts["hour"] is None:
        return ParsedDate(moment.replace(hour=23, minute=59, second=59))
    return _to_utc(moment, parts["offset"], parts["zone"])


def parse_http_date(text: str, *, year_of_reference: int = YEAR_OF_REFERENCE) -> datetime | None:
    """Parse a Date, Expires or Last-Modified value; None: not an HTTP date (RFC 9110 §5.6.7)."""
    if type(text) is str and len(text) <= _USUAL_LENGTH:
        return _parse_short_http_date(text, year_of_reference)
    return _parse_http_date(text, year_of_reference)


def _parse_http_date(text: str, reference: int) -> datetime | None:
    parts = _match_parts(text, _HTTP_FORMS)
    return None if parts is None else _to_datetime(parts, reference)


# A crawl parses the same Date value for many responses, each more than once. An IMF-fixdate has 29
# characters.
_USUAL_LENGTH = 40
_parse_short_http_date = lru_cache(maxsize=1024)(_parse_http_date)


_Parts = dict[str, str | None]


def _match_parts(text: str, forms: tuple[re.Pattern[str], ...]) -> _Parts | None:
    """Return the named parts of the first form that matches the text."""
    if not isinstance(text, str):
        name = type(text).__name__
        raise TypeError(f"a date must be str, not {name}: decode bytes as latin-1 first")
    if len(text) > MAX_CHARACTERS:
        return None
    text = text.strip(" \t")
    if forms is _FORMS:
        text = re.sub(r"[ \t]+", " ", text)
    match = next(filter(None, (form.fullmatch(text) for form in forms)), None)
    return match and match.groupdict()


def _to_datetime(parts: _Parts, reference: int) -> datetime | None:
    """Return the date and time as written, taken as UTC; None if that date does not exist."""
    year = parts["year"] or ""
    number = int(year) if len(year) == 4 else _full_year(int(year), reference)
    hour, minute, second = (int(parts[part] or 0) for part in ("hour", "minute", "second"))
    micro = int(f"{parts.get('fraction') or '0':0<6}"[:6])
    # A leap second maps to the last second of its minute: datetime cannot represent second 60.
    second = 59 if second == 60 else second
    # ISO 8601 also writes the end of a day as 24:00, which is the following midnight.
    is_next_day = (hour, minute, second) == (24, 0, 0)
    try:
        moment = datetime(
            *(number, _month_number(parts["month"] or ""), int(parts["day"] or 0)),
            *(0 if is_next_day else hour, minute, second, micro),
            tzinfo=UTC,
        )
        return moment + timedelta(days=is_next_day)
    except (ValueError, OverflowError):
        return None


def _month_number(text: str) -> int:
    """Return the number of a month; ValueError if the name is unknown."""
    if text.isdigit():
        return int(text)
    name = text.lower()
    if name in _MONTH_NAMES:
        return _MONTH_NAMES.index(name) + 1
    short = "sep" if name == "sept" else name
    return _MONTHS.index(short) + 1


def _full_year(year: int, reference: int) -> int:
    """Return the four-digit year of a two-digit one: at most 50 years after the reference year."""
    last = reference + 50
    return last - (last - year) % 100


def _to_utc(moment: datetime, offset: str | None, zone: str | None) -> ParsedDate | None:
    """Convert a date and time written in a zone to UTC."""
    is_known = True
    if offset:
        digits = offset[1:].replace(":", "")
        hours, minutes = int(digits[:2]), int(digits[2:] or 0)
        if hours > 23 or minutes > 59:
            return None
        utc_offset = timedelta(hours=hours, minutes=minutes) * (-1 if offset[0] == "-" else 1)
    else:
        name = (zone or "").lower()
        if name in ("am", "pm"):
            return None  # AM and PM are not zones, and a wrong time is worse than none
        is_known = name in _ZONES
        utc_offset = timedelta(hours=_ZONES.get(name, 0))
    try:
        return ParsedDate(moment - utc_offset, None if is_known else "zone")
    except OverflowError:
        return None
