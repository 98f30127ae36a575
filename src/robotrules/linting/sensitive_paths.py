"""
Sensitive paths: words in a path that suggest content not meant for the public.

Anyone can read a robots.txt and the tags of a page (RFC 9309 §3), so a path such as `/backups/` or
`/intranet/` in them discloses that it may exist.
"""

from __future__ import annotations

import re

# Not paths that every site has: `/admin/` and `/login` disclose nothing.
SENSITIVE_WORDS = frozenset(
    (
        *("backup", "backups", "bak", "confidential", "credentials", "dump", "dumps", "hidden"),
        *("internal", "intranet", "passwd", "password", "passwords", "payroll", "private"),
        *("salaries", "salary", "secret", "secrets", "staging", "unreleased"),
    )
)
_WORD = re.compile(r"[a-z]+")


def find_sensitive_word(path: str) -> str | None:
    """Return the first sensitive word of a path; None: there is none."""
    words = _WORD.findall(path.lower())
    return next((word for word in words if word in SENSITIVE_WORDS), None)
