"""RR808: X-Robots-Tag without Robots-Tag."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import PageCheck
from robotrules.linting.context import PageContext
from robotrules.linting.note import LintNote
from robotrules.tags.codes import Carrier


class DeprecatedField(PageCheck):
    """
    What it finds:
        A response with X-Robots-Tag and without Robots-Tag.

    Why it matters:
        X-Robots-Tag works: all vendors document it, and none documents the new name yet. An IETF
        draft gives the field a name without `X-` and a new grammar. To be ready for it, send both
        fields with the same rules.

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
        "An IETF draft renames X-Robots-Tag to Robots-Tag. Keep X-Robots-Tag, which crawlers read "
        "today, and add Robots-Tag with the same rules."
    )
    reference = "draft-illyes-repext §5.1, §5.3; RTG-5.3-02"

    def check_page(self, page: PageContext) -> Iterator[LintNote]:
        """Yield a note, unless the response also has Robots-Tag."""
        if not page.usage.fields.get(str(Carrier.ROBOTS_TAG)):
            yield from super().check_page(page)
