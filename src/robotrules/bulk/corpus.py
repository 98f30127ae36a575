"""
Corpus: robots.txt states by origin, joined with columns of URLs.

A corpus is made from a table of robots.txt files, WARC files, a client's store or a mapping.
`check()` adds columns to a table of URLs: whether each is allowed, why, and by which line of which
file. Files are parsed when a URL needs them, compiled for the crawlers that are asked about, and
evicted by size. No step loops over rows in Python; new origins and files cost some microseconds.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import chain
from threading import RLock
from types import TracebackType
from typing import Any

from robotrules.access import AccessProfile, find_access_profile, find_profiles
from robotrules.bulk import corpus_file
from robotrules.bulk.arrow_support import pa
from robotrules.bulk.corpus_check import CheckOptions, CorpusCheck, Crawlers
from robotrules.bulk.fetches import FetchBuilder, Fetches, read_store
from robotrules.bulk.rejects import Reject
from robotrules.bulk.robots_table import SCHEMA, as_table, normalize
from robotrules.bulk.rule_cache import MAX_CACHE_BYTES, RuleCache
from robotrules.bulk.state_lookup import StateLookup
from robotrules.cache import FetchRecord, Store
from robotrules.client.source_filter import make_source_filter
from robotrules.errors import TableError
from robotrules.http.origins import parse_origin
from robotrules.octets import to_octets
from robotrules.profile import Profile
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.internals import get_document, get_received

__all__ = ["Corpus"]

_OPTIONS = ("profile", "access", "max_cache_bytes")


class Corpus:
    """
    Robots.txt states by origin. Immutable, and safe to use from several threads.

    *profile* determines how files are parsed, and *access* how responses are interpreted; by
    default that of the profile. Compiled rules are kept up to *max_cache_bytes*, about. Make one
    with `from_table()`, `from_warc()`, `from_store()`, `from_mapping()` or `open()`.
    """

    def __init__(
        self,
        fetches: Fetches,
        rejects: Sequence[Reject] = (),
        *,
        profile: str | Profile = "default",
        access: str | AccessProfile | None = None,
        max_cache_bytes: int = MAX_CACHE_BYTES,
    ) -> None:
        self.profile, default_access = find_profiles(profile)
        self.access = default_access if access is None else find_access_profile(access)
        self.rejects: tuple[Reject, ...] = tuple(rejects)
        """Rows that cannot be used, each with its place and the reason."""
        self._fetches = fetches
        self._lock = RLock()
        self._lookup = StateLookup(fetches, self.access, self._lock)
        size = _vet_size(max_cache_bytes)
        self._rules = RuleCache(fetches.bodies, self.profile, size, self._lock)

    # --- Sources ------------------------------------------------------------------------------

    @classmethod
    def from_table(
        cls, table: Any, *, columns: Mapping[str, str] | None = None, **options: Any
    ) -> Corpus:
        """
        Make a corpus from a table of robots.txt files, one row a fetch.

        *table* has a column `origin` or `url`, and `status`, `body`, `fetched_at`, as far as they
        are known; `robots_table.normalize()` has the details. *columns* gives other names, such as
        `{"body": "content"}`. Rows that cannot be used are in `rejects`. *options* are those of the
        class: *profile*, *access*, *max_cache_bytes*.
        """
        data = as_table(table)
        if corpus_file.FORMAT in (data.schema.metadata or {}):
            raise TableError("this table is a saved corpus: use Corpus.open(path)")
        return cls._build(normalize(data, columns=columns), options)

    @classmethod
    def from_batches(
        cls, batches: Iterable[tuple[Any, Sequence[Reject]]], **options: Any
    ) -> Corpus:
        """Make a corpus from batches of the normal form with their rejects, as readers yield."""
        return cls._build(batches, options)

    @classmethod
    def from_warc(
        cls,
        paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        **options: Any,
    ) -> Corpus:
        """Make a corpus from the robots.txt captures of WARC files, such as Common Crawl's."""
        from robotrules.bulk.readers.warc import read_warc

        files = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
        batches = (found for path in files for found in read_warc(path))
        return cls._build(batches, options)

    @classmethod
    def from_mapping(
        cls,
        files: Mapping[str, bytes | str | RobotsTxt | int | None],
        **options: Any,
    ) -> Corpus:
        """
        Make a corpus from files by origin or URL.

        A value is the content of a robots.txt, a parsed file, an HTTP status (404: there is no
        file), or None: the file could not be fetched.
        """
        profile, _ = find_profiles(options.get("profile", "default"))
        origins, statuses, bodies, complete = [], [], [], []
        for url, value in files.items():
            origin = parse_origin(url) if isinstance(url, str) else None
            if origin is None:
                raise ValueError(f"{url!r} has no origin: use keys such as 'https://example.com'")
            status, body, whole = _read_value(origin, value, profile)
            origins.append(origin)
            statuses.append(status)
            bodies.append(body)
            complete.append(whole)
        table = pa.table(
            {
                "origin": pa.array(origins, pa.string()),
                "status": pa.array(statuses, pa.int16()),
                "body": pa.array(bodies, pa.large_binary()),
                "complete": pa.array(complete, pa.bool_()),
            }
        )
        return cls._build(normalize(table), options)

    @classmethod
    def from_store(
        cls,
        store: Store,
        agent: str | None = None,
        source: str | None = None,
        **options: Any,
    ) -> Corpus:
        """
        Make a corpus from the fetch records of a client's store.

        *agent* and *source* select fetches, as in `Evidence.at()`. Bodies are read from the store
        when they are needed, so it has to stay open.
        """
        has_source = make_source_filter(source)
        lower_agent = None if agent is None else agent.lower()

        def is_selected(fetch_record: FetchRecord) -> bool:
            """Tell whether a record is of the crawler and source."""
            has_agent = lower_agent is None or fetch_record.agent.lower() == lower_agent
            return has_agent and has_source(fetch_record)

        return cls(read_store(store, is_selected), **_vet_options(options))

    @classmethod
    def open(cls, path: str | os.PathLike[str], **options: Any) -> Corpus:
        """
        Open a corpus that `save()` wrote.

        Bodies stay in the file until a URL needs them; `close()` closes it.
        """
        return cls(corpus_file.read_fetches(path), **_vet_options(options))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the corpus to a Parquet file; an existing file is replaced when it is complete."""
        with self._lock:
            corpus_file.write_fetches(self._fetches, path)

    @classmethod
    def _build(
        cls, batches: Iterable[tuple[Any, Sequence[Reject]]], options: dict[str, Any]
    ) -> Corpus:
        options = _vet_options(options)
        builder = FetchBuilder()
        rejects: list[Reject] = []
        for batch, wrong in batches:
            if not batch.schema.equals(SCHEMA):
                raise TableError(
                    f"a batch has the columns {', '.join(batch.schema.names)}, which are not the "
                    "normal form: use robots_table.normalize()"
                )
            builder.add(batch)
            rejects.extend(wrong)
        return cls(builder.finish(), rejects, **options)

    # --- Content ------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return the number of origins."""
        return len(self._fetches.index)

    @property
    def origins(self) -> Any:
        """The origins, as a pyarrow array of strings."""
        index = self._fetches.index
        return pa.array([index.origin(number) for number in range(len(index))], pa.string())

    @property
    def fetches(self) -> int:
        """The number of fetches."""
        return len(self._fetches)

    @property
    def files(self) -> int:
        """The number of different files."""
        return len(self._fetches.bodies)

    @property
    def cache_bytes(self) -> int:
        """The bytes of the parsed files and compiled rules that are kept, about."""
        return self._rules.size

    def __repr__(self) -> str:
        counts = f"{len(self):,} origins, {self.fetches:,} fetches, {self.files:,} different files"
        rejects = f", {len(self.rejects):,} rejects" if self.rejects else ""
        return f"<Corpus: {counts}{rejects}, profile {self.profile.name}>"

    def close(self) -> None:
        """Close the file of a corpus that was opened."""
        with self._lock:
            self._fetches.bodies.close()

    def __enter__(self) -> Corpus:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- Checks -------------------------------------------------------------------------------

    def check(
        self,
        table: Any,
        url: str = "url",
        product_tokens: Crawlers = (),
        purposes: Sequence[str] = (),
        at: str | None = None,
        missing: str | None = None,
        max_age: float | timedelta | None = None,
        threads: int = 0,
        prefix: str = "",
    ) -> Any:
        """
        Return *table* with columns that tell for each URL whether it is allowed.

        The columns are `allowed`, `reason`, `line`, `rule` and `access`. With several
        *product_tokens* each has its own, such as `GPTBot.allowed`, and `access` is shared. A
        product token is a name, several names of one crawler, or `CrawlerNames`; a mapping gives
        them labels. *purposes* apply where no group names the crawler.

        *at* names a column of times: each row is decided by the state that was in force then, and
        has `fetched_at` of the fetch that decided and `in_force`. None: by the last fetch of each
        origin. *max_age* is in seconds: an older fetch counts as missing. *missing* decides URLs of
        origins without a known file: None (null), `allow` or `disallow`.
        """
        data = as_table(table)
        options = url, product_tokens, purposes, at, missing, max_age, threads, prefix
        check = self._make_check(data.schema, CheckOptions(*options))
        return check.run_table(data)

    def check_batches(
        self,
        batches: Any,
        url: str = "url",
        product_tokens: Crawlers = (),
        purposes: Sequence[str] = (),
        at: str | None = None,
        missing: str | None = None,
        max_age: float | timedelta | None = None,
        threads: int = 0,
        prefix: str = "",
    ) -> Iterator[Any]:
        """
        Yield batches of URLs with the columns of `check()`.

        *batches* are record batches of one schema, or an object with `__arrow_c_stream__`, such as
        a `pyarrow.RecordBatchReader`. Memory does not grow with the number of batches.
        """
        options = url, product_tokens, purposes, at, missing, max_age, threads, prefix
        reader = _read_batches(batches)
        first = next(reader, None)
        if first is None:
            return iter(())
        check = self._make_check(first.schema, CheckOptions(*options))
        return _run_batches(check, first, reader)

    def _make_check(self, schema: Any, options: CheckOptions) -> CorpusCheck:
        return CorpusCheck(self._lookup, self._rules, self.profile, schema, options)


def _run_batches(check: CorpusCheck, first: Any, others: Iterator[Any]) -> Iterator[Any]:
    for batch in chain((first,), others):
        if not batch.schema.equals(first.schema):
            raise TableError(
                f"batches have different columns: first {', '.join(first.schema.names)}, then "
                f"{', '.join(batch.schema.names)}; types may differ too: pass batches of one schema"
            )
        yield from check.run_batch(batch)


def _read_batches(batches: Any) -> Iterator[Any]:
    """Yield the record batches of a stream or an iterable."""
    if hasattr(batches, "__arrow_c_stream__"):
        yield from pa.RecordBatchReader.from_stream(batches)
        return
    if isinstance(batches, str | bytes) or not isinstance(batches, Iterable):
        raise TypeError(
            f"batches are record batches or an object with __arrow_c_stream__, not "
            f"{type(batches).__name__}: pass table.to_batches() or a RecordBatchReader"
        )
    for batch in batches:
        yield batch if isinstance(batch, pa.RecordBatch) else pa.record_batch(batch)


def _read_value(
    origin: str, value: bytes | str | RobotsTxt | int | None, profile: Profile
) -> tuple[int | None, bytes | None, bool]:
    """Return the status and body of a value of a mapping, and whether the body is complete."""
    if value is None:
        return None, None, True
    if isinstance(value, RobotsTxt):
        if value.profile != profile:
            raise ValueError(
                f"the file of {origin} was parsed with profile {value.profile.name!r} and the "
                f"corpus has {profile.name!r}: pass profile={value.profile.name!r}"
            )
        return 200, get_received(value), get_document(value).complete
    if isinstance(value, int) and not isinstance(value, bool):
        if not 100 <= value <= 999:
            raise ValueError(f"{value} is not an HTTP status: use 100 to 999 for {origin}")
        return value, None, True
    if isinstance(value, str | bytes | bytearray | memoryview):
        return 200, to_octets(value), True
    raise TypeError(
        f"the file of {origin} is {type(value).__name__}: pass bytes, str, a RobotsTxt, an HTTP "
        "status, or None for a file that could not be fetched"
    )


def _vet_options(options: dict[str, Any]) -> dict[str, Any]:
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(f"unknown option {name!r}: use {', '.join(_OPTIONS)}")
    return options


def _vet_size(size: object) -> int:
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise ValueError(f"max_cache_bytes is {size!r}: pass a number of bytes, 0 or more")
    return size
