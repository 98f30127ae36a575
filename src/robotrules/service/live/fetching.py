"""
The clients of one worker: one for each profile, over one store and one transport.

A fetch belongs to the worker and not to the request that caused it: requests for the same origin
wait for the same fetch, and a client that goes away does not end it. The number of fetches and of
waiting requests is bounded; further ones get 503. Lines of streams are not refused: their origins
form a queue for half of the fetches, and so they take no room from other requests.

Slots are those of the store. If several processes share it and it is not available, there are none:
each process would hand out slots of its own.

Sections: hosts · fetching · slots.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from time import monotonic, time
from types import TracebackType
from typing import Any, Self

from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.client.aio import AsyncClient
from robotrules.client.base_client import expect_requests, limit_memory, open_client_store
from robotrules.client.origin_state import OriginState
from robotrules.client.rate_limiter import Delay
from robotrules.client.ssrf import AddressPolicy
from robotrules.client.store_executor import StoreExecutor
from robotrules.client.stores import MemoryStore
from robotrules.client.stores.pacing import NO_SLOTS, PacingState
from robotrules.client.transports import AsyncTransport, open_async_transport
from robotrules.errors import StoreError
from robotrules.http.origins import origin_of
from robotrules.octets import visible
from robotrules.robotstxt import Tokens
from robotrules.robotstxt.tokens import product_token
from robotrules.service.problems import Problem
from robotrules.service.settings import ServiceSettings

DEFAULT_USER_AGENT = f"robotrules/{sys.modules['robotrules'].__version__} (service)"
# Seconds that a request waits beyond the time limit of a fetch: for the store, and for a fetch of
# another worker.
MARGIN = 5.0
# Requests that wait, for each fetch that may be in progress; and the part of them for one origin.
WAITING_PER_FETCH = 4
ONE_ORIGIN = 0.5
# Seconds after which a client that got 503 may try again.
RETRY_AFTER = {"Retry-After": "1"}
# The same if the store is not available: clients of the store leave it alone for so long.
STORE_RETRY_AFTER = {"Retry-After": "5"}
# Estimated bytes of the origins in memory: of the client of the service's profile, and of the
# client of each other profile.
MEMORY_BYTES, OTHER_MEMORY_BYTES = 48 * 1024 * 1024, 14 * 1024 * 1024
# Seconds for which the store may take to answer whether it works, and for which that is kept.
PROBE_TIMEOUT, PROBE_SECONDS = 2.0, 1.0
# Bytes of a robots.txt whose records are read at once; a longer one takes too long.
INLINE = 16 * 1024
# Origins whose last slot is remembered, for when the store fails.
MAX_PACED = 65_536

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
        # Half of the fetches are for requests that cannot wait.
        self._max_queued = max(self._max_fetches // 2, 1)
        self._queued: dict[tuple[str, str], _QueuedOrigin] = {}
        self._waiting = 0
        self._waiting_for: dict[tuple[str, str], int] = {}
        self._fallback_reason: str | None = None
        self._store_executor = StoreExecutor()
        self._pacing: dict[str, PacingState] = {}
        self._probe: asyncio.Task[bool] | None = None
        self._probed_at = 0.0
        self._store_worked = True
        # One thread at a time: each further one takes the interpreter from the event loop.
        self._reading = asyncio.Lock()
        self._is_open = False

    async def __aenter__(self) -> Self:
        if not self.is_on:
            return self
        settings = self._settings
        self._store, why = open_client_store(settings.store)
        if why is not None:
            log.warning("store unavailable; files are kept in memory: %s", why)
        self._fallback_reason = why
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
        for queued in self._queued.values():
            queued.start(None)
        for client in self._clients.values():
            await client.aclose()
        await asyncio.gather(*self._fetches.values(), return_exceptions=True)
        await self._transport.aclose()
        if self._probe is not None:
            await asyncio.wait((self._probe,))
        self._store_executor.close()
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
            is_main = profile == self.profile
            limit_memory(client, MEMORY_BYTES if is_main else OTHER_MEMORY_BYTES)
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

    def hint(self, state: OriginState) -> str | None:
        """Return how to start the service so that it fetches what it refused; None: nothing."""
        record = state.fetch_record
        if record is None or record.failure_reason is not FailureReason.REFUSED:
            return None
        origin = origin_of(record.url)
        host = visible(host_of(origin).strip("[]")) if origin else ""
        if origin and not self.hosts.allows(origin):
            return f"{host} is not listed: to fetch from it, add --fetch-host {host}"
        return (
            f"{host} has a private address and was not requested: to allow it, start the service "
            f"with --allow-private {host}"
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
        if queue:
            task = self._fetches.get(key) or await self._wait_for_room(key, url)
            return await self._result(origin, task)
        self._require_room(key)
        self._waiting += 1
        self._waiting_for[key] = self._waiting_for.get(key, 0) + 1
        try:
            return await self._result(origin, self._fetches.get(key) or self._start(key, url))
        finally:
            self._waiting -= 1
            self._waiting_for[key] -= 1
            if not self._waiting_for[key]:
                del self._waiting_for[key]

    async def _result(self, origin: str, task: asyncio.Task[OriginState | None]) -> OriginState:
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

    async def _wait_for_room(
        self, key: tuple[str, str], url: str
    ) -> asyncio.Task[OriginState | None]:
        """Return the fetch of an origin; it begins in its turn, while any request waits for it."""
        if not self._queued and len(self._fetches) < self._max_queued:
            return self._start(key, url)
        queued = self._queued.setdefault(key, _QueuedOrigin(url))
        queued.waiting += 1
        try:
            task = await asyncio.shield(queued.started)
        finally:
            queued.waiting -= 1
            if not queued.waiting and self._queued.get(key) is queued:
                del self._queued[key]
        if task is None:
            raise Problem("stopping", "send the request again", headers=RETRY_AFTER)
        return task

    def _start(self, key: tuple[str, str], url: str) -> asyncio.Task[OriginState | None]:
        """Begin the fetch of an origin, for all that wait for it."""
        self.require()
        lookup = self.client(key[0]).lookup(url)
        task = self._fetches[key] = asyncio.create_task(lookup)
        task.add_done_callback(partial(self._end, key))
        queued = self._queued.pop(key, None)
        if queued is not None:
            queued.start(task)
        return task

    def _end(self, key: tuple[str, str], task: asyncio.Task[OriginState | None]) -> None:
        self._fetches.pop(key, None)
        if not task.cancelled():
            task.exception()  # retrieved, because all that waited may be gone
        while self._is_open and self._queued and len(self._fetches) < self._max_queued:
            first = next(iter(self._queued))
            self._start(first, self._queued[first].url)

    # --- Slots ------------------------------------------------------------------------------------

    @property
    def shares_slots(self) -> bool:
        """Whether other processes use the slots of the store, so that none go without it."""
        return self._settings.workers > 1 or not self._store.inline

    async def delay(
        self, profile: str, state: OriginState, names: Tokens, purposes: Sequence[str]
    ) -> Delay:
        """Return the seconds between two slots; records of long files are read in a thread."""
        client = self.client(profile)
        if len(state.robots.body) <= INLINE:
            return client.delay_for(state, names, purposes)
        async with self._reading:
            return await asyncio.to_thread(client.delay_for, state, names, purposes)

    async def reserve_slot(self, origin: str, interval: float) -> tuple[float, str | None]:
        """
        Reserve the next slot of an origin; return its time, and why the store was not used.

        If other processes share the slots, a store that is not available is a problem instead.
        """
        now = time()
        at, why = await self._call_store(partial(self._store.reserve_slot, origin, now, interval))
        pacing = self._pacing.get(origin, NO_SLOTS)
        if why is None:
            pacing = pacing._replace(last=max(pacing.last, at))
        else:
            pacing = pacing.reserve(now, interval)
            at = pacing.last
        self._remember_pacing(origin, pacing)
        return at, why

    async def postpone_slot(self, origin: str, until: float) -> str | None:
        """Allow no slot of an origin before a time; return why the store was not used."""
        pacing = self._pacing.get(origin, NO_SLOTS)
        self._remember_pacing(origin, pacing.postpone(until))
        _, why = await self._call_store(partial(self._store.postpone_slot, origin, until))
        return why

    async def require_store(self) -> None:
        """Raise a problem if other processes share the slots, and the store is not available."""
        if await self.not_ready():
            raise _store_problem("the log of the service says why")

    async def not_ready(self) -> str:
        """Return why no slots can be handed out, without details of the store; '' if they can."""
        if not self._is_open or not self.shares_slots:
            return ""
        if self._probe is None or (
            self._probe.done() and monotonic() - self._probed_at > PROBE_SECONDS
        ):
            self._probe = asyncio.create_task(self._probe_store())
        await asyncio.wait((self._probe,), timeout=PROBE_TIMEOUT)
        works = self._probe.done() and not self._probe.cancelled() and self._probe.result()
        return "" if works else "the store is not available"

    async def _probe_store(self) -> bool:
        """Return whether the store accepts writes."""
        work = partial(self._store.lease, "readyz", f"readyz {os.getpid()}", PROBE_SECONDS)
        try:
            await self._call_store(work)
        except Problem as problem:
            if self._store_worked:
                log.warning("not ready: %s", problem.detail)
            self._store_worked = False
            return False
        finally:
            self._probed_at = monotonic()
        self._store_worked = True
        return True

    async def _call_store(self, work: Callable[[], Any]) -> tuple[Any, str | None]:
        """Return what the store returns, and None; or why it is not available."""
        self.require()
        why = self._fallback_reason
        if why is None and self.shares_slots and isinstance(self._store, MemoryStore):
            why = "several workers cannot share slots in memory: start the service with --store"
        if why is None or not self.shares_slots:
            try:
                transaction = getattr(self._store, "transaction", None)
                return await self._store_executor.do(work, self._store.inline, transaction), why
            except StoreError as error:
                why = str(error)
            except RuntimeError:
                self.require()  # closed meanwhile
                raise
        self.require()
        if self.shares_slots:
            raise _store_problem(why)
        return None, why

    def _remember_pacing(self, origin: str, pacing: PacingState) -> None:
        if len(self._pacing) >= MAX_PACED:
            for old in sorted(self._pacing, key=lambda one: max(self._pacing[one]))[::2]:
                del self._pacing[old]
        self._pacing[origin] = pacing


class _QueuedOrigin:
    """An origin that is fetched from when there is room, for lines of streams."""

    __slots__ = ("started", "url", "waiting")

    def __init__(self, url: str) -> None:
        self.url = url
        self.started: asyncio.Future[asyncio.Task[OriginState | None] | None]
        self.started = asyncio.get_running_loop().create_future()
        self.waiting = 0

    def start(self, task: asyncio.Task[OriginState | None] | None) -> None:
        """Tell all that wait that the fetch has begun; None: there will be none."""
        if not self.started.done():
            self.started.set_result(task)


def _store_problem(why: str | None) -> Problem:
    return Problem(
        "store-unavailable",
        f"slots are shared by several processes, and their store is not available: {why}; send no "
        "request meanwhile, and ask again",
        headers=STORE_RETRY_AFTER,
    )
