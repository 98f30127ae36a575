"""RR805: a Robots-Tag line without a value."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class EmptyFieldLine(PageCheck):
    """
    What it finds:
        A Robots-Tag field line with nothing behind the colon.

    Why it matters:
        Lines of one name are joined with commas before they are read, and a comma too many is an
        error in a Structured Field. Some servers send such a line when a setting is empty.

    Example:
            Robots-Tag:
            Robots-Tag: *;noindex

    Instead:
            Robots-Tag: *;noindex
    """

    code = "RR805"
    slug = "empty-field-line"
    level = "info"
    message = (
        "A Robots-Tag line without a value says nothing, and makes the whole field unreadable to "
        "a strict parser."
    )
    reference = "RFC 9651 §4.2; RFC 9110 §5.6.1.2; AMB-70"
