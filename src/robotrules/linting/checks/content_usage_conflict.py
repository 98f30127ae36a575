"""RR636: two Content-Usage records for one path that disagree."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.extensions.vocabulary import CATEGORIES, Preference
from robotrules.linting.check import Check, relate
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.scoped_records import collect_statements


class ContentUsageConflict(Check):
    """
    What it finds:
        Two `Content-Usage` records of one group with the same path, one with `y` and the other with
        `n` for the same category.

    Why it matters:
        Records of one path are combined, and for each category any `n` outweighs every `y`,
        whatever the order of the lines. The record with `y` has no effect, although its author may
        expect one.

    Example:
            User-agent: *
            Content-Usage: /news/ train-ai=n
            Content-Usage: /news/ train-ai=y

    Instead:
            User-agent: *
            Content-Usage: /news/ train-ai=n
            Content-Usage: /news/free/ train-ai=y
    """

    code = "RR636"
    slug = "content-usage-conflict"
    level = "warning"
    message = (
        "'{name}=y' has no effect: line {line} has '{name}=n' for the same path, and 'n' outweighs "
        "'y'. Remove one of the two."
    )
    reference = "draft-ietf-aipref-attach-05 §3.1; draft-ietf-aipref-vocab-07 §5.1; CU-A3.1-03"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the records whose `y` is outweighed by another record of their path."""
        for statements in (
            collect_statements(context).values() if context.records("content-usage") else ()
        ):
            for name in CATEGORIES:
                against = [
                    record
                    for record, statement in statements
                    if statement.get(name) is Preference.DISALLOWED
                ]
                for record, statement in statements if against else ():
                    if statement.get(name) is Preference.ALLOWED:
                        yield self.about(
                            context,
                            record,
                            line=against[0].line,
                            name=name,
                            related=[relate("disallows it", against[0])],
                        )
