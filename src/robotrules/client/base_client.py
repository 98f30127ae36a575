"""
Asking: who a client is, and what both clients answer without waiting for anything.

The User-Agent says who fetches, and the product token in it is who obeys: a client that calls
itself one thing and obeys the rules of another is refused (RFC 9309 §2.2.1). What this process has
in memory answers at once, at little more than the cost of the rules themselves. It does no I/O.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from robotrules.access import AccessProfile, find_access_profile, find_profiles
from robotrules.cache import EffectivePolicy, Store
from robotrules.client.cache_engine import CacheEngine
from robotrules.client.metrics import Meter, Stats
from robotrules.client.origin_state import OriginState
from robotrules.client.rate_limiter import Delay, Pace, RateLimiter, delay_at, pace_of, states_pace
from robotrules.client.ssrf import AddressPolicy, vet_allow_private
from robotrules.client.stores import MemoryStore, default_path, open_store
from robotrules.client.transports import is_transport, open_async_transport, open_transport
from robotrules.client.transports.exchange import (
    ExtraHeaders,
    extra_headers,
    vet_connections,
    vet_proxy,
)
from robotrules.errors import CrawlerError, StoreError
from robotrules.extensions.purpose import crawler_notes
from robotrules.guide import as_url
from robotrules.http.origins import origin_of, parse_origin, split_origin
from robotrules.octets import to_text
from robotrules.profile import DEFAULT, Profile
from robotrules.robotstxt import RobotsTxt, Tokens
from robotrules.robotstxt.ruleset import URL
from robotrules.robotstxt.tokens import product_token as token_in
from robotrules.robotstxt.tokens import vet_names
from robotrules.robotstxt.values import Note
from robotrules.robotstxt.verdict import Explanation, GroupMatch, Reason, Verdict

# Requests to one origin at a time, at most: more is a load test.
MOST_SLOTS = 16
# Spellings of origins that are remembered: `HTTPS://Example.com` is one, `https://example.com:443`
# another. When there are more, all are forgotten.
REMEMBERED_SPELLINGS = 65_536
LONGEST_SPELLING = 300
# Files whose Crawl-delay and Request-rate are remembered. They hold their files, so they are few.
REMEMBERED_PACES = 256
# RFC 9110 §5.5: what a field value may hold, without what no name needs.
_PRINTABLE = re.compile(r"[\x20-\x7e]+")
# The shortest origin is `http://a`: no slash of a path stands before this. A spelling is remembered
# with that slash, so that a URL without one is not taken for what is one letter shorter.
_SCHEME = 8


class ClientIdentity(NamedTuple):
    """Who a client is."""

    user_agent: str
    tokens: Tokens
    """Whose rules it obeys."""
    agent: str
    """The name by which its visits are kept."""
    purposes: tuple[str, ...]
    notes: tuple[Note, ...]
    """What its own configuration lacks (`robotrules.crawler_notes`)."""


def identity(
    user_agent: str,
    product_token: Tokens | None,
    purposes: Sequence[str],
    profile: Profile,
) -> ClientIdentity:
    """Return who a client is; what is not honest is refused."""
    if not isinstance(user_agent, str):
        raise TypeError(f"user_agent is a str, not {type(user_agent).__name__}")
    if not _PRINTABLE.fullmatch(user_agent) or not user_agent.strip():
        raise CrawlerError(
            f"{user_agent!r} cannot be sent as User-Agent: use printable ASCII such as "
            "'ExampleBot/1.0 (+https://example.com/bot)'"
        )
    sent = token_in(user_agent)
    tokens: Tokens | None = product_token if product_token is not None else sent
    if tokens is None:
        raise CrawlerError(
            f"no product token is found in {user_agent!r}: begin it with the crawler's name, such "
            "as 'ExampleBot/1.0', or pass product_token="
        )
    names = (tokens,) if isinstance(tokens, str) else tuple(tokens)
    if not names or not all(isinstance(name, str) and name.strip() for name in names):
        raise CrawlerError(f"product_token is {product_token!r}: pass a name such as 'ExampleBot'")
    # A client has a name of its own, whatever a profile makes of a header (AMB-22).
    vet_names(names, DEFAULT)
    said = user_agent.lower()
    known = tuple(name.lower() for name in names if name.lower() in said)
    for name in names:
        # `ExampleBot-News` is a part of who is called ExampleBot (AMB-30).
        if not name.lower().startswith(known):
            raise CrawlerError(
                f"{name!r} is not in the User-Agent {user_agent!r}: a crawler obeys the rules of "
                "the name it sends (RFC 9309 §2.2.1). To ask about another crawler's rules, pass "
                "its name to check()"
            )
    honest = next(name for name in names if name.lower() in said)
    notes = crawler_notes(user_agent, honest, purposes, profile=profile)
    return ClientIdentity(
        user_agent,
        names[0] if isinstance(tokens, str) else names,
        sent or honest,
        tuple(purposes),
        notes,
    )


class BaseClient:
    """What both clients have, and what they answer from memory."""

    def __init__(
        self,
        user_agent: str,
        *,
        product_token: Tokens | None,
        purposes: Sequence[str],
        profile: str | Profile,
        access: str | AccessProfile | None,
        store: Store | str | os.PathLike[str] | None,
        stale_while_revalidate: bool,
        min_delay: float,
        connections_per_origin: int,
        on_fetch: Callable[..., object] | None,
        timeout: float,
        clock: Callable[[], float],
    ) -> None:
        count = connections_per_origin
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MOST_SLOTS:
            raise ValueError(f"connections_per_origin is {count!r}: use 1 to {MOST_SLOTS}")
        if on_fetch is not None and not callable(on_fetch):
            raise TypeError(f"on_fetch is {on_fetch!r:.60}: pass a function of one FetchEvent")
        parsing, fetching = find_profiles(profile)
        if access is not None:
            fetching = find_access_profile(access)
        for name, value, least in (("min_delay", min_delay, 0), ("timeout", timeout, 0.001)):
            if not isinstance(value, (int, float)) or not least <= value <= 86_400:
                raise ValueError(f"{name} is {value!r}: use seconds, {least:g} to 86400")
        self._identity = identity(user_agent, product_token, purposes, parsing)
        # A store that was handed over is closed by who made it.
        self._closes_store = store is None or isinstance(store, (str, os.PathLike))
        opened, without = opened_store(store)
        self._desk = CacheEngine(
            opened,
            without=without,
            alone=self._closes_store and isinstance(opened, MemoryStore),
            user_agent=user_agent,
            agent=self._identity.agent,
            profile=parsing,
            access=fetching,
            clock=clock,
            timeout=float(timeout),
            stale_while_revalidate=stale_while_revalidate,
        )
        self._turns = RateLimiter(self._desk)
        self._slots = count
        self._meter = Meter()
        self._on_fetch = on_fetch
        self._min_delay = float(min_delay)
        self._clock = clock
        # How origins are written, and what answers about them: see `_answered`.
        self._spellings: dict[str, str] = {}
        self._ready = self._desk.memory.ready
        self._paces: dict[str, tuple[RobotsTxt, Pace]] = {}

    def _close_store(self) -> None:
        if self._closes_store:
            self._desk.store.close()

    # --- Who -----------------------------------------------------------------------------------

    @property
    def user_agent(self) -> str:
        """What is sent as User-Agent."""
        return self._identity.user_agent

    @property
    def product_token(self) -> Tokens:
        """Whose rules are obeyed."""
        return self._identity.tokens

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the client's own configuration lacks (`robotrules.crawler_notes`)."""
        return self._identity.notes

    @property
    def store(self) -> Store:
        """Where entries and evidence are kept."""
        return self._desk.store

    @property
    def store_error(self) -> str | None:
        """What is wrong with the store now; None: nothing."""
        return self._desk.store_error

    @property
    def stats(self) -> Stats:
        """What this client has fetched so far: counters over its requests."""
        return self._meter.stats()

    # --- Memory ---------------------------------------------------------------------------------

    def _asked_since(self, url: URL, began: float) -> bool:
        """Tell whether the origin of a URL was asked since a moment."""
        origin = self._origin(url)
        found = self._desk.memory.get(origin) if origin else None
        return found is not None and found.entry.last_fetch_at >= began

    def cached(self, url: URL) -> OriginState | None:
        """
        Return what this process has in memory of the origin of *url*, if it still holds.

        None: nothing, and `held()` looks further. This asks no store and no server.
        """
        origin = self._origin(url)
        return None if origin is None else self._desk.lookup_memory(origin)[0]

    def clear_memory(self) -> None:
        """Forget what this process remembers of origins; the store keeps what it has."""
        self._desk.memory.clear()

    def _answered(self, url: URL) -> Verdict | None:
        """Return the verdict that memory has; None: look further. Most questions end here."""
        if type(url) is str:
            origin = self._spellings.get(url[: url.find("/", _SCHEME) + 1])
            ready = self._ready.get(origin)
            if ready and ready[0] <= self._clock() < ready[1]:
                return ready[2](url)
        return None

    def _noted(self, found: OriginState) -> None:
        """Have the next question about this origin answered at once."""
        tokens, purposes = self._identity.tokens, self._identity.purposes
        # Where no rules decide, purposes change nothing.
        check: Callable[[str], Verdict] = partial(found.check, product_token=tokens)
        if found.policy is EffectivePolicy.RULES:
            check = found.robots.rules_for(tokens, purposes).check
        self._desk.memory.make_ready(found, check)

    def _origin(self, url: URL) -> str | None:
        """Return the origin of a URL, and remember how it was written."""
        if isinstance(url, str):
            origin = self._spellings.get(url[: url.find("/", _SCHEME) + 1])
            if origin is not None:
                return origin
            origin, end = split_origin(url)
            if origin is not None and end < LONGEST_SPELLING:
                if len(self._spellings) >= REMEMBERED_SPELLINGS:
                    self._spellings.clear()
                self._spellings[f"{url[:end]}/"] = origin
            return origin
        return origin_of(url)

    def _asked(
        self, product_token: Tokens | None, purposes: Sequence[str] | None
    ) -> tuple[Tokens, Sequence[str]]:
        """Return who asks: the client, unless the question is about somebody else."""
        if product_token is None:
            return self._identity.tokens, self._identity.purposes if purposes is None else purposes
        # Before anything is fetched, and whether or not there is a file to ask.
        vet_names(product_token, self._desk.profile)
        return product_token, purposes or ()

    def _nowhere(self) -> Verdict:
        return Verdict(False, Reason.NO_ORIGIN, None, self._desk.profile.name)

    def _unexplained(self, url: URL, tokens: Tokens, purposes: Sequence[str]) -> Explanation:
        """Return the explanation of a URL that no robots.txt governs."""
        text = url if isinstance(url, str) else to_text(url)
        name = tokens if isinstance(tokens, str) else ", ".join(tokens)
        nobody = GroupMatch.NONE
        return Explanation(text, "", name, (), self._nowhere(), nobody, (), (), (), tuple(purposes))

    def _delay(self, found: OriginState) -> Delay:
        """Return the seconds between two requests to an origin, and what asks for them."""
        pace = self._pace(found)
        if pace is None:
            return Delay(self._min_delay, "min-delay")
        return delay_at(pace, self._clock(), self._min_delay)

    def _slots_at(self, found: OriginState) -> int:
        """Return how many turns there may be at a time: one, where the site states a pace."""
        pace = self._pace(found) if self._slots > 1 else None
        return 1 if pace is not None and states_pace(pace) else self._slots

    def _pace(self, found: OriginState) -> Pace | None:
        """Return what a file asks of this crawler; of a file its records are read once."""
        if found.policy is not EffectivePolicy.RULES:
            return None
        known = self._paces.get(found.origin)
        if known is None or known[0] is not found.robots:
            pace = pace_of(found.robots, self._identity.tokens, self._identity.purposes)
            if len(self._paces) >= REMEMBERED_PACES:
                self._paces.clear()
            known = self._paces[found.origin] = found.robots, pace
        return known[1]

    def _grouped(self, urls: Iterable[URL]) -> tuple[list[URL], dict[str | None, list[int]]]:
        """Return URLs, and their positions by origin."""
        if isinstance(urls, (str, bytes)):
            raise TypeError(f"urls are a list of URLs, not one: pass [{urls!r}]")
        listed = _listed(urls)
        groups: dict[str | None, list[int]] = {}
        by_spelling: dict[object, list[int]] = {}
        for position, url in enumerate(listed):
            # Two lookups a URL: how its origin is written, and that spelling's list.
            spelling = url[: url.find("/", _SCHEME) + 1] if type(url) is str else None
            positions = by_spelling.get(spelling)
            if positions is None:
                positions = groups.setdefault(self._origin(url), [])
                if spelling in self._spellings:
                    by_spelling[spelling] = positions
            positions.append(position)
        return listed, groups

    def _decided(
        self,
        listed: list[URL],
        groups: dict[str | None, list[int]],
        found: dict[str, OriginState],
        tokens: Tokens,
        purposes: Sequence[str],
    ) -> list[Verdict]:
        """Return verdicts in the order of the URLs, with one crossing for each origin."""
        verdicts = [self._nowhere()] * len(listed)
        for origin, positions in groups.items():
            if origin is None:
                continue
            some = [listed[position] for position in positions]
            answers = found[origin].check_many(some, tokens, purposes)
            for position, verdict in zip(positions, answers, strict=True):
                verdicts[position] = verdict
        return verdicts


def _listed(urls: Iterable[object]) -> list[URL]:
    """Return URLs as text or octets; what is none is refused with its place."""
    return [
        url if isinstance(url, (str, bytes)) else _url_at(url, place, "urls")
        for place, url in enumerate(urls)
    ]


def _url_at(url: object, place: int, name: str) -> URL:
    try:
        return as_url(url)
    except TypeError as error:
        raise TypeError(f"{name}[{place}]: {error}") from None


class Carrying(NamedTuple):
    """What carries the requests of a client."""

    transport: Any
    """What was handed over; None: one is opened with these options."""
    options: dict[str, Any]


def carrying(
    user_agent: str,
    transport: object,
    *,
    threads: bool,
    addresses: AddressPolicy | None,
    allow_private: Iterable[str],
    connections: int | None,
    proxy: str | None,
    headers: ExtraHeaders,
) -> Carrying:
    """Return what carries a client's requests; what would have no effect is refused."""
    options: dict[str, Any] = {"connections": connections, "proxy": proxy}
    vet_connections(connections)
    if proxy is not None:
        vet_proxy(proxy)
    vet_allow_private(allow_private)
    allowed = (allow_private,) if isinstance(allow_private, str) else tuple(allow_private)
    extra = extra_headers(headers)
    if transport is not None and is_transport(transport, threads=threads):
        if addresses is not None or allowed:
            raise ValueError("a transport has its addresses: pass addresses= when you make it")
        if extra or any(value is not None for value in options.values()):
            raise ValueError(
                "a transport has its own connections, proxy and headers: pass them when you make it"
            )
        return Carrying(transport, {})
    if addresses is not None and allowed:
        raise ValueError(
            "pass addresses= or allow_private=, not both: AddressPolicy(allow_private)"
        )
    where = AddressPolicy(allowed) if addresses is None else addresses
    if transport is None:
        return Carrying(None, {**options, "addresses": where, "headers": extra})
    if any(value is not None for value in options.values()):
        raise ValueError("your HTTP client has its own connections and proxy: say it there")
    opening = open_transport if threads else open_async_transport
    made = opening(user_agent, client=transport, addresses=where, headers=extra)
    return Carrying(made, {})


def expect_requests(transport: object, count: int) -> None:
    """Tell a transport how many requests will be made at a time, if it wants to know."""
    expect = getattr(transport, "expect_concurrency", None)
    if callable(expect):
        expect(count)


def no_origin(url: URL) -> ValueError:
    """Return the error of who wants a turn where there is none."""
    return ValueError(f"{url!r} has no origin: pass an http or https URL")


def vet_prefetch(origins: object, concurrency: int) -> dict[str, int]:
    """Refuse what cannot be prefetched; return the counts to begin with."""
    if isinstance(origins, (str, bytes)):
        raise TypeError(f"origins are a list, not one: pass [{origins!r}]")
    if not hasattr(origins, "__iter__") and not hasattr(origins, "__aiter__"):
        name = type(origins).__name__
        raise TypeError(f"origins are a list such as ['https://example.com'], not {name}")
    if isinstance(concurrency, bool) or not isinstance(concurrency, int):
        raise TypeError(f"concurrency is {concurrency!r}: use a whole number, such as 50")
    if concurrency < 1:
        raise ValueError(f"concurrency is {concurrency}: use 1 or more")
    return dict.fromkeys(PrefetchSummary._fields, 0)


def prefetch_origin(given: object, place: int) -> str:
    """Return the origin of one entry of a prefetch, or the entry; an error says which one it is."""
    url = given if isinstance(given, (str, bytes)) else _url_at(given, place, "origins")
    text = url.decode("utf-8", "surrogateescape") if isinstance(url, bytes) else url
    return parse_origin(text) or text


def opened_store(store: Store | str | os.PathLike[str] | None) -> tuple[Store, str | None]:
    """
    Return the store to use, and why it is not the one that was wanted, if it is not.

    Where nobody named a store and the usual file cannot be made, as in a container whose disk is
    read-only, memory takes its place. A file that is there and is not ours is an error.
    """
    if isinstance(store, type):
        raise TypeError(f"store is the class {store.__name__}: pass one, {store.__name__}(…)")
    if store is not None and not isinstance(store, (str, os.PathLike)):
        if not hasattr(store, "lease"):
            raise TypeError(
                f"store is a path, a URL such as redis://…, or a Store; not {type(store).__name__}"
            )
        return store, None
    try:
        return open_store(store, lazy=True), None
    except StoreError as error:
        path = default_path() if store is None else None
        if path is None or (os.path.isfile(path) and os.access(path, os.R_OK | os.W_OK)):
            raise
        return open_store("memory:"), str(error)


class PrefetchSummary(NamedTuple):
    """What came of prefetching: how many origins ended how."""

    success: int = 0
    unavailable: int = 0
    unreachable: int = 0
    skipped: int = 0
    """What was no origin."""
