"""RR518: a whole URL where a path pattern belongs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.value_shapes import is_url, suggest_path


class UrlInPattern(Check):
    """
    What it finds:
        A rule with a whole URL, from `https://` on.

    Why it matters:
        A robots.txt is for the one origin that it is fetched from, and its rules are compared with
        what comes after that: the path. A pattern with a scheme in it never matches, so the rule
        does nothing. For another origin, even `www.` or `http:` of the same site, rules belong in
        the robots.txt there. There is a fix where the host is known to be this one: the file was
        fetched from there, or `--url` says so.

    Example:
            User-agent: *
            Disallow: https://example.com/search

    Instead:
            User-agent: *
            Disallow: /search
    """

    code = "RR518"
    slug = "url-in-pattern"
    level = "error"
    message = (
        "{url_text} is a URL; a rule is compared with the path alone, so it never matches{cure}."
    )
    reference = "RFC 9309 §2.2.2, §2.3; AMB-03"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules with a URL."""
        for key in ("allow", "disallow"):
            for record in context.records(key):
                if record.value[:1] in b"hH" and is_url(record.value):
                    cure = suggest_path(context, record)
                    more: dict[str, Any] = {"url_text": quote(record.value), "cure": cure.words}
                    yield self.about(context, record, fix=cure.fix, **more)
