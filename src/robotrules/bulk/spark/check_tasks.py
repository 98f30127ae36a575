"""
Tasks of `check()`: what runs in the Python processes of the executors.

`BroadcastCheck` has all robots.txt states and joins them with any URLs. `CopartitionedCheck` gets
a partition in which the states of a bucket come first and its URLs follow: it keeps the states of
one bucket, and the URLs stream. Both call `Corpus.check`, as a run on one machine does, so the
answers are the same. The tasks are objects, not closures: they are pickled by reference, and the
executors need robotrules installed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from robotrules.bulk.arrow_support import pa
from robotrules.bulk.corpus import Corpus
from robotrules.bulk.origin_columns import origins
from robotrules.bulk.spark.arrow_types import plain_array, plain_type, row_batch, slices
from robotrules.bulk.spark.robots_rows import from_spark
from robotrules.bulk.spark.skew import salts_column

# Columns of a co-partitioned partition; the names are not likely to be a user's.
KEY, ROBOTS_ROW = "__robotrules_key", "__robotrules_robots"
ORIGIN, SALTS = "__robotrules_origin", "__robotrules_salts"
# Corpora that a Python process keeps: the check that runs, and the one before.
MAX_CORPORA = 2
_corpora: OrderedDict[str, Corpus] = OrderedDict()


class TaskOptions(NamedTuple):
    """Arguments of `Corpus.check` and `Corpus.from_table`."""

    check: Mapping[str, Any]
    corpus: Mapping[str, Any]
    """Such as the profile."""


def make_corpus(batches: list[Any], options: TaskOptions) -> Corpus:
    """Make a corpus from batches in the normal form."""
    return Corpus.from_batches(((batch, ()) for batch in batches), **options.corpus)


def cached_corpus(key: str, make: Callable[[], Corpus]) -> Corpus:
    """Return the corpus of a broadcast: made once in each Python process."""
    if key not in _corpora:
        while len(_corpora) >= MAX_CORPORA:
            _corpora.popitem(last=False)
        _corpora[key] = make()
    _corpora.move_to_end(key)
    return _corpora[key]


def checked_batches(corpus: Corpus, batch: Any, options: TaskOptions) -> Iterator[Any]:
    """Yield a batch with the columns of the check, in the types that Spark has."""
    for part in slices(batch):
        result = corpus.check(pa.Table.from_batches([part]), **options.check)
        for checked in result.combine_chunks().to_batches():
            known = len(part.schema)
            columns = [*part.columns, *map(plain_array, checked.columns[known:])]
            fields = [
                pa.field(field.name, plain_type(field.type))
                for field in list(checked.schema)[known:]
            ]
            schema = pa.schema([*part.schema, *fields])
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


class BroadcastCheck:
    """Joins any URLs with all robots.txt states; for `mapInArrow`."""

    def __init__(self, key: str, states: Any, options: TaskOptions) -> None:
        """Take the states from a broadcast variable: an Arrow IPC stream in the normal form."""
        self.key, self.states, self.options = key, states, options

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield each batch with the columns of the check."""
        corpus = cached_corpus(self.key, self._make)
        for batch in map(row_batch, batches):
            yield from checked_batches(corpus, batch, self.options)

    def _make(self) -> Corpus:
        # The table uses the memory of the broadcast value; nothing is copied.
        with pa.ipc.open_stream(pa.py_buffer(self.states.value)) as stream:
            return make_corpus(list(stream), self.options)


def find_origins(urls: Any) -> Any:
    """Return the origins of a column of URLs."""
    return pa.array(origins(urls, threads=1)).cast(pa.string())


class FindOrigins:
    """Adds the origin of each URL and the number of its salts; for `mapInArrow`."""

    def __init__(self, url: str, salts: Mapping[str, int], keep: bool = True) -> None:
        """Read the column *url*; without *keep*, the result has no other columns."""
        self.url, self.salts, self.keep = url, dict(salts), keep

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield each batch with two more columns."""
        for batch in map(row_batch, batches):
            found = find_origins(batch.column(self.url))
            columns = [found, salts_column(found, self.salts)]
            names = [ORIGIN, SALTS]
            if self.keep:
                columns = [*batch.columns, *columns]
                names = [*batch.schema.names, *names]
            yield pa.RecordBatch.from_arrays(columns, names=names)


class FindTargets:
    """Finds the origins that redirects lead to; for `mapInArrow`."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield origin and target of rows with a location at another origin."""
        for batch in batches:
            target = find_origins(batch.column("location"))
            pairs = pa.RecordBatch.from_arrays(
                [batch.column("origin"), target], names=["origin", "target"]
            )
            elsewhere = pa.compute.not_equal(pairs["origin"], pairs["target"])
            yield pairs.filter(pa.compute.fill_null(elsewhere, False))


class CopartitionedCheck:
    """
    Joins the URLs of a bucket with the robots.txt states of that bucket; for `mapInArrow`.

    A partition has one or more buckets. It is sorted by `KEY`, which is twice the bucket, plus one
    for a URL.
    """

    def __init__(self, options: TaskOptions) -> None:
        """Check with these options."""
        self.options = options

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield each row of URLs with the columns of the check."""
        bucket: int | None = None
        states: list[Any] = []
        corpus: Corpus | None = None
        for batch in batches:
            for key, run in _runs(batch):
                if key // 2 != bucket:
                    bucket, states, corpus = key // 2, [], None
                if key % 2 == 0:
                    states.append(from_spark(row_batch(run, ROBOTS_ROW)))
                    continue
                if corpus is None:
                    corpus, states = make_corpus(states, self.options), []
                yield from checked_batches(corpus, row_batch(run), self.options)


def _runs(batch: Any) -> Iterator[tuple[int, Any]]:
    """Yield the slices of a batch that have one key each."""
    if not batch.num_rows:
        return
    runs = pa.compute.run_end_encode(batch.column(KEY))
    first = 0
    for key, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
        yield key, batch.slice(first, end - first)
        first = end
