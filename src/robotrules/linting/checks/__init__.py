"""
The checks, one file each: `CHECKS` has them all, by code.

A file is called after the slug of its check. What a check teaches is its docstring. None of them
knows another.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from robotrules.linting.check import Check, PageCheck, ParserNote


def _checks() -> list[Check]:
    found: list[Check] = []
    for module in iter_modules(__path__):
        content = vars(import_module(f"{__name__}.{module.name}"))
        found += [
            one()
            for one in content.values()
            if isinstance(one, type) and issubclass(one, Check) and one.code
        ]
    return sorted(found, key=lambda check: check.code)


CHECKS: tuple[Check, ...] = tuple(_checks())
__all__ = ["CHECKS", "Check", "PageCheck", "ParserNote"]
