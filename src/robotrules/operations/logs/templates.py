"""
Templates of log lines: nginx's `log_format`, Apache's `LogFormat`, and the fields of a W3C log.

A template becomes one regular expression over many lines. Each variable ends at the text that
follows it in the template, so every line is matched in linear time. Lines may have more fields than
the template.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from robotrules.octets import visible
from robotrules.operations.logs.entries import Columns

__all__ = ["LineTemplate", "TemplateError", "compile_template", "compile_w3c", "is_template"]

# No log format has more.
LONGEST_TEMPLATE, MOST_VARIABLES = 8192, 90

_NGINX = {
    "remote_addr": "address",
    "time_local": "time",
    "time_iso8601": "time",
    "msec": "time",
    "request": "request",
    "request_uri": "target",
    "uri": "target",
    "document_uri": "target",
    "args": "query",
    "query_string": "query",
    "status": "status",
    "body_bytes_sent": "size",
    "bytes_sent": "size",
    "http_user_agent": "agent",
    "host": "host",
    "http_host": "host",
    "server_name": "host",
    "http_x_forwarded_for": "address",
    "proxy_add_x_forwarded_for": "address",
}
_APACHE = {
    "h": "address",
    "a": "address",
    "t": "time",
    "r": "request",
    "U": "target",
    "q": "query",
    "s": "status",
    "b": "size",
    "B": "size",
    "O": "size",
    "v": "host",
    "V": "host",
}
_APACHE_HEADERS = {"user-agent": "agent", "host": "host", "x-forwarded-for": "address"}
_W3C = {
    "date": "date",
    "time": "time",
    "timestamp": "time",
    "c-ip": "address",
    "cs-uri-stem": "target",
    "cs-uri": "target",
    "cs-uri-query": "query",
    "sc-status": "status",
    "sc-bytes": "size",
    "cs(user-agent)": "agent",
    "x-host-header": "host",
    "cs-host": "host",
    "cs(host)": "host",
}
# Of several variables for the same field, the first of these counts.
_PREFERRED = (
    *("remote_addr", "a", "h", "time_iso8601", "time_local", "request_uri", "uri"),
    *("body_bytes_sent", "b", "B", "host", "v", "x-host-header"),
)
_VARIABLE = re.compile(r"\$(?:([A-Za-z0-9_]+)|\{([A-Za-z0-9_]+)\})")
_DIRECTIVE = re.compile(
    r"%(?:(?P<percent>%)|[<>!0-9,]*(?:\{(?P<argument>[^}]*)\})?(?P<letter>\^?[A-Za-z]{1,3}?))"
)
_QUOTED_PARTS = re.compile(r"'((?:[^'\\]|\\.)*+)'|\"((?:[^\"\\]|\\.)*+)\"")
_TIME_LOCAL = rb"[0-9]{1,2}/[A-Z][a-z]{2}/[0-9]{4}:[0-9:.]{8,18}(?: [+-][0-9]{4})?"
_TO_QUOTE = rb'[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+'


class TemplateError(ValueError):
    """A template cannot be used; the message says why and what to write."""


class LineTemplate(NamedTuple):
    """A compiled template."""

    name: str
    pattern: re.Pattern[bytes]
    """Matches whole lines; its groups are the fields."""
    columns: Columns
    is_encoded: bool = False
    """Whether blanks in the User-Agent are written as `+` or `%20`."""

    @property
    def has_agent(self) -> bool:
        """Whether the lines have a User-Agent."""
        return self.columns.agent != self.pattern.groups - 1


class _Variable(NamedTuple):
    name: str
    field: str
    is_time_local: bool = False
    words: int = 1
    """The number of words that it has if it is followed by a blank."""
    is_list: bool = False


def is_template(text: str) -> bool:
    """Tell whether a text is a template, and not the name of a format."""
    return bool(_VARIABLE.search(text) or "%" in text or text.lstrip().startswith("#Fields"))


def compile_template(text: str, name: str = "", *, leading_words: int = 0) -> LineTemplate:
    """
    Return the compiled template of nginx, Apache or `#Fields`; raises `TemplateError`.

    *leading_words* are at the start of each line, before the template.
    """
    if len(text) > LONGEST_TEMPLATE:
        raise TemplateError(f"the log format is longer than {LONGEST_TEMPLATE:,} characters")
    text = _unwrapped(text.strip())
    if text.startswith("#Fields"):
        return compile_w3c(text.partition(":")[2].encode(), name or "W3C extended")
    if _VARIABLE.search(text):
        pieces, kind = list(_nginx_pieces(text)), "nginx template"
    elif "%" in text:
        pieces, kind = list(_apache_pieces(text)), "Apache template"
    else:
        raise TemplateError(
            "the log format has no variable such as $remote_addr (nginx) or %h (Apache)"
        )
    pattern, columns = _compile(pieces, leading_words)
    return LineTemplate(name or kind, pattern, columns)


def compile_w3c(fields: bytes, name: str = "W3C extended") -> LineTemplate:
    """Return the template of the fields that the `#Fields` line of a W3C log names."""
    names = fields.decode("ascii", "replace").split()
    if not names or len(names) > MOST_VARIABLES:
        raise TemplateError(f"#Fields names {len(names)} fields: 1 to {MOST_VARIABLES} are read")
    pieces: list[str | _Variable] = []
    for one in names:
        pieces += [_Variable(one, _W3C.get(one.lower(), "")), " "]
    pattern, columns = _compile(pieces[:-1], 0, quotes=True)
    return LineTemplate(name, pattern, columns, is_encoded=True)


# --- Parts of a template --------------------------------------------------------------------------


def _unwrapped(text: str) -> str:
    """Return the template in a directive that was copied from a configuration."""
    first = text.split(None, 1)[0].lower() if text else ""
    if first == "log_format":
        parts = ["".join(one) for one in _QUOTED_PARTS.findall(text)]
        return "".join(part.replace("\\'", "'").replace('\\"', '"') for part in parts)
    if first in ("logformat", "customlog"):
        found = _QUOTED_PARTS.findall(text)
        text = "".join(found[-1 if first == "customlog" else 0]) if found else text
    return text.replace('\\"', '"')


def _nginx_pieces(text: str) -> Iterator[str | _Variable]:
    end = 0
    for found in _VARIABLE.finditer(text):
        yield text[end : found.start()]
        end = found.end()
        name = found[1] or found[2]
        yield _Variable(
            name,
            _NGINX.get(name, ""),
            is_time_local=name == "time_local",
            is_list=name.startswith("upstream_") or "forwarded_for" in name,
        )
    yield text[end:]


def _apache_pieces(text: str) -> Iterator[str | _Variable]:
    end = 0
    for found in _DIRECTIVE.finditer(text):
        yield text[end : found.start()]
        end = found.end()
        letter, argument = (found["letter"] or "").lstrip("^"), found["argument"] or ""
        if found["percent"]:
            yield "%"
        elif letter == "t" and not argument:
            yield from ("[", _Variable("t", "time", is_time_local=True), "]")
        elif letter == "i":
            name = argument.lower()
            yield _Variable(name, _APACHE_HEADERS.get(name, ""), is_list="forwarded" in name)
        else:
            field = _APACHE.get(letter, "")
            yield _Variable(letter, field, words=argument.count(" ") + 1 if letter == "t" else 1)
    yield text[end:]


def _compile(
    pieces: Sequence[str | _Variable], leading_words: int, *, quotes: bool = False
) -> tuple[re.Pattern[bytes], Columns]:
    """Return the pattern of the pieces, and which group is which field."""
    pieces = _joined(pieces)
    variables = [one for one in pieces if isinstance(one, _Variable)]
    if len(variables) > MOST_VARIABLES:
        raise TemplateError(f"the log format has more than {MOST_VARIABLES} variables")
    chosen: dict[str, int] = {}
    for number, piece in enumerate(pieces):
        if isinstance(piece, _Variable) and piece.field:
            before = chosen.get(piece.field)
            if before is None or _preference(piece) < _preference(pieces[before]):
                chosen[piece.field] = number
    for field, words in _REQUIRED.items():
        if not any(one in chosen for one in field.split()):
            raise TemplateError(f"the log format has no {words}")
    parts = [rb"^", rb"\S++[ \t]++" * leading_words]
    groups: dict[str, int] = {}
    for number, piece in enumerate(pieces):
        if isinstance(piece, str):
            parts.append(_literal(piece))
            continue
        following = pieces[number + 1] if number + 1 < len(pieces) else ""
        if isinstance(following, _Variable):
            raise TemplateError(
                f"the log format has no text between {visible(piece.name)} and "
                f"{visible(following.name)}, so it cannot be told where one ends"
            )
        value = _value(piece, following, quotes=quotes)
        if chosen.get(piece.field) == number:
            groups[piece.field] = len(groups)
            parts.append(b"(" + value + b")")
        else:
            parts.append(value)
    # An absent field is the last group, which is empty.
    parts.append(rb"(?:[ \t][^\n]*+)?\r?()$")
    columns = Columns(**{field: groups.get(field, len(groups)) for field in Columns._fields})
    return re.compile(b"".join(parts), re.MULTILINE), columns


_REQUIRED = {
    "time": "time: add $time_local (nginx), %t (Apache) or time (W3C)",
    "request target": "request: add $request (nginx), %r (Apache) or cs-uri-stem (W3C)",
}


def _preference(piece: str | _Variable) -> int:
    name = piece.name if isinstance(piece, _Variable) else ""
    return _PREFERRED.index(name) if name in _PREFERRED else len(_PREFERRED)


def _joined(pieces: Sequence[str | _Variable]) -> list[str | _Variable]:
    """Join neighbouring texts, so that each variable knows the text that follows it."""
    joined: list[str | _Variable] = []
    for piece in pieces:
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        elif piece:
            joined.append(piece)
    return joined


def _literal(text: str) -> bytes:
    return b"[ \\t]++".join(re.escape(part.encode()) for part in re.split(r"[ \t]+", text))


def _value(variable: _Variable, following: str, *, quotes: bool) -> bytes:
    """Return the pattern of a value, which ends at the text that follows."""
    stop = following[:1].encode()
    if quotes:
        return rb'(?:"[^"\n]*+"|[^\s"]\S*+)'
    if variable.is_time_local:
        return _TIME_LOCAL
    if stop == b'"':
        return _TO_QUOTE
    if not stop:
        return rb"[^\r\n]*+"
    if stop.isspace():
        if variable.is_list:
            return rb"[^\s,]*+(?:,? ?: [^\s,]++|, ?[^\s,]++)*+"
        if variable.name in ("remote_user", "u"):  # may have blanks
            return rb"(?:(?!" + _literal(following) + rb")[^\n])*+"
        return rb"\S*+" + rb" \S++" * (variable.words - 1)
    if variable.field == "address":  # the colons of an IPv6 address do not end it
        return rb"(?:\[[0-9A-Fa-f:.]++\]|[^\s" + re.escape(stop) + rb"]*+)"
    return rb"[^\n" + re.escape(stop) + rb"]*+"
