"""RR304: Noindex, Nofollow or Noarchive in a robots.txt."""

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
        No standard defines them. Google supported them unofficially until 1 September 2019; no
        known crawler reads them today. The pages stay in search results.

    Example:
            User-agent: *
            Noindex: /old-shop/

    Instead:
        Send the response header `X-Robots-Tag: noindex` with the pages, or put
        `<meta name="robots" content="noindex">` into them. Crawlers have to fetch a page to see
        its tag, so do not block it at the same time:

            User-agent: *
            Allow: /old-shop/
    """

    code = "RR304"
    slug = "unsupported-record"
    level = "warning"
    message = (
        "{name} in a robots.txt has no effect: Google stopped reading it in 2019, and no known "
        "crawler reads it. Use a robots meta element or the X-Robots-Tag header."
    )
    reference = "REC-noindex-01; AMB-119, AMB-120"

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the name of the record."""
        record = context.by_line.get(note.line or 0)
        return {"name": quote(KNOWN[record.key] if record else "")}
