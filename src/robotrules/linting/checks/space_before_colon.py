"""RR208: whitespace between a record's name and its colon."""

from __future__ import annotations

import re
from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.linting.record_names import KNOWN

_GAP = re.compile(rb"(?:\A|[\r\n])[ \t]*[-\w]+([ \t]+):")


class SpaceBeforeColon(Check):
    """
    What it finds:
        A space or a tab between the name of a known record and its colon.

    Why it matters:
        RFC 9309 allows it, and most crawlers read it. The format of 1994, which some parsers still
        follow, has the colon directly after the name.

    Example:
            User-agent : *
            Disallow : /private/

    Instead:
            User-agent: *
            Disallow: /private/
    """

    code = "RR208"
    slug = "space-before-colon"
    level = "info"
    message = (
        "Parsers that follow the format of 1994 ignore {name} because of the whitespace before its "
        "colon. Remove the whitespace."
    )
    reference = "RFC 9309 §2.2 (REP-2.2-02)"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the gaps; records are only looked up if there are any."""
        body = context.robots.body
        if b" :" not in body and b"\t:" not in body:
            return
        for match in _GAP.finditer(body):
            start, end = match.span(1)
            record = context.by_line.get(context.place(start, end)[0])
            if record is None or record.key_end != start or record.key not in KNOWN:
                continue
            name = quote(body[record.key_start : record.key_end])
            fix = Fix(f"Remove the whitespace after {name}", (Edit(start, end, b""),))
            yield self.note(context, start, end, name=name, fix=fix)
