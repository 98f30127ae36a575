"""
The operations of the HTTP API beside the verbs, for the OpenAPI document.

A verb describes itself; here are the operations that fetch, hand out turns, or return what does not
depend on a body. A test compares them with the routes of the application.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["JSON", "NDJSON", "OPERATIONS", "Operation", "Parameter"]

JSON = "application/json"
NDJSON = "application/x-ndjson"
TEXT = "text/plain"


class Parameter(NamedTuple):
    """A parameter of the query."""

    name: str
    description: str
    schema: dict[str, Any]
    required: bool = False
    example: Any = None
    repeated: bool = False
    """Whether the parameter may be given several times."""


class Operation(NamedTuple):
    """One method of one path."""

    method: str
    path: str
    summary: str
    group: str
    answer: str | dict[str, Any]
    """The JSON schema of the answer: the name of a file in schemas/, or the schema."""
    parameters: tuple[Parameter, ...] = ()
    request: type[Any] | dict[str, Any] | None = None
    """The struct of the body, or its JSON schema."""
    example: Any = None
    """A body."""
    media_type: str = JSON
    """Of the answer."""
    request_media_type: str = JSON
    fetches: bool = False
    open: bool = False
    """Whether no token is required."""
    description: str = ""


OPERATIONS: tuple[Operation, ...] = ()
