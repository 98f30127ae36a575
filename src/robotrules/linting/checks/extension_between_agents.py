"""RR609: a record that ends a group by its draft, but not by RFC 9309."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote, relate
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.scoped_records import describe_user_agents
from robotrules.profile import DOCUMENT_RULES, Role
from robotrules.robotstxt.values import Record

NAMES = {key: name for name, keys in DOCUMENT_RULES.items() for key in keys}


class ExtensionBetweenAgents(Check):
    """
    What it finds:
        A `Content-Usage` or `App-Directives` record between user-agent lines, with no Allow or
        Disallow before the next of them: the file has two group structures.

    Why it matters:
        The drafts of these records make them rules, and a user-agent line after a rule starts a new
        group. So such a record applies only to the crawlers named before it. RFC 9309 does not
        define these records, and other records do not end a group: for Allow and Disallow, the
        names before and after the record form one group. A crawler named before the record obeys
        the Allow and Disallow rules of those named after it, but not their Content-Usage or
        App-Directives.

    Example:
            User-agent: ExampleBot
            Content-Usage: train-ai=n
            User-agent: OtherBot
            Disallow: /private/

    Instead:
        A rule ends the group for every parser, and `Allow: /` changes nothing else. If you intend
        one group, put the record after the last user-agent line.

            User-agent: ExampleBot
            Allow: /
            Content-Usage: train-ai=n

            User-agent: OtherBot
            Disallow: /private/
    """

    code = "RR609"
    slug = "extension-between-agents"
    level = "warning"
    message = (
        "{key} applies to {before} and not to {after}, but both share the Allow and Disallow rules "
        "(RFC 9309). Move it below the last user-agent line, or write 'Allow: /' above it to "
        "separate the groups."
    )
    reference = "RFC 9309 §2.1, §2.2.4; draft-ietf-aipref-attach §3; plan-b §2; AMB-29"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the first record of each document between two user-agent lines of a group."""
        if not any(key in NAMES for key in context.keys):
            return
        for group in context.groups:
            if len(group.starts) > 1:
                yield from self._find_gaps(context, group.records)

    def _find_gaps(self, context: LintContext, records: tuple[Record, ...]) -> Iterator[LintNote]:
        """Yield the records that separate the user-agent lines of one group."""
        starts: dict[str, list[Record]] = {name: [] for name in DOCUMENT_RULES}
        first: dict[str, Record] = {}
        for record in records:
            if record.role is Role.RULE:
                return
            if record.role is not Role.START:
                if name := NAMES.get(record.key):
                    first.setdefault(name, record)
                continue
            for name, separator in first.items():
                yield self.note(
                    context,
                    separator.key_start,
                    separator.end,
                    key=name,
                    before=describe_user_agents(starts[name]),
                    after=quote(record.value),
                    related=[relate("starts a new group for it", record)],
                )
                starts[name] = []
            first = {}
            for records_before in starts.values():
                records_before.append(record)
