"""RR802: a Robots-Tag field with a syntax error after its first members."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class Salvaged(PageCheck):
    """
    What it finds:
        A Robots-Tag field that is not a valid List (Structured Fields), but whose first members can
        be parsed.

    Why it matters:
        A parser that follows RFC 9651 ignores the whole field because of a single error: a final
        comma or semicolon, spaces around `=`, a colon. Your rules then have no effect. This project
        reads the members before the error, because a rule can only restrict.

    Example:
            Robots-Tag: *;noindex, ExampleBot;max-snippet = 20

    Instead:
            Robots-Tag: *;noindex, ExampleBot;max-snippet=20
    """

    code = "RR802"
    slug = "salvaged"
    level = "error"
    message = (
        "The field has a syntax error: crawlers that follow RFC 9651 ignore all of it, others read "
        "the part before the error. Correct the syntax."
    )
    reference = "draft-illyes-repext §3.1.1; RFC 9651 §4.2; AMB-67"
