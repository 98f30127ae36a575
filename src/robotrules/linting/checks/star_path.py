"""RR608: a scoped record whose path starts with a star."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.linting.scoped_records import find_star_path

KEYS = ("content-usage", "app-directives", "app-directive", "content-signal")


class StarPath(Check):
    """
    What it finds:
        A `Content-Usage`, `App-Directives` or `Content-Signal` record whose value begins with `*`
        where a path pattern was meant.

    Why it matters:
        Allow and Disallow may begin with `*`, so authors write it here too. In these records a
        statement may also begin with `*`, so a path must begin with `/`. The value is read as an
        invalid statement and ignored: the preference applies to no URL.

    Example:
            User-agent: *
            Content-Usage: *.pdf$ train-ai=n

    Instead:
            User-agent: *
            Content-Usage: /*.pdf$ train-ai=n
    """

    code = "RR608"
    slug = "star-path"
    level = "error"
    message = (
        "A path in this record starts with '/', not with '*', so the record is not read as "
        "intended. Write {path} instead of {text}."
    )
    reference = "draft-ietf-aipref-attach-05 §3.2; AMB-103, AMB-112"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the records that begin with a star and go on with a statement."""
        for record in context.records(*KEYS):
            path = find_star_path(record)
            if path is None:
                continue
            # The inserted slash does not change what leading stars match.
            written = b"/" + path
            fix = Fix(
                f"Write {quote(written)}",
                (Edit(record.start, record.start, b"/"),),
                changes_verdicts=True,
            )
            start, end = record.start, record.start + len(path)
            yield self.note(context, start, end, text=quote(path), path=quote(written), fix=fix)
