"""
The harness side of the protocol: one JSON object per line, in on stdin, out on stdout.

A harness is a small program around one implementation. It answers `start`, `profile`, `run` and
`stop` as `conformance/README.md` says; this file reads and writes the lines, so that a harness in
Python is one class with a `run` method. It does not import any implementation. Questions do not
contain the expected answers: the runner judges.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TextIO

VERSION = 1
ORIGIN = "https://e.example"
# The fields of every question that are not parts; a harness answers the others by name.
SETTINGS = frozenset({"id", "profile", "options", "complete", "body", "registries"})

Question = Mapping[str, Any]
Answer = dict[str, Any]
CheckFunction = Callable[[str, str], bool]


class Harness(Protocol):
    """The names, the profiles and the answers of an implementation."""

    name: str
    version: str
    language: str
    profiles: frozenset[str]

    def run(self, question: Question) -> Answer:
        """Answer one vector; an exception is reported as errored."""


class Skipped(Exception):
    """Raised by a harness for a question that its implementation does not support."""


def decode_body(question: Question) -> bytes:
    """Return the octets of the robots.txt in *question*."""
    return base64.b64decode(question["body"])


def serve(harness: Harness, source: TextIO | None = None, sink: TextIO | None = None) -> None:
    """Answer the lines of *source* on *sink* until `stop` or the end of the input."""
    source, sink = source or sys.stdin, sink or sys.stdout
    for line in source:
        if not line.strip():
            continue
        reply = respond(harness, line)
        if reply is None:
            return
        sink.write(json.dumps(reply) + "\n")
        sink.flush()


def respond(harness: Harness, line: str) -> Answer | None:
    """Return the reply to one line; None when the harness is to stop."""
    try:
        message = json.loads(line)
        command = message["cmd"]
    except (ValueError, KeyError, TypeError):
        return {"error": "a line must be a JSON object with a 'cmd'"}
    if command == "start":
        return start(harness, message)
    if command == "profile":
        supported = message.get("profile") in harness.profiles
        return {"supported": supported}
    if command == "run":
        return run(harness, message)
    if command == "stop":
        return None
    return {"error": f"unknown command {command!r}"}


def start(harness: Harness, message: Mapping[str, Any]) -> Answer:
    """Answer `start`: the version of the protocol and the implementation."""
    if message.get("version") != VERSION:
        return {"error": f"this harness implements version {VERSION} of the protocol"}
    names = {"name": harness.name, "version": harness.version, "language": harness.language}
    return {"version": VERSION, "implementation": names}


def run(harness: Harness, message: Mapping[str, Any]) -> Answer:
    """Answer `run`: with the answers, or with the reason why there are none."""
    reply: Answer = {"seq": message.get("seq")}
    try:
        reply["answer"] = harness.run(message["vector"])
    except Skipped as reason:
        reply["skipped"] = str(reason)
    except Exception as error:  # any exception of an implementation is a result
        reply["errored"] = f"{type(error).__name__}: {error}"
    return reply


class VerdictsOnly:
    """
    A harness for an implementation that returns only allowed or not.

    A subclass sets the names and defines `load`, which takes the body and returns a function of
    URL and product token. Vectors about options, truncated files or lists of product tokens are
    skipped, and so are the parts of a vector that are not checks.
    """

    name = ""
    version = ""
    language = "python"
    profiles = frozenset({"default"})

    def load(self, body: bytes) -> CheckFunction:
        """Return a function that returns whether a URL is allowed for a product token."""
        raise NotImplementedError

    def run(self, question: Question) -> Answer:
        """Answer the checks and skip every other part."""
        if question["options"]:
            raise Skipped(f"options are not supported: {', '.join(question['options'])}")
        if not question["complete"]:
            raise Skipped("truncated files are not supported")
        answer: Answer = {
            part: {"skipped": "only verdicts are supported"}
            for part in question
            if part not in SETTINGS
        }
        if question["checks"]:
            is_allowed = self.load(decode_body(question))
            answer["checks"] = [self.check(is_allowed, check) for check in question["checks"]]
        return answer

    def check(self, is_allowed: CheckFunction, check: Mapping[str, Any]) -> Answer:
        """Answer one check."""
        token, url = check["product_token"], check["url"]
        if not isinstance(token, str):
            return {"skipped": "lists of product tokens are not supported"}
        if check.get("purposes"):
            return {"skipped": "purposes are not supported"}
        try:
            return {"allowed": bool(is_allowed(make_absolute(url), token))}
        except Exception as error:  # as in `run`
            return {"errored": f"{type(error).__name__}: {error}"}


def make_absolute(url: str) -> str:
    """Return *url* with a scheme and a host, for implementations that require them."""
    return ORIGIN + url if url.startswith("/") else url
