"""
`robotrules fetch`: have the robots.txt of many origins ready, a million of them if need be.

A few lines over `AsyncClient.prefetch`: origins go in as they are read, so many are asked at once,
and each gets a line as it is there. What is kept is kept at once, so that whoever interrupts it
loses nothing. It does not decide anything about URLs.

Sections: the command · origins in · lines out.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from threading import Thread
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import click

from robotrules.access import AccessState
from robotrules.access import FailureReason as AccessTrouble
from robotrules.cache import EffectivePolicy, FreshnessReason, format_timestamp
from robotrules.cli.access_text import SOURCES, answer_words, failure_of, moment_words
from robotrules.cli.client import Opening, aloud, client_options, told
from robotrules.cli.options import fetching_profile_option, json_option
from robotrules.cli.origin_lookup import hint_private, host_of
from robotrules.cli.progress import Progress
from robotrules.cli.streams import (
    STDIN,
    Chunk,
    CliError,
    Output,
    open_octets,
    quoted,
    say,
    size_of,
    url_chunks,
)
from robotrules.cli.text import is_terminal, plural, shortened
from robotrules.http.origins import parse_origin
from robotrules.octets import visible

if TYPE_CHECKING:
    from robotrules.cache import FetchRecord
    from robotrules.client.origin_state import OriginState

STYLES = {
    AccessState.SUCCESS: "allowed",
    AccessState.UNAVAILABLE: "warning",
    AccessState.UNREACHABLE: "disallowed",
}
SKIPPED = "no-origin"
MOST_HINTS = 5
LONGEST = 100


@click.command()
@click.argument("origins", nargs=-1, metavar="[ORIGIN]...")
@click.option(
    "--origins",
    "file",
    metavar="FILE",
    help="Read origins from FILE too, one a line; '-' is stdin.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 10_000),
    metavar="N",
    default=50,
    show_default=True,
    help="How many origins are asked at once; one request at a time goes to each.",
)
@fetching_profile_option
@json_option("Print one JSON object a line, for each origin.")
@click.option("-q", "--quiet", is_flag=True, help="Print no lines, only the summary.")
@client_options(crawler=False)
def fetch(
    origins: tuple[str, ...],
    file: str | None,
    concurrency: int,
    profile: str,
    as_json: bool,
    quiet: bool,
    opening: Opening,
) -> int:
    """
    Fetch the robots.txt of origins, to have them ready.

    An origin is a scheme and a host, such as https://example.com; of a URL its origin is taken, and
    a bare host name is taken with https. What holds already is not fetched again, unless --fresh is
    given. Each origin gets a line as it is there: state, origin, status, octets, and until when it
    holds; in a pipe, tabs are between them. A summary follows on stderr. With --fresh, a server
    that fails is unreachable although an older copy holds. The exit code is 0 if all were reached,
    1 if any was not, 2 for usage or I/O.

    \b
    Examples:
      robotrules fetch https://example.com https://example.org
      robotrules fetch --origins origins.txt --concurrency 200 --quiet
      cut -d , -f 2 top.csv | robotrules fetch --origins - --json
    """
    if not origins and file is None:
        piped = sys.stdin is not None and not is_terminal(sys.stdin)
        cure = "to read them from stdin, one a line, add --origins -"
        if not piped:
            cure = "pass some, such as https://example.com, or --origins FILE with one a line"
        raise CliError(f"no origin was given: {cure}")
    with ExitStack() as opened:
        stream = None if file is None else open_octets(file, "origins")
        if stream is not None and file != STDIN:
            opened.enter_context(stream)
        size = len(origins) if stream is None else size_of(stream)
        bar = sys.stderr if is_terminal(sys.stderr) else None
        progress = opened.enter_context(Progress(bar, size, "origin"))
        lines = _Lines(Output() if not quiet else None, as_json, progress, opening.fresh)
        source = _Origins(origins, stream, file or "", lines)
        opened.enter_context(aloud())
        try:
            with told():
                asyncio.run(_prefetched(opening, profile, source, concurrency, lines))
        except KeyboardInterrupt:
            lines.summarise("interrupted; what was fetched is kept: ")
            raise
    lines.summarise()
    return lines.code


async def _prefetched(
    opening: Opening, profile: str, source: _Origins, concurrency: int, lines: _Lines
) -> None:
    async with opening.async_client(profile) as client:
        await client.prefetch(
            source.each(), concurrency=concurrency, progress=lines.add, refresh=opening.fresh
        )


# --- Origins in -----------------------------------------------------------------------------------


class _Origins:
    """The origins of the command line, then those of a file, as they are wanted."""

    def __init__(
        self, first: tuple[str, ...], stream: BinaryIO | None, name: str, lines: _Lines
    ) -> None:
        self._first = first
        self._stream = stream
        self._name = name
        self._lines = lines
        self._hinted = False
        # 64 bits of each: a list of the URLs of a crawl has an origin many times.
        self._seen: set[int] = set()

    async def each(self) -> AsyncIterator[str]:
        """Yield each origin once; what is none gets its line here."""
        for text in self._first:
            if origin := self._origin(text.strip(), 1):
                yield origin
        if self._stream is None:
            return
        # Unbuffered: a thread that waits in a buffer's lock would be in the way of the end.
        stream = getattr(self._stream, "raw", self._stream)
        async for chunk in _read_ahead(url_chunks(stream, self._name)):
            for octets in chunk.urls:
                if origin := self._origin(octets.decode("utf-8", "replace"), len(octets) + 1):
                    yield origin

    def _origin(self, text: str, octets: int) -> str | None:
        self._lines.was_read(octets)
        found = parse_origin(text)
        if found is not None and "://" not in text and not self._hinted:
            self._hinted = True
            self._lines.hint(
                f"{quoted(text)} has no scheme and is taken as {found}, as are others like it"
            )
        if found is None:
            self._lines.skip(text)
            return None
        if hash(found) in self._seen:
            self._lines.repeat()
            return None
        self._seen.add(hash(found))
        return found


async def _read_ahead(chunks: Iterator[Chunk]) -> AsyncIterator[Chunk]:
    """
    Yield chunks that a thread reads: whoever waits for stdin must not stop the event loop.

    It is a daemon, so that a command that ends does not wait for what may never come.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Chunk | CliError | None] = asyncio.Queue(2)

    def read() -> None:
        """Read until nobody wants more."""

        def put(one: Chunk | CliError | None) -> None:
            """Hand over one thing, when there is room."""
            asyncio.run_coroutine_threadsafe(queue.put(one), loop).result()

        try:
            try:
                for chunk in chunks:
                    put(chunk)
                put(None)
            except CliError as error:
                put(error)
        except (RuntimeError, asyncio.CancelledError):
            pass  # nobody wants more: the loop is closed

    Thread(target=read, daemon=True).start()
    while (one := await queue.get()) is not None:
        if isinstance(one, CliError):
            raise CliError(one.message)  # said by the command, which a thread does not know
        yield one


# --- Lines out ------------------------------------------------------------------------------------


class _Row(NamedTuple):
    """What a line says."""

    state: str
    style: str
    origin: str
    words: str
    """For people."""
    columns: tuple[str, ...]
    """For programs, after state and origin."""


class _Lines:
    """Writes a line for each origin, and counts."""

    def __init__(
        self, output: Output | None, as_json: bool, progress: Progress, fresh: bool
    ) -> None:
        self.progress = progress
        self._fresh = fresh
        self._output = output
        self._as_json = as_json
        self._counts: Counter[str] = Counter()
        self._refused: set[str] = set()
        self._read, self._octets = 0, 0

    @property
    def code(self) -> int:
        """The exit code: whether all were reached."""
        return int(bool(self._counts[AccessState.UNREACHABLE] or self._counts[SKIPPED]))

    def add(self, held: OriginState) -> None:
        """Write the line of an origin."""
        state = held.state
        # Who wants it from the server did not get it, although an older copy holds.
        if self._fresh and failure_of(held):
            state = AccessState.UNREACHABLE
        self._counts[str(state)] += 1
        visit = _shown(held, state)
        if visit is not None and visit.failure_reason is AccessTrouble.REFUSED:
            host = host_of(visit.url)
            if host not in self._refused and len(self._refused) < MOST_HINTS:
                self._refused.add(host)
                self.progress.step_aside()
                hint_private(host)
        if self._output is not None:
            self._write(_json(held, state) if self._as_json else _row(held, state))
        self._done()

    def skip(self, text: str) -> None:
        """Write the line of something that is no origin."""
        self._counts[SKIPPED] += 1
        name = shortened(visible(text), LONGEST)
        words = "not an http or https origin"
        if self._output is not None:
            row = _Row(SKIPPED, "disallowed", name, words, ("", "", ""))
            self._write({"origin": text, "state": SKIPPED} if self._as_json else row)
        self._done()

    def repeat(self) -> None:
        """Count the octets of an origin that has its line already, and nothing else."""
        self.progress.add(0, round(self._octets / max(self._read, 1)))

    def was_read(self, octets: int) -> None:
        """Count an origin of the input, which is done later, and not in the order of the input."""
        self._read += 1
        self._octets += octets

    def _done(self) -> None:
        self.progress.add(1, round(self._octets / max(self._read, 1)))

    def hint(self, words: str) -> None:
        """Say something where the bar stands."""
        self.progress.step_aside()
        say(words, label="hint")

    def _write(self, line: _Row | dict[str, Any]) -> None:
        output = self._output
        assert output is not None
        if output.terminal:
            self.progress.step_aside()
        if isinstance(line, dict):
            output.write(json.dumps(line) + "\n")
        elif output.terminal:
            word = output.paint(line.style, line.state)
            gap = " " * (13 - len(line.state))
            output.write(f"{word}{gap}{line.origin}  {output.paint('faint', line.words)}\n")
        else:
            output.write("\t".join((line.state, line.origin, *line.columns)) + "\n")
        output.flush()

    def summarise(self, before: str = "") -> None:
        """Say how many origins ended how."""
        self.progress.step_aside()
        counts = [f"{self._counts[state]:,} {state}" for state in AccessState]
        if self._counts[SKIPPED]:
            counts.append(f"{self._counts[SKIPPED]:,} {SKIPPED}")
        total = sum(self._counts.values())
        say(
            f"{before}{plural(total, 'origin')}: {', '.join(counts)}, "
            f"in {self.progress.seconds:.1f} s"
        )


def _shown(held: OriginState, state: AccessState) -> FetchRecord | None:
    """Return the visit that a line is about: where it is unreachable, the failure."""
    return (
        held.entry.last_failure if state is AccessState.UNREACHABLE else None
    ) or held.fetch_record


def _copy(held: OriginState, state: AccessState) -> FetchRecord | None:
    """Return the visit whose copy decides although the file is unreachable."""
    decides = held.policy is not EffectivePolicy.DISALLOW
    return held.entry.last_success if state is AccessState.UNREACHABLE and decides else None


def _row(held: OriginState, state: AccessState) -> _Row:
    visit, copy = _shown(held, state), _copy(held, state)
    if visit is None:
        return _Row(
            str(state), STYLES[state], held.origin, "", ("", "", format_timestamp(held.until))
        )
    parts = [answer_words(visit)]
    if visit.digest is not None:
        parts.append(plural(visit.size, "octet"))
    until = "until" if state is not AccessState.UNREACHABLE else "next try"
    if copy is not None:
        parts.append(f"a copy of {moment_words(copy.at)} decides")
        until = "until" if held.reason is FreshnessReason.FRESH else until
    # Where an address is refused, another try changes nothing.
    if until == "until" or visit.failure_reason is not AccessTrouble.REFUSED:
        parts.append(f"{until} {moment_words(held.until)}")
    if str(held.source) != "fetched":
        parts.append(SOURCES[str(held.source)])
    answer = str(visit.status) if visit.failure_reason in (None, AccessTrouble.STATUS) else ""
    answer = answer or str(visit.failure_reason)
    size = str(visit.size) if visit.digest is not None else ""
    columns = (answer, size, format_timestamp(held.until))
    return _Row(str(state), STYLES[state], held.origin, ", ".join(parts), columns)


def _json(held: OriginState, state: AccessState) -> dict[str, Any]:
    visit, copy = _shown(held, state), _copy(held, state)
    return {
        "origin": held.origin,
        "state": str(state),
        "status": visit.status if visit else None,
        "failure_reason": str(visit.failure_reason) if visit and visit.failure_reason else None,
        "detail": visit.detail if visit else "",
        "url": visit.url if visit else None,
        "hops": len(visit.hops) if visit else 0,
        "octets": visit.size if visit and visit.digest is not None else None,
        "sha256": visit.digest if visit else None,
        "source": str(held.source),
        "fetched_at": format_timestamp(visit.at) if visit else None,
        "until": format_timestamp(held.until),
        "copy_at": format_timestamp(copy.at) if copy else None,
    }
