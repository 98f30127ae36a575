"""
The plan of `check()`: how robots.txt states come to the URLs.

Small states are broadcast: every Python process gets all of them, and URLs stay where they are.
Otherwise both sides are shuffled into buckets by origin. States come before URLs within a bucket,
so a task reads the states, then streams the URLs. A redirect leads to another origin, whose states
are copied into the bucket of the origin that redirects.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from functools import reduce
from math import ceil
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql.types import MapType, StructType, VariantType

from robotrules.bulk.arrow_support import pa
from robotrules.bulk.corpus import Corpus
from robotrules.bulk.robots_table import SCHEMA
from robotrules.bulk.spark.arrow_types import ROW, plain_type
from robotrules.bulk.spark.check_tasks import (
    KEY,
    ORIGIN,
    ROBOTS_ROW,
    SALTS,
    BroadcastCheck,
    CopartitionedCheck,
    FindOrigins,
    FindTargets,
    TaskOptions,
)
from robotrules.bulk.spark.frames import mappable, named_column, normalize, spark_schema
from robotrules.bulk.spark.robots_rows import from_spark
from robotrules.bulk.spark.skew import COUNTS, HeavyOrigins, choose_salts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from robotrules.access import AccessProfile
    from robotrules.profile import Profile

BROADCAST_BYTES = 64 * 2**20
# Memory of a state beside its body: origin, URL, times and offsets.
ROW_BYTES = 200
# Bytes of states that the buckets of a co-partitioned check have on average, at most.
BUCKET_BYTES = 64 * 2**20
# RFC 9309 §2.3.1.2: at least five hops; `access` follows five.
MAX_HOPS = 5


def check(
    urls: DataFrame,
    robots: DataFrame,
    *,
    url: str = "url",
    product_tokens: str | Sequence[Any] | Mapping[str, Any],
    purposes: Sequence[str] = (),
    at: str | None = None,
    missing: str | None = None,
    columns: Mapping[str, str] | None = None,
    profile: str | Profile = "default",
    access: str | AccessProfile | None = None,
    broadcast: bool | None = None,
    broadcast_bytes: int = BROADCAST_BYTES,
    partitions: int | None = None,
    salts: Mapping[str, int] | None = None,
    **options: Any,
) -> DataFrame:
    """
    Check a DataFrame of URLs against a DataFrame of robots.txt fetches.

    The result has the rows of *urls*, each once, and the columns that `Corpus.check` appends;
    dictionaries are strings there and line numbers are long. The arguments up to *missing* and
    *options* are those of `Corpus.check`. *robots* is what `spark.read.format("warc")` loads, or
    any table that `robots_table.normalize` reads, with its *columns*; `rejects()` returns the rows
    of it that cannot be used. *profile* and *access* are those of `Corpus`.

    *broadcast* says how the states are distributed; None decides by *broadcast_bytes*, which reads
    *robots* once more: cache it if that is expensive. Without a broadcast, both sides are shuffled
    into *partitions* (default: spark.sql.shuffle.partitions, and more for many states). *salts*
    gives the number of tasks among which an origin is split, such as {"https://example.com": 8};
    None counts the URLs by origin first, which reads the column of URLs once more.
    """
    arguments = {
        "url": url,
        "product_tokens": product_tokens,
        "purposes": tuple(purposes),
        "at": at,
        "missing": missing,
        "threads": 1,
        **options,
    }
    settings = TaskOptions(arguments, {"profile": profile, "access": access})
    schema = _result_schema(urls, settings)
    states = normalize(robots, columns).where(F.col("reject").isNull()).drop("reject")
    size = _size(states) if broadcast is None or not (broadcast or partitions) else 0
    if broadcast is None:
        broadcast = size <= broadcast_bytes
    if broadcast:
        return mappable(urls).mapInArrow(_broadcast(states, settings), schema)
    shuffle = int(urls.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)
    number = partitions or max(shuffle, ceil(size / BUCKET_BYTES))
    if salts is None:
        salts = find_salts(urls, url, number)
    return _copartitioned(urls, states, url, number, salts, settings, schema)


def find_salts(urls: DataFrame, url: str, partitions: int) -> dict[str, int]:
    """Count the URLs by origin, and return the number of salts of heavy origins."""
    origins = urls.select(named_column(url).alias("url")).mapInArrow(
        FindOrigins("url", {}, keep=False), f"{ORIGIN} string, {SALTS} int"
    )
    counted = origins.mapInArrow(HeavyOrigins(ORIGIN), spark_schema(COUNTS))
    totals = counted.groupBy("origin").agg(F.sum("urls").alias("urls"))
    heavy = totals.orderBy(F.col("origin").isNotNull(), F.col("urls").desc()).limit(partitions + 1)
    counts = {row["origin"]: row["urls"] for row in heavy.collect()}
    rows = counts.pop(None, 0)
    return choose_salts(counts, rows, partitions)


def _result_schema(urls: DataFrame, settings: TaskOptions) -> Any:
    """Return the schema of the result; misuse raises here, before a task is started."""
    empty = urls.limit(0).toArrow()
    corpus = Corpus.from_batches([], **settings.corpus)
    result = corpus.check(empty, **settings.check)
    added = [
        pa.field(field.name, plain_type(field.type))
        for field in list(result.schema)[len(empty.schema) :]
    ]
    return reduce(
        lambda schema, field: schema.add(field), spark_schema(pa.schema(added)), _copy(urls)
    )


def _copy(urls: DataFrame) -> Any:
    return type(urls.schema)(list(urls.schema.fields))


def _size(states: DataFrame) -> int:
    """Return the memory of states in bytes, about."""
    size = F.coalesce(F.octet_length("body"), F.lit(0)) + F.lit(ROW_BYTES)
    (row,) = states.agg(F.sum(size.cast("long")).alias("size")).collect()
    return row["size"] or 0


def _broadcast(states: DataFrame, settings: TaskOptions) -> BroadcastCheck:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, SCHEMA) as stream:
        for batch in states.toArrow().to_batches():
            stream.write_batch(from_spark(batch))
    value = states.sparkSession.sparkContext.broadcast(sink.getvalue().to_pybytes())
    return BroadcastCheck(uuid.uuid4().hex, value, settings)


# --- Co-partitioned -------------------------------------------------------------------------------


def _copartitioned(
    urls: DataFrame,
    states: DataFrame,
    url: str,
    partitions: int,
    salts: Mapping[str, int],
    settings: TaskOptions,
    schema: Any,
) -> DataFrame:
    """Shuffle both sides into buckets, states first, and check each bucket."""
    names = urls.columns
    found = StructType(list(urls.schema.fields)).add(ORIGIN, "string").add(SALTS, "integer")
    placed = mappable(urls).mapInArrow(FindOrigins(url, salts), found)
    # A hash of the row, and not a random number: a task that runs again must not move rows.
    row_hash = F.xxhash64(*map(named_column, _hashable(urls)))
    salt = F.pmod(row_hash, F.col(SALTS))
    bucket = F.when(
        F.col(ORIGIN).isNotNull(),
        F.pmod(_base(F.col(ORIGIN), partitions) + salt, F.lit(partitions)),
    ).otherwise(F.pmod(row_hash, F.lit(partitions)))
    row = F.struct(*map(named_column, names))
    left = placed.select((bucket * 2 + 1).alias(KEY), row.alias(ROW))
    both = left.unionByName(_state_rows(states, partitions, salts), allowMissingColumns=True)
    return (
        _by_bucket(both, partitions)
        .sortWithinPartitions(KEY)
        .mapInArrow(CopartitionedCheck(settings), schema)
    )


def _by_bucket(frame: DataFrame, partitions: int) -> DataFrame:
    bucket = F.floor(F.col(KEY) / 2).cast("int")
    if hasattr(frame, "repartitionById"):  # since 4.1: exactly one bucket a partition
        return frame.repartitionById(partitions, bucket)
    return frame.repartition(partitions, bucket)


def _state_rows(states: DataFrame, partitions: int, salts: Mapping[str, int]) -> DataFrame:
    """Return states, each once in every bucket that needs it."""
    own = _in_buckets(states, "origin", partitions, salts)
    pairs = _redirects(states)
    if pairs is not None:
        wanted = (
            _in_buckets(pairs, "origin", partitions, salts)
            .select(KEY, F.col("target"))
            .distinct()
            # The buckets of the target itself have its states already.
            .where(
                F.pmod(F.col(KEY) - _base(F.col("target"), partitions), F.lit(partitions))
                >= _salts(F.col("target"), salts)
            )
        )
        copies = states.join(wanted, states["origin"] == wanted["target"]).drop("target")
        own = own.unionByName(copies)
    row = F.struct(*[F.col(name) for name in SCHEMA.names])
    return own.select((F.col(KEY) * 2).alias(KEY), row.alias(ROBOTS_ROW))


def _redirects(states: DataFrame) -> DataFrame | None:
    """Return pairs of an origin and another one that its redirects reach; None: there are none."""
    found = states.where(F.col("location").isNotNull()).select("origin", "location")
    edges = found.mapInArrow(FindTargets(), "origin string, target string").distinct()
    steps = edges.select(F.col("origin").alias("target"), F.col("target").alias("next"))
    # Each hop is computed once and kept: real chains are short, so the last ones are empty.
    hops: list[DataFrame] = []
    frontier = edges
    while len(hops) < MAX_HOPS:
        frontier = frontier.persist()
        if frontier.isEmpty():
            frontier.unpersist()
            break
        hops.append(frontier)
        farther = frontier.join(steps, "target").select("origin", F.col("next").alias("target"))
        frontier = farther.where(F.col("origin") != F.col("target")).distinct()
    return reduce(lambda one, other: one.unionByName(other), hops).distinct() if hops else None


def _in_buckets(
    frame: DataFrame, origin: str, partitions: int, salts: Mapping[str, int]
) -> DataFrame:
    """Copy each row to the buckets of its origin; the bucket is in `KEY`."""
    number = F.explode(F.sequence(F.lit(0), _salts(F.col(origin), salts) - 1))
    bucket = F.pmod(_base(F.col(origin), partitions) + F.col(SALTS), F.lit(partitions))
    return frame.withColumn(SALTS, number).withColumn(KEY, bucket).drop(SALTS)


def _base(origin: Column, partitions: int) -> Column:
    """
    Return the first bucket of an origin.

    http and https, with and without www, have the same bucket: most redirects stay within it.
    """
    site = F.regexp_replace(origin, r"^[a-z]+://(www\.)?", "")
    return F.pmod(F.xxhash64(site), F.lit(partitions))


def _salts(origin: Column, salts: Mapping[str, int]) -> Column:
    if not salts:
        return F.lit(1)
    pairs = [F.lit(value) for item in salts.items() for value in item]
    return F.coalesce(F.create_map(*pairs)[origin], F.lit(1))


def _hashable(frame: DataFrame) -> list[str]:
    """Return the columns of which Spark computes hashes."""

    def is_hashable(kind: Any) -> bool:
        """Return whether a type has no map and no variant in it."""
        if isinstance(kind, MapType | VariantType):
            return False
        inner = [field.dataType for field in getattr(kind, "fields", [])]
        inner += [kind.elementType] if hasattr(kind, "elementType") else []
        return all(map(is_hashable, inner))

    return [field.name for field in frame.schema.fields if is_hashable(field.dataType)]
