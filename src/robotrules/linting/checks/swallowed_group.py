"""RR408: a group without a rule, which is merged with the group after it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from robotrules.analysis.values import ORIGIN
from robotrules.linting.agent_gaps import MOST_TRIED, Gap, find_gaps, find_shared_url
from robotrules.linting.check import Check, quote, relate
from robotrules.linting.context import LintContext
from robotrules.linting.note import Fix, LintNote
from robotrules.linting.value_shapes import insert_line_after


class SwallowedGroup(Check):
    """
    What it finds:
        User-agent lines followed by a Crawl-delay, or another record that is not a rule, and then
        by the next user-agent line. It looks like two groups, but it is one.

    Why it matters:
        Only a rule ends a list of user-agent lines; in RFC 9309 other records do not interfere. So
        the crawler that should only slow down also obeys the rules of the next group, which may
        block everything. Sites disappeared from search results that way (google/robotstxt issue 51,
        otwarchive issue 4411). Google's parser and crawler-commons do that; Protego and Python's
        urllib.robotparser end the group at Crawl-delay. Without an example of a blocked URL, the
        note is for information only.

    Example:
            User-agent: ExampleBot
            Crawl-delay: 10

            User-agent: SampleBot
            Disallow: /

    Instead:
        End the group with a rule. `Disallow:` without a path is a rule that every parser knows, and
        blocks nothing:

            User-agent: ExampleBot
            Crawl-delay: 10
            Disallow:

            User-agent: SampleBot
            Disallow: /
    """

    code = "RR408"
    slug = "swallowed-group"
    level = "warning"
    message = (
        "No rule ends the group of {names}, so for crawlers that follow RFC 9309 the {what} of "
        "{after} apply to it too{shown}. Add 'Disallow:' before the next user-agent line."
    )
    reference = "RFC 9309 §2.1, §2.2.4; AMB-28, AMB-29"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the gaps with records that belong to a group; the first ones with a URL."""
        tried = count()
        for gap in find_gaps(context):
            if gap.has_group_records and gap.separates_names:
                url = find_shared_url(context, gap) if next(tried) < MOST_TRIED else None
                yield self._describe(context, gap, url)

    def _describe(self, context: LintContext, gap: Gap, url: str | None) -> LintNote:
        edit = insert_line_after(context, gap.between[-1].line, b"Disallow:")
        words = "Write 'Disallow:' after it, which ends the group and blocks nothing"
        return self.about(
            context,
            gap.before[-1],
            level=None if url else "info",
            names=gap.names,
            # If no rule follows at all, they still share the other records of the group.
            what="rules" if gap.group.rules else "records",
            after=quote(gap.after.value),
            shown=f", which blocks {quote(url.removeprefix(ORIGIN))}" if url else "",
            url=url,
            related=[relate("in the same group", gap.after)],
            fix=Fix(words, (edit,), changes_verdicts=True),
        )
