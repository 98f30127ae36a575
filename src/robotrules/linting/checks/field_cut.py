"""RR803: tags that are longer than the limit for parsing."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import PageCheck
from robotrules.linting.context import PageContext
from robotrules.tags.codes import TagNote
from robotrules.tags.profile import DEFAULT


class FieldCut(PageCheck):
    """
    What it finds:
        A Robots-Tag or X-Robots-Tag field, or the content of robots meta elements, that is longer
        than the limit for parsing.

    Why it matters:
        The draft requires crawlers to read at least 8 KiB of a field and lets them ignore the rest.
        Rules after that apply to some crawlers and not to others. A field of this length usually
        names hundreds of crawlers where one `*` is enough.

    Example:
        A field that names a thousand crawlers one by one.

    Instead:
            Robots-Tag: *;noindex
            X-Robots-Tag: noindex
    """

    code = "RR803"
    slug = "field-cut"
    level = "error"
    message = (
        "Rules after the first {limit:,} bytes are ignored, and so is a rule that this limit cuts. "
        "Shorten the value: crawlers may read as little as 8 KiB."
    )
    reference = "draft-illyes-repext §3.1.1, §4; AMB-68, AMB-69"

    def words(self, page: PageContext, note: TagNote) -> dict[str, Any]:
        """Return the limit."""
        return {"limit": DEFAULT.max_field_bytes}
