"""RR416: a word for many crawlers where the name of one belongs."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.robotstxt.values import Record

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
        A user-agent line with a word for many crawlers, such as `bots`, `AI` or `all`, and not the
        name of one.

    Why it matters:
        RFC 9309 compares names as a whole, so `User-agent: bots` is for a crawler that is called
        `bots`, and for no other. Parsers that still compare parts of names, as the texts of 1994
        and 1996 had it, take `bot` for every crawler with these letters in its name: Yandex and
        older Python do. Neither is what the line says to people. Everyone is `*`; all crawlers of
        one purpose cannot be named by a user-agent line.

    Example:
            User-agent: bots
            Disallow: /search

    Instead:
            User-agent: *
            Disallow: /search

        Or a line for each: `robotrules matrix` shows well-known crawlers by their purpose.
    """

    code = "RR416"
    slug = "purpose-in-user-agent"
    level = "warning"
    message = "{name} is compared as the name of one crawler, and does not stand for {meant}."
    reference = "RFC 9309 §2.2.1; AMB-20; draft-illyes-rep-purpose §3"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the lines with such a word."""
        found = [one for one in context.records("user-agent") if _word(one) in EVERYONE | MANY]
        if not found:
            return
        has_star = any(record.value == b"*" for record in context.records("user-agent"))
        for record in found:
            everyone = _word(record) in EVERYONE
            edit = Edit(record.start, record.end, b"*")
            fix = Fix("Write '*'", (edit,), changes_verdicts=True)
            yield self.about(
                context,
                record,
                name=quote(record.value),
                meant="everyone, which is '*'" if everyone else "many",
                fix=fix if everyone and not has_star else None,
            )


def _word(record: Record) -> str:
    return record.text.lower()
