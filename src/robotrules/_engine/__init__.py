"""
Selects the engine: the native engine if it was built, otherwise the pure engine.

`ROBOTRULES_NO_EXTENSIONS=1` selects the pure engine; `ROBOTRULES_REQUIRE_EXTENSIONS=1` makes a
missing native engine an error. `_native.pyi` documents the names that both engines have, and lists
the hooks that an engine calls on Python subclasses. The pure engine is imported on first use, so
that a program that uses the native engine does not pay for it.
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
    """Return the name of the engine in use: `native` or `pure`."""
    return "native" if native else "pure"


def missing_reason() -> str:
    """Return why this build has no native engine; empty if the build did not try."""
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
