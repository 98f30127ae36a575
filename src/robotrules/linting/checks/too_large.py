"""RR606: a value with too many members."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class TooLarge(ParserNote):
    """
    What it finds:
        An `App-Directives` or `Content-Usage` record with more than 1,024 members, or a member with
        more than 256 parameters.

    Why it matters:
        RFC 9651 asks parsers for that much and for no more. A longer value is read by some and
        dropped whole by others, so nobody can count on it.

    Example:
        A record that names thousands of applications in one line.

    Instead:
        Use several records: lines of one group with the same path are read as one list.

            User-agent: *
            App-Directives: examplesearch;widgets=?0
            App-Directives: othersearch;widgets=?0
    """

    code = "RR606"
    slug = "too-large"
    level = "error"
    message = "The value has more members or parameters than are read, so the record is not used."
    reference = "RFC 9651 §3.1, §3.1.2, §3.2"
