"""RR507: an Allow for an index page, which Google applies to its directory too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robotrules.analysis.values import ORIGIN
from robotrules.linting.check import ParserNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.value_shapes import matching_token
from robotrules.octets import to_text
from robotrules.robotstxt.values import Note, Record

INDEX = b"/index.htm"
# Rules that are checked; each needs the rules of a crawler.
MOST_CHECKED = 50


class IndexPage(ParserNote):
    """
    What it finds:
        An Allow for `index.html` or `index.htm` in a directory that is otherwise disallowed.

    Why it matters:
        Google's parser allows the directory itself as well: with `Allow: /docs/index.html` it also
        allows `/docs/`. RFC 9309 does not define this, and other crawlers allow only the page,
        which few links point to.

    Example:
            User-agent: *
            Disallow: /docs/
            Allow: /docs/index.html

    Instead:
        Allow the directory for all crawlers. `$` ends the path, so that nothing else in the
        directory is allowed:

            User-agent: *
            Disallow: /docs/
            Allow: /docs/$
    """

    code = "RR507"
    slug = "index-page"
    level = "info"
    message = (
        "With {text}, Google also allows {directory}, and other crawlers do not. Write {instead} "
        "for all crawlers."
    )
    reference = "google/robotstxt; VEN-03; AMB-47"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the parser's notes under Google's profile, and the same rules under others."""
        if context.robots.profile.index_page:
            yield from super().check(context)
            return
        if INDEX not in context.robots.body:
            return
        candidates = [record for record in context.records("allow") if INDEX in record.value]
        for record in candidates[:MOST_CHECKED]:
            directory = _directory(record.value)
            if directory and self._differs(context, record, directory):
                yield self.about(
                    context,
                    record,
                    url=ORIGIN + directory,
                    **_describe(record.value, directory),
                )

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the pattern and its directory."""
        value = context.robots.body[note.start : note.end]
        return _describe(value, to_text(value.rpartition(b"/")[0] + b"/"))

    def _differs(self, context: LintContext, record: Record, directory: str) -> bool:
        """Tell whether Google's parser alone allows the directory to the group's crawlers."""
        if record.group is None:
            return False
        starts = context.groups[record.group].starts
        token = matching_token(context, starts[0])
        if not token or context.robots.check(ORIGIN + directory, token).allowed:
            return False
        # A longer Disallow wins for Google too.
        return context.parse_as("google").check(ORIGIN + directory, token).allowed


def _describe(value: bytes, directory: str) -> dict[str, Any]:
    """Return the words of the message: the pattern, its directory, and the rule to write."""
    instead = quote(f"Allow: {directory}$")
    return {"text": quote(value), "directory": quote(directory), "instead": instead}


def _directory(value: bytes) -> str | None:
    """Return the directory of an index page; None if it has wildcards."""
    directory, slash, page = value.rpartition(b"/")
    if slash + page[:9] != INDEX or b"*" in directory or value[:1] != b"/":
        return None
    return to_text(directory) + "/"
