"""
Asking for many origins: verdicts on URLs whose robots.txt files are fetched, several at once.

URLs are grouped by origin, so each file is looked up once a chunk; what is held at a time is
bounded, so memory does not grow with the number of URLs. What goes wrong on the way is said once,
with the cure. It does not know how an answer looks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from robotrules import Reason, RobotsTxt, Verdict
from robotrules.access import Trouble as AccessTrouble
from robotrules.cache import Decides
from robotrules.cli.access_text import LONGEST, again_words, failure_of, moment_words, state_words
from robotrules.cli.client import Opening, told
from robotrules.cli.streams import Trouble, quoted, say
from robotrules.cli.text import shortened
from robotrules.origins import origin_of
from robotrules.robotstxt.values import visible

if TYPE_CHECKING:
    from robotrules.client.held import Held
    from robotrules.client.sync import Client

# Origins that are asked at once, and whose files are held at once. Each may have half a mebibyte.
TOGETHER = 32
MOST_ORIGINS = 256
# Origins that `--fresh` remembers to have asked, and hosts that hints name.
MOST_ASKED = 100_000
MOST_HINTS = 5


class Answers(NamedTuple):
    """Verdicts on URLs, each with what is held of its origin; None: it has none."""

    urls: Sequence[bytes]
    verdicts: list[Verdict]
    helds: list[Held | None]


class Looker:
    """Looks up the robots.txt files of URLs, through a client; a context manager."""

    def __init__(self, client: Client, *, fresh: bool, profile: str) -> None:
        self._client = client
        self._fresh = fresh
        self._nowhere = Verdict(False, Reason.NO_ORIGIN, None, profile)
        self._begun = False
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
            self._pool.shutdown(wait=error is None, cancel_futures=True)

    def held(self, origin: str) -> Held:
        """Return what is held of an origin; with `--fresh`, after its server was asked."""
        with told():
            if not self._fresh or origin in self._asked:
                found = self._client.held(origin)
            else:
                if len(self._asked) >= MOST_ASKED:
                    self._asked.clear()
                self._asked.add(origin)
                found = self._client.refresh(origin)
        assert found is not None
        return found

    def held_of(self, url: bytes) -> Held:
        """Return what is held of the origin of a URL; one without an origin ends the command."""
        [origin] = grouped([url])
        if origin is None:
            raise Trouble(
                f"'{visible(url)}' has no robots.txt: pass an http or https URL with a host"
            )
        return self.helds([origin])[origin]

    def helds(
        self, origins: Sequence[str], progress: Callable[[str], object] | None = None
    ) -> dict[str, Held]:
        """Return what is held of origins, asked several at once; *progress* is told of each."""
        asked: Iterable[Held] = map(self.held, origins)
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

    def answers(
        self,
        urls: Sequence[bytes],
        tokens: str | tuple[str, ...],
        purposes: Sequence[str],
        progress: Callable[[int], object] | None = None,
    ) -> Iterator[Answers]:
        """
        Yield verdicts on URLs in their order, a part at a time.

        *progress* is told the octets of URLs whose origin has answered, line ends included.
        """
        if not self._begun and urls:
            # A file of paths is told by its first line; a later one is just no URL.
            refuse_paths([urls[0].decode("utf-8", "backslashreplace")])
            self._begun = True
        groups = grouped(urls)
        if len(groups) > MOST_ORIGINS:
            half = len(urls) // 2
            yield from self.answers(urls[:half], tokens, purposes, progress)
            yield from self.answers(urls[half:], tokens, purposes, progress)
            return

        def answered(origin: str) -> None:
            """Tell of the octets of an origin's URLs."""
            if progress is not None:
                progress(sum(len(urls[at]) + 1 for at in groups[origin]))

        found = self.helds([origin for origin in groups if origin is not None], answered)
        self._hint_copy(found.values())
        verdicts = [self._nowhere] * len(urls)
        helds: list[Held | None] = [None] * len(urls)
        for origin, positions in groups.items():
            if origin is None:
                continue
            held = found[origin]
            some = held.check_many([urls[at] for at in positions], tokens, purposes)
            for at, verdict in zip(positions, some, strict=True):
                verdicts[at], helds[at] = verdict, held
        yield Answers(urls, verdicts, helds)

    def _hint(self, held: Held) -> None:
        """Say the cure for an address that is not asked, once for a host."""
        visit = held.visit
        if visit is None or visit.trouble is not AccessTrouble.REFUSED:
            return
        host = host_of(visit.url)
        if host not in self._refused and len(self._refused) < MOST_HINTS:
            self._refused[host] = None
            hint_private(host)

    def _hint_copy(self, found: Iterable[Held]) -> None:
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


def fetched_robots(urls: Sequence[str], profile: str, opening: Opening) -> RobotsTxt:
    """Return the robots.txt of the one origin that URLs have; there must be one to read."""
    refuse_paths(urls)
    octets = [os.fsencode(url).strip() for url in urls]
    if len(grouped(octets)) > 1:
        raise Trouble(
            "the URLs are of several origins, and each has a robots.txt of its own: ask about one "
            "at a time, or pass --robots FILE"
        )
    with (
        opening.client(profile) as client,
        Looker(client, fresh=opening.fresh, profile=profile) as looker,
    ):
        held = looker.held_of(octets[0])
    if held.decides is Decides.DISALLOW:
        name = shortened(visible(held.origin), LONGEST)
        raise Trouble(f"nobody knows what {name} says: {state_words(held)}")
    if held.decides is Decides.ALLOW:
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
        raise Trouble(f"{words} {pass_it}{cure}")
