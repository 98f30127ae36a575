"""
What is measured, as data: one TOML file for each table, with its rows, repeats and bars.

A file's `[quick]` table replaces its values when a quick run is asked for.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

__all__ = ["NAMES", "definition"]

NAMES = (
    *("real", "batches", "rules", "scoped", "html", "cached", "prefetch", "analysis"),
    *("pathological", "process"),
)


def definition(name: str, quick: bool = False) -> dict[str, Any]:
    """The definition of that name."""
    with Path(__file__).with_name(f"{name}.toml").open("rb") as file:
        found = tomllib.load(file)
    replacing = found.pop("quick", {})
    return found | replacing if quick else found
