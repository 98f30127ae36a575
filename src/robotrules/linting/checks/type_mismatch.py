"""RR612: an app directive whose value has another type than registered."""

from __future__ import annotations

from typing import Any

from robotrules.extensions.app_lines import Registration
from robotrules.linting.check import ParserNote, join_names, quote
from robotrules.linting.context import LintContext
from robotrules.linting.scoped_records import MOST_NAMED, find_directives
from robotrules.robotstxt.values import Note


class TypeMismatch(ParserNote):
    """
    What it finds:
        An app directive whose value has another type than its application registered: a number
        where a Boolean belongs, for instance.

    Why it matters:
        The application says which type it reads. A value of another type is not applied, and
        nothing else takes its place. Booleans are written `?1` and `?0`; a bare name is true.

    Example:
        Where `widgets` is registered as a Boolean:

            User-agent: *
            App-Directives: examplesearch;widgets=0

    Instead:
            User-agent: *
            App-Directives: examplesearch;widgets=?0
    """

    code = "RR612"
    slug = "type-mismatch"
    level = "error"
    message = "{what}, so the value is not applied."
    reference = "draft-nottingham-plan-b §3.2; APP-3.2-02"

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Say which app directive has which type, and which it should have."""
        found = []
        for application, one in find_directives(context, note, Registration.TYPE_MISMATCH)[
            :MOST_NAMED
        ]:
            entry = context.registries.directives.get((application, one.name))
            wanted = entry.value_type if entry else "another type"
            name = f"{application};{one.name}"
            found.append(f"{quote(name)} has type {one.type} and is registered as {wanted}")
        return {"what": join_names(found)}
