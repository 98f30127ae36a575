"""RR708: a robots.txt with another charset than UTF-8."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import quote
from robotrules.linting.context import LintContext, ServedResponse
from robotrules.linting.note import LintNote
from robotrules.linting.responses import ResponseCheck, is_success

# RFC 9309 §2.3: UTF-8, which includes ASCII.
GOOD = ("utf-8", "utf8", "us-ascii", "ascii")


class WrongCharset(ResponseCheck):
    """
    What it finds:
        A robots.txt whose `Content-Type` declares another charset than UTF-8. If the file is all
        ASCII, the note is for information only, because both charsets agree.

    Why it matters:
        RFC 9309 says that the file MUST be UTF-8, and crawlers read it as UTF-8, whatever the
        header says. A path with letters outside ASCII, such as `/café/`, then does not match the
        URLs that its author meant.

    Example:
            HTTP/1.1 200 OK
            Content-Type: text/plain; charset=iso-8859-1

            User-agent: *
            Disallow: /caf\xe9/

    Instead:
            HTTP/1.1 200 OK
            Content-Type: text/plain; charset=utf-8

            User-agent: *
            Disallow: /café/
    """

    code = "RR708"
    slug = "wrong-charset"
    level = "error"
    message = (
        "The response declares the charset {charset}, but crawlers read a robots.txt as "
        "UTF-8{remark}. Use UTF-8 and declare it."
    )
    reference = "RFC 9309 §2.3; REP-2.3-03, AMB-06, AMB-08"

    def check_response(self, context: LintContext, received: ServedResponse) -> Iterator[LintNote]:
        """Yield a note for another charset; an info if it makes no difference."""
        named = (received.charset or "").strip(" \"'")
        if not named or named.lower() in GOOD or not is_success(received):
            return
        same = context.robots.body.isascii()
        remark = "; this file is all ASCII, so it makes no difference" if same else ""
        yield self.about_response("info" if same else None, charset=quote(named), remark=remark)
