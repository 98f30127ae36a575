"""
A loopback site whose port speaks both `http` and `https`: two origins with one host and port.

`https` is HTTP/2 if the client offers it, and each request is recorded with its protocol.
"""

from __future__ import annotations

import socket
import ssl
from typing import Any

import h2.config
import h2.connection
import h2.events
import trustme

from tests.integrations.loopback_site import (
    LOOPBACK,
    Answer,
    LoopbackSite,
    Site,
    SiteHandler,
    SiteServer,
)

HTTP_2 = "h2"


class TlsSite(LoopbackSite):
    """A loopback site; what is requested by `https` is answered by `secure`."""

    def __init__(
        self,
        authority: trustme.CA,
        robots: str | Answer | None = None,
        secure_robots: str | Answer | None = None,
    ) -> None:
        self.secure = Site(secure_robots)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.set_alpn_protocols([HTTP_2, "http/1.1"])
        authority.issue_cert(LOOPBACK).configure_cert(self._context)
        super().__init__(robots)

    def secure_url(self, path: str) -> str:
        """Return the `https` URL of a path."""
        return f"https://{LOOPBACK}:{self.port}{path}"

    def open_server(self, address: str) -> SiteServer:
        """Open a server that recognizes TLS."""
        return _TlsServer((address, 0), self.secure, self._context)


class _TlsServer(SiteServer):
    def __init__(self, address: tuple[str, int], secure: Site, context: ssl.SSLContext) -> None:
        super().__init__(address)
        self.secure, self.context = secure, context

    def finish_request(self, request: Any, client_address: Any) -> None:
        request.settimeout(30)
        if request.recv(1, socket.MSG_PEEK) != b"\x16":  # a TLS handshake
            super().finish_request(request, client_address)
            return
        with self.context.wrap_socket(request, server_side=True) as stream:
            if stream.selected_alpn_protocol() == HTTP_2:
                _serve_http2(stream, self.secure)
            else:
                _SecureHandler(stream, client_address, self)


class _SecureHandler(SiteHandler):
    server: _TlsServer

    @property
    def site(self) -> Site:
        return self.server.secure


def _serve_http2(stream: ssl.SSLSocket, site: Site) -> None:
    """Answer the requests of one connection, one after another."""
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
    connection.initiate_connection()
    stream.sendall(connection.data_to_send())
    while received := stream.recv(65_536):
        for event in connection.receive_data(received):
            if isinstance(event, h2.events.RequestReceived):
                fields = {name.decode(): value.decode() for name, value in event.headers}
                path = fields.pop(":path")
                headers = {name.title(): value for name, value in fields.items()}
                answer = site.answer(path, headers, HTTP_2)
                status = [(":status", str(answer.status)), ("content-type", "text/plain")]
                connection.send_headers(event.stream_id, [*status, *answer.headers])
                connection.send_data(event.stream_id, answer.body, end_stream=True)
        stream.sendall(connection.data_to_send())
