"""RR107: an HTML page where a robots.txt should be."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class LooksLikeHtml(ParserNote):
    """
    What it finds:
        A file whose first sign is `<`, as an HTML or XML page has it. What else lint says about
        single lines is kept back then.

    Why it matters:
        Most often it is an error page, a login page or a start page that the server sends for
        `/robots.txt` with status 200. Crawlers look for records in it and find none, which allows
        everything. If there are rules between the tags they may count: no parser has to read tags.

    Example:
            <!DOCTYPE html>
            <title>Not found</title>

    Instead:
        Serve plain text. Where there is no robots.txt, answer with status 404, which allows
        everything too and says so:

            User-agent: *
            Disallow:
    """

    code = "RR107"
    slug = "looks-like-html"
    level = "error"
    message = "The file starts like an HTML page: crawlers find no rules in one."
    reference = "RFC 9309 §2.3 (REP-2.3-04), §2.3.1.5; AMB-19"
