"""
Dates as people write them in unavailable_after, and as HTTP writes them (AMB-83; RFC 9110 §5.6.7).

RFC 822, RFC 850, asctime and ISO 8601. A form is recognised as a whole or not at all: nothing is
guessed from parts, and what is not a date is None. English names only, whatever the locale. It does
not know what day it is, and does not find dates in longer texts.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

# The longest date of any form here has about 50 characters; more is no date.
MOST_CHARACTERS = 100
# RFC 9110 §5.6.7: a year of two digits that seems over 50 years in the future is one of the past
# century. That needs a year of reference. There is no clock here, and an answer that changes with
# the day it is asked would be no answer: so it is the year that this was written in, unless the
# caller knows better.
YEAR_OF_REFERENCE = 2025

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAMES = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# RFC 822 §5.1; the military letters are left out as RFC 5322 §4.3 advises, all but Z.
_AMERICAN = {"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7}
_ZONES = dict.fromkeys(("z", "ut", "utc", "gmt"), 0) | _AMERICAN


class ParsedDate(NamedTuple):
    """A moment that a text names."""

    moment: datetime
    """Aware, in UTC."""
    assumed: str | None = None
    """`zone`: the text has no zone, or one that is unknown, and UTC was assumed; else None."""


# --- The forms ------------------------------------------------------------------------------------

# Every part is bounded, so no pattern can be tried in more than a few ways.
_WEEKDAY = rf"(?:{'|'.join(f'{day[:3]}(?:{day[3:]})?' for day in _DAYS)}|tues|thurs?)\.?"
_CLOCK = (
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9}))?)?"
)
# `GMT+0100` says GMT and then what it means. A name may be one of the time zone database, which is
# a file of the machine and so is not looked up: unknown.
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

# RFC 9110 §5.6.7: case and places are fixed, the zone is GMT, and asctime means GMT.
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


# --- Readers --------------------------------------------------------------------------------------


def parse_date(text: str, *, year_of_reference: int = YEAR_OF_REFERENCE) -> ParsedDate | None:
    """
    Return the moment that *text* names, or None if it is no date (AMB-83).

    Case and runs of spaces do not matter, and a weekday need not fit the date. A date without a
    time is the end of that day in UTC: what is available until a day is available on it.
    """
    parts = _parts(text, _FORMS)
    if parts is None or (moment := _as_written(parts, year_of_reference)) is None:
        return None
    if parts["hour"] is None:
        return ParsedDate(moment.replace(hour=23, minute=59, second=59))
    return _in_utc(moment, parts["offset"], parts["zone"])


def parse_http_date(text: str, *, year_of_reference: int = YEAR_OF_REFERENCE) -> datetime | None:
    """Return the moment of a Date, Expires or Last-Modified field, or None (RFC 9110 §5.6.7)."""
    if type(text) is str and len(text) <= _USUAL_LENGTH:
        return _short_http_date(text, year_of_reference)
    return _http_date(text, year_of_reference)


def _http_date(text: str, reference: int) -> datetime | None:
    parts = _parts(text, _HTTP_FORMS)
    return None if parts is None else _as_written(parts, reference)


# A crawl reads the same Date of many responses, and each of them more than once. IMF-fixdate has 29
# characters.
_USUAL_LENGTH = 40
_short_http_date = lru_cache(maxsize=1024)(_http_date)


_Parts = dict[str, str | None]


def _parts(text: str, forms: tuple[re.Pattern[str], ...]) -> _Parts | None:
    """Return the parts of a text in the form that it has."""
    if not isinstance(text, str):
        name = type(text).__name__
        raise TypeError(f"a date is read from str, not {name}: decode octets as latin-1 first")
    if len(text) > MOST_CHARACTERS:
        return None
    text = text.strip(" \t")
    if forms is _FORMS:
        text = re.sub(r"[ \t]+", " ", text)
    found = next(filter(None, (form.fullmatch(text) for form in forms)), None)
    return found and found.groupdict()


def _as_written(parts: _Parts, reference: int) -> datetime | None:
    """Return date and time as written, as if that were UTC; None if there is no such moment."""
    year = parts["year"] or ""
    number = int(year) if len(year) == 4 else _full_year(int(year), reference)
    hour, minute, second = (int(parts[part] or 0) for part in ("hour", "minute", "second"))
    micro = int(f"{parts.get('fraction') or '0':0<6}"[:6])
    # A leap second is the last second of its minute: a datetime has no other name for it.
    second = 59 if second == 60 else second
    # ISO 8601 writes the end of a day as 24:00 as well: it is the midnight that follows.
    is_next_day = (hour, minute, second) == (24, 0, 0)
    try:
        moment = datetime(
            *(number, _month(parts["month"] or ""), int(parts["day"] or 0)),
            *(0 if is_next_day else hour, minute, second, micro),
            tzinfo=UTC,
        )
        return moment + timedelta(days=is_next_day)
    except (ValueError, OverflowError):
        return None


def _month(text: str) -> int:
    """Return the number of a month; a ValueError for what is none."""
    if text.isdigit():
        return int(text)
    name = text.lower()
    if name in _MONTH_NAMES:
        return _MONTH_NAMES.index(name) + 1
    short = "sep" if name == "sept" else name
    return _MONTHS.index(short) + 1


def _full_year(year: int, reference: int) -> int:
    """Return the year that two digits mean: at most 50 years after the year of reference."""
    last = reference + 50
    return last - (last - year) % 100


def _in_utc(moment: datetime, offset: str | None, zone: str | None) -> ParsedDate | None:
    """Return the moment whose date and time are written in a zone."""
    is_known = True
    if offset:
        digits = offset[1:].replace(":", "")
        hours, minutes = int(digits[:2]), int(digits[2:] or 0)
        if hours > 23 or minutes > 59:
            return None
        away = timedelta(hours=hours, minutes=minutes) * (-1 if offset[0] == "-" else 1)
    else:
        name = (zone or "").lower()
        if name in ("am", "pm"):
            return None  # half of a day is no zone, and a wrong moment is worse than none
        is_known = name in _ZONES
        away = timedelta(hours=_ZONES.get(name, 0))
    try:
        return ParsedDate(moment - away, None if is_known else "zone")
    except OverflowError:
        return None
