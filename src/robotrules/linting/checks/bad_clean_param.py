"""RR671: a Clean-param record without a parameter."""

from __future__ import annotations

from robotrules.linting.check import ValueNote


class BadCleanParam(ValueNote):
    """
    What it finds:
        A `Clean-param` record that names no query parameter.

    Why it matters:
        The record tells Yandex which query parameters do not change the page, so that it fetches
        the page once and not once for each value. Without a name the record has no effect.

    Example:
            Clean-param: &

    Instead:
            Clean-param: ref&sid /shop/
    """

    code = "RR671"
    slug = "bad-clean-param"
    level = "error"
    message = (
        "The record names no query parameter, so it has no effect for Yandex. Name one, as in "
        "'Clean-param: ref /shop/'."
    )
    reference = "Yandex, Clean-param; REC-clean-param-01"
