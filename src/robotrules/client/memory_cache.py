"""
Memory cache: the states of origins in one process, with a limit on their number and bytes.

Parsed files are keyed by digest, since many origins have the same one, and dropped when no origin
uses them. A replaced or cleared state stops answering at once. The oldest states are evicted first.
The cache does not evaluate freshness; its callers do.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary

from robotrules.cache import MAX_CLOCK_SKEW, Entry, FetchRecord
from robotrules.client.origin_state import OriginState, StateSource
from robotrules.profile import Profile
from robotrules.robotstxt import RobotsTxt, parse
from robotrules.robotstxt.verdict import Verdict

if TYPE_CHECKING:
    from robotrules.client.rate_limiter import Delay

# Limits on the number of cached origins, and on the estimated bytes that they take in memory.
MAX_ORIGINS = 65_536
MAX_BYTES = 256 * 1024 * 1024
# Estimated bytes of a parsed file beside its octets, with the compiled rules of one crawler: for
# each line and each star, and at most so many times its octets.
PARSED_LINE, PARSED_STAR, MOST_PARSED = 100, 48, 24


class ReadyOrigin(NamedTuple):
    """What checks and slots of an origin need while its cached state is valid."""

    since: float
    until: float
    check: Callable[[str], Verdict]
    allows: Callable[[str], bool]
    """Whether `check` allows a URL, in less time."""
    origin: str
    lock: Any
    """The origin lock of the client."""
    delay: Delay | None
    """The delay between two requests; None: it depends on the time of day."""


class ParsedFile:
    """The bytes of a file, and the parsed file."""

    __slots__ = ("__weakref__", "body", "parsed_bytes", "robots")

    def __init__(self, body: bytes, robots: RobotsTxt) -> None:
        self.body, self.robots = body, robots
        self.parsed_bytes = estimate_parsed_bytes(robots)


class OriginCache:
    """The states of origins. Safe to use from several threads."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self.max_bytes: int | None = None
        """The limit on estimated bytes; None: `MAX_BYTES`."""
        self._lock = Lock()
        self._states: OrderedDict[str, OriginState] = OrderedDict()
        self._bytes = 0
        self._files: WeakValueDictionary[tuple[str, bool], ParsedFile] = WeakValueDictionary()
        # An expired copy is kept with its origin: it may apply again, or a 304 may revalidate it.
        self._file_of: dict[str, ParsedFile] = {}
        self.ready: dict[str | None, ReadyOrigin] = {}

    def get(self, origin: str) -> OriginState | None:
        """Return the cached state of an origin."""
        return self._states.get(origin)

    def file(self, good: FetchRecord | None, body: bytes | None = None) -> ParsedFile | None:
        """Return the parsed file of a record; None: it is not cached, and *body* is None."""
        if good is None or good.digest is None:
            return None
        key = good.digest, good.complete
        file = self._files.get(key)
        if file is not None or body is None:
            return file
        parsed = ParsedFile(body, parse(body, self._profile, complete=good.complete))
        with self._lock:
            return self._files.setdefault(key, parsed)

    def put(self, state: OriginState, file: ParsedFile | None, now: float) -> None:
        """
        Cache the state of an origin and its file; evict the oldest beyond the limits.

        A state older than the cached one is ignored: another thread fetched in the meantime.
        """
        origin = state.origin
        with self._lock:
            cached = self._states.get(origin)
            if cached is not None:
                if state.entry.last_fetch_at < cached.entry.last_fetch_at <= now + MAX_CLOCK_SKEW:
                    return
                self._evict(origin)
            self._bytes += _estimate_bytes(state.entry)
            self._states[origin] = state._replace(source=StateSource.MEMORY)
            if file is not None:
                self._file_of[origin] = file
                # Origins with the same file count it each: it is freed with the last one.
                self._bytes += file.parsed_bytes
            most = MAX_BYTES if self.max_bytes is None else self.max_bytes
            while self._bytes > most or len(self._states) > MAX_ORIGINS:
                self._evict(next(iter(self._states)))

    def make_ready(
        self,
        state: OriginState,
        check: Callable[[str], Verdict],
        allows: Callable[[str], bool],
        lock: object,
        delay: Delay | None,
    ) -> None:
        """Use these for the URLs of an origin while *state* is its cached state."""
        with self._lock:
            cached = self._states.get(state.origin)
            if cached is not None and cached.entry is state.entry and cached.until == state.until:
                since = state.entry.last_fetch_at - MAX_CLOCK_SKEW
                ready = ReadyOrigin(since, state.until, check, allows, state.origin, lock, delay)
                self.ready[state.origin] = ready

    def clear(self) -> None:
        """Remove everything."""
        with self._lock:
            self._states.clear()
            self.ready.clear()
            self._file_of.clear()
            self._bytes = 0

    def _evict(self, origin: str) -> None:
        self._bytes -= _estimate_bytes(self._states.pop(origin).entry)
        self.ready.pop(origin, None)
        file = self._file_of.pop(origin, None)
        if file is not None:
            self._bytes -= file.parsed_bytes


def estimate_parsed_bytes(robots: RobotsTxt) -> int:
    """
    Return the approximate size of a parsed file and the compiled rules of a crawler, without its
    octets. It is rather too high than too low: comments count as records.
    """
    body = robots.body
    lines = body.count(b"\n") + body.count(b"\r") + 1
    parsed = PARSED_LINE * lines + PARSED_STAR * body.count(b"*")
    return min(parsed, MOST_PARSED * len(body))


def _estimate_bytes(entry: Entry) -> int:
    """Return the approximate size of an entry and its file."""
    return sum(
        1024
        + fetch_record.size
        + sum(map(len, chain.from_iterable(fetch_record.fields.lines)))
        + sum(len(hop.url) + len(hop.location) for hop in fetch_record.hops)
        for fetch_record in (entry.last_success, entry.last_failure)
        if fetch_record
    )
