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
        A crawler that a group names twice. Names are compared without case.

    Why it matters:
        The second line has no effect. It is harmless, unless another name was meant: in a long list
        of crawlers, repeated names hide that one is missing.

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
    message = (
        "{name} is already named in line {line} of this group, so this line has no effect. Remove "
        "it."
    )
    reference = "RFC 9309 §2.2.1; REP-2.2.1-04"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the later lines of a group with the same name."""
        first: dict[tuple[int | None, str], Record] = {}
        for record in context.records("user-agent"):
            name = record.text.lower()
            before = first.setdefault((record.group, name), record) if name else record
            if before is not record:
                yield self.about(
                    context,
                    record,
                    name=quote(record.value),
                    line=before.line,
                    related=[relate("named first", before)],
                    fix=remove_line(context, record.line),
                )
