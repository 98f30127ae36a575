"""RR111: a NUL at which the parser stops reading a line."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class Nul(ParserNote):
    r"""
    What it finds:
        A NUL in a line, in profile `google`, which reads the line up to the NUL. The other profiles
        ignore the whole line; `control-character` reports that.

    Why it matters:
        Google's parser stops at the NUL, so it reads `/a\x00b` as `/a`, which matches more URLs
        than was meant. Other parsers ignore the rule. A NUL is a sign of a damaged file, or of one
        that is not UTF-8.

    Example:
            User-agent: *
            Disallow: /a\x00b

    Instead:
            User-agent: *
            Disallow: /a/b
    """

    code = "RR111"
    slug = "nul"
    level = "error"
    message = (
        "Google's parser ignores the rest of the line after this NUL character. Remove the NUL."
    )
    reference = "RFC 9309 §3 (REP-3-05); AMB-05"
    misread = True
