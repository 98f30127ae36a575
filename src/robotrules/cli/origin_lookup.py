"""
Asking for many origins: verdicts on URLs whose robots.txt files are fetched, several at once.

URLs are grouped by origin. Those whose robots.txt is in memory are answered at once; the others
wait for theirs while further URLs are read, and are answered as origins arrive, so that a slow host
holds back its own URLs and no others. How many URLs wait is bounded, so memory does not grow with
their number. What goes wrong on the way is said once, with the cure. It does not know how an answer
looks.
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
from robotrules.access import FailureReason as AccessTrouble
from robotrules.cache import EffectivePolicy
from robotrules.cli.access_text import LONGEST, again_words, failure_of, moment_words, state_words
from robotrules.cli.client import Opening, told
from robotrules.cli.streams import CliError, quoted, say
from robotrules.cli.text import shortened
from robotrules.http.origins import origin_of
from robotrules.octets import visible
from robotrules.robotstxt import Tokens

if TYPE_CHECKING:
    from robotrules.client.origin_state import OriginState
    from robotrules.client.sync import Client

# Origins that are asked at once, and whose files are held until their URLs are answered. Each may
# have half a mebibyte.
TOGETHER = 32
MOST_ORIGINS = 256
# URLs that wait for their robots.txt, and their octets: then no further ones are read.
MOST_WAITING = 65_536
MOST_WAITING_OCTETS = 32 * 1024 * 1024
# How origins are written, remembered: when there are more, all are forgotten.
MOST_SPELLINGS = 65_536
# The shortest origin is `http://a`: no slash of a path stands before this.
_SCHEME = 8
# Origins that `--fresh` remembers to have asked, and hosts that hints name.
MOST_ASKED = 100_000
MOST_HINTS = 5


class OriginAnswers(NamedTuple):
    """Verdicts on URLs, each with what is held of its origin; None: it has none."""

    urls: Sequence[bytes]
    verdicts: list[Verdict]
    helds: list[OriginState | None]


class Looker:
    """Looks up the robots.txt files of URLs, through a client; a context manager."""

    def __init__(self, client: Client, *, fresh: bool, profile: str) -> None:
        self._client = client
        self._fresh = fresh
        self._nowhere = Verdict(False, Reason.NO_ORIGIN, None, profile)
        self._stopped = False
        self._asked: set[str] = set()
        self._refused: dict[str, None] = {}
        self._told_of_copy = False
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Looker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            # Who presses Ctrl-C does not wait for servers: the client closes their connections.
            waits = error is None and not self._stopped
            self._pool.shutdown(wait=waits, cancel_futures=True)

    def stop(self) -> None:
        """Wait for no server any more: the answer is known."""
        self._stopped = True

    def cached(self, origin: str) -> OriginState | None:
        """Return what is in memory of an origin; with `--fresh`, if its server was asked."""
        if self._fresh and origin not in self._asked:
            return None
        return self._client.cached(f"{origin}/")  # a spelling that the client remembers

    def begin(self, origin: str) -> Future[OriginState]:
        """Look an origin up in a thread."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(TOGETHER, "robotrules-fetch")
        return self._pool.submit(self.held, origin)

    def hint(self, held: OriginState) -> None:
        """Say what is to be said about an origin that was looked up."""
        self._hint(held)
        self._hint_copy([held])

    def held(self, origin: str) -> OriginState:
        """Return what is held of an origin; with `--fresh`, after its server was asked."""
        with told():
            if not self._fresh or origin in self._asked:
                found = self._client.lookup(origin)
            else:
                if len(self._asked) >= MOST_ASKED:
                    self._asked.clear()
                self._asked.add(origin)
                found = self._client.refresh(origin)
        assert found is not None
        return found

    def held_of(self, url: bytes) -> OriginState:
        """Return what is held of the origin of a URL; one without an origin ends the command."""
        [origin] = grouped([url])
        if origin is None:
            raise CliError(
                f"'{visible(url)}' has no robots.txt: pass an http or https URL with a host"
            )
        return self.helds([origin])[origin]

    def helds(
        self, origins: Sequence[str], progress: Callable[[str], object] | None = None
    ) -> dict[str, OriginState]:
        """Return what is held of origins, asked several at once; *progress* is told of each."""
        asked: Iterable[OriginState] = map(self.held, origins)
        if len(origins) > 1:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(TOGETHER, "robotrules-fetch")
            asked = self._pool.map(self.held, origins)
        found = {}
        for origin, held in zip(origins, asked, strict=True):
            found[origin] = held
            self._hint(held)
            if progress is not None:
                progress(origin)
        return found

    def stream(self, tokens: Tokens, purposes: Sequence[str], *, ordered: bool) -> AnswerStream:
        """Return what answers URLs as their robots.txt files arrive; *ordered*: in their order."""
        return AnswerStream(self, tokens, purposes, self._nowhere, ordered=ordered)

    def _hint(self, held: OriginState) -> None:
        """Say the cure for an address that is not asked, once for a host."""
        visit = held.fetch_record
        if visit is None or visit.failure_reason is not AccessTrouble.REFUSED:
            return
        host = host_of(visit.url)
        if host not in self._refused and len(self._refused) < MOST_HINTS:
            self._refused[host] = None
            hint_private(host)

    def _hint_copy(self, found: Iterable[OriginState]) -> None:
        """Say once that a server failed although it was to be asked now."""
        failed = next((held for held in found if self._fresh and failure_of(held)), None)
        if failed is None or self._told_of_copy:
            return
        self._told_of_copy = True
        say(
            f"{shortened(visible(failed.origin), 100)} was {again_words(failed)}; the copy from "
            f"before holds until {moment_words(failed.until)}, as may those of others like it",
            label="hint",
            style="warning",
        )


class _Batch:
    """URLs that were read together and are answered in their order."""

    __slots__ = ("done", "helds", "urls", "verdicts")

    def __init__(self, urls: Sequence[bytes], nowhere: Verdict) -> None:
        self.urls = urls
        self.verdicts: list[Verdict | None] = [nowhere] * len(urls)
        self.helds: list[OriginState | None] = [None] * len(urls)
        self.done = 0

    def taken(self) -> OriginAnswers | None:
        """Return the answers up to the first URL that waits, and not again; None: there is none."""
        start, end = self.done, self.done
        while end < len(self.urls) and self.verdicts[end] is not None:
            end += 1
        self.done = end
        if start == end:
            return None
        verdicts = [one for one in self.verdicts[start:end] if one is not None]
        return OriginAnswers(self.urls[start:end], verdicts, self.helds[start:end])


class _Waiting(NamedTuple):
    """URLs of one origin that wait for its robots.txt."""

    urls: list[bytes]
    batch: _Batch | None
    """Whose positions they have, if order is kept."""
    positions: list[int]


class AnswerStream:
    """
    Answers URLs as the robots.txt files of their origins arrive.

    `add` takes URLs and yields what can be answered by now; `rest` yields the others as they come.
    """

    def __init__(
        self,
        looker: Looker,
        tokens: Tokens,
        purposes: Sequence[str],
        nowhere: Verdict,
        *,
        ordered: bool,
    ) -> None:
        self._looker = looker
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

    def add(self, urls: Sequence[bytes]) -> Iterator[OriginAnswers]:
        """Yield the answers that there are, after further URLs were read."""
        if not self._begun and urls:
            # A file of paths is told by its first line; a later one is just no URL.
            refuse_paths([urls[0].decode("utf-8", "backslashreplace")])
            self._begun = True
        yield from self._taken(urls)
        yield from self._answered(wait=False)
        while self._count > MOST_WAITING or self._octets > MOST_WAITING_OCTETS:
            yield from self._answered(wait=True)

    def rest(self) -> Iterator[OriginAnswers]:
        """Yield the answers to all URLs that wait, as their origins arrive."""
        while self._waiting:
            yield from self._answered(wait=True)

    def _taken(self, urls: Sequence[bytes]) -> Iterator[OriginAnswers]:
        """Answer what memory can, and let the rest wait."""
        batch = _Batch(urls, self._nowhere)
        late = False
        for origin, positions in self._grouped(urls).items():
            if origin is None:
                continue
            some = [urls[at] for at in positions]
            # What waits already goes first.
            held = None if origin in self._waiting else self._looker.cached(origin)
            if held is not None:
                self._fill(batch, positions, held, held.check_many(some, *self._who))
                continue
            late = True
            for at in positions:
                batch.verdicts[at] = None
            self._wait(origin, _Waiting(some, batch if self._ordered else None, positions))
        if self._ordered and (late or self._batches):
            self._batches.append(batch)
            self._count += len(urls)  # given back when the whole batch is answered
            yield from self._in_order()
        elif late:
            there = [at for at, one in enumerate(batch.verdicts) if one is not None]
            if there:
                verdicts = [one for one in batch.verdicts if one is not None]
                helds = [batch.helds[at] for at in there]
                yield OriginAnswers([urls[at] for at in there], verdicts, helds)
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
        """Ask as many origins as may be held at once."""
        while self._due and self._asked < MOST_ORIGINS:
            self._asked += 1
            origin = self._due.popleft()
            arrived = partial(self._arrive, origin)
            self._looker.begin(origin).add_done_callback(arrived)

    def _arrive(self, origin: str, future: Future[OriginState]) -> None:
        self._arrived.put((origin, future))

    def _answered(self, *, wait: bool) -> Iterator[OriginAnswers]:
        """Yield the answers of origins that have arrived; *wait* for one at least."""
        found: list[OriginAnswers] = []
        while self._waiting:
            try:
                origin, future = self._arrived.get(wait and not found)
            except Empty:
                break
            self._asked -= 1
            held = future.result()
            self._begin()
            self._looker.hint(held)
            for urls, batch, positions in self._waiting.pop(origin):
                self._octets -= sum(map(len, urls))
                verdicts = held.check_many(urls, *self._who)
                if batch is not None:
                    self._fill(batch, positions, held, verdicts)
                else:
                    self._count -= len(urls)
                    found.append(OriginAnswers(urls, verdicts, [held] * len(urls)))
            if self._ordered:
                break
        if self._ordered:
            yield from self._in_order()
        elif found:
            # One write for all that are there.
            yield OriginAnswers(
                [url for one in found for url in one.urls],
                [verdict for one in found for verdict in one.verdicts],
                [held for one in found for held in one.helds],
            )

    @staticmethod
    def _fill(
        batch: _Batch, positions: list[int], held: OriginState, verdicts: list[Verdict]
    ) -> None:
        for at, verdict in zip(positions, verdicts, strict=True):
            batch.verdicts[at], batch.helds[at] = verdict, held

    def _in_order(self) -> Iterator[OriginAnswers]:
        """Yield answers up to the first URL that waits."""
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
        """Return the positions of URLs by origin: two look-ups a URL, for most of them."""
        groups: dict[str | None, list[int]] = {}
        by_spelling: dict[bytes, list[int]] = {}
        spellings = self._spellings
        with told():
            for at, url in enumerate(urls):
                # Without a slash behind it a spelling may be the beginning of a longer one.
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
    """Tell whether octets up to a slash are scheme and authority alone."""
    return not octets.translate(None, b"abcdefghijklmnopqrstuvwxyz0123456789.:-_/") and (
        octets.count(b"/") == 3
    )


def fetched_robots(urls: Sequence[str], profile: str, opening: Opening) -> RobotsTxt:
    """Return the robots.txt of the one origin that URLs have; there must be one to read."""
    refuse_paths(urls)
    octets = [os.fsencode(url).strip() for url in urls]
    if len(grouped(octets)) > 1:
        raise CliError(
            "the URLs are of several origins, and each has a robots.txt of its own: ask about one "
            "at a time, or pass --robots FILE"
        )
    with (
        opening.client(profile) as client,
        Looker(client, fresh=opening.fresh, profile=profile) as looker,
    ):
        held = looker.held_of(octets[0])
    if held.policy is EffectivePolicy.DISALLOW:
        name = shortened(visible(held.origin), LONGEST)
        raise CliError(f"nobody knows what {name} says: {state_words(held)}")
    if held.policy is EffectivePolicy.ALLOW:
        say(state_words(held), label="hint")
    return held.robots


def hint_private(host: str) -> None:
    """Say how to ask a host that is not public."""
    name = shortened(visible(host), 100)
    say(
        f"{name} has a private address, and those are not asked: if you mean it, add "
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
    with told():
        for at, url in enumerate(urls):
            groups.setdefault(origin_of(url), []).append(at)
    return groups


def refuse_paths(urls: Iterable[str], files: bool = True) -> None:
    """End the command where a URL is only a part of one; *files*: `--robots` is an option."""
    for url in urls:
        if "://" in url:
            continue
        path = url.startswith("/")
        whole = f"https://example.com{visible(url)}" if path else f"https://{visible(url)}"
        words = f"{quoted(url)} {'is of which site?' if path else 'has no scheme:'}"
        pass_it = f"{'Pass' if path else 'pass'} a whole URL, such as {whole}"
        cure = ", or the site's robots.txt with --robots FILE" if files else ""
        raise CliError(f"{words} {pass_it}{cure}")
