"""RR664: a request rate that is none."""

from __future__ import annotations

from robotrules.linting.check import ValueNote


class BadRequestRate(ValueNote):
    """
    What it finds:
        A `Request-rate` record whose value is not a number of requests, a slash, and a time:
        seconds, or a number with `s`, `m`, `h` or `d`; perhaps with hours of the day in UTC behind
        it.

    Why it matters:
        Few crawlers read the record at all, and those that do skip a value of another form.

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
    message = "{text} is no request rate such as '1/10m', so it is not used."
    reference = "S. Conner, An Extended Standard for Robot Exclusion (1996); REC-request-rate-01"
