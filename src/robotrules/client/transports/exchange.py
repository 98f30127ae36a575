"""
Exchange: the part of a request that all transports share, independent of the HTTP library.

`TransportSettings` are checked once per transport. An `Exchange` is one request in progress: its
fields, its remaining time, and the evaluation of the response head. HTTP/2 is not used: one file
per origin gives nothing to multiplex, and it would add another parser of untrusted input. The
module imports no HTTP library, and opens nothing.
"""

from __future__ import annotations

import asyncio
import os
import re
import ssl
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from time import monotonic
from typing import NamedTuple
from urllib.parse import quote_from_bytes, urlsplit
from urllib.request import getproxies, proxy_bypass

from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.client.ssrf import AddressPolicy, literal_of, one_line
from robotrules.client.transports.codings import ACCEPT_ENCODING, Body, CodingError
from robotrules.client.transports.framing import Framing, FramingError
from robotrules.http.origins import split_origin
from robotrules.octets import to_octets

# Maximum number of idle connections, and for how long. A crawl goes from one origin to the next:
# one idle connection per origin would accumulate.
MAX_IDLE = 10
IDLE_SECONDS = 5.0
MAX_TIMEOUT = 3_600.0
# Default maximum number of connections.
USUAL_CONNECTIONS = 100
# The wait for a free connection may be this many times the timeout: the origin is not at fault.
CONNECTION_PATIENCE = 10
CLOSED = "this transport is closed: create another one"

_PRINTABLE = bytes(range(0x21, 0x7F)).decode("ascii")
# A path that needs no encoding, as most.
_PLAIN_PATH = re.compile(r"/[\x21-\x7e]*")
_SENDABLE = re.compile(r"[\t\x20-\x7e]*")
# Source location in messages of OpenSSL.
_OPENSSL = re.compile(r"^\[[^]]*\] | ?\(_ssl\.c:[0-9]+\)$")
_PORTS = {"http": 80, "https": 443}
# RFC 9110 §5.6.2.
_TOKEN = re.compile(r"[-!#$%&'*+.^_`|~0-9A-Za-z]+")
# Fields that the transport sets; a request may not.
_OURS = frozenset(("host", "user-agent", "accept-encoding", "connection", "content-length"))
# Fields that a user may not add to every request: those of the connection, of the client's cache,
# and of range requests, whose responses are not files (RFC 9110 §7.6.1, §13.1, §14).
_NOT_ADDED = _OURS | frozenset(
    (
        *("transfer-encoding", "te", "trailer", "upgrade", "keep-alive", "expect"),
        *("proxy-authorization", "proxy-connection", "range", "if-range", "if-match"),
        *("if-none-match", "if-modified-since", "if-unmodified-since"),
    )
)
# Fields with secrets, which every origin would receive.
_SECRETS = frozenset(("authorization", "cookie"))
# Fields that are only an optimisation: without them the full response is sent (RFC 9110 §13.1).
_CONDITIONS = frozenset(("if-none-match", "if-modified-since"))

Headers = list[tuple[bytes, bytes]]
ExtraHeaders = Mapping[str, str] | Iterable[tuple[str, str]]
# The exchange of the current operation: connections outlive exchanges.
CURRENT: ContextVar[Exchange] = ContextVar("robotrules_exchange")
NONE_FREE = Failure(FailureReason.TIMEOUT, "no free connection: raise connections=")


class Target(NamedTuple):
    """The parts of a URL as they are sent."""

    scheme: str
    host: str
    """Without brackets; an international name as its A-label."""
    port: int
    authority: str
    """The value of the Host field."""
    path: str
    """Path and query, in printable ASCII."""

    @property
    def written_port(self) -> int | None:
        """The port, if it is not the default of the scheme."""
        return None if self.port == _PORTS[self.scheme] else self.port

    @property
    def origin(self) -> str:
        """Scheme and authority."""
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        """The URL without userinfo and fragment."""
        return f"{self.origin}{self.path}"


def target_of(url: str) -> Target | None:
    """Return the target of *url*; None: it has no HTTP origin."""
    origin, end = split_origin(url)
    if origin is None:
        return None
    scheme, _, authority = origin.partition("://")
    if authority[0] == "[":
        host, _, port = authority[1:].partition("]")
        port = port[1:]
    else:
        host, _, port = authority.partition(":")
    path = url[end:].partition("#")[0]
    if not _PLAIN_PATH.fullmatch(path):
        path = quote_from_bytes(to_octets(path), safe=_PRINTABLE)
        path = path if path[:1] == "/" else f"/{path}"
    return Target(scheme, host, int(port) if port else _PORTS[scheme], authority, path)


class TransportSettings(NamedTuple):
    """The settings of a transport."""

    user_agent: str
    addresses: AddressPolicy
    seconds: float
    connections: int | None
    """Maximum number of connections; None: 100, or as announced by `expect_concurrency()`."""
    verify: ssl.SSLContext | bool
    trust_env: bool
    proxy: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    """Sent with every request (`extra_headers`)."""

    def vet(self) -> TransportSettings:
        """Return the settings; raises ValueError for invalid ones."""
        agent = self.user_agent
        if not isinstance(agent, str) or not agent.strip() or not agent.isprintable():
            raise ValueError(
                f"the User-Agent is {agent!r}: use a name and a contact URL, such as "
                "'ExampleBot/1.0 (+https://example.com/bot)'"
            )
        if not agent.isascii():
            raise ValueError(f"the User-Agent is {agent!r}: use ASCII (RFC 9110 §10.1.5)")
        vet_connections(self.connections)
        if not 0 < self.seconds <= MAX_TIMEOUT:
            raise ValueError(
                f"timeout is {self.seconds!r}: use more than 0 and at most 3600 seconds"
            )
        if self.proxy is not None:
            vet_proxy(self.proxy)
        return self

    @property
    def slots(self) -> int:
        """Initial maximum number of connections."""
        return self.connections or USUAL_CONNECTIONS

    def more(self, expected: int, slots: int) -> int:
        """Return how many connections to add to *slots* for this many requests."""
        if self.connections is not None:
            return 0
        return max(0, min(expected, max_connections()) - slots)

    def begin(self, request: Request) -> Exchange | Failure:
        """Return the exchange for a request; a Failure if its target is refused."""
        target = target_of(request.url)
        if target is None:
            return Failure(FailureReason.PROTOCOL, "no http or https URL with a host")
        # Libraries connect to a literal address in a URL without calling a resolver.
        if literal_of(target.host):
            if why := self.addresses.refusal_of_address(target.host, target.host):
                return Failure(FailureReason.REFUSED, why)
        headers = []
        for name, value in request.headers:
            # Validators come from servers, and a library may send line ends (RFC 9110 §5.5).
            if _SENDABLE.fullmatch(value):
                headers.append((name, value))
            elif name.lower() not in _CONDITIONS:
                return Failure(
                    FailureReason.PROTOCOL, one_line(f"{name} has a value that cannot be sent")
                )
        if len(headers) < len(request.headers):
            request = request._replace(headers=tuple(headers))
        proxy = self.proxy or (self._proxy(target) if self.trust_env else None)
        if proxy and (why := self.addresses.refusal_of_name(target.host)):
            return Failure(FailureReason.REFUSED, why)
        seconds = self.seconds if request.timeout is None else request.timeout
        return Exchange(request, target, self._request_headers(request, target), seconds, proxy)

    def _request_headers(self, request: Request, target: Target) -> list[tuple[str, str]]:
        fields = [
            ("Host", target.authority),
            ("User-Agent", self.user_agent),
            ("Accept-Encoding", ACCEPT_ENCODING),
        ]
        names = {name.lower() for name, _ in request.headers}
        if names & _OURS:
            raise ValueError(
                f"the request has {', '.join(sorted(names & _OURS))}: the transport sets that "
                "to send; leave it out"
            )
        fields += [field for field in self.headers if field[0].lower() not in names]
        if "accept" not in names and all(name.lower() != "accept" for name, _ in self.headers):
            fields.append(("Accept", "*/*"))
        return [*fields, *request.headers]

    @staticmethod
    def _proxy(target: Target) -> str | None:
        """
        Return the environment's proxy for a host; only with `trust_env`.

        A proxy resolves names itself, so only a literal address in the URL, and a name that is
        never public, is refused here.
        """
        proxies = getproxies()
        found = proxies.get(target.scheme) or proxies.get("all")
        if not found or proxy_bypass(target.host):
            return None
        found = found if "://" in found else f"http://{found}"
        scheme = found.partition("://")[0].lower()
        if scheme not in _PORTS:
            raise ValueError(
                f"the environment has a proxy of scheme {scheme!r}: use one of http or https, or "
                "leave trust_env off"
            )
        return found


def vet_connections(count: object) -> None:
    """Raise ValueError unless it is a number of connections or None."""
    if count is not None and (not isinstance(count, int) or isinstance(count, bool) or count < 1):
        raise ValueError(f"connections is {count!r}: use 1 or more")


def vet_proxy(proxy: str) -> None:
    """Raise ValueError unless it is the URL of a proxy; the message does not repeat it."""
    try:
        found = urlsplit(proxy)
        usable = found.scheme.lower() in _PORTS and bool(found.hostname) and found.port != 0
    except (TypeError, ValueError, AttributeError):
        usable = False
    if not usable or found.path.strip("/") or found.query or found.fragment:
        raise ValueError(
            "proxy is not the URL of an HTTP proxy: pass one such as 'http://proxy.example:3128', "
            "or 'http://user:password@proxy.example:3128'"
        )


def extra_headers(headers: ExtraHeaders) -> tuple[tuple[str, str], ...]:
    """Return the extra fields as pairs; raises ValueError for a field that may not be added."""
    pairs = tuple(headers.items() if isinstance(headers, Mapping) else headers)
    for pair in pairs:
        if not isinstance(pair, tuple | list) or [*map(type, pair)] != [str, str]:
            raise ValueError(
                f"headers contains {pair!r:.60}: pass a mapping, such as {{'Accept-Language': "
                "'en'}}, "
                "or a list of pairs of str"
            )
        name, value = pair
        if not _TOKEN.fullmatch(name) or not _SENDABLE.fullmatch(value):
            raise ValueError(f"headers contains {name!r:.60}: its name or value cannot be sent")
        if name.lower() == "user-agent":
            raise ValueError(
                "headers contains User-Agent: pass it as user_agent, the first argument"
            )
        if name.lower() in _NOT_ADDED:
            raise ValueError(f"headers contains {name}: the transport sets it; remove it")
        if name.lower() in _SECRETS:
            raise ValueError(
                f"headers contains {name}, which every origin would receive: to send it to one, "
                "pass "
                "transport= a client of your own HTTP library that does"
            )
    return tuple((name, value) for name, value in pairs)


def max_connections() -> int:
    """Return how many connections a process may have, by its limit of open files."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit
    except ImportError:  # pragma: no cover  (Windows)
        return 500
    files = getrlimit(RLIMIT_NOFILE)[0]
    # A quarter is left for the store, the resolver, and the rest of the process.
    return 1_000_000 if files == RLIM_INFINITY else max(USUAL_CONNECTIONS, files * 3 // 4)


class Exchange:
    """One request in progress."""

    def __init__(
        self,
        request: Request,
        target: Target,
        fields: list[tuple[str, str]],
        timeout: float,
        proxy: str | None,
    ) -> None:
        self.request = request
        self.target = target
        self.fields = fields
        self.proxy = proxy
        self.seconds = timeout
        self.start()
        self.restart()

    def start(self) -> None:
        """Start the deadline of this exchange, once a connection is available."""
        self._end = monotonic() + self.seconds

    @property
    def patience(self) -> float:
        """Seconds to wait for a free connection."""
        return CONNECTION_PATIENCE * self.seconds

    def restart(self) -> None:
        """Reset what was recorded below the library, which reports little of it."""
        self.connected = False
        self.ended = False
        self.begun = False
        self.fault: FramingError | None = None

    def left(self) -> float:
        """Return the remaining seconds; raises TimeoutError if there are none."""
        left = self._end - monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def received(self, data: bytes) -> None:
        """Record bytes from the network, or their end."""
        if data:
            self.begun = True
        else:
            self.ended = True

    def head(self, status: int, headers: Headers, address: str | None) -> Response | Failure | Body:
        """Evaluate the head of a response: return the response, or a body to be read."""
        if status < 200:
            # An unrequested protocol switch, or an invalid status (AMB-53).
            return self.failure(FailureReason.PROTOCOL, f"status {status}")
        if status == 407:
            # The response of a proxy, configured or intercepting (RFC 9110
            # §15.5.8): the origin was not reached, so this says nothing about its file.
            return self.failure(FailureReason.CONNECT, "a proxy requires credentials (status 407)")
        if not self.request.wants_body(status):
            return Response(status, headers, b"", True, address)
        try:
            codings = values(headers, b"content-encoding")
            return Body(codings, self.request.limit, self.left)
        except CodingError as error:
            return self.failure(FailureReason.CODING, error)

    def failure(self, trouble: FailureReason, error: BaseException | str = "") -> Failure:
        """Return a failure with a detail of one line."""
        if trouble is FailureReason.TIMEOUT:
            return Failure(trouble, f"no whole answer within {self.seconds:g} s")
        if trouble is FailureReason.CUT:
            said = "the connection ended before the response did"
        else:
            said = error if isinstance(error, str) else describe_error(error)
        return Failure(trouble, one_line(f"{self.target.authority}: {said}"))

    def may_be_repeated(self) -> bool:
        """
        Return whether an idle connection was closed before any byte of a response.

        A server may close idle connections at any time (RFC 9112 §9.3.1).
        """
        return not self.connected and not self.begun

    def surprise(self, error: Exception) -> Failure:
        """Return the failure for an unexpected error of a library."""
        if any(map(is_tls, causes(error))):
            return self.failure(FailureReason.TLS, error)
        return self.failure(
            FailureReason.CUT if isinstance(error, OSError) else FailureReason.PROTOCOL, error
        )


class ResponseWatch:
    """
    The received bytes of one connection, limited to the expected responses.

    A head is handed on once it is complete, and found in order. Octets after a response are
    dropped, and a connection that had any is not used again (RFC 9112 §6.3).
    """

    __slots__ = ("_framing", "_held", "spoiled")

    def __init__(self) -> None:
        self._framing: Framing | None = None
        self._held = bytearray()
        self.spoiled = False
        """True: the connection must not be reused."""

    @property
    def waits(self) -> bool:
        """Whether nothing is passed on because a head is incomplete."""
        return bool(self._held)

    def sent(self, *, connect: bool = False) -> None:
        """Record that a request is sent: a response is expected."""
        self._framing = Framing(connect=connect)
        self._held.clear()

    def received(self, data: bytes) -> bytes:
        """Return the bytes of the response to pass on; raises FramingError."""
        framing = self._framing
        if framing is None:
            self.spoiled = True
            return b""
        try:
            used = framing.feed(data)
        except FramingError:
            self.spoiled = True
            raise
        if used < len(data) or (framing.done and not framing.reusable):
            self.spoiled = True
        if not framing.pending and not self._held:
            return data[:used]
        self._held += data[:used]
        complete = len(self._held) - framing.pending
        passed = bytes(self._held[:complete])
        del self._held[:complete]
        return passed


class NoAddressError(OSError):
    """Carries a Failure of `client.ssrf` through a library."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(None, failure.detail)
        self.failure = failure


def values(headers: Headers, name: bytes) -> list[bytes]:
    """Return the lines of one field."""
    return [value for there, value in headers if there.lower() == name]


def describe_error(error: BaseException) -> str:
    """Return the message of the innermost error: of TLS, the system or a library."""
    chain = list(causes(error))
    for one in chain:
        if is_tls(one):
            return _OPENSSL.sub("", str(getattr(one, "strerror", "") or one))
    for one in chain:
        if isinstance(one, OSError) and one.errno:
            return os.strerror(one.errno)
    return next((str(one) for one in chain if str(one)), type(chain[-1]).__name__)


def is_tls(error: BaseException) -> bool:
    """Return whether it is a TLS error; a request for more bytes is not."""
    wants = (ssl.SSLWantReadError, ssl.SSLWantWriteError)
    return isinstance(error, ssl.SSLError) and not isinstance(error, wants)


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes."""
    seen: BaseException | None = error
    for _ in range(10):
        if seen is None:
            return
        yield seen
        seen = seen.__cause__ or seen.__context__


def same_loop(before: asyncio.AbstractEventLoop | None) -> asyncio.AbstractEventLoop:
    """Return the running loop; raises RuntimeError if connections belong to another one."""
    loop = asyncio.get_running_loop()
    if before is not None and before is not loop:
        raise RuntimeError(
            "this transport belongs to another event loop: create one in each asyncio.run()"
        )
    return loop


async def acquire_slot(slots: asyncio.Semaphore, timeout: float) -> bool:
    """Wait for a free connection; False: none became free in time."""
    if not slots.locked():  # an unneeded timer would cost more than the rest
        return await slots.acquire()
    try:
        async with asyncio.timeout(timeout):
            return await slots.acquire()
    except TimeoutError:
        return False
