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

A server may ignore Upgrade (RFC 9110 §7.8), and this one has nothing to upgrade to. The parser of
httptools would take the body of such a request for the next request, so Upgrade is removed before
it sees the header. Where that is not certain, the request is refused, and the connection is closed.

When the service stops, a connection that was made and has sent no request yet gets a moment to do
so, because its request may be on the way.

The application finds an event in the scope of a request (`connection_lost`) that is set when the
client has gone, also while nobody reads the body.

Sections: open connections · the protocol.
"""

from __future__ import annotations

import asyncio
import re
import select
import time
from collections import OrderedDict
from collections.abc import Awaitable
from typing import Any

import msgspec
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from robotrules.service.metrics import Metrics
from robotrules.service.problems import MEDIA_TYPE, Problem
from robotrules.service.settings import Limits

__all__ = ["Connections", "connection_lost", "limited_protocol"]

# The key of the event in a scope.
LOST = "robotrules.connection_lost"

# A new connection gets this long before it may be closed for another one.
GRACE = 0.5
# What the system tells of a client that has closed its connection or its sending side.
_CLIENT_GONE = getattr(select, "POLLRDHUP", 0) if hasattr(select, "poll") else None
# Refused connections stay open for a moment: closed at once, the client might not see the answer.
LINGERING = 256
LINGER_SECONDS = 1.0
# The longest URL that the parser of httptools can split.
LONGEST_URL = 65_535
# A line that is removed: complete, not the first one, without a continuation line, and without what
# parsers disagree about. The end of a header is found also where parsers accept a lone line feed.
_UPGRADE_LINE = re.compile(
    rb"(?<=[^\r\n]\r\n)Upgrade:[\t\x20-\x7e\x80-\xff]*\r\n(?=[^ \t])", re.IGNORECASE
)
_HEADER_END = re.compile(rb"\n\r?\n")


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
_UPGRADE = _raw_response(
    b"400 Bad Request",
    Problem(
        "upgrade-not-supported",
        "this service speaks HTTP/1.1 and is not a proxy: send neither Upgrade nor CONNECT",
    ),
)


def connection_lost(scope: Scope) -> asyncio.Event | None:
    """Return the event that is set when the client has gone; None: the server has none."""
    found: asyncio.Event | None = scope.get(LOST)
    return found


def _without_upgrade(last: bytes, data: bytes) -> bytes:
    """
    Return data without Upgrade in the header that it begins or continues.

    *last*: the last two bytes before the data. They may be a part of the end of the header; without
    them, bytes of a body could be removed.
    """
    start = b"\n" if last.endswith(b"\n") else b"\n\r" if last == b"\n\r" else b""
    end = _HEADER_END.search(start + data)
    length = end.end() - len(start) if end else len(data)
    return _UPGRADE_LINE.sub(b"", data[:length]) + data[length:]


# --- Open connections -----------------------------------------------------------------------------


class Connections:
    """The open connections of one worker, the one first whose last request is the oldest."""

    def __init__(self, limits: Limits, metrics: Metrics) -> None:
        self.limits = limits
        self.stopping = False
        """Whether no connection may send more than one further request."""
        self._metrics = metrics
        # In both, the one first whose last request, or its end, is the oldest. Those that wait for
        # their client may be closed for another one; one that has become busy without a sign is
        # moved when it is looked at.
        self._waiting: OrderedDict[Any, None] = OrderedDict()
        self._busy: OrderedDict[Any, None] = OrderedDict()
        self._lingering: dict[Any, float] = {}
        # Responses that are not read: bytes left, and since when they are that many.
        self._stalled: dict[Any, tuple[int, float]] = {}

    def __len__(self) -> int:
        return len(self._waiting) + len(self._busy)

    def admit(self, protocol: Any) -> bool:
        """Add a connection; False if it has to be refused."""
        if len(self) >= self.limits.max_connections and not self._make_room():
            return False
        self._waiting[protocol] = None
        return True

    def touch(self, protocol: Any, *, waits: bool) -> None:
        """Note a request or its end; *waits*: something has to come from the client."""
        if protocol in self._waiting:
            del self._waiting[protocol]
        elif protocol in self._busy:
            del self._busy[protocol]
        else:  # it was closed for another one
            return
        (self._waiting if waits else self._busy)[protocol] = None

    def remove(self, protocol: Any) -> None:
        """Remove a connection that is closed."""
        self._waiting.pop(protocol, None)
        self._busy.pop(protocol, None)
        self._stalled.pop(protocol, None)
        self._lingering.pop(protocol, None)

    def refuse(self, protocol: Any) -> None:
        """Answer a connection for which there is no room."""
        self.dropped("connections")
        protocol.transport.write(_BUSY)
        self._lingering[protocol] = time.monotonic() + LINGER_SECONDS
        if len(self._lingering) > LINGERING:
            # The oldest had the most time to read the answer.
            oldest = next(iter(self._lingering))
            del self._lingering[oldest]
            oldest.transport.close()

    def dropped(self, limit: str) -> None:
        """Count a connection that was closed because of a limit."""
        self._metrics.dropped_connections.labels(limit).inc()

    def _make_room(self) -> bool:
        oldest = time.monotonic() - GRACE
        while self._waiting:
            protocol = next(iter(self._waiting))
            if protocol.active_since >= oldest:
                return False
            del self._waiting[protocol]
            if protocol.waits_for_client():
                self.dropped("connections")
                protocol.cut(_BUSY)
                return True
            self._busy[protocol] = None
        return False

    def sweep(self) -> None:
        """Close the connections that are too slow; called every second."""
        now = time.monotonic()
        for protocol, end in list(self._lingering.items()):
            if now > end:
                self._lingering.pop(protocol)
                protocol.transport.close()
        for protocol in self._unread():
            protocol.transport.abort()
        for protocol in [*self._waiting, *self._busy]:
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
        self._metrics.connections.set(len(self))

    def _unread(self) -> list[Any]:
        """Return the connections that are not read at the moment and whose clients have gone."""
        paused = {
            protocol.transport.get_extra_info("socket").fileno(): protocol
            for protocol in (*self._waiting, *self._busy)
            if protocol.flow.read_paused
        }
        if not paused or _CLIENT_GONE is None:
            return []
        poll = select.poll()
        for number in paused:
            if number >= 0:
                poll.register(number, _CLIENT_GONE)
        return [paused[number] for number, _ in poll.poll(0)]


# --- The protocol ---------------------------------------------------------------------------------


def limited_protocol(
    connections: Connections, base: type[asyncio.Protocol] | None = None
) -> type[asyncio.Protocol]:
    """Return the protocol of uvicorn (httptools if it is installed, or h11) with limits."""
    parent: Any = base or AutoHTTPProtocol
    max_header = connections.limits.max_header
    # h11 ignores Upgrade by itself.
    is_httptools = hasattr(parent, "on_headers_complete")

    class LimitedProtocol(parent):  # type: ignore[misc]
        """One connection."""

        # A refused connection never reaches uvicorn; a cut one ignores what still comes.
        refused = cut_off = False
        # When the first byte of an incomplete header arrived; 0: no header is expected.
        header_since = 0.0
        header_octets = 0
        # The last two bytes that were received.
        last_octets = b""
        upgrades = False
        active_since = 0.0
        app: Any
        lost: asyncio.Event

        def connection_made(self, transport: asyncio.Transport) -> None:
            """Accept the connection, or answer that there are too many."""
            if not connections.admit(self):
                self.refused, self.transport = True, transport
                connections.refuse(self)
                return
            super().connection_made(transport)
            self.lost = asyncio.Event()
            self.app = self._with_event(self.app)
            self.active_since = self.header_since = time.monotonic()
            if connections.stopping:
                self.shutdown()

        def _with_event(self, app: Any) -> Any:
            """Return the application with the event of this connection in its scopes."""
            lost = self.lost

            def call(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
                """Call the application."""
                scope[LOST] = lost
                answer: Awaitable[None] = app(scope, receive, send)
                return answer

            return call

        def data_received(self, data: bytes) -> None:
            """Pass data on; see whether it completes the header of a request."""
            if self.refused or self.cut_off:
                return
            before = self.cycle
            waited = before is not None and before.more_body
            octets = len(data)
            last, self.last_octets = self.last_octets, data[-2:]
            if octets < 2:
                self.last_octets = (last + data)[-2:]
            if is_httptools and not waited and b"pgrade:" in data:
                data = _without_upgrade(last, data)
            super().data_received(data)
            cycle = self.cycle
            if cycle is not before:
                if connections.stopping:
                    cycle.keep_alive = False
                self.header_since, self.header_octets = 0.0, 0
                self.active_since = time.monotonic()
                connections.touch(self, waits=self.waits_for_client())
            elif before is not None and waited:
                if not before.more_body:  # the body is complete
                    connections.touch(self, waits=False)
            elif before is None or before.response_complete:
                self.header_since = self.header_since or time.monotonic()
                self.header_octets += octets
                if self.header_octets > max_header:
                    connections.dropped("header-size")
                    self.cut(_LARGE)

        def on_headers_complete(self) -> None:
            """Begin a request, unless the parser takes what follows for another protocol."""
            if self.parser.should_upgrade():
                self.upgrades = True
                raise ValueError("an upgrade")  # nothing that follows is parsed
            super().on_headers_complete()

        def send_400_response(self, msg: str) -> None:
            """Answer what cannot be parsed; nothing after it is read."""
            cycle = self.cycle
            self.cut_off = True
            if cycle is not None and not cycle.response_complete and not cycle.more_body:
                # The answers to the requests before it come first.
                cycle.keep_alive = False
            elif self.upgrades:
                self.transport.write(_UPGRADE)
                self.transport.close()
            elif is_httptools and len(getattr(self, "url", b"")) > LONGEST_URL:
                connections.dropped("header-size")
                self.transport.write(_LARGE)
                self.transport.close()
            else:
                super().send_400_response(msg)

        def shutdown(self) -> None:
            """Close the connection, after its request if there is one or may be on the way."""
            if self.cycle is None and not self.transport.is_closing():
                asyncio.get_running_loop().call_later(GRACE, self.end)
            else:
                super().shutdown()

        def end(self) -> None:
            """Close the connection, after its request if there is one."""
            if not self.transport.is_closing():
                super().shutdown()

        def on_response_complete(self) -> None:
            """Wait for the next request; not if there is more of the body of this one."""
            cycle = self.cycle
            if cycle.response_complete:
                self.active_since = time.monotonic()
                connections.touch(self, waits=True)
                if cycle.more_body and not self.transport.is_closing():
                    self.cut_off = True
                    self.transport.close()
            super().on_response_complete()
            if self.cycle is not cycle:  # a request that was there already
                connections.touch(self, waits=self.waits_for_client())

        def connection_lost(self, exc: Exception | None) -> None:
            """Forget the connection, and tell the application."""
            connections.remove(self)
            if not self.refused:
                super().connection_lost(exc)
                self.lost.set()

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
