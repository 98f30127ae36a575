"""
The guard: who may use the service, and how much of it.

It looks at a request before its body is read: the Host field (DNS rebinding), the page that sends
it (cross-site request forgery), the bearer token, the media type, and the rate of the client; then
it counts the bytes of the body and the seconds in which it arrives.

The service has no CORS fields: no page of another origin may read its answers. Such a page could
still send a request without reading the answer, which costs work or fetches something. So a request
that a browser marks as another site's is refused, and a body must be JSON: browsers do not send
that media type to other origins without asking first, and the service never agrees.

Sections: the guard · rates · bodies.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import math
import time
import types
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from typing import Any, NoReturn

from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope

from robotrules.service.problems import Problem
from robotrules.service.settings import (
    PUBLIC_RATE,
    Limits,
    ServiceSettings,
    is_loopback,
    read_tokens,
)

__all__ = ["BodyBudget", "BodyReader", "Guard", "RateTable", "check_media_type"]

METRICS_PATH = "/metrics"
# Probes of an orchestrator send the address of a container as Host; these answers say nothing.
PROBES = frozenset(("/healthz", "/readyz"))
LOOPBACK_NAMES = frozenset(("localhost", "127.0.0.1", "::1"))
# Both need a preflight request from another origin.
MEDIA_TYPES = frozenset((b"application/json", b"application/x-ndjson"))
WITHOUT_BODY = frozenset(("GET", "HEAD", "OPTIONS", "DELETE"))
# Values of the Host field that were found to be right; a client chooses the port.
HOSTS_KEPT = 1_000
CLIENTS_KEPT = 10_000
# What a client may still send after its body was refused, so that it can read why.
DISCARDED = 16 * 1024 * 1024
DISCARD_SECONDS = 2.0


# --- The guard ------------------------------------------------------------------------------------


class Guard:
    """Checks requests before their bodies are read."""

    def __init__(self, settings: ServiceSettings, open_paths: Iterable[str] = ()) -> None:
        self._settings = settings
        self._open = frozenset(open_paths)
        self._loopback = is_loopback(settings.host)
        names = {name.lower().rstrip(".") for name in settings.allowed_hosts}
        self._allowed = frozenset(names)
        if self._loopback:
            names |= LOOPBACK_NAMES
        self._any_address = settings.host in ("0.0.0.0", "::", "")
        if not self._any_address:
            names.add(settings.host.strip("[]").lower())
        self._names = frozenset(names | {"localhost"})
        self._hosts: set[bytes] = set()
        self._digests: tuple[bytes, ...] = ()
        self.set_tokens(settings.tokens)
        rate = settings.limits.rate or (PUBLIC_RATE if settings.public else 0.0)
        self.rates = RateTable(rate, settings.limits.burst) if rate else None
        self.bodies = BodyBudget(settings.limits.max_bodies)

    def set_tokens(self, tokens: Iterable[str]) -> None:
        """Replace the tokens; requests that have passed go on."""
        self._digests = tuple(_digest(token.encode()) for token in tokens)

    def reload_tokens(self) -> None:
        """Read the token file again; OSError and ValueError leave the tokens as they are."""
        if self._settings.token_file is not None:
            self.set_tokens(read_tokens(self._settings.token_file))

    def check(self, scope: Scope) -> bytes | None:
        """Raise the problem of a request, if there is one; return its media type."""
        path = scope["path"]
        if path in PROBES:
            return None
        host = origin = site = authorization = content_type = None
        forwarded = False
        for name, value in scope["headers"]:
            if name == b"host":
                if host is not None:
                    raise Problem("forbidden-host", "the request has two Host fields: send one")
                host = value
            elif name == b"content-type":
                content_type = value
            elif name == b"authorization":
                authorization = value
            elif name == b"origin":
                origin = value
            elif name == b"sec-fetch-site":
                site = value
            elif name in (b"x-forwarded-for", b"forwarded"):
                forwarded = True
        if host not in self._hosts:
            self._check_host(host)
        if path not in self._open:
            if self._digests:
                self._check_token(authorization)
            elif path == METRICS_PATH and not self._loopback:
                self._check_metrics_client(scope, forwarded)
            if origin is not None or site is not None:
                self._check_origin(origin, site, host)
        if self.rates is not None:
            self.rates.check(scope["client"])
        return content_type

    def _check_host(self, value: bytes | None) -> None:
        name = _host_name((value or b"").decode("latin-1"))
        if name in self._names or (self._any_address and _is_address(name)):
            if value is not None and len(self._hosts) < HOSTS_KEPT:
                self._hosts.add(value)
            return
        raise Problem(
            "forbidden-host",
            "the Host field does not name this service; if it should, start the service with "
            "--allowed-host NAME",
        )

    def _check_token(self, authorization: bytes | None) -> None:
        scheme, _, token = (authorization or b"").partition(b" ")
        # All are compared, and by their digests: the time depends neither on how much of a token is
        # right nor on its length.
        digest, known = _digest(token.strip()), False
        for expected in self._digests:
            known |= hmac.compare_digest(digest, expected)
        if scheme.lower() != b"bearer" or not known:
            raise Problem(
                "unauthorized",
                "send a token of the service's token file as Authorization: Bearer TOKEN",
                headers={"WWW-Authenticate": 'Bearer realm="robotrules"'},
            )

    def _check_metrics_client(self, scope: Scope, forwarded: bool) -> None:
        # A service for everybody has counters for its operator: on the machine, and not by a proxy.
        if forwarded or not scope["client"] or not is_loopback(scope["client"][0]):
            raise Problem("not-found", "metrics are answered on the service's own machine only")

    def _check_origin(self, origin: bytes | None, site: bytes | None, host: bytes | None) -> None:
        if origin is not None:
            _, separator, authority = origin.partition(b"://")
            name = _host_name(authority.decode("latin-1"))
            if separator and (authority == host or name in self._allowed):
                return
        elif site in (b"same-origin", b"none"):
            return
        raise Problem(
            "forbidden-origin",
            "the request was made by a page of another origin; call the service from a program "
            "or from its own page",
        )


def check_media_type(method: str, media_type: bytes | None) -> None:
    """Raise a problem for a body that another origin's page could send without asking."""
    if method in WITHOUT_BODY or media_type == b"application/json":
        return
    if (media_type or b"").partition(b";")[0].strip().lower() not in MEDIA_TYPES:
        raise Problem("unsupported-media-type", "send the body with Content-Type: application/json")


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


def _host_name(authority: str) -> str:
    """Return the name in `name`, `name:port`, `[address]` or `[address]:port`; '' if it is none."""
    if authority.startswith("["):
        name, bracket, port = authority[1:].partition("]")
        valid = bracket and (not port or (port[0] == ":" and _is_port(port[1:])))
    else:
        name, colon, port = authority.partition(":")
        valid = not colon or _is_port(port)
    return name.lower().rstrip(".") if valid else ""


def _is_port(text: str) -> bool:
    return text.isascii() and (text.isdigit() or not text)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


# --- Rates ----------------------------------------------------------------------------------------


class RateTable:
    """A token bucket for each client; of a bounded number of clients, the latest ones."""

    def __init__(
        self, rate: float, burst: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._burst, self._clock = rate, max(1, burst), clock
        # Requests left, and when that was.
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._clients)

    def check(self, client: tuple[str, int] | None) -> None:
        """Count a request of a client; raise the problem if it sends too many."""
        key, now = _network(client[0]) if client else "", self._clock()
        left, since = self._clients.get(key, (float(self._burst), now))
        left = min(float(self._burst), left + (now - since) * self._rate)
        refused = left < 1
        self._clients[key] = left if refused else left - 1, now
        self._clients.move_to_end(key)
        if len(self._clients) > CLIENTS_KEPT:
            self._clients.popitem(last=False)
        if refused:
            seconds = math.ceil((1 - left) / self._rate)
            raise Problem(
                "too-many-requests",
                f"one client may send {self._rate:g} requests per second; wait and repeat it",
                headers={"Retry-After": str(seconds)},
            )


def _network(address: str) -> str:
    """Return what one client has: an IPv4 address, or a network of 64 bits in IPv6."""
    if ":" not in address:
        return address
    try:
        parsed = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return parsed.exploded[:19]


# --- Bodies ---------------------------------------------------------------------------------------


class BodyBudget:
    """The bytes of all bodies in memory."""

    def __init__(self, limit: int) -> None:
        self.limit, self.used = limit, 0


class BodyReader:
    """The `receive` of one request: it counts the bytes and the seconds of the body."""

    __slots__ = ("_budget", "_deadline", "_limits", "_receive", "_scope", "_streamed", "_taken")

    def __init__(
        self, scope: Scope, receive: Receive, limits: Limits, budget: BodyBudget, streamed: bool
    ) -> None:
        self._scope, self._receive, self._limits = scope, receive, limits
        self._budget, self._streamed = budget, streamed
        self._taken = 0
        # 0: nothing was read yet; infinite: everything was.
        self._deadline = 0.0

    @property
    def complete(self) -> bool:
        """Whether the whole body was read."""
        return self._deadline == math.inf

    def release(self) -> None:
        """Give back the memory of the body; called once the request is done."""
        self._budget.used -= self._taken
        self._taken = 0

    async def __call__(self) -> Message:
        """Return the next message; raise a problem for a body that is too large or too slow."""
        if self._deadline == math.inf:
            return await self._receive()
        if self._deadline == 0 and not self._streamed:
            await self._check_length()
        # Most bodies are there already: then no timer is started.
        steps = self._receive().__await__()
        try:
            first = next(steps)
        except StopIteration as done:
            message: Message = done.value
        else:
            message = await self._wait(first, steps)
        if message["type"] == "http.request":
            if not message.get("more_body"):
                self._deadline = math.inf
            if not self._streamed:
                self._take(len(message.get("body", b"")))
                if self._taken > self._limits.max_body:
                    await self._refuse()
        return message

    async def _wait(self, first: Any, steps: Generator[Any, Any, Message]) -> Message:
        if self._deadline == 0 or self._streamed:
            now = asyncio.get_running_loop().time()
            self._deadline = now + self._limits.body_timeout
        try:
            async with asyncio.timeout_at(self._deadline):
                return await _resumed(first, steps)
        except TimeoutError:
            raise Problem(
                "timeout",
                f"the body did not arrive within {self._limits.body_timeout:g} seconds",
                headers={"Connection": "close"},
            ) from None

    async def read(self) -> bytes:
        """Return the whole body; a client that leaves raises ClientDisconnect."""
        message = await self()
        if message["type"] == "http.request" and not message.get("more_body"):
            body: bytes = message.get("body", b"")
            return body
        chunks = [message.get("body", b"")]
        while message["type"] == "http.request" and message.get("more_body"):
            message = await self()
            chunks.append(message.get("body", b""))
        if message["type"] != "http.request":
            raise ClientDisconnect
        return b"".join(chunks)

    def _take(self, octets: int) -> None:
        self._taken += octets
        self._budget.used += octets
        if self._budget.used > self._budget.limit:
            raise Problem(
                "busy",
                "the bodies of other requests use the memory of the service; repeat the request",
                headers={"Retry-After": "1", "Connection": "close"},
            )

    async def _check_length(self) -> None:
        declared, waits = 0, False
        for name, value in self._scope["headers"]:
            if name == b"content-length" and value.isdigit():
                # More digits than any limit has are too many, whatever they say.
                declared = int(value[:20])
            elif name == b"expect":
                waits = True
        if declared > self._limits.max_body:
            await self._refuse(sent=not waits)

    async def _refuse(self, *, sent: bool = True) -> NoReturn:
        """Raise 413; read some of the rest first, because clients read answers after they sent."""
        self.release()
        if sent and not self.complete:
            await self._discard()
        raise Problem(
            "too-large",
            f"a body may have {self._limits.max_body:,} bytes",
            headers={"Connection": "close"},
        )

    async def _discard(self) -> None:
        left = DISCARDED
        with suppress(TimeoutError):
            async with asyncio.timeout(DISCARD_SECONDS):
                while left > 0:
                    message = await self._receive()
                    left -= len(message.get("body", b""))
                    if message["type"] != "http.request" or not message.get("more_body"):
                        return


@types.coroutine
def _resumed(first: Any, steps: Generator[Any, Any, Message]) -> Generator[Any, Any, Message]:
    """Await the rest of an awaitable whose first step was made already and gave *first*."""
    while True:
        error = sent = None
        try:
            sent = yield first
        except BaseException as raised:
            error = raised
        try:
            first = steps.send(sent) if error is None else steps.throw(error)
        except StopIteration as done:
            result: Message = done.value
            return result
