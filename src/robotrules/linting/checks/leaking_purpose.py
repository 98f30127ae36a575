"""RR603: a purpose group whose rules some parsers apply to the group before."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.analysis.values import ORIGIN
from robotrules.linting.check import Check, quote, relate
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.profile import USER_AGENT_PURPOSE
from robotrules.robotstxt.tokens import is_product_token
from robotrules.robotstxt.values import Group, Record
from robotrules.write import PLACEHOLDER

# Groups for which an example URL is searched, and rules of each that are tried.
MOST_SHOWN = 20
MOST_TRIED = 20


class LeakingPurpose(Check):
    """
    What it finds:
        A group that starts with `User-Agent-Purpose` lines only, with rules, after a group that
        names crawlers. For the URL in the note, parsers with and without support for purposes give
        different answers.

    Why it matters:
        Purposes are new. For a parser of RFC 9309 the line is an unknown record, which does not end
        a group, so the rules below it become rules of the group above. A `Disallow: /` for one
        purpose then blocks *all* crawlers of that group. crawler-commons, Protego and Python's
        urllib.robotparser read it this way; google/robotstxt reads the line as a user-agent line,
        because of the beginning of its name.

    Example:
            User-agent: *
            Disallow: /private/

            User-Agent-Purpose: EXAMPLE-PURPOSE-1
            Disallow: /

    Instead:
        Put a user-agent line that matches no crawler in front. Parsers without support for purposes
        then see a group that applies to no crawler:

            User-agent: *
            Disallow: /private/

            User-agent: _purpose-only_
            User-Agent-Purpose: EXAMPLE-PURPOSE-1
            Disallow: /
    """

    code = "RR603"
    slug = "leaking-purpose"
    level = "error"
    message = (
        "Parsers without support for purposes, such as Protego and crawler-commons, apply the "
        "rules of this group to {before} in line {line}{shown}. Put a user-agent line in front "
        "that matches no crawler."
    )
    reference = "draft-illyes-rep-purpose §3; AMB-99, RFC 9309 §2.2.4"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the groups with purposes only that follow a group of crawlers."""
        noted = {note.start for note in context.parser_notes(self.slug)}
        before: tuple[Group, Record] | None = None
        count = 0
        for group in context.groups if noted else ():
            first = group.starts[0]
            if first.start in noted and before is not None:
                count += 1
                url = _find_difference(context, group, before[0]) if count <= MOST_SHOWN else None
                yield self.about(
                    context,
                    first,
                    before=quote(before[1].text),
                    line=before[1].line,
                    shown=f", which changes the answer for {url}" if url else "",
                    url=url,
                    related=[relate("gets the rules", before[1])],
                    fix=_add_placeholder(context, first),
                )
            named = next((start for start in group.starts if start.key == "user-agent"), None)
            before = (group, named) if named else before


def _find_difference(context: LintContext, group: Group, before: Group) -> str | None:
    """Return a URL for which parsers without purposes answer differently to the group before."""
    robots = context.robots
    tokens = [token for token in before.user_agents if token == "*" or is_product_token(token)]
    if not tokens:
        return None
    extensions = [ext for ext in robots.profile.extensions if ext.key != USER_AGENT_PURPOSE.key]
    without = context.parse_as(robots.profile.replace(extensions=extensions))
    for rule in group.rules[:MOST_TRIED]:
        url = ORIGIN + rule.form.removesuffix("$").replace("*", "")
        if robots.rules_for(tokens[0]).allows(url) != without.rules_for(tokens[0]).allows(url):
            return url
    return None


def _add_placeholder(context: LintContext, first: Record) -> Fix:
    at, after = context.whole_line(first.line)
    end = context.robots.body[context.line(first.line).end : after] or b"\n"
    line = f"User-agent: {PLACEHOLDER}".encode() + end
    words = f"Put 'User-agent: {PLACEHOLDER}' in front"
    return Fix(words, (Edit(at, at, line),), changes_verdicts=True)
