"""
Memory cache: the states of origins that one process holds, bounded in number and octets.

Parsed files are kept by what they hold, since many origins have the same one, and go when no origin
has it. What is renewed or forgotten stops answering in the same moment. It does not know how old
anything may be: who asks does.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from itertools import chain
from threading import Lock
from weakref import WeakValueDictionary

from robotrules.cache import MAX_CLOCK_SKEW, Entry, FetchRecord
from robotrules.client.origin_state import OriginState, StateSource
from robotrules.profile import Profile
from robotrules.robotstxt import RobotsTxt, parse
from robotrules.robotstxt.verdict import Verdict

# How many origins a process remembers, and of how many octets their files and fields may be. In
# memory a parsed file takes two or three times its size.
REMEMBERED_ORIGINS = 65_536
REMEMBERED_OCTETS = 64 * 1024 * 1024

# From when until when, and what answers.
Ready = tuple[float, float, Callable[[str], Verdict]]


class ParsedFile:
    """The octets of a file, and what they say."""

    __slots__ = ("__weakref__", "body", "robots")

    def __init__(self, body: bytes, robots: RobotsTxt) -> None:
        self.body, self.robots = body, robots


class OriginCache:
    """What is held of origins. Safe to use from several threads."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._lock = Lock()
        self._held: OrderedDict[str, OriginState] = OrderedDict()
        self._octets = 0
        self._files: WeakValueDictionary[tuple[str, bool], ParsedFile] = WeakValueDictionary()
        # An old copy is kept with its origin: it may decide again, or a 304 may renew it.
        self._file_of: dict[str, ParsedFile] = {}
        self.ready: dict[str | None, Ready] = {}

    def get(self, origin: str) -> OriginState | None:
        """Return what is held of an origin."""
        return self._held.get(origin)

    def file(self, good: FetchRecord | None, body: bytes | None = None) -> ParsedFile | None:
        """Return the file of a visit; None: it is not known, and there are no octets to parse."""
        if good is None or good.digest is None:
            return None
        key = good.digest, good.complete
        found = self._files.get(key)
        if found is not None or body is None:
            return found
        made = ParsedFile(body, parse(body, self._profile, complete=good.complete))
        with self._lock:
            return self._files.setdefault(key, made)

    def hold(self, found: OriginState, file: ParsedFile | None, now: float) -> None:
        """
        Remember what is held of an origin, and its file; forget what is too much.

        Who was late does not put what is old in the place of what somebody else found meanwhile.
        """
        origin = found.origin
        with self._lock:
            kept = self._held.get(origin)
            if kept is not None:
                if found.entry.last_fetch_at < kept.entry.last_fetch_at <= now + MAX_CLOCK_SKEW:
                    return
                self._forget(origin)
            self._octets += _octets_of(found.entry)
            self._held[origin] = found._replace(source=StateSource.MEMORY)
            if file is not None:
                self._file_of[origin] = file
            while self._octets > REMEMBERED_OCTETS or len(self._held) > REMEMBERED_ORIGINS:
                self._forget(next(iter(self._held)))

    def make_ready(self, found: OriginState, check: Callable[[str], Verdict]) -> None:
        """Have *check* answer about the URLs of an origin, as long as *found* is what is held."""
        with self._lock:
            kept = self._held.get(found.origin)
            if kept is not None and kept.entry is found.entry and kept.until == found.until:
                self.ready[found.origin] = (
                    found.entry.last_fetch_at - MAX_CLOCK_SKEW,
                    found.until,
                    check,
                )

    def clear(self) -> None:
        """Forget all of it."""
        with self._lock:
            self._held.clear()
            self.ready.clear()
            self._file_of.clear()
            self._octets = 0

    def _forget(self, origin: str) -> None:
        self._octets -= _octets_of(self._held.pop(origin).entry)
        self.ready.pop(origin, None)
        self._file_of.pop(origin, None)


def _octets_of(entry: Entry) -> int:
    """Return about how many octets an entry and its file have."""
    return sum(
        1024
        + visit.size
        + sum(map(len, chain.from_iterable(visit.fields.lines)))
        + sum(len(hop.url) + len(hop.location) for hop in visit.hops)
        for visit in (entry.last_success, entry.last_failure)
        if visit
    )
