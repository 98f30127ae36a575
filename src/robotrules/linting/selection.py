"""
Choosing: which checks run, by what somebody selected and ignored.

A check is named by its code (`RR501`), the beginning of codes (`RR5`), or its slug (`dead-rule`);
`ALL` is all of them. It does not run any.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from robotrules.errors import CheckError
from robotrules.linting.check import Check
from robotrules.linting.checks import CHECKS

ALL = "all"


def find(name: str) -> Check | None:
    """Return the check of a code or a slug; case does not matter."""
    name = name.strip().lower()
    for check in CHECKS:
        if name in (check.code.lower(), check.slug):
            return check
    return None


def chosen(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> tuple[Check, ...]:
    """
    Return the checks that are selected and not ignored, by code; without *select*, of all.

    Raises `CheckError` for a name that is nobody's.
    """
    selected, ignored = _named(select, "select"), _named(ignore, "ignore")
    return tuple(
        check
        for check in CHECKS
        if (not selected or check.code in selected) and check.code not in ignored
    )


def _named(names: Iterable[str], what: str) -> set[str]:
    if isinstance(names, str):
        raise TypeError(f"{what} is a list of names: pass [{names!r}]")
    found: set[str] = set()
    for name in names:
        plain = name.strip().lower() if isinstance(name, str) else ""
        codes = {
            check.code
            for check in CHECKS
            if plain == ALL
            or plain == check.slug
            or (plain and check.code.lower().startswith(plain))
        }
        if not codes:
            raise CheckError(_nobody(name, what))
        found |= codes
    return found


def _nobody(name: object, what: str) -> str:
    known = [name for check in CHECKS for name in (check.code.lower(), check.slug)]
    close = get_close_matches(str(name).lower(), known, 1)
    check = find(close[0]) if close else None
    hint = f"did you mean {check.code} ({check.slug})?" if check else "see robotrules rule --all"
    return f"{what} names {name!r}, which is no check: {hint}"
