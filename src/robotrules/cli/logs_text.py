"""A log report as text: the main sentence, a table of crawlers, violations, and what is missing."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from robotrules.cli.console import Output
from robotrules.cli.text import Paint, cell_width, plural, truncate
from robotrules.operations.logs.sentences import (
    describe_crawler_traffic,
    format_size,
    group_versions,
    headline,
    rule_place,
    transition_words,
    violator_title,
)
from robotrules.operations.logs.summary import CrawlerTraffic, LogReport, ViolatedRule

# A pipe has no width, and what is pasted from one is read in so many columns.
WIDTH, NARROWEST = 100, 60
LONGEST_NAME = 26
# In lists, if --top does not say it.
MOST_CRAWLERS, MOST_VIOLATORS, MOST_RULES, MOST_URLS = 30, 5, 3, 3
CLAIM = "The names are claims of User-Agent headers; --ranges or --verify checks them."
GAP = "  "
LESS_IMPORTANT = ("3xx", "bytes", "5xx", "addresses", "/robots.txt")


class LogText:
    """The lines of a report."""

    def __init__(self, report: LogReport, output: Output, top: int | None) -> None:
        self._report = report
        self._paint: Paint = output.paint
        self._width = max(output.width, NARROWEST) if output.terminal else WIDTH
        self._crawlers = top or MOST_CRAWLERS
        self._violators = top or MOST_VIOLATORS
        self._rules, self._urls = top or MOST_RULES, top or MOST_URLS

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        report = self._report
        for line in self._wrapped(headline(report), ""):
            yield self._paint("heading", line)
        if not report.crawlers:
            return
        if report.rules:
            yield from self._wrapped(f"Judged by {report.rules}.", "", "faint")
        yield ""
        yield from self._table()
        if report.violations:
            yield ""
            yield self._paint("heading", "Not obeyed")
            if not any(one.identities for one in report.violators):
                yield from self._wrapped(CLAIM, "", "faint")
            for crawler in report.violators[: self._violators]:
                yield from self._violator(crawler)
            more = len(report.violators) - self._violators
            if more > 0:
                words = f"{GAP}{plural(more, 'more crawler')}: see --top, or -o with a CSV file"
                yield self._paint("faint", words)
        yield from self._missing()

    def _wrapped(self, words: str, indent: str, style: str = "") -> Iterator[str]:
        for line in textwrap.wrap(words, self._width - len(indent), break_on_hyphens=False):
            yield indent + (self._paint(style, line) if style else line)

    # --- Crawlers ---------------------------------------------------------------------------------

    def _table(self) -> Iterator[str]:
        report = self._report
        heads = ["crawler", "requests", "bytes", "2xx", "3xx", "4xx", "5xx", "addresses"]
        heads += ["/robots.txt"] + (["not obeyed"] if report.rules else [])
        crawlers = report.crawlers[: self._crawlers]
        rows = [self._cells(one) for one in crawlers]
        widths = [
            max(cell_width(cells[column]) for cells in [heads, *rows])
            for column in range(len(heads))
        ]
        # On a narrow terminal, columns are left out.
        for name in LESS_IMPORTANT:
            if sum(widths) + len(GAP) * (len(widths) - 1) > self._width:
                column = heads.index(name)
                for cells in [heads, *rows]:
                    del cells[column]
                del widths[column]
        yield self._paint("faint", _joined(heads, widths))
        for one, cells in zip(crawlers, rows, strict=True):
            line = _joined(cells, widths)
            if report.rules and one.row_violations:
                start = len(line) - widths[-1]
                line = line[:start] + self._paint("disallowed", line[start:])
            yield line
        if more := len(report.crawlers) - len(crawlers):
            yield self._paint("faint", f"{GAP}{plural(more, 'more crawler')}: see --json or --top")
        if any(not one.is_known and not one.impostor_of for one in crawlers):
            yield self._paint("faint", "* not in the registry of well-known crawlers")
        if words := transition_words(report):
            yield from self._wrapped(words, "", "faint")

    def _cells(self, crawler: CrawlerTraffic) -> list[str]:
        name = truncate(crawler.name, LONGEST_NAME)
        name += "" if crawler.is_known or crawler.impostor_of else " *"
        cells = [name, f"{crawler.requests:,}", format_size(crawler.octets)]
        cells += [f"{count:,}" for count in crawler.statuses[1:5]]
        cells.append(f"{crawler.addresses:,}" + ("" if crawler.addresses_exact else "+"))
        cells.append(f"{crawler.robots_requests:,}")
        if self._report.rules:
            cells.append(f"{crawler.row_violations:,}")
        return cells

    # --- Violations -------------------------------------------------------------------------------

    def _violator(self, crawler: CrawlerTraffic) -> Iterator[str]:
        name, words = violator_title(crawler)
        yield f"{GAP}{self._paint('start', name)}: {words}"
        for words in describe_crawler_traffic(crawler):
            yield from self._wrapped(words, GAP * 2, "faint")
        groups = group_versions(crawler.rules)
        for versions in groups[: self._rules]:
            shown = self._paint("disallowed", truncate(versions[0].rule, self._width // 2))
            if len(versions) > 1:
                total = plural(sum(one.requests for one in versions), "request")
                shown += self._paint("faint", f"  {total} in {len(versions)} versions")
            yield f"{GAP * 2}{shown}"
            for rule in versions:
                yield from self._rule(rule)
        if more := len(groups[self._rules :]):
            words = f"{GAP * 2}{plural(more, 'more rule')}: see --top, or --table violations"
            yield self._paint("faint", words)

    def _rule(self, rule: ViolatedRule) -> Iterator[str]:
        days = rule.first[:10]
        if rule.last[:10] != days:
            days += f" to {rule.last[:10]}"
        place = f"{rule_place(rule)}; " if rule_place(rule) else ""
        words = f"{place}{plural(rule.requests, 'request')}, {rule.served:,} served, {days}"
        yield from self._wrapped(words, GAP * 3, "faint")
        counts = [f"{one.requests:,}" for one in rule.urls[: self._urls]]
        width = max(map(len, counts), default=0)
        for one, count in zip(rule.urls, counts, strict=False):
            url = truncate(one.url, self._width - width - len(GAP * 5))
            yield f"{GAP * 3}{count.rjust(width)}{GAP}{url}"

    # --- What is missing --------------------------------------------------------------------------

    def _missing(self) -> Iterator[str]:
        report = self._report
        found = [one for one in report.crawlers if one.missing and one.missing.never]
        if not found:
            return
        yield ""
        yield self._paint("heading", "Never fetched, although allowed")
        shown = found[: self._crawlers]
        name = max(cell_width(truncate(one.name, LONGEST_NAME)) for one in shown)
        for one in shown:
            assert one.missing is not None
            counts = f"{one.missing.never:,} of {one.missing.allowed:,} {report.missing_of}"
            line = f"{GAP}{truncate(one.name, LONGEST_NAME).ljust(name)}{GAP}{counts}: "
            yield truncate(line + " ".join(one.missing.examples), max(self._width, len(line) + 20))
        if more := len(found) - len(shown):
            yield self._paint("faint", f"{GAP}{plural(more, 'more crawler')}: see --json or --top")


def _joined(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Return a line of the table: the first cell is left-aligned, the others are numbers."""
    first, *others = zip(cells, widths, strict=True)
    name, width = first
    line = name + " " * (width - cell_width(name))
    return line + "".join(f"{GAP}{cell.rjust(wide)}" for cell, wide in others)
