"""RR636: two statements for one path that disagree."""

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
        Two `Content-Usage` records of one group with the same path, one of which says `y` and the
        other `n` for the same category.

    Why it matters:
        Statements of one path count together, and for each category any `n` outweighs every `y`,
        whatever the order of the lines. One of the two has no effect, and its author may believe
        that it has.

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
        "Line {line} disallows '{name}' for the same path, and what disallows counts: the 'y' "
        "here has no effect."
    )
    reference = "draft-ietf-aipref-attach-05 §3.1; draft-ietf-aipref-vocab-07 §5.1; CU-A3.1-03"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the records whose `y` another one of their path outweighs."""
        for found in (
            collect_statements(context).values() if context.records("content-usage") else ()
        ):
            for name in CATEGORIES:
                against = [r for r, one in found if one.get(name) is Preference.DISALLOWED]
                for record, one in found if against else ():
                    if one.get(name) is Preference.ALLOWED:
                        yield self.about(
                            context,
                            record,
                            line=against[0].line,
                            name=name,
                            related=[relate("disallows it", against[0])],
                        )
