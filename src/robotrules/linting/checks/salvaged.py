"""RR802: a Robots-Tag field that fails to parse behind its first members."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class Salvaged(PageCheck):
    """
    What it finds:
        A Robots-Tag field that is no List of Structured Fields, of which a beginning can be read
        all the same.

    Why it matters:
        A parser that keeps to RFC 9651 drops the whole field for one slip in it: a comma or
        semicolon at the end, blanks around `=`, a colon. What you asked for is then asked of
        nobody. This project reads the members before the slip, because a rule can only restrict.

    Example:
            Robots-Tag: *;noindex, ExampleBot;max-snippet = 20

    Instead:
            Robots-Tag: *;noindex, ExampleBot;max-snippet=20
    """

    code = "RR802"
    slug = "salvaged"
    level = "error"
    message = (
        "The field fails to parse, and by the letter of RFC 9651 none of it counts; only some "
        "crawlers read what stands before the failure."
    )
    reference = "draft-illyes-repext §3.1.1; RFC 9651 §4.2; AMB-67"
