"""RR416: a word for many crawlers instead of the name of one."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote

EVERYONE = frozenset(("all", "any", "anybody", "anyone", "every", "everybody", "everyone"))
MANY = frozenset(
    (
        *("ai", "aibots", "ai-bots", "ai-crawler", "ai-crawlers", "llm", "llms"),
        *("bot", "bots", "crawler", "crawlers", "robot", "robots", "scraper", "scrapers"),
        *("search", "search-engine", "searchengine", "searchengines", "spider", "spiders"),
    )
)


class PurposeInUserAgent(Check):
    """
    What it finds:
        A user-agent line with a word for many crawlers, such as `bots`, `AI` or `all`, instead of
        the name of one.

    Why it matters:
        RFC 9309 compares whole names, so `User-agent: bots` applies only to a crawler that is
        called `bots`. Parsers that compare substrings, as the documents of 1994 and 1996 describe,
        apply `bot` to every crawler with these letters in its name: Yandex and Python's
        urllib.robotparser before 2026 do. Neither is what the author means. `*` stands for all
        crawlers; a user-agent line cannot name all crawlers of a purpose.

    Example:
            User-agent: bots
            Disallow: /search

    Instead:
            User-agent: *
            Disallow: /search

        Or write a line for each crawler: `robotrules matrix` lists well-known crawlers by purpose.
    """

    code = "RR416"
    slug = "purpose-in-user-agent"
    level = "warning"
    message = (
        "For crawlers that follow RFC 9309, {name} is the name of a single crawler, not {meant}."
    )
    reference = "RFC 9309 §2.2.1; AMB-20; draft-illyes-rep-purpose §3"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the lines with such a word."""
        records = context.records("user-agent")
        generic = [record for record in records if record.text.lower() in EVERYONE | MANY]
        if not generic:
            return
        has_star = any(record.value == b"*" for record in records)
        for record in generic:
            everyone = record.text.lower() in EVERYONE
            edit = Edit(record.start, record.end, b"*")
            fix = Fix("Write '*'", (edit,), changes_verdicts=True)
            yield self.about(
                context,
                record,
                name=quote(record.value),
                meant="all crawlers. Write '*'"
                if everyone
                else "a kind of crawler. Write a line for each crawler",
                fix=fix if everyone and not has_star else None,
            )
