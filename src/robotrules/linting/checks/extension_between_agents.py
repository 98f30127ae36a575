"""RR609: a record that parts user-agent lines by its own document, and not by RFC 9309."""

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
        The drafts of these records make them rules, and a user-agent line after a rule opens a new
        group. So such a record is only for the crawlers named before it. RFC 9309 does not know
        these records, and other records end no group: to Allow and Disallow, the names before and
        after the record are one group. A crawler that is named before it obeys the rules of those
        named after it, and does not read their Content-Usage or App-Directives.

    Example:
            User-agent: ExampleBot
            Content-Usage: train-ai=n
            User-agent: OtherBot
            Disallow: /private/

    Instead:
        A rule ends the group for every parser; `Allow: /` changes nothing else. If one group is
        meant, put the record after the last user-agent line.

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
        "{key} applies to {before} and not to {after}: by its draft the next user-agent line "
        "starts a new group. By RFC 9309 both share the Allow and Disallow rules."
    )
    reference = "RFC 9309 §2.1, §2.2.4; draft-ietf-aipref-attach §3; plan-b §2; AMB-29"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the first record of each document between two user-agent lines of a group."""
        if not any(key in NAMES for key in context.keys):
            return
        for group in context.groups:
            if len(group.starts) > 1:
                yield from self._parted(context, group.records)

    def _parted(self, context: LintContext, records: tuple[Record, ...]) -> Iterator[LintNote]:
        """Yield what parts the user-agent lines of one group."""
        starts: dict[str, list[Record]] = {name: [] for name in DOCUMENT_RULES}
        first: dict[str, Record] = {}
        for record in records:
            if record.role is Role.RULE:
                return
            if record.role is not Role.START:
                if name := NAMES.get(record.key):
                    first.setdefault(name, record)
                continue
            for name, found in first.items():
                yield self.note(
                    context,
                    found.key_start,
                    found.end,
                    key=name,
                    before=describe_user_agents(starts[name]),
                    after=quote(record.value),
                    related=[relate("opens a new group for it", record)],
                )
                starts[name] = []
            first = {}
            for some in starts.values():
                some.append(record)
