"""JSON: the output is exactly what `lint.schema.json` describes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from robotrules.json_results.schemas import load_schema
from robotrules.linting.render import LintedFile
from robotrules.linting.render.json_form import as_json, statistics
from tests.cli.schema import objects, problems
from tests.lint.rendered import hostile_file, large_file, lint_file

ROOT = Path(__file__).parents[2]
SCHEMA = load_schema("lint")

FILES = {
    "nothing": [],
    "notes": [lint_file()],
    "fixed": [lint_file(fixed=lint_file().notes)],
    "trouble": [LintedFile(b"there is none", error="cannot read it")],
    "url": [lint_file(is_file=False, where=b"https://example.com/robots.txt")],
    "hostile": [hostile_file(), lint_file()],
}


@pytest.mark.parametrize("files", FILES.values(), ids=FILES)
def test_the_output_matches_the_schema(files: list[LintedFile]) -> None:
    """Every value is described by the schema, and the output can be parsed."""
    value = as_json(files)
    assert list(problems(value, SCHEMA)) == []
    assert json.loads(json.dumps(value)) == value


@pytest.mark.parametrize("files", FILES.values(), ids=FILES)
def test_another_validator_agrees(files: list[LintedFile]) -> None:
    """The schema is valid JSON Schema 2020-12, and the output matches it."""
    from importlib import import_module

    validator = import_module("jsonschema").Draft202012Validator
    validator.check_schema(SCHEMA)
    assert list(validator(SCHEMA).iter_errors(as_json(files))) == []


def test_the_schema_is_closed() -> None:
    """Objects have only the described keys, and list the required ones."""
    for schema in objects(SCHEMA):
        if schema.get("type") == "object":
            assert schema["additionalProperties"] is False
            assert schema["required"] == list(schema["properties"])


def test_a_missing_key_fails() -> None:
    """The schema can fail."""
    value = as_json([lint_file()])
    del value["files"][0]["notes"][0]["fix"]
    value["files"][0]["more"] = 1
    assert sorted(problems(value, SCHEMA)) == [
        "$.files[0] has more",
        "$.files[0].notes[0] lacks fix",
    ]


def test_counts() -> None:
    """By level for each file and in total, and by check, most frequent first."""
    value = as_json([lint_file(), lint_file()._replace(notes=lint_file().notes[:1])])
    assert value["counts"] == {"error": 2, "warning": 1, "info": 0}
    assert [one["counts"]["error"] for one in value["files"]] == [1, 1]
    assert value["statistics"] == statistics(
        [lint_file(), lint_file()._replace(notes=lint_file().notes[:1])]
    )
    assert [(one["slug"], one["count"]) for one in value["statistics"]] == [
        ("pattern-start", 2),
        ("dead-rule", 1),
    ]


def test_stdin_is_neither_file_nor_url() -> None:
    """Both are null."""
    [one] = as_json([lint_file(where=b"stdin", is_file=False)])["files"]
    assert (one["file"], one["url"]) == (None, None)


def test_very_many_notes() -> None:
    """There is no limit."""
    assert len(as_json([large_file()])["files"][0]["notes"]) == 100_000
