"""
Formats of lines with URLs: a list, an access log, JSON lines, CSV; detected from the first line.

- A list has one URL per line, or a path that starts with `/`.
- An access log has the Common or Combined Log Format of Apache and nginx, with any prefix (a
  virtual host, a syslog header), or another format with the request line in quotes.
- JSON lines have one object per line, with the URL under one of the usual names.
- CSV, with commas, semicolons or tabs, has a header that names a column of URLs; otherwise the
  first column with a URL is used. The caller can name the column, or give its number. A file that
  starts with a URL and a comma is a list, because a comma may be part of a URL; if every line looks
  like columns, a hint reports that.

Rules depend on path and query only, so URLs are passed on as written, including fragments. Blank
lines and lines that start with `#` are ignored. A line without a URL is skipped, never an error.
Time is linear in the length of a line.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple

from robotrules.octets import visible

# Examples of skipped lines, and the length to which they are cut.
MOST_EXAMPLES = 3
LONGEST_EXAMPLE = 120
LONGEST_CELL = 40
# Names of columns that an error lists.
MOST_NAMES = 20
NO_COLUMN = "a column can be named for CSV and JSON lines only"


class UrlFileFormat(StrEnum):
    """The format of a file of URLs."""

    LIST = "list"
    LOG = "access log"
    JSON = "JSON lines"
    CSV = "CSV"
    SITEMAP = "sitemap"

    @property
    def noun(self) -> str:
        """What its lines are: a log has one line per request."""
        return "request" if self in (UrlFileFormat.LOG, UrlFileFormat.JSON) else "URL"


class Unusable(Exception):
    """A file, or the rest of it, cannot be read; the message says why."""


class LineChunk(NamedTuple):
    """Complete lines that were read together."""

    octets: bytes
    line: int
    """The number of the first line."""


class Example(NamedTuple):
    """A line that was skipped."""

    line: int
    octets: bytes
    """Its beginning."""


class Skipped(NamedTuple):
    """Lines, or elements of a sitemap, without a usable URL."""

    lines: int
    """Their number."""
    examples: tuple[Example, ...]
    """The first few."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        examples = [
            {"line": one.line, "text": one.octets.decode("utf-8", "backslashreplace")}
            for one in self.examples
        ]
        return {"lines": self.lines, "examples": examples}


class Skips:
    """Counts skipped lines while a file is read."""

    def __init__(self) -> None:
        self._count = 0
        self._examples: list[Example] = []

    def add(self, line: int, octets: bytes) -> None:
        """Count a line."""
        self._count += 1
        if len(self._examples) < MOST_EXAMPLES:
            self._examples.append(Example(line, octets.strip()[:LONGEST_EXAMPLE]))

    def merge(self, other: Skipped) -> None:
        """Count the skipped lines of another file."""
        self._count += other.lines
        self._examples = [*self._examples, *other.examples][:MOST_EXAMPLES]

    def skipped(self) -> Skipped:
        """Return the lines skipped so far."""
        return Skipped(self._count, tuple(self._examples))


# --- URLs -----------------------------------------------------------------------------------------

_STARTS = (b"/", b"https://", b"http://")
_HTTP = re.compile(rb"https?://", re.IGNORECASE)
# RFC 3986 §3.1; most such URLs have an authority, and `example.com:80` has none.
_ABSOLUTE = re.compile(rb"[a-z][a-z0-9+.-]*+://|mailto:|tel:|javascript:|data:", re.IGNORECASE)
# `//a` in a log is a path; without an origin it would be parsed as an authority.
LOG_ORIGIN = b"https://example.com"
# A request target (RFC 9112 §3.2) as servers log it, with quotes escaped.
_TARGET = rb'((?:[^"\\\s]|\\\S)++)'
_REQUEST = re.compile(rb'"[A-Z]{1,20} ' + _TARGET + rb'(?: HTTP/[0-9.]{1,9})?"')
_REQUEST_LINE = re.compile(rb"[A-Z]{1,20} (\S+)(?: HTTP/[0-9.]{1,9})?")
# The common case: the first quoted part is a request for a path without escapes.
_USUAL_REQUESTS = re.compile(
    rb'^(?![^\S\n]*+#)[^"\n]*+"[A-Z]{1,20}+ (/(?!/)[^"\\\s]*+)(?: HTTP/[0-9.]{1,9}+)?".*+',
    re.MULTILINE,
)
_MOMENT = re.compile(rb"\[[0-9]{1,2}/[A-Z][a-z]{2}/[0-9]{4}:")
_ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_ESCAPED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b"\b", b"v": b"\v"}


def url_of(text: bytes) -> bytes | None:
    """Return a text if it is an http URL or a path, otherwise None."""
    text = text.strip()
    return text if text.startswith(b"/") or _HTTP.match(text) else None


def _any_url_of(text: bytes) -> bytes | None:
    """Return a text if it is a URL of any scheme or a path, otherwise None."""
    text = text.strip()
    return text if text.startswith(b"/") or _ABSOLUTE.match(text) else None


def _target(target: bytes) -> bytes | None:
    """Return the URL of a request target; None for `*` and `host:port`."""
    return LOG_ORIGIN + target if target.startswith(b"//") else url_of(target)


def target_url(target: bytes) -> bytes | None:
    """
    Return the URL of a request target as servers log it, with escapes undone; None if it is none.

    A path that starts with `//` has `LOG_ORIGIN` before it.
    """
    return _target(_ESCAPE.sub(_unescaped, target) if b"\\" in target else target)


def _unescaped(found: re.Match[bytes]) -> bytes:
    octet, other = found.groups()
    return bytes([int(octet, 16)]) if octet else _ESCAPED.get(other, other)


# --- Readers --------------------------------------------------------------------------------------


class LineReader:
    """Reads URLs of one format, in the order of the file."""

    def __init__(
        self, form: UrlFileFormat, skips: Skips, one: Callable[[bytes], bytes | None]
    ) -> None:
        self.form = form
        self._skips = skips
        self._one = one
        self._columns = _UnnamedColumns()

    @property
    def hint(self) -> str:
        """A hint about how the lines were read; or empty."""
        return self._columns.hint() if self.form is UrlFileFormat.LIST else ""

    def urls(self, text: LineChunk) -> list[bytes]:
        """Return the URLs of some lines."""
        if self.form is UrlFileFormat.LIST:
            self._columns.add(text.octets)
        usual = self._usual(text.octets)
        # As many URLs as lines, so no line is without one. The last line may have no line end.
        if len(usual) == text.octets.count(b"\n") + (not text.octets.endswith(b"\n")):
            return usual
        urls = []
        for number, line in enumerate(text.octets.split(b"\n"), text.line):
            bare = line.strip()
            if not bare or bare.startswith(b"#"):
                continue
            url = self._one(line)
            if url is not None:
                urls.append(url)
            elif not self._is_header(bare):
                self._skips.add(number, bare)
        return urls

    def _is_header(self, line: bytes) -> bool:
        """Tell whether a line is a header and need not be reported as skipped."""
        return self.form is UrlFileFormat.LIST and line.lower().decode("latin-1") in NAMES

    def _usual(self, octets: bytes) -> list[bytes]:
        """Return the URLs of all lines in the common form: the fast path."""
        if self.form is UrlFileFormat.LIST:
            lines = map(bytes.strip, octets.split(b"\n"))
            return [line for line in lines if line.startswith(_STARTS)]
        return _USUAL_REQUESTS.findall(octets) if self.form is UrlFileFormat.LOG else []


# A cell of an export next to a URL: a number, a word, a quoted text, another URL, or nothing.
# `,123.html` is part of a URL.
_CELL = rb'(?:"[^"\n]*+"|https?://[^\s,;]*+|[\w%+-]*+(?:\.[0-9]++)?+%?+)'
_COLUMNS = re.compile(rb"[^\s,;\"]++(?:(?:, ?" + _CELL + rb")++|(?:; ?" + _CELL + rb")++)")


_QUOTED = re.compile(rb'"[^"]*+"')


class _UnnamedColumns:
    """Detects lists in which all lines look like CSV without a header."""

    def __init__(self) -> None:
        self._lines = 0
        self._example = b""
        self._separators: tuple[int, int] | None = None
        self._possible = True

    def add(self, octets: bytes) -> None:
        """Examine further lines, until one has no columns."""
        if not self._possible:
            return
        for line in _meaningful(octets):
            outside = _QUOTED.sub(b"", line)
            separators = outside.count(b","), outside.count(b";")
            self._separators = self._separators or separators
            if separators != self._separators or not _COLUMNS.fullmatch(line):
                self._possible = False
                return
            self._lines += 1
            self._example = self._example or line

    def hint(self) -> str:
        """Return the hint; empty if the lines are URLs or too few."""
        if not self._possible or self._lines < 2:
            return ""
        rest = re.split(rb"[,;]", self._example, maxsplit=1)[1]
        end = self._example[len(self._example) - len(rest) - 1 :][:LONGEST_CELL]
        return (
            f"every line looks like CSV without a header, and '{visible(end)}' was read as part of "
            "the first URL; if these are columns, add a header such as 'url,clicks'"
        )


def _of_log(line: bytes) -> bytes | None:
    found = _REQUEST.search(line)
    if not found:
        return None
    return target_url(found[1])


# Names of URL fields in logs and exports, the most complete first: nginx's `uri` is rewritten and
# has no query; `request` is a request line, or an object in Caddy's logs.
NAMES = (
    *("original", "url", "request_uri", "requesturl", "clientrequesturi", "request"),
    *("httprequest", "uri", "requestpath", "page", "top pages", "pages", "page url"),
    *("landing page", "address", "loc", "link", "permalink", "urls", "page path", "path"),
)


def _of_json(line: bytes, names: Sequence[str] = NAMES) -> bytes | None:
    try:
        value = json.loads(line.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return None
    return _within(value, names, deeper=True) if isinstance(value, dict) else None


def _within(value: dict[str, Any], names: Sequence[str], *, deeper: bool) -> bytes | None:
    """Return the URL in an object, or in an object it contains, under one of the names."""
    if value.keys().isdisjoint(names):
        value = {name.lower(): one for name, one in value.items()}
    for name in names:
        one = value.get(name)
        found = None
        if isinstance(one, str):
            found = _of_value(_octets(one))
        elif isinstance(one, dict) and deeper:
            found = _within(one, NAMES, deeper=False)
        if found is not None:
            return found
    return None


def _octets(text: str) -> bytes:
    """Return the bytes that a text was decoded from, with `surrogateescape`."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # an escape in JSON can make half a surrogate pair
        return text.encode("utf-8", "replace")


def _of_value(value: bytes) -> bytes | None:
    """Return the URL of a value, which may be a request line."""
    found = url_of(value)
    if found is None and (line := _REQUEST_LINE.fullmatch(value.strip())):
        found = _target(line[1])
    return found


class _Columns(LineReader):
    """Reads one column of CSV by line, so that an unclosed quote affects one line only."""

    def __init__(self, skips: Skips, separator: str, named: str | None = None) -> None:
        """*named* is the name of the column, or its number."""
        super().__init__(UrlFileFormat.CSV, skips, self._of_line)
        self._named = named
        self._separator = separator
        self._column: int | None = None
        self._name = ""
        self._others = False
        self._header: list[str] = []
        self._lines = 0

    @property
    def hint(self) -> str:
        """The column that was read, if several have URLs."""
        if self._column is None or not self._others or self._named is not None:
            return ""
        name = f" ('{visible(_octets(self._name))}')" if self._name else ""
        return f"several columns have URLs; column {self._column + 1}{name} was read"

    def _of_line(self, line: bytes) -> bytes | None:
        self._lines += 1
        cells = self._cells(line.decode("utf-8", "surrogateescape"))
        if self._column is None:
            self._column = self._found(cells)
        if self._column is None or self._column >= len(cells):
            return None
        url = _of_value(_octets(cells[self._column]))
        if url is not None and not self._others:
            self._others = sum(_is_whole_url(cell) for cell in cells) > 1
        return url

    def _is_header(self, line: bytes) -> bool:
        return self._lines == 1

    def _found(self, cells: list[str]) -> int | None:
        """Return the column with URLs, by its name or content."""
        if self._named is not None:
            return _named_column(self._named, cells)
        names = [cell.strip().lower() for cell in cells]
        if known := [name for name in NAMES if name in names]:
            column = names.index(known[0])
            self._name = cells[column].strip()[:LONGEST_CELL]
            return column
        found = next((n for n, cell in enumerate(cells) if url_of(_octets(cell)) is not None), None)
        if found is None:
            self._header = cells
        elif found < len(self._header):
            self._name = self._header[found].strip()[:LONGEST_CELL]
        return found

    def _cells(self, line: str) -> list[str]:
        if '"' not in line:
            return line.split(self._separator)
        try:
            return next(csv.reader([line], delimiter=self._separator), [])
        except csv.Error:  # a cell of more than 128 KiB
            return []


def _named_column(named: str, cells: list[str]) -> int:
    """Return the column with a name in the first line, or with a number; raises `Unusable`."""
    names = [cell.strip() for cell in cells]
    for one, among in ((named, names), (named.lower(), [name.lower() for name in names])):
        if one in among:
            return among.index(one)
    if named.isascii() and named.isdigit() and 1 <= int(named[:9]) <= len(names):
        return int(named[:9]) - 1
    shown = [f"'{visible(_octets(name[:LONGEST_CELL]))}'" for name in names[:MOST_NAMES]]
    more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
    wanted = visible(_octets(named[:LONGEST_CELL]))
    raise Unusable(f"there is no column '{wanted}' in its first line: {', '.join(shown)}{more}")


def _is_whole_url(cell: str) -> bool:
    """Tell whether a cell is a URL with a host; a path may be something else."""
    return _HTTP.match(_octets(cell.strip())) is not None


# --- Detection ------------------------------------------------------------------------------------


def line_reader(
    octets: bytes, skips: Skips, *, any_scheme: bool = False, column: str | None = None
) -> LineReader | None:
    """
    Return the reader for a file that starts with these bytes; None if there is no content yet.

    *any_scheme*: a list may have URLs of other schemes than http and https. *column* is the column
    or key with the URLs.
    """
    line = next(_meaningful(octets), None)
    if line is None:
        return None
    if line.startswith(b"{"):
        names = NAMES if column is None else (column, column.lower())
        return LineReader(UrlFileFormat.JSON, skips, partial(_of_json, names=names))
    if re.match(rb'\[\s*(?:[{"\]]|\Z)', line):
        raise Unusable("it is a JSON array; pass one object per line, as printed by jq -c '.[]'")
    if column is not None:
        return _Columns(skips, _most_frequent_separator(line) or ",", column)
    if _REQUEST.search(line) or _MOMENT.search(line):
        return LineReader(UrlFileFormat.LOG, skips, _of_log)
    separator = _separator(line)
    if separator:
        return _Columns(skips, separator)
    return LineReader(UrlFileFormat.LIST, skips, _any_url_of if any_scheme else url_of)


def _meaningful(octets: bytes) -> Iterator[bytes]:
    for line in octets.split(b"\n"):
        line = line.strip()
        if line and not line.startswith(b"#"):
            yield line


def _separator(line: bytes) -> str:
    """Return the cell separator of a line; empty if it is not CSV."""
    if url_of(line) is not None:
        return "\t" if b"\t" in line else ""  # a comma may be part of a URL
    return _most_frequent_separator(line) or ("," if line.startswith(b'"') else "")


def _most_frequent_separator(line: bytes) -> str:
    """Return the separator that a line has most often; empty if it has none."""
    counts = {one: line.count(one.encode()) for one in "\t;,"}
    most = max(counts, key=counts.__getitem__)
    return most if counts[most] else ""
