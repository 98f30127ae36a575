"""RR603: a group of purposes whose rules old parsers give to the group before."""

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

# Groups for which a URL is looked for, and rules of each that are tried: the first teach enough.
MOST_SHOWN = 20
MOST_TRIED = 20


class LeakingPurpose(Check):
    """
    What it finds:
        A group that only `User-Agent-Purpose` lines open, with rules, after a group that names
        crawlers. The URL in the note is one for which parsers that know purposes and parsers that
        do not give different answers.

    Why it matters:
        Purposes are new. For a parser of RFC 9309 the line is an unknown record, which ends no
        group: so it reads the rules below it as more rules of the group above. A `Disallow: /`
        meant for one purpose then asks *everybody* to stay away. crawler-commons, Protego and
        Python's own parser read it so; google/robotstxt takes the line for a user-agent line, by
        the beginning of its name.

    Example:
            User-agent: *
            Disallow: /private/

            User-Agent-Purpose: EXAMPLE-PURPOSE-1
            Disallow: /

    Instead:
        Put a user-agent line in front that matches no crawler. Old parsers then see a group for
        nobody:

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
        "Parsers that do not know purposes give the rules of this group to the one of {before} in "
        "line {line}{shown}."
    )
    reference = "draft-illyes-rep-purpose §3; AMB-99, RFC 9309 §2.2.4"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield groups of purposes alone that stand behind a group of crawlers."""
        noted = {note.start for note in context.parser_notes(self.slug)}
        before: tuple[Group, Record] | None = None
        found = 0
        for group in context.groups if noted else ():
            first = group.starts[0]
            if first.start in noted and before is not None:
                found += 1
                url = _shown(context, group, before[0]) if found <= MOST_SHOWN else None
                yield self.about(
                    context,
                    first,
                    before=quote(before[1].text),
                    line=before[1].line,
                    shown=f", so that they say something else about {url}" if url else "",
                    url=url,
                    related=[relate("gets the rules", before[1])],
                    fix=_fix(context, first),
                )
            named = next((one for one in group.starts if one.key == "user-agent"), None)
            before = (group, named) if named else before


def _shown(context: LintContext, group: Group, before: Group) -> str | None:
    """Return a URL that a crawler of the group before gets another answer for in old parsers."""
    robots = context.robots
    tokens = [one for one in before.user_agents if one == "*" or is_product_token(one)]
    if not tokens:
        return None
    known = [one for one in robots.profile.extensions if one.key != USER_AGENT_PURPOSE.key]
    old = context.parse_as(robots.profile.replace(extensions=known))
    for rule in group.rules[:MOST_TRIED]:
        url = ORIGIN + rule.form.removesuffix("$").replace("*", "")
        if robots.rules_for(tokens[0]).allows(url) != old.rules_for(tokens[0]).allows(url):
            return url
    return None


def _fix(context: LintContext, first: Record) -> Fix:
    at, after = context.whole_line(first.line)
    end = context.robots.body[context.line(first.line).end : after] or b"\n"
    line = f"User-agent: {PLACEHOLDER}".encode() + end
    words = f"Put 'User-agent: {PLACEHOLDER}' in front"
    return Fix(words, (Edit(at, at, line),), changes_verdicts=True)
