"""
The flow of a client: what is looked up, asked and kept, in which order, without doing any of it.

`CacheEngine.renew(origin)` is a generator. It yields what is to be done: a `Request` to a server, a
`Call` to the store, a `Wait`; and is sent what came of it. So the order of things is written once,
and `sync` and `aio` are each a loop of ten lines. It ends with an `OriginState`.

    store ─ fresh? ─→ held
      │ due
    lease ─ somebody else has it → wait, look again
      │ ours
    access ─→ visit ─→ store ─→ held

One lease an origin: of all processes that share the store one asks the server, and the others
wait for what it finds. The lease of a process that died on this machine is not waited for
(`holders`). What belongs together is one call to the store and, where it has transactions, one
transaction: the lease with a look at what is known, and what was found with the release. A store
that fails is done without: the rules of RFC 9309 hold all the same, and `trouble` says so. It knows
no thread and no event loop.
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
from robotrules.client.holders import is_dead, new_holder
from robotrules.client.memory_cache import OriginCache
from robotrules.client.origin_state import OriginState, StateSource, held
from robotrules.errors import StoreError
from robotrules.profile import Profile

# A lease outlives the fetch it is for by this much: what it takes to write down what was found.
MARGIN = 5.0
# How long to wait before a second look at what somebody else is fetching.
FIRST_LOOK, LAST_LOOK = 0.01, 0.25
# After the store failed it is left alone for so many seconds: a crawl must not wait for a dead one
# at every origin.
REST = 5.0
# What a store can do without room to write.
_READS = ("get", "body", "holder")

log = logging.getLogger("robotrules")


class Call(NamedTuple):
    """Something to be asked of the store."""

    work: Callable[[], Any]


class Wait(NamedTuple):
    """A pause."""

    seconds: float


Effect = Request | Call | Wait
Renewal = Generator[Effect, Any, OriginState]


class RefreshMode(StrEnum):
    """When a server is asked."""

    DUE = "due"
    """If there is no answer without."""
    SOON = "soon"
    """Also if the answer should be renewed before long."""
    NOW = "now"
    """In any case."""


class _Lease:
    """The lease of one flow."""

    __slots__ = ("held", "holder", "key")

    def __init__(self, key: str, holder: str) -> None:
        self.key, self.holder, self.held = key, holder, False


class CacheEngine:
    """What a client knows and has, and the order in which it does things."""

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
        without: str | None = None,
        alone: bool = False,
    ) -> None:
        """
        *without* says why *store* is not the one that was wanted, for as long as it is used.

        *alone*: nobody else can have the store.
        """
        self.alone = alone
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
        self._without = without
        self.store_error: str | None = None
        self._failed = ""
        self._rest_of_reads = self._rest_of_writes = 0.0
        self.memory = OriginCache(profile)
        # Both are for stores that have them: a user's may not.
        self.transaction: Callable[[], AbstractContextManager[object]] | None
        self.transaction = getattr(store, "transaction", None)
        self._holder_of: Callable[[str], str | None] | None = getattr(store, "holder", None)

    def close(self) -> None:
        """Answer no more, and say nothing of what threads that are late may meet."""
        self.closed = True
        self.memory.clear()

    # --- Memory -------------------------------------------------------------------------------

    def lookup_memory(self, origin: str) -> tuple[OriginState | None, bool]:
        """Return what this process has of an origin, and whether to renew it soon."""
        found = self.memory.get(origin)
        if found is None:
            return None, False
        now = self.clock()
        if found.entry.last_fetch_at - MAX_CLOCK_SKEW <= now < found.until:
            return found, False
        fresh = self._fresh(found.entry, now)
        if fresh.must_refresh:
            return None, False
        again = self._hold(found.entry, fresh, None, StateSource.MEMORY)
        return again, again is not None and fresh.may_refresh

    def _fresh(self, entry: Entry, now: float) -> Freshness:
        return freshness(
            entry, now, self.access, stale_while_revalidate=self.stale_while_revalidate
        )

    def _hold(
        self, entry: Entry, fresh: Freshness, body: bytes | None, source: StateSource
    ) -> OriginState | None:
        """Remember what an entry says; None: rules decide, and the file is lost."""
        file = self.memory.file(entry.last_success, body)
        if file is None and fresh.policy is EffectivePolicy.RULES:
            return None
        robots, trouble = file.robots if file else None, self.store_error
        found = held(entry, fresh, robots, profile=self.profile, source=source, store_error=trouble)
        self.memory.hold(found, file, self.clock())
        return found

    # --- The store ----------------------------------------------------------------------------

    def call_store(
        self, work: Callable[..., Any], *args: Any, name: str = ""
    ) -> Generator[Effect, Any, Any]:
        """
        Ask the store; None: it cannot answer, and that is said once.

        *name* is the store's method that decides whether it can; by default that of *work*.
        """
        if self._without is not None and self.store_error is None:
            self.store_error = self._without
            log.warning("going on without the store: %s", self._without)
        name = name or getattr(work, "__name__", "")
        reads = name in _READS
        rest = self._rest_of_reads if reads else self._rest_of_writes
        # A lease is given back in any case: others wait for it.
        if monotonic() < rest and name != "release":
            return None
        try:
            answer = yield Call(partial(work, *args))
        except StoreError as error:
            if self.closed:
                return None  # who is late finds the store closed: nobody needs to know
            if self.store_error is None:
                log.warning("going on without the store: %s", error)
            self.store_error, self._failed = str(error), name
            # A store that has no room can be read all the same.
            self._rest_of_writes = monotonic() + REST
            if reads:
                self._rest_of_reads = self._rest_of_writes
            return None
        # That it can be read does not mean that it can be written: who can put can do all.
        if self.store_error != self._without and name in (self._failed, "put"):
            log.warning("the store answers again: %s", self.store.name)
            self.store_error = self._without
        return answer

    def _known(self, origin: str) -> Generator[Effect, Any, Entry | None]:
        """Return the newer of what the store and this process know."""
        kept: Entry | None = yield from self.call_store(self.store.get, origin, self.agent)
        return self._newer(origin, kept)

    def _newer(self, origin: str, kept: Entry | None) -> Entry | None:
        mine = self.memory.get(origin)
        if mine is not None and (kept is None or mine.entry.last_fetch_at > kept.last_fetch_at):
            return mine.entry
        return kept

    def _body(self, entry: Entry | None) -> Generator[Effect, Any, bytes | None]:
        """Return the octets of the last file; None: there is none, or it is lost."""
        good = entry.last_success if entry else None
        if good is None or good.digest is None:
            return None
        found = self.memory.file(good)
        if found is not None:
            return found.body
        body: bytes | None = yield from self.call_store(self.store.body, good.digest)
        return body if body is not None and body_digest(body) == good.digest else None

    # --- Leases -------------------------------------------------------------------------------

    def lease(self, key: str, holder: str, seconds: float) -> Generator[Effect, Any, bool | None]:
        """Take a lease; False: somebody else has it. None: the store cannot answer."""
        leased: bool | None = yield from self.call_store(self.store.lease, key, holder, seconds)
        if leased is False and (yield from self._died(key)):
            leased = yield from self.call_store(self.store.lease, key, holder, seconds)
        return leased

    def _claim(
        self, origin: str, holder: str, seconds: float, unknown: bool = False
    ) -> Generator[Effect, Any, tuple[bool | None, Entry | None]]:
        """
        Take the lease of an origin; return it, and what is known once it is taken.

        *unknown*: only if the store knows nothing of it; else the lease is None.
        """

        def claim() -> tuple[bool | None, Entry | None]:
            """Nobody can put in between: who puts has the lease."""
            with self._together():
                # Within what others write already, nobody can put after this look.
                is_last_look = bool(getattr(self.store, "in_transaction", False))
                if unknown:
                    kept = self.store.get(origin, self.agent)
                    if kept is not None:
                        return None, kept
                leased = self.store.lease(origin, holder, seconds)
                if not leased or (unknown and is_last_look):
                    return leased, None
                return leased, self.store.get(origin, self.agent)

        claimed = yield from self.call_store(claim, name="lease")
        if claimed == (False, None) and (yield from self._died(origin)):
            claimed = yield from self.call_store(claim, name="lease")
        if claimed is not None:
            leased, kept = claimed
            return leased, self._newer(origin, kept)
        # A store that cannot be written may be read all the same.
        return None, (yield from self._known(origin))

    def _died(self, key: str) -> Generator[Effect, Any, bool]:
        """Free a lease whose holder is a dead process of this machine; tell whether it was."""
        if self._holder_of is None:
            return False
        other: str | None = yield from self.call_store(self._holder_of, key, name="holder")
        if other is None or not is_dead(other):
            return False
        # It is freed only if it is still the dead one's: somebody else may have been faster.
        yield from self.call_store(self.store.release, key, other)
        return True

    def _together(self) -> AbstractContextManager[object]:
        """Return what makes several calls to the store one transaction, if it has them."""
        return self.transaction() if self.transaction is not None else nullcontext()

    # --- One origin ---------------------------------------------------------------------------

    def refresh(self, origin: str, wanted: RefreshMode = RefreshMode.DUE) -> Renewal:
        """Return what is held of an origin, after its server was asked if that is *wanted*."""
        if self.closed:
            raise RuntimeError("this client is closed: make another one")
        began, lease = self.clock(), _Lease(origin, new_holder())
        seconds = self.timeout + MARGIN
        waited, pause = 0.0, FIRST_LOOK
        known: Entry | None = None
        try:
            # What nobody knows of is leased with the first look at it.
            unknown = wanted is not RefreshMode.NOW and self.memory.get(origin) is None
            if wanted is not RefreshMode.NOW and not unknown:
                known = yield from self._known(origin)
                found = yield from self._judged(known, wanted)
                if found is not None:
                    return found
            leased, entry = yield from self._claim(origin, lease.holder, seconds, unknown)
            if leased is None and entry is not None and unknown:
                known = entry
                found = yield from self._judged(known, wanted)
                if found is not None:
                    return found
                leased, entry = yield from self._claim(origin, lease.holder, seconds)
            while leased is False and waited < 2 * seconds:
                # Somebody else is asking: what they find is as good, if it comes after this began.
                yield Wait(pause)
                waited, pause = waited + pause, min(2 * pause, LAST_LOOK)
                entry = yield from self._known(origin)
                found = yield from self._judged(entry, wanted, began)
                if found is not None:
                    return found
                leased, entry = yield from self._claim(origin, lease.holder, seconds)
            if leased is False:  # nobody waits for ever: it is asked without a lease
                entry = yield from self._known(origin)
            lease.held = bool(leased)
            found = yield from self._judged(entry, wanted, began if waited else None)
            if found is None:
                # A store that failed meanwhile does not make the copy unknown.
                found = yield from self._visited(origin, entry or known, lease)
        except GeneratorExit:
            raise  # nobody is there to give the lease back: it expires
        except BaseException:
            # A lease that was being taken when this was interrupted may be ours.
            yield from self.call_store(self.store.release, origin, lease.holder)
            raise
        if lease.held:
            yield from self.call_store(self.store.release, origin, lease.holder)
        return found

    def _judged(
        self, entry: Entry | None, wanted: RefreshMode, since: float | None = None
    ) -> Generator[Effect, Any, OriginState | None]:
        """Return what an entry says; None: it will not do, and the server is to be asked."""
        if entry is None or (
            wanted is RefreshMode.NOW and (since is None or entry.last_fetch_at < since)
        ):
            return None
        fresh = self._fresh(entry, self.clock())
        if fresh.must_refresh or (fresh.may_refresh and wanted is RefreshMode.SOON):
            return None
        if fresh.policy is EffectivePolicy.RULES and is_truncated(entry.last_success, self._limit):
            return None  # by a client that reads less of a file than this one
        body = None
        if fresh.policy is EffectivePolicy.RULES:
            body = yield from self._body(entry)
        return self._hold(entry, fresh, body, StateSource.STORE)

    def _visited(self, origin: str, entry: Entry | None, lease: _Lease) -> Renewal:
        """Ask the server, and write down what came of it."""
        body = yield from self._body(entry)
        result = yield from self._accessed(origin, make_cached_copy(entry, body, self._limit))
        # One moment for all: a clock that is set while a visit is put makes it neither old nor new.
        now = self.clock()
        visit = make_fetch_record(
            result,
            entry,
            at=now,
            agent=self.agent,
            user_agent=self.user_agent,
            profile=self.access,
        )
        entry = updated_entry(entry, visit)
        if visit.usable:
            body = result.body
        # What this client would not do says nothing about the origin: others need not know.
        if visit.failure_reason is not FailureReason.REFUSED:
            yield from self._kept(visit, body, entry, lease)
        fresh = self._fresh(entry, now)
        made = self._hold(entry, fresh, body, StateSource.FETCHED)
        if made is None:
            # The copy that would decide is lost, so nobody knows what the rules are. It is not
            # waited for until its lifetime is over: the failure says when to ask again.
            lost = fresh._replace(
                policy=EffectivePolicy.DISALLOW,
                until=min(fresh.until, visit.until),
                reason=FreshnessReason.UNREACHABLE,
            )
            trouble = self.store_error
            made = held(
                entry,
                lost,
                None,
                profile=self.profile,
                source=StateSource.FETCHED,
                store_error=trouble,
            )
            self.memory.hold(made, None, self.clock())
        return made

    def _kept(
        self, visit: FetchRecord, body: bytes | None, entry: Entry, lease: _Lease
    ) -> Generator[Effect, Any, None]:
        """
        Put a visit into the store, and give back the lease with it.

        What says `no-store` stays out of it (HC-5.2.2-01).
        """
        kept: Entry | None = entry
        if entry.last_success is not None and not entry.last_success.may_store:
            kept = None if visit.usable else entry._replace(last_success=None)
        body = body if visit.digest is not None and visit.may_store else None

        def put() -> bool:
            """All of it or nothing: nobody sees the lease free before there is what it was for."""
            with self._together():
                self.store.put(visit, body, kept)
                if lease.held:
                    self.store.release(lease.key, lease.holder)
            return True

        if (yield from self.call_store(put, name="put")):
            lease.held = False

    def _accessed(
        self, origin: str, stored: CachedCopy | None
    ) -> Generator[Effect, Any, AccessResult]:
        """Drive `access`, with one deadline over all redirects."""
        flow = access(origin, profile=self.access, cached=stored, limit=self._limit)
        end = monotonic() + self.timeout
        request = next(flow)
        while True:
            left = end - monotonic()
            answer: Response | Failure = Failure(
                FailureReason.TIMEOUT, f"{self.timeout:g} s in all"
            )
            if left > 0:
                answer = yield request._replace(timeout=round(left, 3))
                if not isinstance(answer, (Response, Failure)):
                    name = type(answer).__name__
                    raise TypeError(f"a transport returns a Response or a Failure, not {name}")
            try:
                request = flow.send(answer)
            except StopIteration as ended:
                result: AccessResult = ended.value
                return result
