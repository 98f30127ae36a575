"""An audit of many pages as lines of text: the sentence first, then findings by importance."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from robotrules.cli.console import Output
from robotrules.cli.text import Paint, plural, truncate
from robotrules.octets import visible
from robotrules.operations.site_audit.sentences import (
    OUTCOME_WORDS,
    count_places,
    crawler_name,
    describe_group,
    example_lines,
    headline,
    robots_words,
)

if TYPE_CHECKING:
    from robotrules.client.auditing.site_results import FindingGroup, SiteAudit, SiteSummary

LONGEST = 200
MOST_SITES = 20
MOST_SITEMAPS = 10
MOST_EXAMPLES = 3


class SiteAuditText:
    """The lines of an audit of many pages."""

    def __init__(self, result: SiteAudit, output: Output | None, width: int) -> None:
        """*output* is stdout, which may be a terminal; None: a file."""
        self._result = result
        self._paint = output.paint if output is not None else Paint(False)
        self._room = max(width - 2, 40)

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        result = self._result
        yield from textwrap.wrap(visible(headline(result)), self._room)
        yield ""
        names = " and ".join(visible(crawler_name(name)) for name in result.crawlers)
        purposes = "".join(f", purpose {visible(one)}" for one in result.purposes)
        yield f"  for {names}{purposes}"
        yield f"  fetched as {visible(result.user_agent)}, in {_duration(result)}"
        yield from self._part("Sites", self._sites())
        yield from self._part("Pages", self._outcomes())
        yield from self._part("Findings", self._findings())

    def _part(self, name: str, lines: Iterator[str]) -> Iterator[str]:
        yield ""
        yield self._paint("heading", name)
        yield from lines

    def _sites(self) -> Iterator[str]:
        sites = self._result.sites
        for site in sites[:MOST_SITES]:
            yield f"  {visible(site.origin)}"
            yield f"    {robots_words(site.robots)}"
            yield f"    {_describe_sitemaps(site)}"
            for one in [one for one in site.sitemaps if one.trouble][:MOST_SITEMAPS]:
                yield f"    {_cut(one.url)}: {_cut(one.trouble)}"
        if len(sites) > MOST_SITES:
            yield f"  and {len(sites) - MOST_SITES:,} more (see --json)"

    def _outcomes(self) -> Iterator[str]:
        result = self._result
        columns = [result.outcomes(number) for number in range(len(result.crawlers))]
        shown = [outcome for outcome in OUTCOME_WORDS if any(one[outcome] for one in columns)]
        width = max([len(OUTCOME_WORDS[outcome]) for outcome in shown], default=0)
        heads = [visible(name) for name in result.crawlers] if len(columns) > 1 else ["pages"]
        widths = [max(len(head), 6) for head in heads]
        if len(columns) > 1:
            cells = (f"{head:>{room}}" for head, room in zip(heads, widths, strict=True))
            yield f"  {'':{width}}  {'  '.join(cells)}"
        for outcome in shown:
            cells = (
                f"{counts[outcome]:>{room},}" for counts, room in zip(columns, widths, strict=True)
            )
            yield f"  {OUTCOME_WORDS[outcome]:{width}}  {'  '.join(cells)}"

    def _findings(self) -> Iterator[str]:
        groups = self._result.groups()
        if not groups:
            yield "  none"
        for group in groups:
            yield from self._group(group)

    def _group(self, group: FindingGroup) -> Iterator[str]:
        level = self._paint(group.level, group.level)
        what = visible(describe_group(group, self._result.crawlers))
        line = f"  {level} {group.code}, {visible(count_places(group))}: {what}"
        yield from textwrap.wrap(line, self._room, subsequent_indent="    ", break_on_hyphens=False)
        examples = list(example_lines(group))[:MOST_EXAMPLES]
        for one in examples:
            yield f"      {_cut(one)}"
        if group.places > len(examples):
            yield f"      and {group.places - len(examples):,} more"


def _describe_sitemaps(site: SiteSummary) -> str:
    if not site.sitemaps:
        return "no sitemap read"
    files = plural(len(site.sitemaps), "sitemap file")
    urls = plural(site.sitemap_urls, "URL")
    return f"{files}, {urls}{'' if site.sitemaps_complete else ', not read completely'}"


def _duration(result: SiteAudit) -> str:
    seconds = max(result.ended - result.began, 0.0)
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds // 60:,.0f} min {seconds % 60:.0f} s"


def _cut(text: str) -> str:
    return truncate(visible(text), LONGEST)
