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
        Allow and Disallow may begin with `*`, so people write it here too. In these records a
        statement may begin with `*` as well, and therefore only `/` starts a path. What stands
        there is read as a broken statement, and dropped: the preference is stated for no document
        at all.

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
        "A path here starts with '/', not with '*', so the record is not used as meant: {text} "
        "would be {path}."
    )
    reference = "draft-ietf-aipref-attach-05 §3.2; AMB-103, AMB-112"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the records that begin with a star and go on with a statement."""
        for record in context.records(*KEYS):
            path = find_star_path(record)
            if path is None:
                continue
            # A run of stars, or one before a slash, matches the slash that is put there.
            written = b"/" + path
            fix = Fix(
                f"Write {quote(written)}",
                (Edit(record.start, record.start, b"/"),),
                changes_verdicts=True,
            )
            start, end = record.start, record.start + len(path)
            yield self.note(context, start, end, text=quote(path), path=quote(written), fix=fix)
