"""RR618: an app directive that a later record overrides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robotrules.extensions.app_lines import KEYS, read_line
from robotrules.http.structured_fields import value_type
from robotrules.linting.check import Check, quote, relate
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.octets import to_text
from robotrules.robotstxt import normalize_path
from robotrules.robotstxt.values import Record


class OverriddenDirective(Check):
    """
    What it finds:
        Two `App-Directives` records of the same groups and the same path that give an app directive
        different values.

    Why it matters:
        Records with the same path are read as one list, in which the later value of a name replaces
        the earlier one. The first value has no effect.

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
    message = (
        "{name} has no effect here: line {line} gives it another value for the same path. Remove "
        "one of the two."
    )
    reference = "draft-nottingham-plan-b §2; AMB-105"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the records with a value that a later record of the same path replaces."""
        records = context.records(*KEYS)
        regrouped = context.robots.grouped_for(KEYS[0])
        star = frozenset(regrouped.select_groups("*").indices) if records else frozenset()
        stated: dict[tuple[Any, ...], tuple[Any, Record]] = {}
        reported: set[int] = set()
        for record in records:
            line = read_line(record, context.robots)
            group = context.document_groups[record.line]
            group = None if group in star else group
            path = None if line.path is None else normalize_path(to_text(line.path))
            for application, members in line.parameters.items():
                for name, value in (item for member in members for item in member.items()):
                    key = group, path, application, name
                    current = value_type(value), value
                    before, earlier = stated.get(key, (current, record))
                    stated[key] = current, record
                    is_other = before != current and earlier.line != record.line
                    if is_other and earlier.line not in reported:
                        reported.add(earlier.line)
                        yield self.about(
                            context,
                            earlier,
                            line=record.line,
                            name=quote(f"{application};{name}"),
                            related=[relate("applies", record)],
                        )
