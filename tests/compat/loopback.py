"""A server on loopback for the tests of drop-ins that fetch: one status and body for every path."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def serving(
    status: int, body: bytes = b"", fields: dict[str, str] | None = None
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Serve until the block ends; yield the origin, and (path, User-Agent) of each request."""
    requested: list[tuple[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requested.append((self.path, self.headers.get("User-Agent", "")))
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(body))} | (fields or {})).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", requested
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
