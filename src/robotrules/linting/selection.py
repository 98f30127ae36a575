"""
Selection: the checks that run, by the names that are selected and ignored.

A check is named by its code (`RR501`), the beginning of codes (`RR5`), or its slug (`dead-rule`);
`ALL` names all of them. This module runs no check.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from robotrules.errors import CheckError
from robotrules.linting.check import Check
from robotrules.linting.checks import CHECKS

ALL = "all"


def find_check(name: str) -> Check | None:
    """Return the check with a code or slug, compared without case."""
    name = name.strip().lower()
    for check in CHECKS:
        if name in (check.code.lower(), check.slug):
            return check
    return None


def select_checks(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> tuple[Check, ...]:
    """
    Return the checks that are selected and not ignored, by code; without *select*, all but those.

    Raises `CheckError` for a name that matches no check.
    """
    selected, ignored = _resolve(select, "select"), _resolve(ignore, "ignore")
    return tuple(
        check
        for check in CHECKS
        if (not selected or check.code in selected) and check.code not in ignored
    )


def _resolve(names: Iterable[str], option: str) -> set[str]:
    """Return the codes of the checks that some names match."""
    if isinstance(names, str):
        raise TypeError(f"{option} is a list of names: pass [{names!r}]")
    resolved: set[str] = set()
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
            raise CheckError(_describe_unknown(name, option))
        resolved |= codes
    return resolved


def _describe_unknown(name: object, option: str) -> str:
    known = [name for check in CHECKS for name in (check.code.lower(), check.slug)]
    close = get_close_matches(str(name).lower(), known, 1)
    check = find_check(close[0]) if close else None
    hint = f"did you mean {check.code} ({check.slug})?" if check else "see robotrules rule --all"
    return f"{option} names {name!r}, which is not a check: {hint}"
