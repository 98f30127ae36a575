"""RR409: user-agent lines at the end of a file that no rule follows."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, join_names, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.value_shapes import matching_token
from robotrules.profile import Role

# Records that are a group's whole point.
ENOUGH = frozenset(("content-usage", "content-signal", "app-directives", "app-directive"))


class GroupWithoutRules(Check):
    """
    What it finds:
        User-agent lines at the end of a file that no Allow and no Disallow follows. Anywhere else
        they are one group with what follows: see RR407 and RR408.

    Why it matters:
        A group without rules asks for nothing. Who is named there may fetch everything, and does
        not obey the group of `*`: a crawler that is named has its own group alone. Not all parsers
        agree: robots-parser and Python's older ones fall back to `*` here. If that is meant, an
        empty `Disallow:` says so to all of them; if not, the rules are missing.

    Example:
            User-agent: *
            Disallow: /search

            User-agent: ExampleBot

    Instead:
            User-agent: *
            Disallow: /search

            User-agent: ExampleBot
            Disallow:
    """

    code = "RR409"
    slug = "group-without-rules"
    level = "info"
    message = (
        "The group for {names} has no rules, so it allows everything, whatever other groups say."
    )
    reference = "RFC 9309 §2.1, §2.2.1; REP-2.2.1-14; AMB-32"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the last group, if it has no rules and its crawlers have none elsewhere."""
        last = context.groups[-1] if context.groups else None
        if last is None or any(record.role is Role.RULE for record in last.records):
            return
        named = [record for record in last.starts if record.key == "user-agent"]
        said = any(record.key in ENOUGH for record in last.records)
        token = matching_token(context, named[0]) if named else ""
        if token and not said and not len(context.robots.rules_for(token)):
            names = join_names([quote(record.value) for record in named])
            yield self.about(context, named[0], names=names)
