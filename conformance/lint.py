"""
Check the vector files: `python conformance/lint.py [--write]`.

Prints one line per problem and a count; exits 1 if there is a problem. The fields and their types
come from `schema/vector.schema.json`, which a small validator checks here, so that neither the
suite nor its users need a package. The other checks are code: ids are unique and sorted, cited ids
exist, a comment is one sentence, the formatting is canonical (`--write` fixes order and
formatting). Lint cannot check that a vector is *right*: read the specification.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import suite

TOPICS = (
    *("lines", "records", "groups", "tokens", "octets", "patterns", "limits"),
    *("origins", "access", "cache", *suite.EXTENSION_FOLDERS),
)
WIDTH = 100
# An item that contains lists is split into lines if it is longer than this.
ITEM_WIDTH = 240
SCHEMA = suite.HERE / "schema" / "vector.schema.json"
TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}
KEYWORDS = frozenset(
    [
        "$ref",
        "$defs",
        "$schema",
        "title",
        "description",
        "type",
        "enum",
        "pattern",
        "minLength",
        "minimum",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "anyOf",
    ]
)


def find_schema_problems(schema: dict[str, Any], value: Any, root: Any, at: str) -> Iterator[str]:
    """Yield the departures of *value* from *schema*; supports the keywords of our schema only."""
    unknown = set(schema) - KEYWORDS
    if unknown:
        raise ValueError(f"this validator does not support the keywords {sorted(unknown)}")
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        yield from find_schema_problems(root["$defs"][name], value, root, at)
    if "type" in schema and not _has_type(schema["type"], value):
        yield f"{at}: must be of type {schema['type']}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: must be one of {', '.join(map(str, schema['enum']))}"
    if "anyOf" in schema:
        attempts = [
            list(find_schema_problems(alternative, value, root, at))
            for alternative in schema["anyOf"]
        ]
        if all(attempts):
            yield f"{at}: fits none of {len(attempts)} alternatives ({min(attempts, key=len)[0]})"
    if isinstance(value, str):
        if "pattern" in schema and not re.search(schema["pattern"], value):
            yield f"{at}: {value!r} does not match {schema['pattern']}"
        if len(value) < schema.get("minLength", 0):
            yield f"{at}: is too short"
    if isinstance(value, (int, float)) and value < schema.get("minimum", value):
        yield f"{at}: must be at least {schema['minimum']}"
    if isinstance(value, dict):
        yield from _find_object_problems(schema, value, root, at)
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{at}: has the wrong number of items"
        for index, item in enumerate(value):
            prefix = schema.get("prefixItems", [])
            inner = prefix[index] if index < len(prefix) else schema.get("items", {})
            yield from find_schema_problems(inner, item, root, f"{at}[{index}]")


def _find_object_problems(schema: dict[str, Any], value: Any, root: Any, at: str) -> Iterator[str]:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{at}: field {name!r} is missing"
    for name, item in value.items():
        if name in known:
            yield from find_schema_problems(known[name], item, root, f"{at}.{name}")
            continue
        others = schema.get("additionalProperties", True)
        if others is False:
            yield f"{at}: field {name!r} is unknown"
        elif others is not True:
            yield from find_schema_problems(others, item, root, f"{at}.{name}")


def _has_type(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def format_vectors(vectors: list[dict[str, Any]]) -> str:
    """
    Return the canonical form of *vectors*.

    A field that fits on a line is on one line; a longer list has a line per item; so has a list
    within a long item. Invisible characters, and those that look like others, are escaped.
    """
    blocks = []
    for vector in vectors:
        fields = []
        for name, value in vector.items():
            text = f'  "{name}": {_dumps(value)}'
            if isinstance(value, list) and (len(text) > WIDTH or name == "checks"):
                items = ",\n".join(f"   {_format_item(item)}" for item in value)
                text = f'  "{name}": [\n{items}\n  ]'
            fields.append(text)
        blocks.append(" {\n" + ",\n".join(fields) + "\n }")
    return "[\n" + ",\n".join(blocks) + "\n]\n"


def _format_item(item: Any) -> str:
    """Return an item of a part; an item with moments or many answers takes several lines."""
    text = _dumps(item)
    lists = ("moments", "answers", "checks", "evidence")
    if not isinstance(item, dict) or not any(name in item for name in lists):
        return text
    if len(text) <= ITEM_WIDTH and "moments" not in item:
        return text
    fields = []
    for name, value in item.items():
        line = f'"{name}": {_dumps(value)}'
        if name in lists and (len(line) > WIDTH or name == "moments"):
            inner = ",\n".join(f"     {_dumps(entry)}" for entry in value)
            line = f'"{name}": [\n{inner}\n    ]'
        fields.append(line)
    return "{\n    " + ",\n    ".join(fields) + "\n   }"


def _dumps(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return "".join(char if _is_visible(char) else _escape(char) for char in text)


def _is_visible(char: str) -> bool:
    return char.isprintable() and unicodedata.normalize("NFKC", char) == char


def _escape(char: str) -> str:
    return "\\u007f" if char == "\x7f" else json.dumps(char)[1:-1]


def find_vector_problems(data: dict[str, Any], path: Path) -> Iterator[str]:
    """Yield the problems of one vector beyond its fields and types."""
    requirements, decisions = suite.load_requirements(), suite.load_decisions()
    if data["id"].split("/")[0] != path.stem:
        yield f"the id must begin with the name of its file, {path.stem}/"
    for name in data["requirement"]:
        if name not in requirements:
            yield f"requirement {name} is not in requirements.json"
    first = requirements.get(data["requirement"][0])
    if first and data["level"] != first["level"]:
        yield f"level is {data['level']}, that of {first['id']} is {first['level']}"
    for name in data.get("ambiguity", ()):
        if name not in decisions:
            yield f"ambiguity {name} is not in decisions.json"
    is_extension = path.parts[0] in suite.EXTENSION_FOLDERS
    if is_extension and first and data["section"] != first["section"]:
        yield f"section is {data['section']}, that of {first['id']} is {first['section']}"
    if not is_extension and data["section"] not in suite.load_sections():
        yield f"section {data['section']} is not a section of RFC 9309"
    if "\n" in data["comment"] or len(data["comment"].split()) < 3:
        yield "the comment must be one sentence on one line"
    expected = path.parts[1] if path.parts[0] == "profiles" else "default"
    if data.get("profile", "default") != expected and not is_extension:
        yield f"a vector in this folder is about profile {expected}"
    for check in data.get("checks", ()):
        if not check["allowed"] and check.get("line") is None:
            yield f"the check of {check['url']!r} is disallowed, so a rule decides: name its line"


def find_file_problems(path: Path, folder: Path, schema: dict[str, Any]) -> Iterator[str]:
    """Yield the problems of one file."""
    text = path.read_text(encoding="utf-8")
    try:
        vectors = json.loads(text)
    except ValueError as error:
        yield f"not JSON: {error}"
        return
    problems = list(find_schema_problems(schema, vectors, schema, "file"))
    yield from problems
    if problems:
        return
    where = path.relative_to(folder)
    if where.parts[0] not in (*TOPICS, "profiles"):
        yield f"{where.parts[0]} is not a topic"
    ids = [vector["id"] for vector in vectors]
    if ids != sorted(ids):
        yield "the ids are not sorted"
    if text != format_vectors(vectors):
        yield "the formatting is not canonical (python conformance/lint.py --write fixes it)"
    for vector in vectors:
        for problem in find_vector_problems(vector, where):
            yield f"{vector['id']}: {problem}"


def lint(folder: Path = suite.VECTORS) -> list[str]:
    """Return every problem of the vector files below *folder*, a line each."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    problems: list[str] = []
    files_by_id: dict[str, Path] = {}
    for path in suite.vector_files(folder):
        where = path.relative_to(folder)
        found = list(find_file_problems(path, folder, schema))
        problems += [f"{where}: {problem}" for problem in found]
        if found:
            continue
        for vector in json.loads(path.read_text(encoding="utf-8")):
            if vector["id"] in files_by_id:
                other = files_by_id[vector["id"]]
                problems.append(f"{where}: {vector['id']} is also in {other}")
            files_by_id[vector["id"]] = where
    return problems


def write(folder: Path = suite.VECTORS) -> None:
    """Write every file below *folder* in canonical form."""
    for path in suite.vector_files(folder):
        vectors = json.loads(path.read_text(encoding="utf-8"))
        vectors.sort(key=lambda vector: str(vector["id"]))
        path.write_text(format_vectors(vectors), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Check all files; `--write` fixes order and formatting first."""
    if arguments not in ([], ["--write"]):
        print("usage: python conformance/lint.py [--write]", file=sys.stderr)
        return 2
    if arguments:
        write()
    problems = lint()
    for problem in problems:
        print(problem)
    count = len(suite.load())
    print(f"{count} vectors, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
