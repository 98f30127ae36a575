"""RR413: a name with digits or dots, of which the grammar reads a part."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.value_shapes import identifier, is_name
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt.values import shown


class TruncatedToken(Check):
    """
    What it finds:
        A crawler's name that the grammar of RFC 9309 does not know, because it has digits or dots:
        `MJ12bot`, `archive.org_bot`, `360Spider`.

    Why it matters:
        A product token has letters, `_` and `-`. Parsers that keep to that, such as Google's and
        the profiles `strict` and `google`, stop reading there: `MJ12bot` becomes `MJ`, and
        `360Spider` becomes nobody. Others, such as crawler-commons and the profile `default`,
        compare the whole name first. Which one reads your file is up to the crawler, and one that
        calls itself so usually knows its name. A site owner can do nothing better than to write the
        name as its operator does; where the part that is left is the name of another crawler, that
        one may believe that it is meant.

    Example:
            User-agent: Example2Bot
            Disallow: /search

    Instead:
        Nothing, for a name that its operator documents. A crawler of your own is better called by
        letters alone:

            User-agent: ExampleBot
            Disallow: /search
    """

    code = "RR413"
    slug = "truncated-token"
    level = "info"
    message = "The grammar has no digits and no dots in names: {name} is read as {part} by {whom}."
    reference = "RFC 9309 §2.2, §2.2.1; REP-2.2.1-16; AMB-22"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the names of which only the beginning, or nothing, is in the grammar."""
        literal = context.robots.profile.literal_tokens
        whom = "strict parsers, and compared as a whole by others" if literal else "this profile"
        for code in ("user-agent-text", "unusable-user-agent"):
            for note in context.parser_notes(code):
                record = context.by_line[note.line or 0]
                if not is_name(record.value):
                    continue
                part = identifier(record.value)
                other = shown(part) in KNOWN_CRAWLERS
                yield self.about(
                    context,
                    record,
                    level="warning" if other else None,
                    name=quote(record.value),
                    part=quote(part) if part else "nobody",
                    whom=whom,
                )
