"""
Header fields from any source, converted to field lines (RFC 9110 §5.2, §5.3; RFC 9112 §5).

Accepts a mapping, a list of pairs, raw header bytes, or the response object of an HTTP library.
Objects are recognised by their attributes, not by their class, so no library is imported. Lines of
one field stay separate wherever the source keeps them separate: X-Robots-Tag with its older grammar
cannot be split again after its lines were joined with commas (AMB-82). The meaning of a field is
not interpreted here. Only one block of fields is read; `tags.saved` handles responses with several.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from robotrules.octets import to_octets, to_text

# Servers and clients accept about 100 lines and 64 KiB; anything beyond these limits is ignored.
MAX_LINES = 100_000
MAX_BYTES = 1024 * 1024
MAX_INTERIM = 10

# RFC 9112 §5.2: a line that starts with whitespace continues the previous line; read as a space.
_FOLD = re.compile(rb"\r?\n[ \t]+")
_LINE_END = re.compile(rb"\r\n|\n|\r")


class Fields(NamedTuple):
    """The field lines of a response."""

    lines: tuple[tuple[str, bytes], ...]
    """Lower-case name and value without surrounding whitespace, in order of receipt."""
    apart: bool
    """False: a value may be several lines that were joined with commas."""

    def get(self, name: str) -> list[bytes]:
        """Return the lines of one field in order; *name* is case-insensitive."""
        name = name.lower()
        return [value for there, value in self.lines if there == name]

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        lines = [{"name": name, "value": to_text(value)} for name, value in self.lines]
        return {"lines": lines, "apart": self.apart}


NO_FIELDS = Fields((), True)


def first_line(fields: Fields, name: str) -> bytes:
    """Return the first line of a field; empty if there is none."""
    return next(iter(fields.get(name)), b"")


class Headers(Mapping[str, str]):
    """
    The field lines of a response as a mapping from case-insensitive names to values.

    Lines of one field are joined with commas (RFC 9110 §5.3). That is wrong for Set-Cookie and for
    X-Robots-Tag in its older grammar: use `get_list()` for them. Bytes are decoded as latin-1.
    Immutable.
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
        """Return the values of one field, one per line, in order; empty if there are none."""
        values = self._fields.get(name) if isinstance(name, str) else []
        return [value.decode("latin-1") for value in values]

    def multi_items(self) -> list[tuple[str, str]]:
        """Return the name and value of every line, in order."""
        return [(name, value.decode("latin-1")) for name, value in self._fields.lines]

    @property
    def raw(self) -> list[tuple[bytes, bytes]]:
        """The name and value of every line as bytes."""
        return [(_to_bytes(name), value) for name, value in self._fields.lines]


def read_fields(headers: object) -> Fields:
    """
    Return the field lines of *headers*, from any supported source.

    None means no fields. Content that a server sent never raises; an object that cannot hold header
    fields, such as a number or a list of words, raises TypeError. At most 100,000 lines and 1 MiB
    of raw bytes are read.
    """
    if headers is None:
        return NO_FIELDS
    if isinstance(headers, Fields):
        return headers
    if isinstance(headers, (str, bytes, bytearray, memoryview)):
        return _build_fields(_parse_raw_lines(_to_bytes(headers[: MAX_BYTES + 1])), True)
    # Fast path: plain dicts and lists are the common case, and a crawl reads millions of them.
    quick: Fields | None = None
    if type(headers) is dict and 0 < len(headers) <= MAX_LINES:
        quick = _read_plain_pairs(headers.items(), False)
    elif type(headers) is list and len(headers) <= MAX_LINES:
        if {*map(type, headers)} == {tuple}:
            as_octets = isinstance(next(iter(headers[0]), None), bytes)
            quick = (
                _read_plain_bytes_pairs(headers) if as_octets else _read_plain_pairs(headers, True)
            )
    if quick is not None:
        return quick
    return _from_response(headers) or _from_headers(headers)


def _read_plain_pairs(pairs: Iterable[Any], apart: bool) -> Fields | None:
    """Return the fields of plain str pairs; None if the pairs need the general path."""
    try:
        lines = [
            (name.strip(" \t\r\n").lower(), value.encode("latin-1").strip(b" \t\r\n"))
            for name, value in pairs
        ]
    except (AttributeError, TypeError, ValueError):
        return None  # bytes, lists, or not a pair
    values = b"".join([value for _, value in lines])
    return None if b"\n" in values or b"\r" in values else Fields(tuple(lines), apart)


# Cache of lower-case names: the same few names come with every response.
_NAMES: dict[bytes, str] = {}
_MAX_NAMES, _MAX_NAME_LENGTH = 1024, 64


def _lower_name(name: bytes) -> str:
    """Return a name in lower case, and cache it if it is short."""
    lower = name.decode("latin-1").strip(" \t\r\n").lower()
    if len(name) <= _MAX_NAME_LENGTH and len(_NAMES) < _MAX_NAMES:
        _NAMES[name] = lower
    return lower


def _read_plain_bytes_pairs(pairs: list[tuple[Any, ...]]) -> Fields | None:
    """Return the fields of plain bytes pairs, as transports have; None: use the general path."""
    try:
        lines = [
            (_NAMES.get(name) or _lower_name(name), value.strip(b" \t\r\n"))
            for name, value in pairs
        ]
        values = b"".join([value for _, value in lines])
    except (AttributeError, TypeError, ValueError):
        return None
    if b"\n" in values or b"\r" in values or {type(value) for _, value in lines} - {bytes}:
        return None
    return Fields(tuple(lines), True)


# --- Objects of HTTP libraries --------------------------------------------------------------------


def _from_response(response: object) -> Fields | None:
    """Return the fields of a response object; None if it is not one."""
    if isinstance(response, (Mapping, list, tuple)):
        return None
    # aiohttp: the bytes as received.
    if isinstance(lines := getattr(response, "raw_headers", None), (list, tuple)):
        return _build_fields(_iterate_pairs(lines), True)
    headers = getattr(response, "headers", None)
    if headers is None or headers is response or isinstance(headers, (str, bytes)):
        return None
    # requests joins lines in `.headers`; the urllib3 response beneath keeps them separate. A
    # response created by hand or by a test double has no such object, or an empty one.
    beneath = getattr(getattr(response, "raw", None), "headers", None)
    if beneath is not None and hasattr(beneath, "items"):
        fields = _from_headers(beneath)
        if fields.lines and fields.apart:
            return fields
    return _from_headers(headers)


def _from_headers(headers: Any) -> Fields:
    """Return the fields of a mapping, a multi-dict, or an iterable of pairs."""
    if isinstance(headers, Fields):
        return headers
    if isinstance(headers, Headers):
        return headers._fields
    # httpx and Starlette keep the bytes; their decoded text is a guess that cannot be reversed.
    if isinstance(lines := getattr(headers, "raw", None), (list, tuple)):
        return _build_fields(_iterate_pairs(lines), True)
    # http.client, email and h11: the values as received, not as `email` presents them.
    if callable(lines := getattr(headers, "raw_items", None)):
        return _build_fields(_iterate_pairs(lines()), True)
    # Tornado joins lines in `items()`, and keeps them separate by name.
    if isinstance(headers, Mapping) and callable(lines := getattr(headers, "get_list", None)):
        return _build_fields(_iterate_pairs((name, lines(name)) for name in headers), True)
    if callable(items := getattr(headers, "items", None)):
        # multidict (aiohttp), Scrapy, urllib3, Werkzeug and wsgiref yield one item per line.
        many = any(hasattr(headers, name) for name in ("getall", "getlist", "get_all"))
        if many or not isinstance(headers, Mapping):
            return _build_fields(_iterate_pairs(items()), True)
        # A plain mapping holds each name once, so its value may be joined lines.
        kept = list(islice(items(), MAX_LINES))
        apart = all(isinstance(value, (list, tuple)) for _, value in kept if value is not None)
        return _build_fields(_iterate_pairs(kept), apart)
    if isinstance(headers, Iterable):
        return _build_fields(_iterate_pairs(headers), True)
    raise TypeError(_usage_message(headers))


def _usage_message(headers: object) -> str:
    return (
        "headers must be a mapping, (name, value) pairs, raw header bytes, or a response of "
        f"httpx, requests, aiohttp or Scrapy; not {type(headers).__name__}: pass response.headers"
    )


# --- Lines ----------------------------------------------------------------------------------------


def _iterate_pairs(items: Any) -> Iterator[tuple[object, bytes]]:
    """Yield the name and value of each pair; a list as value means several lines."""
    if not isinstance(items, Iterable):
        raise TypeError(_usage_message(items))
    for item in items:
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            raise TypeError(
                f"header fields must be (name, value) pairs, not {item!r:.60}: pass "
                "[('Robots-Tag', '...')], or the whole header block as bytes"
            )
        name, value = item
        if value is None:
            continue  # some libraries represent an absent field this way
        for line in value if isinstance(value, (list, tuple)) else (value,):
            if not isinstance(line, (str, bytes, bytearray, memoryview)):
                raise TypeError(
                    f"the value of field {name!r:.60} is {type(line).__name__}: pass str or bytes"
                )
            yield name, _to_bytes(line)


def _parse_raw_lines(octets: bytes) -> Iterator[tuple[object, bytes]]:
    """Yield the name and value of each line of a header block, up to the first empty line."""
    if len(octets) > MAX_BYTES:
        # A truncated line could mean something else than the complete one.
        octets = octets[: octets.rfind(b"\n", 0, MAX_BYTES) + 1]
    octets = octets.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    if b"\n" not in octets:
        octets = octets.replace(b"\r", b"\n")  # CR line ends, as servers sent decades ago
    # 1xx responses precede the final response (RFC 9110 §15.2).
    for _ in range(MAX_INTERIM):
        if not re.match(rb"HTTP/[0-9.]+ 1[0-9][0-9]", octets):
            break
        octets = [*re.split(rb"\r?\n\r?\n", octets, maxsplit=1), b""][1].lstrip(b"\r\n")
    if octets.startswith(b"HTTP/"):
        _, _, octets = octets.partition(b"\n")
    end = re.search(rb"(?:^|\n)\r?(?:\n|\Z)", octets)
    block = octets[: end.start()] if end else octets
    for line in _FOLD.sub(b" ", block).split(b"\n"):
        name, colon, value = line.partition(b":")
        # A line without a colon is not a field. A fold without a line before it and an HTTP/2
        # pseudo-header (`:status`) have no name.
        if colon and name and name[:1] not in b" \t":
            yield name, value


def _build_fields(pairs: Iterator[tuple[object, bytes]], apart: bool) -> Fields:
    lines = []
    for name, value in islice(pairs, MAX_LINES):
        if isinstance(name, (bytes, bytearray)):
            name = name.decode("latin-1")
        elif not isinstance(name, str):
            raise TypeError(f"a field name must be str or bytes, not {type(name).__name__}")
        # RFC 9112 §5.1: whitespace between name and colon in a response is removed.
        name = name.strip(" \t\r\n").lower()
        value = value.strip(b" \t\r\n")
        if b"\n" in value or b"\r" in value:
            # A value cannot contain a line end: it is folded, or several lines in one (HAR files).
            parts = _LINE_END.split(_FOLD.sub(b" ", value))
            lines += [(name, part.strip(b" \t")) for part in parts[:MAX_LINES]]
        else:
            lines.append((name, value))
    return Fields(tuple(lines[:MAX_LINES]), apart)


def _to_bytes(text: str | bytes | bytearray | memoryview) -> bytes:
    """Return the bytes of a value: libraries decode them as latin-1, or as UTF-8 with escapes."""
    if isinstance(text, str):
        try:
            return text.encode("latin-1")
        except UnicodeEncodeError:
            pass
    return to_octets(text)
