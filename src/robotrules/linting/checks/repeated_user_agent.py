"""RR411: the same product token twice in one group."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote, relate
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.value_shapes import remove_line
from robotrules.robotstxt.values import Record


class RepeatedUserAgent(Check):
    """
    What it finds:
        A crawler that one group names twice. Upper and lower case are the same name.

    Why it matters:
        The second line does nothing. It does no harm either, but long lists of crawlers are copied
        from place to place, and it is easier to see who is missing where nobody is there twice.
        Perhaps another name was meant.

    Example:
            User-agent: ExampleBot
            User-agent: SampleBot
            User-agent: examplebot
            Disallow: /search

    Instead:
            User-agent: ExampleBot
            User-agent: SampleBot
            Disallow: /search
    """

    code = "RR411"
    slug = "repeated-user-agent"
    level = "info"
    message = "{name} is named in line {line} of this group already."
    reference = "RFC 9309 §2.2.1; REP-2.2.1-04"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the later of two lines with one name."""
        first: dict[tuple[int | None, str], Record] = {}
        for record in context.records("user-agent"):
            name = record.text.lower()
            before = first.setdefault((record.group, name), record) if name else record
            if before is not record:
                yield self.about(
                    context,
                    record,
                    name="Everyone" if name == "*" else quote(record.value),
                    line=before.line,
                    related=[relate("named first", before)],
                    fix=remove_line(context, record.line),
                )
