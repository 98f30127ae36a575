"""RR613: an application that no registry knows."""

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
        An application in an `App-Directives` record that is in no registry that lint was given.
        Where no registry has any entry, as with the one that comes with this package, nothing is
        reported.

    Why it matters:
        Registration is not needed: an application may read a record that names it, registered or
        not. But a name that nobody registered may be a slip of the pen, and case counts:
        `ExampleSearch` is not `examplesearch`.

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
        "No registry that was loaded knows {names}; who goes by such a name may read the record "
        "all the same."
    )
    reference = "draft-nottingham-plan-b §1.1, §3.1; APP-1.1-01"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield such records, where a registry has anything to compare with."""
        if len(context.registries.applications):
            yield from super().check(context)

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Name the applications."""
        registered = context.registries.applications
        names = [name for name in list_applications(context, note) if name not in registered]
        return {"names": join_names([quote(name) for name in names])}
