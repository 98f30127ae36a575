"""RR209: a comment as another language writes it."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.linting.pasted_text import TAG_AT_END, find_mark, find_unknown_lines, guess_file

# What a line that is no comment can start with, to be looked at.
STARTS = b"/;<-`~*"
# Records whose value may have been copied from a page.
VALUES = ("user-agent", "allow", "disallow", "sitemap")
# Marks for which a '#' does the same.
COMMENTS = (b"//", b";", b"<!--", b"/*")


class MarkupLine(Check):
    """
    What it finds:
        A line that starts with `//`, `;`, `<!--` or `/*`, as comments of other languages do, or
        with a Markdown fence or an HTML tag; and a value that ends with a tag such as `<br>`.

    Why it matters:
        Only `#` starts a comment. A line such as `// Disallow: /x` is a record called
        `// disallow`, which nobody knows, so it does no harm. But what such comments put around
        several lines does not work: the rules between `<!--` and `-->` are in force.

    Example:
            User-agent: *
            // Disallow: /old/
            <!--
            Disallow: /shop/
            -->

    Instead:
            User-agent: *
            # Disallow: /old/
            # Disallow: /shop/
    """

    code = "RR209"
    slug = "markup-line"
    level = "warning"
    message = "{mark} is markup of {where}: {why}."
    reference = "RFC 9309 §2.2.3 (REP-2.2.3-01), §2.2.4"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield such lines and values; an HTML page has a note of its own."""
        if context.parser_notes("looks-like-html"):
            return
        body = context.robots.body
        for start, end in find_unknown_lines(context):
            if body[start] in STARTS:
                yield from self._at_start(context, start, body[start:end])
        for record in context.records(*VALUES) if b"<" in body else ():
            found = TAG_AT_END.search(record.value)
            if found:
                start, end = record.start + found.start(1), record.end
                fix = None
                if record.value.count(b"<") == 1:
                    fix = Fix("Take it out", (Edit(start, end, b""),), changes_verdicts=True)
                yield self.note(
                    context,
                    start,
                    end,
                    level="error",
                    fix=fix,
                    mark=quote(found[1]),
                    where="HTML",
                    why="it is a part of the value",
                )

    def _at_start(self, context: LintContext, start: int, text: bytes) -> Iterator[LintNote]:
        found = None if guess_file(text) else find_mark(text)
        if found is None:
            return
        fix = _fix(start, text, found.text) if found.text in COMMENTS else None
        why = "in a robots.txt only '#' starts a comment"
        end, said = start + len(found.text), quote(found.text)
        yield self.note(context, start, end, fix=fix, mark=said, where=found.where, why=why)


def _fix(start: int, text: bytes, opening: bytes) -> Fix | None:
    """Return a comment in its place; one that goes on in the next lines is left to people."""
    closing = {b"<!--": b"-->", b"/*": b"*/"}.get(opening)
    edit = Edit(start, start + len(opening), b"#")
    if closing is None:
        return Fix("Write '#'", (edit,))
    last = text.find(closing)
    if last < 0 or text[last + len(closing) :].strip():
        return None
    closed = start + last
    return Fix("Write '#'", (edit, Edit(closed, closed + len(closing), b"")))
