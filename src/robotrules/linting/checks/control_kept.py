"""RR113: a control character that Google's parser keeps."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class ControlKept(ParserNote):
    r"""
    What it finds:
        A path pattern or a user-agent value that contains a control character, in profile `google`,
        which keeps it. The other profiles ignore such a line and report `control-character`.

    Why it matters:
        Google's parser compares the control character like any other, so the rule matches hardly
        any URL. RFC 9309 §3 advises to reject it. Editors do not show these characters.

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
    message = (
        "{text} contains a control character: Google's parser keeps it, and crawlers that follow "
        "RFC 9309 ignore the line. Retype the value without it."
    )
    reference = "RFC 9309 §2.2 (REP-2.2-13), §3 (REP-3-05); AMB-05"
    misread = True
