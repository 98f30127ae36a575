"""RR609: a rule of a draft between user-agent lines."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.app_words import called
from robotrules.linting.check import Check, related
from robotrules.linting.note import LintNote
from robotrules.linting.subject import Subject

KEYS = {
    "content-usage": "Content-Usage",
    "app-directives": "App-Directives",
    "app-directive": "App-Directive",
}


class ExtensionBetweenAgents(Check):
    """
    What it finds:
        A `Content-Usage` or `App-Directives` record that stands between user-agent lines with no
        Allow or Disallow before the next of them.

    Why it matters:
        The drafts of these records call them rules, and a rule ends the list of user-agent lines,
        so that the next one opens a new group. For every parser of RFC 9309 they are unknown
        records, which end nothing: all the names share one group. One file then has two readings.
        Today's parsers, ours among them, take the second.

    Example:
            User-agent: ExampleBot
            Content-Usage: train-ai=n
            User-agent: OtherBot
            Disallow: /private/

    Instead:
        An `Allow: /` line ends the list for every parser, if two groups are meant. Otherwise put
        the record behind the last user-agent line.

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
        "By its draft {key} ends the list of user-agent lines, by RFC 9309 it does not: whether "
        "{names} share a group depends on the parser."
    )
    reference = "RFC 9309 §2.1, §2.2.4; draft-ietf-aipref-attach §3; plan-b §2; AMB-29"

    def check(self, subject: Subject) -> Iterator[LintNote]:
        """Yield the first such record between two user-agent lines of a group."""
        if not any(key in KEYS for key in subject.keys):
            return
        for group in subject.groups:
            if len(group.starts) < 2:
                continue
            starts = {start.line for start in group.starts}
            names = called(group)
            waiting = None
            for record in group.records:
                if record.line > group.starts[-1].line:
                    break
                if record.line not in starts:
                    waiting = waiting or (record if record.key in KEYS else None)
                elif waiting is not None:
                    yield self.note(
                        subject,
                        waiting.key_start,
                        waiting.end,
                        key=KEYS[waiting.key],
                        names=names,
                        related=[related(subject, "the list goes on here", record)],
                    )
                    waiting = None
