"""
Redis store, for a fleet. Valkey and other servers with the same protocol work as well.

Scripts make each put atomic (`redis_scripts` documents the layout). `KEYS` is never used: entries
and fetch records are listed in sorted sets, and read from there in pages.

Entries do not expire. What a client does after 30 days of failures depends on its earlier state
(RFC 9309 §2.3.1.4, AMB-59), so an expired entry would restart the count; `prune` deletes old ones.
Slots expire a month after their last use, leases when they end.

A Redis that evicts (`maxmemory-policy` other than `noeviction`) loses evidence when memory is
short, and may lose entries: the file is then fetched again, and verdicts stay correct. With
`noeviction` a full server rejects writes, and clients continue without it. How much a crash loses
depends on its settings (`appendfsync`).
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from robotrules.cache import MAX_CLOCK_SKEW, Entry, FetchRecord
from robotrules.client.stores import redis_scripts as scripts
from robotrules.client.stores.pacing import MAX_AHEAD, MAX_TRUSTED_AHEAD
from robotrules.client.stores.serialization import (
    VERSION,
    parse_entry,
    parse_record,
    record_identity,
    serialize_entry,
    serialize_record,
    split_batches,
    verify_body,
    vet_lease,
    vet_own,
    vet_slot,
)
from robotrules.client.stores.server_guard import (
    CONNECT_TIMEOUT,
    RESPONSE_TIMEOUT,
    ServerGuard,
    vet_address,
)
from robotrules.errors import MissingExtraError, StoreError

try:
    import redis
    from redis import connection
    from redis.backoff import NoBackoff
    from redis.retry import Retry
except ImportError:
    raise MissingExtraError(
        "the Redis store needs redis, which is not installed: pip install 'robotrules[redis]'"
    ) from None

PREFIX = "robotrules:"
CONNECTIONS = 32
# Rows read at a time, and rows deleted by one script, which blocks other clients.
PAGE, BATCH = 256, 200
MONTH = 31 * 86_400
FIX = "check that the server runs, its address and its password"

T = TypeVar("T")
_connection: Any = connection  # which has no types


class RedisStore:
    """A store on a Redis server. Safe to use from several threads and processes."""

    inline = False
    _ready = _closed = False

    def __init__(self, url: str, *, lazy: bool = False) -> None:
        """Connect; raises StoreError if that fails. *lazy*: connect at the first call."""
        try:
            vet_address(url)
            given: dict[str, Any] = _connection.parse_url(url)
        except ValueError:
            # The message of the library may contain part of the password: it is not repeated.
            raise ValueError(
                "the address of the Redis store cannot be read: use redis://HOST:PORT/NUMBER, and "
                "percent-encode special characters in a password"
            ) from None
        host, port = given.get("host", "localhost"), given.get("port", 6379)
        self.name = f"Redis, {given.get('path') or f'{host}:{port}'}/{given.get('db', 0)}"
        self._guard = ServerGuard(self.name, [given.get("password")])
        options = {
            "socket_connect_timeout": CONNECT_TIMEOUT,
            "socket_timeout": RESPONSE_TIMEOUT,
            "timeout": RESPONSE_TIMEOUT,
            "max_connections": CONNECTIONS,
            # One retry, for a connection that a restarted server closed. Every call may be
            # repeated: at worst a slot stays unused. Timeouts are not retried.
            "retry": Retry(NoBackoff(), 1, (redis.ConnectionError,)),
            "client_name": "robotrules",
            **given,
            "decode_responses": False,
        }
        pool = _connection.BlockingConnectionPool(**options)
        self._redis: Any = redis.Redis(connection_pool=pool)
        self._scripts: dict[str, Any] = {}
        if not lazy:
            try:
                self._call(lambda: None)
            except BaseException:
                self.close()
                raise

    # --- Entries and bodies -----------------------------------------------------------------------

    def get(self, origin: str, agent: str) -> Entry | None:
        """Return the entry of an origin; None if there is none."""
        key = f"{PREFIX}entry:{_escape(agent)}:{origin}"
        row = self._call(lambda: self._redis.hget(key, "row"))
        entry = parse_entry(row)
        # An intact row in the wrong place counts as missing.
        return entry if entry and (entry.origin, entry.agent) == (origin, agent) else None

    def body(self, digest: str) -> bytes | None:
        """Return the body with this digest."""
        octets = self._call(lambda: self._redis.hget(f"{PREFIX}body:{digest}", "octets"))
        return verify_body(octets, digest)

    def put(self, fetch_record: FetchRecord, body: bytes | None, entry: Entry | None) -> None:
        """Store a fetch record, its body and its entry, atomically."""
        vet_own(fetch_record, body)
        kept: tuple[Any, ...] = (
            _escape(fetch_record.agent),
            repr(float(fetch_record.at)),
            "",
            b"",
        )
        if entry is not None:
            digest = entry.last_success.digest if entry.last_success else None
            kept = (
                _escape(entry.agent),
                repr(float(entry.last_fetch_at)),
                digest or "",
                serialize_entry(entry),
            )
        self._run(scripts.PUT, *_record_values(fetch_record, body), *kept, MAX_CLOCK_SKEW)

    # --- Leases and slots -------------------------------------------------------------------------

    def lease(self, key: str, holder: str, ttl: float) -> bool:
        """Acquire or renew a lease; False: another holder has it."""
        vet_lease(key, ttl)
        # At most a year: the range of milliseconds in Redis is limited.
        milliseconds = math.ceil(min(ttl, 12.0 * MONTH) * 1000)
        return bool(self._run(scripts.LEASE, key, holder, milliseconds))

    def release(self, key: str, holder: str) -> None:
        """Release a lease if *holder* still has it."""
        self._run(scripts.RELEASE, key, holder)

    def holder(self, key: str) -> str | None:
        """Return the holder of a lease; None if it is free."""
        found = self._run(scripts.HOLDER, key)
        return found.decode("utf-8", "replace") if isinstance(found, bytes) else None

    def reserve_slot(self, origin: str, now: float, interval: float) -> float:
        """Reserve the next slot: not before *now*, and *interval* after the last one."""
        vet_slot(origin, now, interval)
        return float(self._run_slot_script(scripts.RESERVE, origin, now, interval, MAX_AHEAD))

    def begin_slot(self, origin: str, now: float, interval: float) -> float:
        """Begin a slot if the rate limit permits; else return the earliest time for one."""
        vet_slot(origin, now, interval)
        return float(self._run_slot_script(scripts.BEGIN, origin, now, interval))

    def postpone_slot(self, origin: str, until: float) -> None:
        """Allow no slot at an origin before a time."""
        self._run_slot_script(scripts.POSTPONE, origin, until)

    def _run_slot_script(self, script: str, origin: str, *numbers: float) -> Any:
        words = [repr(float(number)) for number in (MAX_TRUSTED_AHEAD, *numbers)]
        return self._run(script, origin, MONTH, *words)

    # --- Iteration and pruning --------------------------------------------------------------------

    def entries(self) -> Iterator[Entry]:
        """Yield all entries, ordered by origin."""
        for page in self._keys():
            rows = self._each("hget", [(f"{PREFIX}entry:{b}:{a}", "row") for a, b in page])
            yield from (entry for entry in map(parse_entry, rows) if entry is not None)

    def _keys(self) -> Iterator[list[tuple[str, str]]]:
        """Yield the origins and escaped agents of all entries, in pages."""
        start = b"-"
        while page := self._call(self._page, f"{PREFIX}entries", start):
            yield [tuple(member.decode().split("\n")) for member in page]
            start = b"(" + page[-1]

    def _page(self, key: str, start: bytes) -> Any:
        return self._redis.zrangebylex(key, start, b"+", 0, PAGE)

    def fetch_records(
        self, origin: str | None = None, *, after: float | None = None, before: float | None = None
    ) -> Iterator[FetchRecord]:
        """
        Yield fetch records in chronological order, `after <= at <= before`.

        A damaged record raises StoreError: without it another one would seem to be in force.
        """
        key = f"{PREFIX}times" if origin is None else f"{PREFIX}times:{origin}"
        start = float("-inf") if after is None else after
        end = float("inf") if before is None else before
        seen: set[bytes] = set()  # records at the time where the next page starts
        while True:
            page = self._call(self._read_times, key, start, end, PAGE + len(seen))
            new = [(member, at) for member, at in page if member not in seen]
            if not new:
                return
            names = [
                (origin, member.decode()) if origin else tuple(member.decode().split("\n", 1))
                for member, _ in new
            ]
            rows = self._each("hget", [(f"{PREFIX}visits:{a}", b) for a, b in names])
            for (member, at), (where, _), row in zip(new, names, rows, strict=True):
                fetch_record = parse_record(row)
                if fetch_record is not None and (fetch_record.origin, fetch_record.at) == (
                    where,
                    at,
                ):
                    yield fetch_record
                elif row is not None or self._call(self._redis.zscore, key, member) is not None:
                    raise StoreError(
                        f"the fetch record of {where} at {at} is damaged or evicted ({self.name}): "
                        "set maxmemory-policy noeviction, and prune the evidence up to that time"
                    )
            start = page[-1][1]
            seen = {member for member, at in page if at == start}

    def _read_times(self, key: str, start: float, end: float, count: int) -> Any:
        return self._redis.zrangebyscore(key, start, end, 0, count, withscores=True)

    def add(self, fetch_records: Iterable[tuple[FetchRecord, bytes | None]]) -> int:
        """Add imported records as evidence, without entries; return how many were new."""
        return sum(self._call(self._add, batch) for batch in split_batches(fetch_records))

    def _add(self, batch: list[tuple[FetchRecord, bytes | None]]) -> int:
        with self._redis.pipeline(transaction=False) as pipe:
            for fetch_record, body in batch:
                self._script(scripts.ADD)(
                    args=[PREFIX, *_record_values(fetch_record, body)], client=pipe
                )
            return sum(pipe.execute())

    def prune(self, before: float) -> int:
        """Delete entries whose last fetch is older; return how many. Evidence is kept."""
        deleted = 0
        for page in self._keys():
            words = [word for key in page for word in key]
            deleted += self._run(scripts.PRUNE, repr(float(before)), *words)
        return deleted

    def prune_evidence(self, before: float) -> int:
        """Delete fetch records older than a time, and unused bodies; return how many records."""
        deleted = 0
        while share := self._run(scripts.PRUNE_EVIDENCE, repr(float(before)), BATCH):
            deleted += share
        return deleted

    def close(self) -> None:
        """Close all connections."""
        self._closed = True
        self._redis.close()
        self._redis.connection_pool.disconnect()

    # --- The server -------------------------------------------------------------------------------

    def _script(self, script: str) -> Any:
        if script not in self._scripts:
            self._scripts[script] = self._redis.register_script(script)
        return self._scripts[script]

    def _run(self, script: str, *values: Any) -> Any:
        return self._call(lambda: self._script(script)(args=[PREFIX, *values]))

    def _each(self, command: str, calls: list[tuple[Any, ...]]) -> list[Any]:
        """Make many calls in one pipeline."""

        def run() -> list[Any]:
            """Send the calls, and return their results."""
            with self._redis.pipeline(transaction=False) as pipe:
                for call in calls:
                    getattr(pipe, command)(*call)
                return list(pipe.execute())

        return self._call(run)

    def _call(self, ask: Callable[..., T], *values: Any) -> T:
        """Call the server; returns or raises StoreError within a bounded time."""
        if self._closed:
            raise StoreError(f"{self.name} is closed: open another one")
        self._guard.check()
        started = time.monotonic()
        try:
            if not self._ready:
                self._check_version()
            answer = ask(*values)
        except StoreError:
            raise
        except (redis.RedisError, OSError) as error:
            raise self._guard.record_failure(error, started, FIX) from None
        self._guard.record_success()
        return answer

    def _check_version(self) -> None:
        self._redis.setnx(f"{PREFIX}version", VERSION)
        found = self._redis.get(f"{PREFIX}version") or b""
        if not found.isdigit():
            raise StoreError(
                f"{self.name} has keys of another program at {PREFIX}*: use another database"
            )
        if int(found) > VERSION:
            raise StoreError(
                f"{self.name} was created by a newer robotrules (version {int(found)}; this one "
                f"supports {VERSION}): upgrade robotrules, or use another database"
            )
        if int(found) < VERSION:
            self._redis.set(f"{PREFIX}version", VERSION)
        self._ready = True


# Separators of keys and members, the escape character, and control characters.
_SPECIAL = re.compile("[%:\x00-\x1f\x7f]")


def _escape(agent: str) -> str:
    """Return a product token as part of a key; a usual one is unchanged."""
    return _SPECIAL.sub(lambda found: f"%{ord(found[0]):02X}", agent)


def _record_values(fetch_record: FetchRecord, body: bytes | None) -> tuple[Any, ...]:
    """Return a fetch record as arguments of the scripts."""
    origin, at, agent, digest, status = record_identity(fetch_record)
    name = f"{_escape(agent)}\n{at!r}\n{digest}\n{status}"
    has_body = "0" if body is None else "1"
    return (origin, name, repr(at), digest, serialize_record(fetch_record), has_body, body or b"")
