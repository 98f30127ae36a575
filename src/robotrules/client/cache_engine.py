"""
Cache engine: the sequence of cache lookup, lease, fetch and store, as a generator without I/O.

`CacheEngine.refresh(origin)` yields effects: a `Request` to a server, a `Call` to the store, or a
`Wait`; the driver performs each and sends back its result. The sequence is thus written once, and
`sync` and `aio` each add a short driver loop. The generator returns an `OriginState`.

    store ─ fresh? ─→ state
      │ expired
    lease ─ held by another process → wait, read the store again
      │ acquired
    access ─→ fetch record ─→ store ─→ state

There is one lease per origin (single flight): of all processes that share the store one fetches,
and the others poll the store. The lease of a process that died on this machine is taken over at
once (`lease_holders`). Operations that belong together are one call to the store and, where it has
transactions, one transaction: the lease with the entry, and the record with the release. If the
store fails, a circuit breaker bypasses it: RFC 9309 still applies, and `store_error` has the
reason. The engine is independent of threads and event loops.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from functools import partial
from time import monotonic
from typing import Any, NamedTuple

from robotrules.access import (
    AccessProfile,
    AccessResult,
    CachedCopy,
    Failure,
    FailureReason,
    Request,
    Response,
    access,
)
from robotrules.access.values import SLACK
from robotrules.cache import (
    MAX_CLOCK_SKEW,
    EffectivePolicy,
    Entry,
    FetchRecord,
    Freshness,
    FreshnessReason,
    Store,
    body_digest,
    freshness,
    is_truncated,
    make_cached_copy,
    make_fetch_record,
    updated_entry,
)
from robotrules.client.circuit_breaker import CircuitBreaker
from robotrules.client.lease_holders import is_dead, new_holder
from robotrules.client.memory_cache import OriginCache
from robotrules.client.origin_state import OriginState, StateSource, make_origin_state
from robotrules.errors import StoreError
from robotrules.profile import Profile
from robotrules.robotstxt import RobotsTxt

# A lease outlives the fetch by this many seconds, to allow for storing the result.
LEASE_MARGIN = 5.0
# Interval of polling the store while another process fetches: it doubles from the first value.
MIN_POLL, MAX_POLL = 0.01, 0.25
# Seconds for which the store is bypassed after a failure: a crawl must not wait for a dead store at
# every origin.
COOLDOWN = 5.0
# Store methods that work on a full disk.
_READS = ("get", "body", "holder")

log = logging.getLogger("robotrules")


class Call(NamedTuple):
    """A call to the store."""

    work: Callable[[], Any]


class Wait(NamedTuple):
    """A delay."""

    seconds: float


Effect = Request | Call | Wait
Refresh = Generator[Effect, Any, OriginState]


class RefreshMode(StrEnum):
    """When to fetch from the server."""

    DUE = "due"
    """Only if the stored state has expired."""
    SOON = "soon"
    """Also if the state should be refreshed ahead of its expiry."""
    NOW = "now"
    """Always."""


def closed_error() -> RuntimeError:
    """Return the error for calls of a closed client, and for callers that waited meanwhile."""
    return RuntimeError("this client is closed: create another one")


class _Lease:
    """The lease of one refresh."""

    __slots__ = ("acquired", "holder", "key")

    def __init__(self, key: str, holder: str) -> None:
        self.key, self.holder, self.acquired = key, holder, False


class CacheEngine:
    """The memory cache, the store and the refresh sequence of a client."""

    def __init__(
        self,
        store: Store,
        *,
        user_agent: str,
        agent: str,
        profile: Profile,
        access: AccessProfile,
        clock: Callable[[], float],
        timeout: float,
        stale_while_revalidate: bool,
        fallback_reason: str | None = None,
        exclusive: bool = False,
    ) -> None:
        """
        *fallback_reason*: why *store* replaces the requested one; it is reported while in use.

        *exclusive*: no other client or process uses the store.
        """
        self.exclusive = exclusive
        self.store = store
        self.user_agent = user_agent
        self.agent = agent
        self.profile = profile
        self.access = access
        self.clock = clock
        self.timeout = timeout
        self.stale_while_revalidate = stale_while_revalidate
        self.closed = False
        self._limit = profile.max_bytes + SLACK
        self._fallback_reason = fallback_reason
        self.store_error: str | None = None
        self._failed_method = ""
        self._reads, self._writes = CircuitBreaker(), CircuitBreaker()
        self.memory = OriginCache(profile)
        # Optional methods: a user's store may lack them.
        self.transaction: Callable[[], AbstractContextManager[object]] | None
        self.transaction = getattr(store, "transaction", None)
        self._holder_of: Callable[[str], str | None] | None = getattr(store, "holder", None)

    def close(self) -> None:
        """Reject further calls, and do not report errors of threads that finish late."""
        self.closed = True
        self.memory.clear()

    # --- Memory -------------------------------------------------------------------------------

    def lookup_memory(self, origin: str) -> tuple[OriginState | None, bool]:
        """Return the state of an origin in memory, and whether to refresh it in the background."""
        state = self.memory.get(origin)
        if state is None:
            return None, False
        now = self.clock()
        if state.entry.last_fetch_at - MAX_CLOCK_SKEW <= now < state.until:
            return state, False
        fresh = self._freshness(state.entry, now)
        if fresh.must_refresh:
            return None, False
        updated = self._remember(state.entry, fresh, None, StateSource.MEMORY)
        return updated, updated is not None and fresh.may_refresh

    def _freshness(self, entry: Entry, now: float) -> Freshness:
        return freshness(
            entry, now, self.access, stale_while_revalidate=self.stale_while_revalidate
        )

    def _remember(
        self, entry: Entry, fresh: Freshness, body: bytes | None, source: StateSource
    ) -> OriginState | None:
        """Cache the state that an entry yields; None: rules apply, and their file is lost."""
        file = self.memory.file(entry.last_success, body)
        if file is None and fresh.policy is EffectivePolicy.RULES:
            return None
        state = self._make_state(entry, fresh, file.robots if file else None, source)
        self.memory.put(state, file, self.clock())
        return state

    def _make_state(
        self, entry: Entry, fresh: Freshness, robots: RobotsTxt | None, source: StateSource
    ) -> OriginState:
        return make_origin_state(
            *(entry, fresh, robots),
            profile=self.profile,
            source=source,
            store_error=self.store_error,
        )

    # --- The store ----------------------------------------------------------------------------

    def call_store(
        self, work: Callable[..., Any], *args: Any, name: str = ""
    ) -> Generator[Effect, Any, Any]:
        """
        Call the store; None: it is unavailable, which is logged once.

        *name* is the store method whose circuit breaker applies; by default that of *work*.
        """
        if self._fallback_reason is not None and self.store_error is None:
            self.store_error = self._fallback_reason
            log.warning("store unavailable; continuing without it: %s", self._fallback_reason)
        name = name or getattr(work, "__name__", "")
        reads = name in _READS
        breaker = self._reads if reads else self._writes
        # A lease is released in any case: other processes wait for it.
        if breaker.is_open and name != "release":
            return None
        try:
            answer = yield Call(partial(work, *args))
        except StoreError as error:
            if self.closed:
                return None  # a late thread finds the store closed: not an error
            if self.store_error is None:
                log.warning("store unavailable; continuing without it: %s", error)
            self.store_error, self._failed_method = str(error), name
            # A store on a full disk can still be read.
            self._writes.trip(COOLDOWN)
            if reads:
                self._reads.trip(COOLDOWN)
            return None
        # A successful read does not prove that writes work; a successful put proves everything.
        if self.store_error != self._fallback_reason and name in (self._failed_method, "put"):
            log.warning("store available again: %s", self.store.name)
            self.store_error = self._fallback_reason
        return answer

    def _read_entry(self, origin: str) -> Generator[Effect, Any, Entry | None]:
        """Return the newer of the entries in the store and in memory."""
        stored: Entry | None = yield from self.call_store(self.store.get, origin, self.agent)
        return self._newer_entry(origin, stored)

    def _newer_entry(self, origin: str, stored: Entry | None) -> Entry | None:
        mine = self.memory.get(origin)
        if mine is not None and (stored is None or mine.entry.last_fetch_at > stored.last_fetch_at):
            return mine.entry
        return stored

    def _read_body(self, entry: Entry | None) -> Generator[Effect, Any, bytes | None]:
        """Return the body of the last file; None: there is none, or it is lost."""
        good = entry.last_success if entry else None
        if good is None or good.digest is None:
            return None
        file = self.memory.file(good)
        if file is not None:
            return file.body
        body: bytes | None = yield from self.call_store(self.store.body, good.digest)
        return body if body is not None and body_digest(body) == good.digest else None

    # --- Leases -------------------------------------------------------------------------------

    def lease(self, key: str, holder: str, seconds: float) -> Generator[Effect, Any, bool | None]:
        """Acquire a lease; False: another holder has it. None: the store is unavailable."""
        leased: bool | None = yield from self.call_store(self.store.lease, key, holder, seconds)
        if leased is False and (yield from self._release_if_dead(key)):
            leased = yield from self.call_store(self.store.lease, key, holder, seconds)
        return leased

    def _acquire(
        self, origin: str, holder: str, seconds: float, only_if_unknown: bool = False
    ) -> Generator[Effect, Any, tuple[bool | None, Entry | None]]:
        """
        Acquire the lease of an origin; return it, and the entry as of that moment.

        *only_if_unknown*: if the store has an entry, return it and None as the lease.
        """

        def acquire() -> tuple[bool | None, Entry | None]:
            """Lease and read in one transaction: only the holder of the lease puts entries."""
            with self._begin_transaction():
                # Within a transaction that writes already, no entry can appear after this read.
                is_final = bool(getattr(self.store, "in_transaction", False))
                if only_if_unknown:
                    stored = self.store.get(origin, self.agent)
                    if stored is not None:
                        return None, stored
                leased = self.store.lease(origin, holder, seconds)
                if not leased or (only_if_unknown and is_final):
                    return leased, None
                return leased, self.store.get(origin, self.agent)

        acquired = yield from self.call_store(acquire, name="lease")
        if acquired == (False, None) and (yield from self._release_if_dead(origin)):
            acquired = yield from self.call_store(acquire, name="lease")
        if acquired is not None:
            leased, stored = acquired
            return leased, self._newer_entry(origin, stored)
        # A store that cannot be written may still be readable.
        return None, (yield from self._read_entry(origin))

    def _release_if_dead(self, key: str) -> Generator[Effect, Any, bool]:
        """Release a lease whose holder is a dead process of this machine; return whether it was."""
        if self._holder_of is None:
            return False
        other: str | None = yield from self.call_store(self._holder_of, key, name="holder")
        if other is None or not is_dead(other):
            return False
        # Released only if the dead process still holds it: another process may have been faster.
        yield from self.call_store(self.store.release, key, other)
        return True

    def _begin_transaction(self) -> AbstractContextManager[object]:
        """Return a transaction of the store, or a null context if it has none."""
        return self.transaction() if self.transaction is not None else nullcontext()

    # --- One origin ---------------------------------------------------------------------------

    def refresh(self, origin: str, mode: RefreshMode = RefreshMode.DUE) -> Refresh:
        """Return the state of an origin, fetched from its server if *mode* requires it."""
        if self.closed:
            raise closed_error()
        began, lease = self.clock(), _Lease(origin, new_holder())
        seconds = self.timeout + LEASE_MARGIN
        waited, pause = 0.0, MIN_POLL
        known: Entry | None = None
        try:
            # For an unknown origin, the first read of the store also acquires the lease.
            unknown = mode is not RefreshMode.NOW and self.memory.get(origin) is None
            if mode is not RefreshMode.NOW and not unknown:
                known = yield from self._read_entry(origin)
                state = yield from self._reuse(known, mode)
                if state is not None:
                    return state
            leased, entry = yield from self._acquire(origin, lease.holder, seconds, unknown)
            if leased is None and entry is not None and unknown:
                known = entry
                state = yield from self._reuse(known, mode)
                if state is not None:
                    return state
                leased, entry = yield from self._acquire(origin, lease.holder, seconds)
            while leased is False and waited < 2 * seconds:
                # Another process fetches; its result is used if it is newer than this call.
                yield Wait(pause)
                waited, pause = waited + pause, min(2 * pause, MAX_POLL)
                entry = yield from self._read_entry(origin)
                state = yield from self._reuse(entry, mode, began)
                if state is not None:
                    return state
                leased, entry = yield from self._acquire(origin, lease.holder, seconds)
            if leased is False:  # the wait is bounded: fetch without a lease
                entry = yield from self._read_entry(origin)
            lease.acquired = bool(leased)
            state = yield from self._reuse(entry, mode, began if waited else None)
            if state is None:
                # If the store failed meanwhile, the entry read before is still valid.
                state = yield from self._fetch(origin, entry or known, lease)
        except GeneratorExit:
            raise  # the generator was dropped: the lease expires
        except BaseException:
            # The lease may have been acquired when this was interrupted.
            yield from self.call_store(self.store.release, origin, lease.holder)
            raise
        if lease.acquired:
            yield from self.call_store(self.store.release, origin, lease.holder)
        return state

    def _reuse(
        self, entry: Entry | None, mode: RefreshMode, since: float | None = None
    ) -> Generator[Effect, Any, OriginState | None]:
        """Return the state that an entry yields; None: the server must be asked."""
        if entry is None or (
            mode is RefreshMode.NOW and (since is None or entry.last_fetch_at < since)
        ):
            return None
        fresh = self._freshness(entry, self.clock())
        if fresh.must_refresh or (fresh.may_refresh and mode is RefreshMode.SOON):
            return None
        if fresh.policy is EffectivePolicy.RULES and is_truncated(entry.last_success, self._limit):
            return None  # truncated by a client with a lower limit
        body = None
        if fresh.policy is EffectivePolicy.RULES:
            body = yield from self._read_body(entry)
        return self._remember(entry, fresh, body, StateSource.STORE)

    def _fetch(self, origin: str, entry: Entry | None, lease: _Lease) -> Refresh:
        """Fetch from the server, and store the result."""
        body = yield from self._read_body(entry)
        result = yield from self._run_access(origin, make_cached_copy(entry, body, self._limit))
        # Read the clock once: a clock that is set meanwhile must not make the record old or new.
        now = self.clock()
        fetch_record = make_fetch_record(
            result,
            entry,
            at=now,
            agent=self.agent,
            user_agent=self.user_agent,
            profile=self.access,
        )
        entry = updated_entry(entry, fetch_record)
        if fetch_record.usable:
            body = result.body
        # A refusal by this client's address policy says nothing about the origin: do not share it.
        if fetch_record.failure_reason is not FailureReason.REFUSED:
            yield from self._save(fetch_record, body, entry, lease)
        fresh = self._freshness(entry, now)
        state = self._remember(entry, fresh, body, StateSource.FETCHED)
        if state is None:
            # The copy that would apply is lost, so the rules are unknown. Its lifetime does not
            # matter: the failure determines when to retry.
            lost = fresh._replace(
                policy=EffectivePolicy.DISALLOW,
                until=min(fresh.until, fetch_record.until),
                reason=FreshnessReason.UNREACHABLE,
            )
            state = self._make_state(entry, lost, None, StateSource.FETCHED)
            self.memory.put(state, None, self.clock())
        return state

    def _save(
        self, fetch_record: FetchRecord, body: bytes | None, entry: Entry, lease: _Lease
    ) -> Generator[Effect, Any, None]:
        """
        Put a fetch record into the store, and release the lease in the same transaction.

        A `no-store` response is not stored (HC-5.2.2-01).
        """
        stored: Entry | None = entry
        if entry.last_success is not None and not entry.last_success.may_store:
            stored = None if fetch_record.usable else entry._replace(last_success=None)
        body = body if fetch_record.digest is not None and fetch_record.may_store else None

        def put() -> bool:
            """Atomic: the lease is never free before the record is visible."""
            with self._begin_transaction():
                self.store.put(fetch_record, body, stored)
                if lease.acquired:
                    self.store.release(lease.key, lease.holder)
            return True

        if (yield from self.call_store(put, name="put")):
            lease.acquired = False

    def _run_access(
        self, origin: str, stored: CachedCopy | None
    ) -> Generator[Effect, Any, AccessResult]:
        """Drive `access` with one deadline for all redirects."""
        flow = access(origin, profile=self.access, cached=stored, limit=self._limit)
        end = monotonic() + self.timeout
        request = next(flow)
        while True:
            remaining = end - monotonic()
            answer: Response | Failure = Failure(
                FailureReason.TIMEOUT, f"{self.timeout:g} s in all"
            )
            if remaining > 0:
                answer = yield request._replace(timeout=round(remaining, 3))
                if not isinstance(answer, (Response, Failure)):
                    name = type(answer).__name__
                    raise TypeError(f"a transport must return Response or Failure, not {name}")
            try:
                request = flow.send(answer)
            except StopIteration as ended:
                result: AccessResult = ended.value
                return result
