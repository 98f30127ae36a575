"""RR521: the name of a server where a path pattern belongs."""

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
        A rule whose pattern starts with the name of a server, such as `www.example.com`.

    Why it matters:
        Rules are compared with the path of a URL, which starts with `/`, after the server's name.
        So the rule matches nothing. A robots.txt is for the server that it is fetched from; what
        others should do is for their own robots.txt to say. There is a fix where the name is known
        to be that server's: the file was fetched from there, or `--url` says so.

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
    message = "{text} starts with the name of a server and not with '/', so it never matches{cure}."
    reference = "RFC 9309 §2.2.2, §2.3; AMB-03"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules that start with such a name."""
        for key in ("allow", "disallow"):
            for record in context.records(key):
                if record.value[:1] not in b"/*" and is_authority(record.value):
                    cure = suggest_path(context, record)
                    more: dict[str, Any] = {"text": quote(record.value), "cure": cure.words}
                    yield self.about(context, record, fix=cure.fix, **more)
