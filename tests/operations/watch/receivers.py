"""
Receivers of events, on the loopback: a webhook endpoint and a mail server.

Both record what they get, can be told to fail, and end with their block.
"""

from __future__ import annotations

import json
import socketserver
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar


class Hook:
    """A webhook endpoint that runs."""

    def __init__(self) -> None:
        self.port = 0
        self.status = 200
        self.fields: dict[str, str] = {}
        """Header fields of responses."""
        self.requests: list[tuple[dict[str, str], bytes]] = []
        """The accepted ones."""
        self.refused = 0

    @property
    def url(self) -> str:
        """Its URL."""
        return f"http://127.0.0.1:{self.port}/hook"

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events of the accepted requests."""
        return [json.loads(body)["data"] for _, body in self.requests]


class _Hooked(BaseHTTPRequestHandler):
    hook: ClassVar[Hook]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        hook = self.hook
        if hook.status < 300:
            hook.requests.append(
                ({name.lower(): text for name, text in self.headers.items()}, body)
            )
        else:
            hook.refused += 1
        self.send_response(hook.status)
        for name, text in hook.fields.items():
            self.send_header(name, text)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


@contextmanager
def webhook_endpoint() -> Iterator[Hook]:
    """Run a webhook endpoint."""
    hook = Hook()
    handler = type("Hooked", (_Hooked,), {"hook": hook})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        hook.port = server.server_address[1]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield hook
        finally:
            server.shutdown()
            thread.join()


class Mailbox:
    """A mail server that runs."""

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        self.tls = tls
        self.port = 0
        self.messages: list[bytes] = []
        self.commands: list[str] = []
        self.refuses: dict[str, str] = {}
        """Replies by the first word of a command, instead of success."""


class _Mail(socketserver.StreamRequestHandler):
    box: ClassVar[Mailbox]

    def handle(self) -> None:
        box = self.box
        self._say("220 mail.example ESMTP")
        while line := self.rfile.readline(2_000):
            command = line.decode("latin-1").strip()
            box.commands.append(command)
            word = command.split(" ")[0].partition(":")[0].upper()
            if word in box.refuses:
                self._say(box.refuses[word])
            elif word == "EHLO":
                extra = ["250-STARTTLS"] if box.tls is not None else []
                self._say("\r\n".join(["250-mail.example", *extra, "250 AUTH PLAIN"]))
            elif word == "STARTTLS":
                self._say("220 go")
                assert box.tls is not None
                try:
                    self.request = box.tls.wrap_socket(self.request, server_side=True)
                except OSError:
                    return  # the client does not trust this server
                self.rfile = self.request.makefile("rb")
                self.wfile = self.request.makefile("wb", buffering=0)
            elif word == "AUTH":
                self._say("235 welcome")
            elif word == "DATA":
                self._say("354 go on")
                body = b""
                while (line := self.rfile.readline(2_000)) not in (b".\r\n", b""):
                    body += line
                box.messages.append(body)
                self._say("250 accepted")
            elif word == "QUIT":
                self._say("221 bye")
                return
            else:
                self._say("250 ok")

    def finish(self) -> None:
        """Close what STARTTLS has put in the place of the connection, too."""
        super().finish()
        self.request.close()

    def _say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


@contextmanager
def mail_server(tls: ssl.SSLContext | None = None) -> Iterator[Mailbox]:
    """Run a mail server; with *tls* it offers STARTTLS."""
    box = Mailbox(tls)
    handler = type("Mail", (_Mail,), {"box": box})
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        box.port = server.server_address[1]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield box
        finally:
            server.shutdown()
            thread.join()
