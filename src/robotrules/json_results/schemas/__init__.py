"""
JSON Schemas (2020-12) of the results: one file for each command, `NAME.schema.json`.

They describe what `--json` prints and what the HTTP API answers.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

__all__ = ["load_schema", "schema_names"]

_SUFFIX = ".schema.json"


def schema_names() -> list[str]:
    """Return the names of all schemas."""
    found = (entry.name for entry in files(__name__).iterdir())
    return sorted(name.removesuffix(_SUFFIX) for name in found if name.endswith(_SUFFIX))


def load_schema(name: str) -> dict[str, Any]:
    """Return a schema by its name, such as `explain`."""
    text = (files(__name__) / f"{name}{_SUFFIX}").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
