"""
The harness side of the protocol: one JSON object per line, in on stdin, out on stdout.

A harness is a small program around one implementation. It answers `start`, `profile`, `run` and
`stop` as `conformance/README.md` says; this file reads and writes the lines, so that a harness in
Python is one class with a `run` method. It does not know any implementation, and it never learns
what is expected: the runner keeps that to itself and judges the answers.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TextIO

VERSION = 1
ORIGIN = "https://e.example"
# What every question says; the rest of it is what it asks, and a harness answers that by name.
SETTING = frozenset({"id", "profile", "options", "complete", "body", "registries"})

Question = Mapping[str, Any]
Answer = dict[str, Any]
Ask = Callable[[str, str], bool]


class Harness(Protocol):
    """What `serve` needs: who answers, for which profiles, and the answers."""

    name: str
    version: str
    language: str
    profiles: frozenset[str]

    def run(self, question: Question) -> Answer:
        """Answer one vector; an exception is reported as errored."""


class Skipped(Exception):
    """Raised by a harness for a question its implementation has no words for."""


def body_of(question: Question) -> bytes:
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
    """Answer `start`: the protocol's version and who is here."""
    if message.get("version") != VERSION:
        return {"error": f"this harness speaks version {VERSION} of the protocol"}
    names = {"name": harness.name, "version": harness.version, "language": harness.language}
    return {"version": VERSION, "implementation": names}


def run(harness: Harness, message: Mapping[str, Any]) -> Answer:
    """Answer `run`: with the answers, or why there are none."""
    reply: Answer = {"seq": message.get("seq")}
    try:
        reply["answer"] = harness.run(message["vector"])
    except Skipped as reason:
        reply["skipped"] = str(reason)
    except Exception as error:  # an implementation may raise anything: that is a result
        reply["errored"] = f"{type(error).__name__}: {error}"
    return reply


class VerdictsOnly:
    """
    A harness for an implementation that says allowed or not, and nothing else.

    A subclass sets the names and defines `load`, which takes the body and returns a function of
    URL and product token. Vectors about options, cut files or lists of product tokens are
    skipped; so are the parts of a vector that are not checks.
    """

    name = ""
    version = ""
    language = "python"
    profiles = frozenset({"default"})

    def load(self, body: bytes) -> Ask:
        """Return a function that answers whether a URL is allowed to a product token."""
        raise NotImplementedError

    def run(self, question: Question) -> Answer:
        """Answer the checks and skip every other part."""
        if question["options"]:
            raise Skipped(f"no options such as {', '.join(question['options'])}")
        if not question["complete"]:
            raise Skipped("no way to say that a file was cut")
        answer: Answer = {
            part: {"skipped": "answers verdicts only"} for part in question if part not in SETTING
        }
        if question["checks"]:
            ask = self.load(body_of(question))
            answer["checks"] = [self.verdict(ask, check) for check in question["checks"]]
        return answer

    def verdict(self, ask: Ask, check: Mapping[str, Any]) -> Answer:
        """Answer one check."""
        token, url = check["product_token"], check["url"]
        if not isinstance(token, str):
            return {"skipped": "one product token at a time"}
        if check.get("purposes"):
            return {"skipped": "no purposes"}
        try:
            return {"allowed": bool(ask(absolute(url), token))}
        except Exception as error:  # as above
            return {"errored": f"{type(error).__name__}: {error}"}


def absolute(url: str) -> str:
    """Return *url* with a scheme and a host, for implementations that want whole URLs."""
    return ORIGIN + url if url.startswith("/") else url
