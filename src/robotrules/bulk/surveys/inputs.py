"""
Input of a survey: facts in any form become batches of site rows, with the stratum of each row.

Sections: sources · strata · site rows.

A source is a table, a reader, a dataset, Parquet files, an object with the Arrow stream interface,
or an iterable of batches; it is read once. Only the columns that a survey uses are kept, in one
schema. The module does not know what is counted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow.compute as pc
import pyarrow.dataset as ds

from robotrules.bulk.arrow_support import pa

# Rows of a batch at most: the memory of one step.
BATCH_ROWS = 65_536
# Strata at most; a column with more values is not a grouping.
MAX_STRATA = 1_000
ALL = "all"
NOT_KNOWN = "not known"
NOT_RANKED = "not ranked"
PERIODS = {"month": "%Y-%m", "quarter": "%Y-", "year": "%Y"}
DEFAULT_STRATA = (1_000, 10_000, 100_000, 1_000_000)
STATES = ("none", "some", "all")
ACCESS = ("success", "unavailable", "unreachable", "missing")

_TEXTS = pa.list_(pa.string())
_PAIRS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.string())]))
_COUNTS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.uint32())]))
# The columns of facts that a survey uses, and the type that each is converted to.
COLUMNS: dict[str, Any] = {
    "origin": pa.string(),
    "fetched_at": pa.timestamp("us", "UTC"),
    "access": pa.string(),
    "size": pa.uint32(),
    "truncated": pa.bool_(),
    "lines": pa.uint32(),
    "groups": pa.uint32(),
    "allow_rules": pa.uint32(),
    "disallow_rules": pa.uint32(),
    "user_agents": _TEXTS,
    "sitemaps": _TEXTS,
    "crawl_delay": pa.float64(),
    "purposes": _TEXTS,
    "content_usage": _PAIRS,
    "content_signal": _PAIRS,
    "app_directives": pa.uint32(),
    "notes": _COUNTS,
    "named_crawlers": _TEXTS,
}


# --- Sources --------------------------------------------------------------------------------------


def read_batches(facts: Any, wanted: Sequence[str]) -> Iterator[Any]:
    """
    Yield the record batches of facts in any form.

    *wanted* columns are the only ones read from files. Raises TypeError or ValueError for misuse.
    """
    if isinstance(facts, pa.Table):
        yield from _split(facts)
    elif isinstance(facts, pa.RecordBatch):
        yield from _split(pa.Table.from_batches([facts]))
    elif isinstance(facts, pa.RecordBatchReader):
        for batch in facts:
            yield from _split(pa.Table.from_batches([batch]))
    elif isinstance(facts, ds.Dataset):
        yield from _read_dataset(facts, wanted)
    elif isinstance(facts, (str, os.PathLike)):
        yield from _read_dataset(_open_files([facts]), wanted)
    elif hasattr(facts, "__arrow_c_stream__"):
        yield from read_batches(pa.RecordBatchReader.from_stream(facts), wanted)
    elif isinstance(facts, Iterable) and not isinstance(facts, (bytes, Mapping)):
        yield from _read_iterable(facts, wanted)
    else:
        raise TypeError(f"facts must be {_FORMS}; not {type(facts).__name__}")


_FORMS = (
    "the table of bulk.facts(), record batches of such a table, a dataset, or the path of a Parquet"
    " file or of a folder of Parquet files"
)


def _read_iterable(facts: Iterable[Any], wanted: Sequence[str]) -> Iterator[Any]:
    paths: list[str | os.PathLike[str]] = []
    for item in facts:
        if isinstance(item, (str, os.PathLike)):
            paths.append(item)
        elif isinstance(item, (pa.Table, pa.RecordBatch)) or hasattr(item, "__arrow_c_stream__"):
            yield from read_batches(item, wanted)
        else:
            raise TypeError(f"facts must be {_FORMS}; not an iterable of {type(item).__name__}")
    if paths:
        yield from _read_dataset(_open_files(paths), wanted)


def _open_files(paths: Sequence[str | os.PathLike[str]]) -> Any:
    files: list[str] = []
    for path in map(Path, paths):
        if path.is_dir():
            found = sorted(str(file) for file in path.rglob("*.parquet"))
            if not found:
                raise ValueError(f"no Parquet file in the folder {path}: pass the output of facts")
            files += found
        elif not path.exists():
            raise FileNotFoundError(f"no such file: {path}")
        else:
            files.append(str(path))
    try:
        return ds.dataset(files, format="parquet")
    except pa.ArrowInvalid as error:
        raise ValueError(
            f"cannot read facts as Parquet ({str(error)[:200]}): pass files that "
            "`robotrules bulk facts -o FILE.parquet` wrote"
        ) from None


def _read_dataset(dataset: Any, wanted: Sequence[str]) -> Iterator[Any]:
    columns = [name for name in wanted if name in dataset.schema.names]
    check_columns(dataset.schema.names)
    # Few batches are read ahead: the memory of a survey must not depend on the size of a file.
    for batch in dataset.to_batches(
        columns=columns, batch_size=BATCH_ROWS, batch_readahead=2, fragment_readahead=1
    ):
        yield from _split(pa.Table.from_batches([batch]))


def _split(table: Any) -> Iterator[Any]:
    for start in range(0, max(len(table), 1), BATCH_ROWS):
        part = table.slice(start, BATCH_ROWS).combine_chunks()
        batches = part.to_batches()
        yield batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)


def check_columns(names: Sequence[str]) -> None:
    """Raise ValueError if columns are not those of facts."""
    if "origin" not in names:
        there = ", ".join(map(repr, names)) or "none"
        raise ValueError(
            f"facts have no column 'origin' (columns: {there}): make them with bulk.facts()"
        )


# --- Strata ---------------------------------------------------------------------------------------


class Strata:
    """The strata of a survey: their labels, and the number of the stratum of each row."""

    def __init__(
        self, by: str | None, ranks: Mapping[str, int] | None, bounds: Sequence[int]
    ) -> None:
        self.by = by
        self.is_time = by in PERIODS
        self.is_rank = by == "rank"
        self._ranks = ranks
        self._bounds = tuple(bounds)
        self._numbers: dict[str, int] = {}

    @property
    def labels(self) -> list[str]:
        """The labels by number."""
        return list(self._numbers)

    def ordered(self, sites: Mapping[int, int]) -> list[int]:
        """Return numbers in display order: by time, by rank, or the largest number of sites."""
        labels = self.labels
        if self.is_rank:
            known = self._rank_labels()
            return sorted(range(len(labels)), key=lambda number: known.index(labels[number]))
        if self.is_time:
            return sorted(
                range(len(labels)), key=lambda number: (labels[number] == NOT_KNOWN, labels[number])
            )
        return sorted(
            range(len(labels)),
            key=lambda number: (
                labels[number] == NOT_KNOWN,
                -sites.get(number, 0),
                labels[number],
            ),
        )

    def periods(self) -> list[int]:
        """Return the numbers of the periods in order, without rows of unknown time."""
        return [number for number in self.ordered({}) if self.labels[number] != NOT_KNOWN]

    @property
    def column(self) -> str | None:
        """The column of facts that strata are made of."""
        if self.is_time:
            return "fetched_at"
        return None if self.is_rank and self._ranks is not None else self.by

    def assign(self, batch: Any) -> Any:
        """Return the number of the stratum of each row, as int32."""
        if self.by is None:
            return _repeat(self._number(ALL), len(batch))
        if self.is_rank and self._ranks is not None:
            origins = batch.column("origin").to_pylist()
            return self._encode(pa.array([self._rank_label(self._rank_of(o)) for o in origins]))
        name = self.column
        if name not in batch.schema.names:
            if self.is_time:
                return _repeat(self._number(NOT_KNOWN), len(batch))
            there = ", ".join(batch.schema.names)
            raise ValueError(
                f"by={self.by!r} is not a column of facts (columns: {there}): append the column "
                "before, or pass one of month, quarter, year or rank"
                + (" (rank needs a column 'rank' or the argument ranks=)" if self.is_rank else "")
            )
        column = batch.column(name)
        if self.is_time:
            return self._encode(_period(_cast(column, "fetched_at"), str(self.by)))
        if self.is_rank:
            if not pa.types.is_integer(column.type):
                raise TypeError(f"the column 'rank' has the type {column.type}: pass integers")
            return self._encode(pa.array([self._rank_label(r) for r in column.to_pylist()]))
        try:
            if pa.types.is_dictionary(column.type):
                column = column.dictionary.cast(pa.string()).take(column.indices)
            return self._encode(column.cast(pa.string()))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise TypeError(
                f"by={self.by!r}: a column of the type {column.type} cannot be a grouping; append "
                "a column of texts, numbers, dates or booleans"
            ) from None

    def _encode(self, texts: Any) -> Any:
        encoded = texts.cast(pa.string()).fill_null(NOT_KNOWN).dictionary_encode()
        numbers = [self._number(label) for label in encoded.dictionary.to_pylist()]
        return pa.array(numbers, pa.int32()).take(encoded.indices)

    def _number(self, label: str) -> int:
        number = self._numbers.setdefault(label, len(self._numbers))
        if number >= MAX_STRATA:
            raise ValueError(
                f"by={self.by!r} has more than {MAX_STRATA:,} different values: append a column "
                "with fewer, such as a class or a range"
            )
        return number

    def _rank_labels(self) -> list[str]:
        labels, before = [], 0
        for bound in self._bounds:
            labels.append(f"top {bound:,}" if not before else f"{before + 1:,} to {bound:,}")
            before = bound
        return [*labels, f"over {before:,}", NOT_RANKED, NOT_KNOWN]

    def _rank_label(self, rank: int | None) -> str:
        if rank is None or rank < 1:
            return NOT_RANKED
        places = sum(bound < rank for bound in self._bounds)
        return self._rank_labels()[places]

    def _rank_of(self, origin: str | None) -> int | None:
        ranks = self._ranks or {}
        if origin is None:
            return None
        if (rank := ranks.get(origin)) is not None:
            return rank
        host = urlsplit(origin).hostname or ""
        # Lists such as Tranco's have domains without `www`.
        return ranks.get(host, ranks.get(host.removeprefix("www.")))


def read_ranks(ranks: Any) -> dict[str, int]:
    """
    Return ranks by origin or host, from a mapping, a table, or the path of a CSV file.

    A table has a column `rank` and a column `origin`, `domain` or `host`; a CSV file without a
    header has the rank first, as Tranco's list does. The smallest rank of a name counts.
    """
    if isinstance(ranks, (str, os.PathLike)):
        ranks = _read_rank_file(Path(ranks))
    if isinstance(ranks, Mapping):
        pairs: Iterable[tuple[Any, Any]] = ranks.items()
    else:
        if not isinstance(ranks, pa.Table):
            if not hasattr(ranks, "__arrow_c_stream__"):
                raise TypeError(
                    "ranks must be a mapping of origins or hosts to ranks, a table with the "
                    f"columns origin (or domain) and rank, or a CSV file; not {_type_of(ranks)}"
                )
            ranks = pa.table(ranks)
        names = [name for name in ("origin", "domain", "host") if name in ranks.column_names]
        if not names or "rank" not in ranks.column_names:
            there = ", ".join(map(repr, ranks.column_names))
            raise ValueError(
                f"ranks need a column 'rank' and a column 'origin' or 'domain' (columns: {there})"
            )
        pairs = zip(ranks[names[0]].to_pylist(), ranks["rank"].to_pylist(), strict=True)
    found: dict[str, int] = {}
    for name, rank in pairs:
        if isinstance(name, str) and isinstance(rank, int):
            key = name.strip().lower().rstrip("/")
            found[key] = min(rank, found.get(key, rank))
    return found


def _read_rank_file(path: Path) -> dict[str, int]:
    ranks: dict[str, int] = {}
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            first, _, rest = line.strip().partition(",")
            if first.isascii() and first.isdigit() and rest:
                name = rest.split(",")[0].strip('" ')
                ranks[name] = min(int(first), ranks.get(name, int(first)))
    if not ranks:
        raise ValueError(f"no line like '1,example.com' in {path}: pass a list such as Tranco's")
    return ranks


def _type_of(value: object) -> str:
    return type(value).__name__


def _period(times: Any, by: str) -> Any:
    if by == "quarter":
        quarter = pc.cast(pc.quarter(times), pa.string())
        return pc.binary_join_element_wise(pc.strftime(times, "%Y"), quarter, "-Q")
    return pc.strftime(times, PERIODS[by])


def _repeat(value: int, times: int) -> Any:
    return pa.repeat(pa.scalar(value, pa.int32()), times)


# --- Site rows ------------------------------------------------------------------------------------


class SiteRows:
    """
    Batches of facts in the schema of a survey.

    The columns of `COLUMNS` as they are there, `stratum` (int32), and for each crawler its state
    as `state.NAME`: a number of `STATES`, null if it is not known.
    """

    def __init__(self, strata: Strata, crawlers: Sequence[str] | None) -> None:
        self._strata = strata
        self.crawlers: tuple[str, ...] = tuple(crawlers or ())
        self._are_given = crawlers is not None
        self.rows = 0
        self.without_origin = 0
        self.missing_columns: set[str] | None = None

    def wanted(self) -> list[str]:
        """Return the columns of facts that are used."""
        column = self._strata.column
        return list(dict.fromkeys([*COLUMNS, "crawlers", *([column] if column else [])]))

    def convert(self, batch: Any) -> Any:
        """Return a batch as site rows; rows without an origin are counted and left out."""
        check_columns(batch.schema.names)
        self._take_crawlers(batch.schema)
        self.rows += len(batch)
        stratum = self._strata.assign(batch)
        names = [name for name in COLUMNS if name in batch.schema.names]
        missing = {*COLUMNS, "crawlers"} - set(batch.schema.names)
        self.missing_columns = missing & (
            missing if self.missing_columns is None else self.missing_columns
        )
        columns = [
            _cast(batch.column(name), name)
            if name in names
            else pa.nulls(len(batch), COLUMNS[name])
            for name in COLUMNS
        ]
        if "access" not in names:
            columns[list(COLUMNS).index("access")] = pa.repeat(ACCESS[0], len(batch))
        states = self._states(batch)
        converted = pa.RecordBatch.from_arrays(
            [*columns, stratum, *states],
            names=[*COLUMNS, "stratum", *(f"state.{name}" for name in self.crawlers)],
        )
        origins = converted.column("origin")
        if origins.null_count:
            self.without_origin += origins.null_count
            converted = converted.filter(origins.is_valid())
        return converted

    def _take_crawlers(self, schema: Any) -> None:
        if "crawlers" not in schema.names:
            return
        kind = schema.field("crawlers").type
        if not pa.types.is_struct(kind):
            raise TypeError(f"the column 'crawlers' has the type {kind}: it must be a struct")
        names = [field.name for field in kind]
        if not self.crawlers and not self._are_given:
            self.crawlers = tuple(names)
        folded = {name.lower(): name for name in names}
        unknown = [name for name in self.crawlers if name.lower() not in folded]
        if unknown and self._are_given:
            raise ValueError(
                f"facts have no crawler {', '.join(map(repr, unknown[:5]))}: pass "
                "crawlers= to bulk.facts() too"
            )
        if self._are_given:
            self.crawlers = tuple(folded[name.lower()] for name in self.crawlers)

    def _states(self, batch: Any) -> list[Any]:
        missing = pa.nulls(len(batch), pa.int8())
        if "crawlers" not in batch.schema.names:
            return [missing] * len(self.crawlers)
        structs = batch.column("crawlers")
        # Unlike field(), flatten() makes the fields of a null struct null.
        by_name = dict(zip((field.name for field in structs.type), structs.flatten(), strict=True))
        return [
            _state_codes(by_name[name]) if name in by_name else missing for name in self.crawlers
        ]


def _state_codes(states: Any) -> Any:
    known = pa.array(STATES)
    if pa.types.is_dictionary(states.type):
        codes = pc.index_in(states.dictionary.cast(pa.string()), value_set=known)
        return codes.cast(pa.int8()).take(states.indices)
    if pa.types.is_null(states.type):
        return pa.nulls(len(states), pa.int8())
    try:
        return pc.index_in(states.cast(pa.string()), value_set=known).cast(pa.int8())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise TypeError(
            f"a field of 'crawlers' has the type {states.type}: it must be text, "
            "one of all, some and none"
        ) from None


def _cast(column: Any, name: str) -> Any:
    wanted = COLUMNS[name]
    if column.type == wanted:
        return column
    try:
        if pa.types.is_dictionary(column.type):
            # A cast cannot decode all kinds of dictionaries, such as those of string views.
            return column.dictionary.cast(wanted).take(column.indices)
        return column.cast(wanted, safe=not pa.types.is_timestamp(wanted))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, TypeError):
        raise TypeError(
            f"the column {name!r} of facts has the type {column.type}, which cannot be read as "
            f"{wanted}: make facts with bulk.facts(), or convert the column"
        ) from None
