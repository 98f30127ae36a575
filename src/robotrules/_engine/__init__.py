"""
Picks the engine: native where it was built, pure everywhere else.

`ROBOTRULES_NO_EXTENSIONS=1` picks the pure one; `ROBOTRULES_REQUIRE_EXTENSIONS=1` makes a missing
native one an error, as the gate does. Both modules have the names of `_native.pyi`, which is their
contract. The pure engine is imported when it is needed: a native start does not pay for it.
"""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType


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
engine: ModuleType = native or import_module("robotrules._engine.pure")


def engine_name() -> str:
    """Return which engine answers: `native` or `pure`."""
    return "native" if native else "pure"


def missing_reason() -> str:
    """Return why the build of this package has no native engine; empty: it was not tried."""
    try:
        path = os.path.join(os.path.dirname(__file__), "no_native.txt")
        with open(path, encoding="utf-8") as file:
            return file.readline().strip()
    except OSError:
        return ""


def __getattr__(name: str) -> ModuleType:
    if name == "pure":
        return import_module("robotrules._engine.pure")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
