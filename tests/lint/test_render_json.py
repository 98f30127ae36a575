"""JSON: what `docs/lint.schema.json` describes, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robotrules.linting.render import Linted
from robotrules.linting.render.json_form import as_json, statistics
from tests.cli.schema import objects, problems
from tests.lint.rendered import found, hostile, many

ROOT = Path(__file__).parents[2]
SCHEMA: dict[str, Any] = json.loads((ROOT / "docs/lint.schema.json").read_text(encoding="utf-8"))

FILES = {
    "nothing": [],
    "notes": [found()],
    "fixed": [found(fixed=found().notes)],
    "trouble": [Linted(b"there is none", trouble="cannot read it")],
    "url": [found(is_file=False, where=b"https://example.com/robots.txt")],
    "hostile": [hostile(), found()],
}


@pytest.mark.parametrize("files", FILES.values(), ids=FILES)
def test_it_is_as_described(files: list[Linted]) -> None:
    """Every value has its place in the schema; what is written can be read."""
    value = as_json(files)
    assert list(problems(value, SCHEMA)) == []
    assert json.loads(json.dumps(value)) == value


@pytest.mark.parametrize("files", FILES.values(), ids=FILES)
def test_another_reader_of_schemas_says_so_too(files: list[Linted]) -> None:
    """The schema is one of JSON Schema 2020-12, and holds."""
    from importlib import import_module

    validator = import_module("jsonschema").Draft202012Validator
    validator.check_schema(SCHEMA)
    assert list(validator(SCHEMA).iter_errors(as_json(files))) == []


def test_the_schema_leaves_nothing_open() -> None:
    """Objects have the keys that are described, and each says which it must have."""
    for schema in objects(SCHEMA):
        if schema.get("type") == "object":
            assert schema["additionalProperties"] is False
            assert schema["required"] == list(schema["properties"])


def test_what_is_missing_is_found() -> None:
    """The schema can fail."""
    value = as_json([found()])
    del value["files"][0]["notes"][0]["fix"]
    value["files"][0]["more"] = 1
    assert sorted(problems(value, SCHEMA)) == [
        "$.files[0] has more",
        "$.files[0].notes[0] lacks fix",
    ]


def test_counts() -> None:
    """By level in each file and in all, and by check; the most frequent first."""
    value = as_json([found(), found()._replace(notes=found().notes[:1])])
    assert value["counts"] == {"error": 2, "warning": 1, "info": 0}
    assert [one["counts"]["error"] for one in value["files"]] == [1, 1]
    assert value["statistics"] == statistics([found(), found()._replace(notes=found().notes[:1])])
    assert [(one["slug"], one["count"]) for one in value["statistics"]] == [
        ("pattern-start", 2),
        ("dead-rule", 1),
    ]


def test_stdin_is_neither_file_nor_url() -> None:
    """Both are null."""
    [one] = as_json([found(where=b"stdin", is_file=False)])["files"]
    assert (one["file"], one["url"]) == (None, None)


def test_very_many_notes() -> None:
    """There is no limit."""
    assert len(as_json([many()])["files"][0]["notes"]) == 100_000
