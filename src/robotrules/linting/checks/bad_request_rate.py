"""RR664: a Request-rate value that is not a rate."""

from __future__ import annotations

from robotrules.linting.check import ValueNote


class BadRequestRate(ValueNote):
    """
    What it finds:
        A `Request-rate` record whose value is not a number of requests, a slash, and a time:
        seconds, or a number with `s`, `m`, `h` or `d`. Hours of the day in UTC may follow it.

    Why it matters:
        Few crawlers read the record, and those that do ignore a value of any other form.

    Example:
            User-agent: *
            Request-rate: 1 per 10 seconds

    Instead:
            User-agent: *
            Request-rate: 1/10
    """

    code = "RR664"
    slug = "bad-request-rate"
    level = "error"
    message = (
        "{text} is not a request rate, so crawlers ignore it. Write it in a form such as '1/10m'."
    )
    reference = "S. Conner, An Extended Standard for Robot Exclusion (1996); REC-request-rate-01"
