"""RR408: a group without a rule, which becomes one with the group after it."""

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
        User-agent lines with a Crawl-delay, or another record that is no rule, and then the next
        user-agent line. It looks like two groups and is one.

    Why it matters:
        Only a rule ends a list of user-agent lines; by RFC 9309 all other records do not interfere.
        So the crawler that should have come slowly obeys the rules of the next group as well, and
        may be asked to stay away from everything. Sites were left out of search that way
        (google/robotstxt issue 51, otwarchive issue 4411). Google's parser and crawler-commons read
        it so; Protego and Python's parser end the group at Crawl-delay, so crawlers differ. Where
        no URL that is disallowed was found to show it, the note is good to know and no more.

    Example:
            User-agent: ExampleBot
            Crawl-delay: 10

            User-agent: SampleBot
            Disallow: /

    Instead:
        A rule closes the group. `Disallow:` without a path is one that every parser knows, and asks
        for nothing:

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
        "No rule follows {names} before the next user-agent line, so {what} for {after} {are} for "
        "{them} too{shown}."
    )
    reference = "RFC 9309 §2.1, §2.2.4; AMB-28, AMB-29"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the gaps in which something is said to a group; with a URL for the first."""
        tried = count()
        for gap in find_gaps(context):
            if gap.has_group_records and gap.separates_names:
                url = find_shared_url(context, gap) if next(tried) < MOST_TRIED else None
                yield self._swallowed(context, gap, url)

    def _swallowed(self, context: LintContext, gap: Gap, url: str | None) -> LintNote:
        edit = insert_line_after(context, gap.between[-1].line, b"Disallow:")
        words = "Write 'Disallow:' after it, which closes the group and asks for nothing"
        return self.about(
            context,
            gap.before[-1],
            level=None if url else "info",
            names=gap.names,
            # Where no rule follows at all, there is still what the group says beside rules.
            what="the rules" if gap.group.rules else "what is said",
            are="are" if gap.group.rules else "is",
            after=quote(gap.after.value),
            them="it" if len(gap.before) == 1 else "them",
            shown=f", and {quote(url.removeprefix(ORIGIN))} is disallowed" if url else "",
            url=url,
            related=[relate("in the same group", gap.after)],
            fix=Fix(words, (edit,), changes_verdicts=True),
        )
