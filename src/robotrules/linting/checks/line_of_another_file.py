"""RR312: a line that belongs in another file."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.pasted_text import FIELDS, SECURITY, find_unknown_lines, guess_file

_FIELD = "the header fields of HTTP responses"


class LineOfAnotherFile(Check):
    """
    What it finds:
        A line that looks like part of another file: a header field such as `X-Robots-Tag`, a line
        of an ads.txt or a security.txt, a setting of a web server, an element of HTML.

    Why it matters:
        Crawlers ignore the line, although its author expects it to work. It works only where it
        belongs.

    Example:
            User-agent: *
            X-Robots-Tag: noindex

    Instead:
        Let the server send `X-Robots-Tag: noindex` with the pages that it applies to. Put lines of
        an ads.txt into `/ads.txt`, and those of a security.txt into `/.well-known/security.txt`.

            User-agent: *
            Disallow:
    """

    code = "RR312"
    slug = "line-of-another-file"
    level = "error"
    message = (
        "{text} belongs in {home}: in a robots.txt, crawlers ignore it. Move it there, or remove "
        "it."
    )
    reference = "RFC 9309 §2.2.4; RFC 9116 §2.5; REC-noindex-01"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield records and other lines; an HTML page has a separate note."""
        if context.parser_notes("looks-like-html"):
            return
        for record in context.records(*FIELDS.intersection(context.keys)):
            name = quote(context.robots.body[record.key_start : record.key_end])
            yield self.about_key(context, record, text=name, home=_FIELD)
        security = SECURITY.intersection(context.keys)
        for record in context.records(*security) if _is_security(security) else ():
            name = quote(context.robots.body[record.key_start : record.key_end])
            yield self.about_key(context, record, level="info", text=name, home="security.txt")
        for start, end in find_unknown_lines(context):
            text = context.robots.body[start:end]
            if place := guess_file(text):
                yield self.note(context, start, end, text=quote(text), home=place)


def _is_security(names: frozenset[str]) -> bool:
    """Tell whether names are those of a security.txt: a contact and at least one other field."""
    return "contact" in names and len(names) > 1
