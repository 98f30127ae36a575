"""
The store on a Redis server, for a fleet. Valkey and others that speak its protocol serve as well.

What is put is put by a script, in one step (`redis_scripts` has the layout). Nothing is ever asked
for by `KEYS`: entries and visits stand in sorted sets, and are read from there in pages.

Entries do not expire. What a client does after 30 days of failures depends on what it knew before
(RFC 9309 §2.3.1.4, AMB-59), so an entry that vanished by itself would start the count anew; `prune`
forgets what is old. Turns expire a month after their last use, leases when they end.

A Redis that evicts (`maxmemory-policy` other than `noeviction`) loses evidence when memory is
short, and may lose entries: then a file is fetched again, and no verdict is wrong. With
`noeviction` a full server refuses to write, and clients go on without it. How much a crash loses is
in the hands of its settings (`appendfsync`).
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from robotrules.cache import MAX_CLOCK_SKEW, Entry, FetchRecord
from robotrules.client.circuit_breaker import ANSWER, CONNECT, CircuitBreaker, vet_address
from robotrules.client.stores import redis_scripts as scripts
from robotrules.client.stores.pacing import BELIEVED, FARTHEST
from robotrules.client.stores.serialization import (
    VERSION,
    batches,
    body_of,
    entry_row,
    identity_of,
    read_entry,
    read_visit,
    vet_lease,
    vet_own,
    vet_turn,
    visit_row,
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
# What is read in one go, and what is forgotten in one: a script keeps others waiting.
PAGE, SHARE = 256, 200
MONTH = 31 * 86_400
CURE = "check that the server runs, its address and its password"

T = TypeVar("T")
_connection: Any = connection  # which has no types


class RedisStore:
    """A store on a Redis server. Safe to use from several threads and processes."""

    inline = False
    _ready = _closed = False

    def __init__(self, url: str, *, lazy: bool = False) -> None:
        """Connect; StoreError where that cannot be, unless *lazy*: then at the first call."""
        try:
            vet_address(url)
            given: dict[str, Any] = _connection.parse_url(url)
        except ValueError:
            # Its words may hold a part of the password.
            raise ValueError(
                "the address of the Redis store cannot be read: use redis://HOST:PORT/NUMBER, and "
                "percent-encode what is special in a password"
            ) from None
        host, port = given.get("host", "localhost"), given.get("port", 6379)
        self.name = f"Redis, {given.get('path') or f'{host}:{port}'}/{given.get('db', 0)}"
        self._away = CircuitBreaker(self.name, [given.get("password")])
        options = {
            "socket_connect_timeout": CONNECT,
            "socket_timeout": ANSWER,
            "timeout": ANSWER,
            "max_connections": CONNECTIONS,
            # One more attempt, for a connection that a restarted server has closed. Every call
            # may be made twice: at worst a turn is taken that nobody uses. A wait is not repeated.
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
                self._ask(lambda: None)
            except BaseException:
                self.close()
                raise

    # --- Entries and bodies -----------------------------------------------------------------------

    def get(self, origin: str, agent: str) -> Entry | None:
        """Return what is known of an origin."""
        key = f"{PREFIX}entry:{_escaped(agent)}:{origin}"
        row = self._ask(lambda: self._redis.hget(key, "row"))
        entry = read_entry(row)
        # A whole row in the wrong place is as good as none.
        return entry if entry and (entry.origin, entry.agent) == (origin, agent) else None

    def body(self, digest: str) -> bytes | None:
        """Return the octets that have this digest."""
        octets = self._ask(lambda: self._redis.hget(f"{PREFIX}body:{digest}", "octets"))
        return body_of(octets, digest)

    def put(self, fetch_record: FetchRecord, body: bytes | None, entry: Entry | None) -> None:
        """Keep an own visit as evidence, its body, and its entry, all of it or nothing."""
        vet_own(fetch_record, body)
        kept: tuple[Any, ...] = (
            _escaped(fetch_record.agent),
            repr(float(fetch_record.at)),
            "",
            b"",
        )
        if entry is not None:
            digest = entry.last_success.digest if entry.last_success else None
            kept = (
                _escaped(entry.agent),
                repr(float(entry.last_fetch_at)),
                digest or "",
                entry_row(entry),
            )
        self._run(scripts.PUT, *_seen(fetch_record, body), *kept, MAX_CLOCK_SKEW)

    # --- Leases and turns -------------------------------------------------------------------------

    def lease(self, key: str, holder: str, ttl: float) -> bool:
        """Take a lease that nobody else holds, or renew one's own; False: somebody has it."""
        vet_lease(key, ttl)
        # Up to a year: Redis counts in milliseconds, and not without end.
        milliseconds = math.ceil(min(ttl, 12.0 * MONTH) * 1000)
        return bool(self._run(scripts.LEASE, key, holder, milliseconds))

    def release(self, key: str, holder: str) -> None:
        """Give back a lease, if it is still *holder*'s."""
        self._run(scripts.RELEASE, key, holder)

    def holder(self, key: str) -> str | None:
        """Return who holds a lease; None: nobody does."""
        found = self._run(scripts.HOLDER, key)
        return found.decode("utf-8", "replace") if isinstance(found, bytes) else None

    def reserve_slot(self, origin: str, now: float, interval: float) -> float:
        """Take the next turn at an origin: not before *now*, and *interval* after the last."""
        vet_turn(origin, now, interval)
        return float(self._turn(scripts.RESERVE, origin, now, interval, FARTHEST))

    def begin_slot(self, origin: str, now: float, interval: float) -> float:
        """Begin a turn now if one may; if not, return from when on, and change nothing."""
        vet_turn(origin, now, interval)
        return float(self._turn(scripts.BEGIN, origin, now, interval))

    def postpone_slot(self, origin: str, until: float) -> None:
        """Let no turn at an origin be before a moment."""
        self._turn(scripts.POSTPONE, origin, until)

    def _turn(self, script: str, origin: str, *numbers: float) -> Any:
        words = [repr(float(number)) for number in (BELIEVED, *numbers)]
        return self._run(script, origin, MONTH, *words)

    # --- All of it --------------------------------------------------------------------------------

    def entries(self) -> Iterator[Entry]:
        """Yield all entries, by origin."""
        for page in self._keys():
            rows = self._each("hget", [(f"{PREFIX}entry:{b}:{a}", "row") for a, b in page])
            yield from (entry for entry in map(read_entry, rows) if entry is not None)

    def _keys(self) -> Iterator[list[tuple[str, str]]]:
        """Yield origin and agent, as keys have it, of all entries, in pages."""
        start = b"-"
        while page := self._ask(self._page, f"{PREFIX}entries", start):
            yield [tuple(member.decode().split("\n")) for member in page]
            start = b"(" + page[-1]

    def _page(self, key: str, start: bytes) -> Any:
        return self._redis.zrangebylex(key, start, b"+", 0, PAGE)

    def fetch_records(
        self, origin: str | None = None, *, after: float | None = None, before: float | None = None
    ) -> Iterator[FetchRecord]:
        """
        Yield visits in the order of their time, `after <= at <= before`.

        A damaged one raises StoreError: without it another visit would seem to be in force.
        """
        key = f"{PREFIX}times" if origin is None else f"{PREFIX}times:{origin}"
        start = float("-inf") if after is None else after
        end = float("inf") if before is None else before
        seen: set[bytes] = set()  # of those at the moment where the next page starts
        while True:
            page = self._ask(self._moments, key, start, end, PAGE + len(seen))
            new = [(member, at) for member, at in page if member not in seen]
            if not new:
                return
            names = [
                (origin, member.decode()) if origin else tuple(member.decode().split("\n", 1))
                for member, _ in new
            ]
            rows = self._each("hget", [(f"{PREFIX}visits:{a}", b) for a, b in names])
            for (member, at), (where, _), row in zip(new, names, rows, strict=True):
                visit = read_visit(row)
                if visit is not None and (visit.origin, visit.at) == (where, at):
                    yield visit
                elif row is not None or self._ask(self._redis.zscore, key, member) is not None:
                    raise StoreError(
                        f"the visit to {where} at {at} is damaged or was evicted ({self.name}): "
                        "set maxmemory-policy noeviction, and forget the evidence up to that moment"
                    )
            start = page[-1][1]
            seen = {member for member, at in page if at == start}

    def _moments(self, key: str, start: float, end: float, count: int) -> Any:
        return self._redis.zrangebyscore(key, start, end, 0, count, withscores=True)

    def add(self, fetch_records: Iterable[tuple[FetchRecord, bytes | None]]) -> int:
        """Add visits of elsewhere as evidence, without entries; return how many were new."""
        return sum(self._ask(self._add, batch) for batch in batches(fetch_records))

    def _add(self, batch: list[tuple[FetchRecord, bytes | None]]) -> int:
        with self._redis.pipeline(transaction=False) as pipe:
            for visit, body in batch:
                self._script(scripts.ADD)(args=[PREFIX, *_seen(visit, body)], client=pipe)
            return sum(pipe.execute())

    def prune(self, before: float) -> int:
        """Forget entries whose last visit is older; return how many. Evidence stays."""
        forgotten = 0
        for page in self._keys():
            words = [word for key in page for word in key]
            forgotten += self._run(scripts.PRUNE, repr(float(before)), *words)
        return forgotten

    def prune_evidence(self, before: float) -> int:
        """Forget visits older than a moment, and bodies nobody needs; return how many visits."""
        forgotten = 0
        while share := self._run(scripts.PRUNE_EVIDENCE, repr(float(before)), SHARE):
            forgotten += share
        return forgotten

    def close(self) -> None:
        """Let go of all connections."""
        self._closed = True
        self._redis.close()
        self._redis.connection_pool.disconnect()

    # --- The server -------------------------------------------------------------------------------

    def _script(self, script: str) -> Any:
        if script not in self._scripts:
            self._scripts[script] = self._redis.register_script(script)
        return self._scripts[script]

    def _run(self, script: str, *values: Any) -> Any:
        return self._ask(lambda: self._script(script)(args=[PREFIX, *values]))

    def _each(self, command: str, calls: list[tuple[Any, ...]]) -> list[Any]:
        """Make many calls in one go."""

        def run() -> list[Any]:
            """Send them, and return what came."""
            with self._redis.pipeline(transaction=False) as pipe:
                for call in calls:
                    getattr(pipe, command)(*call)
                return list(pipe.execute())

        return self._ask(run)

    def _ask(self, ask: Callable[..., T], *values: Any) -> T:
        """Ask the server; whatever it does is an answer or a StoreError, and soon."""
        if self._closed:
            raise StoreError(f"{self.name} was closed: open another")
        self._away.check()
        started = time.monotonic()
        try:
            if not self._ready:
                self._check_version()
            answer = ask(*values)
        except StoreError:
            raise
        except (redis.RedisError, OSError) as error:
            raise self._away.record_failure(error, started, CURE) from None
        self._away.record_success()
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
                f"{self.name} was filled by a newer robotrules (its version is {int(found)}, this "
                f"one knows {VERSION}): install the newer one here too, or use another database"
            )
        if int(found) < VERSION:
            self._redis.set(f"{PREFIX}version", VERSION)
        self._ready = True


# What separates the parts of keys and members, what escapes it, and what is not printed.
_SPECIAL = re.compile("[%:\x00-\x1f\x7f]")


def _escaped(agent: str) -> str:
    """Return a product token as a part of a key; a usual one stays as it is."""
    return _SPECIAL.sub(lambda found: f"%{ord(found[0]):02X}", agent)


def _seen(visit: FetchRecord, body: bytes | None) -> tuple[Any, ...]:
    """Return a visit as the scripts take it."""
    origin, at, agent, digest, status = identity_of(visit)
    name = f"{_escaped(agent)}\n{at!r}\n{digest}\n{status}"
    has_body = "0" if body is None else "1"
    return (origin, name, repr(at), digest, visit_row(visit), has_body, body or b"")
