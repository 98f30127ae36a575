"""RR708: a robots.txt with another charset than UTF-8."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import quote
from robotrules.linting.context import LintContext, Received
from robotrules.linting.note import LintNote
from robotrules.linting.responses import ResponseCheck, is_success

# RFC 9309 §2.3: UTF-8, of which ASCII is a part.
GOOD = ("utf-8", "utf8", "us-ascii", "ascii")


class WrongCharset(ResponseCheck):
    """
    What it finds:
        A robots.txt whose `Content-Type` names another charset than UTF-8. Where all of it is ASCII
        it is good to know and no more, because then both are the same.

    Why it matters:
        RFC 9309 says that the file MUST be UTF-8, and crawlers read it so, whatever the header
        says. A path with other letters than ASCII's, such as `/café/`, then is compared octet by
        octet with something that its author did not write.

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
    message = "The robots.txt is said to be in {charset}, and is read as UTF-8{remark}."
    reference = "RFC 9309 §2.3; REP-2.3-03, AMB-06, AMB-08"

    def check_response(self, context: LintContext, received: Received) -> Iterator[LintNote]:
        """Yield a note for another charset; where it makes no difference, of the lowest level."""
        named = (received.charset or "").strip(" \"'")
        if not named or named.lower() in GOOD or not is_success(received):
            return
        same = context.robots.body.isascii()
        remark = "; all of it is ASCII, which is the same in both" if same else ""
        yield self.about_response("info" if same else None, charset=quote(named), remark=remark)
