"""RR613: an application that is not in a registry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robotrules.linting.check import ParserNote, join_names, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.scoped_records import list_applications
from robotrules.robotstxt.values import Note


class UnregisteredApplication(ParserNote):
    """
    What it finds:
        An application in an `App-Directives` record that is in none of the loaded registries.
        Nothing is reported if the registries are empty, as the one in this package is.

    Why it matters:
        Registration is optional: an application may read a record that names it, registered or not.
        But an unregistered name may be misspelt, and names are case-sensitive: `ExampleSearch` is
        not `examplesearch`.

    Example:
        With a registry that has `examplesearch`:

            User-agent: *
            App-Directives: ExampleSearch;widgets=?0

    Instead:
            User-agent: *
            App-Directives: examplesearch;widgets=?0
    """

    code = "RR613"
    slug = "unregistered-application"
    level = "info"
    message = (
        "No loaded registry has {names}; an application of that name may still read the record. "
        "Check the spelling."
    )
    reference = "draft-nottingham-plan-b §1.1, §3.1; APP-1.1-01"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield such records, unless the registries are empty."""
        if len(context.registries.applications):
            yield from super().check(context)

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the names of the applications."""
        registered = context.registries.applications
        names = [name for name in list_applications(context, note) if name not in registered]
        return {"names": join_names([quote(name) for name in names])}
