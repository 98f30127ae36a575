"""
Picks the engine: native where it was built, pure everywhere else.

`ROBOTRULES_NO_EXTENSIONS=1` picks the pure one; `ROBOTRULES_REQUIRE_EXTENSIONS=1` makes a missing
native one an error, as the gate does. Both modules have the names of `_native.pyi`, which is their
contract.
"""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType

from robotrules._engine import pure


def _native_engine() -> ModuleType | None:
    if os.environ.get("ROBOTRULES_NO_EXTENSIONS", "") not in ("", "0"):
        return None
    try:
        return import_module("robotrules._engine._native")
    except ImportError:
        if os.environ.get("ROBOTRULES_REQUIRE_EXTENSIONS", "") not in ("", "0"):
            raise
        return None


native = _native_engine()
engine: ModuleType = native if native is not None else pure


def engine_name() -> str:
    """Return which engine answers: `native` or `pure`."""
    return "pure" if engine is pure else "native"
