"""RR420: crawlers of a purpose that the file does not name, although it blocks others."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, join_names
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.value_shapes import crawler_name
from robotrules.registries.crawlers import KNOWN_CRAWLERS, KnownCrawler
from robotrules.robotstxt.values import Record

# Purposes that sites block as such, and what their crawlers are called.
PURPOSES = {"ai-training": "AI-training crawlers", "ai-search": "crawlers of AI search"}
# So many crawlers of a purpose must be blocked by name, and this share of its main ones.
LEAST_BLOCKED = 3
LEAST_SHARE = 0.5
# How many names a message has.
MOST_NAMES = 6


class CrawlerNotNamed(Check):
    """
    What it finds:
        A file that blocks most main crawlers for AI training by name, and well-known ones of the
        same purpose that it does not name and that may fetch the home page. The same for AI search.
        The file must block `/` for at least three crawlers, and for half of the main ones. Crawlers
        that are retired, or do not obey robots.txt, are not reported. A purpose has one note.

    Why it matters:
        A list of names ages: a new crawler is not in it, and obeys the `*` group. The list of
        well-known crawlers has a date, and is newer than many files.

    Example:
            User-agent: GPTBot
            User-agent: ClaudeBot
            User-agent: CCBot
            User-agent: Google-Extended
            User-agent: Bytespider
            Disallow: /

    Instead:
        Add the names that you want to block. `robotrules write --preset block-ai-training --add-to
        robots.txt` adds all of them, and `robotrules crawlers --purpose ai-training --compare
        robots.txt` lists those that a file does not name, however few it blocks. If only some
        crawlers may fetch pages, name those, and block everyone else:

            User-agent: Googlebot
            User-agent: bingbot
            Disallow:

            User-agent: *
            Disallow: /
    """

    code = "RR420"
    slug = "crawler-not-named"
    level = "info"
    message = (
        "The file blocks {count} {kind} by name, and not {names} (list of {checked}). Add those "
        "that you want to block; robotrules crawlers --purpose {purpose} lists them."
    )
    reference = "docs/crawlers.md"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield a note for each purpose, at the first line that names a blocked crawler."""
        lines: dict[str, Record] = {}
        for record in context.records("user-agent"):
            lines.setdefault(crawler_name(record), record)
        if len(lines) < LEAST_BLOCKED:
            return
        for purpose, kind in PURPOSES.items():
            named, others = KNOWN_CRAWLERS.split_by_naming(purpose, lines)
            if len(named) < LEAST_BLOCKED or not others:
                continue
            blocked = [crawler for crawler in named if _is_blocked(context, crawler)]
            main = [crawler.is_main for crawler in blocked].count(True)
            of_main = [crawler.is_main for crawler in (*named, *others)].count(True)
            if len(blocked) < LEAST_BLOCKED or main < LEAST_SHARE * of_main:
                continue
            missing = [
                crawler
                for crawler in sorted(others, key=lambda crawler: not crawler.is_main)
                if crawler.obeys != "no" and not _is_blocked(context, crawler)
            ]
            if missing:
                yield self.about(
                    context,
                    min((_find_line(lines, crawler) for crawler in blocked), key=_line_number),
                    count=len(blocked),
                    kind=kind,
                    names=join_names([crawler.product_token for crawler in missing], MOST_NAMES),
                    checked=KNOWN_CRAWLERS.checked,
                    purpose=purpose,
                )


def _is_blocked(context: LintContext, crawler: KnownCrawler) -> bool:
    return not context.robots.rules_for(crawler.names).allows("/")


def _find_line(lines: dict[str, Record], crawler: KnownCrawler) -> Record:
    name = crawler.product_token.lower()
    return lines[name if name in lines else crawler.written_as.lower()]


def _line_number(record: Record) -> int:
    return record.line
