"""
Real servers on loopback for tests of the server side: uvicorn, wsgiref, Werkzeug, a subprocess.

Each is a context manager that returns a port, and has stopped when it ends. It serves nothing by
itself.
"""

from __future__ import annotations

import socket
import socketserver
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import uvicorn

LOOPBACK = "127.0.0.1"
SECONDS = 20


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.create_server((LOOPBACK, 0)) as sock:
        port: int = sock.getsockname()[1]
    return port


@contextmanager
def run_uvicorn(app: Any, **options: Any) -> Iterator[int]:
    """Serve an ASGI application."""
    with socket.create_server((LOOPBACK, 0)) as sock:
        # h11 hands unknown methods to the application; httptools answers them itself.
        options = {"http": "h11", **options}
        config = uvicorn.Config(app, log_level="critical", ws="none", **options)
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
        thread.start()
        deadline = time.monotonic() + SECONDS
        while not server.started:
            assert thread.is_alive(), "uvicorn has stopped"
            assert time.monotonic() < deadline, "uvicorn has not started"
            time.sleep(0.01)
        try:
            yield sock.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(SECONDS)


class _ThreadingServer(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 64


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


@contextmanager
def run_wsgiref(app: Any) -> Iterator[int]:
    """Serve a WSGI application by the server of the standard library."""
    with make_server(LOOPBACK, 0, app, _ThreadingServer, _QuietHandler) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join(SECONDS)


@contextmanager
def run_werkzeug(app: Any) -> Iterator[int]:
    """Serve a WSGI application by Flask's server."""
    from werkzeug.serving import WSGIRequestHandler as Handler
    from werkzeug.serving import make_server as make

    class Quiet(Handler):
        def log(self, type: str, message: str, *args: Any) -> None:
            """Print nothing."""

    server = make(LOOPBACK, 0, app, threaded=True, request_handler=Quiet)
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join(SECONDS)
        server.server_close()


@contextmanager
def run_command(arguments: list[str], folder: Path, port: int) -> Iterator[int]:
    """Run a server in a subprocess of this interpreter; it listens at *port*."""
    log = folder / f"server-{port}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *arguments], cwd=folder, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            wait_for_port(port, process, log)
            yield port
        finally:
            process.terminate()
            process.wait(SECONDS)


def wait_for_port(port: int, process: subprocess.Popen[Any], log: Path | None = None) -> None:
    """Return when a process listens; fail with its output if it has ended."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            socket.create_connection((LOOPBACK, port), timeout=1).close()
            return
        except OSError:
            said = log.read_text(errors="replace") if log else ""
            assert process.poll() is None, said
            assert time.monotonic() < deadline, said
            time.sleep(0.05)
