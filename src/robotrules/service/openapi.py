"""
The OpenAPI 3.1 document, made from the verbs, the operations, and the JSON schemas of the results.

A request body is described by its msgspec struct, an answer by the same schema as `--json`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from robotrules.json_results.schemas import load_schema
from robotrules.service.live.questions import MAX_NAMES
from robotrules.service.operations import ALTERNATIVES, JSON, NDJSON, OPERATIONS, Operation
from robotrules.service.parts import ServiceContext, ServicePart
from robotrules.service.problems import MEDIA_TYPE, PROBLEMS
from robotrules.service.verbs import Verb, load_verbs

__all__ = ["all_operations", "make_part", "openapi_document"]

_SCHEMAS = "#/components/schemas/"
# Problems by what an operation does.
_ALWAYS = (
    "forbidden-host",
    "forbidden-origin",
    "too-many-requests",
    "header-too-large",
    "internal-error",
    "busy",
    "upgrade-not-supported",
)
_BODY = (
    "malformed-body",
    "timeout",
    "too-large",
    "unsupported-media-type",
    "invalid-request",
    "took-too-long",
)
_FETCH = ("fetching-off", "host-not-allowed", "invalid-request")
_DESCRIPTION = """\
The Robots Exclusion Protocol over HTTP: what robots.txt (RFC 9309), response headers and HTML ask
of crawlers, explained. Each POST operation gives the JSON that the command of the same name prints
with `--json`. Errors are problem details (RFC 9457).

These rules are requests to crawlers. They are not access control; this service protects nothing.
"""


def make_part(context: ServiceContext) -> ServicePart:
    """Return the route of the document."""
    return ServicePart(
        {"/openapi.json": {"GET": _openapi}}, open_paths=frozenset(("/openapi.json",))
    )


async def _openapi(request: Request) -> Response:
    return Response(_encoded(), media_type=JSON)


@cache
def _encoded() -> bytes:
    return msgspec.json.encode(openapi_document())


def openapi_document() -> dict[str, Any]:
    """Return the document."""
    operations = all_operations()
    schemas = _schemas(operations)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "robotrules",
            "version": version("robotrules"),
            "description": _DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{}, {"token": []}],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "responses": _problem_responses(),
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "Required if the service was started with --token-file.",
                }
            },
        },
    }


def all_operations() -> list[Operation]:
    """Return the operations of the whole API."""
    return [*map(_of_verb, load_verbs().values()), *OPERATIONS]


def _of_verb(verb: Verb) -> Operation:
    command = f"The same answer as `robotrules {verb.command} --json`." if verb.command else ""
    return Operation(
        "POST",
        verb.path,
        verb.summary,
        "Editor" if verb.path.startswith("/v1/editor/") else "Robots.txt and pages",
        verb.schema,
        request=ALTERNATIVES.get(verb.path, verb.request),
        example=verb.example,
        media_types=verb.media_types,
        description=command,
    )


# --- Schemas --------------------------------------------------------------------------------------


def _schemas(operations: Iterable[Operation]) -> dict[str, Any]:
    structs = {struct for operation in operations for struct in operation.structs}
    ordered = sorted(structs, key=lambda struct: struct.__name__)
    _, components = msgspec.json.schema_components(ordered, ref_template=_SCHEMAS + "{name}")
    for schema in components.values():
        _describe_body(schema)
    found: dict[str, Any] = {"Problem": _PROBLEM, **components}
    for operation in operations:
        name = operation.answer
        if isinstance(name, str) and name:
            found[name] = _embedded(load_schema(name), name)
    return found


def _describe_body(schema: dict[str, Any]) -> None:
    """State what the struct cannot: a file is passed either as text or as base64."""
    properties = schema.get("properties", {})
    pairs = [(name, f"{name}_base64") for name in properties if f"{name}_base64" in properties]
    for text, octets in pairs:
        for part in properties[octets]["anyOf"]:
            if part["type"] == "string":
                part["pattern"] = _BASE64
        if text not in _OPTIONAL_FILES.get(schema["title"], ()):
            # Null is the same as leaving the field out.
            schema.setdefault("allOf", []).append({"oneOf": [_given(text), _given(octets)]})


def _given(name: str) -> dict[str, Any]:
    return {"required": [name], "properties": {name: {"type": "string"}}}


def _embedded(schema: Any, name: str) -> Any:
    """Return a schema file as a component: its own definitions are found below its name."""
    if isinstance(schema, list):
        return [_embedded(item, name) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _embedded(value, name) for key, value in schema.items() if key != "$schema"}
    reference = found.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        found["$ref"] = f"{_SCHEMAS}{name}/{reference[2:]}"
    return found


# Files that a body may leave out, by the title of its schema.
_OPTIONAL_FILES = {"GuidanceRequest": ("robots",), "WriteRequest": ("compare",)}
_BASE64 = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
_PROBLEM: dict[str, Any] = {
    "title": "Problem",
    "description": "Problem details (RFC 9457). Some problems have further members.",
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {
            "description": "The kind of problem.",
            "type": "string",
            "format": "uri-reference",
            "enum": [f"/v1/problems#{slug}" for slug in PROBLEMS],
        },
        "title": {"description": "The kind of problem in words.", "type": "string"},
        "status": {"description": "The status code.", "type": "integer"},
        "detail": {"description": "What is wrong, and how to mend it.", "type": "string"},
        "at": {"description": "The part of the request at fault.", "type": "string"},
    },
}


# --- Operations -----------------------------------------------------------------------------------


def _operation(operation: Operation) -> dict[str, Any]:
    words = operation.path.removeprefix("/v1").strip("/").replace("/", "-")
    found: dict[str, Any] = {
        "operationId": f"{operation.method.lower()}-{words}",
        "summary": operation.summary,
        "tags": [operation.group],
        "responses": _responses(operation),
    }
    if operation.description:
        found["description"] = operation.description
    if operation.parameters:
        found["parameters"] = [_parameter(parameter) for parameter in operation.parameters]
    if operation.request is not None:
        found["requestBody"] = _request_body(operation)
    if operation.open:
        found["security"] = []
    return found


def _parameter(parameter: Any) -> dict[str, Any]:
    schema = parameter.schema
    if parameter.repeated:
        schema = {"type": "array", "items": schema, "maxItems": MAX_NAMES}
    found = {
        "name": parameter.name,
        "in": "query",
        "description": parameter.description,
        "required": parameter.required,
        "schema": schema,
    }
    if parameter.example is not None:
        found["example"] = parameter.example
    return found


def _request_body(operation: Operation) -> dict[str, Any]:
    references = [{"$ref": _SCHEMAS + struct.__name__} for struct in operation.structs]
    schema = {"anyOf": references} if references else operation.request
    content: dict[str, Any] = {"schema": references[0] if len(references) == 1 else schema}
    if operation.example is not None:
        content["example"] = operation.example
    return {"required": True, "content": {operation.request_media_type: content}}


def _responses(operation: Operation) -> dict[str, Any]:
    answer = operation.answer
    schema: Any = {"$ref": _SCHEMAS + answer} if isinstance(answer, str) and answer else answer
    slugs = [*_ALWAYS]
    slugs += () if operation.open else ["unauthorized"]
    slugs += _BODY if operation.request is not None else ()
    slugs += ["invalid-request"] if operation.parameters else ()
    slugs += _FETCH if operation.fetches else ()
    statuses = sorted({PROBLEMS[slug].status for slug in slugs})
    content: dict[str, Any] = {"schema": schema} if schema else {}
    # A body of many lines is text for OpenAPI 3.1, which has no schema for a line.
    lines = {"schema": {"type": "string"}}
    description = "The answer."
    if NDJSON in operation.media_types:
        name = operation.line or answer
        description += (
            f" In {NDJSON}, each line is an object by the schema `{_SCHEMAS}{name}`, or a problem "
            "with `url`, `error`, `type`, `title` and `line`, the number of the line."
        )
    success = {
        "description": description,
        "content": {name: lines if name == NDJSON else content for name in operation.media_types},
    }
    problems = {str(status): {"$ref": f"#/components/responses/{status}"} for status in statuses}
    return {"200": success, **problems}


def _problem_responses() -> Mapping[str, Any]:
    by_status: dict[int, list[str]] = {}
    for slug, problem in PROBLEMS.items():
        by_status.setdefault(problem.status, []).append(f"`{slug}`: {problem.title}.")
    found = {}
    for status, titles in sorted(by_status.items()):
        response: dict[str, Any] = {
            "description": " ".join(titles),
            "content": {MEDIA_TYPE: {"schema": {"$ref": _SCHEMAS + "Problem"}}},
        }
        if status in (429, 503):
            response["headers"] = {
                "Retry-After": {
                    "description": "Seconds after which the request may be sent again.",
                    "schema": {"type": "integer", "minimum": 0},
                }
            }
        found[str(status)] = response
    return found
