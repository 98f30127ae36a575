"""
A transport that replays the responses of a vector.

`access_answers.py` and `timeline_answers.py` use it, and the functions that decode asked fields.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import protocol

import robotrules
from robotrules import access
from robotrules.access import Failure, FailureReason, Request, Response

Item = Mapping[str, Any]
# 2026-01-01T00:00:00Z: second 0 of a vector.
START = 1_767_225_600.0
USER_AGENT, NAME = "ExampleBot/1.0 (+https://bot.example/)", "ExampleBot"


# --- Asked fields ---------------------------------------------------------------------------------


def find_access_profile(parsing: robotrules.Profile, item: Item) -> access.AccessProfile:
    """Return the access profile that an item names, with its options."""
    profile = access.find_access_profile(item.get("access_profile", parsing.name))
    return profile.replace(**item.get("access_options", {}))


def decode_body(item: Item, file: bytes) -> bytes:
    """Return the body of an item, or the file if it states none."""
    return base64.b64decode(item["body"]) if "body" in item else file


def decode_fields(item: Item) -> list[tuple[str, bytes]]:
    """Return field lines."""
    return [(name, base64.b64decode(value)) for name, value in item.get("headers", ())]


def resolve_url(item: Item) -> str:
    """Return the URL of an item; a path is resolved against the default origin."""
    return protocol.make_absolute(item["url"])


class ScriptedTransport:
    """Replays responses in order; a body is cut at the limit of the request."""

    def __init__(self, file: bytes) -> None:
        self.file = file
        self.responses: list[Item] = []
        self.requests: list[Request] = []
        self.unanswered = False

    def expect(self, responses: list[Item]) -> None:
        """Clear the recorded requests and set the next responses."""
        self.responses, self.requests, self.unanswered = list(responses), [], False

    def send(self, request: Request) -> Response | Failure:
        """Return the next response; a request without one is an error of the client."""
        self.requests.append(request)
        if not self.responses:
            self.unanswered = True
            raise AssertionError(f"{request.url} was requested, and no response is left")
        response = self.responses.pop(0)
        if "failure" in response:
            return Failure(FailureReason(response["failure"]), "as scripted")
        status, body = response["status"], decode_body(response, self.file)
        if "body" not in response and not 200 <= status < 300:
            body = b""
        cut = body[: request.limit]
        return Response(status, decode_fields(response), cut, len(cut) == len(body), "192.0.2.1")

    def close(self) -> None:
        """Do nothing."""

    def list_requests(self) -> dict[str, Any]:
        """Return the URLs and the conditions of the requests."""
        return {
            "urls": [request.url for request in self.requests],
            "conditions": [dict(request.headers) for request in self.requests],
        }


class AsyncScriptedTransport:
    """The same on an event loop."""

    def __init__(self, script: ScriptedTransport) -> None:
        self.script = script

    async def send(self, request: Request) -> Response | Failure:
        """Answer the next request."""
        return self.script.send(request)

    async def aclose(self) -> None:
        """Do nothing."""


def format_verdict(verdict: robotrules.Verdict) -> dict[str, Any]:
    """Return the answered fields of a verdict."""
    return {
        "allowed": verdict.allowed,
        "line": verdict.line,
        "reason": str(verdict.reason),
    }
