"""RR403: a user-agent line whose value begins with no product token."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import ParserNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.linting.value_shapes import is_header, is_name
from robotrules.octets import to_text
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt.values import Note

# What people put around a name: quotes, and signs of other languages.
AROUND = b"\"'`<>()[]^+*$; \t"


class UnusableUserAgent(ParserNote):
    """
    What it finds:
        A user-agent line whose value begins with something that no product token begins with, such
        as a quote or a `+`. Names with digits have a check of their own.

    Why it matters:
        A product token has letters, `_` and `-`, and is compared as a whole. There are no quotes
        around it and no wildcards in it: `*bot` is not every crawler whose name ends in `bot`, and
        for Google's parser it is nobody. The rules of such a group are for no crawler at all.

    Example:
            User-agent: "ExampleBot"
            Disallow: /search

    Instead:
            User-agent: ExampleBot
            Disallow: /search
    """

    code = "RR403"
    slug = "unusable-user-agent"
    level = "warning"
    message = "{text} begins with no product token, so the line names nobody."
    reference = "RFC 9309 §2.2, §2.2.1; REP-2.2.1-17; AMB-23"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield what is no name of any kind."""
        for note in super().check(context):
            value = context.robots.body[note.start : note.end]
            if not is_name(value) and not is_header(value):
                yield note

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Take away what stands around the name of a crawler that is known."""
        value = to_text(context.robots.body[note.start : note.end].strip(AROUND))
        if value not in KNOWN_CRAWLERS:
            return None
        edit = Edit(note.start, note.end, value.encode())
        return Fix(f"Write {quote(value)}", (edit,), changes_verdicts=True)
