"""
The checks, one file each: `CHECKS` has them all, by code.

A file is named after the slug of its check; the docstring of the check is its documentation. Checks
do not import each other.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from robotrules.linting.check import Check, PageCheck, ParserNote


def _checks() -> list[Check]:
    checks: list[Check] = []
    for module in iter_modules(__path__):
        members = vars(import_module(f"{__name__}.{module.name}"))
        checks += [
            member()
            for member in members.values()
            if isinstance(member, type) and issubclass(member, Check) and member.code
        ]
    return sorted(checks, key=lambda check: check.code)


CHECKS: tuple[Check, ...] = tuple(_checks())
__all__ = ["CHECKS", "Check", "PageCheck", "ParserNote"]
