"""
The fault matrix: each thing that can go wrong, and what a client makes of it.

`MATRIX` is the table. One test fills its cells on `Client` over httpx2 and on `AsyncClient` over
httpx2 and aiohttp, against servers that really do the wrong thing; another sees to it that
`docs/faults.md` shows the same table (`python -m tests.client.test_faults` writes it). The clock is
set by hand, so that a day passes at once. Real stores that go down are in `test_store_faults`.
"""

from __future__ import annotations

import asyncio
import socket
import sqlite3
import ssl
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from robotrules import Reason, StoreError
from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.cache import Entry, FetchRecord
from robotrules.client import AddressPolicy, AsyncClient, Client
from robotrules.client.stores import MemoryStore, SQLiteStore
from robotrules.client.transports.aiohttp import AiohttpTransport
from robotrules.client.transports.httpx2 import AsyncHttpx2Transport, Httpx2Transport
from tests.client import fault_servers
from tests.client.scripted import Clock, Driven, Server, opened

AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
PAGE = Path(__file__).parents[2] / "docs" / "faults.md"
DAY = 86_400
YEAR = 365 * DAY
# The copy has a rule that the file of today lacks: so it shows which of them decides.
COPY_TEXT = b"User-agent: *\nDisallow: /private\nDisallow: /copy\n"
TRANSPORTS: dict[str, Callable[..., Any]] = {
    "Client, httpx2": Httpx2Transport,
    "AsyncClient, httpx2": AsyncHttpx2Transport,
    "AsyncClient, aiohttp": AiohttpTransport,
}


# --- The cells ------------------------------------------------------------------------------------


class Cell(NamedTuple):
    """The answer of a client for an ordinary URL."""

    allowed: bool
    reason: Reason
    by: str
    """`file`: what was just fetched; `copy`: what was known before; `nothing`: neither."""
    asked: bool = True
    """Whether the origin was asked for it."""

    def __str__(self) -> str:
        verdict = f"{'allowed' if self.allowed else 'disallowed'}, `{self.reason}`"
        return f"{verdict}{', by the copy' * (self.by == 'copy')}{', not asked' * (not self.asked)}"


FILE = Cell(True, Reason.NO_MATCH, "file")
COPY = Cell(True, Reason.NO_MATCH, "stale-copy", asked=False)
COPY_AFTER_ALL = Cell(True, Reason.NO_MATCH, "stale-copy")
NO_FILE = Cell(True, Reason.UNAVAILABLE, "nothing")
NOBODY_KNOWS = Cell(False, Reason.UNREACHABLE, "nothing")


class Row(NamedTuple):
    """What is expected of one fault."""

    fault: str
    trouble: FailureReason | None
    """Of the visit; None: it has none."""
    cold: Cell
    """Nothing is known of the origin."""
    fresh: Cell
    """There is a copy whose lifetime has not passed."""
    renewed: Cell
    """The same, and the client is told to ask (`refresh`)."""
    old: Cell
    """There is a copy whose lifetime has passed."""
    stale: Cell
    """The same, with profile `stale`."""
    again: int
    """Seconds after which the origin is asked again, and not before."""
    stays: str
    """One of `STAYS`; see `_check_kept`."""
    says: str = ""
    """What the client says about its store."""


STAYS = {
    "failure": "the copy, and the failure beside it",
    "failure alone": "the failure",
    "answer": "the answer, in the copy's place",
    "nothing": "what was there",
}


def failed(
    fault: str, trouble: FailureReason, again: int = 60, stays: str = "failure", says: str = ""
) -> Row:
    """Return the row of a failure: the rules are unknown once a copy is old (§2.3.1.4)."""
    copy, none = COPY_AFTER_ALL, NOBODY_KNOWS
    return Row(fault, trouble, none, COPY, copy, none, copy, again, stays, says)


def unknown(fault: str, stays: str, says: str = "") -> Row:
    """Return the row of a failure after which there is no copy either."""
    none = NOBODY_KNOWS
    return Row(fault, FailureReason.STATUS, none, none, none, none, none, 60, stays, says)


def settled(
    fault: str, cell: Cell, fresh: Cell, stays: str = "answer", says: str = "", **more: Any
) -> Row:
    """Return the row of what is strange, and ends with an answer all the same."""
    trouble = more.get("trouble")
    return Row(fault, trouble, cell, fresh, cell, cell, cell, DAY, stays, says)


MATRIX = [
    # The network (AMB-57).
    failed("connection refused", FailureReason.CONNECT),
    failed("reset instead of an answer", FailureReason.CUT),
    failed("reset within the head", FailureReason.CUT),
    failed("reset within the body", FailureReason.CUT),
    failed("body shorter than its Content-Length", FailureReason.CUT),
    failed("chunked body without its end", FailureReason.CUT),
    failed("certificate of an unknown authority", FailureReason.TLS),
    failed("certificate of another name", FailureReason.TLS),
    failed("plain HTTP where TLS is expected", FailureReason.TLS),
    failed("reset within the TLS handshake", FailureReason.TLS),
    failed("no answer", FailureReason.TIMEOUT),
    failed("no TLS handshake", FailureReason.TIMEOUT),
    failed("head that drips", FailureReason.TIMEOUT),
    failed("body that drips", FailureReason.TIMEOUT),
    failed("name without an address", FailureReason.DNS),
    failed("name of a private address", FailureReason.REFUSED, stays="nothing"),
    # What is not HTTP, or not readable (AMB-61).
    failed("garbage instead of HTTP", FailureReason.PROTOCOL),
    failed("field of 10 MB", FailureReason.PROTOCOL),
    failed("100,000 fields", FailureReason.PROTOCOL),
    failed("head of more than 64 KiB", FailureReason.PROTOCOL),
    failed("Content-Length with chunked", FailureReason.PROTOCOL),
    settled("200 lines in the head", FILE, COPY),
    settled("line of 60 KB in the head", FILE, COPY),
    settled("204 with a body", Cell(True, Reason.NO_GROUP, "file"), COPY),
    settled("octets after the answer", FILE, COPY),
    failed("unknown Content-Encoding", FailureReason.CODING),
    failed("broken gzip", FailureReason.CODING),
    failed("gzip without its end", FailureReason.CODING),
    settled("gzip of 4 GB of zeros", Cell(True, Reason.NO_GROUP, "file"), COPY),
    # Redirects (AMB-54 to AMB-56).
    settled("100 redirects", NO_FILE, COPY, trouble=FailureReason.REDIRECTS),
    settled("loop of redirects", NO_FILE, COPY, trouble=FailureReason.LOOP),
    failed("redirect to another scheme", FailureReason.LOCATION),
    failed("redirect without a Location", FailureReason.LOCATION),
    failed("300 with a Location", FailureReason.LOCATION),
    failed("304 with another ETag, whatever is asked", FailureReason.LOCATION),
    failed("redirect to a private address", FailureReason.REFUSED, stays="nothing"),
    failed("redirect to a server that is down", FailureReason.CONNECT),
    # Statuses (AMB-50 to AMB-53).
    failed("500", FailureReason.STATUS),
    failed("503 with Retry-After: 600", FailureReason.STATUS, again=600),
    failed("429", FailureReason.STATUS),
    failed("429 with Retry-After: 7200", FailureReason.STATUS, again=7200),
    failed("206", FailureReason.STATUS),
    # The store. In the second row of each pair the origin answers 500 as well.
    settled("store down from the start", FILE, FILE, "nothing", "it is down"),
    unknown("store down from the start, and 500", "nothing", "it is down"),
    settled("store goes down later", FILE, COPY, "nothing", "it is down"),
    failed("store goes down later, and 500", FailureReason.STATUS, 60, "nothing", "it is down"),
    settled("store fails once", FILE, COPY),
    failed("store fails once, and 500", FailureReason.STATUS),
    settled("store is slow", FILE, COPY),
    failed("store is slow, and 500", FailureReason.STATUS),
    settled("store has no space", FILE, COPY, "nothing", "has no space"),
    failed("store has no space, and 500", FailureReason.STATUS, 60, "nothing", "has no space"),
    settled("entry in the store damaged", FILE, FILE),
    unknown("entry in the store damaged, and 500", "failure alone"),
    settled("body in the store damaged", FILE, FILE),
    unknown("body in the store damaged, and 500", "failure"),
    # The clock of a process that goes on. What was fetched tomorrow is of unknown age; what was
    # old and is not by the new clock cannot be told from what is fresh.
    settled("clock jumps back a day", FILE, FILE)._replace(old=COPY, stale=COPY),
    unknown("clock jumps back a day, and 500", "failure")._replace(old=COPY, stale=COPY),
    settled("clock jumps forward a year", FILE, FILE),
    unknown("clock jumps forward a year, and 500", "failure")._replace(stale=COPY_AFTER_ALL),
]


# --- How a fault is made --------------------------------------------------------------------------


class Faulty:
    """A store in memory that applies `fault` before each call."""

    name = "a store that fails"

    def __init__(self, inline: bool = True) -> None:
        self.inner = MemoryStore()
        self.inline = inline
        self.fault: Callable[[str], None] = lambda call: None

    def __getattr__(self, name: str) -> Any:
        inside = getattr(self.inner, name)

        def call(*args: Any, **options: Any) -> Any:
            self.fault(name)
            return inside(*args, **options)

        call.__name__ = name
        return call

    def close(self) -> None:
        """Whatever else it cannot do."""
        self.inner.close()


class Scene(NamedTuple):
    """The world that a client is put into."""

    origin: str
    addresses: AddressPolicy = fault_servers.here()
    verify: ssl.SSLContext | bool = True
    seconds: float = 8.0
    """Long, except where a client is to wait in vain."""
    store: Callable[[Path], Any] = lambda folder: MemoryStore()
    strike: Callable[[Any, Clock], None] = lambda store, clock: None
    """What happens once the copy is there."""
    here: bool = False
    """The copy was fetched by this client, and not by another one that shares the store."""


Making = Callable[[ExitStack], Scene]
MAKING: dict[str, Making] = {}
# What a client waits in vain.
SHORT = 0.15


def served(
    behaviour: fault_servers.Behaviour = fault_servers.ok,
    tls: ssl.SSLContext | None = None,
    **options: Any,
) -> Making:
    """Return what makes a server on loopback."""
    reads = options.pop("reads", True)

    def make(stack: ExitStack) -> Scene:
        site = stack.enter_context(fault_servers.serve(behaviour, tls=tls, reads=reads))
        origin = options.pop("origin", None) or site.url
        return Scene(**{"origin": origin, **options})

    return make


def both(fault: str, **options: Any) -> None:
    """Add a fault of the store or the clock, with an origin that answers and one that does not."""
    MAKING[fault] = served(**options)
    MAKING[f"{fault}, and 500"] = served(STATUS_500, **options)


def _refused(stack: ExitStack) -> Scene:
    return Scene(stack.enter_context(fault_servers.closed_port()))


def _unnamed(stack: ExitStack) -> Scene:
    def resolve(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    return Scene("http://nowhere.example", AddressPolicy(resolve=resolve))


def _private(stack: ExitStack) -> Scene:
    site = stack.enter_context(fault_servers.serve(fault_servers.ok))
    leads = AddressPolicy(resolve=lambda host, port: [fault_servers.LOOPBACK])
    return Scene(site.named("inside.example"), leads)


def _secure(behaviour: fault_servers.Behaviour = fault_servers.ok, **options: Any) -> Making:
    def make(stack: ExitStack) -> Scene:
        plain = stack.enter_context(fault_servers.serve(behaviour, **options))
        return Scene(
            f"https://{fault_servers.LOOPBACK}:{plain.port}", verify=fault_servers.client_tls()
        )

    return make


def _lost(stack: ExitStack) -> Scene:
    nobody = stack.enter_context(fault_servers.closed_port())
    gone = fault_servers.says(
        fault_servers.message(b"", f"Location: {nobody}/robots.txt", status="301 Moved")
    )
    return Scene(stack.enter_context(fault_servers.serve(gone)).url)


def _resets_handshake(peer: fault_servers.Peer) -> None:
    peer.sock.recv(1)
    peer.reset()


def _goes(where: str) -> fault_servers.Behaviour:
    return fault_servers.says(fault_servers.message(b"", f"Location: {where}", status="302 Found"))


def _read_stat(line: str, *fields: str) -> fault_servers.Behaviour:
    return fault_servers.says(fault_servers.message(fault_servers.ROBOTS, *fields, status=line))


STATUS_500 = _read_stat("500 Internal Server Error")


def _down(store: Faulty, clock: Clock) -> None:
    def fail(call: str) -> None:
        raise StoreError("it is down")

    store.fault = fail


def _once(store: Faulty, clock: Clock) -> None:
    calls: list[str] = []

    def fail(call: str) -> None:
        calls.append(call)
        if len(calls) == 1:
            raise StoreError("it was down for a moment")

    store.fault = fail


def _slow(store: Faulty, clock: Clock) -> None:
    store.fault = lambda call: time.sleep(0.01)


def _full(store: Faulty, clock: Clock) -> None:
    def fail(call: str) -> None:
        if call not in ("get", "body", "entries", "fetch_records"):
            raise StoreError("the disk has no space")

    store.fault = fail


def _damage(table: str, column: str) -> Callable[[SQLiteStore, Clock], None]:
    def strike(store: SQLiteStore, clock: Clock) -> None:
        # One bit, at the end: in an entry it is a digit or a brace, in a body a letter.
        with closing(sqlite3.connect(store.path, isolation_level=None)) as db:
            for number, octets in db.execute(f"SELECT rowid, {column} FROM {table}").fetchall():
                harmed = octets[:-3] + bytes([octets[-3] ^ 1]) + octets[-2:]
                db.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (harmed, number))

    return strike


def _jump(seconds: int) -> Callable[[Any, Clock], None]:
    def strike(store: Any, clock: Clock) -> None:
        clock.now += seconds

    return strike


def _file(folder: Path) -> SQLiteStore:
    return SQLiteStore(folder / "robots.sqlite")


MAKING |= {
    "connection refused": _refused,
    "reset instead of an answer": served(fault_servers.resets_at_once),
    "reset within the head": served(fault_servers.resets_mid_headers),
    "reset within the body": served(fault_servers.resets_mid_body),
    "body shorter than its Content-Length": served(fault_servers.short),
    "chunked body without its end": served(fault_servers.chunk_cut),
    "certificate of an unknown authority": served(tls=fault_servers.server_tls()),
    "certificate of another name": served(
        tls=fault_servers.server_tls("other.example"), verify=fault_servers.client_tls()
    ),
    "plain HTTP where TLS is expected": _secure(reads=False),
    "reset within the TLS handshake": _secure(_resets_handshake, reads=False),
    "no answer": served(fault_servers.never_answers, seconds=SHORT),
    "no TLS handshake": lambda stack: _secure(fault_servers.never_answers, reads=False)(
        stack
    )._replace(seconds=SHORT),
    "head that drips": served(fault_servers.drips_headers, seconds=SHORT),
    "body that drips": served(fault_servers.drips_body, seconds=SHORT),
    "name without an address": _unnamed,
    "name of a private address": _private,
    "garbage instead of HTTP": served(fault_servers.garbage),
    "field of 10 MB": served(fault_servers.huge_header),
    "100,000 fields": served(fault_servers.many_headers),
    "head of more than 64 KiB": served(
        fault_servers.says(fault_servers.message(fault_servers.ROBOTS, *["X: " + "a" * 9000] * 8))
    ),
    "Content-Length with chunked": served(fault_servers.two_framings),
    "200 lines in the head": served(
        fault_servers.says(fault_servers.message(fault_servers.ROBOTS, *["X-Line: a"] * 200))
    ),
    "line of 60 KB in the head": served(
        fault_servers.says(fault_servers.message(fault_servers.ROBOTS, "X: " + "a" * 60_000))
    ),
    "204 with a body": served(_read_stat("204 No Content")),
    "octets after the answer": served(
        fault_servers.says(
            fault_servers.message() + fault_servers.message(b"User-agent: *\nDisallow: /\n")
        )
    ),
    "unknown Content-Encoding": served(fault_servers.unknown_coding),
    "broken gzip": served(fault_servers.broken_coding),
    "gzip without its end": served(fault_servers.cut_coding),
    "gzip of 4 GB of zeros": served(fault_servers.bombs),
    "100 redirects": served(fault_servers.redirects),
    "loop of redirects": served(_goes("/robots.txt")),
    "redirect to another scheme": served(_goes("mailto:webmaster@example.com")),
    "redirect without a Location": served(_read_stat("301 Moved Permanently")),
    "304 with another ETag, whatever is asked": served(
        fault_servers.says(b'HTTP/1.1 304 Not Modified\r\nETag: "another"\r\n\r\n')
    ),
    "300 with a Location": served(_read_stat("300 Multiple Choices", "Location: /r.txt")),
    "redirect to a private address": served(_goes("http://10.0.0.1/robots.txt")),
    "redirect to a server that is down": _lost,
    "500": served(STATUS_500),
    "503 with Retry-After: 600": served(_read_stat("503 Later", "Retry-After: 600")),
    "429": served(_read_stat("429 Too Many Requests")),
    "429 with Retry-After: 7200": served(_read_stat("429 Too Many", "Retry-After: 7200")),
    "206": served(_read_stat("206 Partial Content", "Content-Range: bytes 0-33/99")),
}
both("store down from the start", store=lambda folder: Faulty(), strike=_down)
both("store goes down later", store=lambda folder: Faulty(), strike=_down, here=True)
both("store fails once", store=lambda folder: Faulty(), strike=_once)
both("store is slow", store=lambda folder: Faulty(inline=False), strike=_slow)
both("store has no space", store=lambda folder: Faulty(), strike=_full)
both("entry in the store damaged", store=_file, strike=_damage("entries", "row"))
both("body in the store damaged", store=_file, strike=_damage("bodies", "octets"))
both("clock jumps back a day", strike=_jump(-DAY), here=True)
both("clock jumps forward a year", strike=_jump(YEAR), here=True)


# --- The clients ----------------------------------------------------------------------------------


class Line:
    """A transport that counts what goes over it; what is scripted does not."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.sent = 0
        self.scripted: Response | None = None

    def send(self, request: Request) -> Any:
        """Send a request, or give the scripted answer."""
        if self.scripted is not None:
            return self.scripted
        self.sent += 1
        return self.inner.send(request)

    def close(self) -> None:
        """Close the transport."""
        self.inner.close()


class AsyncLine(Line):
    """The same on an event loop."""

    async def send(self, request: Request) -> Response | Failure:
        """Send a request, or give the scripted answer."""
        found = super().send(request)
        return found if isinstance(found, Response) else await found


class CacheEngine:
    """One kind of client, in one world."""

    def __init__(self, kind: str, scene: Scene, folder: Path, stack: ExitStack) -> None:
        self.scene, self.folder, self.stack = scene, folder, stack
        inner: Any = TRANSPORTS[kind](AGENT, addresses=scene.addresses, verify=scene.verify)
        self.runner: asyncio.Runner | None = None
        self.line = Line(inner)
        if kind == "Client, httpx2":
            stack.callback(inner.close)
            return
        self.line = AsyncLine(inner)
        self.runner = runner = stack.enter_context(asyncio.Runner())
        stack.callback(lambda: runner.run(inner.aclose()))

    def client(self, store: Any, clock: Clock, profile: str) -> Any:
        """Open a client."""
        given: dict[str, Any] = {"store": store, "clock": clock, "profile": profile}
        given |= {"transport": self.line, "timeout": self.scene.seconds}
        runner = self.runner
        if runner is None:
            return self.stack.enter_context(Client(AGENT, **given))
        client = AsyncClient(AGENT, **given)
        self.stack.callback(lambda: runner.run(client.aclose()))
        return Driven(client, runner)

    def opened(self, name: str, profile: str = "default", copy_is_old: bool = False) -> Asked:
        """Open a store and a client on it, with a copy unless *name* is `cold`; then strike."""
        clock, scene = Clock(), self.scene
        folder = self.folder / name
        folder.mkdir()
        store = scene.store(folder)
        self.stack.callback(store.close)
        client = self.client(store, clock, profile)
        file = Response(200, {"ETag": '"of old"'}, COPY_TEXT)
        if name != "cold" and scene.here:
            self.line.scripted = file
            client.check(scene.origin)
            self.line.scripted = None
        elif name != "cold":
            server = Server()
            server.answers[f"{scene.origin}/robots.txt"] = file
            with Client(AGENT, store=store, clock=clock, transport=server) as other:
                other.check(scene.origin)
        if copy_is_old:
            clock.now += DAY + 1
        before = kept(store, scene.origin)
        scene.strike(store, clock)
        return Asked(client, clock, store, before, self.line, self.line.sent, scene.origin)


class Kept(NamedTuple):
    """What a store has of an origin."""

    entry: Entry | None
    fetch_records: list[FetchRecord]


def kept(store: Any, origin: str) -> Kept:
    """Look into a store, past what is wrong with it."""
    inner = getattr(store, "inner", store)
    return Kept(inner.get(origin, "ExampleBot"), list(inner.fetch_records(origin)))


class Asked(NamedTuple):
    """A client before its check, and the state before it."""

    client: Any
    clock: Clock
    store: Any
    before: Kept
    line: Line
    sent: int
    origin: str

    def cell(self) -> Cell:
        """Check, and return the answer."""
        verdict = self.client.check(f"{self.origin}/page")
        asked = self.line.sent > self.sent
        by = "nothing"
        if verdict.reason in (Reason.NO_MATCH, Reason.NO_GROUP):
            by = "file" if self.client.check(f"{self.origin}/copy") else "stale-copy"
        return Cell(verdict.allowed, verdict.reason, by, asked)


# --- The matrix -----------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def restless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that failed is used again at once, so that its recovery can be observed."""
    monkeypatch.setattr("robotrules.client.cache_engine.COOLDOWN", 0.0)


@pytest.mark.parametrize("kind", TRANSPORTS)
@pytest.mark.parametrize("row", MATRIX, ids=lambda row: row.fault)
def test_every_cell(row: Row, kind: str, tmp_path: Path) -> None:
    """Verdicts, the time of the next attempt, and the stored data match the table."""
    with ExitStack() as stack:
        engine = CacheEngine(kind, MAKING[row.fault](stack), tmp_path, stack)
        _check_fresh(row, engine.opened("fresh"))
        for name, cell, profile in (
            ("old", row.old, "default"),
            ("stale", row.stale, "stale"),
            ("renewed", row.renewed, "default"),
        ):
            asked = engine.opened(name, profile, copy_is_old=name != "renewed")
            if name == "renewed":
                asked.client.refresh(asked.origin)
            assert asked.cell() == cell, name
            _check_kept(row.stays if cell.asked else "unchanged", row, asked)
        cold = engine.opened("cold")
        assert cold.cell() == row.cold
        _check_kept(row.stays, row, cold)
        _check_again(row, cold)


def _check_fresh(row: Row, asked: Asked) -> None:
    assert asked.cell() == row.fresh
    _check_kept(row.stays if row.fresh.asked else "unchanged", row, asked)
    if row.fresh.asked:
        # What was lost is not waited for until its lifetime is over.
        assert asked.client.lookup(asked.origin).until == asked.clock.now + row.again


def _check_kept(stays: str, row: Row, asked: Asked) -> None:
    """See what is in the store afterwards."""
    before, now = asked.before, kept(asked.store, asked.origin)
    new = [
        fetch_record
        for fetch_record in now.fetch_records
        if fetch_record not in before.fetch_records
    ]
    good = before.entry.last_success if before.entry else None
    if stays in ("nothing", "unchanged"):
        # What this client would not do, or could not write down.
        assert now == before
    elif stays == "answer":
        # The answer is in force, and the copy is evidence of what was.
        assert len(new) == 1
        assert now.entry is not None
        assert now.entry.last_success == new[0]
        assert now.entry.last_failure is None
        assert now.entry.last_success.failure_reason is row.trouble
        digest = now.entry.last_success.digest
        assert digest is None or asked.store.body(digest) is not None
    else:
        # The copy remains unchanged, unless it is unreadable; the failure is stored with it.
        assert len(new) == 1
        assert now.entry is not None
        assert now.entry.last_failure == new[0]
        assert now.entry.last_failure.failure_reason is row.trouble
        assert (now.entry.failures, now.entry.failing_since) == (1, asked.clock.now)
        if good is not None and good.at > asked.clock.now:
            good = good._replace(at=asked.clock.now - DAY, until=asked.clock.now)  # of unknown age
        assert now.entry.last_success == (None if stays == "failure alone" else good)
    said = asked.client.store_error
    assert (row.says in said) if said else not row.says or stays == "unchanged"
    assert asked.client.lookup(asked.origin).store_error == said


def _check_again(row: Row, asked: Asked) -> None:
    client, clock, line, sent = asked.client, asked.clock, asked.line, asked.line.sent
    held = client.lookup(asked.origin)
    assert held.until == clock.now + row.again
    clock.now += row.again - 1
    assert client.check(f"{asked.origin}/page") == held.check(f"{asked.origin}/page", "ExampleBot")
    assert line.sent == sent
    clock.now += 2
    client.check(f"{asked.origin}/page")
    assert line.sent > sent
    if row.cold == NOBODY_KNOWS:
        # The second failure in a row: twice as long, unless the origin requests more.
        assert client.lookup(asked.origin).until == clock.now + max(120, row.again)


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("seconds", [-2 * DAY, 2 * DAY])
def test_the_clock_is_set_while_a_fetch_is_put(kind: str, seconds: int) -> None:
    """The file just fetched decides, even if the clock changes right after."""
    clock, server, store = Clock(), Server(), Faulty()
    server.answers["https://example.com/robots.txt"] = Response(200, {}, COPY_TEXT)

    def jump(call: str) -> None:
        if call == "put":
            clock.now += seconds

    store.fault = jump
    with opened(kind, server, clock, store=store) as client:
        held = client.lookup("https://example.com")
        assert held.check("https://example.com/copy", "ExampleBot").reason is Reason.DISALLOW_RULE
        assert held.check("https://example.com/page", "ExampleBot").reason is Reason.NO_MATCH
        client.check("https://example.com/page")
        assert len(server.asked) == 2


# --- The page -------------------------------------------------------------------------------------

OPENING = """# When something goes wrong

<!-- made by tests/client/test_faults.py: python -m tests.client.test_faults -->

The verdict on an ordinary URL when its origin, the network, the store or the clock fails. A test
fills each cell against a server with that fault, for `Client` over httpx2 and for `AsyncClient`
over httpx2 and aiohttp. None of these faults raises an exception. The access profile is `default`,
except in one column.

- **Nothing known**: the first check of a URL of this origin.
- **Fresh copy**: fetched before, and its lifetime has not passed.
- **Fresh copy, refreshed**: the same after `client.refresh(url)`.
- **Old copy**: its lifetime has passed, so the origin is fetched first. By RFC 9309 §2.3.1.4 a file
  that cannot be reached means complete disallow; the copy is used by profile `stale` (AMB-58).
- **Retry**: seconds after the first failure until the next request. They double after each further
  failure, up to an hour (back-off); after a response, its lifetime.
- **Stored**: what the store has afterwards. Every fetch is also kept as evidence, unless the cell
  says that the store is unchanged.

A verdict is followed by its reason. The rules of the copy decide where a cell says so. The origin
is fetched, unless a cell says that it is not.

"""
HEADS = (
    *("Fault", "Failure reason", "Nothing known", "Fresh copy", "Fresh copy, refreshed"),
    *("Old copy", "Old copy, profile `stale`", "Retry", "Stored"),
)
CLOSING = """
## HTTP

The same rules apply with every HTTP library (RFC 9112 §2 to §7):

- The head of a response has at most 65,536 bytes, in any number of lines of any length. More is
  `protocol`.
- A response with both Content-Length and Transfer-Encoding, with more than one of either, with a
  Content-Length that is not a number, or with a Transfer-Encoding other than `chunked` is
  `protocol`, whatever its status. RFC 9112 §6.3 calls it a sign of response splitting.
- So is a head with a line that is not a field, with a space before a colon, or with NUL, a form
  feed, a vertical tab or a lone carriage return in it; and a version other than HTTP/1.0 and 1.1.
- A 204 or 304 ends with its head. Bytes that follow it are not read, whatever its Content-Length
  says.
- Bytes that follow a response are dropped, and the connection is closed. They are never taken for
  the response to the next request.
- A request is made once. It is repeated only where a connection that was kept from an earlier
  request turns out to be closed, and no part of a response has come.

## The store

Without its store a client still follows RFC 9309, from memory and the network. It logs one warning
to the logger `robotrules` and sets `client.store_error` and `OriginState.store_error` until the
store works again. After a failure a circuit breaker skips the store for five seconds, so that a
crawl does not wait for it at every origin; a store that cannot be written is still read. While the
store is unavailable, processes do not share fetches: each fetches an origin itself.

Damaged data counts as missing and is replaced by the next fetch. Opening a file that is not a
robotrules store, or a damaged one, is an error.

## The clock

The age of an entry from the future is unknown, so its origin is fetched. A copy that was stale
before the clock was set back looks fresh, which cannot be detected: it may be used for as long as
the clock was set back. Timeouts use the monotonic clock.
"""


def page() -> str:
    """Return the page: the matrix for people."""
    lines = [" | ".join(("", *HEADS, "")).strip(), "|---" * len(HEADS) + "|"]
    for row in MATRIX:
        trouble = f"`{row.trouble}`" if row.trouble else ""
        cells = (row.cold, row.fresh, row.renewed, row.old, row.stale)
        words = (row.fault, trouble, *map(str, cells), f"{row.again:,}", STAYS[row.stays])
        lines.append(" | ".join(("", *words, "")).strip())
    return OPENING + "\n".join(lines) + "\n" + CLOSING


def test_the_page_is_the_matrix() -> None:
    """The documentation page lists every fault that the test covers."""
    assert [row.fault for row in MATRIX] == [*dict.fromkeys(row.fault for row in MATRIX)]
    assert {row.fault for row in MATRIX} == MAKING.keys()
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.client.test_faults"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
