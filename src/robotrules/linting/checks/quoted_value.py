"""RR207: a value in quotation marks."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote

# Names of records whose value is never written in quotation marks.
PLAIN = ("user-agent", "allow", "disallow", "sitemap", "crawl-delay", "host")
OPENING = tuple(sign.encode() for sign in "\"'`“”„«‘’‚‹")
CLOSING = tuple(sign.encode() for sign in "\"'`“”»‘’›")


class QuotedValue(Check):
    """
    What it finds:
        A path pattern, a product token or a URL in quotation marks, straight or curly.

    Why it matters:
        A robots.txt has no quotation marks: they are a part of the value. A pattern that starts
        with one matches no URL, because paths start with `/`; a product token that starts with one
        is nobody's.

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
    message = "The quotation marks are a part of the value {text}, so it {does}."
    reference = "RFC 9309 §2.2 (REP-2.2-09, REP-2.2-10)"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the values that start with one."""
        for record in context.records(*PLAIN):
            value = record.value
            if not value.startswith(OPENING):
                continue
            opening = next(sign for sign in OPENING if value.startswith(sign))
            edits = [Edit(record.start, record.start + len(opening), b"")]
            rest = value[len(opening) :]
            closing = next((sign for sign in CLOSING if rest.endswith(sign)), b"")
            if closing:
                edits.append(Edit(record.end - len(closing), record.end, b""))
            plain = rest[: len(rest) - len(closing)]
            fix = None
            if plain and not any(sign in plain for sign in {*OPENING, *CLOSING}):
                fix = Fix(f"Write {quote(plain)}", tuple(edits), changes_verdicts=True)
            does = "names nobody" if record.key == "user-agent" else "is not what it looks like"
            if record.key in ("allow", "disallow"):
                does = "matches nothing"
            yield self.about(context, record, text=quote(value), does=does, fix=fix)
