"""RR116: a byte order mark that was read in the wrong encoding and saved again."""

from __future__ import annotations

import re
from collections.abc import Iterator

from robotrules.linting.check import Check
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.linting.pasted_text import GARBLED_BOM

_AT_START = re.compile(rb"(?:\A|(?<=[\r\n]))(?:\xef\xbb\xbf)?((?:" + GARBLED_BOM + rb")+)")


class GarbledBom(Check):
    """
    What it finds:
        The three characters `ï»¿` at the start of a line. They are a UTF-8 byte order mark that a
        program read as Latin-1 and then saved as UTF-8.

    Why it matters:
        No parser skips them. They become part of the first record's name, `ï»¿User-agent`, which
        no crawler recognises: the user-agent line is ignored, and the rules after it apply to no
        crawler, or to the crawlers of the group before.

    Example:
            ï»¿User-agent: *
            Disallow: /private/

    Instead:
            User-agent: *
            Disallow: /private/
    """

    code = "RR116"
    slug = "garbled-bom"
    level = "error"
    message = (
        "The line starts with 'ï»¿', a garbled byte order mark{effect}. Remove these characters."
    )
    reference = "RFC 9309 §2.2, §2.3; AMB-07"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield a note for each line that starts with it; without a record it is harmless."""
        body = context.robots.body
        if GARBLED_BOM not in body:
            return
        for match in _AT_START.finditer(body):
            start, end = match.span(1)
            if body[end : end + 1] in (b"", b"\r", b"\n", b"#"):
                level, harmful, effect = "info", False, "; no record is affected"
            else:
                level, harmful = self.level, True
                effect = ", which all crawlers read as part of the text after it"
            fix = Fix("Remove 'ï»¿'", (Edit(start, end, b""),), changes_verdicts=harmful)
            yield self.note(context, start, end, level=level, fix=fix, effect=effect)
