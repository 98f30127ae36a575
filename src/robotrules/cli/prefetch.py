"""
`robotrules prefetch`: fetch and store the robots.txt files of many origins.

A wrapper around `AsyncClient.prefetch`: origins are fetched concurrently while the input is read,
and each is reported as it arrives. Every file is stored at once, so an interrupt loses nothing.

Sections: the command · input · output.
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

from robotrules.access import AccessState, FailureReason
from robotrules.cache import EffectivePolicy, FreshnessReason, format_timestamp
from robotrules.cli.access_text import SOURCES, failure_of, format_time
from robotrules.cli.client import (
    ClientOptions,
    library_errors,
    report_warnings,
    with_client_options,
)
from robotrules.cli.console import STDIN, CliError, Output, quoted, report
from robotrules.cli.input_files import open_octets, size_of, url_chunks
from robotrules.cli.options import fetching_profile_option, json_option
from robotrules.cli.origin_lookup import hint_private_address, host_of
from robotrules.cli.progress import Progress
from robotrules.cli.text import is_terminal, plural, truncate
from robotrules.http.origins import parse_origin
from robotrules.json_results.access import describe_response
from robotrules.octets import visible
from robotrules.url_lists import Chunk

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
    help="Also read origins from FILE, one per line; '-' is stdin.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 10_000),
    metavar="N",
    default=50,
    show_default=True,
    help="The number of concurrent requests; each origin gets one at a time.",
)
@fetching_profile_option
@json_option("Print one JSON object per line, for each origin.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the summary.")
@with_client_options(crawler=False)
def prefetch(
    origins: tuple[str, ...],
    file: str | None,
    concurrency: int,
    profile: str,
    as_json: bool,
    quiet: bool,
    client_options: ClientOptions,
) -> int:
    """
    Fetch and store the robots.txt files of origins.

    An origin is a scheme and a host, such as https://example.com. Of a URL, its origin is used; a
    bare host name is read as https. A copy that is still valid is not fetched again, except with
    --refresh. Prints one line per origin as it arrives: state, origin, status, bytes, and until
    when it is valid; in a pipe, separated by tabs. A summary follows on stderr. With --refresh, an
    origin that fails is reported as unreachable even if an older copy is valid. The exit code is 0
    if all origins were reached, 1 if any was not, 2 for a usage or I/O error.

    \b
    Examples:
      robotrules prefetch https://example.com https://example.org
      robotrules prefetch --origins origins.txt --concurrency 200 --quiet
      cut -d , -f 2 top.csv | robotrules prefetch --origins - --json
    """
    if not origins and file is None:
        piped = sys.stdin is not None and not is_terminal(sys.stdin)
        advice = "to read origins from stdin, one per line, add --origins -"
        if not piped:
            advice = "pass some, such as https://example.com, or --origins FILE with one per line"
        raise CliError(f"missing origin: {advice}")
    with ExitStack() as opened:
        stream = None if file is None else open_octets(file, "origins")
        if stream is not None and file != STDIN:
            opened.enter_context(stream)
        size = len(origins) if stream is None else size_of(stream)
        bar = sys.stderr if is_terminal(sys.stderr) else None
        progress = opened.enter_context(Progress(bar, size, "origin"))
        lines = _Lines(Output() if not quiet else None, as_json, progress, client_options.refresh)
        source = _Origins(origins, stream, file or "", lines)
        opened.enter_context(report_warnings())
        try:
            with library_errors():
                asyncio.run(_run_prefetch(client_options, profile, source, concurrency, lines))
        except KeyboardInterrupt:
            lines.summarise("interrupted; fetched files are stored: ")
            raise
    lines.summarise()
    return lines.code


async def _run_prefetch(
    client_options: ClientOptions, profile: str, source: _Origins, concurrency: int, lines: _Lines
) -> None:
    async with client_options.async_client(profile) as client:
        await client.prefetch(
            source.each(),
            concurrency=concurrency,
            progress=lines.add,
            refresh=client_options.refresh,
        )


# --- Input ----------------------------------------------------------------------------------------


class _Origins:
    """The origins of the command line, then those of a file, read on demand."""

    def __init__(
        self, first: tuple[str, ...], stream: BinaryIO | None, name: str, lines: _Lines
    ) -> None:
        self._first = first
        self._stream = stream
        self._name = name
        self._lines = lines
        self._hinted = False
        # Hashes of seen origins: a list of URLs has the same origin many times.
        self._seen: set[int] = set()

    async def each(self) -> AsyncIterator[str]:
        """Yield each origin once; input that is not an origin is reported here."""
        for text in self._first:
            if origin := self._origin(text.strip(), 1):
                yield origin
        if self._stream is None:
            return
        # Unbuffered: a thread that waits in a buffer's lock would block the exit.
        stream = getattr(self._stream, "raw", self._stream)
        async for chunk in _read_ahead(url_chunks(stream, self._name)):
            for octets in chunk.urls:
                if origin := self._origin(octets.decode("utf-8", "replace"), len(octets) + 1):
                    yield origin

    def _origin(self, text: str, octets: int) -> str | None:
        self._lines.describe_sources(octets)
        found = parse_origin(text)
        if found is not None and "://" not in text and not self._hinted:
            self._hinted = True
            self._lines.hint(
                f"{quoted(text)} has no scheme and is read as {found}; others like it are not "
                f"listed"
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
    Yield chunks that a thread reads, so that waiting for stdin does not block the event loop.

    The thread is a daemon, so that the command can exit while it waits for input.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Chunk | CliError | None] = asyncio.Queue(2)

    def read() -> None:
        """Read until the loop is closed."""

        def put(one: Chunk | CliError | None) -> None:
            """Put an item into the queue, when there is room."""
            asyncio.run_coroutine_threadsafe(queue.put(one), loop).result()

        try:
            try:
                for chunk in chunks:
                    put(chunk)
                put(None)
            except CliError as error:
                put(error)
        except (RuntimeError, asyncio.CancelledError):
            pass  # the loop is closed

    Thread(target=read, daemon=True).start()
    while (one := await queue.get()) is not None:
        if isinstance(one, CliError):
            raise CliError(one.message)  # raised again in the context of the command
        yield one


# --- Output ---------------------------------------------------------------------------------------


class _Row(NamedTuple):
    """The content of a line."""

    state: str
    style: str
    origin: str
    words: str
    """For terminals."""
    columns: tuple[str, ...]
    """For pipes, after state and origin."""


class _Lines:
    """Writes a line for each origin and counts states."""

    def __init__(
        self, output: Output | None, as_json: bool, progress: Progress, refresh: bool
    ) -> None:
        self.progress = progress
        self._refresh = refresh
        self._output = output
        self._as_json = as_json
        self._counts: Counter[str] = Counter()
        self._refused: set[str] = set()
        self._read, self._octets = 0, 0

    @property
    def code(self) -> int:
        """The exit code: 0 if all origins were reached."""
        return int(bool(self._counts[AccessState.UNREACHABLE] or self._counts[SKIPPED]))

    def add(self, origin_state: OriginState) -> None:
        """Write the line of an origin."""
        state = origin_state.state
        # With --refresh a failure counts, although an older copy is valid.
        if self._refresh and failure_of(origin_state):
            state = AccessState.UNREACHABLE
        self._counts[str(state)] += 1
        record = _shown(origin_state, state)
        if record is not None and record.failure_reason is FailureReason.REFUSED:
            host = host_of(record.url)
            if host not in self._refused and len(self._refused) < MOST_HINTS:
                self._refused.add(host)
                self.progress.clear()
                hint_private_address(host)
        if self._output is not None:
            self._write(_json(origin_state, state) if self._as_json else _row(origin_state, state))
        self._done()

    def skip(self, text: str) -> None:
        """Write the line of input that is not an origin."""
        self._counts[SKIPPED] += 1
        name = truncate(visible(text), LONGEST)
        words = "not an http or https origin"
        if self._output is not None:
            row = _Row(SKIPPED, "disallowed", name, words, ("", "", ""))
            self._write({"origin": text, "state": SKIPPED} if self._as_json else row)
        self._done()

    def repeat(self) -> None:
        """Advance the progress bar for a repeated origin."""
        self.progress.add(0, round(self._octets / max(self._read, 1)))

    def describe_sources(self, octets: int) -> None:
        """Count the bytes of an origin; it is completed later, in any order."""
        self._read += 1
        self._octets += octets

    def _done(self) -> None:
        self.progress.add(1, round(self._octets / max(self._read, 1)))

    def hint(self, words: str) -> None:
        """Report a hint."""
        self.progress.clear()
        report(words, label="hint")

    def _write(self, line: _Row | dict[str, Any]) -> None:
        output = self._output
        assert output is not None
        if output.terminal:
            self.progress.clear()
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
        """Report the number of origins by state."""
        self.progress.clear()
        counts = [f"{self._counts[state]:,} {state}" for state in AccessState]
        if self._counts[SKIPPED]:
            counts.append(f"{self._counts[SKIPPED]:,} {SKIPPED}")
        total = sum(self._counts.values())
        report(
            f"{before}{plural(total, 'origin')}: {', '.join(counts)}, "
            f"in {self.progress.seconds:.1f} s"
        )


def _shown(origin_state: OriginState, state: AccessState) -> FetchRecord | None:
    """Return the fetch record to show: the failure, if the origin is unreachable."""
    return (
        origin_state.entry.last_failure if state is AccessState.UNREACHABLE else None
    ) or origin_state.fetch_record


def _copy(origin_state: OriginState, state: AccessState) -> FetchRecord | None:
    """Return the fetch record of the copy that decides while the origin is unreachable."""
    decides = origin_state.policy is not EffectivePolicy.DISALLOW
    return origin_state.entry.last_success if state is AccessState.UNREACHABLE and decides else None


def _row(origin_state: OriginState, state: AccessState) -> _Row:
    record, copy = _shown(origin_state, state), _copy(origin_state, state)
    if record is None:
        return _Row(
            str(state),
            STYLES[state],
            origin_state.origin,
            "",
            ("", "", format_timestamp(origin_state.until)),
        )
    parts = [describe_response(record)]
    if record.digest is not None:
        parts.append(plural(record.size, "byte"))
    until = "until" if state is not AccessState.UNREACHABLE else "next attempt"
    if copy is not None:
        parts.append(f"the copy of {format_time(copy.at)} is used")
        until = "until" if origin_state.reason is FreshnessReason.FRESH else until
    # Another attempt does not help if the address is refused.
    if until == "until" or record.failure_reason is not FailureReason.REFUSED:
        parts.append(f"{until} {format_time(origin_state.until)}")
    if str(origin_state.source) != "fetched":
        parts.append(SOURCES[str(origin_state.source)])
    answer = str(record.status) if record.failure_reason in (None, FailureReason.STATUS) else ""
    answer = answer or str(record.failure_reason)
    size = str(record.size) if record.digest is not None else ""
    columns = (answer, size, format_timestamp(origin_state.until))
    return _Row(str(state), STYLES[state], origin_state.origin, ", ".join(parts), columns)


def _json(origin_state: OriginState, state: AccessState) -> dict[str, Any]:
    record, copy = _shown(origin_state, state), _copy(origin_state, state)
    return {
        "origin": origin_state.origin,
        "state": str(state),
        "status": record.status if record else None,
        "failure_reason": str(record.failure_reason) if record and record.failure_reason else None,
        "detail": record.detail if record else "",
        "url": record.url if record else None,
        "hops": len(record.hops) if record else 0,
        "size": record.size if record and record.digest is not None else None,
        "sha256": record.digest if record else None,
        "source": str(origin_state.source),
        "fetched_at": format_timestamp(record.at) if record else None,
        "until": format_timestamp(origin_state.until),
        "copy_at": format_timestamp(copy.at) if copy else None,
    }
