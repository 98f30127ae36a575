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
        A user-agent line that contains the User-Agent header of a crawler's or browser's requests,
        or a URL.

    Why it matters:
        Despite their names the two are not the same. A user-agent line contains only the product
        token, which is a small part of the header. Parsers read `Mozilla/5.0 (compatible; …)` as
        `Mozilla`, the word that nearly every header starts with, and no crawler has that name.
        Servers and firewalls match requests by their header; robots.txt does not.

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
    message = (
        "{value} is {what}, not a product token: crawlers read it as {part}. Write only the "
        "crawler's product token, such as 'Googlebot'."
    )
    reference = "RFC 9309 §2.2.1; REP-2.2.1-02; AMB-21"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the lines with a header; the fix writes the token of a known crawler."""
        for record in context.records("user-agent"):
            if is_header(record.value):
                part = identifier(record.value)
                yield self.about(
                    context,
                    record,
                    value=quote(record.value),
                    what="a URL" if is_url(record.value) else "a whole User-Agent header",
                    part=quote(part) if part else "no name",
                    fix=self._name_crawler(record),
                )

    def _name_crawler(self, record: Record) -> Fix | None:
        token = product_token(record.text) or ""
        known = KNOWN_CRAWLERS.get(token) or KNOWN_CRAWLERS.get(leading_name(token))
        if known is None:
            return None
        edit = Edit(record.start, record.end, known.product_token.encode())
        return Fix(f"Write {quote(known.product_token)}", (edit,), changes_verdicts=True)
