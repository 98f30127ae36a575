"""RR521: a host name where a path pattern belongs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.value_shapes import is_authority, suggest_path


class HostInPattern(Check):
    """
    What it finds:
        A rule whose pattern starts with a host name, such as `www.example.com`.

    Why it matters:
        Crawlers compare rules with the path of a URL, which starts with the `/` after the host
        name. So the rule matches no URL. A robots.txt applies only to the host that it is fetched
        from; rules for other hosts belong in their robots.txt. The note has a fix if the name is
        known to be that host: the file was fetched from there, or `--url` names it.

    Example:
            User-agent: *
            Disallow: www.example.com/search

    Instead:
            User-agent: *
            Disallow: /search
    """

    code = "RR521"
    slug = "host-in-pattern"
    level = "error"
    message = (
        "{text} starts with a host name and not with '/', so it matches no URL for any "
        "crawler{advice}."
    )
    reference = "RFC 9309 §2.2.2, §2.3; AMB-03"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules that start with a host name."""
        for key in ("allow", "disallow"):
            for record in context.records(key):
                if record.value[:1] not in b"/*" and is_authority(record.value):
                    advice = suggest_path(context, record)
                    words = "; write only the path" if advice.fix else advice.words
                    more: dict[str, Any] = {"text": quote(record.value), "advice": words}
                    yield self.about(context, record, fix=advice.fix, **more)
