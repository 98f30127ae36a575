"""RR672: a Host record whose value is not a host name."""

from __future__ import annotations

from robotrules.linting.check import ValueNote


class BadHost(ValueNote):
    """
    What it finds:
        A `Host` record whose value is not a host name: it has a path after the name, or spaces in
        it.

    Why it matters:
        The record told Yandex which of several mirrors a site prefers. Yandex replaced it with
        redirects in 2018, so you can remove the record.

    Example:
            Host: https://www.example.com/shop/

    Instead:
        Redirect the other mirrors to the preferred host. If you keep the record:

            Host: www.example.com
    """

    code = "RR672"
    slug = "bad-host"
    level = "error"
    message = (
        "{text} is not a host name, so the record is ignored. Remove it: Yandex stopped reading "
        "Host records in 2018."
    )
    reference = "Yandex, Host (until 2018); REC-host-01"
