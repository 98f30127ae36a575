"""RR845: a meta element that only looks like a robots meta element."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class NotACarrier(PageCheck):
    """
    What it finds:
        A meta element with `http-equiv="X-Robots-Tag"`, `property="robots"` or `itemprop="robots"`.

    Why it matters:
        No specification defines these, and a meta element cannot replace a header field of the
        response.

    Example:
            <meta http-equiv="X-Robots-Tag" content="noindex">

    Instead:
            <meta name="robots" content="noindex">
    """

    code = "RR845"
    slug = "not-a-carrier"
    level = "warning"
    message = (
        "All crawlers ignore this element: a robots meta element needs the attribute 'name'. Write "
        'name="robots".'
    )
    reference = "draft-illyes-repext §3.1.2; AMB-91"
