"""RR606: a value with too many members."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class TooLarge(ParserNote):
    """
    What it finds:
        An `App-Directives` or `Content-Usage` record with more than 1,024 members, or a member with
        more than 256 parameters.

    Why it matters:
        RFC 9651 requires parsers to support that many and no more. Some parsers read a longer
        value, others ignore all of it.

    Example:
        A record that names thousands of applications in one line.

    Instead:
        Use several records: records of a group with the same path are read as one list.

            User-agent: *
            App-Directives: examplesearch;widgets=?0
            App-Directives: othersearch;widgets=?0
    """

    code = "RR606"
    slug = "too-large"
    level = "error"
    message = (
        "The value has more members or parameters than RFC 9651 requires parsers to read, so "
        "crawlers may ignore the record. Split it into several records."
    )
    reference = "RFC 9651 §3.1, §3.1.2, §3.2"
