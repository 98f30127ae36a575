"""RR507: an Allow for an index page, which Google takes for its directory too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robotrules.analysis.values import ORIGIN
from robotrules.linting.check import ParserNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.value_shapes import matching_token
from robotrules.robotstxt.values import Note, Record, shown

INDEX = b"/index.htm"
# Rules that are looked at; each asks for the rules of a crawler.
MOST_LOOKED_AT = 50


class IndexPage(ParserNote):
    """
    What it finds:
        An Allow for `index.html` or `index.htm` in a directory that is disallowed otherwise.

    Why it matters:
        Google's parser allows the directory itself as well: with `Allow: /docs/index.html` it also
        allows `/docs/`. RFC 9309 knows no such thing, and other crawlers allow the page alone,
        which few links lead to.

    Example:
            User-agent: *
            Disallow: /docs/
            Allow: /docs/index.html

    Instead:
        Say it for everyone. `$` ends the path, so that nothing else in it is allowed:

            User-agent: *
            Disallow: /docs/
            Allow: /docs/$
    """

    code = "RR507"
    slug = "index-page"
    level = "info"
    message = "With {text} Google also allows {directory}, and other crawlers do not."
    reference = "google/robotstxt; VEN-03; AMB-47"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield what the parser noted under Google's profile, and the same under others."""
        if context.robots.profile.index_page:
            yield from super().check(context)
            return
        if INDEX not in context.robots.body:
            return
        found = [record for record in context.records("allow") if INDEX in record.value]
        for record in found[:MOST_LOOKED_AT]:
            directory = _directory(record.value)
            if directory and self._differs(context, record, directory):
                yield self.about(
                    context,
                    record,
                    url=ORIGIN + directory,
                    text=quote(record.value),
                    directory=quote(directory),
                )

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the pattern and its directory."""
        value = context.robots.body[note.start : note.end]
        return {"text": quote(value), "directory": quote(value.rpartition(b"/")[0] + b"/")}

    def _differs(self, context: LintContext, record: Record, directory: str) -> bool:
        """Tell whether the directory is disallowed for who obeys the rule's group."""
        if record.group is None:
            return False
        starts = context.groups[record.group].starts
        token = matching_token(context, starts[0])
        if not token or context.robots.check(ORIGIN + directory, token).allowed:
            return False
        # A longer Disallow wins for Google too.
        return context.parse_as("google").check(ORIGIN + directory, token).allowed


def _directory(value: bytes) -> str | None:
    """Return the directory of an index page, where it has no wildcards."""
    directory, slash, page = value.rpartition(b"/")
    if slash + page[:9] != INDEX or b"*" in directory or value[:1] != b"/":
        return None
    return shown(directory) + "/"
