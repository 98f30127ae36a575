"""RR805: a Robots-Tag line without a value."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class EmptyFieldLine(PageCheck):
    """
    What it finds:
        A Robots-Tag field line with nothing after the colon.

    Why it matters:
        Field lines of one name are joined with commas before they are parsed, and an extra comma is
        an error in a Structured Field. Some servers send such a line when a setting is empty.

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
        "An empty Robots-Tag line makes the whole field invalid for parsers that follow RFC 9651 "
        "strictly. Do not send the line."
    )
    reference = "RFC 9651 §4.2; RFC 9110 §5.6.1.2; AMB-70"
