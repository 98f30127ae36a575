"""RR671: a Clean-param record without a parameter."""

from __future__ import annotations

from robotrules.linting.check import ValueNote


class BadCleanParam(ValueNote):
    """
    What it finds:
        A `Clean-param` record that names no query parameter.

    Why it matters:
        The record tells Yandex which parameters of a URL change nothing on the page, so that it
        reads the page once and not once for each value. Without a name it says nothing.

    Example:
            Clean-param: &

    Instead:
            Clean-param: ref&sid /shop/
    """

    code = "RR671"
    slug = "bad-clean-param"
    level = "error"
    message = "The value names no query parameter, so the record is not used."
    reference = "Yandex, Clean-param; REC-clean-param-01"
