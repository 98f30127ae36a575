"""RR412: a user-agent line that nearly names a well-known crawler."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.linting.value_shapes import identifier
from robotrules.octets import to_text
from robotrules.registries.crawlers import KNOWN_CRAWLERS, KnownCrawler
from robotrules.robotstxt.values import Record

# Names of a file that are compared with all that are known; lists of people have some hundreds.
MOST_NAMES = 400
# Words with spaces or signs of names between them; more than that is no name.
_WORDS = re.compile(rb"[-\w.]+(?: [-\w.]+){0,2}")


class MisspeltCrawler(Check):
    """
    What it finds:
        A name that is nearly that of a well-known crawler: a letter is wrong, missing, or in the
        wrong place, or the name is parted otherwise, as in `GPT-Bot`. Names of real crawlers that
        are alike are left alone.

    Why it matters:
        A product token is compared as a whole, and only case does not matter. With one letter wrong
        the group is for nobody, and the crawler that was meant obeys the group of `*`, or nothing.

    Example:
            User-agent: Googelbot
            Disallow: /search

    Instead:
            User-agent: Googlebot
            Disallow: /search
    """

    code = "RR412"
    slug = "misspelt-crawler"
    level = "warning"
    message = "{name} is not a known crawler, but close to {known} of {operator}. Is {known} meant?"
    reference = "RFC 9309 §2.2.1; REP-2.2.1-04; AMB-20"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the names that are close to a known one; all lines of a name."""
        seen: dict[str, KnownCrawler | None] = {}
        for record in context.records("user-agent"):
            if record.value in (b"", b"*"):
                continue
            name = to_text(record.value if _WORDS.fullmatch(record.value) else _leading(record))
            if name not in seen:
                if len(seen) >= MOST_NAMES:
                    continue
                seen[name] = _meant(name)
            if known := seen[name]:
                yield self._misspelt(context, record, known)

    def _misspelt(self, context: LintContext, record: Record, known: KnownCrawler) -> LintNote:
        token = known.product_token
        edit = Edit(record.start, record.end, token.encode())
        return self.about(
            context,
            record,
            name=quote(record.value),
            known=token,
            operator=known.operator,
            fix=Fix(f"Write {quote(token)}", (edit,), changes_verdicts=True),
        )


def _leading(record: Record) -> bytes:
    return identifier(record.value)


@lru_cache(4096)
def _meant(name: str) -> KnownCrawler | None:
    """Return the crawler that a name is meant for; None: it names one, or is like none."""
    found = KNOWN_CRAWLERS.closest(name)
    if found and " " in found.product_token:
        return None  # what parsers make of such a name is no better
    # Of several words, all have to be there: crawlers of one family differ in one.
    if found and " " in name and _plain(name) != _plain(found.product_token):
        return None
    return found


def _plain(name: str) -> str:
    return re.sub(r"[-_. ]", "", name).lower()
