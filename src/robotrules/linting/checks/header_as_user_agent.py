"""RR417: a whole User-Agent header in a user-agent line."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.linting.value_shapes import identifier, is_header, is_url
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt.tokens import leading_name, product_token
from robotrules.robotstxt.values import Record


class HeaderAsUserAgent(Check):
    """
    What it finds:
        A user-agent line that holds what a crawler or a browser sends in the User-Agent header of
        its requests, or a URL.

    Why it matters:
        Despite their names the two are not the same. A user-agent line has the product token alone,
        which is a small part of the header. Of `Mozilla/5.0 (compatible; …)` parsers read
        `Mozilla`, the word with which nearly every header begins, and no crawler has that name.
        To match requests by their header is what servers and firewalls do.

    Example:
            User-agent: Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)
            Disallow: /search

    Instead:
            User-agent: Googlebot
            Disallow: /search
    """

    code = "RR417"
    slug = "header-as-user-agent"
    level = "warning"
    message = "{value} is {what} and no product token: it is read as {part}."
    reference = "RFC 9309 §2.2.1; REP-2.2.1-02; AMB-21"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the lines with a header; the fix names a crawler that is known."""
        for record in context.records("user-agent"):
            if is_header(record.value):
                part = identifier(record.value)
                yield self.about(
                    context,
                    record,
                    value=quote(record.value),
                    what="a URL" if is_url(record.value) else "a whole User-Agent header",
                    part=quote(part) if part else "nobody",
                    fix=self._named(record),
                )

    def _named(self, record: Record) -> Fix | None:
        named = product_token(record.text) or ""
        known = KNOWN_CRAWLERS.get(named) or KNOWN_CRAWLERS.get(leading_name(named))
        if known is None:
            return None
        edit = Edit(record.start, record.end, known.product_token.encode())
        return Fix(f"Write {quote(known.product_token)}", (edit,), changes_verdicts=True)
