"""RR304: noindex and its like in a robots.txt."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import ParserNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.record_names import KNOWN
from robotrules.robotstxt.values import Note


class UnsupportedRecord(ParserNote):
    """
    What it finds:
        `Noindex`, `Nofollow` or `Noarchive` as a record of a robots.txt.

    Why it matters:
        No standard ever had them. Google tried them and stopped on 1 September 2019; no crawler
        that is known reads them today. The page stays in search results.

    Example:
            User-agent: *
            Noindex: /old-shop/

    Instead:
        Send the response header `X-Robots-Tag: noindex` with the pages, or put
        `<meta name="robots" content="noindex">` into them. Crawlers have to fetch a page to see
        its tag, so do not disallow it at the same time:

            User-agent: *
            Allow: /old-shop/
    """

    code = "RR304"
    slug = "unsupported-record"
    level = "warning"
    message = (
        "{name} in a robots.txt does nothing: Google stopped reading it in 2019. Use a robots meta "
        "element or the X-Robots-Tag field."
    )
    reference = "REC-noindex-01; AMB-119, AMB-120"

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the name of the record."""
        record = context.by_line.get(note.line or 0)
        return {"name": quote(KNOWN[record.key] if record else "")}
