"""RR803: tags that are longer than is read."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import PageCheck
from robotrules.linting.context import Page
from robotrules.tags.codes import TagNote
from robotrules.tags.profile import DEFAULT


class FieldCut(PageCheck):
    """
    What it finds:
        A Robots-Tag or X-Robots-Tag field, or the content of robots meta elements, beyond the limit
        that is read.

    Why it matters:
        The draft has crawlers read at least 8 KiB of a field and lets them ignore the rest. Rules
        behind that are in force for some and not for others. So long a field mostly names hundreds
        of crawlers, and one `*` would do.

    Example:
        A field that names a thousand crawlers one by one.

    Instead:
            Robots-Tag: *;noindex
            X-Robots-Tag: noindex
    """

    code = "RR803"
    slug = "field-cut"
    level = "error"
    message = "What goes beyond {limit:,} bytes is not read, and neither is what the limit cuts."
    reference = "draft-illyes-repext §3.1.1, §4; AMB-68, AMB-69"

    def words(self, page: Page, note: TagNote) -> dict[str, Any]:
        """Say how much is read here."""
        return {"limit": DEFAULT.max_field_bytes}
