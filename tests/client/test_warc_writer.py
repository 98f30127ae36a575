"""An archive as it is written, to the octet: every record with every line of its header."""

from __future__ import annotations

import errno
import io
import os
import re
import time
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest

from robotrules.access import Response
from robotrules.cache import FetchRecord, Provenance
from robotrules.client import warc
from robotrules.client.stores import MemoryStore
from robotrules.client.warc import WarcImport, export_warc, import_warc, writer
from robotrules.client.warc.metadata_records import serialize_metadata
from robotrules.client.warc.writer import MAX_REMEMBERED_FILES
from robotrules.errors import MissingExtraError
from robotrules.http.fields import Fields
from tests.client.histories import DAY, SITE, START, History, file, rules
from tests.client.warc_readers import with_warcio
from tests.client.warc_records import ROBOTS, exported

NAMES = uuid5(NAMESPACE_URL, "https://robotrules/visit")
INFO = (
    "software: robotrules/1.2.3\r\n"
    "format: WARC File Format 1.1\r\n"
    "conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n"
    "description: Visits to robots.txt files: what was found, when, and until when it held\r\n"
    "robotrules-visits: 1\r\n"
)
FIRST, SECOND = "2026-05-01T00:00:00.000000Z", "2026-05-02T00:00:00.500000Z"
AGENT = "ExampleBot/1.0 (+https://example.com/bot)"


def id_of(kind: str, facts: bytes) -> str:
    """Return the id of a record."""
    return f"<urn:uuid:{uuid5(NAMES, f'{kind} {sha256(facts).hexdigest()}')}>"


def digest(octets: bytes) -> str:
    """Return a digest as a header has it."""
    return f"sha256:{sha256(octets).hexdigest()}"


def record(lines: dict[str, str], block: bytes) -> bytes:
    """Return the octets of a record."""
    lines = {**lines, "Content-Length": str(len(block))}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return b"WARC/1.1\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n"


def written_of(fetch_record: FetchRecord, body: bytes | None = None, **options: Any) -> list[bytes]:
    """Return the records of an archive with one fetch."""
    store = MemoryStore()
    store.add([(fetch_record, body)])
    archive = exported(store, now=START, **options)
    return [b"WARC/1.1\r\n" + one for one in archive.split(b"WARC/1.1\r\n")[1:]]


@pytest.fixture(autouse=True)
def version(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version that stays."""
    monkeypatch.setattr("robotrules.client.warc.metadata.version", lambda name: "1.2.3")


def test_all_of_it() -> None:
    """A file, and a 304 that refers to it."""
    history = History()
    first = history.record_fetch(0, file("/a", ("ETag", '"1"'), ("Content-Encoding", "gzip")))
    second = history.record_fetch(1 + 0.5 / DAY, Response(304, {}, address="2001:db8::1"))
    info = INFO.encode()
    made = record(
        {
            "WARC-Type": "warcinfo",
            "WARC-Record-ID": id_of("warcinfo", info),
            "WARC-Date": FIRST,
            "WARC-Block-Digest": digest(info),
            "Content-Type": "application/warc-fields",
        },
        info,
    )
    for fetch_record, date in ((first, FIRST), (second, SECOND)):
        facts = serialize_metadata(fetch_record)

        def named(kind: str, facts: bytes = facts, date: str = date) -> dict[str, str]:
            """Return the fields that all records of the fetch have."""
            return {
                "WARC-Record-ID": id_of(kind, facts),
                "WARC-Date": date,
                "WARC-Target-URI": ROBOTS,
            }

        ours = {"WARC-Warcinfo-ID": id_of("warcinfo", info)}
        beside = {"WARC-Concurrent-To": id_of("answer", facts)}
        fields = b'etag: "1"\r\nx-crawler-content-encoding: gzip\r\n'
        if fetch_record is first:
            block = b"HTTP/1.1 200 OK\r\n" + fields + b"content-length: 27\r\n\r\n" + rules("/a")
            made += record(
                {
                    "WARC-Type": "response",
                    **named("answer"),
                    "WARC-IP-Address": "192.0.2.1",
                    **ours,
                    "WARC-Payload-Digest": digest(rules("/a")),
                    "WARC-Block-Digest": digest(block),
                    "Content-Type": "application/http; msgtype=response",
                },
                block,
            )
        else:
            block = b"HTTP/1.1 304 Not Modified\r\n" + fields + b"\r\n"
            made += record(
                {
                    "WARC-Type": "revisit",
                    **named("answer"),
                    "WARC-IP-Address": "2001:db8::1",
                    "WARC-Profile": "http://netpreserve.org/warc/1.1/revisit/server-not-modified",
                    "WARC-Refers-To": id_of("answer", serialize_metadata(first)),
                    "WARC-Refers-To-Target-URI": ROBOTS,
                    "WARC-Refers-To-Date": FIRST,
                    **ours,
                    "WARC-Block-Digest": digest(block),
                    "Content-Type": "application/http; msgtype=response",
                },
                block,
            )
        asked = f"GET /robots.txt HTTP/1.1\r\nHost: example.com\r\nUser-Agent: {AGENT}\r\n\r\n"
        for kind, media, octets, body in (
            ("request", "application/http; msgtype=request", asked.encode(), b""),
            ("metadata", "application/json", facts, facts),
        ):
            made += record(
                {
                    "WARC-Type": kind,
                    **named(kind),
                    **beside,
                    **ours,
                    "WARC-Payload-Digest": digest(body),
                    "WARC-Block-Digest": digest(octets),
                    "Content-Type": media,
                },
                octets,
            )
    assert exported(history.store, now=START) == made


def test_a_file_of_a_fetch_that_is_left_out() -> None:
    """It precedes the 304, with its own media type, if that is valid in a header."""
    history = History()
    for fields, media in (
        ([("Content-Type", "text/plain; x=y"), ("Content-Type", "b")], "text/plain; x=y"),
        ([], "text/plain"),
        ([("Content-Type", "t\xe9xt")], "text/plain"),
        ([("Content-Type", "text\t/plain")], "text/plain"),
    ):
        history = History()
        history.record_fetch(0, file("/a", ("ETag", '"1"'), *fields))
        second = history.record_fetch(1, Response(304, {}))
        archive = exported(history.store, now=START, after=START + 1)
        made = [b"WARC/1.1\r\n" + one for one in archive.split(b"WARC/1.1\r\n")[1:]]
        facts, body = serialize_metadata(second), rules("/a")
        date = "2026-05-02T00:00:00.000000Z"
        assert made[1] == record(
            {
                "WARC-Type": "resource",
                "WARC-Record-ID": id_of("resource", facts),
                "WARC-Date": date,
                "WARC-Target-URI": ROBOTS,
                "WARC-Warcinfo-ID": id_of("warcinfo", INFO.encode()),
                "WARC-Payload-Digest": digest(body),
                "WARC-Block-Digest": digest(body),
                "Content-Type": media,
            },
            body,
        )
        assert f"WARC-Refers-To: {id_of('resource', facts)}\r\n".encode() in made[2]
        assert f"WARC-Refers-To-Date: {date}\r\n".encode() in made[2]


@pytest.mark.parametrize(
    ("url", "head"),
    [
        ("https://u:p@example.com:8443/r?x=1", "GET /r?x=1 HTTP/1.1\r\nHost: example.com:8443\r\n"),
        ("https://example.com", "GET / HTTP/1.1\r\nHost: example.com\r\n"),
        ("https://example.com/a@b://c", "GET /a@b://c HTTP/1.1\r\nHost: example.com\r\n"),
    ],
)
def test_requests(url: str, head: str) -> None:
    """The requested URL, without a password; and the crawler, if that is known."""
    fetch_record = History().record_fetch(0, file("/a"))._replace(url=url)
    assert head.encode() + f"User-Agent: {AGENT}\r\n\r\n".encode() in written_of(fetch_record)[2]
    silent = written_of(fetch_record._replace(user_agent=""))[2]
    assert silent.endswith(b"\r\n\r\n" + head.encode() + b"\r\n" + b"\r\n\r\n")


@pytest.mark.parametrize(
    ("status", "line"),
    [(404, "404 Not Found"), (799, "799"), (7, "007"), (418, "418 I'm a Teapot")],
)
def test_status_lines(status: int, line: str) -> None:
    """Three digits, and the phrase that goes with them."""
    fetch_record = History().record_fetch(0, Response(404))._replace(status=status)
    made = written_of(fetch_record)[1]
    assert f"\r\n\r\nHTTP/1.1 {line}\r\ncontent-length: 0\r\n\r\n".encode() in made
    assert b"WARC-Truncated: unspecified\r\n" in made


def test_fields_that_are_invalid_in_a_message() -> None:
    """They are left out of it."""
    every = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
    lines = ((every, b"a"), ("x-lf", b"a\nb"), ("x-cr", b"a\rb"), ("x-nul", b"\0"), ("Up", b"a"))
    more = (("x-vt", b"a\x0bb"), ("x-so", b"a\x0eb"), ("x-soh", b"a\x01b"))
    fetch_record = (
        History().record_fetch(0, file("/a"))._replace(fields=Fields((*lines, *more), True))
    )
    head = written_of(fetch_record, rules("/a"))[1].partition(b"HTTP/1.1 200 OK\r\n")[2]
    names = [
        line.partition(b":")[0].decode() for line in head.partition(b"\r\n\r\n")[0].split(b"\r\n")
    ]
    assert names == [every, "x-vt", "x-so", "x-soh", "content-length"]


def test_a_file_that_was_not_to_be_kept() -> None:
    """No record refers to it: a later fetch that may be stored with it writes it."""
    history = History()
    first = history.record_fetch(0, file("/a", ("ETag", '"1"')))
    second = history.record_fetch(1, Response(304, {}))
    store = MemoryStore()
    store.add([(first._replace(may_store=False), None), (second, rules("/a"))])
    kinds = [one.kind for one in with_warcio(exported(store))]
    assert kinds == [
        *("warcinfo", "response", "request", "metadata"),
        *("resource", "revisit", "request", "metadata"),
    ]


def test_no_number() -> None:
    """JSON has no infinity, so a fetch that is valid for ever cannot be written."""
    fetch_record = History().record_fetch(0, file("/a"))
    with pytest.raises(ValueError, match="Out of range"):
        serialize_metadata(fetch_record._replace(until=float("inf")))


def test_what_came_of_reading_as_json() -> None:
    """Every key."""
    given = Provenance("a.warc", "0" * 64, START)
    assert WarcImport(1, 2, {"cut": 3}, given).as_dict() == {
        "added": 1,
        "known": 2,
        "skipped": {"cut": 3},
        "archive": given.as_dict(),
    }
    assert WarcImport(0, 0, {}).as_dict() == {
        "added": 0,
        "known": 0,
        "skipped": {},
        "archive": None,
    }


class TestPlaces:
    """Where an archive is written, and how it is called."""

    def test_chosen(self) -> None:
        """By origin and time together."""
        history = History()
        for day in range(4):
            history.record_fetch(day, file(f"/{day}"))
            history.record_fetch(day, file(f"/{day}"), site="https://elsewhere.example")
        options: dict[str, Any] = {"after": START + DAY, "before": START + 2 * DAY}
        assert export_warc(history.store, io.BytesIO(), origin=SITE, **options) == 2
        assert export_warc(history.store, io.BytesIO(), **options) == 4
        assert export_warc(history.store, io.BytesIO(), origin=SITE, after=START + DAY) == 3
        assert export_warc(history.store, io.BytesIO(), origin=SITE, before=START + DAY) == 2

    def test_its_name_meanwhile(self, tmp_path: Path) -> None:
        """One that cannot be guessed, and that is not too long."""
        history = History()
        history.record_fetch(0, file("/a"))
        names: list[str] = []
        path = tmp_path / ("a" * 150)
        export_warc(
            *(history.store, path),
            progress=lambda _: names.extend(one.name for one in tmp_path.iterdir()),
        )
        [name] = names
        assert re.fullmatch(rf"\.{'a' * 100}\.[0-9a-f]{{16}}\.part", name)
        assert [one.name for one in tmp_path.iterdir()] == [path.name]

    def test_a_file_that_is_there(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Before, or when it is done, with links or without."""
        history = History()
        history.record_fetch(0, file("/a"))

        def refused(path: Path, **options: Any) -> None:
            with pytest.raises(FileExistsError) as caught:
                export_warc(history.store, path, **options)
            error = caught.value
            assert (error.errno, error.filename) == (errno.EEXIST, str(path))
            assert error.strerror == "there is such a file already: name another"

        (tmp_path / "a").touch()
        refused(tmp_path / "a")
        refused(tmp_path / "b", progress=lambda _: (tmp_path / "b").touch())
        monkeypatch.setattr(os, "link", None)

        def fail(*_: object) -> None:
            raise PermissionError

        monkeypatch.setattr(os, "link", fail)
        refused(tmp_path / "c", progress=lambda _: (tmp_path / "c").touch())

    def test_names_of_archives(self, tmp_path: Path) -> None:
        """That of the file, without its folder."""
        path = tmp_path / "a.warc"
        export_warc(MemoryStore(), path)
        for where in (path, str(path)):
            found = import_warc(MemoryStore(), where).provenance
            assert found is not None
            assert found.archive == "a.warc"

    @pytest.mark.parametrize("seekable", [True, False])
    def test_it_is_not_read_as_a_whole(self, seekable: bool) -> None:
        """Each read has a size."""
        sizes: set[int | None] = set()

        class Stream(io.BytesIO):
            def seekable(self) -> bool:
                return seekable

            def read(self, size: int | None = -1) -> bytes:
                sizes.add(size)
                return super().read(size)

        history = History()
        history.record_fetch(0, file("/a"))
        assert import_warc(MemoryStore(), Stream(exported(history.store))).added == 1
        assert sizes == {65_536}

    def test_an_archive_that_changes(self) -> None:
        """What was read names what it was before."""
        history = History()
        history.record_fetch(0, file("/a"))

        class Changing(io.BytesIO):
            def seek(self, offset: int, whence: int = 0) -> int:
                super().seek(0, 2)
                self.write(b"\r\n")
                return super().seek(offset, whence)

        octets = exported(history.store)
        with pytest.raises(ValueError, match="changed during the import") as caught:
            import_warc(MemoryStore(), Changing(octets))
        assert str(caught.value) == (
            "the archive changed during the import, and the imported records name its "
            f"previous SHA-256, {sha256(octets).hexdigest()}: import the new one into another "
            "store"
        )

    def test_what_is_missing(self) -> None:
        """A missing warcio raises with the fix; another missing module is an error of ours."""
        for name in ("warcio", "warcio.a.b"):
            found = warc._missing_warcio(ImportError("x", name=name))
            assert type(found) is MissingExtraError
            assert str(found) == (
                "WARC archives need warcio, which is not installed: pip install 'robotrules[warc]'"
            )
        for other in (None, "other", "other.warcio"):
            error = ImportError("x", name=other)
            assert warc._missing_warcio(error) is error


def test_dates(monkeypatch: pytest.MonkeyPatch) -> None:
    """In UTC, wherever they are written; and none that no calendar has."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        assert writer._date(START) == FIRST
        assert writer._date(1e18) == "1970-01-01T00:00:00.000000Z"
    time.tzset()


def test_places_that_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as may be; of one more the oldest is forgotten, and its file is written again."""
    assert MAX_REMEMBERED_FILES == 65_536
    for most, resources in ((2, 0), (1, 1)):
        monkeypatch.setattr(writer, "MAX_REMEMBERED_FILES", most)
        history = History()
        history.record_fetch(0, file("/a", ("ETag", '"1"')))
        history.record_fetch(0.5, file("/z"), site="https://elsewhere.example")
        history.record_fetch(1, Response(304))
        history.record_fetch(1.5, Response(304))
        kinds = [one.kind for one in with_warcio(exported(history.store))]
        assert kinds.count("resource") == resources
        assert SITE in exported(history.store).decode()
