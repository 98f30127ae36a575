"""
The pure engine: RFC 9309 in plain Python, to read, and for platforms without the native engine.

Its results equal those of the native engine, octet by octet; the tests compare both. Read it beside
the RFC, in this order: lines (§2.2), records (§2.2, §2.2.4), groups (§2.1, §2.2.1); then, in
`pure_rules.py`, the normal form (§2.2.2), patterns (§2.2.3), the rule set (§2.2.2). The departures
from the RFC are the names in `switches`; each is read in one place, and `AMB-nn` names the decision
behind it.

It corresponds to `lines.rs`, `records.rs`, `groups.rs` and `document.rs` of the native engine.
Parsing is linear in the file. It does not define profiles, public classes, or messages of notes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from robotrules._engine.pure_bulk import MISSING as MISSING
from robotrules._engine.pure_bulk import NO_ORIGIN as NO_ORIGIN
from robotrules._engine.pure_bulk import (
    OriginIndex,
    RuleTable,
    Timelines,
    allows_column,
    decide_column,
    origins_column,
)
from robotrules._engine.pure_facts import FactsJob as FactsJob
from robotrules._engine.pure_facts import FactsReader
from robotrules._engine.pure_rules import Pattern, Patterns, octets, path, pattern_notes
from robotrules._engine.pure_search import Languages
from robotrules._engine.pure_settings import Note, Settings, faults

__all__ = [
    "Document",
    "FactsReader",
    "File",
    "Languages",
    "Matcher",
    "OriginIndex",
    "RuleTable",
    "Settings",
    "Timelines",
    "normal_form",
    "origins_column",
    "parse",
]

# How many octets after the size limit a line that starts before it may end (AMB-18).
SLACK = 16 * 1024


class PureRecord(NamedTuple):
    """A line with a key and a value; positions are octets of the body."""

    line: int
    line_start: int
    key_start: int
    key_end: int
    start: int
    end: int
    key: bytes
    role: str
    group: int


# --- Lines (§2.2, §2.5) ---------------------------------------------------------------------------


def prepare(received: bytes, settings: Settings, notes: list[Note]) -> tuple[bytes, int, bool]:
    """Return the octets to parse, where the first line starts, and whether the rest was dropped."""
    window = settings.max_bytes + SLACK
    marks = {b"\xfe\xff": "utf-16-be", b"\xff\xfe": "utf-16-le"}
    codec = marks.get(received[:2])
    if codec and received[:4] != b"\xff\xfe\0\0" and "decode_utf16" in settings.switches:
        notes.append(("not-utf8", 0, 0, 0))
        units = received[2 : 2 + 2 * window]
        units = units[: len(units) // 2 * 2]
        octets = units.decode(codec, "replace").encode()
        return octets[:window], 0, len(octets) > window or len(received) > 2 + 2 * window
    octets = received[:window]
    first = 0
    if octets.startswith(b"\xef\xbb\xbf"):  # RFC 3629 §6 (AMB-07)
        first = 3
        notes.append(("bom", 0, 0, 3))
    elif octets.startswith(b"\xef") and "cut_bom" in settings.switches:
        first = 2 if octets.startswith(b"\xef\xbb") else 1
        notes.append(("cut-bom", 0, 0, first))
    return octets, first, len(received) > window


def lines(
    body: bytes, first: int, limit: int, complete: bool, notes: list[Note] | None = None
) -> Iterator[tuple[int, int, int]]:
    """Yield number, start and end of each line. NL = CR / LF / CRLF, and nothing else (§2.2)."""
    start, number = first, 0
    for found in re.finditer(rb"\r\n?|\n", body[first:]):
        if start >= limit:
            break
        number += 1
        yield number, start, first + found.start()
        start = first + found.end()
    if start < limit and start < len(body) and complete:
        yield number + 1, start, len(body)  # a last line without terminator (AMB-12)
    elif notes is not None and start < limit and start < len(body):
        # A truncated rule can mean the opposite of the complete rule.
        if len(body) < limit + SLACK:
            notes.append(("cut-line", number + 1, start, len(body)))
        else:
            notes.append(("truncated", 0, start, len(body)))
    elif notes is not None and start >= limit and (start < len(body) or not complete):
        notes.append(("truncated", 0, start, len(body)))


# --- Records (§2.2, §2.2.4) -----------------------------------------------------------------------


def find_key(name: bytes, settings: Settings) -> tuple[bytes, str, bool, str]:
    """Return canonical key, role, whether it may lack a colon, and the code of its note, if any."""
    name = name.lower()
    if name in settings.keys:
        key, role, bare = settings.keys[name]
        return key, role, bare, "" if key == name else "typo"
    if "prefix_keys" in settings.switches:
        for spelling in settings.longest_first:
            key, role, bare = settings.keys[spelling]
            if bare and name.startswith(spelling):
                return key, role, bare, "prefix-key"
    return name, "OTHER", False, ""


def record(
    body: bytes, line: tuple[int, int, int], settings: Settings, notes: list[Note]
) -> PureRecord | None:
    """Parse a line; None if it is empty, a comment, or not parseable."""
    number, line_start, end = line
    if settings.max_line is not None and end - line_start > settings.max_line:
        notes.append(("long-line", number, line_start + settings.max_line, end))
        end = line_start + settings.max_line
    if "cut_at_nul" in settings.switches and (nul := body.find(b"\0", line_start, end)) >= 0:
        notes.append(("nul", number, nul, line[2]))
        end = nul
    if (comment := body.find(b"#", line_start, end)) >= 0:
        end = comment  # §2.2.3, with or without a space before it (AMB-16)
    content_end = end
    start, end = trim(body, line_start, end, settings)
    if start == end:
        return None
    colon = body.find(b":", start, end)
    missing = colon < 0
    if missing and "missing_colon" in settings.switches:
        words = re.fullmatch(rb"([^ \t]+)[ \t]+[^ \t]+", body[start:end])
        if words and find_key(words[1], settings)[2]:
            colon = start + len(words[1])
    if colon < 0:
        notes.append(("no-separator", number, start, end))
        return None
    key_start, key_end = trim(body, start, colon, settings)
    if key_start == key_end:
        notes.append(("empty-key", number, start, end))
        return None
    if missing:
        notes.append(("missing-colon", number, key_start, end))
    value_start, value_end = trim(body, min(colon + 1, end), end, settings)
    key, role, _, note = find_key(body[key_start:key_end], settings)
    if note:
        notes.append((note, number, key_start, key_end))
    gaps = body[line_start:key_start], body[key_end:value_start], body[value_end:content_end]
    if b"\v" in settings.space and re.search(rb"[\v\f]", b"".join(gaps)):
        notes.append(("odd-whitespace", number, line_start, content_end))
    return PureRecord(number, line_start, key_start, key_end, value_start, value_end, key, role, -1)


def trim(body: bytes, start: int, end: int, settings: Settings) -> tuple[int, int]:
    while start < end and body[start] in settings.space:
        start += 1
    while start < end and body[end - 1] in settings.space:
        end -= 1
    return start, end


# --- Groups (§2.1) and the crawlers that they name (§2.2.1) ---------------------------------------


def identifier(value: bytes) -> bytes:
    """Return the leading identifier of a value: 1*(%x2D / %x41-5A / %x5F / %x61-7A) (AMB-21)."""
    found = re.match(rb"[-A-Z_a-z]*", value)
    return found[0] if found else b""


def is_star(value: bytes, settings: Settings) -> bool:
    # `* text` too (AMB-23); a star in any other value has no meaning.
    return value == b"*" or (
        "star_with_text" in settings.switches and re.match(rb"\*[\t-\r ]", value) is not None
    )


def names(value: bytes, token: bytes, settings: Settings) -> bool:
    """Tell whether a user-agent value names *token*, ignoring ASCII case."""
    usable, _ = faults(value, settings, pattern=False)
    if not usable:
        return False
    comma = "comma_user_agents" in settings.switches  # AMB-25
    for part in value.split(b",") if comma else [value]:
        agent = part.strip(b" \t") if comma else part
        if is_star(agent, settings):
            if token == b"*":
                return True
            continue
        if identifier(agent) and identifier(agent).lower() == token.lower():
            return True
        if "literal_tokens" in settings.switches and agent and agent.lower() == token.lower():
            return True  # AMB-22
    return False


def has_value(value: bytes, token: bytes, settings: Settings) -> bool:
    """Tell whether the value of another START record is *token*, ignoring ASCII case."""
    return faults(value, settings, pattern=False)[0] and value.lower() == token.lower()


def agent_notes(value: bytes, line: int, start: int, settings: Settings) -> Iterator[Note]:
    end = start + len(value)
    _, found = faults(value, settings, pattern=False)
    yield from ((code, line, start, end) for code in found)
    if "control-character" in found:
        return
    if b"," in value:
        yield "comma-list", line, start, end
        if "comma_user_agents" in settings.switches:
            return
    if not value:
        yield "empty-user-agent", line, start, end  # names no crawler (AMB-24)
    elif is_star(value, settings):
        if len(value) > 1:
            yield "star-with-text", line, start + 1, end
    elif not identifier(value):
        yield "unusable-user-agent", line, start, end
    elif identifier(value) != value:
        yield "user-agent-text", line, start + len(identifier(value)), end


class Document:
    """A parsed robots.txt."""

    def __init__(self, received: bytes, settings: Settings, complete: bool) -> None:
        notes: list[Note] = []
        self.settings = settings
        self.body, self._first, cut = prepare(received, settings, notes)
        self.complete = complete and not cut
        content = re.search(rb"[^ \t\n\r\f]", self.body[self._first :])
        if content and content[0] == b"<":
            at = self._first + content.start()
            notes.append(("looks-like-html", 0, at, at + 1))
        self._records: list[PureRecord] = []
        self._starts: list[int] = []  # the number of each group's first record
        listing = False  # whether the next user-agent line extends the open group
        between: PureRecord | None = None
        limits = self._first, settings.max_bytes, self.complete
        for line in lines(self.body, *limits, notes):
            found = record(self.body, line, settings, notes)
            if found is None:
                continue
            value = self.body[found.start : found.end]
            if found.role == "START":
                if not listing:
                    self._starts.append(len(self._records))
                elif between:
                    span = between.key_start, between.end
                    notes.append(("record-between-agents", between.line, *span))
                if found.key == b"user-agent":
                    notes += agent_notes(value, found.line, found.start, settings)
                listing, between = True, None
            elif found.role == "RULE":
                if not self._starts:
                    notes.append(("rule-outside-group", found.line, found.key_start, found.end))
                if found.key in (b"allow", b"disallow"):
                    allow = found.key == b"allow"
                    notes += pattern_notes(value, allow, found.line, found.start, settings)
                listing, between = False, None
            elif listing:
                between = between or found  # §2.2.4: does not interfere (AMB-28)
            self._records.append(found._replace(group=len(self._starts) - 1))
        self._notes = sorted(notes, key=lambda note: note[2])

    def records(self) -> list[PureRecord]:
        return list(self._records)

    def record(self, number: int) -> PureRecord | None:
        return self._records[number] if number < len(self._records) else None

    def lines(self) -> list[tuple[int, int, int, int | None]]:
        found = []
        for number, start, end in lines(
            self.body, self._first, self.settings.max_bytes, self.complete
        ):
            comment = self.body.find(b"#", start, end)
            found.append((number, start, end, comment if comment >= 0 else None))
        return found

    def notes(self) -> list[Note]:
        return list(self._notes)

    def group_count(self) -> int:
        return len(self._starts)

    def select(self, key: bytes, token: str | bytes) -> list[int]:
        """
        Return the groups in which a *key* line names *token*.

        User-agent lines as in §2.2.1, where `*` selects the star groups; any other START record by
        its whole value (AMB-98).
        """
        chosen: dict[int, None] = {}
        token = octets(token)
        named, part = names if key == b"user-agent" else has_value, token.lower()
        for found in self._records:
            if found.role == "START" and found.key == key and found.group not in chosen:
                value = self.body[found.start : found.end]
                # A value that names the token contains it: a quick test, as most values do not.
                if part in value.lower() and named(value, token, self.settings):
                    chosen[found.group] = None
        return list(chosen)

    def choose(self, token: str | bytes) -> tuple[list[int], bool]:
        """Return the groups that name *token*, and True; or the star groups, and False."""
        star = octets(token) == b"*"  # does not name a crawler
        named = [] if star else self.select(b"user-agent", token)
        return (named, True) if named else (self.select(b"user-agent", b"*"), False)

    def rules(self, groups: Sequence[int]) -> list[int]:
        """Return the numbers of the allow and disallow records of *groups*, merged in order."""
        bounds = [*self._starts, len(self._records)]
        ranges = (range(bounds[n], bounds[n + 1]) for n in groups if n < len(self._starts))
        kinds = (b"allow", b"disallow")
        return [n for numbers in ranges for n in numbers if self._records[n].key in kinds]

    def patterns(self, groups: Sequence[int]) -> list[tuple[bytes, bool]]:
        """Return the values of those records, and whether they allow."""
        found = (self._records[number] for number in self.rules(groups))
        return [(self.body[r.start : r.end], r.key == b"allow") for r in found]


class Matcher(Patterns):
    """The rules of some groups of a document, or patterns without a document."""

    __slots__ = ("_chosen", "_file")

    def __init__(self, source: Document | Settings, selection: Sequence[Any]) -> None:
        self._file, self._chosen = (source if isinstance(source, Document) else None), selection
        if isinstance(source, Document):
            super().__init__(source.patterns(selection), source.settings)
        else:
            super().__init__(selection, source)

    def has_groups(self) -> bool:
        return self._file is not None and bool(self._chosen)

    def rule_lines(self) -> list[tuple[int, str]]:
        """Return the line and the text of each rule; nothing without a document."""
        if self._file is None:
            return []
        lines, records = [], self._file.records()
        for number in self._file.rules(self._chosen):
            line, _, _, _, start, end, key, _, _ = records[number]
            value = self._file.body[start:end].decode("utf-8", "backslashreplace")
            lines.append((line, f"{'Allow' if key == b'allow' else 'Disallow'}: {value}".rstrip()))
        return lines

    def allows_column(self, urls: Any, threads: int) -> Any:
        return allows_column(self, urls)

    def decide_column(
        self,
        urls: Any,
        threads: int,
        labels: Sequence[tuple[str, bool | None]],
        no_match: int,
        lines: Sequence[int] | None = None,
    ) -> Any:
        return decide_column(self, urls, labels, no_match, lines)


class File:
    """
    A parsed file with a cache of rule sets by product token.

    `check()` calls the hook `rules_for()` of its subclass: see "Hooks" in `_native.pyi`.
    """

    __slots__ = ("_by_groups", "_by_name", "_document", "_engine", "_profile", "_received")

    def __init__(
        self, profile: Any, engine: Any, settings: Settings, body: bytes, complete: bool
    ) -> None:
        self._document = Document(body, settings, complete)
        self._profile, self._engine, self._received = profile, engine, body
        self._by_name: dict[Any, Any] = {}
        self._by_groups: dict[Any, Any] = {}

    def check(self, url: Any, product_token: Any, purposes: Any = ()) -> Any:
        return self.rules_for(product_token, purposes).check(url)  # type: ignore[attr-defined]

    # The public name of the class, for error messages about arguments.
    check.__qualname__ = "RobotsTxt.check"


def parse(body: bytes, settings: Settings, complete: bool) -> Document:
    return Document(body, settings, complete)


def normal_form(text: str | bytes, pattern: bool, settings: Settings) -> bytes:
    return Pattern(octets(text), settings).form if pattern else path(octets(text), settings)
