"""
Corpus check: one question to a corpus, about the columns of a table.

The options are validated once, then batches are answered one after another: the origins of the
URLs, the segment that decides each row, and the decision of its rules.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from math import isfinite
from typing import Any, NamedTuple

import pyarrow.compute as pc

from robotrules.bulk.arrow_support import pa
from robotrules.bulk.robots_table import TIME, find_column, is_text, is_time, read_times
from robotrules.bulk.rule_cache import AskedCrawler, RuleCache
from robotrules.bulk.state_lookup import StateLookup
from robotrules.bulk.timeline import ACCESS_NAMES, MISSING_RULES
from robotrules.errors import ProductTokenError, PurposeWarning, TableError
from robotrules.profile import Profile
from robotrules.robotstxt import Tokens, parse
from robotrules.robotstxt.ruleset import validate_threads
from robotrules.robotstxt.selection import vet_purposes
from robotrules.robotstxt.tokens import CrawlerNames

Crawlers = str | Sequence[Tokens] | Mapping[str, Tokens]
MISSING_ANSWERS = {None: None, "allow": True, "disallow": False}
# Rows that are answered at once.
_ROWS = 512 * 1024
_DICTIONARY = pa.dictionary(pa.int8(), pa.string())
_ANSWER_FIELDS = (
    pa.field("allowed", pa.bool_()),
    pa.field("reason", _DICTIONARY),
    pa.field("line", pa.uint32()),
    pa.field("rule", pa.dictionary(pa.int32(), pa.string())),
)
_STATE_FIELDS = {
    "access": pa.field("access", _DICTIONARY),
    "fetched_at": pa.field("fetched_at", TIME),
    "in_force": pa.field("in_force", pa.bool_()),
}


class CheckOptions(NamedTuple):
    """The arguments of `Corpus.check()`, as given."""

    url: str
    product_tokens: Crawlers
    purposes: Sequence[str]
    at: str | None
    missing: str | None
    max_age: float | timedelta | None
    threads: int
    prefix: str


class CorpusCheck:
    """A question to a corpus, for tables of one schema."""

    def __init__(
        self,
        lookup: StateLookup,
        rules: RuleCache,
        profile: Profile,
        schema: Any,
        options: CheckOptions,
    ) -> None:
        self._lookup, self._rules = lookup, rules
        self._threads = validate_threads(options.threads)
        self._crawlers = _read_crawlers(options.product_tokens, options.purposes, profile)
        if options.missing not in MISSING_ANSWERS:
            raise ValueError(f"missing is {options.missing!r}: use None, 'allow' or 'disallow'")
        self._missing = MISSING_ANSWERS[options.missing]
        self._max_age = _read_max_age(options.max_age, options.at)
        self._url = find_column(schema.names, options.url, "url=")
        _vet_url_type(schema.field(self._url))
        self._at = None
        # Whether a time was read: if there is none in the first rows, the column is a wrong one.
        self._has_times, self._at_name = False, options.at
        if options.at is not None:
            self._at = find_column(schema.names, options.at, "at=")
            _vet_time_type(schema.field(self._at))
        # If several crawlers fetched, the state depends on the crawler that is asked about.
        self._own_states = len(self._crawlers) > 1 and lookup.depends_on_names
        self._states = ("access",) if self._at is None else ("access", "fetched_at", "in_force")
        self._fields = self._make_fields(options.prefix)
        _vet_names([field.name for field in self._fields], schema.names)
        self.schema = pa.schema([*schema, *self._fields], schema.metadata)
        """The schema of the result."""

    def _make_fields(self, prefix: str) -> list[Any]:
        fields = []
        state_fields = [_STATE_FIELDS[name] for name in self._states]
        for crawler in self._crawlers:
            start = f"{prefix}{crawler.label}." if len(self._crawlers) > 1 else prefix
            own = [*_ANSWER_FIELDS, *(state_fields if self._own_states else ())]
            fields += [field.with_name(f"{start}{field.name}") for field in own]
        if not self._own_states:
            fields += [field.with_name(f"{prefix}{field.name}") for field in state_fields]
        return fields

    def run_table(self, table: Any) -> Any:
        """Return a table with the columns of the answer."""
        chunks: list[list[Any]] = [[] for _ in self._fields]
        urls = table.column(self._url)
        times = None if self._at is None else table.column(self._at)
        for start in range(0, len(table), _ROWS):
            columns = self._answer(
                urls.slice(start, _ROWS), None if times is None else times.slice(start, _ROWS)
            )
            for chunk, column in zip(chunks, columns, strict=True):
                chunk.append(column)
        added = [
            pa.chunked_array(chunk, field.type)
            for chunk, field in zip(chunks, self._fields, strict=True)
        ]
        return pa.Table.from_arrays([*table.columns, *added], schema=self.schema)

    def run_batch(self, batch: Any) -> Iterator[Any]:
        """Yield a batch with the columns of the answer; a long one in parts."""
        for start in range(0, len(batch), _ROWS) or (0,):
            part = batch.slice(start, _ROWS)
            times = None if self._at is None else part.column(self._at)
            columns = self._answer(part.column(self._url), times)
            yield pa.RecordBatch.from_arrays([*part.columns, *columns], schema=self.schema)

    def _answer(self, urls: Any, times: Any) -> list[Any]:
        """Return the columns of the answer."""
        urls = _as_array(urls)
        origins = self._lookup.find_origins(urls, self._threads)
        seconds = None if times is None else self._read_times(_as_array(times))
        columns: list[Any] = []
        groups = [[crawler] for crawler in self._crawlers] if self._own_states else [self._crawlers]
        states: list[Any] = []
        for crawlers in groups:
            names = frozenset(name for crawler in crawlers for name in _names_of(crawler))
            segments = self._lookup.find(origins, seconds, names)
            take = self._lookup.segments.take
            rules, found = take("rules", segments), [take(name, segments) for name in self._states]
            if self._max_age is not None:
                rules, found = self._apply_max_age(rules, found, seconds)
            decided = self._rules.decide(crawlers, self._missing, urls, rules, self._threads)
            if self._rules.has_lost_files:
                found[0] = _mark_lost(found[0], decided[0])
            for one in decided:
                columns += one.flatten()
            states = found
            if self._own_states:
                columns += states
        return columns if self._own_states else columns + states

    def _read_times(self, times: Any) -> Any:
        """Return times as seconds since 1970; a column without any time is the wrong column."""
        seconds = _read_seconds(times)
        if not self._has_times and len(times) > times.null_count:
            if seconds.null_count == len(seconds):
                shown = str(times.drop_null()[0].as_py())[:40]
                raise TableError(
                    f"column {self._at_name!r} has no time that can be read, but {shown!r}: name "
                    "a column of timestamps, dates, ISO 8601 text or seconds since 1970"
                )
            self._has_times = True
        return seconds

    def _apply_max_age(self, rules: Any, states: list[Any], seconds: Any) -> tuple[Any, list[Any]]:
        """Return rules and states in which fetches that are too old are missing."""
        access, fetched_at, in_force = states
        ticks = pc.multiply(fetched_at.cast(pa.int64()).cast(pa.float64(), safe=False), 1e-6)
        is_old = pc.fill_null(pc.greater(pc.subtract(seconds, ticks), self._max_age), False)
        if not pc.any(is_old).as_py():
            return rules, states
        rules = pc.if_else(is_old, pa.scalar(MISSING_RULES, pa.uint32()), rules)
        return rules, [
            _set_missing(access, is_old),
            fetched_at,
            pc.if_else(is_old, False, in_force),
        ]


def _as_array(column: Any) -> Any:
    """Return a column as one array, if it has one chunk; several are read as they are."""
    if isinstance(column, pa.ChunkedArray):
        return column.chunk(0) if column.num_chunks == 1 else _combine(column)
    return column


def _combine(column: Any) -> Any:
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        # Offsets of 32 bits may not suffice for all chunks together.
        wide = pa.large_string() if pa.types.is_string(kind) else pa.large_binary()
        column = column.cast(wide)
    return column.combine_chunks()


def _names_of(crawler: AskedCrawler) -> tuple[str, ...]:
    names = crawler.names
    return tuple(name.lower() for name in ((names,) if isinstance(names, str) else names))


def _read_seconds(times: Any) -> Any:
    """Return times as seconds since 1970; null where a value is not a time."""
    ticks = read_times(times).cast(pa.int64())
    return pc.divide(ticks.cast(pa.float64(), safe=False), 1e6)


def _set_missing(access: Any, mask: Any) -> Any:
    code = pa.scalar(ACCESS_NAMES.index("missing"), pa.int8())
    return pa.DictionaryArray.from_arrays(pc.if_else(mask, code, access.indices), access.dictionary)


def _mark_lost(access: Any, decided: Any) -> Any:
    """Return `access` with `missing` where the content of a file is lost."""
    reason = pc.struct_field(decided, [1])
    lost = reason.dictionary.to_pylist().index("missing")
    is_lost = pc.fill_null(pc.equal(reason.indices, pa.scalar(lost, pa.int8())), False)
    return _set_missing(access, is_lost)


# --- Arguments ------------------------------------------------------------------------------------


def _read_crawlers(
    product_tokens: Crawlers, purposes: Sequence[str], profile: Profile
) -> list[AskedCrawler]:
    """Return the crawlers, each with its label."""
    chosen = vet_purposes(purposes)
    if isinstance(product_tokens, Mapping):
        pairs = [(str(label), names) for label, names in product_tokens.items()]
    elif isinstance(product_tokens, str | CrawlerNames):
        pairs = [(_label(product_tokens), product_tokens)]
    elif isinstance(product_tokens, Sequence):
        pairs = [(_label(names), names) for names in product_tokens]
    else:
        raise TypeError(
            f"product_tokens is {product_tokens!r}: pass a list such as ['ExampleBot', 'GPTBot']"
        )
    if not pairs:
        raise ProductTokenError("no product token was given: pass product_tokens=['ExampleBot']")
    labels = [label for label, _ in pairs]
    for label in labels:
        if labels.count(label) > 1:
            raise ProductTokenError(
                f"two crawlers are called {label!r}: leave one out, or pass a mapping such as "
                "{'first': 'ExampleBot', 'second': ['ExampleBot', 'OtherBot']}"
            )
    if chosen and not profile.reads_purposes():
        warnings.warn(
            f"profile {profile.name!r} does not read User-Agent-Purpose, so purposes= changes "
            "nothing: use profile 'default', or leave purposes out",
            PurposeWarning,
            stacklevel=5,
        )
        chosen = ()
    empty = parse(b"", profile)
    for _, names in pairs:
        empty.rules_for(names, chosen)  # validates the names, with or without rows
    return [
        AskedCrawler(
            label, names if isinstance(names, str | CrawlerNames) else tuple(names), chosen
        )
        for label, names in pairs
    ]


def _label(names: Tokens) -> str:
    """Return the name of a crawler's columns: its first name."""
    if isinstance(names, str):
        return names
    return next(iter(names), "") if isinstance(names, Sequence) else ""


def _read_max_age(max_age: float | timedelta | None, at: str | None) -> float | None:
    if max_age is None:
        return None
    seconds = max_age.total_seconds() if isinstance(max_age, timedelta) else max_age
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f"max_age is {max_age!r}: pass seconds, or a timedelta")
    if not (isfinite(seconds) and seconds >= 0):
        raise ValueError(f"max_age is {max_age!r}: pass seconds, 0 or more")
    if at is None:
        raise ValueError(
            "max_age needs at=: the age of a fetch is its age at the time of a row; pass the name "
            "of a column of times"
        )
    return float(seconds)


def _vet_url_type(field: Any) -> None:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if not is_text(kind) and not pa.types.is_null(kind):
        raise TableError(
            f"column {field.name!r} has the type {field.type}; URLs are text: cast it, or name "
            "another column with url="
        )


def _vet_time_type(field: Any) -> None:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if not is_time(kind) and not pa.types.is_null(kind):
        raise TableError(
            f"column {field.name!r} has the type {field.type}; times are timestamps, dates, ISO "
            "8601 text or seconds since 1970: cast it, or name another column with at="
        )


def _vet_names(added: Sequence[str], present: Sequence[str]) -> None:
    clashes = [name for name in added if name in present]
    if clashes:
        raise TableError(
            f"the table has columns called {', '.join(clashes)} already: rename them, or pass a "
            "prefix such as prefix='robots_'"
        )
