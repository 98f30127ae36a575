"""
Servers on loopback that do one thing, mostly a wrong one: faults as they come over a wire.

`with serve(behaviour) as site:` gives a server with a separate port; a behaviour is a function that
receives one connection. `farm()` is for many requests: it answers for any host, so that one server
is ten thousand origins. Everything is bounded and ends with the block.
"""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from threading import Event, Thread
from time import sleep

import trustme

from robotrules.client.ssrf import AddressPolicy

# No test is late by more than this.
LONGEST = 20.0
LOOPBACK = "127.0.0.1"
ROBOTS = b"User-agent: *\nDisallow: /private\n"


class Peer:
    """One connection to a server, and the head of the request on it."""

    def __init__(self, sock: socket.socket, site: Site, head: bytes) -> None:
        self.sock = sock
        self.site = site
        self.head = head

    def send(self, data: bytes) -> None:
        """Send octets; a client that has disconnected is not an error."""
        with suppress(OSError):
            self.sock.sendall(data)

    def reset(self) -> None:
        """End the connection with a reset instead of a farewell."""
        linger = struct.pack("ii", 1, 0)
        with suppress(OSError):
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            # The last one to close a socket sends the reset, so TLS is bypassed.
            socket.socket(fileno=self.sock.detach()).close()

    def farewell(self) -> None:
        """End the connection, and wait for the other end: unread octets would make it a reset."""
        with suppress(OSError):
            self.sock.settimeout(1.0)
            self.sock.shutdown(socket.SHUT_WR)
            for _ in range(1000):
                if not self.sock.recv(65536):
                    return

    def pause(self, seconds: float) -> bool:
        """Wait; False: the server ends."""
        return not self.site.over.wait(seconds)

    def path(self) -> str:
        """Return the requested target."""
        return self.head.split(b" ", 2)[1].decode("latin-1") if b" " in self.head else ""


Behaviour = Callable[[Peer], None]


class Site:
    """A server: its address, and the requests it has received."""

    def __init__(self, scheme: str, port: int) -> None:
        self.scheme = scheme
        self.port = port
        self.heads: list[bytes] = []
        self.connections = 0
        self.over = Event()

    @property
    def url(self) -> str:
        """Its origin, by address."""
        return f"{self.scheme}://{LOOPBACK}:{self.port}"

    def named(self, host: str) -> str:
        """Return an origin of that name; the client must resolve it to loopback."""
        return f"{self.scheme}://{host}:{self.port}"


@contextmanager
def serve(
    behaviour: Behaviour,
    *,
    tls: ssl.SSLContext | None = None,
    reads: bool = True,
    scheme: str | None = None,
    host: str = LOOPBACK,
    port: int = 0,
) -> Iterator[Site]:
    """
    Run a server.

    *reads* False: it does not wait for a request. *scheme*: that of its origin, if it differs
    from the protocol. *host*: an address of loopback; *port* 0: one that is free.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=128)
    listener.settimeout(0.5)
    site = Site(scheme or ("https" if tls else "http"), listener.getsockname()[1])
    guests: list[tuple[Thread, socket.socket]] = []

    def entertain(sock: socket.socket) -> None:
        wrapped = sock
        with suppress(OSError):
            sock.settimeout(LONGEST)
            if tls is not None:
                wrapped = tls.wrap_socket(sock, server_side=True)
            head = _head(wrapped) if reads else b""
            site.heads.append(head)
            peer = Peer(wrapped, site, head)
            behaviour(peer)
            peer.farewell()
        with suppress(OSError):
            wrapped.close()

    def accept() -> None:
        while not site.over.is_set():
            try:
                sock, _ = listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            site.connections += 1
            guest = Thread(target=entertain, args=(sock,), daemon=True)
            guests.append((guest, sock))
            guest.start()

    door = Thread(target=accept, daemon=True)
    door.start()
    try:
        yield site
    finally:
        site.over.set()
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)  # wakes the thread in accept()
        door.join(LONGEST)
        listener.close()
        for guest, sock in guests:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            guest.join(LONGEST)
            sock.close()


def _head(sock: socket.socket) -> bytes:
    head = b""
    while b"\r\n\r\n" not in head and len(head) < 100_000:
        data = sock.recv(65536)
        if not data:
            break
        head += data
    return head


def soon(condition: Callable[[], bool]) -> bool:
    """Return whether a condition becomes true within a few seconds."""
    for _ in range(500):
        if condition():
            return True
        sleep(0.01)
    return False


# --- Addresses ------------------------------------------------------------------------------------


def here(*names: str) -> AddressPolicy:
    """Return addresses that lead every name to loopback; only *names* and loopback are allowed."""
    return AddressPolicy(allow_private=names or (LOOPBACK,), resolve=lambda host, port: [LOOPBACK])


@contextmanager
def closed_port() -> Iterator[str]:
    """Return an origin whose port is reserved but not listening."""
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        yield f"http://{LOOPBACK}:{taken.getsockname()[1]}"


# --- TLS ------------------------------------------------------------------------------------------


@cache
def authority() -> trustme.CA:
    """Return an authority that clients trust only if configured to."""
    return trustme.CA()


@cache
def server_tls(*names: str) -> ssl.SSLContext:
    """Return a server's TLS, with a certificate for *names*."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority().issue_cert(*(names or (LOOPBACK, "localhost"))).configure_cert(context)
    return context


@cache
def client_tls() -> ssl.SSLContext:
    """Return a client's TLS that trusts the authority."""
    context = ssl.create_default_context()
    authority().configure_trust(context)
    return context


# --- Answers --------------------------------------------------------------------------------------


def message(
    body: bytes = ROBOTS, *fields: str, status: str = "200 OK", length: int | None = None
) -> bytes:
    """Return the octets of an answer."""
    head = [f"HTTP/1.1 {status}", *fields]
    if not any(field.lower().startswith("transfer-encoding") for field in fields):
        head.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join([*head, "", ""]).encode("latin-1") + body


def says(data: bytes) -> Behaviour:
    """Return a behaviour: send these octets, and close."""
    return lambda peer: peer.send(data)


def chunked(*chunks: bytes, last: bool = True) -> bytes:
    """Return a body in chunks."""
    body = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)
    return body + (b"0\r\n\r\n" if last else b"")


ok = says(message())


def redirects(peer: Peer) -> None:
    """Redirect without end: from `/robots.txt` to `/1`, to `/2`, and so on."""
    digits = peer.path().rpartition("/")[2]
    step = int(digits) + 1 if digits.isdecimal() else 1
    peer.send(message(b"", f"Location: /{step}", status="302 Found"))


def fickle(peer: Peer) -> None:
    """Answer, keep the connection open, and close it on the next request."""
    peer.send(message())
    with suppress(OSError):
        _head(peer.sock)


def proxies(peer: Peer) -> None:
    """Act as a proxy: answer absolute-form requests, and tunnel any host name to loopback."""
    if not peer.head.startswith(b"CONNECT "):
        peer.send(message(b"# from the proxy\n"))
        return
    port = int(peer.path().rpartition(":")[2])
    with suppress(OSError), socket.create_connection((LOOPBACK, port), LONGEST) as far:
        peer.send(b"HTTP/1.1 200 Connected\r\n\r\n")
        back = Thread(target=_relay, args=(far, peer.sock), daemon=True)
        back.start()
        _relay(peer.sock, far)
        back.join(LONGEST)


def _relay(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


# --- Faults ---------------------------------------------------------------------------------------


def resets_at_once(peer: Peer) -> None:
    """Reset the connection instead of an answer."""
    peer.pause(0.02)  # a connection that is reset while it begins is none at all
    peer.reset()


def resets_mid_headers(peer: Peer) -> None:
    """Reset the connection within the head."""
    peer.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/pl")
    peer.pause(0.05)
    peer.reset()


def resets_mid_body(peer: Peer) -> None:
    """Reset the connection within the body."""
    peer.send(message(ROBOTS[:10], length=len(ROBOTS)))
    peer.pause(0.05)
    peer.reset()


closes_at_once = says(b"")
closes_mid_headers = says(b"HTTP/1.1 200 OK\r\nContent-Type: text/pl")
short = says(message(ROBOTS[:10], length=len(ROBOTS)))
chunk_cut = says(message(chunked(ROBOTS, last=False), "Transfer-Encoding: chunked"))
chunk_cut_within = says(message(b"40\r\nUser-agent", "Transfer-Encoding: chunked"))


def never_answers(peer: Peer) -> None:
    """Read the request and send no response."""
    peer.pause(LONGEST)


def _drips(peer: Peer, data: bytes) -> None:
    for octet in data:
        peer.send(bytes([octet]))
        if not peer.pause(0.05):
            return


def drips_headers(peer: Peer) -> None:
    """Send a head, an octet at a time, for ever."""
    _drips(peer, b"HTTP/1.1 200 OK\r\n" + b"X-Slow: yes\r\n" * 1000)


def drips_body(peer: Peer) -> None:
    """Send a body, an octet at a time."""
    peer.send(message(b"", length=100_000))
    _drips(peer, b"#" * 100_000)


def pours(peer: Peer) -> None:
    """Send interim answers without end, as fast as the client reads them."""
    with suppress(OSError):
        while not peer.site.over.is_set():
            peer.sock.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100)


# For a client that wants TLS: with `reads=False, scheme="https"`.
plain_speech = says(message(b"speak up", status="400 Bad Request"))
garbage = says(b"\x00\x01\x02 this is no HTTP \xff\xfe\r\n\r\n")
ssh = says(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")
bad_status_line = says(b"HTTP/1.1 two hundred OK\r\n\r\n")
bad_length = says(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nUser-agent: *\n")
two_lengths = says(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\n12345")
two_framings = says(
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(ROBOTS)
)
bad_chunk = says(message(b"zz\r\nUser-agent: *\r\n0\r\n\r\n", "Transfer-Encoding: chunked"))


def huge_header(peer: Peer) -> None:
    """Send one field of 10 MB."""
    peer.send(b"HTTP/1.1 200 OK\r\nX-Big: ")
    for _ in range(160):
        peer.send(b"a" * 65536)
    peer.send(b"\r\n\r\n")


def many_headers(peer: Peer) -> None:
    """Send 100,000 fields, 10 MB in all."""
    peer.send(b"HTTP/1.1 200 OK\r\n")
    for _ in range(100):
        peer.send((b"X-Many: " + b"a" * 90 + b"\r\n") * 1000)
    peer.send(b"\r\n")


unknown_coding = says(message(ROBOTS, "Content-Encoding: sdch"))
broken_coding = says(message(b"this is not gzip", "Content-Encoding: gzip"))
cut_coding = says(message(gzip.compress(ROBOTS * 100)[:-30], "Content-Encoding: gzip"))
coded_transfer = says(message(chunked(gzip.compress(ROBOTS)), "Transfer-Encoding: gzip, chunked"))


@cache
def bomb() -> bytes:
    """Return 4 MB of gzip that are 4 GB of zeros."""
    made = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    first = made.compress(bytes(2**20)) + made.flush(zlib.Z_FULL_FLUSH)
    # After a full flush the same input gives the same octets, which may be repeated.
    again = made.compress(bytes(2**20)) + made.flush(zlib.Z_FULL_FLUSH)
    return first + again * 4095


@cache
def _bomb_message() -> bytes:
    return message(bomb(), "Content-Encoding: gzip")


def bombs(peer: Peer) -> None:
    """Send the bomb."""
    peer.send(_bomb_message())


# --- Many origins ---------------------------------------------------------------------------------

Answers = Callable[[str, str], bytes]


class Farm(Site):
    """A server that answers for any host."""

    def __init__(self, port: int) -> None:
        super().__init__("http", port)
        self.requests = 0
        self.open = 0
        self.most_open = 0
        self.rows: set[_Row] = set()


class _Row(asyncio.Protocol):
    def __init__(self, farm: Farm, answers: Answers) -> None:
        self.farm, self.answers = farm, answers
        farm.rows.add(self)
        self.transport: asyncio.Transport | None = None
        self.data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        farm = self.farm
        farm.connections += 1
        farm.open += 1
        farm.most_open = max(farm.most_open, farm.open)

    def connection_lost(self, error: Exception | None) -> None:
        self.farm.open -= 1
        self.farm.rows.discard(self)

    def data_received(self, data: bytes) -> None:
        self.data += data
        while b"\r\n\r\n" in self.data and self.transport is not None:
            head, _, self.data = self.data.partition(b"\r\n\r\n")
            self.farm.requests += 1
            fields = head.decode("latin-1").split("\r\n")
            hosts = [one[5:].strip() for one in fields if one[:5].lower() == "host:"]
            self.transport.write(self.answers(hosts[0] if hosts else "", fields[0].split()[1]))


@contextmanager
def farm(answers: Answers = lambda host, path: message()) -> Iterator[Farm]:
    """Run a server with keep-alive; *answers* gives the octets for a host and a path."""
    ready = Event()
    loop = asyncio.new_event_loop()
    made: list[Farm] = []

    async def run() -> None:
        listener = socket.create_server((LOOPBACK, 0), backlog=1024)
        site = Farm(listener.getsockname()[1])
        server = await loop.create_server(lambda: _Row(site, answers), sock=listener)
        made.append(site)
        ready.set()
        while not site.over.is_set():
            await asyncio.sleep(0.02)
        server.close()
        for one in list(site.rows):
            if one.transport is not None:
                one.transport.abort()
        await asyncio.sleep(0)
        await server.wait_closed()

    thread = Thread(target=loop.run_until_complete, args=(run(),), daemon=True)
    thread.start()
    assert ready.wait(LONGEST)
    try:
        yield made[0]
    finally:
        made[0].over.set()
        thread.join(LONGEST)
        loop.close()
