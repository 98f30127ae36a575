"""RR845: a meta element that looks like one for robots."""

from __future__ import annotations

from robotrules.linting.check import PageCheck


class NotACarrier(PageCheck):
    """
    What it finds:
        A meta element with `http-equiv="X-Robots-Tag"`, `property="robots"` or `itemprop="robots"`.

    Why it matters:
        No document defines these. A header field is sent by the server; an element cannot stand in
        for it.

    Example:
            <meta http-equiv="X-Robots-Tag" content="noindex">

    Instead:
            <meta name="robots" content="noindex">
    """

    code = "RR845"
    slug = "not-a-carrier"
    level = "warning"
    message = "Only the attribute 'name' makes a robots meta element: this one is read by nobody."
    reference = "draft-illyes-repext §3.1.2; AMB-91"
