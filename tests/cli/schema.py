"""
A checker for the JSON Schemas of the documentation.

It knows the words that our schemas use and fails on any other, so that a schema cannot say more
than is tested. It does not know what a schema is about.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}


def problems(value: Any, root: dict[str, Any]) -> Iterator[str]:
    """Yield where *value* is not what a schema says."""
    yield from _problems(value, root, root, "$")


def _problems(
    value: Any, schema: dict[str, Any], root: dict[str, Any], where: str
) -> Iterator[str]:
    if "type" in schema and not any(_is(value, name) for name in _list(schema["type"])):
        yield f"{where} is {value!r}, not {schema['type']}"
        return
    for word, says in schema.items():
        match word:
            case "$schema" | "$defs" | "title" | "description" | "properties" | "type":
                pass
            case "$ref":
                yield from _problems(
                    value, root["$defs"][says.removeprefix("#/$defs/")], root, where
                )
            case "const" | "enum":
                if not any(_same(value, one) for one in (says if word == "enum" else [says])):
                    yield f"{where} is {value!r}"
            case "minimum":
                if value is not None and value < says:
                    yield f"{where} is {value!r}"
            case "minLength":
                if len(value) < says:
                    yield f"{where} is too short"
            case "anyOf":
                if all(any(_problems(value, choice, root, where)) for choice in says):
                    yield f"{where} is none of {len(says)}"
            case "items":
                for position, item in enumerate(value):
                    yield from _problems(item, says, root, f"{where}[{position}]")
            case "required":
                yield from (f"{where} lacks {name}" for name in says if name not in value)
            case "additionalProperties":
                known = schema.get("properties", {})
                for name, item in value.items():
                    if name in known:
                        yield from _problems(item, known[name], root, f"{where}.{name}")
                    elif says is False:
                        yield f"{where} has {name}"
                    else:
                        yield from _problems(item, says, root, f"{where}.{name}")
            case _:
                raise AssertionError(f"the checker does not know {word!r}")


def _list(says: str | list[str]) -> list[str]:
    return [says] if isinstance(says, str) else says


def _same(value: object, one: object) -> bool:
    return type(value) is type(one) and value == one


def _is(value: object, name: str) -> bool:
    if name in ("integer", "number") and isinstance(value, bool):
        return False
    return isinstance(value, TYPES[name])


def objects(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the schemas of objects."""
    return [schema, *schema["$defs"].values()]
