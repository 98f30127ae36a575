"""RR403: a user-agent line whose value does not start with a product token."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import ParserNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.linting.value_shapes import is_header, is_name
from robotrules.octets import to_text
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt.values import Note

# Characters that authors put around a name: quotes, and syntax of other languages.
AROUND = b"\"'`<>()[]^+*$; \t"


class UnusableUserAgent(ParserNote):
    """
    What it finds:
        A user-agent line whose value starts with a character that no product token has, such as a
        quotation mark or a `+`. RR413 reports names with digits.

    Why it matters:
        A product token has only letters, `_` and `-`, and is compared as a whole. It has no quotes
        and no wildcards: `*bot` does not match every crawler whose name ends in `bot`, and for
        Google's parser it names no crawler. The rules of such a group apply to no crawler.

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
    message = (
        "{text} does not start with a product token, so the line names no crawler. Use only "
        "letters, '_' and '-'."
    )
    reference = "RFC 9309 §2.2, §2.2.1; REP-2.2.1-17; AMB-23"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield values that are neither names nor User-Agent headers."""
        for note in super().check(context):
            value = context.robots.body[note.start : note.end]
            if not is_name(value) and not is_header(value):
                yield note

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Remove the characters around the name of a known crawler."""
        value = to_text(context.robots.body[note.start : note.end].strip(AROUND))
        if value not in KNOWN_CRAWLERS:
            return None
        edit = Edit(note.start, note.end, value.encode())
        return Fix(f"Write {quote(value)}", (edit,), changes_verdicts=True)
