"""
Streams: checks of any number of URLs, as NDJSON in and out, in the same order.

Both directions run at the same time, and memory is bounded: when the client reads slowly or origins
are slow, the service stops reading. A line that cannot be answered gives a line with `error` and
its number, and the stream goes on.

Sections: lines · the stream.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from robotrules.service.connections import connection_lost
from robotrules.service.decoding import decode_request
from robotrules.service.live.checks import Checks, encode
from robotrules.service.live.fetching import RETRY_AFTER
from robotrules.service.live.questions import (
    Crawlers,
    Names,
    Purposes,
    Query,
    QuestionedCrawler,
    UrlText,
)
from robotrules.service.problems import PROBLEMS, Problem, stopping_problem
from robotrules.service.schemas import RequestBody

NDJSON = "application/x-ndjson"
# Bytes of a line of a stream. A URL of 8,192 characters may need six bytes for each.
MAX_LINE = 64 * 1024
# Blocks of lines and waiting lines between reading and writing, and the size of a block.
WINDOW = 64
BLOCK = 64 * 1024
# Seconds for the last line of a stream that is cut, whose client may read nothing.
LAST_LINE_SECONDS = 1.0
# Streams of one worker at a time.
MAX_STREAMS = 64

# The answer to a line, with its line feed, or its task.
Item = bytes | asyncio.Task[bytes]

log = logging.getLogger("robotrules.service")


class StreamLine(RequestBody, kw_only=True):
    """A line of a stream; without `as`, the parameters of the query string apply."""

    url: UrlText
    as_: Names = msgspec.field(name="as", default=None)
    purpose: Annotated[Purposes | None, Meta(description="As in check.")] = None


decode_line = msgspec.json.Decoder(StreamLine).decode


# --- Lines ----------------------------------------------------------------------------------------


class RawLine:
    """The bytes of a line, or None if it was too long, and its number."""

    __slots__ = ("data", "number")

    def __init__(self, number: int, data: bytes | None) -> None:
        self.number, self.data = number, data


class LineSplitter:
    """Splits chunks of bytes at line feeds; a line beyond the limit is dropped as it arrives."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._rest = b""
        self._is_too_long = False
        self.number = 0
        """The number of the last line."""

    def add(self, chunk: bytes) -> Iterator[RawLine]:
        """Yield the lines that a chunk completes."""
        first, *others = chunk.split(b"\n")
        if not others:
            self._extend(first)
            return
        self._extend(first)
        yield self._take()
        for data in others[:-1]:
            self._extend(data)
            yield self._take()
        self._extend(others[-1])

    def end(self) -> Iterator[RawLine]:
        """Yield the last line, if it has no line feed."""
        if self._rest or self._is_too_long:
            yield self._take()

    def _extend(self, data: bytes) -> None:
        if self._is_too_long or len(self._rest) + len(data) > self._limit:
            self._is_too_long, self._rest = True, b""
        else:
            self._rest += data

    def _take(self) -> RawLine:
        self.number += 1
        line = RawLine(self.number, None if self._is_too_long else self._rest)
        self._rest, self._is_too_long = b"", False
        return line


def error_line(problem: Problem, number: int | None, url: str | None = None) -> bytes:
    """Return the line of a problem; no number: it concerns all lines that have no answer yet."""
    return (
        encode(
            {
                "url": url,
                "error": problem.detail,
                "type": f"/v1/problems#{problem.slug}",
                "title": PROBLEMS[problem.slug].title,
                "line": number,
            }
        )
        + b"\n"
    )


class LineChecks:
    """Answers the lines of a stream; *query* has the crawler of lines that name none."""

    def __init__(self, checks: Checks, crawlers: Crawlers, query: Query) -> None:
        """A wrong query string raises a problem."""
        self._checks, self._crawlers = checks, crawlers
        self._names, self._purposes = query.all("as"), query.all("purpose")
        self._literal, self._profile = query.options()
        if self._names:
            self._find(None, None)

    def begin(self, line: RawLine) -> Item | None:
        """Return the answer to a line, or its task if it has to be looked up; None: it is blank."""
        url = None
        try:
            if line.data is None:
                detail = f"the line has more than {MAX_LINE:,} bytes: shorten it"
                raise Problem("too-large", detail)
            if not line.data or line.data.isspace():
                return None
            try:
                given = decode_line(line.data)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                given = decode_request(line.data, StreamLine, "line")  # or its problem
            url = given.url
            crawler = self._find(given.as_, given.purpose)
            return self.check(url, crawler, line.number)
        except Problem as problem:
            return error_line(problem, line.number, url)

    def check(self, url: str, crawler: QuestionedCrawler, number: int) -> Item:
        """Return the answer to a URL, or its task."""
        try:
            ready = self._checks.ready(url, crawler)
        except Problem as problem:
            return error_line(problem, number, url)
        if ready is not None:
            return ready + b"\n"
        return asyncio.create_task(self._look_up(url, crawler, number))

    def _find(self, names: str | list[str] | None, purposes: list[str] | None) -> QuestionedCrawler:
        tokens = [names] if isinstance(names, str) else names or self._names
        return self._crawlers.find(
            tokens,
            self._purposes if purposes is None else purposes,
            literal=self._literal,
            profile=self._profile,
        )

    async def _look_up(self, url: str, crawler: QuestionedCrawler, number: int) -> bytes:
        try:
            return await self._checks.fetched(url, crawler, queue=True) + b"\n"
        except Problem as problem:
            return error_line(problem, number, url)
        except Exception:
            # The other lines are answered all the same.
            log.exception("the check of a line failed")
            failure = Problem("internal-error", "the check failed: see the log of the service")
            return error_line(failure, number, url)


async def answer_lines(receive: Receive, lines: LineChecks) -> AsyncIterator[Item | None]:
    """Yield the answers to the lines of a body as they arrive; None: no more for the moment."""
    splitter = LineSplitter()
    while True:
        try:
            message = await receive()
        except Problem as problem:  # nothing arrived in time
            yield error_line(problem, splitter.number + 1)
            return
        if message["type"] == "http.disconnect":
            return
        for line in splitter.add(message.get("body", b"")):
            if (item := lines.begin(line)) is not None:
                yield item
        yield None
        if not message.get("more_body", False):
            break
        # The server may have more chunks at once: other requests go first.
        await asyncio.sleep(0)
    for line in splitter.end():
        if (item := lines.begin(line)) is not None:
            yield item


async def answer_urls(
    urls: list[str], crawler: QuestionedCrawler, lines: LineChecks
) -> AsyncIterator[Item]:
    """Yield the answers to a list of URLs."""
    for number, url in enumerate(urls, 1):
        yield lines.check(url, crawler, number)
        if number % 256 == 0:
            await asyncio.sleep(0)


# --- Responses ------------------------------------------------------------------------------------


class StreamRoom:
    """Counts the streams of a worker."""

    def __init__(self) -> None:
        self._count = 0

    def require(self) -> None:
        """Raise a problem if there are too many."""
        if self._count >= MAX_STREAMS:
            raise Problem(
                "busy", "too many streams: send the request again later", headers=RETRY_AFTER
            )

    def __enter__(self) -> None:
        self._count += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._count -= 1


class NDJSONResponse(Response):
    """A response that sends lines while they are made."""

    media_type = NDJSON

    def __init__(self, items: AsyncIterator[Item | None], room: StreamRoom) -> None:
        super().__init__()
        del self.headers["Content-Length"]
        self._items, self._room = items, room
        self._begun = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the lines; a client that goes away ends the work for it."""
        queue: asyncio.Queue[Item | None] = asyncio.Queue(WINDOW)
        lost = connection_lost(scope)
        with self._room:
            producer = asyncio.create_task(self._produce(queue))
            sending = asyncio.create_task(self._send(queue, send))
            # The body is read by the producer, so it cannot be read for the end of the connection.
            leaving: asyncio.Task[object] = asyncio.create_task(
                lost.wait() if lost is not None else _wait_for_disconnect(receive, producer)
            )
            working = {producer, sending}
            try:
                while not sending.done() and not leaving.done():
                    await asyncio.wait((leaving, *working), return_when=asyncio.FIRST_COMPLETED)
                    if producer.done():
                        producer.result()
                        working.discard(producer)
                if not sending.done():
                    raise ClientDisconnect
                sending.result()
            except asyncio.CancelledError:
                # The service stops. A client that has everything but this line would take the
                # stream for complete.
                await _end((producer, sending, leaving))
                if lost is None or not lost.is_set():
                    with suppress(TimeoutError, RuntimeError):
                        async with asyncio.timeout(LAST_LINE_SECONDS):
                            await self._end_early(send)
                raise
            finally:
                await _end((producer, sending, leaving))
                while not queue.empty():
                    item = queue.get_nowait()
                    if isinstance(item, asyncio.Task):
                        item.cancel()

    async def _begin(self, send: Send) -> None:
        if not self._begun:
            self._begun = True
            status, headers = self.status_code, self.raw_headers
            await send({"type": "http.response.start", "status": status, "headers": headers})

    async def _end_early(self, send: Send) -> None:
        await self._begin(send)
        line = error_line(stopping_problem(), None)
        await send({"type": "http.response.body", "body": line, "more_body": False})

    async def _produce(self, queue: asyncio.Queue[Item | None]) -> None:
        """Put blocks of lines and tasks into the queue, then None."""
        block: list[bytes] = []
        size = 0
        async for item in self._items:
            if isinstance(item, bytes):
                block.append(item)
                size += len(item)
            if block and (size >= BLOCK or not isinstance(item, bytes)):
                await queue.put(b"".join(block))
                block, size = [], 0
            if isinstance(item, asyncio.Task):
                try:
                    await queue.put(item)
                except asyncio.CancelledError:
                    item.cancel()
                    raise
        if block:
            await queue.put(b"".join(block))
        await queue.put(None)

    async def _send(self, queue: asyncio.Queue[Item | None], send: Send) -> None:
        await self._begin(send)
        while (item := await queue.get()) is not None:
            if isinstance(item, asyncio.Task):
                try:
                    data = await item
                except asyncio.CancelledError:
                    item.cancel()
                    raise
            else:
                data = item
            await send({"type": "http.response.body", "body": data, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _end(tasks: Iterable[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await task


async def _wait_for_disconnect(receive: Receive, producer: asyncio.Task[None]) -> None:
    """Wait until the client has gone, with a server that tells it after the body only."""
    await asyncio.wait((producer,))
    while (await receive())["type"] != "http.disconnect":
        pass
