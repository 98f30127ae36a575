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

# Names of a file that are compared with all known crawlers; real lists have some hundreds.
MOST_NAMES = 400
# Up to three words of name characters; a longer value is not a name.
_WORDS = re.compile(rb"[-\w.]+(?: [-\w.]+){0,2}")


class MisspeltCrawler(Check):
    """
    What it finds:
        A name that is nearly that of a well-known crawler: a letter is wrong, missing or in the
        wrong place, or the name is split differently, as in `GPT-Bot`. Similar names of other real
        crawlers are not reported.

    Why it matters:
        Crawlers compare the whole product token, and ignore only case. With one wrong letter the
        group applies to no crawler, and the intended crawler obeys the group of `*`, or no rules.

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
    message = (
        "{name} is not a known crawler, so its rules may apply to no crawler. Did you mean {known} "
        "of {operator}?"
    )
    reference = "RFC 9309 §2.2.1; REP-2.2.1-04; AMB-20"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield all lines whose name is close to that of a known crawler."""
        seen: dict[str, KnownCrawler | None] = {}
        for record in context.records("user-agent"):
            if record.value in (b"", b"*"):
                continue
            name = to_text(
                record.value if _WORDS.fullmatch(record.value) else identifier(record.value)
            )
            if name not in seen:
                if len(seen) >= MOST_NAMES:
                    continue
                seen[name] = _find_intended(name)
            if known := seen[name]:
                yield self._note_misspelt(context, record, known)

    def _note_misspelt(self, context: LintContext, record: Record, known: KnownCrawler) -> LintNote:
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


@lru_cache(4096)
def _find_intended(name: str) -> KnownCrawler | None:
    """Return the crawler that a misspelt name is close to; None if it is correct or unlike any."""
    closest = KNOWN_CRAWLERS.closest(name)
    if closest and " " in closest.product_token:
        return None  # parsers do not read such a name correctly either
    # Of several words, all must match: crawlers of one family differ in one word.
    if closest and " " in name and _plain(name) != _plain(closest.product_token):
        return None
    return closest


def _plain(name: str) -> str:
    return re.sub(r"[-_. ]", "", name).lower()
