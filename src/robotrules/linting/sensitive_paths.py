"""
Telling paths: those whose words say that something is there which strangers should not find.

A robots.txt and the tags of a page are for everybody to read (RFC 9309 §3). A path such as
`/backups/` or `/intranet/` in them is a signpost. It does not know whether such a path exists.
"""

from __future__ import annotations

import re

# What names a secret, and not what every site has: `/admin/` and `/login` are no news to anybody.
TELLING = frozenset(
    (
        *("backup", "backups", "bak", "confidential", "credentials", "dump", "dumps", "hidden"),
        *("internal", "intranet", "passwd", "password", "passwords", "payroll", "private"),
        *("salaries", "salary", "secret", "secrets", "staging", "unreleased"),
    )
)
_WORD = re.compile(r"[a-z]+")


def telling(path: str) -> str | None:
    """Return the first word of a path that gives something away; None: there is none."""
    words = _WORD.findall(path.lower())
    return next((word for word in words if word in TELLING), None)
