"""
Formats of access logs: detected from the first lines, or chosen by name or template.

A reader takes complete lines and returns the requests of crawlers; requests of others are counted
after a look at their User-Agent. Lines that do not fit are counted, and the first few are kept.

Sections: readers · detection.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

from robotrules.octets import visible
from robotrules.operations.logs.entries import Columns
from robotrules.operations.logs.json_lines import JsonFields
from robotrules.operations.logs.summary import UnreadLine
from robotrules.operations.logs.templates import (
    LineTemplate,
    TemplateError,
    compile_template,
    compile_w3c,
    is_template,
)
from robotrules.url_lists import LineChunk

__all__ = ["FORMATS", "LogFormatError", "LogReader", "Requests", "log_reader", "looks_like_log"]

MOST_EXAMPLES = 3
LONGEST_EXAMPLE = 120
# Lines from which the format is detected; longer ones are not looked at.
MOST_SAMPLES, LONGEST_SAMPLE = 100, 8192
# Words before the address: the prefix of syslog has five, and a virtual host.
MOST_LEADING = 8

_COMBINED = (
    '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent '
    '"$http_referer" "$http_user_agent"'
)
_COMMON = '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent'
_VHOST = '%v:%p %h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i"'
_ALB = (
    "$type $time_iso8601 $elb $remote_addr:$client_port $target $request_processing_time "
    "$target_processing_time $response_processing_time $status $target_status $received_bytes "
    '$bytes_sent "$request" "$http_user_agent"'
)
# What `--log-format` takes.
FORMATS: Mapping[str, str] = {
    "combined": "Apache and nginx, the usual one",
    "common": "Apache and nginx, without a User-Agent",
    "vhost": "combined after the name of a virtual host and its port",
    "json": "one JSON object per line: nginx, Caddy, Traefik, CDNs",
    "w3c": "W3C extended, with a #Fields line: IIS, CloudFront",
    "alb": "AWS Application Load Balancer",
}
_TEMPLATES = {"combined": _COMBINED, "common": _COMMON, "vhost": _VHOST, "alb": _ALB}


class LogFormatError(ValueError):
    """The format of a log is not known, or cannot be used; the message says what to do."""


# --- Readers --------------------------------------------------------------------------------------


class Requests(NamedTuple):
    """What was read of some lines."""

    total: int
    """The number of requests, of people and crawlers."""
    picked: list[tuple[Any, Sequence[bytes]]]
    """Of each request of a crawler: what its User-Agent was looked up as, and its fields."""
    columns: Columns


class LogReader(ABC):
    """Reads the lines of one file; a subclass knows the format."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.unread = 0
        self.examples: list[UnreadLine] = []
        self.has_agent = True

    @abstractmethod
    def read(self, chunk: LineChunk, agents: Mapping[bytes, Any], *, everyone: bool) -> Requests:
        """
        Return the requests of crawlers; of all visitors with *everyone*.

        *agents* looks a User-Agent up; None stands for people.
        """

    def decode_agent(self, raw: bytes) -> str:
        """Return a User-Agent as text."""
        return raw.decode("utf-8", "replace")

    def skip(self, line: int, octets: bytes) -> None:
        """Count a line that does not fit."""
        self.unread += 1
        if len(self.examples) < MOST_EXAMPLES:
            shown = visible(octets.strip()[:LONGEST_EXAMPLE])[:LONGEST_EXAMPLE]
            self.examples.append(UnreadLine(line, shown))


class TemplateReader(LogReader):
    """Reads lines that fit a template."""

    def __init__(self, template: LineTemplate) -> None:
        super().__init__(template.name)
        self._template = template
        self.has_agent = template.has_agent

    def read(self, chunk: LineChunk, agents: Mapping[bytes, Any], *, everyone: bool) -> Requests:
        """Return the requests of crawlers; of all visitors with *everyone*."""
        columns = self._template.columns
        found = self._template.pattern.findall(chunk.octets)
        # The last line of a file may have no line end.
        lines = chunk.octets.count(b"\n") + (not chunk.octets.endswith(b"\n"))
        if len(found) != lines:
            found = self._by_line(chunk)
        if not found:
            return Requests(0, [], columns)
        agent = columns.agent
        if everyone:
            return Requests(len(found), [(agents[one[agent]], one) for one in found], columns)
        picked = [(who, one) for one in found if (who := agents[one[agent]]) is not None]
        return Requests(len(found), picked, columns)

    def _by_line(self, chunk: LineChunk) -> list[tuple[bytes, ...]]:
        """Return the requests of a chunk that has other lines too."""
        match = self._template.pattern.match
        found = []
        for number, line in enumerate(chunk.octets.split(b"\n"), chunk.line):
            fields = match(line)
            if fields:
                found.append(fields.groups())
            elif line.strip() and not line.startswith(b"#"):
                self.skip(number, line)
        return found

    def decode_agent(self, raw: bytes) -> str:
        """Return a User-Agent as text; W3C logs have no blanks in it."""
        if self._template.is_encoded:
            raw = unquote_to_bytes(raw.strip(b'"').replace(b"+", b" "))
            if b"%20" in raw:  # CloudFront encodes twice what has a percent sign
                raw = unquote_to_bytes(raw)
        return super().decode_agent(raw)


class W3cReader(LogReader):
    """Reads lines whose fields are named by `#Fields` lines, which may change in a file."""

    def __init__(self) -> None:
        super().__init__("W3C extended")
        self._reader: TemplateReader | None = None

    def read(self, chunk: LineChunk, agents: Mapping[bytes, Any], *, everyone: bool) -> Requests:
        """Return the requests of crawlers; of all visitors with *everyone*."""
        if self._reader is not None and b"#" not in _line_starts(chunk.octets):
            return self._counted(chunk, agents, everyone=everyone)
        total: Requests | None = None
        start, number = 0, chunk.line
        pieces = list(re.finditer(rb"^#[^\n]*+\n?", chunk.octets, re.MULTILINE))
        for header in [*pieces, None]:
            end = header.start() if header else len(chunk.octets)
            octets = chunk.octets[start:end]
            if octets.strip():
                part = LineChunk(octets, number)
                found = self._counted(part, agents, everyone=everyone)
                if total is None or not total.total:
                    total = found
                elif total.columns == found.columns:
                    total.picked.extend(found.picked)
                    total = total._replace(total=total.total + found.total)
                else:
                    total, found = _in_order(total), _in_order(found)
                    total.picked.extend(found.picked)
                    total = total._replace(total=total.total + found.total)
            number += octets.count(b"\n")
            if header:
                number += 1
                start = header.end()
                if header[0].lower().startswith(b"#fields:"):
                    self._use(header[0].partition(b":")[2], number - 1)
        return total or Requests(0, [], Columns(*[0] * len(Columns._fields)))

    def _use(self, fields: bytes, line: int) -> None:
        try:
            self._reader = TemplateReader(compile_w3c(fields))
        except TemplateError as error:
            self.skip(line, str(error).encode())
            self._reader = None
        else:
            self.has_agent = self._reader.has_agent

    def _counted(
        self, chunk: LineChunk, agents: Mapping[bytes, Any], *, everyone: bool
    ) -> Requests:
        if self._reader is None:
            for number, line in enumerate(chunk.octets.splitlines(), chunk.line):
                if line.strip():
                    self.skip(number, line)
            return Requests(0, [], Columns(*[0] * len(Columns._fields)))
        found = self._reader.read(chunk, agents, everyone=everyone)
        self.unread += self._reader.unread
        self.examples = [*self.examples, *self._reader.examples][:MOST_EXAMPLES]
        self._reader.unread, self._reader.examples = 0, []
        return found

    def decode_agent(self, raw: bytes) -> str:
        """Return a User-Agent as text; W3C logs have no blanks in it."""
        return self._reader.decode_agent(raw) if self._reader else super().decode_agent(raw)


def _line_starts(octets: bytes) -> bytes:
    """Return a byte that tells whether any line starts with `#`."""
    return b"#" if octets.startswith(b"#") or b"\n#" in octets else b""


# An absent field has a position of its own too.
_IN_ORDER = Columns(*range(len(Columns._fields)))


def _in_order(requests: Requests) -> Requests:
    """Return requests whose fields are in the order of `Columns`, whatever a header says."""
    columns = requests.columns
    if columns == _IN_ORDER:
        return requests
    picked: list[tuple[Any, Sequence[bytes]]] = [
        (who, [fields[at] for at in columns]) for who, fields in requests.picked
    ]
    return Requests(requests.total, picked, _IN_ORDER)


class JsonReader(LogReader):
    """Reads one JSON object per line."""

    def __init__(self) -> None:
        super().__init__("JSON lines")
        self._fields = JsonFields()

    def read(self, chunk: LineChunk, agents: Mapping[bytes, Any], *, everyone: bool) -> Requests:
        """Return the requests of crawlers; of all visitors with *everyone*."""
        picked: list[tuple[Any, Sequence[bytes]]] = []
        count = 0
        fields = self._fields
        for number, line in enumerate(chunk.octets.split(b"\n"), chunk.line):
            if not line or line.isspace():
                continue
            raw = fields.find_agent(line)
            if raw is not None and not everyone and agents[raw] is None:
                count += 1
                continue
            request = fields.read(line)
            if request is None:
                self.skip(number, line)
                continue
            count += 1
            who = agents[request[0]]
            if who is not None or everyone:
                picked.append((who, request))
        self.has_agent = fields.has_agent
        return Requests(count, picked, fields.columns)


# --- Detection ------------------------------------------------------------------------------------


def log_reader(octets: bytes, chosen: str = "") -> LogReader:
    """
    Return the reader of a log that starts with these lines.

    *chosen* is one of `FORMATS`, or a template. Raises `LogFormatError` if the format is not known.
    """
    try:
        if chosen and is_template(chosen):
            return TemplateReader(compile_template(chosen))
        samples = _samples(octets)
        if chosen:
            return _named(chosen, samples)
        return _detected(samples, octets)
    except TemplateError as error:
        raise LogFormatError(f"{error}") from None


def looks_like_log(octets: bytes) -> bool:
    """Tell whether a file that starts so is a log of lines; one of JSON may be many things."""
    try:
        return not isinstance(log_reader(octets), JsonReader)
    except LogFormatError:
        return False


def _named(name: str, samples: Sequence[bytes]) -> LogReader:
    if name == "json":
        return JsonReader()
    if name == "w3c":
        return W3cReader()
    if name not in _TEMPLATES:
        names = ", ".join(FORMATS)
        raise LogFormatError(
            f"no log format is called '{visible(name)}': pass one of {names}, or a template such "
            'as \'$remote_addr [$time_local] "$request" $status "$http_user_agent"\''
        )
    words = _leading_words(samples) if name in ("combined", "common") else 0
    return TemplateReader(compile_template(_TEMPLATES[name], name, leading_words=words))


def _samples(octets: bytes) -> list[bytes]:
    lines = [line for line in map(bytes.strip, octets.split(b"\n")) if line]
    # The end of a line is needed to tell formats apart.
    samples = [line for line in lines if len(line) <= LONGEST_SAMPLE] or lines[:1]
    return samples[:MOST_SAMPLES]


def _detected(samples: Sequence[bytes], octets: bytes) -> LogReader:
    if any(line.lower().startswith(b"#fields:") for line in samples):
        return W3cReader()
    lines = [line for line in samples if not line.startswith(b"#")]
    if sum(line.startswith(b"{") for line in lines) * 2 > len(lines):
        return JsonReader()
    best: tuple[int, LineTemplate] | None = None
    leading = _leading_words(lines)
    # The first of equals counts: lines of `combined` also fit `common`.
    for name, words in (("combined", leading), ("alb", 0), ("common", leading)):
        template = _with_host(name, words, lines)
        fitting = sum(template.pattern.match(line) is not None for line in lines)
        if best is None or fitting > best[0]:
            best = fitting, template
        if fitting * 2 >= len(lines):
            break
    assert best is not None
    if not best[0] or best[0] * 2 < len(lines):
        raise LogFormatError(_unknown(lines, octets))
    return TemplateReader(best[1])


def _with_host(name: str, words: int, lines: Sequence[bytes]) -> LineTemplate:
    """Return a template; if the word before the address is a host, with it as a field."""
    if words and lines:
        word = next(iter(lines[0].split()[words - 1 : words]), b"")
        if _HOST.fullmatch(word):
            port = ":$server_port" if b":" in word else ""
            text = f"$host{port} {_TEMPLATES[name]}"
            return compile_template(text, f"{name} with a host", leading_words=words - 1)
    return compile_template(_TEMPLATES[name], name, leading_words=words)


_HOST = re.compile(rb"(?:[A-Za-z0-9_-]++\.)++[A-Za-z0-9-]++(?::[0-9]++)?|localhost(?::[0-9]++)?")


def _leading_words(lines: Sequence[bytes]) -> int:
    """Return the number of words before the address, as most lines have it."""
    counts: dict[int, int] = {}
    for line in lines:
        before, bracket, _ = line.partition(b" [")
        while bracket and not re.match(rb"[0-9]{1,2}/[A-Z]", line[len(before) + 2 :]):
            more, bracket, _ = line[len(before) + 2 :].partition(b" [")
            before += b" [" + more
        words = before.split()
        address = next((at for at, word in enumerate(words) if _is_address(word)), None)
        if address is None:
            address = max(len(words) - 3, 0)
        counts[address] = counts.get(address, 0) + 1
    most = max(counts, key=counts.__getitem__, default=0)
    return min(most, MOST_LEADING)


def _is_address(word: bytes) -> bool:
    try:
        ip_address(word.decode("ascii", "replace"))
    except ValueError:
        return False
    return True


def _unknown(lines: Sequence[bytes], octets: bytes) -> str:
    """Return what to do about a format that is not known."""
    first = visible(lines[0][:LONGEST_EXAMPLE])[:LONGEST_EXAMPLE] if lines else ""
    advice = (
        "pass --log-format with the log_format of nginx or the LogFormat of Apache, as in the "
        "configuration of the server"
    )
    if lines and re.match(rb"\[\s*+(?:\{|\Z)", lines[0]):
        advice = "it is a JSON array; pass one object per line, as printed by jq -c '.[]'"
    elif octets.count(b"\t") > 8 * len(lines):
        advice = (
            "its #Fields line is missing: pass --log-format '#Fields: date time c-ip …' with the "
            "names of its fields"
        )
    return f"its format is not known: {advice}; the first line is '{first}'"
