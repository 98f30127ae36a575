"""
Verdicts on URLs of many origins, whose robots.txt files are fetched concurrently.

URLs are grouped by origin. If the robots.txt is in memory, they are answered at once; otherwise
they wait while further URLs are read, so a slow host delays only its own URLs. The number of
waiting URLs is bounded, so memory does not grow with the input. Problems are reported once, with
advice.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from robotrules import Reason, RobotsTxt, Verdict
from robotrules.access import AccessState, FailureReason
from robotrules.cache import EffectivePolicy
from robotrules.cli import client
from robotrules.cli.access_text import (
    describe_failed_refresh,
    describe_state,
    failure_of,
    format_day,
    format_time,
)
from robotrules.cli.client import ClientOptions, library_errors
from robotrules.cli.console import CliError, quoted, report
from robotrules.cli.text import truncate
from robotrules.http.origins import origin_of
from robotrules.json_results.access import LONGEST
from robotrules.octets import visible
from robotrules.robotstxt import Tokens

if TYPE_CHECKING:
    from robotrules.client.origin_state import OriginState
    from robotrules.client.sync import Client

# Concurrent requests, and origins whose files are kept until their URLs are answered. A file may
# have half a mebibyte.
BATCH = 32
MOST_ORIGINS = 256
# Limits on waiting URLs and their bytes; beyond them no further URLs are read.
MOST_WAITING = 65_536
MOST_WAITING_OCTETS = 32 * 1024 * 1024
# Cached spellings of origins; the cache is cleared when it is full.
MOST_SPELLINGS = 65_536
# The shortest origin is `http://a`: a path cannot start before this offset.
_SCHEME = 8
# Origins that `--refresh` has fetched, and hosts that hints name.
MOST_REFRESHED = 100_000
MOST_HINTS = 5


class OriginVerdicts(NamedTuple):
    """Verdicts on URLs, each with the state of its origin; None if the URL has no origin."""

    urls: Sequence[bytes]
    verdicts: list[Verdict]
    origin_states: list[OriginState | None]


class OriginLookup:
    """Looks up the robots.txt files of URLs through a client; a context manager."""

    def __init__(self, client: Client, *, refresh: bool, profile: str) -> None:
        self._client = client
        self._refresh = refresh
        self._nowhere = Verdict(False, Reason.NO_ORIGIN, None, profile)
        self._stopped = False
        self._asked: set[str] = set()
        self._refused: dict[str, None] = {}
        self._warned_about_copy = False
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> OriginLookup:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            # After Ctrl-C do not wait for servers: the client closes the connections.
            waits = error is None and not self._stopped
            self._pool.shutdown(wait=waits, cancel_futures=True)

    def stop(self) -> None:
        """Stop waiting for servers, because the result is known."""
        self._stopped = True

    def cached(self, origin: str) -> OriginState | None:
        """Return the cached state of an origin; with `--refresh`, only if it was fetched now."""
        if self._refresh and origin not in self._asked:
            return None
        return self._client.cached(f"{origin}/")  # a spelling that the client remembers

    def begin(self, origin: str) -> Future[OriginState]:
        """Look up an origin in a thread."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(BATCH, "robotrules-fetch")
        return self._pool.submit(self.look_up, origin)

    def hint(self, origin_state: OriginState) -> None:
        """Report hints about an origin that was looked up."""
        self._hint(origin_state)
        self._hint_copy([origin_state])

    def look_up(self, origin: str) -> OriginState:
        """Return the state of an origin; with `--refresh`, after a fetch."""
        with library_errors():
            if not self._refresh or origin in self._asked:
                found = self._client.lookup(origin)
            else:
                if len(self._asked) >= MOST_REFRESHED:
                    self._asked.clear()
                self._asked.add(origin)
                found = self._client.refresh(origin)
        assert found is not None
        return found

    def look_up_url(self, url: bytes) -> OriginState:
        """Return the state of a URL's origin; a URL without an origin ends the command."""
        [origin] = grouped([url])
        if origin is None:
            raise CliError(
                f"'{visible(url)}' has no robots.txt: pass an http or https URL with a host"
            )
        return self.look_up_many([origin])[origin]

    def look_up_many(
        self, origins: Sequence[str], progress: Callable[[str], object] | None = None
    ) -> dict[str, OriginState]:
        """Return the states of origins, fetched concurrently; *progress* is called for each."""
        asked: Iterable[OriginState] = map(self.look_up, origins)
        if len(origins) > 1:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(BATCH, "robotrules-fetch")
            asked = self._pool.map(self.look_up, origins)
        found = {}
        for origin, origin_state in zip(origins, asked, strict=True):
            found[origin] = origin_state
            self._hint(origin_state)
            if progress is not None:
                progress(origin)
        return found

    def stream(self, tokens: Tokens, purposes: Sequence[str], *, ordered: bool) -> VerdictStream:
        """Return a stream of verdicts; *ordered* keeps the order of the URLs."""
        return VerdictStream(self, tokens, purposes, self._nowhere, ordered=ordered)

    def _hint(self, origin_state: OriginState) -> None:
        """Report how to allow a private address, once per host."""
        record = origin_state.fetch_record
        if record is None or record.failure_reason is not FailureReason.REFUSED:
            return
        host = host_of(record.url)
        if host not in self._refused and len(self._refused) < MOST_HINTS:
            self._refused[host] = None
            hint_private_address(host)

    def _hint_copy(self, found: Iterable[OriginState]) -> None:
        """Report once that a refresh failed and a copy is used."""
        failed = next(
            (origin_state for origin_state in found if self._refresh and failure_of(origin_state)),
            None,
        )
        if failed is None or self._warned_about_copy:
            return
        self._warned_about_copy = True
        report(
            f"{truncate(visible(failed.origin), 100)}: {describe_failed_refresh(failed)}; the copy "
            f"is valid until {format_time(failed.until)} (other origins are not listed)",
            label="hint",
            style="warning",
        )


class _Batch:
    """URLs that were read together and are answered in order."""

    __slots__ = ("done", "origin_states", "urls", "verdicts")

    def __init__(self, urls: Sequence[bytes], nowhere: Verdict) -> None:
        self.urls = urls
        self.verdicts: list[Verdict | None] = [nowhere] * len(urls)
        self.origin_states: list[OriginState | None] = [None] * len(urls)
        self.done = 0

    def taken(self) -> OriginVerdicts | None:
        """Remove and return the verdicts before the first waiting URL; None if there are none."""
        start, end = self.done, self.done
        while end < len(self.urls) and self.verdicts[end] is not None:
            end += 1
        self.done = end
        if start == end:
            return None
        verdicts = [one for one in self.verdicts[start:end] if one is not None]
        return OriginVerdicts(self.urls[start:end], verdicts, self.origin_states[start:end])


class _Waiting(NamedTuple):
    """URLs of one origin that wait for its robots.txt."""

    urls: list[bytes]
    batch: _Batch | None
    """The batch that *positions* refer to, if order is kept."""
    positions: list[int]


class VerdictStream:
    """
    Yields verdicts on URLs as the robots.txt files of their origins arrive.

    `add` takes URLs and yields the verdicts that are ready; `rest` yields all others.
    """

    def __init__(
        self,
        lookup: OriginLookup,
        tokens: Tokens,
        purposes: Sequence[str],
        nowhere: Verdict,
        *,
        ordered: bool,
    ) -> None:
        self._lookup = lookup
        self._who = tokens, purposes
        self._nowhere = nowhere
        self._ordered = ordered
        self._begun = False
        self._spellings: dict[bytes, str] = {}
        self._waiting: dict[str, list[_Waiting]] = {}
        self._count = self._octets = 0
        self._batches: deque[_Batch] = deque()
        self._due: deque[str] = deque()
        self._asked = 0
        self._arrived: SimpleQueue[tuple[str, Future[OriginState]]] = SimpleQueue()

    def add(self, urls: Sequence[bytes]) -> Iterator[OriginVerdicts]:
        """Add URLs and yield the verdicts that are ready."""
        if not self._begun and urls:
            # A file of paths is detected by its first line; a later path is an invalid URL.
            refuse_paths([urls[0].decode("utf-8", "backslashreplace")])
            self._begun = True
        yield from self._taken(urls)
        yield from self._answered(wait=False)
        while self._count > MOST_WAITING or self._octets > MOST_WAITING_OCTETS:
            yield from self._answered(wait=True)

    def rest(self) -> Iterator[OriginVerdicts]:
        """Yield the verdicts on all waiting URLs, as their origins arrive."""
        while self._waiting:
            yield from self._answered(wait=True)

    def _taken(self, urls: Sequence[bytes]) -> Iterator[OriginVerdicts]:
        """Yield verdicts from memory and let the other URLs wait."""
        batch = _Batch(urls, self._nowhere)
        late = False
        for origin, positions in self._grouped(urls).items():
            if origin is None:
                continue
            some = [urls[at] for at in positions]
            # URLs of this origin that already wait go first.
            origin_state = None if origin in self._waiting else self._lookup.cached(origin)
            if origin_state is not None:
                self._fill(
                    batch, positions, origin_state, origin_state.check_many(some, *self._who)
                )
                continue
            late = True
            for at in positions:
                batch.verdicts[at] = None
            self._wait(origin, _Waiting(some, batch if self._ordered else None, positions))
        if self._ordered and (late or self._batches):
            self._batches.append(batch)
            self._count += len(urls)  # subtracted when the whole batch is answered
            yield from self._in_order()
        elif late:
            there = [at for at, one in enumerate(batch.verdicts) if one is not None]
            if there:
                verdicts = [one for one in batch.verdicts if one is not None]
                origin_states = [batch.origin_states[at] for at in there]
                yield OriginVerdicts([urls[at] for at in there], verdicts, origin_states)
        elif (all_of_it := batch.taken()) is not None:
            yield all_of_it

    def _wait(self, origin: str, waiting: _Waiting) -> None:
        there = self._waiting.get(origin)
        if there is None:
            there = self._waiting[origin] = []
            self._due.append(origin)
            self._begin()
        there.append(waiting)
        if not self._ordered:
            self._count += len(waiting.urls)
        self._octets += sum(map(len, waiting.urls))

    def _begin(self) -> None:
        """Start lookups up to the limit."""
        while self._due and self._asked < MOST_ORIGINS:
            self._asked += 1
            origin = self._due.popleft()
            arrived = partial(self._arrive, origin)
            self._lookup.begin(origin).add_done_callback(arrived)

    def _arrive(self, origin: str, future: Future[OriginState]) -> None:
        self._arrived.put((origin, future))

    def _answered(self, *, wait: bool) -> Iterator[OriginVerdicts]:
        """Yield the verdicts of origins that have arrived; *wait* for at least one."""
        found: list[OriginVerdicts] = []
        while self._waiting:
            try:
                origin, future = self._arrived.get(wait and not found)
            except Empty:
                break
            self._asked -= 1
            origin_state = future.result()
            self._begin()
            self._lookup.hint(origin_state)
            for urls, batch, positions in self._waiting.pop(origin):
                self._octets -= sum(map(len, urls))
                verdicts = origin_state.check_many(urls, *self._who)
                if batch is not None:
                    self._fill(batch, positions, origin_state, verdicts)
                else:
                    self._count -= len(urls)
                    found.append(OriginVerdicts(urls, verdicts, [origin_state] * len(urls)))
            if self._ordered:
                break
        if self._ordered:
            yield from self._in_order()
        elif found:
            # Combined, so that one write is enough.
            yield OriginVerdicts(
                [url for one in found for url in one.urls],
                [verdict for one in found for verdict in one.verdicts],
                [origin_state for one in found for origin_state in one.origin_states],
            )

    @staticmethod
    def _fill(
        batch: _Batch, positions: list[int], origin_state: OriginState, verdicts: list[Verdict]
    ) -> None:
        for at, verdict in zip(positions, verdicts, strict=True):
            batch.verdicts[at], batch.origin_states[at] = verdict, origin_state

    def _in_order(self) -> Iterator[OriginVerdicts]:
        """Yield verdicts up to the first URL that waits."""
        while self._batches:
            batch = self._batches[0]
            answers = batch.taken()
            if answers is not None:
                yield answers
            if batch.done < len(batch.urls):
                return
            self._batches.popleft()
            self._count -= len(batch.urls)

    def _grouped(self, urls: Sequence[bytes]) -> dict[str | None, list[int]]:
        """Return the positions of URLs by origin, mostly with two dictionary lookups per URL."""
        groups: dict[str | None, list[int]] = {}
        by_spelling: dict[bytes, list[int]] = {}
        spellings = self._spellings
        with library_errors():
            for at, url in enumerate(urls):
                # Only up to a slash: without it, the text may be a prefix of a longer authority.
                spelling = url[: url.find(b"/", _SCHEME) + 1]
                positions = by_spelling.get(spelling)
                if positions is None:
                    known = spellings.get(spelling)
                    origin = known or origin_of(url)
                    positions = groups.setdefault(origin, [])
                    if known is None and origin is not None and _is_spelling(spelling):
                        if len(spellings) >= MOST_SPELLINGS:
                            spellings.clear()
                        spellings[spelling] = known = origin
                    if known is not None:
                        by_spelling[spelling] = positions
                positions.append(at)
        return groups


def _is_spelling(octets: bytes) -> bool:
    """Tell whether bytes up to a slash are only scheme and authority."""
    return not octets.translate(None, b"abcdefghijklmnopqrstuvwxyz0123456789.:-_/") and (
        octets.count(b"/") == 3
    )


class StoredCopies:
    """The origins for which a run uses what an earlier one fetched."""

    def __init__(self) -> None:
        self._started = client.now()
        self._found: dict[str, float] = {}

    def add(self, origin_states: Iterable[OriginState | None]) -> None:
        """Add states of origins; those that were fetched by this run are left out."""
        for state in {id(state): state for state in origin_states if state}.values():
            record = state.fetch_record
            if (
                record is not None
                and record.state is not AccessState.UNREACHABLE
                and record.at < self._started
                and len(self._found) < MOST_REFRESHED
            ):
                self._found[state.origin] = record.at

    def sentence(self) -> str:
        """Say which copies are stored ones, and how to fetch them now; empty if there are none."""
        if not self._found:
            return ""
        origin, at = min(self._found.items(), key=lambda found: found[1])
        name = truncate(visible(origin), 100)
        if len(self._found) == 1:
            words = f"the robots.txt of {name} is a stored copy, fetched {format_day(at)}"
        else:
            words = (
                f"the robots.txt files of {len(self._found):,} origins are stored copies; the "
                f"oldest, of {name}, was fetched {format_day(at)}"
            )
        return f"{words}; --refresh fetches now"


def fetched_robots(
    urls: Sequence[str],
    profile: str,
    client_options: ClientOptions,
    *,
    hint_stored: bool = False,
) -> RobotsTxt:
    """
    Return the robots.txt of the one origin of the URLs; an unreachable one is an error.

    With *hint_stored*, a hint says when a stored copy was fetched.
    """
    stored = StoredCopies()
    state = fetched_state(urls, profile, client_options)
    if hint_stored and not client_options.refresh:
        stored.add([state])
        if words := stored.sentence():
            report(words, label="hint")
    return state.robots


def fetched_state(urls: Sequence[str], profile: str, client_options: ClientOptions) -> OriginState:
    """Return the state of the one origin of the URLs; an unreachable robots.txt is an error."""
    refuse_paths(urls)
    octets = [os.fsencode(url).strip() for url in urls]
    if len(grouped(octets)) > 1:
        raise CliError(
            "the URLs have several origins, each with its own robots.txt: pass URLs of one origin, "
            "or --robots FILE"
        )
    with (
        client_options.client(profile) as opened,
        OriginLookup(opened, refresh=client_options.refresh, profile=profile) as lookup,
    ):
        origin_state = lookup.look_up_url(octets[0])
    if origin_state.policy is EffectivePolicy.DISALLOW:
        name = truncate(visible(origin_state.origin), LONGEST)
        raise CliError(f"{name}: {describe_state(origin_state)}")
    if origin_state.policy is EffectivePolicy.ALLOW:
        report(describe_state(origin_state), label="hint")
    return origin_state


def hint_private_address(host: str) -> None:
    """Report how to allow requests to a private host."""
    name = truncate(visible(host), 100)
    report(
        f"{name} has a private address and was not requested: to allow it, add "
        f"--allow-private {name}",
        label="hint",
        style="warning",
    )


def host_of(url: str) -> str:
    """Return the host of a URL that has an origin, without its port."""
    authority = (origin_of(url) or "").partition("://")[2]
    if authority.startswith("["):
        return authority[1:].partition("]")[0]
    return authority.partition(":")[0]


def grouped(urls: Iterable[bytes]) -> dict[str | None, list[int]]:
    """Return the positions of URLs by origin."""
    groups: dict[str | None, list[int]] = {}
    with library_errors():
        for at, url in enumerate(urls):
            groups.setdefault(origin_of(url), []).append(at)
    return groups


def refuse_paths(urls: Iterable[str], files: bool = True) -> None:
    """Refuse URLs without a scheme; *files*: the command has `--robots`."""
    for url in urls:
        if "://" in url:
            continue
        path = url.startswith("/")
        whole = f"https://example.com{visible(url)}" if path else f"https://{visible(url)}"
        missing = "scheme and host" if path else "scheme"
        or_file = ", or the site's robots.txt with --robots FILE" if files else ""
        raise CliError(f"{quoted(url)} has no {missing}: pass a full URL, such as {whole}{or_file}")
