"""RR407: a record between user-agent lines, which does not separate them."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.agent_gaps import find_gaps
from robotrules.linting.check import ParserNote, quote, relate
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote


class RecordBetweenAgents(ParserNote):
    """
    What it finds:
        A record such as Sitemap between two user-agent lines. RR408 reports records that belong to
        a group, such as Crawl-delay.

    Why it matters:
        Only a rule ends a list of user-agent lines. In RFC 9309 other records do not interfere, so
        the names before and after are one group with the same rules, whatever the layout suggests.
        Google's parser and crawler-commons do that. Protego, robots-parser and others end the list
        there, so for them the names before the record have no rules.

    Example:
            User-agent: ExampleBot
            Sitemap: https://example.com/sitemap.xml

            User-agent: SampleBot
            Disallow: /search

    Instead:
        Put the record before the first group or after the last one:

            User-agent: ExampleBot
            User-agent: SampleBot
            Disallow: /search

            Sitemap: https://example.com/sitemap.xml
    """

    code = "RR407"
    slug = "record-between-agents"
    level = "warning"
    message = (
        "For crawlers that follow RFC 9309, {record} does not separate the user-agent lines around "
        "it: {names} and {after} obey the same rules. Move it out of the list."
    )
    reference = "RFC 9309 §2.1, §2.2.4; AMB-28"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the gaps without records that belong to a group."""
        for gap in find_gaps(context):
            if not gap.has_group_records and gap.separates_names:
                record = gap.between[0]
                yield self.note(
                    context,
                    record.key_start,
                    record.end,
                    record=quote(context.robots.body[record.key_start : record.end]),
                    names=gap.names,
                    after=quote(gap.after.value),
                    related=[relate("in the same group", gap.after)],
                )
