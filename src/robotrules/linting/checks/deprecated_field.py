"""RR808: X-Robots-Tag without Robots-Tag."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import PageCheck
from robotrules.linting.context import Page
from robotrules.linting.note import LintNote
from robotrules.tags.codes import Carrier


class DeprecatedField(PageCheck):
    """
    What it finds:
        A response with X-Robots-Tag and without Robots-Tag.

    Why it matters:
        Nothing is broken. All vendors document X-Robots-Tag, and none the new name yet. A draft of
        the IETF gives the field a name without `X-` and a grammar of its own; who wants to be ready
        sends both, with the same rules.

    Example:
            X-Robots-Tag: noindex

    Instead:
            X-Robots-Tag: noindex
            Robots-Tag: *;noindex
    """

    code = "RR808"
    slug = "deprecated-field"
    level = "info"
    message = (
        "A draft renames X-Robots-Tag to Robots-Tag; crawlers know the old name, so keep it, and "
        "add the new one."
    )
    reference = "draft-illyes-repext §5.1, §5.3; RTG-5.3-02"

    def check_page(self, page: Page) -> Iterator[LintNote]:
        """Yield a note, unless the new name is sent beside the old one."""
        if not page.usage.fields.get(str(Carrier.ROBOTS_TAG)):
            yield from super().check_page(page)
