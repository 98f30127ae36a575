"""
Surveys: the tables and charts that studies of robots.txt files publish, from a table of facts.

    survey(facts, by=…)   →  Survey      tables · remarks · to_markdown() · charts() · save(folder)

One site is one origin. A site with several fetches counts once, with its last one; by time, once a
period, with the last one of the period. Facts are read once, in batches; beyond a limit they wait
in temporary files, so the memory does not depend on their number.

    inputs.py       facts in any form → batches of site rows, with the stratum of each
    partitions.py   all rows of a site together, in bounded memory
    counts.py       rows → sums
    statistics.py   confidence intervals, tests, quantiles
    tables.py       sums → tables
    values.py       Survey
    report.py       Markdown and HTML
    charts.py       SVG: bars and points; small_multiples.py, chart_parts.py, svg_canvas.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from robotrules.bulk.surveys.counts import (
    DENOMINATORS,
    MOST_TEXTS,
    MOST_TEXTS_OF_STRATUM,
    PanelCounts,
    ViewCounts,
    last_rows,
)
from robotrules.bulk.surveys.inputs import (
    ALL,
    BATCH_ROWS,
    DEFAULT_STRATA,
    SiteRows,
    Strata,
    read_batches,
    read_ranks,
)
from robotrules.bulk.surveys.partitions import SitePartitions
from robotrules.bulk.surveys.statistics import z_value
from robotrules.bulk.surveys.tables import Counted, TableMaker
from robotrules.bulk.surveys.values import Survey

__all__ = ["Survey", "survey"]

MEMORY_LIMIT = 1 << 30
_EXPLAINED = {
    "answered": "sites whose server answered: with a file (success) or without (unavailable, which "
    "allows all URLs)",
    "file": "sites with a robots.txt file (success)",
}


def survey(
    facts: Any,
    *,
    by: str | None = None,
    ranks: Any = None,
    rank_bounds: Sequence[int] = DEFAULT_STRATA,
    crawlers: Sequence[str] | None = None,
    denominator: str = "answered",
    population: int | Mapping[str, int] | None = None,
    confidence: float = 0.95,
    most: int = 50,
    title: str = "Survey of robots.txt files",
    memory_limit: int = MEMORY_LIMIT,
) -> Survey:
    """
    Return the tables of a study: how many sites disallow which crawlers, with intervals.

    *facts* is the table of `bulk.facts()`: an Arrow table, batches, a reader, a dataset, or Parquet
    files. *by* is `month`, `quarter` or `year` of `fetched_at`; `rank`, with a column of that name
    or *ranks* (a mapping, a table or a CSV file of origins or domains); or a column. *rank_bounds*
    are the ends of the strata of ranks. *crawlers* selects some of those in the facts.

    *denominator* says which sites shares of crawlers are of: `answered`, or `file` for sites with a
    robots.txt only. *population* is the number of sites that the sample is from, if it is a large
    part of them: of all, or by stratum. *most* is the number of user agents, notes and preferences
    in a table. Rows beyond *memory_limit* bytes wait in temporary files.

    Misuse raises TypeError or ValueError. Facts without rows, without times or with nulls give
    tables that say so.
    """
    _check_arguments(by, rank_bounds, denominator, population, confidence, most, memory_limit)
    if isinstance(crawlers, str):
        raise TypeError(f"crawlers must be a sequence of product tokens: pass [{crawlers!r}]")
    if ranks is not None and by != "rank":
        raise ValueError("ranks= needs by='rank'")
    strata = Strata(by, None if ranks is None else read_ranks(ranks), rank_bounds)
    rows = SiteRows(strata, crawlers)
    with SitePartitions(memory_limit) as partitions:
        for batch in _larger_batches(read_batches(facts, rows.wanted())):
            partitions.add(rows.convert(batch))
        counted = _count(partitions, rows, strata, denominator)
    maker = TableMaker(counted, z_value(confidence), population, most)
    overall = counted.overall
    return Survey(
        tables=maker.tables(),
        remarks=tuple(_remarks(rows, counted, maker.strata, denominator, population, confidence)),
        by=by,
        strata=maker.strata,
        denominator=denominator,
        confidence=confidence,
        title=title,
        counts={
            "rows": rows.rows,
            "rows_without_origin": rows.without_origin,
            "sites": overall.sites(0),
            "counted": overall.total(0),
            "files": overall.access[0]["success"],
        },
    )


def _check_arguments(
    by: object,
    rank_bounds: object,
    denominator: str,
    population: object,
    confidence: float,
    most: int,
    memory_limit: int,
) -> None:
    if by is not None and not isinstance(by, str):
        raise TypeError(
            f"by must be one name, such as 'month', 'rank' or a column; not {type(by).__name__}"
        )
    if denominator not in DENOMINATORS:
        known = " or ".join(map(repr, DENOMINATORS))
        raise ValueError(f"denominator={denominator!r} is not known: pass {known}")
    if not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence!r} must be between 0 and 1, such as 0.95")
    bounds = list(rank_bounds) if isinstance(rank_bounds, Sequence) else []
    if not bounds or bounds != sorted(set(bounds)) or not all(_is_positive(b) for b in bounds):
        raise ValueError(
            f"rank_bounds={rank_bounds!r} must be increasing ranks, such as (100, 1000)"
        )
    if not _is_positive(most):
        raise ValueError(f"most={most!r} must be a number of rows, at least 1")
    if not _is_positive(memory_limit):
        raise ValueError(f"memory_limit={memory_limit!r} must be a number of bytes")
    sizes = population.values() if isinstance(population, Mapping) else [population]
    if population is not None and not all(_is_positive(size) for size in sizes):
        raise ValueError(
            f"population={population!r} must be a number of sites, or numbers by stratum"
        )


def _is_positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _larger_batches(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield batches of a useful size: a step costs the same for ten rows as for thousands."""
    import pyarrow as pa

    waiting: list[Any] = []
    rows = 0
    for batch in batches:
        if waiting and (batch.schema != waiting[0].schema or rows + len(batch) > BATCH_ROWS):
            yield pa.concat_batches(waiting)
            waiting, rows = [], 0
        waiting.append(batch)
        rows += len(batch)
    if waiting:
        yield pa.concat_batches(waiting)


def _count(partitions: SitePartitions, rows: SiteRows, strata: Strata, denominator: str) -> Counted:
    import pyarrow as pa

    overall = ViewCounts(denominator, MOST_TEXTS)
    by_stratum = ViewCounts(denominator, MOST_TEXTS_OF_STRATUM) if strata.by else None
    panel, pairs = None, []
    if strata.is_time:
        panel = PanelCounts(denominator)
        periods = strata.periods()
        pairs = list(pairwise(periods))
        if len(periods) > 2:
            pairs.append((periods[0], periods[-1]))
    for table in partitions.partitions():
        last = last_rows(table, by_stratum=False)
        everyone = pa.repeat(pa.scalar(0, pa.int32()), len(last))
        overall.add(last, rows.crawlers, everyone)
        if by_stratum is not None:
            if panel is not None:
                last = last_rows(table, by_stratum=True)
                panel.add(last, rows.crawlers, pairs)
            by_stratum.add(last, rows.crawlers)
    return Counted(rows.crawlers, overall, by_stratum, strata, panel, tuple(pairs))


def _remarks(
    rows: SiteRows,
    counted: Counted,
    strata: Sequence[str],
    denominator: str,
    population: int | Mapping[str, int] | None,
    confidence: float,
) -> Iterator[str]:
    overall = counted.overall
    sites, total = overall.sites(0), overall.total(0)
    yield (
        f"{sites:,} sites in {rows.rows:,} rows. One site is one origin; a site with several "
        "fetches counts once, with its last one"
        + (f", and in each {counted.strata.by} with its last one there." if counted.panel else ".")
    )
    yield (
        f"Shares of crawlers and purposes are of the {total:,} {_EXPLAINED[denominator]}. A "
        "crawler whose answer is undecided is left out of its own share; the column 'of' has the "
        "number of sites of each share. Shares of features, notes, user agents and preferences are "
        f"of the {overall.access[0]['success']:,} sites with a file."
    )
    if apart := {
        name: overall.access[0][name]
        for name in ("unreachable", "missing", "unknown")
        if overall.access[0][name]
    }:
        listed = ", ".join(f"{count:,} {name}" for name, count in apart.items())
        yield (
            f"Not in these shares: {listed}. An unreachable server disallows all URLs for now, but "
            "that is not a policy of the site; see the table access."
        )
    yield (
        f"Intervals are Wilson's, at {confidence * 100:g} %: shares near 0 and 1 are frequent "
        "here, where the textbook interval is too narrow. They describe the chance of a random "
        "sample only, not how sites were chosen."
    )
    if population is None:
        yield (
            "Intervals assume a population much larger than the sample. If a large part of it was "
            "fetched, pass population= to bulk.survey(), which makes them narrower."
        )
    else:
        yield "Intervals have the correction for the finite population that was passed."
    yield (
        "Intervals also assume independent sites. Sites of one operator or platform often share a "
        "file, so true intervals are wider; to avoid it, keep one site of each."
    )
    if counted.panel is not None:
        yield (
            "Table changes compares the same sites in two periods: differences with the interval "
            "of Bonett and Price, McNemar's mid-p value, and that value adjusted for the number of "
            "rows of a pair of periods (Holm)."
        )
    yield from _odd_data(rows, counted, strata, population)


def _odd_data(
    rows: SiteRows,
    counted: Counted,
    strata: Sequence[str],
    population: int | Mapping[str, int] | None,
) -> Iterator[str]:
    overall = counted.overall
    sites = overall.sites(0)
    if not sites:
        yield "There are no sites: tables have no shares."
    elif not overall.total(0):
        yield "No site has an answer: shares of crawlers are empty."
    if rows.without_origin:
        yield f"{rows.without_origin:,} rows without an origin are left out."
    if missing := sorted(rows.missing_columns or ()):
        yield f"Facts have no column {', '.join(missing)}: what depends on it is empty or 0."
        if "access" in missing:
            yield "Without the column access, every row counts as a file (success)."
    if counted.strata.is_time and sites and not counted.strata.periods():
        yield f"No row has a time (fetched_at): there is nothing to show by {counted.strata.by}."
    elif counted.panel is not None and not any(counted.panel.sites.values()):
        yield "No site is in two periods: table changes has no figures."
    if isinstance(population, Mapping) and (
        unknown := [label for label in population if label not in (ALL, *strata)]
    ):
        there = ", ".join((ALL, *strata))
        yield f"population= names strata that do not occur ({', '.join(unknown)}): {there}."
    if error := overall.user_agents[0].max_error:
        yield f"Counts of user agents are too small by at most {error:,} sites: too many names."
