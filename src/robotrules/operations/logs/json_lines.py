"""
The fields of requests in JSON lines, under the names that servers and CDNs use.

Objects may be nested. The names are looked up once and remembered; a line with other names is
looked up again, also if a field that a request needs is not where it was. The User-Agent is found
without parsing the line, so that lines of people are cheap; lines of crawlers are parsed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from robotrules.operations.logs.entries import Columns

__all__ = ["JsonFields"]

# Nested objects and lists of headers: Caddy has `request.headers.User-Agent[0]`.
DEEPEST, MOST_KEYS = 4, 400
LONGEST_NUMBER = 40
# Names in lower case without `_`, `-` and `.`; the most specific first.
_NAMES: dict[str, tuple[str, ...]] = {
    "agent": (
        *("httpuseragent", "useragent", "useragentoriginal", "requestuseragent"),
        *("clientrequestuseragent", "csuseragent", "agent", "ua"),
    ),
    "time": (
        *("startutc", "timeiso8601", "timestamp", "edgestarttimestamp", "timelocal", "ts"),
        *("msec", "time", "starttime", "startlocal", "datetime"),
    ),
    "request": ("requestline", "request"),
    "target": (
        *("requesturi", "requestpath", "clientrequesturi", "requesturl", "urloriginal", "uri"),
        *("url", "csuristem", "path"),
    ),
    "query": ("querystring", "args", "csuriquery", "query"),
    "status": (
        *("status", "statuscode", "downstreamstatus", "edgeresponsestatus", "responsestatus"),
        *("responsecode", "scstatus", "httpstatus", "originstatus", "code"),
    ),
    "size": (
        *("bodybytessent", "bytessent", "responsesize", "size", "downstreamcontentsize"),
        *("edgeresponsebytes", "responsebytes", "scbytes", "bytes", "contentlength"),
    ),
    "address": (
        *("clientip", "remoteaddr", "remoteip", "sourceip", "clienthost", "clientaddr", "cip"),
        *("client", "ipaddress", "ip", "remotehost"),
    ),
    "host": (
        *("host", "vhost", "servername", "httphost", "requesthost", "clientrequesthost"),
        *("authority", "xhostheader", "domain"),
    ),
}
_FIELDS = ("agent", *(field for field in _NAMES if field != "agent"))
_ROW = {field: number for number, field in enumerate(_FIELDS)}
_AGENT, _TIME, _REQUEST, _TARGET = (_ROW[one] for one in ("agent", "time", "request", "target"))
COLUMNS = Columns(**{field: _ROW.get(field, len(_ROW)) for field in Columns._fields})
_REQUIRED = ("time", "request", "target")
_SEPARATORS = str.maketrans("", "", "_-. @")
# What follows the key of a text, or of a list of texts.
_VALUE = rb'\s*+:\s*+(?:\[\s*+)?"([^"\\]*+(?:\\.[^"\\]*+)*+)"'
# A line that may have a User-Agent under another name.
_AGENT_KEY = re.compile(rb'agent|"ua"', re.IGNORECASE)
Path = tuple[str | int, ...]


class JsonFields:
    """Finds the fields of requests in the lines of one file."""

    columns = COLUMNS

    def __init__(self) -> None:
        self._paths: dict[str, Path] = {}
        self._keys: frozenset[str] = frozenset()
        self._search: re.Pattern[bytes] | None = None
        self._key = b""
        self.has_agent = True

    def find_agent(self, line: bytes) -> bytes | None:
        """
        Return the User-Agent of a line; None if the line has to be parsed.

        It is certain only if the line has its key once: in `url.original` and
        `user_agent.original`, the first one is what the visitor requested.
        """
        if self._search is None or not line.startswith(b"{") or b"}" not in line[-2:]:
            return None
        found = self._search.search(line)
        if not found or self._key in line[found.end() :]:
            return None
        raw = found[1]
        return self.unescaped(raw) if b"\\" in raw else raw

    def read(self, line: bytes) -> tuple[bytes, ...] | None:
        """Return the fields of a request; None if the line is none."""
        try:
            value = json.loads(line.decode("utf-8", "surrogateescape"))
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict):
            return None
        is_known = value.keys() == self._keys
        if not is_known:
            self._learn(value)
        fields = [self._field(value, field) for field in _FIELDS]
        if is_known and (
            (not fields[_AGENT] and _AGENT_KEY.search(line))
            or not fields[_TIME]
            or not (fields[_REQUEST] or fields[_TARGET])
        ):
            self._learn(value)
            fields = [self._field(value, field) for field in _FIELDS]
        if not fields[_TIME] or not (fields[_REQUEST] or fields[_TARGET]):
            return None
        return (*fields, b"")

    def _field(self, value: dict[str, Any], field: str) -> bytes:
        path = self._paths.get(field)
        if path is None:
            return b""
        found: Any = value
        for key in path:
            try:
                found = found[key]
            except (KeyError, IndexError, TypeError):
                return b""
        return _octets(found)

    def _learn(self, value: dict[str, Any]) -> None:
        """Find the fields of an object; optional ones that it lacks stay where they were."""
        self._keys = frozenset(value) if len(value) < MOST_KEYS else frozenset()
        named: dict[str, Path] = {}
        for path in sorted(_leaves(value, (), [MOST_KEYS]), key=len):
            words = [one for one in path if isinstance(one, str)]
            for start in range(len(words)):
                # `request.uri` is found as `requesturi` and as `uri`; the shortest path wins.
                name = "".join(words[start:]).lower().translate(_SEPARATORS)
                named.setdefault(name, path)
        kept = {field: path for field, path in self._paths.items() if field not in _REQUIRED}
        self._paths = kept | {
            field: named[name]
            for field, names in _NAMES.items()
            for name in reversed(names)
            if name in named and (name != "request" or _is_request_line(value, named[name]))
        }
        path = self._paths.get("agent", ())
        self.has_agent = bool(path)
        keys = [one for one in path if isinstance(one, str)]
        if keys:
            self._key = json.dumps(keys[-1]).encode()
            self._search = re.compile(re.escape(self._key) + _VALUE)

    @staticmethod
    def unescaped(raw: bytes) -> bytes:
        """Return the text of a JSON string, as bytes."""
        if b"\\" not in raw:
            return raw
        try:
            text = json.loads(b'"' + raw + b'"')
        except ValueError:  # cut in the middle of an escape
            return raw
        return _octets(text)


def _leaves(value: object, path: Path, left: list[int]) -> Iterator[Path]:
    """Yield the paths of texts and numbers; *left* limits how many."""
    if isinstance(value, dict):
        if len(path) < DEEPEST:
            for key, one in value.items():
                yield from _leaves(one, (*path, key), left)
                if left[0] <= 0:
                    return
    elif isinstance(value, list):
        if value and len(path) < DEEPEST + 1:
            yield from _leaves(value[0], (*path, 0), left)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        left[0] -= 1
        yield path


def _is_request_line(value: Any, path: Path) -> bool:
    for key in path:
        value = value[key]
    return isinstance(value, str) and " " in value.strip()


def _octets(value: object) -> bytes:
    """Return a text or number as bytes; nothing for other values."""
    if isinstance(value, str):
        try:
            return value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:  # half a surrogate pair
            return value.encode("utf-8", "replace")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return b""
    try:
        return str(value).encode()[:LONGEST_NUMBER]
    except ValueError:  # an integer of thousands of digits
        return b""
