"""RR406: several names, separated by commas, in one user-agent line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robotrules.linting.check import ParserNote, join_names, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.linting.value_shapes import identifier, line_end, split_list
from robotrules.robotstxt.values import Note


class CommaList(ParserNote):
    """
    What it finds:
        A user-agent line that lists several crawlers, separated by commas.

    Why it matters:
        A user-agent line has one product token. Google's parser reads the first name and ignores
        the rest, and so does a tolerant reading of the RFC's grammar. An erratum of 2026 (8895)
        proposes lists, but it is not accepted, and few parsers support them. The other crawlers
        obey the group of `*`, or no rules at all.

    Example:
            User-agent: ExampleBot, SampleBot
            Disallow: /search

    Instead:
            User-agent: ExampleBot
            User-agent: SampleBot
            Disallow: /search
    """

    code = "RR406"
    slug = "comma-list"
    level = "warning"
    message = (
        "A user-agent line names one crawler: Google's parser and most others read {first} and "
        "ignore {rest}. Write one user-agent line for each crawler."
    )
    reference = "RFC 9309 §2.2.1; erratum 8895 (reported); AMB-25"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield lines that are lists; other text may contain a comma."""
        for note in super().check(context):
            if split_list(context.robots.body[note.start : note.end]):
                yield note

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the name that is read, and those that are ignored."""
        value = context.robots.body[note.start : note.end]
        members = split_list(value)
        first = identifier(value) or value.partition(b",")[0].strip()
        return {"first": quote(first), "rest": join_names([quote(name) for name in members[1:]])}

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Write one line for each name."""
        record, body = context.by_line[note.line or 0], context.robots.body
        before = line_end(context, record.line) + body[record.key_start : record.start]
        edit = Edit(record.start, record.end, before.join(split_list(record.value)))
        return Fix("Write one user-agent line for each crawler", (edit,), changes_verdicts=True)
