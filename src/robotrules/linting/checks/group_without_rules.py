"""RR409: user-agent lines at the end of a file without rules after them."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, join_names, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.value_shapes import matching_token
from robotrules.profile import Role

# Records that give a group a purpose without Allow and Disallow.
ENOUGH = frozenset(("content-usage", "content-signal", "app-directives", "app-directive"))


class GroupWithoutRules(Check):
    """
    What it finds:
        User-agent lines at the end of a file without an Allow or Disallow after them. Anywhere else
        they form one group with the lines after them: see RR407 and RR408.

    Why it matters:
        A group without rules restricts nothing. The crawlers that it names may fetch every URL, and
        do not obey the group of `*`: a named crawler obeys only its group. Parsers differ here:
        robots-parser and older versions of Python's urllib.robotparser use the group of `*`. If the
        crawlers may fetch every URL, an empty `Disallow:` says so to all parsers; otherwise, the
        rules are missing.

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
        "The group for {names} has no rules, so crawlers that follow RFC 9309 may fetch every URL, "
        "whatever other groups say. Add rules, or 'Disallow:' if that is intended."
    )
    reference = "RFC 9309 §2.1, §2.2.1; REP-2.2.1-14; AMB-32"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the last group, if its crawlers have no rules there or elsewhere."""
        last = context.groups[-1] if context.groups else None
        if last is None or any(record.role is Role.RULE for record in last.records):
            return
        named = [record for record in last.starts if record.key == "user-agent"]
        has_purpose = any(record.key in ENOUGH for record in last.records)
        token = matching_token(context, named[0]) if named else ""
        if token and not has_purpose and not len(context.robots.rules_for(token)):
            names = join_names([quote(record.value) for record in named])
            yield self.about(context, named[0], names=names)
