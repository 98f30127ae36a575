"""RR414: a user-agent line for a crawler that is no longer in use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robotrules.linting.check import Check, join_names, quote, relate_notes
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.value_shapes import crawler_name
from robotrules.registries.crawlers import KNOWN_CRAWLERS

# The part of a remark from which on it gives its sources.
SOURCES = " From reports of others"


class RetiredCrawler(Check):
    """
    What it finds:
        A well-known crawler that is no longer in use, according to its operator. The registry of
        this project lists these crawlers, each with the date of the last check. A file has one note
        for all of them, at the first.

    Why it matters:
        Files keep such names for years. They are harmless, but a group for `anthropic-ai` without
        `ClaudeBot` applies to no crawler. If another crawler replaced it, name that crawler too.

    Example:
            User-agent: anthropic-ai
            Disallow: /

    Instead:
            User-agent: ClaudeBot
            Disallow: /
    """

    code = "RR414"
    slug = "retired-crawler"
    level = "info"
    message = (
        "{name} ({operator}) is retired, so this line has no effect. {remarks} Checked on "
        "{checked}."
    )
    reference = "docs/crawlers.md"
    summed_up = ("info",)

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the lines that name a retired crawler."""
        for record in context.records("user-agent"):
            if record.value == b"*":
                continue
            known = KNOWN_CRAWLERS.get(crawler_name(record))
            if known and known.status == "retired":
                yield self.about(
                    context,
                    record,
                    name=quote(record.value),
                    operator=known.operator,
                    remarks=known.remarks.partition(SOURCES)[0],
                    checked=known.checked,
                )

    def summary(self, context: LintContext, notes: Sequence[LintNote]) -> LintNote:
        """Return a note that names the first of them and says how many there are."""
        body = context.robots.body
        names = {
            body[note.start : note.end].lower(): quote(body[note.start : note.end])
            for note in notes
        }
        first, more = notes[0], relate_notes(notes[1:], "also retired")
        if len(names) == 1:
            return first._replace(
                message=f"{first.message} {len(notes)} lines name it.", related=more
            )
        words = (
            f"{len(names):,} of the crawlers that the file names are retired: "
            f"{join_names(list(names.values()), 5)}. docs/crawlers.md lists current crawlers."
        )
        return first._replace(message=words, related=more)
