"""RR413: a crawler name with digits or dots, which the grammar does not allow."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.value_shapes import identifier, is_name
from robotrules.octets import to_text
from robotrules.registries.crawlers import KNOWN_CRAWLERS


class TruncatedToken(Check):
    """
    What it finds:
        A crawler name with digits or dots, which the grammar of RFC 9309 does not allow: `MJ12bot`,
        `archive.org_bot`, `360Spider`.

    Why it matters:
        A product token has only letters, `_` and `-`. Parsers that follow this grammar, such as
        Google's parser and the profiles `strict` and `google`, stop at the first other character:
        they read `MJ12bot` as `MJ`, and `360Spider` as no name. Others, such as crawler-commons and
        profile `default`, compare the whole name first, and so do most crawlers with such a name.
        Write the name as its operator documents it. If the remaining part is the name of another
        crawler, that crawler may obey the group too.

    Example:
            User-agent: Example2Bot
            Disallow: /search

    Instead:
        Keep a name that its operator documents. For your own crawler, choose a name with letters
        only:

            User-agent: ExampleBot
            Disallow: /search
    """

    code = "RR413"
    slug = "truncated-token"
    level = "info"
    message = (
        "{reader} reads {name} as {part}, because product tokens have no digits or dots{others}. "
        "Keep the name if its operator documents it."
    )
    reference = "RFC 9309 §2.2, §2.2.1; REP-2.2.1-16; AMB-22"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the names that the grammar allows only in part, or not at all."""
        is_literal = context.robots.profile.literal_tokens
        reader = "Google's parser" if is_literal else f"Profile {context.robots.profile.name}"
        others = "; other parsers compare the whole name" if is_literal else ""
        for code in ("user-agent-text", "unusable-user-agent"):
            for note in context.parser_notes(code):
                record = context.by_line[note.line or 0]
                if not is_name(record.value):
                    continue
                part = identifier(record.value)
                names_another = to_text(part) in KNOWN_CRAWLERS
                yield self.about(
                    context,
                    record,
                    level="warning" if names_another else None,
                    reader=reader,
                    name=quote(record.value),
                    part=quote(part) if part else "no crawler",
                    others=others,
                )
