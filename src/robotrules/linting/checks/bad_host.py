"""RR672: a Host record that names none."""

from __future__ import annotations

from robotrules.linting.check import ValueNote


class BadHost(ValueNote):
    """
    What it finds:
        A `Host` record whose value is no name of a host: with a path behind it, or with blanks in
        it.

    Why it matters:
        The record told Yandex which of several mirrors a site prefers. Yandex gave it up in 2018 in
        favour of redirects, so a broken one is no loss; take it out.

    Example:
            Host: https://www.example.com/shop/

    Instead:
        A redirect from the other mirrors does what the record did. If it stays:

            Host: www.example.com
    """

    code = "RR672"
    slug = "bad-host"
    level = "error"
    message = "{text} is no host, so the record is not used."
    reference = "Yandex, Host (until 2018); REC-host-01"
