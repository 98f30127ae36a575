"""
The definitions of the tables: one TOML file each, with rows, repeats and bars.

In a quick run a file's `[quick]` table replaces its values.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

__all__ = ["NAMES", "load_definition"]

NAMES = (
    *("real", "batches", "bulk", "rules", "scoped", "html", "cached", "prefetch", "analysis"),
    *("pathological", "process"),
)


def load_definition(name: str, quick: bool = False) -> dict[str, Any]:
    """Return the definition of a table."""
    with Path(__file__).with_name(f"{name}.toml").open("rb") as file:
        definition = tomllib.load(file)
    overrides = definition.pop("quick", {})
    return definition | overrides if quick else definition
