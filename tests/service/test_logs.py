"""Logs: their forms, what they never contain, and readers that are too slow."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import threading
import time
from typing import BinaryIO, cast

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.testclient import TestClient

from robotrules.service.app import Service
from robotrules.service.logs import (
    WAITING,
    LogHandler,
    LogWriter,
    format_json,
    format_text,
)
from robotrules.service.settings import ServiceSettings
from tests.service.running import QUESTION

TOKEN = "a-token-of-the-tests"
SECRET = "s3cr3t"


def logged(settings: ServiceSettings, *paths: str, **headers: str) -> tuple[str, TestClient]:
    """Return the log after a request for each path, and the client."""
    stream = io.BytesIO()
    log = LogWriter(settings.log_format, stream=cast(BinaryIO, stream))
    client = TestClient(
        Service(settings, log), base_url="http://127.0.0.1:8080", raise_server_exceptions=False
    )
    for path in paths:
        if path.startswith("/v1/explain"):
            client.post(path, json=QUESTION, headers=headers)
        else:
            client.get(path, headers=headers)
    log.close()
    return stream.getvalue().decode(), client


def test_a_line_of_json_for_each_request() -> None:
    """With the fields that the module describes, and nothing else."""
    text, _ = logged(ServiceSettings(log_format="json"), "/v1/explain", "/nothing")
    first, second = map(json.loads, text.splitlines())
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", first.pop("time"))
    assert first.pop("seconds") > 0
    assert first.pop("id")
    assert first == {
        "level": "info",
        "event": "request",
        "method": "POST",
        "path": "/v1/explain",
        "status": 200,
        "client": "testclient",
        "problem": "",
    }
    assert (second["status"], second["problem"]) == (404, "not-found")


@pytest.mark.parametrize("form", ["json", "text"])
def test_no_query_no_token_no_body(form: str) -> None:
    """What a client sends as a secret is in no line."""
    settings = ServiceSettings(tokens=(TOKEN,), log_format=form)
    text, _ = logged(
        settings,
        f"/v1/explain?key={SECRET}",
        f"/v1/nothing?url=https://example.com/?session={SECRET}",
        f"/healthz?{SECRET}",
        authorization=f"Bearer {TOKEN}",
        cookie=SECRET,
    )
    assert len(text.splitlines()) == 3
    for word in (SECRET, TOKEN, "example.com", "?"):
        assert word not in text
    refused, _ = logged(settings, "/v1/explain", authorization=f"Bearer {SECRET}")
    assert "unauthorized" in refused
    assert SECRET not in refused


def test_a_path_does_not_end_the_line() -> None:
    """Control characters are escaped, and long paths are cut."""
    for form in ("json", "text"):
        text, _ = logged(ServiceSettings(log_format=form), "/a%0A2026 forged", "/" + "x" * 5_000)
        assert len(text.splitlines()) == 2
        assert len(text) < 1_000


def test_text_lines() -> None:
    """Values with spaces are in quotes; empty ones are left out."""
    values: dict[str, str | int | float] = {"id": "a", "path": "/a b", "problem": "", "n": 1}
    assert format_text("info", "request", values)[25:] == b'info request id=a path="/a b" n=1\n'
    assert json.loads(format_json("info", "x", {"a": "é\n"}))["a"] == "é\n"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("/a", "/a"),
        ("/a=b", '"/a=b"'),
        ('/a" status=200 client="10.0.0.1', r'"/a\" status=200 client=\"10.0.0.1"'),
        ("/a\\", r'"/a\\"'),
        ('/a\\"', r'"/a\\\""'),
        ("/a\n", r'"/a\x0a"'),
        ("/a\u2028b", r'"/a\u2028b"'),
    ],
)
def test_a_value_does_not_forge_others(value: str, shown: str) -> None:
    """Paths are what clients send: quotes, backslashes and equals signs are data."""
    assert format_text("info", "request", {"path": value})[25:-1].decode() == (
        f"info request path={shown}"
    )


def test_the_access_log_can_be_left_out() -> None:
    """Then there are lines for failures only."""
    text, _ = logged(ServiceSettings(access_log=False), "/v1/explain", "/healthz")
    assert text == ""


def test_a_failure_says_where_and_not_what() -> None:
    """The message of an exception may have parts of the input."""

    async def fails(request: Request) -> Response:
        raise RuntimeError(SECRET)

    stream = io.BytesIO()
    log = LogWriter("json", stream=cast(BinaryIO, stream))
    service = Service(ServiceSettings(), log)
    service.routes["/fails"] = {"GET": fails}
    client = TestClient(service, base_url="http://127.0.0.1:8080", raise_server_exceptions=False)
    answer = client.get("/fails", headers={"X-Request-ID": "id-1"})
    log.close()
    failure, request = map(json.loads, stream.getvalue().splitlines())
    assert (answer.status_code, answer.json()["request_id"]) == (500, "id-1")
    assert SECRET not in answer.text
    assert SECRET not in stream.getvalue().decode()
    assert (failure["event"], failure["error"], failure["id"]) == (
        "failure",
        "RuntimeError",
        "id-1",
    )
    assert "test_logs.py:" in failure["at"]
    assert (request["status"], request["problem"]) == (500, "internal-error")


def test_a_reader_that_is_too_slow_stops_nothing() -> None:
    """Lines beyond a number are dropped and counted; writing one never waits."""
    reading, writing = os.pipe()
    dropped = 0

    def drop() -> None:
        nonlocal dropped
        dropped += 1

    with os.fdopen(reading, "rb") as reader, os.fdopen(writing, "wb") as stream:
        log = LogWriter("text", stream=stream, on_drop=drop)
        longest = 0.0
        for number in range(WAITING * 3):
            began = time.monotonic()
            log.write("info", "request", id="x" * 100, number=number)
            longest = max(longest, time.monotonic() - began)
            if number == WAITING // 10:
                time.sleep(0.2)  # the thread takes these, and waits for the pipe
        assert longest < 0.2
        assert dropped > 0
        lines: list[bytes] = []
        thread = threading.Thread(target=lambda: lines.extend(reader), daemon=True)
        thread.start()
        log.close(10)
        stream.close()
        thread.join(10)
        assert len(lines) + dropped == WAITING * 3


def test_what_libraries_log() -> None:
    """Their records are lines of the same form; exceptions without their messages."""
    stream = io.BytesIO()
    log = LogWriter("json", stream=cast(BinaryIO, stream))
    logger = logging.Logger("robotrules.client")
    logger.addHandler(LogHandler(log))
    logger.warning("store unavailable")
    try:
        raise ValueError(SECRET)
    except ValueError:
        logger.exception("failed")
    log.close()
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert (first["level"], first["event"]) == ("warning", "robotrules.client")
    assert first["message"] == "store unavailable"
    assert (second["level"], second["error"]) == ("error", "ValueError")
    assert SECRET not in stream.getvalue().decode()


def test_a_writer_can_be_used_after_it_was_closed() -> None:
    """Closing writes what waits."""
    stream = io.BytesIO()
    log = LogWriter("text", stream=cast(BinaryIO, stream))
    for _ in range(3):
        log.write("info", "start")
        log.close()
    assert stream.getvalue().count(b"start") == 3
