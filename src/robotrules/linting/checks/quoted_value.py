"""RR207: a value in quotation marks."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote

# Records whose value is never quoted.
PLAIN = ("user-agent", "allow", "disallow", "sitemap", "crawl-delay", "host")
OPENING = tuple(mark.encode() for mark in "\"'`“”„«‘’‚‹")
CLOSING = tuple(mark.encode() for mark in "\"'`“”»‘’›")


class QuotedValue(Check):
    """
    What it finds:
        A path pattern, a product token or a URL in quotation marks, straight or curly.

    Why it matters:
        robots.txt has no quoting: the marks are part of the value. A pattern that starts with one
        matches no URL, because paths start with `/`; a product token that starts with one names no
        crawler.

    Example:
            User-agent: *
            Disallow: "/private/"

    Instead:
            User-agent: *
            Disallow: /private/
    """

    code = "RR207"
    slug = "quoted-value"
    level = "error"
    message = "The quotation marks are part of the value {text}, so it {does}. Remove them."
    reference = "RFC 9309 §2.2 (REP-2.2-09, REP-2.2-10)"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the values that start with a quotation mark."""
        for record in context.records(*PLAIN):
            value = record.value
            if not value.startswith(OPENING):
                continue
            opening = next(mark for mark in OPENING if value.startswith(mark))
            edits = [Edit(record.start, record.start + len(opening), b"")]
            rest = value[len(opening) :]
            closing = next((mark for mark in CLOSING if rest.endswith(mark)), b"")
            if closing:
                edits.append(Edit(record.end - len(closing), record.end, b""))
            plain = rest[: len(rest) - len(closing)]
            fix = None
            if plain and not any(mark in plain for mark in {*OPENING, *CLOSING}):
                fix = Fix(f"Write {quote(plain)}", tuple(edits), changes_verdicts=True)
            does = "names no crawler" if record.key == "user-agent" else "is invalid"
            if record.key in ("allow", "disallow"):
                does = "matches no URL"
            yield self.about(context, record, text=quote(value), does=does, fix=fix)
