"""RR107: an HTML page where a robots.txt should be."""

from __future__ import annotations

from robotrules.linting.check import ParserNote


class LooksLikeHtml(ParserNote):
    """
    What it finds:
        A file whose first character is `<`, as in an HTML or XML page. Lint then reports nothing
        else about single lines.

    Why it matters:
        Usually it is an error page, a login page or a home page that the server sends for
        `/robots.txt` with status 200. Crawlers look for records in it and find none, which allows
        every URL. Rules between the tags may apply, because parsers need not understand tags.

    Example:
            <!DOCTYPE html>
            <title>Not found</title>

    Instead:
        Serve plain text. If the site has no robots.txt, answer with status 404, which also allows
        every URL:

            User-agent: *
            Disallow:
    """

    code = "RR107"
    slug = "looks-like-html"
    level = "error"
    message = (
        "The file starts like an HTML page, in which crawlers find no rules. Serve plain text, or "
        "status 404 if the site has no robots.txt."
    )
    reference = "RFC 9309 §2.3 (REP-2.3-04), §2.3.1.5; AMB-19"
