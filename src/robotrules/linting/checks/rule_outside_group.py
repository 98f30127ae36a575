"""RR401: a rule before the first user-agent line."""

from __future__ import annotations

from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix
from robotrules.linting.value_shapes import line_end
from robotrules.robotstxt.values import Note


class RuleOutsideGroup(ParserNote):
    """
    What it finds:
        An Allow or Disallow before the first user-agent line.

    Why it matters:
        A rule applies to the crawlers that the user-agent lines before it name. Without one, it
        applies to no crawler: RFC 9309 tells crawlers to ignore it, and Google's parser,
        crawler-commons, Protego and Python's urllib.robotparser do.

    Example:
            Disallow: /drafts/

            User-agent: *
            Disallow: /search

    Instead:
            User-agent: *
            Disallow: /drafts/
            Disallow: /search
    """

    code = "RR401"
    slug = "rule-outside-group"
    level = "error"
    message = (
        "{text} is before the first user-agent line, so it applies to no crawler. Move it below a "
        "user-agent line."
    )
    reference = "RFC 9309 §2.1, §2.2.1; AMB-31"
    misread = True

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Insert `User-agent: *` if the file has no user-agent line; otherwise return no fix."""
        if context.groups or note.line is None or note != context.parser_notes(self.slug)[0]:
            return None
        start, _ = context.whole_line(note.line)
        edit = Edit(start, start, b"User-agent: *" + line_end(context, note.line))
        return Fix("Write 'User-agent: *' before it", (edit,), changes_verdicts=True)
