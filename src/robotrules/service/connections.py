"""
Limits of connections, which come before a request: how many, and how slowly they may send.

uvicorn has neither a limit of connections that answers nor a time limit of headers. A mixin over
its protocols adds both; it wraps only what every asyncio protocol has. A periodic sweep finds slow
connections, so that a request on the hot path starts no timer.

    a connection more than `max_connections`  the oldest one that waits for a client is closed
                                              instead; if all are busy, 503 and Retry-After
    a header slower than `header_timeout`     408
    a header larger than `max_header`         431
    a response nobody reads, `send_timeout`   the connection is cut

Sections: open connections · the protocol.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from itertools import islice
from typing import Any

import msgspec
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from robotrules.service.metrics import Metrics
from robotrules.service.problems import MEDIA_TYPE, Problem
from robotrules.service.settings import Limits

__all__ = ["Connections", "limited_protocol"]

# A new connection gets this long before it may be closed for another one.
GRACE = 0.5
# Only the oldest connections are looked at for one that can be closed.
LOOKED_AT = 64
# Refused connections stay open for a moment: closed at once, the client might not see the answer.
LINGERING = 256
LINGER_SECONDS = 1.0


def _raw_response(status: bytes, problem: Problem) -> bytes:
    body = msgspec.json.encode(problem.as_dict())
    fields = [f"content-type: {MEDIA_TYPE}", f"content-length: {len(body)}", "connection: close"]
    fields += [f"{name.lower()}: {value}" for name, value in problem.headers.items()]
    return b"HTTP/1.1 %b\r\n%b\r\n\r\n%b" % (status, "\r\n".join(fields).encode(), body)


_BUSY = _raw_response(
    b"503 Service Unavailable",
    Problem("busy", "too many connections; repeat the request", headers={"Retry-After": "2"}),
)
_SLOW = _raw_response(
    b"408 Request Timeout", Problem("timeout", "the header of the request did not arrive in time")
)
_LARGE = _raw_response(
    b"431 Request Header Fields Too Large",
    Problem("header-too-large", "send fewer or shorter fields, and a shorter URL"),
)


# --- Open connections -----------------------------------------------------------------------------


class Connections:
    """The open connections of one worker, the one first whose last request is the oldest."""

    def __init__(self, limits: Limits, metrics: Metrics) -> None:
        self.limits = limits
        self._metrics = metrics
        self._open: OrderedDict[Any, None] = OrderedDict()
        self._lingering: dict[Any, float] = {}
        # Responses that are not read: bytes left, and since when they are that many.
        self._stalled: dict[Any, tuple[int, float]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, protocol: Any) -> bool:
        """Add a connection; False if it has to be refused."""
        if len(self._open) >= self.limits.max_connections and not self._make_room():
            return False
        self._open[protocol] = None
        return True

    def touch(self, protocol: Any) -> None:
        """Note that the header of a request is complete."""
        if protocol in self._open:
            self._open.move_to_end(protocol)

    def remove(self, protocol: Any) -> None:
        """Remove a connection that is closed."""
        self._open.pop(protocol, None)
        self._stalled.pop(protocol, None)
        self._lingering.pop(protocol, None)

    def refuse(self, protocol: Any) -> None:
        """Answer a connection for which there is no room."""
        self.dropped("connections")
        protocol.transport.write(_BUSY)
        if len(self._lingering) < LINGERING:
            self._lingering[protocol] = time.monotonic() + LINGER_SECONDS
        else:
            protocol.transport.close()

    def dropped(self, limit: str) -> None:
        """Count a connection that was closed because of a limit."""
        self._metrics.dropped_connections.labels(limit).inc()

    def _make_room(self) -> bool:
        oldest = time.monotonic() - GRACE
        for protocol in islice(self._open, LOOKED_AT):
            if protocol.active_since < oldest and protocol.waits_for_client():
                self._open.pop(protocol)
                self.dropped("connections")
                protocol.cut(_BUSY)
                return True
        return False

    def sweep(self) -> None:
        """Close the connections that are too slow; called every second."""
        now = time.monotonic()
        for protocol, end in list(self._lingering.items()):
            if now > end:
                self._lingering.pop(protocol)
                protocol.transport.close()
        for protocol in list(self._open):
            transport = protocol.transport
            left = transport.get_write_buffer_size()
            if left:
                before, since = self._stalled.get(protocol, (0, now))
                if left != before:
                    self._stalled[protocol] = left, now
                elif now - since > self.limits.send_timeout:
                    self.dropped("send")
                    transport.abort()
                continue
            self._stalled.pop(protocol, None)
            if protocol.header_since and now - protocol.header_since > self.limits.header_timeout:
                self.dropped("header")
                protocol.cut(_SLOW)
        self._metrics.connections.set(len(self._open))


# --- The protocol ---------------------------------------------------------------------------------


def limited_protocol(
    connections: Connections, base: type[asyncio.Protocol] | None = None
) -> type[asyncio.Protocol]:
    """Return the protocol of uvicorn (httptools if it is installed, or h11) with limits."""
    parent: Any = base or AutoHTTPProtocol
    max_header = connections.limits.max_header

    class LimitedProtocol(parent):  # type: ignore[misc]
        """One connection."""

        # A refused connection never reaches uvicorn; a cut one ignores what still comes.
        refused = cut_off = False
        # When the first byte of an incomplete header arrived; 0: no header is expected.
        header_since = 0.0
        header_octets = 0
        active_since = 0.0

        def connection_made(self, transport: asyncio.Transport) -> None:
            """Accept the connection, or answer that there are too many."""
            if not connections.admit(self):
                self.refused, self.transport = True, transport
                connections.refuse(self)
                return
            super().connection_made(transport)
            self.active_since = self.header_since = time.monotonic()

        def data_received(self, data: bytes) -> None:
            """Pass data on; see whether it completes the header of a request."""
            if self.refused or self.cut_off:
                return
            before = self.cycle
            super().data_received(data)
            if self.cycle is not before:
                self.header_since, self.header_octets = 0.0, 0
                self.active_since = time.monotonic()
                connections.touch(self)
            elif before is None or before.response_complete:
                self.header_since = self.header_since or time.monotonic()
                self.header_octets += len(data)
                if self.header_octets > max_header:
                    connections.dropped("header-size")
                    self.cut(_LARGE)

        def connection_lost(self, exc: Exception | None) -> None:
            """Forget the connection."""
            connections.remove(self)
            if not self.refused:
                super().connection_lost(exc)

        def waits_for_client(self) -> bool:
            """Tell whether the client has to send something before work can begin."""
            cycle = self.cycle
            return bool(
                cycle is None
                or cycle.response_complete
                or (cycle.more_body and not cycle.response_started)
            )

        def cut(self, answer: bytes) -> None:
            """Close the connection; with an answer, if a part of a request was sent."""
            cycle, transport = self.cycle, self.transport
            if transport.is_closing():
                return
            idle = cycle is None or cycle.response_complete
            if self.header_octets or not idle:
                transport.write(answer)
            self.cut_off = True
            transport.close()
            if not idle:
                cycle.disconnected = True
                cycle.message_event.set()

    return LimitedProtocol
