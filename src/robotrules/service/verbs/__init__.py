"""
Verbs: each a function from a request body to the JSON that the command line prints with `--json`.

A verb does not fetch and does not know about HTTP. `work` decides where it runs: in this thread
if its input is small and its time is linear, otherwise in a process that can be ended.
Importing this package imports none of the verbs; `load_verbs()` does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

__all__ = ["AGENT_PATH", "INLINE", "NDJSON", "JsonLines", "Verb", "find_agent_verb", "load_verbs"]

NDJSON = "application/x-ndjson"
# Bytes of a body that a linear verb reads in less than 5 ms.
INLINE = 8 * 1024

# Each defines VERBS, a tuple.
_MODULES = ("deciding", "reading", "comparing", "writing", "editor")
# The paths of verbs that only agents use: they are not among those of the HTTP API.
AGENT_PATH = "/mcp/"


class JsonLines(bytes):
    """An answer of one JSON value per line; other answers are one JSON value."""

    media_type = NDJSON


class Verb(NamedTuple):
    """One verb of the API: `POST path` with a body."""

    path: str
    summary: str
    """One line, for the OpenAPI document."""
    request: type[Any]
    """The struct of the body."""
    run: Callable[[Any], object]
    """Returns plain values, or JSON as bytes; misuse raises Problem."""
    example: dict[str, Any]
    """A body, for the OpenAPI document."""
    schema: str | dict[str, Any] = ""
    """The JSON schema of the answer: the name of a file in schemas/, or the schema."""
    heavy: bool = False
    """Whether the time may be more than linear in the input: it runs in a process of its own."""
    inline: int = INLINE
    """Bytes of a body up to which a verb that is not heavy runs on the event loop. All other
    requests wait meanwhile, so the worst body of that size should take less than 5 ms."""
    command: str = ""
    """The command of the command line with the same answer, if there is one."""
    media_types: tuple[str, ...] = ("application/json",)
    """The media types of answers; of `JsonLines` it is `NDJSON`."""


def load_verbs() -> Mapping[str, Verb]:
    """Return all verbs by path."""
    modules = (import_module(f"{__name__}.{name}") for name in _MODULES)
    return {verb.path: verb for module in modules for verb in module.VERBS}


def find_agent_verb(path: str) -> Verb:
    """Return a verb of the MCP server."""
    found: tuple[Verb, ...] = import_module("robotrules.service.mcp.given").VERBS
    return {verb.path: verb for verb in found}[path]
