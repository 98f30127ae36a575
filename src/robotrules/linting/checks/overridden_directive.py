"""RR618: an app directive that a later record gives another value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robotrules.extensions.app_lines import KEYS, read_line
from robotrules.http.structured_fields import value_type
from robotrules.linting.check import Check, quote, related
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.octets import to_text
from robotrules.robotstxt import normalize_path
from robotrules.robotstxt.values import Record


class OverriddenDirective(Check):
    """
    What it finds:
        Two `App-Directives` records of the same groups and the same path that give one app
        directive different values.

    Why it matters:
        Records with one path are read as one list, and in a list the later value of a name replaces
        the earlier. Which of the two was meant, only the site knows; the first has no effect.

    Example:
            User-agent: *
            App-Directives: examplesearch;widgets=?0
            App-Directives: examplesearch;widgets=?1

    Instead:
            User-agent: *
            App-Directives: examplesearch;widgets=?0
            App-Directives: /news/ examplesearch;widgets=?1
    """

    code = "RR618"
    slug = "overridden-directive"
    level = "warning"
    message = "Line {line} gives {name} another value for the same path, and the later one counts."
    reference = "draft-nottingham-plan-b §2; AMB-105"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield records of which a later one of the same path replaces something."""
        records = context.records(*KEYS)
        regrouped = context.robots.grouped_for(KEYS[0])
        star = frozenset(regrouped._choose("*")[0]) if records else frozenset()
        stated: dict[tuple[Any, ...], tuple[Any, Record]] = {}
        told: set[int] = set()
        for record in records:
            line = read_line(record, context.robots)
            group = context.document_groups[record.line]
            group = None if group in star else group
            path = None if line.path is None else normalize_path(to_text(line.path))
            for application, members in line.parameters.items():
                for name, value in (one for member in members for one in member.items()):
                    key = group, path, application, name
                    now = value_type(value), value
                    before, earlier = stated.get(key, (now, record))
                    stated[key] = now, record
                    if before != now and earlier.line != record.line and earlier.line not in told:
                        told.add(earlier.line)
                        yield self.about(
                            context,
                            earlier,
                            line=record.line,
                            name=quote(f"{application};{name}"),
                            related=[related("counts", record)],
                        )
