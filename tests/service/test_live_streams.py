"""Streams of checks, and what is kept between checks."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import time
from collections.abc import Coroutine, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules.service.live import checks, streams
from robotrules.service.live.checks import Checks
from robotrules.service.live.fetching import Fetching
from robotrules.service.live.questions import CheckQueries, Crawlers
from robotrules.service.live.streams import LineSplitter
from robotrules.service.problems import Problem
from robotrules.service.settings import Limits, ServiceSettings
from tests.client import fault_servers
from tests.client.fault_servers import Peer
from tests.integrations.loopback_site import Answer, LoopbackSite, resolve_localhost_names
from tests.service.live_server import LOOPBACK, LOOPBACKS, LiveServer, open_site, serve
from tests.service.running import serving, until


def hang(peer: Peer) -> None:
    """Answer nothing for ten seconds."""
    peer.pause(10)


ROBOTS = "User-agent: *\nDisallow: /private\n"
SETTINGS = ServiceSettings(store="memory:", allow_private=(LOOPBACKS,))


@pytest.fixture(scope="module")
def service() -> Iterator[LiveServer]:
    """A service for tests that need no settings of their own."""
    with serve() as running:
        yield running


@pytest.fixture
def site() -> Iterator[LoopbackSite]:
    """A site with rules."""
    with open_site(ROBOTS) as running:
        yield running


class RawStream:
    """A connection that sends a stream in chunks, and reads answers when it is told to."""

    def __init__(self, service: LiveServer, query: str = "as=ExampleBot") -> None:
        self.sock = socket.create_connection((LOOPBACK, service.port), timeout=10)
        head = (
            f"POST /v1/check/stream?{query} HTTP/1.1\r\nHost: {LOOPBACK}:{service.port}\r\n"
            "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        self.sock.sendall(head.encode())
        self._received = b""
        self._lines: list[bytes] = []

    def send(self, data: bytes) -> None:
        """Send a chunk."""
        self.sock.sendall(b"%x\r\n%s\r\n" % (len(data), data))

    def lines(self, count: int) -> list[dict[str, Any]]:
        """Read until a number of lines have come, and return them."""
        while len(self._lines) < count:
            data = self.sock.recv(1 << 16)
            assert data, "the service ended the stream"
            self._received += data
            # Lines of the body; those of the chunked coding and of the head are no objects.
            *complete, self._received = self._received.split(b"\n")
            self._lines += [line for line in complete if line.startswith(b"{")]
        found, self._lines = self._lines[:count], self._lines[count:]
        return [json.loads(line) for line in found]


def line(url: str, **values: Any) -> bytes:
    """Return a line of a stream."""
    return json.dumps({"url": url, **values}).encode() + b"\n"


class TestStream:
    """POST /v1/check/stream."""

    def test_lines_are_those_of_check(self, service: LiveServer, site: LoopbackSite) -> None:
        """In order, each for its own crawler and purposes, or those of the query."""
        with open_site(Answer(body=ROBOTS.encode(), delay=0.3)) as slow:
            given: list[dict[str, Any]] = [
                {"url": slow.url("/private")},
                {"url": site.url("/a"), "as": "OtherBot"},
                {"url": site.url("/private"), "as": ["A", "B"], "purpose": ["P-1"]},
                {"url": slow.url("/b"), "purpose": []},
            ]
            found = service.stream(given, "as=ExampleBot&purpose=P-2&profile=strict")
        assert [answer["url"] for answer in found] == [one["url"] for one in given]
        assert [answer["allowed"] for answer in found] == [False, True, False, True]
        names = [answer["product_token"] for answer in found]
        assert names == ["ExampleBot", "OtherBot", "A, B", "ExampleBot"]
        purposes = [answer["purposes"] for answer in found]
        assert purposes == [["P-2"], ["P-2"], ["P-1"], []]
        assert {answer["profile"] for answer in found} == {"strict"}
        check = service.check(site.url("/a"), as_="OtherBot", purpose="P-2", profile="strict")
        assert {**found[1], "source": ""} == {**check, "source": ""}

    def test_lines_that_cannot_be_answered(self, service: LiveServer, site: LoopbackSite) -> None:
        """Each gives an error with its number, and the stream goes on; blank lines count."""
        good = {"url": site.url("/a")}
        found = service.stream(
            [
                good,
                "",
                "{",
                "[]",
                '"http://example.com/"',
                {"url": "ftp://example.com/"},
                {"url": site.url("/a b")},
                {"url": site.url("/a"), "as": "a/1.0"},
                {"url": site.url("/a"), "robots": "x"},
                {"url": site.url("/" + "a" * 70_000)},
                {"url": site.url("/a").replace("://", "://me@")},
                {"url": site.url("/a"), "as": []},
                " \r",
                good,
            ]
        )
        assert [answer.get("line") for answer in found[1:-1]] == [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
        for answer in found[1:-1]:
            assert answer["error"]
            assert "allowed" not in answer
        assert found[0]["allowed"]
        assert found[-1]["allowed"]
        kinds = [answer["type"].partition("#")[2] for answer in found[1:-1]]
        assert (
            kinds
            == ["malformed-body", *["invalid-request"] * 6, "too-large"] + ["invalid-request"] * 2
        )
        assert found[4]["url"] == "ftp://example.com/"

    def test_bytes_that_are_not_utf_8(self, service: LiveServer, site: LoopbackSite) -> None:
        """An error of that line."""
        content = b'{"url": "http://\xff/"}\n' + line(site.url("/a"))
        response = service.client.post(
            "/v1/check/stream?as=A",
            content=content,
            headers={"Content-Type": "application/x-ndjson"},
        )
        first, second = map(json.loads, response.text.splitlines())
        assert (first["line"], second["allowed"]) == (1, True)

    def test_without_a_crawler(self, service: LiveServer, site: LoopbackSite) -> None:
        """Only the lines that name one are answered; a wrong query is a problem."""
        found = service.stream([{"url": site.url("/a")}, {"url": site.url("/a"), "as": "A"}], "")
        assert "missing as" in found[0]["error"]
        assert found[1]["allowed"]
        for query in ("as=a/1", "profile=x", "url=x"):
            response = service.client.post(
                f"/v1/check/stream?{query}",
                content=b"",
                headers={"Content-Type": "application/x-ndjson"},
            )
            assert response.status_code == 422

    def test_an_empty_body(self, service: LiveServer) -> None:
        """No lines."""
        assert service.stream([]) == []

    def test_both_directions_at_once(self, service: LiveServer, site: LoopbackSite) -> None:
        """An answer comes before the next line is sent, also for half a line at a time."""
        stream = RawStream(service)
        with closing(stream.sock):
            for number in range(20):
                text = line(site.url(f"/{number}"))
                stream.send(text[:10])
                stream.send(text[10:])
                [answer] = stream.lines(1)
                assert answer["url"] == site.url(f"/{number}")

    def test_a_slow_origin_delays_no_more_than_its_lines(self, site: LoopbackSite) -> None:
        """Origins are fetched at the same time."""
        slow = [open_site(Answer(body=ROBOTS.encode(), delay=0.5)) for _ in range(8)]
        try:
            with serve() as service:
                began = time.monotonic()
                found = service.stream([{"url": one.url("/private")} for one in slow])
                assert time.monotonic() - began < 2
                assert not any(answer["allowed"] for answer in found)
        finally:
            for one in slow:
                one.close()

    def test_back_pressure(self, service: LiveServer, site: LoopbackSite) -> None:
        """A client that does not read has to wait before it can send more; nothing is lost."""
        service.check(site.url("/a"))
        stream = RawStream(service)
        block, per_block = line(site.url("/a")) * 1000, 1000
        blocks = 0
        with closing(stream.sock):
            stream.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
            stream.sock.settimeout(1)
            rest = b""
            with suppress(TimeoutError):
                while blocks < 3000:  # 150 MB, with more than 1 GB of answers
                    data = b"%x\r\n%s\r\n" % (len(block), block)
                    blocks += 1
                    view = memoryview(data)
                    while view:
                        rest = bytes(view)
                        view = view[stream.sock.send(view) :]
            assert rest, "the service has read everything"
            assert blocks < 600  # the buffers of both sockets, and the window
            stream.sock.settimeout(10)
            found = stream.lines((blocks - 1) * per_block)
            stream.sock.sendall(rest + b"0\r\n\r\n")
            found += stream.lines(per_block)
        assert len(found) == blocks * per_block
        assert all(answer["allowed"] for answer in found)

    def test_a_client_that_leaves(self, site: LoopbackSite) -> None:
        """Its lines wait for nothing any more, and others are answered."""
        with (
            fault_servers.serve(hang) as hanging,
            serve(limits=Limits()._replace(fetch_timeout=3.0)) as service,
        ):
            for _ in range(streams.MAX_STREAMS + 5):  # each would take the place of a stream
                stream = RawStream(service)
                with closing(stream.sock):
                    stream.send(line(site.url("/a")) + line(f"{hanging.url}/a") * 30)
                    stream.lines(1)
            # All of them have left, so there is room for another.
            [answer] = service.stream([{"url": site.url("/private")}])
            assert not answer["allowed"]

    def test_too_many_streams(self, service: LiveServer, site: LoopbackSite) -> None:
        """503 with Retry-After; single checks are answered."""
        opened = []
        try:
            for _ in range(streams.MAX_STREAMS):
                stream = RawStream(service)
                opened.append(stream)
                stream.send(line(site.url("/a")))
                stream.lines(1)
            response = service.client.post(
                "/v1/check/stream?as=A",
                content=b"",
                headers={"Content-Type": "application/x-ndjson"},
            )
            assert response.status_code == 503
            assert response.headers["retry-after"] == "1"
            assert service.check(site.url("/a"))["allowed"]
        finally:
            for stream in opened:
                stream.sock.close()

    def test_a_stream_that_stops(self, site: LoopbackSite) -> None:
        """A client that sends nothing for long gets an error line, and the end."""
        with serve(limits=Limits()._replace(body_timeout=0.5)) as service:
            stream = RawStream(service)
            with closing(stream.sock):
                stream.send(line(site.url("/a")))
                first, last = stream.lines(2)
                assert first["allowed"]
                assert (last["line"], last["type"]) == (2, "/v1/problems#timeout")


class TestDepartedClients:
    """The work for a client that has gone ends, while its body is not read to the end."""

    @pytest.mark.parametrize("streamed", [True, False], ids=["stream", "urls"])
    @pytest.mark.parametrize("reset", [True, False], ids=["reset", "closed"])
    def test_fetches_end(self, tmp_path: Path, streamed: bool, reset: bool) -> None:
        """Of many slow origins, the later ones are not asked."""
        options = ["--allow-private", LOOPBACKS, "--limit=max_fetches=8", "--user-agent=ExampleBot"]
        asked: list[str] = []
        with slow_origins(asked, 0.5) as origins, serving(tmp_path, *options) as service:
            given = [f"{origin}/{'a' * 400}" for origin in origins]
            body = b"".join(map(line, given)) if streamed else json.dumps({"urls": given}).encode()
            path = b"/v1/check/stream" if streamed else b"/v1/check"
            kind = b"x-ndjson" if streamed else b"json"
            client = service.connect()
            client.setblocking(True)
            client.sendall(
                b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/%s\r\n"
                b"Content-Length: %d\r\n\r\n" % (path, kind, len(body)) + body
            )
            assert until(lambda: len(asked) >= 8, 10)
            if reset:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()
            assert until(lambda: "status=499" in service.log, 5), service.log
            time.sleep(1)
            before = len(asked)
            time.sleep(1.5)
            assert len(asked) == before


@contextmanager
def slow_origins(asked: list[str], delay: float, count: int = 400) -> Iterator[list[str]]:
    """Origins on loopback addresses that answer late; what they are asked is noted."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            asked.append((await reader.readuntil(b"\r\n\r\n")).decode())
            await asyncio.sleep(delay)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
        writer.close()

    hosts = [f"127.2.{number // 250}.{number % 250 + 1}" for number in range(count)]
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(answer, hosts, 0))
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield ["http://{}:{}".format(*sock.getsockname()) for sock in server.sockets]
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        for task in (left := asyncio.all_tasks(loop)):
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left))
        loop.close()


class TestLineSplitter:
    """Lines from chunks."""

    @given(st.lists(st.binary(max_size=30), max_size=10), st.integers(1, 20))
    def test_chunks_do_not_matter(self, chunks: list[bytes], limit: int) -> None:
        """The lines are those of the whole body; longer ones than the limit are None."""
        splitter = LineSplitter(limit)
        found = [one for chunk in chunks for one in splitter.add(chunk)]
        found += splitter.end()
        expected = b"".join(chunks).split(b"\n")
        if not expected[-1]:
            expected.pop()
        assert [one.data for one in found] == [
            data if len(data) <= limit else None for data in expected
        ]
        assert [one.number for one in found] == list(range(1, len(expected) + 1))


class TestKeptAnswers:
    """What `Checks` keeps for crawlers and origins."""

    def test_a_new_state_replaces_answers(self, site: LoopbackSite) -> None:
        """After a refresh the new rules apply at once."""

        async def main() -> None:
            async with Fetching(SETTINGS) as fetching:
                crawlers = Crawlers(fetching)
                found = Checks(fetching)
                crawler, url = crawlers.find(["ExampleBot"]), site.url("/private")
                assert found.ready(url, crawler) is None
                for _ in range(2):
                    assert json.loads(await found.answer(url, crawler))["allowed"] is False
                for answer, allowed, reason in (
                    (Answer(body=b"User-agent: *\nDisallow: /other\n"), True, "no-match"),
                    (Answer(503), True, "no-match"),  # the last copy applies for a day
                    (Answer(404), True, "unavailable"),
                    (Answer(body=ROBOTS.encode()), False, "disallow-rule"),
                ):
                    site.answers["/robots.txt"] = answer
                    await fetching.client("default").refresh(url)
                    for _ in range(2):
                        values = json.loads(found.ready(url, crawler) or b"")
                        assert (values["allowed"], values["reason"]) == (allowed, reason)

        asyncio.run(main())

    def test_they_are_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """In bytes, with many crawlers and rules; answers stay right."""
        monkeypatch.setattr(checks, "MAX_KEPT", 100_000)
        rules = "".join(f"Disallow: /{number}/\n" for number in range(500))

        async def main() -> None:
            with open_site("User-agent: *\n" + rules) as site:
                async with Fetching(SETTINGS) as fetching:
                    crawlers = Crawlers(fetching)
                    found = Checks(fetching)
                    everyone = [crawlers.find([f"Bot{'x' * at}"]) for at in range(100)]
                    await found.answer(site.url("/"), everyone[0])
                    for number in range(500):
                        for crawler in everyone[number % 90 :][:10]:
                            url = site.url(f"/{number}/")
                            assert b'"allowed": false' in (found.ready(url, crawler) or b"")
                    kept = [answers for one in everyone for answers in one.answers.values()]
                    size = sum(len(end) for one in kept for end, _ in one.ends.values())
                    assert 0 < size < 100_000
                    assert len(kept) < 20

        asyncio.run(main())

    def test_long_patterns_are_not_kept(self) -> None:
        """A rule may be as long as a file."""
        pattern = "/" + "a*" * 5000

        async def main() -> None:
            with open_site(f"User-agent: *\nDisallow: {pattern}\n") as site:
                async with Fetching(SETTINGS) as fetching:
                    crawlers = Crawlers(fetching)
                    found = Checks(fetching)
                    crawler, url = crawlers.find(["A"]), site.url("/" + "a" * 5000)
                    for _ in range(3):
                        assert json.loads(await found.answer(url, crawler))["pattern"] == pattern
                    [answers] = crawler.answers.values()
                    assert not answers.ends

        asyncio.run(main())

    def test_many_crawlers(self, site: LoopbackSite) -> None:
        """When there are too many, all are dropped, and made again; also those of queries."""

        async def main() -> None:
            async with Fetching(SETTINGS) as fetching:
                crawlers = Crawlers(fetching)
                queries = CheckQueries(crawlers)
                query = f"url={site.url('/')}&as=A".encode()
                _, first = queries.read(query)
                assert crawlers.find(["A"]) is first
                assert queries.read(query)[1] is first
                for number in range(1100):
                    crawlers.find(["A"], [f"P-{number}"])
                assert queries.read(query)[1] is not first
                assert crawlers.find(["A"]) is not first
                for number in range(1000):
                    crawlers.find(["A"], [f"{number}{'x' * 900}" for _ in range(16)])
                assert len(crawlers._kept) < 100

        asyncio.run(main())

    def test_dropped_crawlers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """What a crawler keeps is bounded, although `Crawlers` does not know it any more."""
        monkeypatch.setattr(checks, "MAX_KEPT", 100_000)
        rules = "".join(f"Disallow: /{number}/\n" for number in range(200))

        async def main() -> None:
            with resolve_localhost_names(), LoopbackSite("User-agent: *\n" + rules) as site:
                settings = SETTINGS._replace(allow_private=("*.localhost",))
                async with Fetching(settings) as fetching:
                    crawlers = Crawlers(fetching)
                    found = Checks(fetching)
                    orphan = crawlers.find(["Orphan"])
                    for number in range(1100):
                        crawlers.find(["A"], [f"P-{number}"])
                    assert crawlers.find(["Orphan"]) is not orphan
                    for number in range(30):
                        url = f"http://h{number}.localhost:{site.port}/1/"
                        for _ in range(2):
                            assert b'"allowed": false' in await found.answer(url, orphan)
                        # 3 KB of text are more than 20 KB of rules.
                        assert 0 < len(orphan.answers) < 5

        asyncio.run(main())


class TestQueue:
    """Origins of the lines of streams wait for each other, and not the requests beside them."""

    def test_streams_leave_room(self, site: LoopbackSite) -> None:
        """Any number of lines may wait, also for the origin of a single check."""
        limits = Limits(max_fetches=4, fetch_timeout=5.0)

        async def main() -> None:
            site.answers["/robots.txt"] = site.answers["/robots.txt"]._replace(delay=1.0)
            with open_site(ROBOTS) as other:
                async with Fetching(SETTINGS._replace(limits=limits)) as fetching:
                    lines = [
                        asyncio.create_task(fetching.state("default", site.url("/"), queue=True))
                        for _ in range(500)
                    ]
                    await asyncio.sleep(0.2)
                    for url in (other.url("/"), site.url("/")):
                        state = await fetching.state("default", url)
                        assert not state.check(f"{state.origin}/private", "A")
                    assert len(await asyncio.gather(*lines)) == 500
            assert site.robots_requests == 1

        asyncio.run(main())

    def test_each_wakes_its_own(self) -> None:
        """The end of a fetch wakes the lines of one origin, in the order of the requests."""
        started: list[str] = []
        steps = 0

        class Counted(Coroutine[Any, Any, Any]):
            """A coroutine that counts how often it is resumed."""

            def __init__(self, inner: Coroutine[Any, Any, Any]) -> None:
                self.inner = inner

            def send(self, value: Any) -> Any:
                nonlocal steps
                steps += 1
                return self.inner.send(value)

            def throw(self, *error: Any) -> Any:
                return self.inner.throw(*error)

            def close(self) -> None:
                self.inner.close()

            def __await__(self) -> Any:
                return self.inner.__await__()

        class Fetches(Fetching):
            """Notes the fetches."""

            def _start(self, key: tuple[str, str], url: str) -> Any:
                started.append(url)
                assert len(self._fetches) < 2
                return super()._start(key, url)

        async def main() -> None:
            # No address is allowed, so each fetch fails at once.
            settings = ServiceSettings(store="memory:", limits=Limits(max_fetches=4))
            urls = [f"http://127.0.0.1:{port}/" for port in range(1000, 1400)]
            async with Fetches(settings) as fetching:
                waiting = [fetching.state("default", url, queue=True) for url in urls]
                tasks = [asyncio.create_task(Counted(one)) for one in waiting]
                for state in await asyncio.gather(*tasks):
                    assert not state.check(f"{state.origin}/", "A")
                assert not fetching._queued
            assert started == urls

        asyncio.run(main())
        assert steps < 5 * 400

    def test_those_that_leave(self) -> None:
        """An origin that no line waits for any more is not fetched from."""
        limits = Limits(max_fetches=2, fetch_timeout=5.0)

        async def main() -> None:
            with fault_servers.serve(hang) as hanging, open_site(ROBOTS) as site:
                async with Fetching(SETTINGS._replace(limits=limits)) as fetching:
                    tasks = [
                        asyncio.create_task(fetching.state("default", url, queue=True))
                        for url in (f"{hanging.url}/", site.url("/"), site.url("/a"))
                    ]
                    await asyncio.sleep(0.1)
                    assert len(fetching._queued) == 1
                    for task in tasks[1:]:
                        task.cancel()
                    await asyncio.wait(tasks[1:])
                    assert not fetching._queued
                    last = asyncio.create_task(fetching.state("default", site.url("/"), queue=True))
                    await asyncio.sleep(0.1)
                # Closed: those that wait get a problem.
                with pytest.raises(Problem):
                    await last
                await asyncio.wait(tasks[:1])
                assert site.robots_requests == 0

        asyncio.run(main())


class TestSharedFetches:
    """Several questions that wait for the same fetch."""

    def test_one_that_is_cancelled_does_not_end_the_others(self) -> None:
        """Nor the fetch."""

        async def main() -> None:
            with open_site(Answer(body=ROBOTS.encode(), delay=0.3)) as site:
                async with Fetching(SETTINGS) as fetching:
                    crawlers = Crawlers(fetching)
                    found = Checks(fetching)
                    questions = [
                        asyncio.create_task(
                            found.answer(site.url("/private"), crawlers.find([name]))
                        )
                        for name in ("A", "B", "C")
                    ]
                    await asyncio.sleep(0.1)
                    questions[0].cancel()
                    for question in questions[1:]:
                        assert json.loads(await question)["allowed"] is False
                    assert questions[0].cancelled()
                assert site.robots_requests == 1

        asyncio.run(main())


class TestStopping:
    """The end of a worker."""

    def test_requests_that_wait_get_a_problem(self) -> None:
        """503, and not an error without meaning, or worse, an allowed URL."""

        async def main() -> None:
            with fault_servers.serve(hang) as hanging:
                async with Fetching(SETTINGS) as fetching:
                    crawlers = Crawlers(fetching)
                    found = Checks(fetching)
                    crawler = crawlers.find(["A"])
                    waiting = asyncio.create_task(found.answer(f"{hanging.url}/", crawler))
                    await asyncio.sleep(0.2)
                for question in (waiting, found.answer(f"{hanging.url}/", crawler)):
                    with pytest.raises(Problem) as raised:
                        await question
                    assert raised.value.slug == "stopping"

        asyncio.run(main())
