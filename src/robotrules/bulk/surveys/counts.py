"""
Counts of a survey: what site rows add to, stratum by stratum, in columns and without Python rows.

Sections: purposes · the last row of a site · counts of a view · counts of a panel.

A view is a selection of rows in which a site occurs at most once in a stratum. A panel compares the
rows of the same sites in two periods. All counts are sums, so neither the order of rows nor the
size of batches changes them. The module does not know shares or intervals.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import pyarrow.compute as pc

from robotrules.bulk.arrow_support import pa
from robotrules.bulk.surveys.inputs import ACCESS, BATCH_ROWS, STATES
from robotrules.bulk.surveys.statistics import FrequencyCounter, Histogram
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS

NONE, SOME, ALL_URLS, UNDECIDED = range(4)
NO, YES, OPEN = range(3)
OTHER_PURPOSE = "other"
# Which sites shares are of: those whose server answered, or those with a file.
DENOMINATORS = {"answered": ("success", "unavailable"), "file": ("success",)}
MEASURES = ("size", "lines", "groups", "allow_rules", "disallow_rules", "user_agents", "sitemaps")
FEATURES = {
    "sitemap": "names a sitemap",
    "crawl-delay": "Crawl-delay for *",
    "content-signal": "Content-Signal for *",
    "content-usage": "Content-Usage for *",
    "purposes": "User-Agent-Purpose",
    "app-directives": "App-Directives",
    "names-crawlers": "names a well-known crawler",
    "no-rules": "no Allow or Disallow rule",
    "truncated": "truncated",
    "notes": "at least one parser note",
}
# Longer texts of files are cut.
MAX_TEXT = 80
# Texts that are remembered for all sites, and for each stratum.
MOST_TEXTS, MOST_TEXTS_OF_STRATUM = 200_000, 5_000


# --- Purposes -------------------------------------------------------------------------------------


def main_purpose(crawler: str) -> str:
    """Return the main purpose of a crawler in the registry; `other` if it is not listed."""
    known = KNOWN_CRAWLERS.get(crawler)
    return known.purposes[0] if known else OTHER_PURPOSE


def crawlers_by_purpose(crawlers: Sequence[str]) -> dict[str, list[int]]:
    """
    Return the places of the crawlers that count for each purpose, in the registry's order.

    Each crawler counts once, for its main purpose. Retired crawlers do not count, nor those that
    ignore groups for `*`: few files name all of a purpose, so no site would disallow all.
    """
    found: dict[str, list[int]] = {name: [] for name in (*CRAWLER_PURPOSES, OTHER_PURPOSE)}
    for place, crawler in enumerate(crawlers):
        known = KNOWN_CRAWLERS.get(crawler)
        if known is None or (known.status == "active" and not known.ignores_star):
            found[main_purpose(crawler)].append(place)
    return {name: places for name, places in found.items() if places}


# --- The last row of a site -----------------------------------------------------------------------


def last_rows(table: Any, *, by_stratum: bool) -> Any:
    """
    Return the last row of each site, or of each site in each stratum.

    The last one is that with the latest time; of equal and of unknown times, the later row.
    """
    origins = _one_chunk(table.column("origin")).dictionary_encode()
    if len(origins.dictionary) == len(table):
        return table
    keys = pa.table(
        {
            "origin": origins.indices,
            "stratum": table.column("stratum") if by_stratum else pa.nulls(len(table), pa.int32()),
            # An unknown time is before all others.
            "time": table.column("fetched_at").cast(pa.int64()).fill_null(-(2**63)),
            "row": pa.array(range(len(table)), pa.int64()),
        }
    )
    names = ["origin", *(["stratum"] if by_stratum else []), "time", "row"]
    order = pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in names])
    ordered = keys.take(order).combine_chunks()
    changes = pa.repeat(False, max(len(table) - 1, 0))
    for name in names[:-2]:
        column = ordered.column(name)
        changes = pc.or_(changes, pc.not_equal(column.slice(1), column.slice(0, len(table) - 1)))
    is_last = pa.chunked_array([*_chunks(changes), pa.array([True])])
    # In the order of the input, so that reading stays sequential.
    return table.take(ordered.column("row").filter(is_last).sort())


def _chunks(column: Any) -> list[Any]:
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


# --- Counts of a view -----------------------------------------------------------------------------


class ViewCounts:
    """The sums of a view, by stratum."""

    def __init__(self, denominator: str, texts: int) -> None:
        self._counted = pa.array(DENOMINATORS[denominator])
        self._texts = texts
        # Stratum → access → sites.
        self.access: dict[int, Counter[str]] = defaultdict(Counter)
        # Crawler → stratum * 4 + state → sites; all, and only those whose file names the crawler.
        self.states: dict[int, Counter[int]] = defaultdict(Counter)
        self.named: dict[int, Counter[int]] = defaultdict(Counter)
        # Purpose → stratum * 3 + answer → sites: at least one, all, at least one by its name.
        self.any_of: dict[str, Counter[int]] = defaultdict(Counter)
        self.all_of: dict[str, Counter[int]] = defaultdict(Counter)
        self.named_of: dict[str, Counter[int]] = defaultdict(Counter)
        self.features: dict[int, Counter[str]] = defaultdict(Counter)
        self.measures: dict[tuple[int, str], Histogram] = defaultdict(Histogram)
        self.user_agents: dict[int, FrequencyCounter] = defaultdict(self._counter)
        self.preferences: dict[tuple[int, str], FrequencyCounter] = defaultdict(self._counter)
        self.notes: dict[int, Counter[str]] = defaultdict(Counter)
        self.occurrences: dict[int, Counter[str]] = defaultdict(Counter)
        self.times: dict[int, tuple[Any, Any]] = {}

    def _counter(self) -> FrequencyCounter:
        return FrequencyCounter(self._texts)

    def sites(self, stratum: int) -> int:
        """Return the number of sites of a stratum."""
        return self.access[stratum].total()

    def total(self, stratum: int) -> int:
        """Return the number of sites that shares are of."""
        counted = set(self._counted.to_pylist())
        return sum(count for name, count in self.access[stratum].items() if name in counted)

    def add(self, table: Any, crawlers: Sequence[str], strata: Any = None) -> None:
        """Add the rows of a view; *strata* replaces their strata."""
        if strata is not None:
            place = table.schema.get_field_index("stratum")
            table = table.set_column(place, "stratum", strata)
        for start in range(0, len(table), BATCH_ROWS):
            # One chunk a column, so that indices of lists count from the first row.
            part = table.slice(start, BATCH_ROWS).combine_chunks()
            self._add_batch(part.to_batches()[0], crawlers)

    def _add_batch(self, batch: Any, crawlers: Sequence[str]) -> None:
        access = _known_access(batch.column("access"))
        _count_pairs(self.access, batch.column("stratum"), access)
        self._add_times(batch)
        counted = batch.filter(pc.is_in(access, value_set=self._counted))
        self._add_states(counted, crawlers)
        files = batch.filter(pc.equal(access, ACCESS[0]))
        self._add_files(files)

    def _add_times(self, batch: Any) -> None:
        grouped = (
            pa.table({"stratum": batch.column("stratum"), "time": batch.column("fetched_at")})
            .group_by("stratum")
            .aggregate([("time", "min_max")])
        )
        for row in grouped.to_pylist():
            new = [time for time in row["time_min_max"].values() if time is not None]
            old = [time for time in self.times.get(row["stratum"], ()) if time is not None]
            times = [*new, *old]
            self.times[row["stratum"]] = (min(times), max(times)) if times else (None, None)

    # -- Crawlers

    def _add_states(self, batch: Any, crawlers: Sequence[str]) -> None:
        stratum = batch.column("stratum")
        states = [batch.column(f"state.{name}") for name in crawlers]
        for place, column in enumerate(states):
            _count_codes(self.states[place], stratum, column, 4)
        disallowed = [pc.equal(column, NONE) for column in states]
        named = _named_states(batch, crawlers, states)
        for (place, key), count in named.items():
            self.named[place][key] += count
        for purpose, places in crawlers_by_purpose(crawlers).items():
            columns = [disallowed[place] for place in places]
            _count_codes(self.any_of[purpose], stratum, _fold(pc.or_kleene, columns), 3)
            _count_codes(self.all_of[purpose], stratum, _fold(pc.and_kleene, columns), 3)
            rows = _rows_that_name(batch, [crawlers[place] for place in places], columns)
            _count_codes(self.named_of[purpose], stratum.take(rows), None, 3)

    # -- Files

    def _add_files(self, batch: Any) -> None:
        stratum = batch.column("stratum")
        zero = pa.scalar(0, pa.uint32())
        rules = pc.add(
            batch.column("allow_rules").cast(pa.int64()),
            batch.column("disallow_rules").cast(pa.int64()),
        )
        features = {
            "sitemap": _has_items(batch.column("sitemaps")),
            "crawl-delay": batch.column("crawl_delay").is_valid(),
            "content-signal": _has_items(batch.column("content_signal")),
            "content-usage": _has_items(batch.column("content_usage")),
            "purposes": _has_items(batch.column("purposes")),
            "app-directives": pc.greater(batch.column("app_directives"), zero),
            "names-crawlers": _has_items(batch.column("named_crawlers")),
            "no-rules": pc.equal(rules, 0),
            "truncated": batch.column("truncated"),
            "notes": _has_items(batch.column("notes")),
        }
        for feature, column in features.items():
            having = stratum.filter(column.fill_null(False))
            for number, count in _value_counts(having):
                self.features[number][feature] += count
        for measure in MEASURES:
            column = batch.column(measure)
            if pa.types.is_list(column.type):
                column = pc.list_value_length(column)
            self._add_measure(measure, stratum, column)
        self._add_measure("crawl_delay", stratum, batch.column("crawl_delay"))
        self._add_texts(batch)

    def _add_measure(self, measure: str, stratum: Any, column: Any) -> None:
        pairs = pa.table({"stratum": stratum, "value": column}).filter(column.is_valid())
        grouped = pairs.group_by(["stratum", "value"]).aggregate([([], "count_all")])
        for row in grouped.to_pylist():
            self.measures[row["stratum"], measure].add(row["value"], row["count_all"])

    def _add_texts(self, batch: Any) -> None:
        stratum = batch.column("stratum")
        agents = batch.column("user_agents")
        names = pc.utf8_lower(pc.utf8_slice_codeunits(agents.flatten(), 0, MAX_TEXT))
        counts = _count_texts(stratum, pc.list_parent_indices(agents), names)
        for number, texts in counts.items():
            self.user_agents[number].update(texts)
        for column in ("content_signal", "content_usage"):
            lists = batch.column(column)
            pairs = lists.flatten()
            keys, values = pairs.field("key"), pairs.field("value").fill_null("")
            texts = pc.binary_join_element_wise(keys, values, "=")
            texts = pc.utf8_slice_codeunits(texts, 0, MAX_TEXT)
            counts = _count_texts(stratum, pc.list_parent_indices(lists), texts)
            for number, found in counts.items():
                self.preferences[number, column].update(found)
        lists = batch.column("notes")
        pairs = lists.flatten()
        parents, codes = pc.list_parent_indices(lists), pairs.field("key")
        for number, found in _count_texts(stratum, parents, codes).items():
            self.notes[number].update(found)
        grouped = (
            pa.table(
                {"stratum": stratum.take(parents), "code": codes, "times": pairs.field("value")}
            )
            .group_by(["stratum", "code"])
            .aggregate([("times", "sum")])
        )
        for row in grouped.to_pylist():
            self.occurrences[row["stratum"]][row["code"]] += row["times_sum"] or 0


# --- Counts of a panel ----------------------------------------------------------------------------


class PanelCounts:
    """Sites that are in both of two periods: the states of crawlers before and after."""

    def __init__(self, denominator: str) -> None:
        self._counted = pa.array(DENOMINATORS[denominator])
        # (Period, period) → crawler → state before * 4 + state after → sites.
        self.states: dict[tuple[int, int], dict[int, Counter[int]]] = {}
        # (Period, period) → purpose → answer before * 3 + answer after → sites.
        self.any_of: dict[tuple[int, int], dict[str, Counter[int]]] = {}
        self.sites: Counter[tuple[int, int]] = Counter()

    def add(self, table: Any, crawlers: Sequence[str], pairs: Sequence[tuple[int, int]]) -> None:
        """Add rows in which a site occurs at most once in a period."""
        access = _known_access(table.column("access"))
        table = table.filter(pc.is_in(access, value_set=self._counted))
        stratum = table.column("stratum")
        by_period = {
            period: table.filter(pc.equal(stratum, period))
            for period in sorted({period for pair in pairs for period in pair})
        }
        for pair in pairs:
            before, after = (by_period[period] for period in pair)
            places = pc.index_in(before.column("origin"), value_set=after.column("origin"))
            places = _one_chunk(places)
            before = before.filter(places.is_valid())
            after = after.take(places.drop_null())
            self._add_pair(pair, before.combine_chunks(), after.combine_chunks(), crawlers)

    def _add_pair(
        self, pair: tuple[int, int], before: Any, after: Any, crawlers: Sequence[str]
    ) -> None:
        self.sites[pair] += len(before)
        if not len(before):
            return
        states = self.states.setdefault(pair, defaultdict(Counter))
        answers = self.any_of.setdefault(pair, defaultdict(Counter))
        columns = [
            [_one_chunk(table.column(f"state.{name}")) for name in crawlers]
            for table in (before, after)
        ]
        for place, (old, new) in enumerate(zip(*columns, strict=True)):
            _count_codes(states[place], old.fill_null(UNDECIDED).cast(pa.int32()), new, 4)
        for purpose, places in crawlers_by_purpose(crawlers).items():
            old, new = (
                _fold(pc.or_kleene, [pc.equal(half[place], NONE) for place in places])
                for half in columns
            )
            code = old.cast(pa.int32()).fill_null(OPEN)
            _count_codes(answers[purpose], code, new, 3)


# --- Columns --------------------------------------------------------------------------------------


def _known_access(column: Any) -> Any:
    is_known = pc.is_in(column, value_set=pa.array(ACCESS))
    return pc.if_else(is_known, column, "unknown")


def _one_chunk(column: Any) -> Any:
    """Return a chunked column as one array; a partition has less than 2 GiB of text."""
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def _value_counts(column: Any) -> list[tuple[int, int]]:
    return [(item["values"], item["counts"]) for item in pc.value_counts(column).to_pylist()]


def _count_pairs(target: dict[int, Counter[str]], stratum: Any, texts: Any) -> None:
    grouped = (
        pa.table({"stratum": stratum, "text": texts})
        .group_by(["stratum", "text"])
        .aggregate([([], "count_all")])
    )
    for row in grouped.to_pylist():
        target[row["stratum"]][row["text"]] += row["count_all"]


def _count_codes(target: Counter[int], stratum: Any, codes: Any, size: int) -> None:
    """Count stratum * size + code; a null code is the last one, and codes of None are 1."""
    if codes is None:
        keys = pc.add(pc.multiply(stratum, size), YES)
    else:
        numbers = codes.cast(pa.int32()).fill_null(size - 1)
        keys = pc.add(pc.multiply(stratum, size), numbers)
    for key, count in _value_counts(keys):
        target[key] += count


def _fold(function: Any, columns: Sequence[Any]) -> Any:
    folded = columns[0]
    for column in columns[1:]:
        folded = function(folded, column)
    return folded


def _has_items(column: Any) -> Any:
    return pc.greater(pc.list_value_length(column), 0)


def _named_places(batch: Any, crawlers: Sequence[str]) -> tuple[Any, Any]:
    """Return row and place in *crawlers* for each crawler that a file names."""
    lists = batch.column("named_crawlers")
    folded = pc.utf8_lower(lists.flatten())
    places = pc.index_in(folded, value_set=pa.array([name.lower() for name in crawlers]))
    is_known = places.is_valid()
    return pc.list_parent_indices(lists).filter(is_known), places.filter(is_known)


def _named_states(
    batch: Any, crawlers: Sequence[str], states: Sequence[Any]
) -> Counter[tuple[int, int]]:
    """Return the sites by crawler, and stratum * 4 + state, whose file names the crawler."""
    counts: Counter[tuple[int, int]] = Counter()
    if not crawlers or not len(batch):
        return counts
    rows, places = _named_places(batch, crawlers)
    stratum = batch.column("stratum")
    pairs = pa.table({"place": places, "row": rows}).group_by("place").aggregate([("row", "list")])
    for place, found in zip(
        pairs["place"].to_pylist(), pairs["row_list"].combine_chunks(), strict=True
    ):
        chosen = found.values.unique()
        target: Counter[int] = Counter()
        _count_codes(target, stratum.take(chosen), states[place].take(chosen), 4)
        for key, count in target.items():
            counts[place, key] += count
    return counts


def _rows_that_name(batch: Any, crawlers: Sequence[str], disallowed: Sequence[Any]) -> Any:
    """Return the rows whose file names one of the crawlers and disallows it everything."""
    rows, places = _named_places(batch, crawlers)
    found = []
    for place, column in enumerate(disallowed):
        naming = rows.filter(pc.equal(places, place))
        found.append(naming.filter(column.take(naming).fill_null(False)))
    return pa.concat_arrays(found).unique() if found else pa.array([], pa.int64())


def _count_texts(stratum: Any, parents: Any, texts: Any) -> dict[int, Counter[str]]:
    """Return for each stratum how many rows have each text; a text counts once a row."""
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    distinct = (
        pa.table({"row": parents, "text": texts})
        .filter(texts.is_valid())
        .group_by(["row", "text"])
        .aggregate([])
    )
    strata = stratum.take(_one_chunk(distinct["row"]))
    _count_pairs(counts, strata, distinct["text"])
    return counts


__all__ = ["STATES", "PanelCounts", "ViewCounts", "crawlers_by_purpose", "last_rows"]
