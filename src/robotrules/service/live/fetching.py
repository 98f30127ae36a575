"""
The clients of one worker: one for each profile, over one store and one transport.

A fetch belongs to the worker and not to the request that caused it: requests for the same origin
wait for the same fetch, and a client that goes away does not end it. The number of fetches and of
waiting requests is bounded; further ones get 503.

Sections: hosts · fetching.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from robotrules import __version__
from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.client.aio import AsyncClient
from robotrules.client.base_client import expect_requests, open_client_store
from robotrules.client.origin_state import OriginState
from robotrules.client.ssrf import AddressPolicy
from robotrules.client.transports import AsyncTransport, open_async_transport
from robotrules.http.origins import origin_of
from robotrules.robotstxt.tokens import product_token
from robotrules.service.problems import Problem
from robotrules.service.settings import ServiceSettings

DEFAULT_USER_AGENT = f"robotrules/{__version__} (service)"
# Seconds that a request waits beyond the time limit of a fetch: for the store, and for a fetch of
# another worker.
MARGIN = 5.0
# Requests that wait, for each fetch that may be in progress; and the part of them for one origin.
WAITING_PER_FETCH = 4
ONE_ORIGIN = 0.5
# Seconds after which a client that got 503 may try again.
RETRY_AFTER = {"Retry-After": "1"}

log = logging.getLogger("robotrules.service")

# --- Hosts ----------------------------------------------------------------------------------------


class HostList:
    """
    The hosts that the service may fetch from; an empty list: all that the address rules allow.

    `example.com` is this host alone, with any port; `*.example.com` is every host below it, but not
    `example.com` itself.
    """

    def __init__(self, hosts: Iterable[str]) -> None:
        names, suffixes = set(), []
        for host in hosts:
            is_suffix = host.startswith("*.")
            origin = origin_of(f"https://{host.removeprefix('*.')}")
            name = host_of(origin) if origin else ""
            if not name or "/" in host or "@" in host or origin != f"https://{name}":
                raise ValueError(
                    f"{host!r} is not a host: pass a name such as example.com, or *.example.com "
                    "for all hosts below it, without scheme, port and path"
                )
            if is_suffix:
                suffixes.append(f".{name}")
            else:
                names.add(name)
        self._names, self._suffixes = frozenset(names), tuple(suffixes)

    def __bool__(self) -> bool:
        return bool(self._names or self._suffixes)

    def allows(self, origin: str) -> bool:
        """Return whether an origin may be fetched from."""
        if not self:
            return True
        host = host_of(origin)
        return host in self._names or host.endswith(self._suffixes)


def host_of(origin: str) -> str:
    """Return the host of a normalized origin."""
    host = origin.partition("://")[2]
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]


class ListedHostsTransport:
    """Sends requests to listed hosts only: a redirect may name any host."""

    def __init__(self, transport: AsyncTransport, hosts: HostList) -> None:
        self._transport, self._hosts = transport, hosts

    async def send(self, request: Request) -> Response | Failure:
        """Send a request, unless its host is not listed."""
        origin = origin_of(request.url)
        if origin is None or not self._hosts.allows(origin):
            # This failure is not stored: another service may fetch from this host.
            return Failure(
                FailureReason.REFUSED,
                f"this service does not fetch from {origin and host_of(origin)}",
            )
        return await self._transport.send(request)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()


# --- Fetching -------------------------------------------------------------------------------------


class Fetching:
    """The clients of a worker, and the fetches in progress."""

    def __init__(self, settings: ServiceSettings) -> None:
        """Open nothing yet; wrong settings raise a ValueError."""
        self.is_on = settings.fetches
        self.hosts = HostList(settings.fetch_hosts)
        self.profile = settings.profile
        self.user_agent = settings.user_agent or DEFAULT_USER_AGENT
        self.product_token = product_token(settings.user_agent) if settings.user_agent else None
        """The crawler of questions without `as`; None: `as` is required."""
        self.timeout = settings.limits.fetch_timeout
        self._max_fetches = settings.limits.max_fetches
        self._settings = settings
        self._clients: dict[str, AsyncClient] = {}
        self._fetches: dict[tuple[str, str], asyncio.Task[OriginState | None]] = {}
        self._waiting = 0
        self._waiting_for: dict[tuple[str, str], int] = {}
        self._finished: asyncio.Event = asyncio.Event()
        self._is_open = False

    async def __aenter__(self) -> Self:
        if not self.is_on:
            return self
        settings = self._settings
        self._store, why = open_client_store(settings.store)
        if why is not None:
            log.warning("store unavailable; files are kept in memory: %s", why)
        transport = open_async_transport(
            self.user_agent, addresses=AddressPolicy(settings.allow_private)
        )
        expect_requests(transport, self._max_fetches)
        self._transport = ListedHostsTransport(transport, self.hosts) if self.hosts else transport
        self._is_open = True
        self.client(self.profile)  # wrong settings are reported at start-up
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._is_open:
            return
        self._is_open = False
        for client in self._clients.values():
            await client.aclose()
        await asyncio.gather(*self._fetches.values(), return_exceptions=True)
        await self._transport.aclose()
        self._store.close()

    @property
    def store_error(self) -> str | None:
        """Why the store is unavailable; None if it works."""
        return next((one.store_error for one in self._clients.values() if one.store_error), None)

    def client(self, profile: str) -> AsyncClient:
        """Return the client of a profile."""
        client = self._clients.get(profile)
        if client is None:
            self.require()
            client = self._clients[profile] = AsyncClient(
                self.user_agent,
                profile=profile,
                store=self._store,
                transport=self._transport,
                timeout=self.timeout,
            )
        return client

    def require(self) -> None:
        """Raise a problem if this service does not fetch, or stops."""
        if not self.is_on:
            raise Problem(
                "fetching-off",
                "this service was started with --no-fetch: send the robots.txt in the field robots",
            )
        if not self._is_open:
            raise Problem("stopping", "send the request again", headers=RETRY_AFTER)

    def require_host(self, origin: str) -> None:
        """Raise a problem if the service may not fetch from an origin."""
        if not self.hosts.allows(origin):
            raise Problem(
                "host-not-allowed",
                f"this service fetches from listed hosts only, and not from {host_of(origin)}: "
                "start it with --fetch-host for this host",
            )

    async def state(self, profile: str, url: str, *, queue: bool = False) -> OriginState:
        """
        Return the state of the origin of a URL, fetched if it is not in memory.

        If too many fetches are in progress, the request gets 503; with *queue*, it waits.
        """
        client = self.client(profile)
        state = client.cached(url)
        if state is not None:
            return state
        origin = origin_of(url)
        assert origin is not None  # `questions` accepts no other URLs
        key = profile, origin
        # Half of the fetches are for requests that cannot wait.
        most = max(self._max_fetches // 2, 1)
        while queue and key not in self._fetches and len(self._fetches) >= most:
            self._finished.clear()
            await self._finished.wait()
        if not queue:
            self._require_room(key)
        task = self._fetches.get(key)
        if task is None:
            self.require()
            task = self._fetches[key] = asyncio.create_task(client.lookup(url))
            task.add_done_callback(lambda done: self._end(key, done))
        self._waiting += 1
        self._waiting_for[key] = self._waiting_for.get(key, 0) + 1
        try:
            async with asyncio.timeout(self.timeout + MARGIN):
                found = await asyncio.shield(task)
        except TimeoutError:
            raise Problem(
                "took-too-long",
                f"the robots.txt of {origin} did not arrive in time: send the request again",
                headers=RETRY_AFTER,
            ) from None
        except RuntimeError:
            self.require()  # closed meanwhile
            raise
        finally:
            self._waiting -= 1
            self._waiting_for[key] -= 1
            if not self._waiting_for[key]:
                del self._waiting_for[key]
        assert found is not None
        return found

    def _require_room(self, key: tuple[str, str]) -> None:
        most = self._max_fetches * WAITING_PER_FETCH
        if (
            (key not in self._fetches and len(self._fetches) >= self._max_fetches)
            or self._waiting >= most
            or self._waiting_for.get(key, 0) >= most * ONE_ORIGIN
        ):
            raise Problem(
                "busy",
                "too many requests wait for a robots.txt: send the request again later",
                headers=RETRY_AFTER,
            )

    def _end(self, key: tuple[str, str], task: asyncio.Task[OriginState | None]) -> None:
        self._fetches.pop(key, None)
        self._finished.set()
        if not task.cancelled():
            task.exception()  # retrieved, because all that waited may be gone
