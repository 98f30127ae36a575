"""RR209: a comment or markup of another language."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.linting.pasted_text import TAG_AT_END, find_mark, find_unknown_lines, guess_file

# The first bytes of lines to check.
STARTS = b"/;<-`~*"
# Records whose value may be copied from a web page.
VALUES = ("user-agent", "allow", "disallow", "sitemap")
# Comment marks that a '#' can replace.
COMMENTS = (b"//", b";", b"<!--", b"/*")


class MarkupLine(Check):
    """
    What it finds:
        A line that starts with `//`, `;`, `<!--` or `/*`, like a comment in another language, or
        with a Markdown fence or an HTML tag; and a value that ends with a tag such as `<br>`.

    Why it matters:
        Only `#` starts a comment. A line such as `// Disallow: /x` is a record called
        `// disallow`, which crawlers ignore, so it does no harm. But comments over several lines do
        not work: the rules between `<!--` and `-->` apply.

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
    message = "{mark} is markup of {language}: {problem}. {advice}."
    reference = "RFC 9309 §2.2.3 (REP-2.2.3-01), §2.2.4"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield such lines and values; an HTML page has a separate note."""
        if context.parser_notes("looks-like-html"):
            return
        body = context.robots.body
        for start, end in find_unknown_lines(context):
            if body[start] in STARTS:
                yield from self._at_start(context, start, body[start:end])
        for record in context.records(*VALUES) if b"<" in body else ():
            tag = TAG_AT_END.search(record.value)
            if tag:
                start, end = record.start + tag.start(1), record.end
                fix = None
                if record.value.count(b"<") == 1:
                    fix = Fix("Remove the tag", (Edit(start, end, b""),), changes_verdicts=True)
                yield self.note(
                    context,
                    start,
                    end,
                    level="error",
                    fix=fix,
                    mark=quote(tag[1]),
                    language="HTML",
                    problem="crawlers read it as part of the value",
                    advice="Remove it",
                )

    def _at_start(self, context: LintContext, start: int, text: bytes) -> Iterator[LintNote]:
        opening = None if guess_file(text) else find_mark(text)
        if opening is None:
            return
        is_comment = opening.text in COMMENTS
        yield self.note(
            context,
            start,
            start + len(opening.text),
            fix=_replace_mark(start, text, opening.text) if is_comment else None,
            mark=quote(opening.text),
            language=opening.where,
            problem="in a robots.txt only '#' starts a comment",
            advice="Start each line of the comment with '#'" if is_comment else "Remove it",
        )


def _replace_mark(start: int, text: bytes, opening: bytes) -> Fix | None:
    """Return the fix that writes `#`; None for a comment that continues on the next lines."""
    closing = {b"<!--": b"-->", b"/*": b"*/"}.get(opening)
    edit = Edit(start, start + len(opening), b"#")
    if closing is None:
        return Fix("Write '#'", (edit,))
    last = text.find(closing)
    if last < 0 or text[last + len(closing) :].strip():
        return None
    closed = start + last
    return Fix("Write '#'", (edit, Edit(closed, closed + len(closing), b"")))
