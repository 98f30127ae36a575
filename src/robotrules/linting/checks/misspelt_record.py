"""RR303: an unknown record name that is nearly a known one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.linting.pasted_text import find_mark
from robotrules.linting.record_names import KNOWN, guess_record_name

# Names of a file that are compared: real files have some dozens, hostile ones thousands.
MOST_NAMES = 1_000


class MisspeltRecord(Check):
    """
    What it finds:
        A record whose name is a small error away from a known name, and is not accepted in this
        spelling: `Disallows`, `User-agnet`, `Crawl_delay`, `- Disallow`.

    Why it matters:
        Crawlers ignore records that they do not know (RFC 9309 §2.2.4), so the line has no effect.
        If it is a user-agent line, the rules after it apply to the group before, which may
        be that of all crawlers. New records with other names are valid and not reported.

    Example:
            User-agent: *
            Disallows: /private/

    Instead:
            User-agent: *
            Disallow: /private/
    """

    code = "RR303"
    slug = "misspelt-record"
    level = "error"
    message = "{text} is not a known record, so crawlers ignore the line. Did you mean {name}?"
    reference = "RFC 9309 §2.2, §2.2.4 (REP-2.2.4-02); AMB-14"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the records with such names; an HTML page has a separate note."""
        if context.parser_notes("looks-like-html"):
            return
        others = (key for key in context.keys if key not in KNOWN)
        for key in islice(others, MOST_NAMES):
            name = None if find_mark(key.encode()) else guess_record_name(key)
            if name is None:
                continue
            for record in context.records(key):
                fix = None
                # If quotation marks enclose the whole line, one of them would stay.
                if not key.startswith(('"', "'")):
                    edit = Edit(record.key_start, record.key_end, name.encode())
                    fix = Fix(f"Write {quote(name)}", (edit,), changes_verdicts=True)
                written = quote(context.robots.body[record.key_start : record.key_end])
                yield self.about_key(context, record, text=written, name=quote(name), fix=fix)
