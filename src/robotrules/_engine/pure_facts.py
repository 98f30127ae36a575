"""
Facts about files, as an Arrow struct. The readable version of `facts.rs` and `crawler_names.rs`.

A row has counts, names, delays, and for each crawler whether it may fetch all URLs, some or none.
Values that need a parser for Structured Fields are passed to a hook, see `_native.pyi`. pyarrow is
imported when a column is read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any

from robotrules._engine.pure_coverage import ALL, COVERAGES, NONE, SearchBudget, find_coverage
from robotrules._engine.pure_settings import Settings

if TYPE_CHECKING:
    from robotrules._engine.pure import Document, PureRecord

ReadValues = Callable[[str, list[bytes]], Any]
CrawlerEntry = tuple[str, Sequence[bytes], bool]
"""Product token, the names that are compared in order of preference, and whether it ignores `*`."""

# The states of rows: a file, a truncated file, or the coverage without a file.
WHOLE, TRUNCATED = 0, 1
_WITHOUT_FILE = {2: ALL, 3: NONE}
_SECONDS = re.compile(rb"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_APP_DIRECTIVES = (b"app-directives", b"app-directive")


class FactsJob:
    """The result of `FactsReader.start()`, which reads at once in this engine."""

    def __init__(self, column: Any) -> None:
        self._column = column

    def result(self) -> Any:
        if self._column is None:
            raise ValueError("the result of a job can be taken once")
        column, self._column = self._column, None
        return column


class FactsReader:
    """Reads facts with the settings of a profile, for some crawlers."""

    def __init__(
        self,
        settings: Settings,
        crawlers: Sequence[CrawlerEntry],
        first_star_group_only: bool,
        read_values: ReadValues,
    ) -> None:
        self._settings, self._crawlers = settings, crawlers
        self._first_star_group_only = first_star_group_only
        self._read_values = read_values

    def start(self, bodies: Any, states: bytes, threads: int) -> FactsJob:
        return FactsJob(self.read(bodies, states, threads))

    def read(self, bodies: Any, states: bytes, threads: int) -> Any:
        import pyarrow as pa

        is_array = hasattr(bodies, "__arrow_c_array__")
        column = pa.array(bodies) if is_array else pa.chunked_array(bodies)
        octets = column.cast(pa.large_binary()).to_pylist()
        if len(octets) != len(states):
            raise ValueError(f"{len(octets)} bodies have {len(states)} states: pass one each")
        rows = [
            self._read_file(body, state == WHOLE)
            if state in (WHOLE, TRUNCATED) and body is not None
            else {"crawlers": self._all_crawlers(_WITHOUT_FILE.get(state))}
            for body, state in zip(octets, states, strict=True)
        ]
        tokens = [token for token, _, _ in self._crawlers]
        kinds = struct_type(tokens)
        *fields, crawlers = kinds
        facts = [pa.array([row.get(field.name) for row in rows], field.type) for field in fields]
        by_crawler = [
            _encode([row["crawlers"][token] for row in rows], field.type)
            for token, field in zip(tokens, crawlers.type, strict=True)
        ]
        return pa.StructArray.from_arrays(
            [*facts, _make_struct(by_crawler, crawlers.type, len(rows))], fields=list(kinds)
        )

    def _all_crawlers(self, coverage: str | None) -> dict[str, str | None]:
        return {token: coverage for token, _, _ in self._crawlers}

    def _read_file(self, received: bytes, complete: bool) -> dict[str, Any]:
        document = _parse(received, self._settings, complete)
        records = document.records()
        keys = Counter(record.key for record in records)
        notes = Counter(code for code, *_ in document.notes())
        star = self._star_groups(document)
        value = partial(_value, document)
        agents = [record for record in records if record.key == b"user-agent"]
        purposes = [
            value(record)
            for record in records
            if record.key == b"user-agent-purpose" and record.role == "START"
        ]
        signals = [
            value(record)
            for record in records
            if record.key == b"content-signal" and record.group in star
        ]
        directives = [value(record) for record in records if record.key in _APP_DIRECTIVES]
        sitemaps = [value(record) for record in records if record.key == b"sitemap"]
        usage = self._content_usage(document, received, complete)
        return {
            "size": len(received),
            "truncated": not complete or "truncated" in notes,
            "lines": len(document.lines()),
            "records": len(records),
            "groups": document.group_count(),
            "allow_rules": keys[b"allow"],
            "disallow_rules": keys[b"disallow"],
            "other_records": len(records)
            - sum(keys[key] for key in (b"user-agent", b"allow", b"disallow")),
            "user_agents": _texts(map(value, agents)),
            "sitemaps": self._read_pending("sitemaps", sitemaps),
            **self._read_delays(document, star),
            "purposes": _texts(purposes),
            "content_usage": self._read_pending("content_usage", usage),
            "content_signal": self._read_pending("content_signal", signals),
            "app_directives": len(directives),
            "applications": self._read_pending("applications", directives),
            "notes": sorted(notes.items()),
            **self._read_crawlers(document, star),
        }

    def _star_groups(self, document: Document) -> list[int]:
        star = document.select(b"user-agent", b"*")
        return star[:1] if self._first_star_group_only else star

    def _read_pending(self, kind: str, values: list[bytes]) -> Any:
        return self._read_values(kind, values) if values else []

    def _read_delays(self, document: Document, star: list[int]) -> dict[str, Any]:
        """Return the delays: the first valid value of a group, the largest of several (AMB-118)."""
        by_group: dict[int, float] = {}
        for record in document.records():
            if record.key == b"crawl-delay" and record.group >= 0:
                seconds = _parse_seconds(_value(document, record))
                if seconds is not None:
                    by_group.setdefault(record.group, seconds)
        by_agent: dict[bytes, float] = {}
        for record in document.records():
            if record.key == b"user-agent" and record.group in by_group:
                agent, seconds = _value(document, record), by_group[record.group]
                by_agent[agent] = max(by_agent.get(agent, 0.0), seconds)
        return {
            "crawl_delay": max(
                (by_group[group] for group in star if group in by_group), default=None
            ),
            "crawl_delays": [
                {"user_agent": _to_text(agent), "seconds": seconds}
                for agent, seconds in by_agent.items()
            ],
        }

    def _content_usage(self, document: Document, received: bytes, complete: bool) -> list[bytes]:
        """
        Return the values of Content-Usage records in star groups.

        For its document the record is a rule, so that a user-agent line after it starts a new group
        (AMB-29): the file is read with such a profile.
        """
        if not any(record.key == b"content-usage" for record in document.records()):
            return []
        switches, known = self._settings.switches, self._settings.keys
        keys = [
            (name, key, "RULE" if key == b"content-usage" else role, bare)
            for name, (key, role, bare) in known.items()
        ]
        if b"content-usage" not in known:
            keys.append((b"content-usage", b"content-usage", "RULE", False))
        limits = self._settings.max_bytes, self._settings.max_line
        settings = Settings(tuple(switches), keys, *limits)
        regrouped = _parse(received, settings, complete)
        star = self._star_groups(regrouped)
        return [
            _value(regrouped, record)
            for record in regrouped.records()
            if record.key == b"content-usage" and record.group in star
        ]

    # --- Crawlers ---------------------------------------------------------------------------------

    def _read_crawlers(self, document: Document, star: list[int]) -> dict[str, Any]:
        """Return the crawlers that the file names, and the coverage of every crawler."""
        by_groups: dict[tuple[int, ...], str | None] = {(): ALL}
        budget = SearchBudget()
        if star:
            by_groups[tuple(star)] = find_coverage(document.patterns(star), self._settings, budget)
        named, coverages = [], {}
        for token, names, ignores_star in self._crawlers:
            found = [document.select(b"user-agent", name) if name else [] for name in names]
            groups = next(filter(None, found), [] if ignores_star else star)
            if found and found[0]:
                named.append(token)
            key = tuple(groups)
            if key not in by_groups:
                patterns = document.patterns(groups)
                by_groups[key] = find_coverage(patterns, self._settings, budget)
            coverages[token] = by_groups[key]
        return {"named_crawlers": named, "crawlers": coverages}


def _parse(received: bytes, settings: Settings, complete: bool) -> Document:
    from robotrules._engine.pure import Document  # which imports this module

    return Document(received, settings, complete)


def _value(document: Document, record: PureRecord) -> bytes:
    return document.body[record.start : record.end]


def _texts(values: Iterable[bytes]) -> list[str]:
    return [_to_text(value) for value in dict.fromkeys(values)]


def _to_text(value: bytes) -> str:
    return value.decode("utf-8", "backslashreplace")


def _parse_seconds(value: bytes) -> float | None:
    if not _SECONDS.fullmatch(value):
        return None
    seconds = float(value)
    return seconds if isfinite(seconds) else None


def _encode(coverages: list[str | None], kind: Any) -> Any:
    """Return coverages as a dictionary column, with all coverages in the dictionary."""
    import pyarrow as pa

    indices = [None if one is None else COVERAGES.index(one) for one in coverages]
    return pa.DictionaryArray.from_arrays(pa.array(indices, kind.index_type), pa.array(COVERAGES))


def _make_struct(columns: list[Any], kind: Any, rows: int) -> Any:
    import pyarrow as pa

    if not columns:  # a struct without fields has no column that tells its length
        return pa.array([{}] * rows, kind)
    return pa.StructArray.from_arrays(columns, fields=list(kind))


def struct_type(tokens: Iterable[str]) -> Any:
    """Return the type of the struct that `FactsReader.read()` returns."""
    import pyarrow as pa

    count, text = pa.uint32(), pa.string()
    delays = pa.struct([("user_agent", text), ("seconds", pa.float64())])
    coverage = pa.dictionary(pa.int8(), text)
    return pa.struct(
        [
            ("size", count),
            ("truncated", pa.bool_()),
            ("lines", count),
            ("records", count),
            ("groups", count),
            ("allow_rules", count),
            ("disallow_rules", count),
            ("other_records", count),
            ("user_agents", pa.list_(text)),
            ("sitemaps", pa.list_(text)),
            ("crawl_delay", pa.float64()),
            ("crawl_delays", pa.list_(delays)),
            ("purposes", pa.list_(text)),
            ("content_usage", pa.map_(text, text)),
            ("content_signal", pa.map_(text, text)),
            ("app_directives", count),
            ("applications", pa.list_(text)),
            ("notes", pa.map_(text, count)),
            ("named_crawlers", pa.list_(text)),
            ("crawlers", pa.struct([(token, coverage) for token in tokens])),
        ]
    )
