"""RR113: a control character that is kept as data."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class ControlKept(ParserNote):
    r"""
    What it finds:
        A path pattern or a user-agent value with a control character in it, in profile `google`,
        which keeps it. The other profiles do not use such a line: that is `control-character`.

    Why it matters:
        Google's parser compares the control character like any other, so the rule matches next to
        no URL; RFC 9309 §3 advises to reject it. Nobody sees these signs in an editor.

    Example:
            User-agent: *
            Disallow: /old\x01shop/

    Instead:
            User-agent: *
            Disallow: /oldshop/
    """

    code = "RR113"
    slug = "control-kept"
    level = "warning"
    message = "A control character stands in {text}: Google's parser keeps it, others do not."
    reference = "RFC 9309 §2.2 (REP-2.2-13), §3 (REP-3-05); AMB-05"
    misread = True
