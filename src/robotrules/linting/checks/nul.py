"""RR111: a NUL that ends what is read of a line."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class Nul(ParserNote):
    r"""
    What it finds:
        A NUL in a line, in profile `google`, which reads the line up to there. The other profiles
        do not use such a line at all: that is `control-character`.

    Why it matters:
        Google's parser stops at the NUL, so `/a\x00b` is `/a` there, which matches more than was
        written. Elsewhere the rule is not used. A NUL comes from a broken file, or from one that is
        not UTF-8.

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
    message = "A NUL ends the line here: what follows it is not read."
    reference = "RFC 9309 §3 (REP-3-05); AMB-05"
    misread = True
