"""
Facts about robots.txt files: one typed row a fetch.

`facts()` takes what users have (a table, batches, a mapping of origins to files) and returns a
table with `SCHEMA`; `facts_batches()` does the same batch by batch, with bounded memory. The engine
reads the files and makes the columns; a value that needs a parser for Structured Fields is read
here, each different value once. Whether a crawler may fetch all URLs, some or none is exact.

It does not follow redirects: a row with a redirect has the access `missing`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow.compute as pc

from robotrules import _engine
from robotrules.access import AccessProfile, classify_status, find_profiles
from robotrules.bulk.arrow_support import pa
from robotrules.bulk.rejects import Reject, RejectWarning
from robotrules.bulk.robots_table import SCHEMA as ROBOTS_SCHEMA
from robotrules.bulk.robots_table import normalize
from robotrules.extensions.app_directives import named_applications
from robotrules.extensions.content_signal import content_signals
from robotrules.extensions.content_usage import Preference, preferences_for
from robotrules.octets import to_octets
from robotrules.profile import DEFAULT, Profile
from robotrules.registries.crawlers import KNOWN_CRAWLERS, KnownCrawler
from robotrules.robotstxt import parse
from robotrules.robotstxt.tokens import (
    CrawlerNames,
    is_compared_whole,
    leading_name,
    vet_name,
)

__all__ = ["ACCESS", "COVERAGE", "SCHEMA", "facts", "facts_batches", "make_schema"]

ACCESS = ("success", "unavailable", "unreachable", "missing")
"""What a fetch found, as in `access`; `missing`: a redirect, or a success without a body."""
COVERAGE = ("all", "some", "none")
"""What a crawler may fetch: every URL, some URLs, or no URL but `/robots.txt`."""

# A crawler: its product token, its entry in the registry, or its names.
_Crawler = str | KnownCrawler | CrawlerNames

_SUCCESS, _MISSING = ACCESS.index("success"), ACCESS.index("missing")
# The engine's numbers for these, and for a success that was truncated.
_STATES = pa.array([0, 2, 3, 4, 1], pa.uint8())
# A success without content: its body, if any, is not a robots.txt (RFC 9110 §15.3.5).
_NO_CONTENT = (204, 205)
# Files of this many octets are read in one call: lists of text have 32-bit offsets.
_MAX_OCTETS = 1 << 29
# Different values of Content-Usage and the like that are kept. Most sites copy theirs.
_CACHED_VALUES = 4_096


def make_schema(crawlers: Iterable[_Crawler] | None = None) -> pa.Schema:
    """Return the schema of facts for some crawlers; None: the well-known ones, as in `SCHEMA`."""
    count, text, label = pa.uint32(), pa.string(), pa.dictionary(pa.int8(), pa.string())
    delay = pa.struct([("user_agent", text), ("seconds", pa.float64())])
    tokens = list(_find_crawlers(crawlers))
    return pa.schema(
        [
            ("origin", text),
            ("url", text),
            ("fetched_at", pa.timestamp("us", tz="UTC")),
            ("status", pa.int16()),
            ("access", label),
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
            ("crawl_delays", pa.list_(delay)),
            ("purposes", pa.list_(text)),
            ("content_usage", pa.map_(text, text)),
            ("content_signal", pa.map_(text, text)),
            ("app_directives", count),
            ("applications", pa.list_(text)),
            ("notes", pa.map_(text, count)),
            ("named_crawlers", pa.list_(text)),
            ("crawlers", pa.struct([(token, label) for token in tokens])),
        ]
    )


def facts(
    files: Any,
    *,
    profile: str | Profile = "default",
    crawlers: Iterable[_Crawler] | None = None,
    threads: int = 0,
    rejects: list[Reject] | None = None,
) -> pa.Table:
    """
    Return facts about robots.txt files: a table with `SCHEMA`, one row a fetch.

    *files* is a table with columns such as `origin`, `status` and `body` (see
    `robots_table.normalize()`), an iterable of such batches, or a mapping of origins to files: the
    content, an HTTP status such as 404, or None if there was no response.
    *crawlers* are the product tokens for the column `crawlers`; None: the well-known crawlers; `*`
    is a crawler that no file names. *threads* is the number of threads; 0: one per core.

    Rows that cannot be used are added to *rejects*; without it there is a RejectWarning.
    """
    found: list[Reject] = [] if rejects is None else rejects
    batches = _normal_batches(files, found)
    chosen = _find_crawlers(crawlers)
    reader = _FactsSource(profile, chosen, threads)
    parts = (reader.read(part) for batch in batches for part in _split(batch))
    table = pa.Table.from_batches(parts, reader.schema)
    if rejects is None and found:
        source, place, reason = found[0]
        warnings.warn(
            f"{len(found)} rows cannot be used, the first at {source or 'the table'}, {place}: "
            f"{reason}; pass rejects=[] to get them",
            RejectWarning,
            stacklevel=2,
        )
    return table


def facts_batches(
    batches: Iterable[pa.RecordBatch],
    *,
    profile: str | Profile = "default",
    crawlers: Iterable[_Crawler] | None = None,
    threads: int = 0,
) -> Iterator[pa.RecordBatch]:
    """
    Yield facts about batches in the normal form of `robots_table`, with bounded memory.

    A batch has the rows of its input in their order; a batch with very large files becomes several.
    """
    reader = _FactsSource(profile, _find_crawlers(crawlers), threads)
    parts = (part for batch in batches for part in _split(_require_normal_form(batch)))
    # With one thread, a batch is read after the other.
    return map(reader.read, parts) if threads == 1 else _read_ahead(reader, parts)


def _read_ahead(reader: _FactsSource, parts: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield facts in order; while the engine reads a part, the next one comes from the input."""
    before: _StartedBatch | None = None
    for part in parts:
        started = reader.start(part)
        if before is not None:
            yield reader.finish(before)
        before = started
    if before is not None:
        yield reader.finish(before)


# --- Input ----------------------------------------------------------------------------------------


def _normal_batches(files: Any, rejects: list[Reject]) -> Iterator[pa.RecordBatch]:
    """Yield what users have in the normal form."""
    for table in _tables(files):
        for batch, rejected in normalize(table):
            rejects += rejected
            yield batch


def _tables(files: Any) -> Iterable[Any]:
    if isinstance(files, Mapping):
        pairs = [_status_and_body(value) for value in files.values()]
        columns = {
            "origin": pa.array(list(files), pa.string()),
            "status": pa.array([status for status, _ in pairs], pa.int64()),
            "body": pa.array([body for _, body in pairs], pa.large_binary()),
        }
        return [pa.table(columns)]
    if hasattr(files, "__arrow_c_stream__") or hasattr(files, "__arrow_c_array__"):
        return [files]
    if isinstance(files, Iterable) and not isinstance(files, (str, bytes)):
        return files
    raise TypeError(
        "files are a table with the columns origin, status and body, an iterable of batches, or a "
        f"dict of origins and files; not {type(files).__name__}"
    )


def _status_and_body(value: object) -> tuple[int | None, bytes | None]:
    if isinstance(value, (str, bytes)):
        return 200, to_octets(value)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value, None
    raise TypeError(
        "a file is its content in bytes or str, an HTTP status such as 404, or None if there was "
        f"no response; not {type(value).__name__}"
    )


def _require_normal_form(batch: Any) -> pa.RecordBatch:
    if isinstance(batch, pa.RecordBatch) and batch.schema.equals(ROBOTS_SCHEMA):
        return batch
    raise TypeError(
        "facts_batches() takes batches in the normal form: pass those of "
        "robotrules.bulk.robots_table.normalize(table), or use facts(table)"
    )


def _split(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield parts of a batch that are small enough for one call of the engine."""
    lengths = pc.sum(pc.binary_length(batch.column("body"))).as_py() or 0
    if lengths <= _MAX_OCTETS or len(batch) < 2:
        yield batch
        return
    middle = len(batch) // 2
    yield from _split(batch.slice(0, middle))
    yield from _split(batch.slice(middle))


def _find_crawlers(
    crawlers: Iterable[_Crawler] | None,
) -> dict[str, KnownCrawler | CrawlerNames]:
    """Return crawlers by product token: entries of the registry, or names."""
    if crawlers is None:
        return {known.product_token: known for known in KNOWN_CRAWLERS}
    if isinstance(crawlers, (str, bytes)):
        raise TypeError(f"crawlers is a list of product tokens: pass [{crawlers!r}]")
    found: dict[str, KnownCrawler | CrawlerNames] = {}
    for given in crawlers:
        known = KNOWN_CRAWLERS.get(given) if isinstance(given, str) else given
        if isinstance(known, (KnownCrawler, CrawlerNames)):
            token, crawler = known[0], known
        else:
            token = vet_name(given, DEFAULT)
            crawler = CrawlerNames((token,))
        if token in found:
            raise ValueError(f"crawlers has {token!r} twice: pass it once")
        found[token] = crawler
    return found


# --- One batch ------------------------------------------------------------------------------------


class _FactsSource:
    """The engine's reader for a profile and some crawlers."""

    def __init__(
        self,
        profile: str | Profile,
        crawlers: Mapping[str, KnownCrawler | CrawlerNames],
        threads: int,
    ) -> None:
        if not isinstance(threads, int) or threads < 0:
            raise ValueError(f"threads is {threads!r}: pass a number, or 0 for one per core")
        self._profile, self._access = find_profiles(profile)
        self._threads = threads
        self.schema = make_schema(crawlers.values())
        engine = _engine.engine
        self._reader = engine.FactsReader(
            self._profile.settings(engine),
            [_compared(token, one, self._profile) for token, one in crawlers.items()],
            self._profile.first_star_group_only,
            _ValueReader(self._profile),
        )

    def read(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the facts about a batch in the normal form."""
        body, access, states = self._prepare(batch)
        return self._assemble(batch, access, self._reader.read(body, states, self._threads))

    def start(self, batch: pa.RecordBatch) -> _StartedBatch:
        """Begin to read a batch; the engine goes on while the caller does something else."""
        body, access, states = self._prepare(batch)
        return _StartedBatch(batch, access, self._reader.start(body, states, self._threads))

    def finish(self, started: _StartedBatch) -> pa.RecordBatch:
        """Return the facts about a batch that was started."""
        return self._assemble(started.batch, started.access, started.job.result())

    def _prepare(self, batch: pa.RecordBatch) -> tuple[Any, Any, bytes]:
        """Return bodies, positions in ACCESS, and the state of each row for the engine."""
        status, body = batch.column("status"), batch.column("body")
        has_no_content = pc.is_in(status, pa.array(_NO_CONTENT, status.type))
        if pc.any(has_no_content).as_py():
            body = pc.if_else(has_no_content, pa.scalar(b"", body.type), body)
        access = _classify(status, self._access)
        without_body = pc.and_(pc.equal(access, _SUCCESS), pc.is_null(body))
        access = pc.if_else(without_body, pa.scalar(_MISSING, pa.int8()), access)
        is_cut = pc.and_(pc.equal(access, _SUCCESS), pc.invert(batch.column("complete")))
        states = pc.take(_STATES, pc.if_else(is_cut, len(ACCESS), access))
        return body, access, bytes(states.buffers()[1] or b"")[: len(batch)]

    def _assemble(self, batch: pa.RecordBatch, access: Any, facts: Any) -> pa.RecordBatch:
        columns = [batch.column(name) for name in ("origin", "url", "fetched_at", "status")]
        columns.append(pa.DictionaryArray.from_arrays(access, pa.array(ACCESS)))
        found = pa.array(facts).flatten()
        return pa.RecordBatch.from_arrays([*columns, *found], schema=self.schema)


class _StartedBatch(NamedTuple):
    """A batch that the engine reads."""

    batch: pa.RecordBatch
    access: Any
    job: Any


def _classify(status: pa.Array, profile: AccessProfile) -> pa.Array:
    """Return positions in ACCESS for statuses."""
    encoded = status.dictionary_encode(null_encoding="encode")
    found = [_classify_status(one, profile) for one in encoded.dictionary.to_pylist()]
    return pc.take(pa.array(found, pa.int8()), encoded.indices)


def _classify_status(status: int | None, profile: AccessProfile) -> int:
    if status is None:  # no response
        return ACCESS.index("unreachable")
    if 300 <= status < 400:
        return _MISSING
    return ACCESS.index(str(classify_status(status, profile)))


def _compared(
    token: str, crawler: KnownCrawler | CrawlerNames, profile: Profile
) -> tuple[str, list[bytes], bool]:
    """Return a crawler as the engine needs it: the names that the profile compares (AMB-21)."""
    names = crawler.names if isinstance(crawler, KnownCrawler) else crawler
    compared = [name if is_compared_whole(name, profile) else leading_name(name) for name in names]
    # `*` is not a name: such a crawler obeys the groups that are for everyone.
    return token, [b"" if name == "*" else name.encode() for name in compared], names.ignores_star


# --- Values that the engine does not read ---------------------------------------------------------


class _ValueReader:
    """
    Reads the values of records with the readers of `extensions`. A hook: see `_native.pyi`.

    The values are put into a file of their own, whose only group is for everyone.
    """

    def __init__(self, profile: Profile) -> None:
        # The values were cut at these limits already.
        self._profile = profile.replace(max_line=None, max_bytes=1 << 30)

    def __call__(self, kind: str, values: Sequence[bytes]) -> list[Any]:
        """Return URLs of sitemaps, applications, or pairs of a map."""
        return _read_values(self._profile, kind, tuple(values))


_KEYS = {
    "sitemaps": b"sitemap",
    "content_usage": b"content-usage",
    "content_signal": b"content-signal",
    "applications": b"app-directives",
}


@lru_cache(_CACHED_VALUES)
def _read_values(profile: Profile, kind: str, values: tuple[bytes, ...]) -> list[Any]:
    records = b"".join(_KEYS[kind] + b": " + one + b"\n" for one in values)
    robots = parse(b"User-agent: *\n" + records, profile)
    if kind == "sitemaps":
        return [sitemap.url for sitemap in robots.sitemaps]
    if kind == "content_usage":
        stated = preferences_for(robots, "*").stated_for_url("/").values
        return [(category, str(one)) for category, one in stated if one is not Preference.UNKNOWN]
    if kind == "content_signal":
        return list(content_signals(robots, "/", "*").values().items())
    return list(named_applications(robots))


SCHEMA = make_schema()
"""The schema of facts, with a field for each well-known crawler in `crawlers`."""
