"""The tree builders of the tests: each of them, with the other hidden."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

BUILDERS = ("selectolax", "justhtml")
MODULES = {"selectolax": ("selectolax", "selectolax.lexbor"), "justhtml": ("justhtml",)}


@contextmanager
def only(*wanted: str) -> Iterator[None]:
    """Hide the tree builders that are not *wanted*: importing them fails as if not installed."""
    hidden = [module for name in BUILDERS if name not in wanted for module in MODULES[name]]
    kept = {module: sys.modules.get(module) for module in hidden}
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for module, was in kept.items():
            if was is None:
                del sys.modules[module]
            else:
                sys.modules[module] = was
