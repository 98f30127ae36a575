"""
The operations of the HTTP API beside the verbs, for the OpenAPI document.

A verb describes itself; here are the operations that fetch, hand out slots, or return what does not
depend on a body. A test compares them with the routes of the application.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from robotrules.service.live.questions import MAX_NAME, MAX_URL, PROFILE_NAMES
from robotrules.service.live.routes import OriginCheckRequest
from robotrules.service.live.slots import ResponseReport, SlotRequest
from robotrules.service.resources import RESOURCES
from robotrules.service.verbs.deciding import CheckRequest

__all__ = ["ALTERNATIVES", "JSON", "NDJSON", "OPERATIONS", "Operation", "Parameter"]

JSON = "application/json"
NDJSON = "application/x-ndjson"
TEXT = "text/plain"
# A Token of Structured Fields (RFC 9651 §3.3.4).
TOKEN_PATTERN = r"^[A-Za-z*][A-Za-z0-9:/!#$%&'*+.^_`|~-]*$"
# What a URL needs; not every host that matches is valid.
URL_PATTERN = r"^[Hh][Tt][Tt][Pp][Ss]?://[^\x00-\x20\x7f/?#]+[^\x00-\x20\x7f]*$"
# The groups of the document.
FETCHING = "Live: the service fetches"
FLEET = "Slots for a fleet of crawlers"
LISTS = "Lists"
OPERATING = "Operating"


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
    request: type[Any] | tuple[type[Any], ...] | dict[str, Any] | None = None
    """The struct of the body, several of which one applies, or its JSON schema."""
    example: Any = None
    """A body."""
    media_types: tuple[str, ...] = (JSON,)
    """Of the answer; in NDJSON the schema is that of a line."""
    request_media_type: str = JSON
    fetches: bool = False
    open: bool = False
    """Whether no token is required."""
    description: str = ""
    line: str = ""
    """The name of the JSON schema of a line of NDJSON, if the answer has another schema."""

    @property
    def structs(self) -> tuple[type[Any], ...]:
        """The structs of the body."""
        if isinstance(self.request, tuple):
            return self.request
        return (self.request,) if isinstance(self.request, type) else ()


_URL = Parameter(
    "url",
    "An http or https URL, percent-encoded: `&` as %26, `+` as %2B, `%` as %25.",
    {
        "type": "string",
        "maxLength": MAX_URL,
        "pattern": URL_PATTERN,
    },
    required=True,
    example="http://127.0.0.1:8000/private/a",
)
_WHO = (
    Parameter(
        "as",
        "The crawler's product token; repeat it for several, the preferred one first. Defaults to "
        "that of the User-Agent of the service, if it has one.",
        # Which characters are allowed depends on the profile: `strict` allows letters, _ and -.
        {"type": "string", "minLength": 1, "maxLength": MAX_NAME},
        example=["ExampleBot"],
        repeated=True,
    ),
    Parameter(
        "purpose",
        "A purpose of the crawler, such as EXAMPLE-PURPOSE-1; it may be repeated.",
        {"type": "string", "minLength": 1, "maxLength": MAX_NAME, "pattern": r"\S"},
        repeated=True,
    ),
    Parameter(
        "literal",
        "Select groups without the registry of well-known crawlers.",
        {"type": "boolean", "default": False},
    ),
)
_PROFILE = Parameter(
    "profile",
    "How to parse what RFC 9309 leaves open; `stale` uses an old copy while the file is "
    "unreachable. Defaults to the profile of the service.",
    {"enum": list(PROFILE_NAMES)},
)
_ABOUT_URL = (_URL, *_WHO, _PROFILE)
# The schema describes one line.
_LINES = {
    "description": "One JSON object for each URL, in the order of the request; a line that cannot "
    "be answered is a problem with `url`, `error` and `line`.",
    "type": "string",
}

# Bodies of verbs that are answered in more than one way, by path.
ALTERNATIVES: dict[str, tuple[type[Any], ...]] = {
    "/v1/check": (CheckRequest, OriginCheckRequest),
}
OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "GET",
        "/v1/check",
        "Check whether the robots.txt of its origin allows a URL",
        FETCHING,
        "check",
        _ABOUT_URL,
        fetches=True,
        description="The robots.txt is fetched if the copy in the store is too old. The same "
        "answer as `robotrules check --json`.",
    ),
    Operation(
        "POST",
        "/v1/check/stream",
        "Check any number of URLs while they arrive",
        FETCHING,
        _LINES,
        (*_WHO, _PROFILE),
        request={
            "description": "NDJSON: one object for each URL, with `url` and, if they differ from "
            "the query, `as` and `purpose`. A line that is wrong has an error in its place.",
        },
        example='{"url": "http://127.0.0.1:8000/a"}\n{"url": "http://127.0.0.1:8000/b"}\n',
        media_types=(NDJSON,),
        request_media_type=NDJSON,
        fetches=True,
        line="check",
    ),
    Operation(
        "GET",
        "/v1/explain",
        "Explain how the verdict on a URL is reached",
        FETCHING,
        "explain",
        _ABOUT_URL,
        fetches=True,
        description="The same answer as `robotrules explain --json`.",
    ),
    Operation(
        "GET",
        "/v1/guidance",
        "Combine all that a site says about a page",
        FETCHING,
        "guidance",
        (
            *_ABOUT_URL,
            Parameter(
                "app",
                "An application identifier of App-Directives; case-sensitive.",
                {
                    "type": "string",
                    "maxLength": 1_000,
                    "pattern": "^[A-Za-z*][A-Za-z0-9:/!#$%&'*+.^_`|~-]*$",
                },
                example="examplesearch",
            ),
        ),
        fetches=True,
        description="Robots.txt, response headers and HTML; the page is fetched only if the "
        "robots.txt allows it. The same answer as `robotrules guidance --json`.",
    ),
    Operation(
        "GET",
        "/v1/robots",
        "Fetch the robots.txt of an origin",
        FETCHING,
        "robots",
        (_URL, _PROFILE),
        fetches=True,
    ),
    Operation(
        "POST",
        "/v1/slot",
        "Reserve the next slot of an origin",
        FLEET,
        "slot",
        request=SlotRequest,
        example={"url": "http://127.0.0.1:8000/a", "as": "ExampleBot"},
        fetches=True,
        description="Wait as long as the answer says, send the request, and report the response. "
        "All workers that use one store share the slots.",
    ),
    Operation(
        "POST",
        "/v1/responses",
        "Report a response, which may postpone the next slot",
        FLEET,
        "responses",
        request=ResponseReport,
        example={"url": "http://127.0.0.1:8000/a", "status": 503, "retry_after": "120"},
        fetches=True,
    ),
    *(
        Operation("GET", resource.path, resource.summary, LISTS, resource.schema)
        for resource in RESOURCES
    ),
    Operation(
        "GET",
        "/v1/problems",
        "List the kinds of problems",
        LISTS,
        {
            "type": "object",
            "required": ["problems"],
            "properties": {"problems": {"type": "array", "items": {"type": "object"}}},
        },
        open=True,
    ),
    Operation("GET", "/openapi.json", "This document", LISTS, {"type": "object"}, open=True),
    Operation(
        "GET", "/healthz", "Whether the worker answers", OPERATING, {"type": "object"}, open=True
    ),
    Operation(
        "GET",
        "/readyz",
        "Whether the worker should get requests: 503 if not",
        OPERATING,
        {"type": "object"},
        open=True,
    ),
    Operation(
        "GET",
        "/metrics",
        "Counters in the format of Prometheus",
        OPERATING,
        {"type": "string"},
        media_types=(TEXT,),
    ),
)
