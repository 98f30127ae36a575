"""A real server of the service, in a thread, for tests of the verbs that fetch."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import httpx
import uvicorn

from robotrules.service.app import create_app
from robotrules.service.settings import ServiceSettings
from tests.integrations.loopback_site import Answer, LoopbackSite

LOOPBACK = "127.0.0.1"
# Services keep the files of origins, and a port is used again: each site has an address of its own.
LOOPBACKS = "127.0.0.0/8"
_numbers = count(1)


def open_site(robots: str | Answer | None = None) -> LoopbackSite:
    """Return a site at a loopback address that no other site of this process has."""
    number = next(_numbers)
    return LoopbackSite(robots, f"127.1.{number // 250}.{number % 250 + 1}")


class LiveServer:
    """A running service, and a client of it."""

    def __init__(self, port: int, client: httpx.Client) -> None:
        self.port, self.client = port, client
        self.url = f"http://{LOOPBACK}:{port}"

    def get(self, path: str, **parameters: Any) -> httpx.Response:
        """Send a GET; `as_` is the parameter `as`."""
        if "as_" in parameters:
            parameters["as"] = parameters.pop("as_")
        return self.client.get(path, params=parameters)

    def check(self, url: str, **parameters: Any) -> dict[str, Any]:
        """Return the answer to a check, by default for ExampleBot."""
        response = self.get("/v1/check", url=url, **{"as_": "ExampleBot"} | parameters)
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer

    def post(self, path: str, body: Any) -> httpx.Response:
        """Send JSON."""
        return self.client.post(path, json=body)

    def stream(self, lines: list[Any], query: str = "as=ExampleBot") -> list[dict[str, Any]]:
        """Send lines, given as values or as text, and return the answers."""
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        response = self.client.post(
            f"/v1/check/stream?{query}",
            content="\n".join(texts).encode(),
            headers={"Content-Type": "application/x-ndjson"},
        )
        assert response.status_code == 200, response.text
        assert response.headers["content-type"] == "application/x-ndjson"
        assert response.text.endswith("\n") or not response.text
        return [json.loads(line) for line in response.text.splitlines()]


@contextmanager
def serve(**settings: Any) -> Iterator[LiveServer]:
    """Run the service with a store in memory, and requests to loopback allowed."""
    given = ServiceSettings(**{"store": "memory:", "allow_private": (LOOPBACKS,)} | settings)
    listener = socket.create_server((LOOPBACK, 0), backlog=512)
    port = listener.getsockname()[1]
    config = uvicorn.Config(create_app(given), lifespan="on", log_level="error", access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    end = time.monotonic() + 10
    while not server.started:
        assert thread.is_alive(), "the service did not start"
        assert time.monotonic() < end, "the service did not start in time"
        time.sleep(0.01)
    try:
        with httpx.Client(base_url=f"http://{LOOPBACK}:{port}", timeout=30) as client:
            yield LiveServer(port, client)
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
    assert not thread.is_alive(), "the service did not stop"
