"""
Tables of a survey: counts become shares with confidence intervals, one Arrow table a question.

Every share has `of`, the number of sites that it is a share of, and the ends of its interval, `low`
and `high`; they are null if there is no such site. The rows of all sites come first (`all`), then
those of each stratum. The module does not know how rows are counted, and draws nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from robotrules.bulk.arrow_support import pa
from robotrules.bulk.surveys.counts import (
    FEATURES,
    MEASURES,
    NO,
    NONE,
    YES,
    PanelCounts,
    ViewCounts,
    crawlers_by_purpose,
    main_purpose,
)
from robotrules.bulk.surveys.inputs import ACCESS, ALL, STATES, Strata
from robotrules.bulk.surveys.statistics import Share, holm, mcnemar, paired_difference, wilson
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS

PURPOSE_QUESTIONS = ("at least one", "all", "at least one by name")
RECORDS = {"content_signal": "Content-Signal", "content_usage": "Content-Usage"}
# Bounds of the ranges of crawl delays, in seconds.
DELAYS = (0.0, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, float("inf"))
QUANTILES = {"p10": 0.1, "p25": 0.25, "median": 0.5, "p75": 0.75, "p90": 0.9, "p99": 0.99}

_TEXT, _COUNT, _NUMBER = pa.string(), pa.int64(), pa.float64()
_SHARE = [("share", _NUMBER), ("low", _NUMBER), ("high", _NUMBER)]
_TIME = pa.timestamp("us", "UTC")
SCHEMAS: dict[str, Any] = {
    "sites": pa.schema(
        [
            ("stratum", _TEXT),
            *((name, _COUNT) for name in ("sites", *ACCESS, "unknown", "counted")),
            ("first_fetch", _TIME),
            ("last_fetch", _TIME),
        ]
    ),
    "access": pa.schema(
        [("stratum", _TEXT), ("access", _TEXT), ("sites", _COUNT), ("of", _COUNT), *_SHARE]
    ),
    "crawlers": pa.schema(
        [
            *(("stratum", _TEXT), ("crawler", _TEXT), ("operator", _TEXT), ("purpose", _TEXT)),
            ("of", _COUNT),
            *(
                (state + ending, kind)
                for state in STATES
                for ending, kind in (
                    *(("", _COUNT), ("_share", _NUMBER)),
                    *(("_low", _NUMBER), ("_high", _NUMBER)),
                )
            ),
            *(("undecided", _COUNT), ("named", _COUNT), ("none_named", _COUNT)),
        ]
    ),
    "purposes": pa.schema(
        [
            *(("stratum", _TEXT), ("purpose", _TEXT), ("crawlers", _COUNT), ("disallows", _TEXT)),
            *(("sites", _COUNT), ("of", _COUNT), *_SHARE),
        ]
    ),
    "files": pa.schema(
        [
            *(("stratum", _TEXT), ("measure", _TEXT), ("files", _COUNT), ("mean", _NUMBER)),
            ("smallest", _NUMBER),
            *((name, _NUMBER) for name in QUANTILES),
            ("largest", _NUMBER),
        ]
    ),
    "features": pa.schema(
        [
            *(("stratum", _TEXT), ("feature", _TEXT), ("meaning", _TEXT)),
            *(("sites", _COUNT), ("of", _COUNT), *_SHARE),
        ]
    ),
    "crawl_delays": pa.schema(
        [("stratum", _TEXT), ("seconds", _TEXT), ("sites", _COUNT), ("of", _COUNT), *_SHARE]
    ),
    "preferences": pa.schema(
        [
            *(("stratum", _TEXT), ("record", _TEXT), ("preference", _TEXT)),
            *(("sites", _COUNT), ("of", _COUNT), *_SHARE),
        ]
    ),
    "notes": pa.schema(
        [
            *(("stratum", _TEXT), ("note", _TEXT), ("occurrences", _COUNT)),
            *(("sites", _COUNT), ("of", _COUNT), *_SHARE),
        ]
    ),
    "user_agents": pa.schema(
        [
            *(("stratum", _TEXT), ("user_agent", _TEXT), ("is_known", pa.bool_())),
            *(("sites", _COUNT), ("of", _COUNT), *_SHARE),
        ]
    ),
    "changes": pa.schema(
        [
            *(("kind", _TEXT), ("name", _TEXT), ("before", _TEXT), ("after", _TEXT)),
            *(("of", _COUNT), ("before_share", _NUMBER), ("after_share", _NUMBER)),
            *(("started", _COUNT), ("stopped", _COUNT), ("difference", _NUMBER)),
            *(("low", _NUMBER), ("high", _NUMBER), ("p", _NUMBER), ("p_holm", _NUMBER)),
        ]
    ),
}
Row = dict[str, Any]


class Counted(NamedTuple):
    """All counts of a survey."""

    crawlers: tuple[str, ...]
    overall: ViewCounts
    by_stratum: ViewCounts | None
    strata: Strata
    panel: PanelCounts | None
    pairs: tuple[tuple[int, int], ...]


class TableMaker:
    """Makes the tables of a survey from its counts."""

    def __init__(
        self,
        counted: Counted,
        z: float,
        population: int | Mapping[str, int] | None,
        most: int,
    ) -> None:
        self._counted = counted
        self._crawlers = counted.crawlers
        self._z = z
        self._population = population
        self._most = most
        # Label, counts and number of each stratum, in display order.
        self._views: list[tuple[str, ViewCounts, int]] = [(ALL, counted.overall, 0)]
        if (view := counted.by_stratum) is not None:
            labels = counted.strata.labels
            sites = {number: view.sites(number) for number in range(len(labels))}
            for number in counted.strata.ordered(sites):
                if sites[number]:
                    self._views.append((labels[number], view, number))

    @property
    def strata(self) -> tuple[str, ...]:
        """The labels of the strata in display order, without that of all sites."""
        return tuple(label for label, _, _ in self._views[1:])

    def tables(self) -> dict[str, Any]:
        """Return the tables by name."""
        makers: dict[str, Callable[[str, ViewCounts, int], Iterator[Row]]] = {
            "sites": self._sites,
            "access": self._access,
            "crawlers": self._crawler_rows,
            "purposes": self._purposes,
            "files": self._files,
            "features": self._features,
            "crawl_delays": self._crawl_delays,
            "preferences": self._preferences,
            "notes": self._notes,
            "user_agents": self._user_agents,
        }
        tables = {
            name: _table(
                name,
                [
                    {"stratum": label} | row
                    for label, view, number in self._views
                    for row in make(label, view, number)
                ],
            )
            for name, make in makers.items()
        }
        if self._counted.panel is not None:
            tables["changes"] = _table("changes", list(self._changes(self._counted.panel)))
        return tables

    def _wilson(self, count: int, total: int, label: str, of_all: int) -> Share:
        """Return a share; a part of a stratum has the same part of its population."""
        population = self._population
        if isinstance(population, Mapping):
            population = population.get(label)
        elif label != ALL:
            population = None
        if population is not None and of_all:
            population = max(total, round(population * total / of_all))
        return wilson(count, total, self._z, population)

    def _share(self, count: int, total: int, label: str, of_all: int) -> Row:
        return {"of": total} | self._wilson(count, total, label, of_all)._asdict()

    # -- Sites and access

    def _sites(self, label: str, view: ViewCounts, number: int) -> Iterator[Row]:
        first, last = view.times.get(number, (None, None))
        yield {
            "sites": view.sites(number),
            **{name: view.access[number][name] for name in (*ACCESS, "unknown")},
            "counted": view.total(number),
            "first_fetch": first,
            "last_fetch": last,
        }

    def _access(self, label: str, view: ViewCounts, number: int) -> Iterator[Row]:
        total = view.sites(number)
        for name in (*ACCESS, "unknown"):
            count = view.access[number][name]
            if count or name != "unknown":
                yield {"access": name, "sites": count} | self._share(count, total, label, total)

    # -- Crawlers and purposes

    def _crawler_rows(self, label: str, view: ViewCounts, number: int) -> Iterator[Row]:
        order = {name: place for place, name in enumerate(CRAWLER_PURPOSES)}
        rows = [
            self._crawler_row(place, label, view, number) for place in range(len(self._crawlers))
        ]
        yield from sorted(
            rows,
            key=lambda row: (
                order.get(row["purpose"], len(order)),
                -(row["none_share"] or 0.0),
                -row["named"],
                row["crawler"].lower(),
            ),
        )

    def _crawler_row(self, place: int, label: str, view: ViewCounts, number: int) -> Row:
        crawler = self._crawlers[place]
        known = KNOWN_CRAWLERS.get(crawler)
        sites = view.sites(number)
        counts = [view.states[place][number * 4 + state] for state in range(4)]
        named = [view.named[place][number * 4 + state] for state in range(4)]
        total = sum(counts[:3])
        row: Row = {
            "crawler": crawler,
            "operator": known.operator if known else None,
            "purpose": main_purpose(crawler),
            "of": total,
            "undecided": counts[3],
            "named": sum(named),
            "none_named": named[NONE],
        }
        for state, count in zip(STATES, counts[:3], strict=True):
            share = self._wilson(count, total, label, sites)
            row |= {state: count} | {
                f"{state}_{name}": value for name, value in share._asdict().items()
            }
        return row

    def _purposes(self, label: str, view: ViewCounts, number: int) -> Iterator[Row]:
        sites = view.sites(number)
        for purpose, places in crawlers_by_purpose(self._crawlers).items():
            totals: list[tuple[int, int]] = []
            for counter in (view.any_of[purpose], view.all_of[purpose]):
                yes, no = counter[number * 3 + YES], counter[number * 3 + NO]
                totals.append((yes, yes + no))
            named = view.named_of[purpose][number * 3 + YES]
            totals.append((named, max(view.total(number), named)))
            for question, (count, total) in zip(PURPOSE_QUESTIONS, totals, strict=True):
                yield {
                    "purpose": purpose,
                    "crawlers": len(places),
                    "disallows": question,
                    "sites": count,
                } | self._share(count, total, label, sites)

    # -- Files

    def _files(self, label: str, view: ViewCounts, number: int) -> Iterator[Row]:
        for measure in (*MEASURES, "crawl_delay"):
            histogram = view.measures[number, measure]
            yield {
                "measure": measure,
                "files": histogram.count,
                "mean": histogram.mean,
                "smallest": histogram.smallest,
                **{name: histogram.quantile(part) for name, part in QUANTILES.items()},
                "largest": histogram.largest,
            }

    def _features(self, label: str, view: ViewCounts, number: int) -> Iterator[Row]:
        sites, files = view.sites(number), view.access[number]["success"]
        for feature, meaning in FEATURES.items():
            count = view.features[number][feature]
            yield {"feature": feature, "meaning": meaning, "sites": count} | self._share(
                count, files, label, sites
            )

    def _crawl_delays(self, label: str, view: ViewCounts, number: int) -> Iterator[Row]:
        histogram, sites = view.measures[number, "crawl_delay"], view.sites(number)
        ranges = [(-1.0, 0.0), *pairwise(DELAYS)]
        for low, high in ranges:
            count = histogram.count_between(low, high)
            yield {"seconds": _range_label(low, high), "sites": count} | self._share(
                count, histogram.count, label, sites
            )

    def _preferences(self, label: str, view: ViewCounts, number: int) -> Iterator[Row]:
        sites, files = view.sites(number), view.access[number]["success"]
        for column, record in RECORDS.items():
            for text, count in view.preferences[number, column].most_common(self._most):
                yield {"record": record, "preference": text, "sites": count} | self._share(
                    count, files, label, sites
                )

    def _notes(self, label: str, view: ViewCounts, number: int) -> Iterator[Row]:
        sites, files = view.sites(number), view.access[number]["success"]
        for code, count in _most_common(view.notes[number], self._most):
            row = {"note": code, "occurrences": view.occurrences[number][code], "sites": count}
            yield row | self._share(count, files, label, sites)

    def _user_agents(self, label: str, view: ViewCounts, number: int) -> Iterator[Row]:
        sites, files = view.sites(number), view.access[number]["success"]
        for text, count in view.user_agents[number].most_common(self._most):
            known = KNOWN_CRAWLERS.get(text)
            row = {
                "user_agent": known.product_token if known else text,
                "is_known": known is not None,
                "sites": count,
            }
            yield row | self._share(count, files, label, sites)

    # -- Changes

    def _changes(self, panel: PanelCounts) -> Iterator[Row]:
        labels = self._counted.strata.labels
        for pair in self._counted.pairs:
            rows: list[Row] = []
            by_purpose = panel.any_of.get(pair, {})
            for purpose in crawlers_by_purpose(self._crawlers):
                counts = by_purpose.get(purpose, Counter())
                cells = [[counts[3 * old + new] for new in (NO, YES)] for old in (NO, YES)]
                rows.append({"kind": "purpose", "name": purpose} | self._change(cells))
            by_crawler = panel.states.get(pair, {})
            for place, crawler in enumerate(self._crawlers):
                counts = by_crawler.get(place, Counter())
                is_none = ((1, 2), (NONE,))  # states that are not `none`, and `none`
                cells = [
                    [sum(counts[4 * a + b] for a in old for b in new) for new in is_none]
                    for old in is_none
                ]
                rows.append({"kind": "crawler", "name": crawler} | self._change(cells))
            adjusted = holm([row["p"] for row in rows])
            for row, value in zip(rows, adjusted, strict=True):
                times = {"before": labels[pair[0]], "after": labels[pair[1]]}
                yield row | times | {"p_holm": value}

    def _change(self, cells: Sequence[Sequence[int]]) -> Row:
        (neither, started), (stopped, both) = cells
        total = neither + started + stopped + both
        change = paired_difference(started, stopped, total, self._z)
        return {
            "of": total,
            "before_share": (stopped + both) / total if total else None,
            "after_share": (started + both) / total if total else None,
            "started": started,
            "stopped": stopped,
            **change._asdict(),
            "p": mcnemar(started, stopped),
        }


def _table(name: str, rows: Sequence[Row]) -> Any:
    return pa.Table.from_pylist(list(rows), schema=SCHEMAS[name])


def _most_common(counts: Counter[str], most: int) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:most]


def _range_label(low: float, high: float) -> str:
    if high == 0:
        return "0"
    if high == float("inf"):
        return f"over {low:g}"
    return f"up to {high:g}" if low == 0 else f"over {low:g} to {high:g}"
