"""
Header fields as people have them, made into field lines (RFC 9110 §5.2, §5.3; RFC 9112 §5).

A mapping, a list of pairs, raw header octets, or the response object of an HTTP library: known by
what it can do, and never by its class, so no library is imported. Lines of one field stay apart
wherever the source has them apart, because X-Robots-Tag with its old grammar cannot be taken apart
once somebody joined its lines with commas (AMB-82). It does not know what any field means. It reads
one block of fields: a saved response with several is the business of `saved`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from robotrules.octets import to_octets, to_text

# Servers and clients stop at some 100 lines and 64 KiB; what is more than this is not read.
MOST_LINES = 100_000
MOST_OCTETS = 1024 * 1024
MOST_INTERIM = 10

# RFC 9112 §5.2: a line that starts with whitespace goes on with the one before; read as a space.
_FOLD = re.compile(rb"\r?\n[ \t]+")
_LINE_END = re.compile(rb"\r\n|\n|\r")


class Fields(NamedTuple):
    """The field lines of a response."""

    lines: tuple[tuple[str, bytes], ...]
    """Name in lower case and value without whitespace at its ends, in the order they came."""
    apart: bool
    """False: a value may be several lines that somebody joined with commas."""

    def get(self, name: str) -> list[bytes]:
        """Return the lines of one field in their order; the case of *name* does not matter."""
        name = name.lower()
        return [value for there, value in self.lines if there == name]

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        lines = [{"name": name, "value": to_text(value)} for name, value in self.lines]
        return {"lines": lines, "apart": self.apart}


NO_FIELDS = Fields((), True)


def first_line(fields: Fields, name: str) -> bytes:
    """Return the first line of one field; empty: there is none."""
    return next(iter(fields.get(name)), b"")


class Headers(Mapping[str, str]):
    """
    The field lines of a response as a mapping from names, whose case does not matter, to values.

    Lines of one field are joined by commas (RFC 9110 §5.3), which Set-Cookie and the older
    X-Robots-Tag do not bear: `get_list()` has them apart. Octets are read as latin-1. Immutable.
    """

    __slots__ = ("_fields",)

    def __init__(self, fields: Fields) -> None:
        self._fields = fields

    def __getitem__(self, name: str) -> str:
        values = self.get_list(name)
        if not values:
            raise KeyError(name)
        return ", ".join(values)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for name, _ in self._fields.lines))

    def __len__(self) -> int:
        return len({name for name, _ in self._fields.lines})

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and bool(self._fields.get(name))

    def __repr__(self) -> str:
        return f"Headers({self.multi_items()!r})"

    def get_list(self, name: str) -> list[str]:
        """Return the values of one field, a line each, in their order; empty: there is none."""
        found = self._fields.get(name) if isinstance(name, str) else []
        return [value.decode("latin-1") for value in found]

    def multi_items(self) -> list[tuple[str, str]]:
        """Return name and value of every line, in their order."""
        return [(name, value.decode("latin-1")) for name, value in self._fields.lines]

    @property
    def raw(self) -> list[tuple[bytes, bytes]]:
        """Name and value of every line as octets."""
        return [(_octets(name), value) for name, value in self._fields.lines]


def read_fields(headers: object) -> Fields:
    """
    Return the field lines of *headers*, whatever has them.

    None has none. What a server sent never raises; what holds no header fields at all, such as a
    number or a list of words, is a TypeError. At most 100,000 lines are read, and 1 MiB of raw
    octets.
    """
    if headers is None:
        return NO_FIELDS
    if isinstance(headers, Fields):
        return headers
    if isinstance(headers, (str, bytes, bytearray, memoryview)):
        return _made(_raw_lines(_octets(headers[: MOST_OCTETS + 1])), True)
    # What most callers have, and what a crawl asks millions of times.
    quick: Fields | None = None
    if type(headers) is dict and 0 < len(headers) <= MOST_LINES:
        quick = _quick(headers.items(), False)
    elif type(headers) is list and len(headers) <= MOST_LINES:
        if {*map(type, headers)} == {tuple}:
            as_octets = isinstance(next(iter(headers[0]), None), bytes)
            quick = _quick_octets(headers) if as_octets else _quick(headers, True)
    if quick is not None:
        return quick
    return _from_response(headers) or _from_headers(headers)


def _quick(pairs: Iterable[Any], apart: bool) -> Fields | None:
    """Return the fields of plain pairs of str; None: they are not so plain."""
    try:
        lines = [
            (name.strip(" \t\r\n").lower(), value.encode("latin-1").strip(b" \t\r\n"))
            for name, value in pairs
        ]
    except (AttributeError, TypeError, ValueError):
        return None  # octets, lists, or what is no pair at all
    values = b"".join([value for _, value in lines])
    return None if b"\n" in values or b"\r" in values else Fields(tuple(lines), apart)


# Names as they come, and in lower case: the same few come with every response.
_NAMES: dict[bytes, str] = {}
_MOST_NAMES, _LONGEST_NAME = 1024, 64


def _named(name: bytes) -> str:
    """Return a name in lower case, and remember it if it is short."""
    found = name.decode("latin-1").strip(" \t\r\n").lower()
    if len(name) <= _LONGEST_NAME and len(_NAMES) < _MOST_NAMES:
        _NAMES[name] = found
    return found


def _quick_octets(pairs: list[tuple[Any, ...]]) -> Fields | None:
    """Return the fields of plain pairs of octets, as transports have them; None: they are not."""
    try:
        lines = [
            (_NAMES.get(name) or _named(name), value.strip(b" \t\r\n")) for name, value in pairs
        ]
        values = b"".join([value for _, value in lines])
    except (AttributeError, TypeError, ValueError):
        return None
    if b"\n" in values or b"\r" in values or {type(value) for _, value in lines} - {bytes}:
        return None
    return Fields(tuple(lines), True)


# --- Objects of libraries -------------------------------------------------------------------------


def _from_response(response: object) -> Fields | None:
    """Return the fields of a response object; None: this is none."""
    if isinstance(response, (Mapping, list, tuple)):
        return None
    # aiohttp: the octets as they came.
    if isinstance(lines := getattr(response, "raw_headers", None), (list, tuple)):
        return _made(_pairs(lines), True)
    headers = getattr(response, "headers", None)
    if headers is None or headers is response or isinstance(headers, (str, bytes)):
        return None
    # requests joins lines in `.headers`; what urllib3 gave it has them apart. A response that was
    # made by hand or by a test's stand-in has no such thing, or an empty one.
    beneath = getattr(getattr(response, "raw", None), "headers", None)
    if beneath is not None and hasattr(beneath, "items"):
        found = _from_headers(beneath)
        if found.lines and found.apart:
            return found
    return _from_headers(headers)


def _from_headers(headers: Any) -> Fields:
    """Return the fields of a mapping, a multi-dictionary, or an iterable of pairs."""
    if isinstance(headers, Fields):
        return headers
    if isinstance(headers, Headers):
        return headers._fields
    # httpx and Starlette keep the octets; what they decode is a guess that cannot be undone.
    if isinstance(lines := getattr(headers, "raw", None), (list, tuple)):
        return _made(_pairs(lines), True)
    # http.client, email and h11: the values as they came, not as `email` would present them.
    if callable(lines := getattr(headers, "raw_items", None)):
        return _made(_pairs(lines()), True)
    # Tornado joins in `items()`, and has the lines by name.
    if isinstance(headers, Mapping) and callable(lines := getattr(headers, "get_list", None)):
        return _made(_pairs((name, lines(name)) for name in headers), True)
    if callable(items := getattr(headers, "items", None)):
        # multidict (aiohttp), Scrapy, urllib3, Werkzeug and wsgiref give each line an item.
        many = any(hasattr(headers, name) for name in ("getall", "getlist", "get_all"))
        if many or not isinstance(headers, Mapping):
            return _made(_pairs(items()), True)
        # A plain mapping can have a name once, so its value may have been joined.
        kept = list(islice(items(), MOST_LINES))
        apart = all(isinstance(value, (list, tuple)) for _, value in kept if value is not None)
        return _made(_pairs(kept), apart)
    if isinstance(headers, Iterable):
        return _made(_pairs(headers), True)
    raise TypeError(_cure(headers))


def _cure(headers: object) -> str:
    return (
        "headers are a mapping, a list of (name, value) pairs, raw header octets, or a response of "
        f"httpx, requests, aiohttp or Scrapy; not {type(headers).__name__}: pass response.headers"
    )


# --- Lines ----------------------------------------------------------------------------------------


def _pairs(items: Any) -> Iterator[tuple[object, bytes]]:
    """Yield name and value of each pair; a list as a value is several lines."""
    if not isinstance(items, Iterable):
        raise TypeError(_cure(items))
    for item in items:
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            raise TypeError(
                f"header fields are pairs of name and value, not {item!r:.60}: pass "
                "[('Robots-Tag', '...')], or the whole header block as bytes"
            )
        name, value = item
        if value is None:
            continue  # how some libraries write a field that is not there
        for one in value if isinstance(value, (list, tuple)) else (value,):
            if not isinstance(one, (str, bytes, bytearray, memoryview)):
                raise TypeError(
                    f"the value of field {name!r:.60} is {type(one).__name__}: pass str or bytes"
                )
            yield name, _octets(one)


def _raw_lines(octets: bytes) -> Iterator[tuple[object, bytes]]:
    """Yield name and value of each line of a header block, to the first empty line."""
    if len(octets) > MOST_OCTETS:
        # Half a line may say something else than the whole one.
        octets = octets[: octets.rfind(b"\n", 0, MOST_OCTETS) + 1]
    octets = octets.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    if b"\n" not in octets:
        octets = octets.replace(b"\r", b"\n")  # ends of lines as no server has sent for decades
    # A 1xx comes before the response that counts (RFC 9110 §15.2).
    for _ in range(MOST_INTERIM):
        if not re.match(rb"HTTP/[0-9.]+ 1[0-9][0-9]", octets):
            break
        octets = [*re.split(rb"\r?\n\r?\n", octets, maxsplit=1), b""][1].lstrip(b"\r\n")
    if octets.startswith(b"HTTP/"):
        _, _, octets = octets.partition(b"\n")
    end = re.search(rb"(?:^|\n)\r?(?:\n|\Z)", octets)
    block = octets[: end.start()] if end else octets
    for line in _FOLD.sub(b" ", block).split(b"\n"):
        name, colon, value = line.partition(b":")
        # A line without a colon is no field. A fold with nothing to fold to and a pseudo-header of
        # HTTP/2 (`:status`) have no name.
        if colon and name and name[:1] not in b" \t":
            yield name, value


def _made(pairs: Iterator[tuple[object, bytes]], apart: bool) -> Fields:
    lines = []
    for name, value in islice(pairs, MOST_LINES):
        if isinstance(name, (bytes, bytearray)):
            name = name.decode("latin-1")
        elif not isinstance(name, str):
            raise TypeError(f"the name of a field is str or bytes, not {type(name).__name__}")
        # RFC 9112 §5.1: whitespace before the colon is removed from what a server sends.
        name = name.strip(" \t\r\n").lower()
        value = value.strip(b" \t\r\n")
        if b"\n" in value or b"\r" in value:
            # No value has a line end in it: it is folded, or several lines in one (HAR files).
            parts = _LINE_END.split(_FOLD.sub(b" ", value))
            lines += [(name, part.strip(b" \t")) for part in parts[:MOST_LINES]]
        else:
            lines.append((name, value))
    return Fields(tuple(lines[:MOST_LINES]), apart)


def _octets(text: str | bytes | bytearray | memoryview) -> bytes:
    """Return the octets of a value: libraries decode them as latin-1, or as UTF-8 with escapes."""
    if isinstance(text, str):
        try:
            return text.encode("latin-1")
        except UnicodeEncodeError:
            pass
    return to_octets(text)
