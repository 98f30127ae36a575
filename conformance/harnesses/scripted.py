"""
A scripted server for `access_answers.py` and `timeline_answers.py`: it says what a vector says.

What an item asks is read here, and `Script` is a transport that answers from it. It knows nothing
of what a client makes of the answers.
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
AGENT, NAME = "ExampleBot/1.0 (+https://bot.example/)", "ExampleBot"


def same(one: Any, *others: Any) -> None:
    """Hold the library to its word: several doors, one answer."""
    for other in others:
        if other != one:
            raise AssertionError(f"the doors differ: {one!r} and {other!r}")


# --- What is asked --------------------------------------------------------------------------------


def fetching_of(parsing: robotrules.Profile, item: Item) -> access.AccessProfile:
    """Return the access profile that an item names, with its options."""
    chosen = access.find_access_profile(item.get("access_profile", parsing.name))
    return chosen.replace(**item.get("access_options", {}))


def octets_of(item: Item, file: bytes) -> bytes:
    """Return a body; where a vector states none it is the file."""
    return base64.b64decode(item["body"]) if "body" in item else file


def pairs_of(item: Item) -> list[tuple[str, bytes]]:
    """Return field lines."""
    return [(name, base64.b64decode(value)) for name, value in item.get("headers", ())]


def url_of(item: Item) -> str:
    """Return the URL that is asked about; a path is one of the usual origin."""
    return protocol.absolute(item["url"])


class Script:
    """Answers requests as a vector says, in its order; cut where the request wants no more."""

    def __init__(self, file: bytes) -> None:
        self.file = file
        self.left: list[Item] = []
        self.seen: list[Request] = []
        self.unanswered = False

    def expect(self, answers: list[Item]) -> None:
        """Forget what was, and be ready for what comes."""
        self.left, self.seen, self.unanswered = list(answers), [], False

    def send(self, request: Request) -> Response | Failure:
        """Answer the next request; one that no answer is left for is a mistake."""
        self.seen.append(request)
        if not self.left:
            self.unanswered = True
            raise AssertionError(f"{request.url} was asked for, and no answer is left")
        answer = self.left.pop(0)
        if "failure" in answer:
            return Failure(FailureReason(answer["failure"]), "as scripted")
        status, body = answer["status"], octets_of(answer, self.file)
        if "body" not in answer and not 200 <= status < 300:
            body = b""
        cut = body[: request.limit]
        return Response(status, pairs_of(answer), cut, len(cut) == len(body), "192.0.2.1")

    def close(self) -> None:
        """Nothing is open."""

    def told(self) -> dict[str, Any]:
        """Return what was asked for."""
        return {
            "urls": [request.url for request in self.seen],
            "conditions": [dict(request.headers) for request in self.seen],
        }


class AsyncScript:
    """The same on an event loop."""

    def __init__(self, script: Script) -> None:
        self.script = script

    async def send(self, request: Request) -> Response | Failure:
        """Answer the next request."""
        return self.script.send(request)

    async def aclose(self) -> None:
        """Nothing is open."""


def verdict_of(verdict: robotrules.Verdict) -> dict[str, Any]:
    """Return what of a verdict is answered."""
    return {
        "allowed": verdict.allowed,
        "line": verdict.line,
        "reason": str(verdict.reason),
    }
