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
        A rule with a complete URL, including `https://`.

    Why it matters:
        A robots.txt applies to the origin that it is fetched from, and crawlers compare its rules
        with the path of a URL. A pattern with a scheme never matches, so the rule has no effect.
        Rules for another origin, even `www.` or `http:` of the same site, belong in the robots.txt
        of that origin. There is a fix if the host is known to be that of the file: because the file
        was fetched from there, or by `--url`.

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
        "{url_text} is a URL, but crawlers compare rules with the path only, so it matches no "
        "URL{advice}."
    )
    reference = "RFC 9309 §2.2.2, §2.3; AMB-03"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules with a URL."""
        for key in ("allow", "disallow"):
            for record in context.records(key):
                if record.value[:1] in b"hH" and is_url(record.value):
                    suggestion = suggest_path(context, record)
                    more: dict[str, Any] = {
                        "url_text": quote(record.value),
                        "advice": suggestion.words,
                    }
                    yield self.about(context, record, fix=suggestion.fix, **more)
