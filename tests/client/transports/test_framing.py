"""
Framing: where a response ends, and one rule for all transports about heads that are faulty.

`RESPONSES` is the table: octets that a server sends, and what every transport makes of them. What
follows a response is never taken for the next one (RFC 9112 §6.3), whenever it comes.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import suppress

import h11
import pytest

from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.client.transports.exchange import ResponseWatch
from robotrules.client.transports.framing import (
    MAX_CHUNK_LINE,
    MAX_HEAD,
    MAX_TRAILERS,
    Framing,
    FramingError,
)
from robotrules.http.fields import read_fields
from tests.client import fault_servers
from tests.client.transports.conftest import Carrier

Make = Callable[..., Carrier]
BODY = b"12345"


def head(*lines: bytes, first: bytes = b"HTTP/1.1 200 OK") -> bytes:
    """Return a head with these lines."""
    return b"\r\n".join([first, *lines, b"", b""])


def sized(*lines: bytes, first: bytes = b"HTTP/1.1 200 OK") -> bytes:
    """Return a response with these lines and a Content-Length."""
    return head(*lines, b"Content-Length: 5", first=first) + BODY


CHUNKED = b"Transfer-Encoding: chunked"


def chunks(*parts: bytes) -> bytes:
    """Return a response with these octets as its body, declared as chunked."""
    return head(CHUNKED) + b"".join(parts)


def padded(octets: int) -> bytes:
    """Return a response whose head has the given number of octets in all."""
    bare = len(sized(b"X-Big: ")) - len(BODY)
    return sized(b"X-Big: " + b"a" * (octets - bare))


# What is sent → status and body; None: a failure, `protocol`.
RESPONSES: dict[str, tuple[bytes, tuple[int, bytes] | None]] = {
    # Bounds.
    "200 lines": (sized(*[b"X-Line: %d" % n for n in range(200)]), (200, BODY)),
    "2000 lines": (sized(*[b"X: %d" % n for n in range(2000)]), (200, BODY)),
    "line of 60 KB": (sized(b"X-Big: " + b"a" * 60_000), (200, BODY)),
    "reason of 40 KB": (sized(first=b"HTTP/1.1 200 " + b"a" * 40_000), (200, BODY)),
    "longest head": (padded(MAX_HEAD), (200, BODY)),
    "longer head": (padded(MAX_HEAD + 1), None),
    "line of 110 KB": (sized(b"X-Big: " + b"a" * 110_000), None),
    # Which length counts.
    "Content-Length with chunked": (
        head(b"Content-Length: 5", CHUNKED) + fault_servers.chunked(BODY),
        None,
    ),
    "both, and no body wanted": (
        head(b"Content-Length: 5", CHUNKED, first=b"HTTP/1.1 404 No") + fault_servers.chunked(BODY),
        None,
    ),
    "Content-Length twice": (sized(b"Content-Length: 5"), None),
    "Content-Length list": (head(b"Content-Length: 5, 5") + BODY, None),
    "Content-Length empty": (head(b"Content-Length:") + BODY, None),
    "Content-Length signed": (head(b"Content-Length: +5") + BODY, None),
    "Content-Length negative": (head(b"Content-Length: -5") + BODY, None),
    "Content-Length of 19 digits": (head(b"Content-Length: 0000000000000000005") + BODY, None),
    "Content-Length folded": (head(b"Content-Length:", b" 5") + BODY, None),
    "other coding": (head(b"Transfer-Encoding: gzip, chunked") + fault_servers.chunked(BODY), None),
    "other coding, no body wanted": (
        head(b"Transfer-Encoding: gzip, chunked", first=b"HTTP/1.1 404 No")
        + fault_servers.chunked(),
        None,
    ),
    "identity": (head(b"Transfer-Encoding: identity") + BODY, None),
    "chunked twice": (head(CHUNKED, CHUNKED) + fault_servers.chunked(BODY), None),
    "no coding": (sized(b"Transfer-Encoding:"), None),
    "chunked in capitals": (
        head(b"TRANSFER-ENCODING: CHUNKED") + fault_servers.chunked(BODY),
        (200, BODY),
    ),
    "chunked in HTTP/1.0": (
        head(CHUNKED, first=b"HTTP/1.0 200 OK") + fault_servers.chunked(BODY),
        (200, BODY),
    ),
    # Responses without content, whatever they send.
    "204 with a body": (sized(first=b"HTTP/1.1 204 No Content"), (204, b"")),
    "304 with a body": (sized(first=b"HTTP/1.1 304 Not Modified"), (304, b"")),
    "304 in chunks": (
        head(CHUNKED, first=b"HTTP/1.1 304 Not Modified") + fault_servers.chunked(BODY),
        (304, b""),
    ),
    "204 and a response": (
        head(first=b"HTTP/1.1 204 No Content") + sized(),
        (204, b""),
    ),
    # What follows.
    "octets after it": (sized() + b"garbage", (200, BODY)),
    "a response after it": (sized() + sized(), (200, BODY)),
    "half a response after it": (sized() + b"HTTP/1.1 200 OK\r\nX-", (200, BODY)),
    "octets after chunks": (chunks(fault_servers.chunked(BODY), b"garbage"), (200, BODY)),
    # Lines.
    "lone line feeds": (sized().replace(b"\r\n", b"\n"), (200, BODY)),
    "folded": (sized(b"X-A: a", b" b"), (200, BODY)),
    "folded first": (sized(b" X-A: a"), None),
    "space before the colon": (sized(b"X-A : a"), None),
    "no colon": (sized(b"X-A"), None),
    "no name": (sized(b": a"), None),
    "name of other letters": (sized(b"X-\xe9: a"), None),
    "name with a bracket": (sized(b"X(A: a"), None),
    "control character": (sized(b"X-A: a\x01b"), (200, BODY)),
    "NUL": (sized(b"X-A: a\x00b"), None),
    "form feed": (sized(b"X-A: a\x0cb"), None),
    "lone carriage return": (sized(b"X-A: a\rb"), None),
    "lone carriage return for an empty line": (
        head(b"X-A:", b"", first=b"HTTP/1.1 200 OK").replace(b"\r\n\r\n", b"\r\r\n") + BODY,
        None,
    ),
    "blank for an empty line": (b"HTTP/1.1 200 OK\r\nX-A: b\r\n \r\n12345\r\n\r\n", None),
    # Status lines.
    "empty line first": (b"\r\n" + sized(), None),
    "no reason": (sized(first=b"HTTP/1.1 200"), (200, BODY)),
    "HTTP/1.2": (sized(first=b"HTTP/1.2 200 OK"), None),
    "HTTP/2.0": (sized(first=b"HTTP/2.0 200 OK"), None),
    "small letters": (sized(first=b"http/1.1 200 OK"), None),
    "two spaces": (sized(first=b"HTTP/1.1  200 OK"), None),
    "interim with a length": (
        head(b"Content-Length: 3", first=b"HTTP/1.1 100 Go on") + sized(),
        (200, BODY),
    ),
    # Chunks.
    "extension": (chunks(b"5;a=b\r\n12345\r\n0\r\n\r\n"), (200, BODY)),
    "blanks after the size": (chunks(b"5  \r\n12345\r\n0\r\n\r\n"), (200, BODY)),
    "trailers": (chunks(b"5\r\n12345\r\n0\r\nX-T: a\r\n\r\n"), (200, BODY)),
    "lone line feed after the size": (chunks(b"5\n12345\r\n0\r\n\r\n"), None),
    "longer than its size": (chunks(b"5\r\n123456\r\n0\r\n\r\n"), None),
    "0x": (chunks(b"0x5\r\n12345\r\n0\r\n\r\n"), None),
    "size of 16 digits": (chunks(b"0000000000000005\r\n12345\r\n0\r\n\r\n"), None),
    "no size": (chunks(b"\r\n12345\r\n0\r\n\r\n"), None),
    "extension without a name": (chunks(b"5;\r\n12345\r\n0\r\n\r\n"), None),
    "extension with an odd value": (chunks(b"5;a=:b\r\n12345\r\n0\r\n\r\n"), None),
    "extension in quotes": (chunks(b'5;a="b c"\r\n12345\r\n0;d\r\n\r\n'), (200, BODY)),
    "length in the trailers": (chunks(b"0\r\nContent-Length: 5\r\n\r\n"), None),
    "coding in the trailers": (chunks(b"0\r\nTransfer-Encoding: x\r\n\r\n"), None),
    "tab after the coding": (head(CHUNKED + b"\t") + fault_servers.chunked(BODY), None),
    "trailer without a colon": (chunks(b"5\r\n12345\r\n0\r\nX-T\r\n\r\n"), None),
}


@pytest.mark.parametrize("case", RESPONSES)
def test_all_transports_have_one_rule(carrier: Make, case: str) -> None:
    data, expected = RESPONSES[case]
    with fault_servers.serve(fault_servers.says(data)) as site:
        answer = carrier().send(Request(site.url, timeout=3.0))
        assert site.connections == 1
    if expected is None:
        assert isinstance(answer, Failure), answer
        assert answer.reason is FailureReason.PROTOCOL, answer
        assert answer.detail.startswith("127.0.0.1:"), answer
    else:
        assert isinstance(answer, Response), answer
        assert (answer.status, answer.body) == expected


def test_a_folded_value_is_one_line(carrier: Make) -> None:
    """RFC 9112 §5.2: a user agent replaces the fold by blanks."""
    with fault_servers.serve(fault_servers.says(sized(b"X-A: a", b"\t b"))) as site:
        answer = carrier().send(site.url)
        assert isinstance(answer, Response)
        assert read_fields(answer.headers).get("x-a")[0].split() == [b"a", b"b"]


# --- What follows a response ----------------------------------------------------------------------

EVIL = head(b"Content-Length: 4") + b"EVIL"


def _at_once(peer: fault_servers.Peer, data: bytes) -> None:
    peer.send(data + EVIL)


def _in_two_pieces(peer: fault_servers.Peer, data: bytes) -> None:
    """Two records, if it is TLS, which may come in one segment."""
    peer.send(data)
    peer.send(EVIL)


def _background(peer: fault_servers.Peer, data: bytes) -> None:
    peer.send(data)
    peer.pause(0.05)
    peer.send(EVIL)


def _half(peer: fault_servers.Peer, data: bytes) -> None:
    peer.send(data + EVIL[:20])
    peer.pause(0.05)
    peer.send(EVIL[20:])


@pytest.mark.parametrize("how", [_at_once, _in_two_pieces, _background, _half])
@pytest.mark.parametrize("first", ["200", "204", "304", "chunked"])
@pytest.mark.parametrize("secure", [False, True], ids=["http", "https"])
def test_what_follows_a_response_is_not_the_next_one(
    carrier: Make, how: Callable[[fault_servers.Peer, bytes], None], first: str, secure: bool
) -> None:
    responses = {
        "200": sized(),
        "204": head(first=b"HTTP/1.1 204 No Content"),
        "304": head(b"Content-Length: 4", first=b"HTTP/1.1 304 Not Modified"),
        "chunked": head(CHUNKED) + fault_servers.chunked(BODY),
    }

    def behaviour(peer: fault_servers.Peer) -> None:
        if b"GET /second" in peer.head:
            peer.send(fault_servers.message(b"good"))
            return
        how(peer, responses[first])
        with suppress(OSError):
            peer.site.heads.append(peer.sock.recv(65536))

    with fault_servers.serve(behaviour, tls=fault_servers.server_tls() if secure else None) as site:
        one = carrier()
        answer = one.send(f"{site.url}/first")
        assert isinstance(answer, Response), answer
        if how in (_background, _half):
            time.sleep(0.15)
        else:
            time.sleep(0.02)
        answer = one.send(f"{site.url}/second")
        assert isinstance(answer, Response), answer
        assert answer.body == b"good"
        assert site.connections == 2


@pytest.mark.parametrize("carrier", ["httpx2-async", "aiohttp"], indirect=True)
@pytest.mark.parametrize("secure", [False, True], ids=["http", "https"])
def test_what_an_event_loop_has_not_seen_yet(carrier: Make, secure: bool) -> None:
    """Octets wait at the socket while the loop is busy, and the next request goes out first."""

    def behaviour(peer: fault_servers.Peer) -> None:
        if b"GET /second" in peer.head:
            peer.send(fault_servers.message(b"good"))
            return
        _background(peer, sized())
        with suppress(OSError):
            peer.sock.recv(65536)

    one = carrier()
    answers: list[object] = []

    async def both(url: str) -> None:
        answers.append(await one.transport.send(Request(f"{url}/first")))
        time.sleep(0.2)
        answers.append(await one.transport.send(Request(f"{url}/second")))

    with fault_servers.serve(behaviour, tls=fault_servers.server_tls() if secure else None) as site:
        assert one.runner is not None
        one.runner.run(both(site.url))
        assert [getattr(answer, "body", answer) for answer in answers] == [BODY, b"good"]


def test_a_connection_that_had_no_more_is_kept(carrier: Make) -> None:
    """The rule costs no connection where a server keeps to it."""
    answers = {"/a": sized(), "/b": head(CHUNKED) + fault_servers.chunked(BODY)}
    with fault_servers.farm(lambda host, path: answers[path]) as site:
        one = carrier()
        for path in [*answers, *answers]:
            assert isinstance(one.send(site.named("one.example") + path), Response)
        assert site.connections == 1


@pytest.mark.parametrize("fault", ["resets_at_once", "closes_at_once"])
def test_a_server_that_resets_gets_one_request(carrier: Make, fault: str) -> None:
    with fault_servers.serve(getattr(fault_servers, fault)) as site:
        answer = carrier().send(site.url)
        assert isinstance(answer, Failure)
        assert answer.reason is FailureReason.CUT
        assert site.connections == 1


def test_a_server_that_speaks_first(carrier: Make) -> None:
    """An answer that came before the request is read as one, or refused; it is never kept."""

    def early(peer: fault_servers.Peer) -> None:
        peer.send(sized() + EVIL)
        peer.pause(0.3)

    with fault_servers.serve(early, reads=False) as site:
        one = carrier()
        for _ in range(2):
            answer = one.send(Request(site.url, timeout=3.0))
            assert isinstance(answer, Failure) or answer.body == BODY
        assert site.connections == 2


# --- The framing itself ---------------------------------------------------------------------------


def fed(data: bytes, size: int, *, connect: bool = False) -> tuple[int, bool] | str:
    """Return how many octets are the response's and whether it is done; or the fault."""
    framing, used = Framing(connect=connect), 0
    try:
        for start in range(0, len(data), size):
            used += framing.feed(data[start : start + size])
    except FramingError as error:
        return str(error)
    return used, framing.done


SHORT = {name: data for name, (data, _) in RESPONSES.items() if len(data) < 300}


@pytest.mark.parametrize("case", SHORT)
def test_pieces_make_no_difference(case: str) -> None:
    data = SHORT[case]
    whole = fed(data, len(data))
    for size in (1, 2, 3, 7, 20):
        found = fed(data, size)
        # What a fault quotes is as much of it as came.
        assert type(found) is type(whole), size
        if not isinstance(whole, str):
            assert found == whole, size


def test_where_a_response_ends() -> None:
    for data in (
        sized(),
        chunks(fault_servers.chunked(b"a", b"bc")),
        chunks(b"5;a=b\r\n12345\r\n0\r\nX: 1\r\nY: 2\r\n\r\n"),
        chunks(b"0\r\n\n"),
        head(first=b"HTTP/1.1 204 No"),
        head(b"Content-Length: 0"),
        head(first=b"HTTP/1.1 103 Hints") + head(first=b"HTTP/1.1 103 Hints") + sized(),
        head(b"Upgrade: x", first=b"HTTP/1.1 101 Switching"),
    ):
        assert fed(data + b"more", 1) == (len(data), True)
        assert fed(data + b"more", 10_000) == (len(data), True)
        assert fed(data[:-1], 10_000) == (len(data) - 1, False)


def test_a_response_without_a_length_ends_with_its_connection() -> None:
    data = head() + b"as much as comes"
    assert fed(data, 5) == (len(data), False)


def test_the_answer_to_connect_has_no_content() -> None:
    """RFC 9110 §9.3.6: what follows is the tunnel's; a refusal has content."""
    fields = (b"Content-Length: 5",)
    assert fed(head(*fields), 100, connect=True) == (len(head(*fields)), True)
    refusal = head(*fields, first=b"HTTP/1.1 403 No") + BODY
    assert fed(refusal, 100, connect=True) == (len(refusal), True)


@pytest.mark.parametrize(
    ("endless", "bound"),
    [
        (b"HTTP/1.1 200 " + b"a" * 200_000, MAX_HEAD),
        (b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 20_000, MAX_HEAD),
        (chunks(b"5;" + b"a" * 200_000), MAX_CHUNK_LINE),
        (chunks(b"0\r\nX: " + b"a" * 200_000), MAX_TRAILERS),
        (chunks(b"0\r\n" + b"X: a\r\n" * 30_000), MAX_TRAILERS),
    ],
)
@pytest.mark.parametrize("size", [7, 65_536])
def test_what_has_no_end_is_refused(endless: bytes, bound: int, size: int) -> None:
    framing, taken = Framing(), 0

    def feed_all() -> None:
        nonlocal taken
        for start in range(0, len(endless), size):
            framing.feed(endless[start : start + size])
            taken += size

    with pytest.raises(FramingError, match="more than"):
        feed_all()
    assert taken <= bound + 2 * size + 100


@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
def test_many_heads_in_one_piece_cost_what_each_costs(end: bytes) -> None:
    """Interim responses without end: ten times as many take about ten times as long."""

    def cost(count: int) -> float:
        data = (b"HTTP/1.1 103 Hints\nX: a\n\n" * count).replace(b"\n", end)
        begun = time.process_time()
        for _ in range(10_000 // count):
            assert Framing().feed(data) == len(data)
        return time.process_time() - begun

    cost(1000)
    assert min(cost(10_000) for _ in range(3)) < 4 * min(cost(1000) for _ in range(3)) + 0.01


def test_a_watch_hands_on_a_head_once_it_is_complete() -> None:
    """A library may see the end of a head where there is none."""
    watch = ResponseWatch()
    watch.sent()
    hints, whole = head(first=b"HTTP/1.1 103 Hints"), sized(b"X-A: b")
    data = hints + whole
    passed = [watch.received(data[at : at + 1]) for at in range(len(data))]
    assert [piece for piece in passed if piece] == [hints, whole[:-5], b"1", b"2", b"3", b"4", b"5"]
    assert not watch.waits
    watch.sent()
    assert watch.received(data[:-40]) == hints
    assert watch.waits
    watch.sent()
    assert watch.received(whole) == whole


def test_a_watch_hands_on_responses_and_nothing_else() -> None:
    watch = ResponseWatch()
    assert watch.received(b"unasked") == b""
    assert watch.spoiled
    watch = ResponseWatch()
    for _ in range(2):
        watch.sent()
        assert watch.received(sized()) == sized()
        assert not watch.spoiled
    assert watch.received(b"x") == b""
    assert watch.spoiled
    watch = ResponseWatch()
    watch.sent()
    with pytest.raises(FramingError):
        watch.received(b"SSH-2.0")
    assert watch.spoiled
    watch = ResponseWatch()
    watch.sent()
    watch.received(head(CHUNKED, first=b"HTTP/1.0 200 OK") + fault_servers.chunked(BODY))
    assert watch.spoiled


# --- Whatever comes -------------------------------------------------------------------------------

ODD = [
    *(b"\r\n", b"\n", b"\r", b"\x00", b" ", b"\t", b":", b";", b"0", b"5", b"a", b"\xff", b'"'),
    *(b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"HTTP/1.1 200 OK\r\n"),
]


def mutated(chance: random.Random) -> bytes:
    """Return a response of the table with some octets put in, lost or doubled."""
    data = bytearray(chance.choice(list(SHORT.values())))
    for _ in range(chance.randint(1, 3)):
        at, other = chance.randrange(len(data) + 1), chance.randrange(len(data) + 1)
        width = chance.randint(0, 8)
        part = chance.choice([*ODD, bytes(data[other : other + 30]), chance.randbytes(2), b""])
        data[at : at + (0 if part else width)] = part
        data = data or bytearray(b"H")
    return bytes(data)


def through_h11(data: bytes, ends: bool) -> str:
    """Return what h11 makes of a response: `answer`, `fault`, or that it wants `more`."""
    client = h11.Connection(h11.CLIENT)
    client.send(h11.Request(method="GET", target="/", headers=[("Host", "a")]))
    client.send(h11.EndOfMessage())
    try:
        client.receive_data(data)
        while True:
            event = client.next_event()
            if event is h11.NEED_DATA and ends:
                client.receive_data(b"")
                ends = False
            elif event is h11.NEED_DATA:
                return "more"
            elif isinstance(event, h11.EndOfMessage) or event is h11.PAUSED:
                return "answer"
    except h11.RemoteProtocolError:
        return "fault"


def test_any_input_ends_where_a_library_agrees() -> None:
    """Where a response is done, a library that has these octets waits for no others."""
    chance = random.Random(9112)
    done = 0
    for _ in range(3000):
        data = mutated(chance)
        found = fed(data, len(data))
        again = fed(data, chance.randint(1, 9))
        assert isinstance(found, str) is isinstance(again, str), data
        if isinstance(found, str):
            continue
        assert found == again, data
        used, is_done = found
        assert fed(data[:used] + b"more", 10_000) == (
            (used, True) if is_done else fed(data + b"more", 10_000)
        )
        if is_done:
            done += 1
            assert through_h11(data[:used], ends=False) != "more", data
    assert done > 100
