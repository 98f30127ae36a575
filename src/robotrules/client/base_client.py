"""
Base client: identity, options and memory lookups that both clients share.

The User-Agent identifies the crawler, and its product token selects the rules: a client that sends
one name and follows the rules of another is rejected (RFC 9309 §2.2.1). Verdicts for origins in
memory cost little more than matching the rules. This module does no I/O.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import partial
from typing import Any, NamedTuple

from robotrules.access import AccessProfile, find_access_profile, find_profiles
from robotrules.cache import EffectivePolicy, Store
from robotrules.client.cache_engine import CacheEngine
from robotrules.client.metrics import MetricsCollector, Stats
from robotrules.client.origin_state import OriginState
from robotrules.client.rate_limiter import (
    NO_RATE_LIMITS,
    Delay,
    RateLimiter,
    RateLimits,
    compact_limits,
    is_rate_limited,
    longest_delay,
    may_limit_rates,
    read_rate_limits,
)
from robotrules.client.ssrf import AddressPolicy, vet_allow_private
from robotrules.client.stores import MemoryStore, default_path, open_store
from robotrules.client.transports import is_transport, open_async_transport, open_transport
from robotrules.client.transports.exchange import (
    ExtraHeaders,
    extra_headers,
    vet_connections,
    vet_proxy,
)
from robotrules.errors import CrawlerError, DisallowedError, StoreError
from robotrules.extensions.purpose import crawler_notes
from robotrules.guide import as_url
from robotrules.http.origins import origin_of, parse_origin, split_origin
from robotrules.octets import to_text
from robotrules.profile import DEFAULT, Profile
from robotrules.robotstxt import Tokens
from robotrules.robotstxt.ruleset import URL
from robotrules.robotstxt.tokens import product_token as token_in
from robotrules.robotstxt.tokens import vet_names
from robotrules.robotstxt.values import Note
from robotrules.robotstxt.verdict import Explanation, GroupMatch, Reason, Verdict

# Maximum number of concurrent requests to one origin.
MAX_SLOTS = 16
# Scheme and authority as written in URLs, cached: `HTTPS://Example.com` and
# `https://example.com:443` are two of them. When the cache is full, it is cleared.
MAX_CACHED_AUTHORITIES = 65_536
MAX_AUTHORITY_LENGTH = 300
# Crawlers and files whose rate limits are cached, and the records of all of them.
MAX_CACHED_RATES = 256
MAX_RATE_RECORDS = 20_000
# RFC 9110 §5.5: printable ASCII of a field value.
_PRINTABLE = re.compile(r"[\x20-\x7e]+")
# The shortest origin is `http://a`, so the slash of a path cannot be before this offset.
# Authorities are cached with that slash, so that a URL without a path is not cut by one character.
MIN_ORIGIN_LENGTH = 8


class ClientIdentity(NamedTuple):
    """The identity of a client."""

    user_agent: str
    tokens: Tokens
    """The product tokens whose rules apply."""
    agent: str
    """The name under which its fetch records are stored."""
    purposes: tuple[str, ...]
    notes: tuple[Note, ...]
    """Problems of its configuration (`robotrules.crawler_notes`)."""


def make_identity(
    user_agent: str,
    product_token: Tokens | None,
    purposes: Sequence[str],
    profile: Profile,
) -> ClientIdentity:
    """Return the identity of a client; a token that is not in the User-Agent is rejected."""
    if not isinstance(user_agent, str):
        raise TypeError(f"user_agent must be str, not {type(user_agent).__name__}")
    if not _PRINTABLE.fullmatch(user_agent) or not user_agent.strip():
        raise CrawlerError(
            f"{user_agent!r} cannot be sent as User-Agent: use printable ASCII such as "
            "'ExampleBot/1.0 (+https://example.com/bot)'"
        )
    sent = token_in(user_agent)
    tokens: Tokens | None = product_token if product_token is not None else sent
    if tokens is None:
        raise CrawlerError(
            f"no product token in {user_agent!r}: begin it with the crawler's name, such "
            "as 'ExampleBot/1.0'; if the name is elsewhere in it, pass product_token="
        )
    names = (tokens,) if isinstance(tokens, str) else tuple(tokens)
    if not names or not all(isinstance(name, str) and name.strip() for name in names):
        raise CrawlerError(f"product_token is {product_token!r}: pass a name such as 'ExampleBot'")
    # The client's own name must be valid, whatever a profile accepts in a header (AMB-22).
    vet_names(names, DEFAULT)
    lower_user_agent = user_agent.lower()
    sent_names = tuple(name.lower() for name in names if name.lower() in lower_user_agent)
    for name in names:
        # `ExampleBot-News` is a variant of ExampleBot (AMB-30).
        if not name.lower().startswith(sent_names):
            raise CrawlerError(
                f"{name!r} is not in the User-Agent {user_agent!r}: send the name whose rules "
                "the crawler follows (RFC 9309 §2.2.1). To check the rules of another crawler, "
                "pass its name to check()"
            )
    sent_name = next(name for name in names if name.lower() in lower_user_agent)
    notes = crawler_notes(user_agent, sent_name, purposes, profile=profile)
    return ClientIdentity(
        user_agent,
        names[0] if isinstance(tokens, str) else names,
        sent or sent_name,
        tuple(purposes),
        notes,
    )


class BaseClient:
    """Identity, memory lookups and settings of both clients."""

    _origin_locks: Any  # OriginLocks or TaskOriginLocks

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
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MAX_SLOTS:
            raise ValueError(f"connections_per_origin is {count!r}: use 1 to {MAX_SLOTS}")
        if on_fetch is not None and not callable(on_fetch):
            raise TypeError(
                f"on_fetch is {on_fetch!r:.60}: pass a function that takes a FetchEvent"
            )
        parsing, fetching = find_profiles(profile)
        if access is not None:
            fetching = find_access_profile(access)
        for name, value, least in (("min_delay", min_delay, 0), ("timeout", timeout, 0.001)):
            if not isinstance(value, (int, float)) or not least <= value <= 86_400:
                raise ValueError(f"{name} is {value!r}: use seconds, {least:g} to 86400")
        self._identity = make_identity(user_agent, product_token, purposes, parsing)
        # A store that was passed in is closed by the caller.
        self._closes_store = store is None or isinstance(store, (str, os.PathLike))
        opened, fallback_reason = open_client_store(store)
        self._cache_engine = CacheEngine(
            opened,
            fallback_reason=fallback_reason,
            exclusive=self._closes_store and isinstance(opened, MemoryStore),
            user_agent=user_agent,
            agent=self._identity.agent,
            profile=parsing,
            access=fetching,
            clock=clock,
            timeout=float(timeout),
            stale_while_revalidate=stale_while_revalidate,
        )
        self._rate_limiter = RateLimiter(self._cache_engine)
        self._slots = count
        self._metrics = MetricsCollector()
        self._on_fetch = on_fetch
        self._min_delay = Delay(float(min_delay), "min-delay")
        self._clock = clock
        # Authorities as written, and the checks of cached origins: see `_check_ready`.
        self._authorities: dict[str, str] = {}
        self._ready = self._cache_engine.memory.ready
        self._cached_limits: dict[str, tuple[str, RateLimits]] = {}
        self._rate_records = 0

    def _close_store(self) -> None:
        if self._closes_store:
            self._cache_engine.store.close()

    # --- Properties ----------------------------------------------------------------------------

    @property
    def user_agent(self) -> str:
        """The User-Agent that is sent."""
        return self._identity.user_agent

    @property
    def product_token(self) -> Tokens:
        """The product tokens whose rules apply."""
        return self._identity.tokens

    @property
    def notes(self) -> tuple[Note, ...]:
        """Problems of the client's configuration (`robotrules.crawler_notes`)."""
        return self._identity.notes

    @property
    def store(self) -> Store:
        """The store of entries and evidence."""
        return self._cache_engine.store

    @property
    def store_error(self) -> str | None:
        """Why the store is unavailable; None if it works."""
        return self._cache_engine.store_error

    @property
    def stats(self) -> Stats:
        """Counters of the requests of this client so far."""
        return self._metrics.stats()

    # --- Memory ---------------------------------------------------------------------------------

    def _was_fetched_since(self, url: URL, began: float) -> bool:
        """Return whether the origin of a URL was fetched since a time."""
        origin = self._origin(url)
        state = self._cache_engine.memory.get(origin) if origin else None
        return state is not None and state.entry.last_fetch_at >= began

    def cached(self, url: URL) -> OriginState | None:
        """
        Return the state of the origin of *url* from memory, if it has not expired.

        Otherwise None; `lookup()` then asks the store and the server. This method does not, except
        that it starts a background refresh if `stale_while_revalidate` requires one.
        """
        origin = self._origin(url)
        return None if origin is None else self._lookup_memory(origin)

    def _lookup_memory(self, origin: str) -> OriginState | None:
        """Return the state in memory; start a background refresh if it is due."""
        state, is_due = self._cache_engine.lookup_memory(origin)
        if is_due:
            self._refresh_soon(origin)
        return state

    def _refresh_soon(self, origin: str) -> None:
        """Start a background refresh of an origin, if none is in progress."""
        raise NotImplementedError

    def clear_memory(self) -> None:
        """Clear the memory cache; the store is not changed."""
        self._cache_engine.memory.clear()

    def _check_ready(self, url: URL) -> Verdict | None:
        """Return the verdict from memory; None: use `lookup`. This is the hot path."""
        if type(url) is str:
            origin = self._authorities.get(url[: url.find("/", MIN_ORIGIN_LENGTH) + 1])
            ready = self._ready.get(origin)
            if ready and ready[0] <= self._clock() < ready[1]:
                return ready[2](url)
        return None

    def _store_ready(self, state: OriginState) -> None:
        """Let `_check_ready` answer the next check of this origin."""
        tokens, purposes = self._identity.tokens, self._identity.purposes
        # Without rules, purposes have no effect.
        rules = state.robots.rules_for(tokens, purposes)
        check: Callable[[str], Verdict] = rules.check
        if state.policy is not EffectivePolicy.RULES:
            check = partial(state.check, product_token=tokens)
        limits = self._rate_limits(state)
        delay = self._min_delay if limits is None or limits == NO_RATE_LIMITS else None
        lock = self._origin_locks.find(state.origin, self._slot_count(state))
        self._cache_engine.memory.make_ready(state, check, rules.allows, lock, delay)

    def _origin(self, url: URL) -> str | None:
        """Return the origin of a URL, and cache its authority as written."""
        if isinstance(url, str):
            origin = self._authorities.get(url[: url.find("/", MIN_ORIGIN_LENGTH) + 1])
            if origin is not None:
                return origin
            origin, end = split_origin(url)
            if origin is not None and end < MAX_AUTHORITY_LENGTH:
                if len(self._authorities) >= MAX_CACHED_AUTHORITIES:
                    self._authorities.clear()
                self._authorities[f"{url[:end]}/"] = origin
            return origin
        return origin_of(url)

    def _crawler_arguments(
        self, product_token: Tokens | None, purposes: Sequence[str] | None
    ) -> tuple[Tokens, Sequence[str]]:
        """Return the product tokens and purposes of a check: the client's own by default."""
        if product_token is None:
            return self._identity.tokens, self._identity.purposes if purposes is None else purposes
        # Validated before anything is fetched, and even if there is no file.
        vet_names(product_token, self._cache_engine.profile)
        return product_token, purposes or ()

    def _no_origin_verdict(self) -> Verdict:
        return Verdict(False, Reason.NO_ORIGIN, None, self._cache_engine.profile.name)

    def _explain_no_origin(self, url: URL, tokens: Tokens, purposes: Sequence[str]) -> Explanation:
        """Return the explanation for a URL without an origin."""
        text = url if isinstance(url, str) else to_text(url)
        name = tokens if isinstance(tokens, str) else ", ".join(tokens)
        return Explanation(
            *(text, "", name, (), self._no_origin_verdict(), GroupMatch.NONE),
            *((), (), (), tuple(purposes)),
        )

    def delay_for(
        self,
        state: OriginState,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
    ) -> Delay:
        """
        Return the seconds between two requests to the origin of a state, and the reason.

        The rate limits are those for the client's own crawler, or for the one that is passed.
        """
        own = product_token is None and purposes is None
        crawler = None if own else self._crawler_arguments(product_token, purposes)
        limits = self._rate_limits(state, crawler)
        if limits is None or limits == NO_RATE_LIMITS:
            return self._min_delay
        return longest_delay(limits, self._clock(), self._min_delay.seconds)

    def _slot_count(self, state: OriginState) -> int:
        """Return how many slots an origin has: one if the site sets a rate limit."""
        limits = self._rate_limits(state) if self._slots > 1 else None
        return 1 if limits is not None and is_rate_limited(limits) else self._slots

    def _rate_limits(
        self, state: OriginState, crawler: tuple[Tokens, Sequence[str]] | None = None
    ) -> RateLimits | None:
        """Return the rate limits of a file for a crawler, by default this one; cached."""
        if state.policy is not EffectivePolicy.RULES or not may_limit_rates(state.robots):
            return None
        # The names of a well-known crawler differ from the same names in a list.
        key = state.origin if crawler is None else f"{state.origin} {crawler!r}"
        # The content is compared, because a file in the cache would be kept alive.
        good = state.entry.last_success
        content = f"{good.digest} {good.complete}" if good is not None and good.digest else ""
        cached = self._cached_limits.get(key)
        if cached is None or cached[0] != content or not content:
            tokens, purposes = crawler or (self._identity.tokens, self._identity.purposes)
            # Of a copy: a file keeps the records that were read, fifty times its size.
            limits = compact_limits(read_rate_limits(copy(state.robots), tokens, purposes))
            self._rate_records += 1 + len(limits[1])
            full = len(self._cached_limits) >= MAX_CACHED_RATES
            if full or self._rate_records > MAX_RATE_RECORDS:
                self._cached_limits.clear()
                self._rate_records = 1 + len(limits[1])
            cached = self._cached_limits[key] = content, limits
        return cached[1]

    def _group_by_origin(
        self, urls: Iterable[URL]
    ) -> tuple[list[URL], dict[str | None, list[int]]]:
        """Return the URLs as a list, and their positions by origin."""
        if isinstance(urls, (str, bytes)):
            raise TypeError(f"urls must be a list of URLs: pass [{urls!r}]")
        listed = _list_urls(urls)
        groups: dict[str | None, list[int]] = {}
        by_authority: dict[object, list[int]] = {}
        for position, url in enumerate(listed):
            # Two lookups per URL: its authority as written, and the list of that authority.
            authority = url[: url.find("/", MIN_ORIGIN_LENGTH) + 1] if type(url) is str else None
            positions = by_authority.get(authority)
            if positions is None:
                positions = groups.setdefault(self._origin(url), [])
                if authority in self._authorities:
                    by_authority[authority] = positions
            positions.append(position)
        return listed, groups

    def _collect_verdicts(
        self,
        listed: list[URL],
        groups: dict[str | None, list[int]],
        states: dict[str, OriginState],
        tokens: Tokens,
        purposes: Sequence[str],
    ) -> list[Verdict]:
        """Return verdicts in the order of the URLs, with one call to the engine per origin."""
        verdicts = [self._no_origin_verdict()] * len(listed)
        for origin, positions in groups.items():
            if origin is None:
                continue
            group = [listed[position] for position in positions]
            checked = states[origin].check_many(group, tokens, purposes)
            for position, verdict in zip(positions, checked, strict=True):
                verdicts[position] = verdict
        return verdicts


def _list_urls(urls: Iterable[object]) -> list[URL]:
    """Return URLs as str or bytes; an invalid one raises an error with its index."""
    return [
        url if isinstance(url, (str, bytes)) else _require_url(url, index, "urls")
        for index, url in enumerate(urls)
    ]


def _require_url(url: object, index: int, name: str) -> URL:
    try:
        return as_url(url)
    except TypeError as error:
        raise TypeError(f"{name}[{index}]: {error}") from None


class TransportOptions(NamedTuple):
    """The transport of a client, or the options to open one."""

    transport: Any
    """The transport that was passed in; None: open one with these options."""
    options: dict[str, Any]


def make_transport_options(
    user_agent: str,
    transport: object,
    *,
    threads: bool,
    addresses: AddressPolicy | None,
    allow_private: Iterable[str],
    connections: int | None,
    proxy: str | None,
    headers: ExtraHeaders,
) -> TransportOptions:
    """Return the transport of a client or its options; options without effect are rejected."""
    options: dict[str, Any] = {"connections": connections, "proxy": proxy}
    vet_connections(connections)
    if proxy is not None:
        vet_proxy(proxy)
    vet_allow_private(allow_private)
    allowed = (allow_private,) if isinstance(allow_private, str) else tuple(allow_private)
    extra = extra_headers(headers)
    if transport is not None and is_transport(transport, threads=threads):
        if addresses is not None or allowed:
            raise ValueError(
                "addresses= and allow_private= have no effect on a transport: pass addresses= "
                "when you create it"
            )
        if extra or any(value is not None for value in options.values()):
            raise ValueError(
                "connections=, proxy= and headers= have no effect on a transport: pass them when "
                "you create it"
            )
        return TransportOptions(transport, {})
    if addresses is not None and allowed:
        raise ValueError(
            "addresses= and allow_private= cannot be combined: use AddressPolicy(allow_private)"
        )
    policy = AddressPolicy(allowed) if addresses is None else addresses
    if transport is None:
        return TransportOptions(None, {**options, "addresses": policy, "headers": extra})
    if any(value is not None for value in options.values()):
        raise ValueError(
            "connections= and proxy= have no effect on your HTTP client: configure them there"
        )
    open_adapter = open_transport if threads else open_async_transport
    adapter = open_adapter(user_agent, client=transport, addresses=policy, headers=extra)
    return TransportOptions(adapter, {})


def expect_requests(transport: object, count: int) -> None:
    """Announce the number of concurrent requests to a transport that supports it."""
    expect = getattr(transport, "expect_concurrency", None)
    if callable(expect):
        expect(count)


def no_origin_error(url: URL) -> ValueError:
    """Return the error for a URL that has no origin."""
    return ValueError(f"{url!r} has no origin: pass an http or https URL")


def disallowed_error(client: BaseClient, url: URL, verdict: Verdict) -> DisallowedError:
    """Return the error for a URL that is disallowed, with the reason if there is no file."""
    text = url if isinstance(url, str) else to_text(url)
    state = client.cached(url) if verdict.reason is Reason.UNREACHABLE else None
    return DisallowedError(text, verdict, state.failure_detail if state else "")


def vet_prefetch(origins: object, concurrency: int) -> dict[str, int]:
    """Raise for invalid arguments of a prefetch; return its initial counters."""
    if isinstance(origins, (str, bytes)):
        raise TypeError(f"origins must be a list: pass [{origins!r}]")
    if not hasattr(origins, "__iter__") and not hasattr(origins, "__aiter__"):
        name = type(origins).__name__
        raise TypeError(f"origins must be a list such as ['https://example.com'], not {name}")
    if isinstance(concurrency, bool) or not isinstance(concurrency, int):
        raise TypeError(f"concurrency is {concurrency!r}: use a whole number, such as 50")
    if concurrency < 1:
        raise ValueError(f"concurrency is {concurrency}: use 1 or more")
    return dict.fromkeys(PrefetchSummary._fields, 0)


def prefetch_origin(given: object, index: int) -> str:
    """Return the origin of an item of a prefetch, or the item; errors state its index."""
    url = given if isinstance(given, (str, bytes)) else _require_url(given, index, "origins")
    text = url.decode("utf-8", "surrogateescape") if isinstance(url, bytes) else url
    return parse_origin(text) or text


def limit_memory(client: BaseClient, max_bytes: int) -> None:
    """Limit the estimated bytes that the origins of a client take in memory."""
    client._cache_engine.memory.max_bytes = max_bytes


def open_client_store(store: Store | str | os.PathLike[str] | None) -> tuple[Store, str | None]:
    """
    Return the store to use, and the reason if it replaces the requested one.

    If no store was named and the default file cannot be created, as in a container with a read-only
    disk, the memory store replaces it. An existing file of another program is an error.
    """
    if isinstance(store, type):
        raise TypeError(f"store is the class {store.__name__}: pass an instance of it")
    if store is not None and not isinstance(store, (str, os.PathLike)):
        if not hasattr(store, "lease"):
            raise TypeError(
                f"store must be a path, a URL such as redis://…, or a Store, not "
                f"{type(store).__name__}"
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
    """The outcome of a prefetch: the number of origins in each state."""

    success: int = 0
    unavailable: int = 0
    unreachable: int = 0
    skipped: int = 0
    """Items that are not an origin."""
