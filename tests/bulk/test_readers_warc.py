"""Reading WARC files: captures, other records, and every kind of damage."""

from __future__ import annotations

import gzip
import io
import random
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from robotrules.access import ACCESS_PROFILES, AccessResult, AccessState, FailureReason
from robotrules.bulk.readers.warc import MAX_BODY, WarcArchive, read_warc
from robotrules.bulk.robots_table import SCHEMA
from robotrules.cache import FetchRecord, body_digest, make_fetch_record
from robotrules.client.warc.writer import Writer
from robotrules.http.fields import read_fields
from tests.bulk.warc_samples import FILE, FORMS, frame, http, member, record

Form = Callable[[bytes], bytes]
DEFAULT_ACCESS = ACCESS_PROFILES["default"]


def read(octets: bytes, **options: Any) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """Return the rows of an archive, and place and reason of its rejects."""
    rows, rejects = [], []
    for batch, bad in read_warc(io.BytesIO(octets), name="a.warc", **options):
        assert batch.schema == SCHEMA
        batch.validate(full=True)
        rows += batch.to_pylist()
        assert {one.source for one in bad} <= {"a.warc"}
        rejects += [(one.place, one.reason) for one in bad]
    return rows, rejects


def hosts(rows: list[dict[str, Any]]) -> list[int]:
    """Return the numbers of the hosts of rows."""
    return [
        int(row["origin"].removeprefix("https://host").removesuffix(".example")) for row in rows
    ]


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> Form:
    """Return a way to compress a record."""
    return FORMS[request.param]


# --- Captures -------------------------------------------------------------------------------------


def test_captures(form: Form) -> None:
    """A capture is a row in the normal form."""
    octets = form(record(1)) + form(record(2, http(b"no", "404 Not Found")))
    rows, rejects = read(octets)
    assert rejects == []
    assert [row["status"] for row in rows] == [200, 404]
    assert rows[0] | {"fetched_at": None} == {
        "origin": "https://host1.example",
        "url": "https://host1.example/robots.txt",
        "status": 200,
        "body": FILE,
        "fetched_at": None,
        "location": None,
        "complete": True,
        "source": "a.warc",
    }
    assert rows[0]["fetched_at"].isoformat() == "2024-05-01T12:00:00+00:00"


def test_many_captures_come_in_batches(form: Form) -> None:
    """No row is lost between batches, whatever their size."""
    octets = b"".join(form(record(number)) for number in range(25))
    for batch_rows in (1, 7, 25, 26):
        rows, rejects = read(octets, batch_rows=batch_rows)
        assert hosts(rows) == list(range(25))
        assert rejects == []


def test_other_records_are_counted(form: Form) -> None:
    """Records that are not captures are skipped and counted by type."""
    octets = form(record(0, b"software: x\r\n", kind="warcinfo"))
    octets += form(record(1, kind="request")) + form(record(2)) + form(record(3, kind="metadata"))
    octets += form(record(4, url="https://host4.example/page"))
    octets += form(record(5, url="https://host5.example/a/robots.txt"))
    octets += form(record(6, url="https://host6.example/robots.txt?x"))
    skipped: Counter[str] = Counter()
    rows, rejects = read(octets, skipped=skipped)
    assert hosts(rows) == [2]
    assert rejects == []
    assert skipped == {"warcinfo": 1, "request": 1, "metadata": 1, "response": 3}


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("https://www.host1.example/robots.txt", "https://www.host1.example/robots.txt"),
        ("/r.txt#part", "https://host1.example/r.txt"),
        ("//other.example/robots.txt", "https://other.example/robots.txt"),
        ("", None),
        ("http://[bad/", None),
    ],
)
def test_redirects(location: str, target: str | None) -> None:
    """The target of a redirect is absolute."""
    rows, _ = read(record(1, http(b"", "301 Moved", f"LOCATION: {location}\r\n")))
    assert (rows[0]["status"], rows[0]["location"]) == (301, target)
    rows, _ = read(record(1, http(b"", "200 OK", f"Location: {location}\r\n")))
    assert rows[0]["location"] is None


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        (
            "Transfer-Encoding: chunked",
            b"5\r\nUser-\r\n16\r\nagent: *\nDisallow: /x\n\r\n0\r\n\r\n",
        ),
        ("transfer-encoding: chunked", FILE),  # already joined
        ("Content-Encoding: gzip", gzip.compress(FILE)),
        ("content-encoding: GZIP", gzip.compress(FILE[:5]) + gzip.compress(FILE[5:])),
        ("Content-Encoding: gzip", FILE),  # already decoded
        ("Content-Encoding: deflate", zlib.compress(FILE)),
        ("Content-Encoding: zstd", frame(FILE)),
        ("X-Crawler-Content-Encoding: gzip", FILE),
        ("Content-Length: 27", FILE),
    ],
)
def test_codings(fields: str, body: bytes) -> None:
    """Transfer and content codings are removed, if the body still has them."""
    rows, rejects = read(record(1, http(body, fields=f"{fields}\r\n")) + record(2))
    assert rejects == []
    assert [(row["body"], row["complete"]) for row in rows] == [(FILE, True)] * 2


def test_damaged_codings() -> None:
    """A coding that cannot be removed is a reject; the records after it are read."""
    bad = http(b"\0\1\2\3", fields="Content-Encoding: br\r\n")
    unknown = http(b"\0\1\2\3", fields="Content-Encoding: rot13\r\n")
    rows, rejects = read(record(1, bad) + record(2, unknown) + record(3))
    assert hosts(rows) == [3]
    assert [reason for _, reason in rejects] == [
        "content coding 'br' is damaged",
        "content coding 'rot13' cannot be decoded",
    ]


def test_decompression_bombs_are_bounded() -> None:
    """A body that inflates to a gigabyte is cut at the limit."""
    bomb = gzip.compress(b"#" * 200_000_000, 1)
    rows, _ = read(record(1, http(bomb, fields="Content-Encoding: gzip\r\n")), max_body=4_000_000)
    assert (len(rows[0]["body"]), rows[0]["complete"]) == (4_000_000, False)


def test_long_and_truncated_bodies(form: Form) -> None:
    """A body that was cut, in the archive, by the server or here, is not complete."""
    octets = form(record(1, http(b"#" * (MAX_BODY + 1)))) + form(record(2, http(b"#" * MAX_BODY)))
    octets += form(record(3, fields="WARC-Truncated: length\r\n"))
    octets += form(record(4, http(FILE, fields="Content-Length: 28\r\n")))
    octets += form(record(5, http(FILE, fields="Content-Length: 26\r\n")))
    octets += form(record(6, http(b"#" * 3_000_000)))
    rows, rejects = read(octets)
    assert [(row["complete"], len(row["body"])) for row in rows] == [
        *((False, MAX_BODY), (True, MAX_BODY), (False, 27), (False, 27), (True, 27)),
        (False, MAX_BODY),
    ]
    assert rejects == []


def test_a_body_that_was_not_stored_is_a_reject() -> None:
    """An evidence archive may lack the file: it must not become an empty one, which allows all."""
    octets = record(1, http(b""), fields="WARC-Truncated: unspecified\r\n")
    octets += record(2, http(b"", "404 Not Found"), fields="WARC-Truncated: unspecified\r\n")
    rows, rejects = read(octets)
    assert [row["status"] for row in rows] == [404]
    assert rejects == [("offset 0", "the body was not stored")]


def test_line_ends_without_cr() -> None:
    """A head with bare LF ends at its blank line, not at one in a body with CRLF."""
    body = b"User-agent: *\r\n\r\nDisallow: /x\r\n"
    rows, rejects = read(record(1, b"HTTP/1.1 200 OK\nServer: x\n\n" + body) + record(2))
    assert (rows[0]["body"], rejects) == (body, [])


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("2024-05-01T12:00:00.123456789Z", "2024-05-01T12:00:00.123456+00:00"),
        ("2024-05-01T12:00Z", "2024-05-01T12:00:00+00:00"),
        ("2024-05-01T14:00:00+02:00", "2024-05-01T12:00:00+00:00"),
    ],
)
def test_dates(date: str, expected: str) -> None:
    """Dates of WARC 1.0 and 1.1 in all precisions."""
    rows, rejects = read(record(1, date=date) + record(2))
    assert rejects == []
    assert rows[0]["fetched_at"].isoformat() == expected
    assert rows[1]["fetched_at"].isoformat() == "2024-05-01T12:00:00+00:00"


def test_values_that_cannot_be_used() -> None:
    """A bad date, host, status or message is a reject with the place, and the rest is read."""
    octets = record(1, date="yesterday") + record(2) + record(3, url="https://.bad./robots.txt")
    octets += record(4, b"garbage") + record(5, http(FILE, "100 Continue"))
    octets += record(6, b"HTTP/1.1 200 OK\r\nServer: x") + record(7)
    rows, rejects = read(octets)
    assert hosts(rows) == [2, 7]
    assert sorted(reason for _, reason in rejects) == [
        "HTTP status 100 is not a final response",
        "invalid WARC-Date 'yesterday'",
        "no HTTP response",
        "no origin: 'https://.bad./robots.txt'",
        "the head of the HTTP response does not end",
    ]


# --- Revisits and evidence ------------------------------------------------------------------------


def test_revisits(form: Form) -> None:
    """A revisit has the content of the record that it refers to, at its own time."""
    again = record(
        1,
        b"HTTP/1.1 304 Not Modified\r\n\r\n",
        kind="revisit",
        fields="WARC-Refers-To: <urn:uuid:response-1>\r\n",
        date="2025-01-01T00:00:00Z",
    )
    same = record(
        2,
        b"HTTP/1.1 200 OK\r\nContent-Length: 27\r\n\r\n",
        kind="revisit",
        fields="WARC-Refers-To: <urn:uuid:response-1>\r\n",
    )
    lost = record(3, b"", kind="revisit", fields="WARC-Refers-To: <urn:uuid:x>\r\n")
    rows, rejects = read(form(record(1)) + form(again) + form(same) + form(lost) + form(record(4)))
    assert hosts(rows) == [1, 1, 2, 4]
    assert [row["body"] for row in rows] == [FILE] * 4
    assert [row["status"] for row in rows] == [200] * 4
    assert rows[1]["fetched_at"].year == 2025
    assert [reason for _, reason in rejects] == ["revisit of a record that is not in this file"]


# --- Damage ---------------------------------------------------------------------------------------


def test_garbage_between_records(form: Form) -> None:
    """Bytes that are not a record are a reject with their offset."""
    first = form(record(1))
    rows, rejects = read(first + b"garbage\r\nmore" * 3 + b"\n" + form(record(2)) + form(record(3)))
    assert hosts(rows) == [1, 2, 3]
    assert [place for place, _ in rejects] == [f"offset {len(first)}"]


@pytest.mark.parametrize("octets", [b"", b"\0" * 512, b"\r\n\r\n"])
def test_empty_files(octets: bytes) -> None:
    """A file without content has no rows and no rejects."""
    assert read(octets) == ([], [])


@pytest.mark.parametrize(
    "octets", [b"hello", b"\x1f\x8b\x08" * 99, member(b"hello"), b"\xff" * 9999]
)
def test_files_of_another_kind(octets: bytes) -> None:
    """A file that is not an archive is one reject or more, and no row."""
    rows, rejects = read(octets)
    assert rows == []
    assert rejects


@pytest.mark.parametrize("length", [20, 120, 5, "-5", 10**14, 10**20, "x", ""])
def test_wrong_lengths(form: Form, length: object) -> None:
    """A record with a wrong length is rejected, and the next ones are read."""
    octets = form(record(1)) + form(record(2, length=length))
    rows, rejects = read(octets + form(record(3)) + form(record(4)))
    assert hosts(rows) == [1, 3, 4]
    assert [place for place, _ in rejects] == [f"offset {len(form(record(1)))}"]


def test_empty_members() -> None:
    """fastwarc stops at an empty gzip member, without an error."""
    octets = member(record(1)) + member(b"") + member(b"\r\n") + member(record(2)) + member(b"")
    rows, rejects = read(octets + member(record(3)) + b"\0" * 100)
    assert hosts(rows) == [1, 2, 3]
    assert rejects == []


def test_truncated_archives(form: Form) -> None:
    """Cut at any byte: whole records are rows, the last one is a reject or a row."""
    parts = [form(record(number)) for number in (1, 2)]
    octets = b"".join(parts)
    for size in range(len(octets)):
        rows, rejects = read(octets[:size])
        whole = size // len(parts[0])
        assert hosts(rows)[:whole] == [1, 2][:whole]
        assert all(row["body"] == FILE for row in rows), size
        assert len(rows) + len(rejects) == whole + (size % len(parts[0]) > 0), (size, rejects)


def test_truncated_members_in_the_middle() -> None:
    """A gzip member that ends early costs one record."""
    broken = member(record(2, http(random.Random(1).randbytes(5000))))
    for size in range(1, len(broken) - 1, 97):
        rows, rejects = read(member(record(1)) + broken[:size] + member(record(3)))
        assert hosts(rows) == [1, 3], size
        assert len(rejects) == 1


def test_bit_flips() -> None:
    """A flipped bit anywhere costs at most the record that it is in, and a reject tells."""
    body = random.Random(2).randbytes(300)
    parts = [member(record(number, http(body))) for number in (1, 2, 3)]
    start, end = len(parts[0]), len(parts[0]) + len(parts[1])
    for at in range(start, end):
        for bit in (1, 128):
            octets = bytearray(b"".join(parts))
            octets[at] ^= bit
            rows, rejects = read(bytes(octets))
            whole = [number for number, row in zip(hosts(rows), rows, strict=True) if number != 2]
            assert whole == [1, 3], (at, bit, rejects)
            assert len(rows) == 3 or rejects, (at, bit)
            assert all(row["body"] == body for row in rows), (at, bit)


@pytest.mark.parametrize("kind", ["plain", "zstd"])
def test_bit_flips_in_other_forms(kind: str) -> None:
    """Never an exception, and never fewer records without a reject."""
    body = random.Random(2).randbytes(300)
    parts = [FORMS[kind](record(number, http(body))) for number in (1, 2, 3)]
    octets = b"".join(parts)
    for at in range(0, len(octets), 3):
        broken = bytearray(octets)
        broken[at] ^= 1 << at % 8
        skipped: Counter[str] = Counter()
        rows, rejects = read(bytes(broken), skipped=skipped)
        assert len(rows) + len(rejects) + skipped.total() >= 3, at


def test_archives_compressed_as_a_whole() -> None:
    """One gzip member or zstd frame for all records, also with damage inside."""
    plain = record(1) + record(2) + b"garbage\r\n" + record(3, length=7) + record(4)
    for whole in (member(plain), frame(plain)):
        rows, rejects = read(whole)
        assert hosts(rows) == [1, 2, 4]
        assert len(rejects) == 2
    many = b"".join(
        record(number, http(random.Random(number).randbytes(9000))) for number in range(99)
    )
    rows, rejects = read(member(many))
    assert (hosts(rows), rejects) == (list(range(99)), [])


def test_members_with_several_records() -> None:
    """Some writers put request and response into one member."""
    pair = member(record(1, kind="request") + record(1))
    info = member(record(0, b"a: b\r\n", kind="warcinfo"))
    rows, rejects = read(info + pair + member(record(2, kind="request") + record(2)))
    assert (hosts(rows), rejects) == ([1, 2], [])


def test_random_bytes() -> None:
    """Random bytes, with and without the start of an archive, never raise."""
    source = random.Random(3)
    for size in range(0, 4000, 61):
        noise = source.randbytes(size)
        for start in (b"", b"\x1f\x8b\x08", b"WARC/1.1\r\n", member(record(1)), frame(record(1))):
            rows, rejects = read(start + noise + member(record(2)))
            assert rows or rejects


def test_paths(tmp_path: Path) -> None:
    """A path is opened and closed; its name is in the rows."""
    path = tmp_path / "a.warc.gz"
    path.write_bytes(member(record(1)))
    [(batch, rejects)] = read_warc(path)
    assert batch.column("source").to_pylist() == [str(path)]
    assert rejects == []


def test_evidence_archives(tmp_path: Path) -> None:
    """Archives of robotrules: responses, revisits of files, and fetches without a response."""
    records = [
        make_record(at, status)
        for at, status in [(1000.0, 200), (2000.0, 304), (3000.0, None), (4000.0, 404)]
    ]
    for gzipped in (True, False):
        made = io.BytesIO()
        writer = Writer(made, gzip=gzipped, info={"software": "test"}, at=0.0)
        for fetch_record in records:
            writer.add(fetch_record, lambda digest: FILE)
        rows, rejects = read(made.getvalue())
        assert rejects == []
        assert [(row["status"], row["body"]) for row in rows] == [
            (200, FILE),
            (200, FILE),
            (None, None),
            (404, b""),
        ]
        assert [row["fetched_at"].timestamp() for row in rows] == [1000.0, 2000.0, 3000.0, 4000.0]


def make_record(at: float, status: int | None) -> FetchRecord:
    """Return the record of a fetch that found a file, none, or no server."""
    state = AccessState.SUCCESS if status in (200, 304) else AccessState.UNAVAILABLE
    reason: FailureReason | None = None
    digest: str | None = body_digest(FILE)
    if status is None:
        state, reason, digest = AccessState.UNREACHABLE, FailureReason.TIMEOUT, None
    elif status == 404:
        reason, digest = FailureReason.STATUS, None
    url = "https://example.com/robots.txt"
    result = AccessResult(
        *("https://example.com", state, status, reason, "", url, (), read_fields(b""), FILE, True),
        *(False, None),
    )
    made = make_fetch_record(
        result, None, at=at, agent="ExampleBot", user_agent="ExampleBot/1", profile=DEFAULT_ACCESS
    )
    return made._replace(digest=digest, revalidated=status == 304)


def test_reading_continues_at_every_cursor(form: Form) -> None:
    """From each cursor on, the batches are those that follow it, also with damage between."""
    parts = [
        form(record(number, kind="request" if number % 3 == 0 else "response"))
        for number in range(40)
    ]
    parts[11] = parts[11][:-9]
    parts[25] += b"garbage"
    octets = b"".join(parts)
    archive = WarcArchive(io.BytesIO(octets), "a")
    batches = [(batch, rejects, archive.cursor) for batch, rejects in archive.batches(3)]
    assert len(batches) > 6
    for number, (_, _, cursor) in enumerate(batches):
        if cursor is None:
            assert number == len(batches) - 1
            break
        again = WarcArchive(io.BytesIO(octets), "a", start=cursor)
        rest = [(batch, rejects, again.cursor) for batch, rejects in again.batches(3)]
        assert rest == batches[number + 1 :]


def test_zstd_archives_with_a_dictionary_frame() -> None:
    """A dictionary before the records: offsets count it, and reading can start after it."""
    # Imported by the reader, which silences its warning.
    from fastwarc.stream_io import zstd_train_dictionary_from_samples

    samples = [record(number, http(b"User-agent: b%d\n" % number * 9)) for number in range(200)]
    content = zstd_train_dictionary_from_samples(samples, 2000)
    dictionary = b"\x5d\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content
    frames = [frame(record(number)) for number in range(9)]
    octets = dictionary + b"".join(frames)
    assert hosts(read(octets)[0]) == list(range(9))
    archive = WarcArchive(io.BytesIO(octets), "a")
    batches = [(batch, archive.cursor) for batch, _ in archive.batches(4)]
    assert batches[0][1] == (len(dictionary) + sum(map(len, frames[:4])), False)
    rest = [
        batch for batch, _ in WarcArchive(io.BytesIO(octets), "a", start=batches[0][1]).batches(4)
    ]
    assert rest == [batch for batch, _ in batches[1:]]
    broken = bytearray(octets)
    broken[len(dictionary) + sum(map(len, frames[:4])) + 40] ^= 0xFF
    rows, rejects = read(bytes(broken))
    assert hosts(rows) == [0, 1, 2, 3, 5, 6, 7, 8]
    assert len(rejects) == 1
