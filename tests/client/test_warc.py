"""
Archives: what is written is WARC that others read; what is read back is what was written; and what
a stranger wrote never raises and never takes more memory than a few records.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import os
import random
import sys
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules import MissingExtraError, parse
from robotrules.access import AccessState, FailureReason, Hop, Response
from robotrules.cache import FetchRecord, body_digest
from robotrules.client.evidence import Evidence
from robotrules.client.stores import MemoryStore, SQLiteStore
from robotrules.client.warc import SKIP_REASONS, WarcImport, export_warc, import_warc
from robotrules.client.warc.metadata_records import (
    MAX_LIFETIME,
    UNANSWERED,
    parse_metadata,
    serialize_metadata,
)
from robotrules.http.fields import Fields
from tests.client.histories import DAY, SITE, START, History, file, refused, rules
from tests.client.warc_readers import READERS, Kept, with_warcio
from tests.client.warc_records import (
    REQUEST,
    ROBOTS,
    answer,
    exported,
    imported,
    only,
    own,
    record,
    skipped,
)

FACTS = ("metadata",)


def eventful() -> History:
    """Return a history with everything in it."""
    history = History()
    fields = [("ETag", '"1"'), ("Content-Encoding", "gzip"), ("Content-Length", "12")]
    history.record_fetch(
        0, file("/a", *fields, ("X-Odd", "caf\xe9"), ("Content-Type", "text/plain"))
    )
    history.record_fetch(1, Response(304, {"Date": "Sat, 02 May 2026 00:00:00 GMT"}))
    history.record_fetch(2, refused())
    history.record_fetch(2.1, Response(503, {"Retry-After": "120"}))
    history.record_fetch(3, Response(404, {"Content-Length": "5000"}))
    there = Response(301, {"Location": "https://www.example.com/static/r.txt"})
    history.record_fetch(4, there, file("/b", ("Transfer-Encoding", "chunked")))
    history.record_fetch(5, file("/secret", ("Cache-Control", "no-store")))
    history.record_fetch(
        6, Response(200, [], b"User-agent: *\nDis", complete=False, address="2001:db8::1")
    )
    history.record_fetch(7, file("/a"), agent="OtherBot")
    history.record_fetch(7.5, Response(204))
    history.record_fetch(8, Response(302, {"Location": "mailto:me"}))
    history.record_fetch(0.5, file("/z"), site="http://elsewhere.example:8080")
    return history


# --- Out ------------------------------------------------------------------------------------------


class TestWhatOthersRead:
    """warcio and fastwarc read the records and agree with every digest."""

    @pytest.fixture(params=[False, True], ids=["plain", "gzip"])
    def archive(self, request: pytest.FixtureRequest) -> bytes:
        return exported(eventful().store, gzip=request.param)

    @pytest.mark.parametrize("read", READERS, ids=["warcio", "fastwarc"])
    def test_kinds(self, archive: bytes, read: Callable[[bytes], Iterator[Kept]]) -> None:
        kinds = [record.kind for record in read(archive)]
        assert kinds[0] == "warcinfo"
        assert kinds.count("metadata") == 12
        assert kinds.count("request") == 11
        assert kinds.count("response") == 10
        assert kinds.count("revisit") == 1
        assert "resource" not in kinds

    def test_they_read_the_same(self, archive: bytes) -> None:
        """But for how they decode what is not ASCII."""
        ours, theirs = [list(read(archive)) for read in READERS]
        for one, other in zip(ours, theirs, strict=True):
            assert (one.kind, one.headers, one.body) == (other.kind, other.headers, other.body)
            assert [name for name, _ in one.fields] == [name for name, _ in other.fields]

    def test_the_answer(self, archive: bytes) -> None:
        """A decoded file has a matching length, and fields record the original."""
        _, answer, request, metadata, *_ = with_warcio(archive)
        assert (answer.kind, answer.status, answer.body) == ("response", "200", rules("/a"))
        fields = dict(answer.fields)
        assert fields["content-length"] == str(len(answer.body))
        assert fields["x-crawler-content-length"] == "12"
        assert fields["x-crawler-content-encoding"] == "gzip"
        assert "content-encoding" not in fields
        assert fields["x-odd"] == "caf\xe9"
        headers = answer.headers
        assert headers["WARC-Target-URI"] == ROBOTS
        assert headers["WARC-Date"] == "2026-05-01T00:00:00.000000Z"
        assert headers["WARC-IP-Address"] == "192.0.2.1"
        assert headers["WARC-Payload-Digest"] == f"sha256:{body_digest(answer.body)}"
        assert dict(request.fields) == {
            "host": "example.com",
            "user-agent": "ExampleBot/1.0 (+https://example.com/bot)",
        }
        beside = headers["WARC-Record-ID"]
        assert [one.headers["WARC-Concurrent-To"] for one in (request, metadata)] == [beside] * 2

    def test_a_revisit_refers_to_the_file(self, archive: bytes) -> None:
        records = list(with_warcio(archive))
        revisit = next(record for record in records if record.kind == "revisit")
        answer = records[1]
        assert revisit.status == "304"
        assert revisit.body == b""
        assert revisit.headers["WARC-Profile"].endswith("/server-not-modified")
        assert revisit.headers["WARC-Refers-To"] == answer.headers["WARC-Record-ID"]
        assert revisit.headers["WARC-Refers-To-Target-URI"] == ROBOTS
        assert revisit.headers["WARC-Refers-To-Date"] == answer.headers["WARC-Date"]

    def test_what_is_not_all_there(self, archive: bytes) -> None:
        """A cut file is marked as such, and so is an answer whose body was not kept."""
        cut = {
            (record.status, record.headers.get("WARC-Truncated"), len(record.body))
            for record in with_warcio(archive)
            if record.kind == "response"
        }
        assert ("200", "length", 17) in cut
        assert ("404", "unspecified", 0) in cut
        assert ("200", "unspecified", 0) in cut  # no-store
        assert not any(b"/secret" in record.body for record in with_warcio(archive))

    def test_no_answer_is_metadata_alone(self, archive: bytes) -> None:
        found = [json.loads(one.body) for one in with_warcio(archive) if one.kind == "metadata"]
        failed = next(one for one in found if one["trouble"] == "connect")
        assert failed["detail"] == "connection refused"
        records = list(with_warcio(archive))
        alone = [one for one in records if b'"connect"' in one.body]
        assert "WARC-Concurrent-To" not in alone[0].headers

    def test_the_first_record_describes_the_archive(self, archive: bytes) -> None:
        info = next(iter(with_warcio(archive)))
        assert info.body.startswith(b"software: robotrules/")
        assert b"robotrules-visits: 1\r\n" in info.body
        identity = info.headers["WARC-Record-ID"]
        rest = list(with_warcio(archive))[1:]
        assert {record.headers["WARC-Warcinfo-ID"] for record in rest} == {identity}

    def test_ids_are_unique(self, archive: bytes) -> None:
        ids = [record.headers["WARC-Record-ID"] for record in with_warcio(archive)]
        assert len(set(ids)) == len(ids)

    def test_each_record_is_a_gzip_member(self) -> None:
        archive = exported(eventful().store, gzip=True)
        members, rest = 0, archive
        while rest:
            inflate = zlib.decompressobj(31)
            assert inflate.decompress(rest).startswith(b"WARC/1.1\r\n")
            members, rest = members + 1, inflate.unused_data
        assert members == len(list(with_warcio(archive)))


class TestWriting:
    """The output depends only on the fetch records."""

    def test_twice_the_same(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """But for the date of the first record."""
        store = eventful().store
        monkeypatch.setattr("robotrules.client.warc.time.time", lambda: START)
        first = exported(store)
        assert exported(store) == first
        monkeypatch.setattr("robotrules.client.warc.time.time", lambda: START + DAY)
        second = exported(store)
        lines = zip(first.split(b"\r\n"), second.split(b"\r\n"), strict=True)
        assert [one for one, other in lines if one != other] == [
            b"WARC-Date: 2026-05-01T00:00:00.000000Z"
        ]

    def test_names_decide_about_gzip(self, tmp_path: Path) -> None:
        store = eventful().store
        for name, start in (("a.warc", b"WARC/1.1"), ("a.warc.gz", b"\x1f\x8b")):
            assert export_warc(store, tmp_path / name) == 12
            assert (tmp_path / name).read_bytes().startswith(start)
        assert export_warc(store, str(tmp_path / "b"), gzip=True) == 12
        assert gzip.decompress((tmp_path / "b").read_bytes()).startswith(b"WARC")

    def test_nothing_is_written_over(self, tmp_path: Path) -> None:
        path = tmp_path / "a.warc"
        path.write_bytes(b"mine")
        with pytest.raises(FileExistsError, match="name another"):
            export_warc(MemoryStore(), path)
        assert path.read_bytes() == b"mine"

    def test_planted_links(self, tmp_path: Path) -> None:
        """No file is written through a link that was put there before, or meanwhile."""
        mine = tmp_path / "mine"
        mine.write_bytes(b"mine")
        store, folder = eventful().store, tmp_path / "shared"
        folder.mkdir()
        (folder / "a.warc.part").symlink_to(mine)
        (folder / "b.warc").symlink_to(tmp_path / "nowhere")
        assert export_warc(store, folder / "a.warc") == 12
        with pytest.raises(FileExistsError, match="name another"):
            export_warc(store, folder / "b.warc")
        late = folder / "c.warc"

        def plant(_: FetchRecord) -> None:
            """Put a link where the archive will be."""
            if not late.is_symlink():
                late.symlink_to(mine)

        with pytest.raises(FileExistsError, match="name another"):
            export_warc(store, late, progress=plant)
        assert mine.read_bytes() == b"mine"
        assert not (tmp_path / "nowhere").exists()
        assert not (folder / "a.warc").is_symlink()
        names = {path.name for path in folder.iterdir()}
        assert names == {"a.warc", "a.warc.part", "b.warc", "c.warc"}

    def test_a_file_system_without_links(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The archive is renamed, if its name is still free."""

        def fail(*_: object) -> None:
            """Link nothing."""
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "link", fail)
        assert export_warc(eventful().store, tmp_path / "a.warc") == 12
        with pytest.raises(FileExistsError, match="name another"):
            export_warc(
                eventful().store,
                tmp_path / "b.warc",
                progress=lambda _: (tmp_path / "b.warc").touch(),
            )
        assert {path.name for path in tmp_path.iterdir()} == {"a.warc", "b.warc"}
        assert (tmp_path / "b.warc").read_bytes() == b""

    def test_half_an_archive_has_no_name(self, tmp_path: Path) -> None:
        class Failing(MemoryStore):
            def body(self, digest: str) -> bytes | None:
                raise OSError("gone")

        history = History(Failing())
        history.record_fetch(0, file("/a"))
        with pytest.raises(OSError, match="gone"):
            export_warc(history.store, tmp_path / "a.warc")
        assert list(tmp_path.iterdir()) == []

    def test_some_fetches(self) -> None:
        store = eventful().store
        seen: list[FetchRecord] = []
        stream = io.BytesIO()
        count = export_warc(
            store, stream, origin="HTTP://elsewhere.example:8080/x", progress=seen.append
        )
        assert (count, seen[0].origin) == (1, "http://elsewhere.example:8080")
        assert export_warc(store, io.BytesIO(), origin=[SITE, ROBOTS]) == 11
        assert export_warc(store, io.BytesIO(), after=START + 7 * DAY) == 3
        assert export_warc(store, io.BytesIO(), before=START + DAY) == 3
        with pytest.raises(ValueError, match="has no origin: pass one"):
            export_warc(store, io.BytesIO(), origin="/a")

    def test_a_file_whose_fetch_is_left_out(self) -> None:
        """The file that a 304 renewed is in the archive even if its own fetch is not."""
        history = eventful()
        archive = exported(history.store, after=START + 0.9 * DAY, before=START + 1.1 * DAY)
        kinds = [record.kind for record in with_warcio(archive)]
        assert kinds == ["warcinfo", "resource", "revisit", "request", "metadata"]
        _, resource, revisit, *_ = with_warcio(archive)
        assert resource.body == rules("/a")
        assert resource.headers["Content-Type"] == "text/plain"
        assert revisit.headers["WARC-Refers-To"] == resource.headers["WARC-Record-ID"]
        store, done = imported(archive)
        assert done == WarcImport(1, 0, {})
        assert Evidence(store).at(f"{SITE}/a", START + 1.5 * DAY, "ExampleBot").allowed is False

    def test_values_that_are_invalid_in_a_message(self) -> None:
        """Fields that HTTP does not know, and lines in a User-Agent, are in the metadata alone."""
        fetch_record = History().record_fetch(0, file("/a"))
        fields = Fields(((("bad name"), b"x"), ("x-nul", b"\0"), ("", b"y"), ("good", b"z")), True)
        fetch_record = fetch_record._replace(
            fields=fields, user_agent="Evil\r\nX: y \u20ac", url=f"{SITE}/\xe9", address="nowhere"
        )
        store = MemoryStore()
        store.add([(fetch_record, rules("/a"))])
        _, answer, request, _ = with_warcio(exported(store))
        assert [name for name, _ in answer.fields] == ["good", "content-length"]
        assert dict(request.fields)["user-agent"] == "EvilX: y ?"
        assert answer.headers["WARC-Target-URI"] == f"{SITE}/%C3%A9"
        assert "WARC-IP-Address" not in answer.headers

    def test_dates_that_no_calendar_has(self) -> None:
        fetch_record = History().record_fetch(0, file("/a"))._replace(at=1e18, until=1e18)
        store = MemoryStore()
        store.add([(fetch_record, rules("/a"))])
        archive = exported(store)
        assert next(iter(list(with_warcio(archive))[1:])).headers["WARC-Date"].startswith("1970")
        assert own(imported(archive)[0]) == [fetch_record]

    def test_no_store_is_kept_by_archives_too(self) -> None:
        """Even if the store has the octets, because another fetch found the same file."""
        history = History()
        history.record_fetch(0, file("/a"))
        history.record_fetch(1, file("/a", ("Cache-Control", "no-store")))
        answers = [one for one in with_warcio(exported(history.store)) if one.kind == "response"]
        assert [one.body for one in answers] == [rules("/a"), b""]

    def test_no_store_after_a_304(self) -> None:
        """A 304 may have no-store: then it adds no file to an archive without one."""
        history = History()
        history.record_fetch(0, file("/a", ("ETag", '"1"')))
        history.record_fetch(1, Response(304, {"Cache-Control": "no-store"}))
        last = list(history.store.fetch_records())[-1]
        alone = MemoryStore()
        alone.add([(last._replace(at=START, until=START, may_store=True), rules("/a"))])
        alone.add([(last, None)])
        archive = exported(alone, after=START + 1)
        assert "resource" not in [one.kind for one in with_warcio(archive)]
        both = exported(alone)
        assert [one.kind for one in with_warcio(both)].count("resource") == 1
        assert own(imported(both)[0]) == own(alone)

    def test_odd_statuses(self) -> None:
        history = History()
        history.record_fetch(0, Response(799))
        assert list(with_warcio(exported(history.store)))[1].status == "799"

    def test_places_are_forgotten(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The positions of some files are remembered; other files are written once more."""
        monkeypatch.setattr("robotrules.client.warc.writer.MAX_REMEMBERED_FILES", 1)
        history = History()
        history.record_fetch(0, file("/a", ("ETag", '"1"')))
        history.record_fetch(0.5, file("/z"), site="https://elsewhere.example")
        history.record_fetch(1, Response(304))
        archive = exported(history.store)
        assert [one.kind for one in with_warcio(archive)].count("resource") == 1
        assert own(imported(archive)[0]) == list(history.store.fetch_records())

    def test_without_warcio(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in [one for one in sys.modules if one.startswith("robotrules.client.warc.")]:
            monkeypatch.delitem(sys.modules, name)
        for name in [one for one in sys.modules if one.startswith("warcio")] + ["warcio"]:
            monkeypatch.setitem(sys.modules, name, None)
        for act in (export_warc, import_warc):
            with pytest.raises(MissingExtraError, match=r"pip install 'robotrules\[warc\]'"):
                act(MemoryStore(), io.BytesIO())

    def test_our_own_error_is_not_a_missing_library(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "robotrules.client.warc.writer", None)
        with pytest.raises(ImportError) as caught:
            export_warc(MemoryStore(), io.BytesIO())
        assert not isinstance(caught.value, MissingExtraError)

    def test_not_installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A program that is run from its source has no version."""

        def missing(name: str) -> str:
            raise PackageNotFoundError(name)

        monkeypatch.setattr("robotrules.client.warc.metadata.version", missing)
        assert b"software: robotrules\r\n" in exported(MemoryStore())


# --- Out and in -----------------------------------------------------------------------------------


class TestRoundTrip:
    """What is read back is what was written."""

    @pytest.mark.parametrize("compressed", [False, True])
    def test_everything(self, compressed: bool, tmp_path: Path) -> None:
        store = eventful().store
        archive = exported(store, gzip=compressed)
        again = SQLiteStore(tmp_path / "again.sqlite")
        assert import_warc(again, io.BytesIO(archive))[:3] == (12, 0, {})
        assert own(again) == list(store.fetch_records())
        for fetch_record in store.fetch_records():
            assert again.body(fetch_record.digest or "") == store.body(fetch_record.digest or "")
        assert import_warc(again, io.BytesIO(archive))[:3] == (0, 12, {})
        # Imported fetches are marked as such when they are exported again.
        facts = [json.loads(one.body) for one in with_warcio(exported(again)) if one.kind in FACTS]
        assert {one["provenance"]["digest"] for one in facts} == {body_digest(archive)}
        facts = [json.loads(one.body) for one in with_warcio(archive) if one.kind in FACTS]
        assert {one["provenance"] for one in facts} == {None}
        again.close()

    def test_a_path(self, tmp_path: Path) -> None:
        path = tmp_path / "a.warc.gz"
        export_warc(eventful().store, path)
        for where in (path, str(path)):
            assert import_warc(MemoryStore(), where).added == 12
        with pytest.raises(FileNotFoundError):
            import_warc(MemoryStore(), tmp_path / "b.warc.gz")

    def test_one_archive_after_another(self) -> None:
        history = History()
        history.record_fetch(0, file("/a"))
        other = History()
        other.record_fetch(1, file("/b"))
        for compressed in (False, True):
            parts = [exported(one.store, gzip=compressed) for one in (history, other)]
            assert imported(b"".join(parts))[1].added == 2

    def test_recompressed(self) -> None:
        """One gzip member around all records, as some programs write it, is read as well."""
        archive = gzip.compress(exported(eventful().store))
        assert imported(archive)[1] == WarcImport(12, 0, {})

    def test_members_of_any_size(self) -> None:
        """So are members that end anywhere."""
        plain = exported(eventful().store)
        cut = [plain[at : at + 777] for at in range(0, len(plain), 777)]
        assert imported(b"".join(map(gzip.compress, cut)))[1] == WarcImport(12, 0, {})

    def test_a_body_that_the_store_lost(self) -> None:
        history = History()
        history.record_fetch(0, file("/a"))
        lost = MemoryStore()
        lost.add([(fetch_record, None) for fetch_record in history.store.fetch_records()])
        store, done = imported(exported(lost))
        assert done == WarcImport(1, 0, {})
        assert own(store) == list(history.store.fetch_records())
        assert Evidence(store).at(SITE, START, "ExampleBot").notes[0].code == "body-missing"

    def test_missing_records(self) -> None:
        """An answer that lost its fetch record does not become a fetch of another crawler."""
        records = exported(eventful().store).split(b"WARC/1.1\r\n")[1:]
        kept = [one for one in records if b"WARC-Type: metadata" not in one]
        done = imported(b"".join(b"WARC/1.1\r\n" + one for one in kept))[1]
        assert done == WarcImport(0, 0, {"alone": 11})


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
names = texts.filter(str.isprintable)
moments = st.floats(0, 4e9)
octets = st.binary(max_size=60)
fields = st.lists(
    st.tuples(
        st.one_of(st.sampled_from(["etag", "content-length", "transfer-encoding", "x y"]), texts),
        st.binary(max_size=20),
    ),
    max_size=5,
).map(lambda lines: Fields(tuple(lines), True))
urls = st.sampled_from([ROBOTS, f"{SITE}/x?y", "https://www.example.com/robots.txt"])
hops = st.lists(st.builds(Hop, urls, st.integers(300, 399), texts), max_size=3).map(tuple)


@st.composite
def fetch_records(draw: st.DrawFn) -> tuple[FetchRecord, bytes | None]:
    """Return a possible fetch record, and its file."""
    state = draw(st.sampled_from(AccessState))
    found = state is AccessState.SUCCESS
    body = draw(octets)
    at = draw(moments)
    may_store = draw(st.booleans())
    troubles = sorted(UNANSWERED) if state is AccessState.UNREACHABLE else []
    trouble = (
        None
        if found
        else draw(st.sampled_from([*troubles, *sorted(set(FailureReason) - UNANSWERED)]))
    )
    renewed = found and draw(st.booleans())
    statuses = st.integers(100, 999)
    fetch_record = FetchRecord(
        origin=draw(st.sampled_from([SITE, "http://elsewhere.example:8080"])),
        agent=draw(names),
        user_agent=draw(names),
        at=at,
        state=state,
        status=304 if renewed else draw(st.none() if trouble in UNANSWERED else statuses),
        failure_reason=trouble,
        detail="" if found else draw(texts),
        url=draw(urls),
        hops=draw(hops),
        fields=draw(fields),
        digest=body_digest(body) if found else None,
        size=len(body) if found else 0,
        complete=draw(st.booleans()),
        revalidated=renewed,
        until=at + draw(st.floats(0, DAY)),
        may_store=may_store,
        address=draw(st.none() | st.ip_addresses().map(str) | names),
    )
    return fetch_record, body if found and may_store else None


class TestAnyVisit:
    """Every fetch record survives a round trip; and both readers read the archive."""

    @given(st.lists(fetch_records(), max_size=6, unique_by=lambda one: one[0].at), st.booleans())
    def test_comes_back(
        self, history: list[tuple[FetchRecord, bytes | None]], compressed: bool
    ) -> None:
        store = MemoryStore()
        store.add(history)
        archive = exported(store, gzip=compressed)
        again, done = imported(archive)
        assert done == WarcImport(len(list(store.fetch_records())), 0, {})
        assert own(again) == list(store.fetch_records())
        for fetch_record in store.fetch_records():
            digest = fetch_record.digest or ""
            assert again.body(digest) == store.body(digest)
        for read in READERS:
            assert next(iter(read(archive))).kind == "warcinfo"
            assert len(list(read(archive))) > 0

    @given(fetch_records())
    def test_as_json(self, given: tuple[FetchRecord, bytes | None]) -> None:
        fetch_record, _ = given
        assert parse_metadata(json.loads(serialize_metadata(fetch_record))) == fetch_record


# --- Invalid fetch records ------------------------------------------------------------------------


class TestForgedVisits:
    """A fetch record whose parts are inconsistent is rejected."""

    @pytest.mark.parametrize(
        "change",
        [
            {"schema": 2},
            {"origin": "https://EXAMPLE.com"},
            {"origin": "file:///etc/passwd"},
            {"origin": None},
            {"url": "javascript:alert(1)"},
            {"url": "https://example.com/\r\nX: y"},
            {"at": "now"},
            {"at": True},
            {"at": float("inf")},
            {"until": START - 1},
            {"until": START + MAX_LIFETIME + 1},
            {"state": "splendid"},
            {"state": "unavailable"},
            {"status": -1},
            {"status": 2**70},
            {"status": None},
            {"trouble": "status"},
            {"trouble": "boredom"},
            {"state": "unavailable", "trouble": "timeout", "digest": None},
            {"state": "unreachable", "trouble": "status", "digest": None, "status": None},
            {"digest": None},
            {"digest": "ABC"},
            {"digest": "../../x"},
            {"size": 1.5},
            {"hops": [{"url": "x"}]},
            {"hops": [{"url": "x", "status": 301, "location": "y"}] * 102},
            {"hops": "none"},
            {"fields": []},
            {"fields": {"lines": [["a", "\u20ac"]], "apart": True}},
            {"fields": {"lines": [["a"]], "apart": True}},
            {"fields": {"lines": [], "apart": 1}},
            {"agent": "a\0b"},
            {"agent": "\ud800"},
            {"agent": f"x\n1.0\n{'0' * 64}\n200"},
            {"agent": "a\x1b[2J"},
            {"agent": "a\x85b"},
            {"user_agent": "ExampleBot/1.0\nX: y"},
            {"user_agent": "ExampleBot\x7f"},
            {"address": "192.0.2.1\r"},
            {"complete": "yes"},
            {"address": 1},
        ],
        ids=str,
    )
    def test_is_none(self, change: dict[str, Any]) -> None:
        fetch_record = History().record_fetch(0, file("/a"))
        values = json.loads(serialize_metadata(fetch_record))
        assert parse_metadata(values) == fetch_record
        assert parse_metadata(values | change) is None

    def test_a_part_is_missing(self) -> None:
        values = json.loads(serialize_metadata(History().record_fetch(0, file("/a"))))
        for name in values:
            # Earlier archives do not record where a fetch comes from.
            if name not in ("kind", "provenance"):
                assert parse_metadata({key: values[key] for key in values if key != name}) is None

    def test_in_an_archive(self) -> None:
        archive = exported(eventful().store)
        forged = archive.replace(b'"state": "unreachable"', b'"state": "unavailable"')
        # The digest reveals it; a careful forger would change that too.
        assert imported(forged)[1].skipped == {"alone": 2, "bad-digest": 3}
        loose = forged.replace(b"WARC-Block-Digest", b"X-Block-Digest-no")
        assert imported(loose)[1].skipped == {"bad-visit": 1}

    def test_a_file_that_was_altered(self) -> None:
        """The fetch is kept, or the one before would be in force longer; a note says why."""
        archive = exported(eventful().store).replace(b"Disallow: /a", b"Disallow: /c")
        store, done = imported(archive)
        assert done.skipped == {"bad-digest": 2}
        fetch_record = next(one for one in store.fetch_records(SITE) if one.digest)
        found = Evidence(store).at(f"{SITE}/x", fetch_record.at + 1, "ExampleBot")
        missing = next(note for note in found.notes if note.code == "body-missing")
        words = "The archive did not have the content of the file, or it was altered: the record "
        assert missing.message.startswith(f"{words}was imported from an archive, SHA-256 ")

    def test_another_file_than_the_fetch_record_names(self) -> None:
        archive = exported(eventful().store).replace(b"WARC-Block-Digest", b"X-Block-Digest-no")
        done = imported(archive.replace(b"Disallow: /a", b"Disallow: /c"))[1]
        assert done.skipped == {"bad-digest": 2}


# --- Archives of others ---------------------------------------------------------------------------


class TestArchivesOfOthers:
    """An answer for /robots.txt is a fetch of that origin."""

    def test_an_answer(self) -> None:
        block = answer(rules("/a"), "Cache-Control: max-age=600", "Content-Type: text/plain")
        fetch_record, body = only(record("response", block, WARC_IP_Address="192.0.2.7"))
        assert body == rules("/a")
        assert (fetch_record.origin, fetch_record.url, fetch_record.at) == (SITE, ROBOTS, START)
        assert (fetch_record.state, fetch_record.status, fetch_record.failure_reason) == (
            AccessState.SUCCESS,
            200,
            None,
        )
        assert (fetch_record.agent, fetch_record.user_agent, fetch_record.address) == (
            "unknown",
            "",
            "192.0.2.7",
        )
        assert fetch_record.until == START + 600
        assert fetch_record.fields.get("content-type") == [b"text/plain"]
        assert fetch_record.hops == ()

    @pytest.mark.parametrize("order", ["before", "after"])
    @pytest.mark.parametrize("tie", ["request", "response", "exchange"])
    @pytest.mark.parametrize("compressed", [False, True])
    def test_the_crawler_in_the_request(self, order: str, tie: str, compressed: bool) -> None:
        """The request with the answer names the crawler, wherever it is in the archive."""
        ids = {"request": "<urn:uuid:1>", "response": "<urn:uuid:2>"}
        blocks = {"request": REQUEST, "response": answer()}
        made = {}
        for kind in ids:
            headers = {"WARC_Record_ID": ids[kind]}
            if kind == tie:
                other = next(one for name, one in ids.items() if name != kind)
                headers["WARC_Concurrent_To"] = other
            made[kind] = record(kind, blocks[kind], **headers)
        ordered = sorted(made.items(), reverse=order == "after")
        parts = [one for _, one in ordered]
        fetch_record, _ = only(b"".join(map(gzip.compress, parts) if compressed else parts))
        assert (fetch_record.agent, fetch_record.user_agent) == ("CCBot", "CCBot/2.0 (x)")

    def test_the_crawler_in_the_first_record(self) -> None:
        """Otherwise the first record of the archive may name it."""
        info = record("warcinfo", b"software: x\r\nhttp-header-user-agent: OldBot/1\r\n")
        assert only(info + record("response", answer()))[0].agent == "OldBot"
        both = info + record("response", answer()) + record("request", REQUEST)
        assert only(both)[0].agent == "CCBot"
        silent = record("request", b"GET /robots.txt HTTP/1.1\r\n\r\n")
        assert only(info + silent + record("response", answer()))[0].agent == "OldBot"

    def test_a_request_of_another_exchange(self) -> None:
        other = record("request", REQUEST, WARC_Target_URI="https://elsewhere.example/robots.txt")
        assert only(other + record("response", answer()))[0].agent == "unknown"

    @pytest.mark.parametrize(
        ("status", "state"),
        [
            ("404 Not Found", AccessState.UNAVAILABLE),
            ("403 Forbidden", AccessState.UNAVAILABLE),
            ("429 Too Many Requests", AccessState.UNREACHABLE),
            ("500 Oops", AccessState.UNREACHABLE),
            ("206 Partial Content", AccessState.UNREACHABLE),
            ("204 No Content", AccessState.SUCCESS),
        ],
    )
    def test_statuses(self, status: str, state: AccessState) -> None:
        fetch_record, body = only(record("response", answer(b"x", status=status)))
        assert fetch_record.state is state
        assert body == (b"" if state is AccessState.SUCCESS else None)
        assert fetch_record.failure_reason is (
            None if state is AccessState.SUCCESS else FailureReason.STATUS
        )

    @pytest.mark.parametrize(
        "target",
        [
            "https://EXAMPLE.com:443/robots.txt",
            "<https://example.com/robots.txt>",
            "https://example.com/robots.txt#x",
            "https://u:p@example.com/robots.txt",
        ],
    )
    def test_targets(self, target: str) -> None:
        fetch_record, _ = only(record("response", answer(), WARC_Target_URI=target))
        assert (fetch_record.origin, fetch_record.url) == (SITE, ROBOTS)

    @pytest.mark.parametrize(
        "target",
        [
            "https://example.com/",
            "https://example.com/robots.txt?x",
            "https://example.com/a/robots.txt",
            "ftp://example.com/robots.txt",
            "dns:example.com",
            "/robots.txt",
            "",
        ],
    )
    def test_other_things(self, target: str) -> None:
        assert skipped(record("response", answer(), WARC_Target_URI=target)) == {"other": 1}

    def test_other_records(self) -> None:
        kinds = ("resource", "conversion", "continuation", "nonsense")
        archive = b"".join(record(kind, answer()) for kind in kinds)
        archive += record("metadata", b"via: x\r\n", Content_Type="application/warc-fields")
        archive += record("metadata", b'{"kind": "something else"}', Content_Type="text/json")
        archive += record("metadata", b"{{{", Content_Type="text/json")
        assert skipped(archive) == {"other": 4}

    def test_redirects_are_not_followed(self) -> None:
        block = answer(b"", "Location: https://www.example.com/robots.txt", status="301 Moved")
        target = "https://www.example.com/robots.txt"
        archive = record("response", block) + record("response", answer(), WARC_Target_URI=target)
        store, done = imported(archive)
        assert done == WarcImport(1, 0, {"redirect": 1})
        assert [fetch_record.origin for fetch_record in store.fetch_records()] == [
            "https://www.example.com"
        ]

    def test_a_revisit_has_no_file(self) -> None:
        assert skipped(record("revisit", answer(b"", status="304 Not Modified"))) == {"revisit": 1}

    @pytest.mark.parametrize(
        ("lines", "body"),
        [
            (["Transfer-Encoding: chunked"], b"1b\r\n" + rules("/a") + b"\r\n0\r\n\r\n"),
            (["Content-Encoding: gzip"], gzip.compress(rules("/a"))),
            (["Content-Encoding: deflate"], zlib.compress(rules("/a"))),
            (["Content-Encoding: gzip"], rules("/a")),  # decoded, and the field was left
            (["X-Crawler-Content-Encoding: gzip"], rules("/a")),
            (["Content-Length: 27"], rules("/a")),
            (["Content-Length: many"], rules("/a")),
        ],
    )
    def test_codings(self, lines: list[str], body: bytes) -> None:
        assert only(record("response", answer(body, *lines)))[1] == rules("/a")

    def test_unknown_codings(self) -> None:
        block = answer(b"\x0b\x02\x80\x00\x01", "Content-Encoding: br")
        assert skipped(record("response", block)) == {"coding": 1}

    def test_half_a_file_is_not_a_file(self) -> None:
        for block, more in (
            (answer(rules("/a"), "Content-Length: 100"), {}),
            (answer(b"40\r\nUser-agent", "Transfer-Encoding: chunked"), {}),
            (answer(gzip.compress(rules("/a") * 9)[:-20], "Content-Encoding: gzip"), {}),
            (answer(), {"WARC_Truncated": "disconnect"}),
        ):
            assert skipped(record("response", block, **more)) == {"cut": 1}

    def test_a_long_file_is_cut(self) -> None:
        """A client would not read more of it either (RFC 9309 §2.5)."""
        body = b"# comment\n" * 200_000
        fetch_record, kept = only(record("response", answer(body)))
        assert fetch_record.complete is False
        assert kept is not None
        assert 500 * 1024 <= len(kept) <= 520 * 1024
        assert body.startswith(kept)
        assert parse(kept, complete=False).notes[-1].code == "truncated"
        long = record("response", answer(b"#" * 600_000), WARC_Truncated="length")
        assert only(long)[0].complete is False

    def test_no_store(self) -> None:
        fetch_record, body = only(
            record("response", answer(rules("/a"), "Cache-Control: no-store"))
        )
        assert (fetch_record.digest, body) == (body_digest(rules("/a")), None)

    @pytest.mark.parametrize(
        "block",
        [
            b"",
            b"hello",
            b"\x16\x03\x01\x02",
            b"HTTP/1.1 two hundred\r\n\r\n",
            b"HTTP/1.1 100 Continue\r\n\r\n",
            b"Content-Type: text/plain\r\n\r\nUser-agent: *\n",
            b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: a\r\n\r\nUser-agent: *\n",
            b"HTTP/1.1 200 OK\r\nX: " + b"y" * 2_000_000,
        ],
    )
    def test_no_http(self, block: bytes) -> None:
        assert skipped(record("response", block)) == {"no-http": 1}

    def test_an_interim_answer(self) -> None:
        block = b"HTTP/1.1 100 Continue\r\n\r\n" + answer()
        assert only(record("response", block))[1] == rules("/a")

    def test_an_answer_in_an_error_page(self) -> None:
        """A page that holds the text of an answer does not speak as one."""
        block = answer(answer(rules("/")), status="401 Unauthorized")
        assert only(record("response", block))[0].state is AccessState.UNAVAILABLE
        block = answer(answer(rules("/")), "Location: /", status="302 Found")
        assert skipped(record("response", block)) == {"redirect": 1}

    @pytest.mark.parametrize(
        ("date", "seconds"),
        [
            ("2026-05-01T00:00:00Z", 0.0),
            ("2026-05-01T00:00:00.250000Z", 0.25),
            ("2026-05-01T00:00:00.123456789Z", 0.123456),
            ("2026-05-01T02:00:00+02:00", 0.0),
            ("2026-05-01T00:00", 0.0),
        ],
    )
    def test_dates(self, date: str, seconds: float) -> None:
        assert only(record("response", answer(), WARC_Date=date))[0].at == START + seconds

    @pytest.mark.parametrize(
        "date", ["", "2026", "2026-05-01", "yesterday", "9999-99-99T00:00:00Z", "0001-01-01T00:00"]
    )
    def test_bad_dates(self, date: str) -> None:
        found = imported(record("response", answer(), WARC_Date=date))[1]
        assert found.skipped == {"bad-date": 1} or date.startswith("0001")

    @pytest.mark.parametrize("algorithm", ["sha1", "sha256", "SHA-512", "md5"])
    @pytest.mark.parametrize("name", ["WARC_Block_Digest", "WARC_Payload_Digest"])
    def test_digests(self, algorithm: str, name: str) -> None:
        block = answer()
        whole = block if name == "WARC_Block_Digest" else rules("/a")
        made = hashlib.new(algorithm.lower().replace("-", ""), whole).digest()
        forms = (base64.b32encode, base64.b16encode, base64.b64encode, base64.urlsafe_b64encode)
        for form in forms:
            right = {name: f"{algorithm}:{form(made).decode()}"}
            only(record("response", block, **right))
            wrong = {name: f"{algorithm}:{form(made[::-1]).decode()}"}
            assert skipped(record("response", block, **wrong)) == {"bad-digest": 1}

    def test_unknown_digests(self) -> None:
        for digest in ("whirlpool:abc", "sha1", "sha1:", ""):
            only(record("response", answer(), WARC_Block_Digest=digest))

    def test_ids_that_are_none(self) -> None:
        """Records without an id, or with the same, are read all the same."""
        for identity in ("", "<urn:uuid:1>"):
            many = [
                record(
                    "response",
                    answer(rules(f"/{number}")),
                    WARC_Record_ID=identity,
                    WARC_Target_URI=f"https://s{number}.example/robots.txt",
                )
                for number in range(30)
            ]
            store, done = imported(b"".join(many))
            assert done == WarcImport(30, 0, {})
            assert {fetch_record.agent for fetch_record in store.fetch_records()} == {"unknown"}

    @pytest.mark.parametrize("compressed", [False, True])
    def test_written_by_warcio(self, compressed: bool) -> None:
        """As crawlers that use it write: the answer, then the request, then the next."""
        from warcio.statusandheaders import StatusAndHeaders  # type: ignore[import-untyped]
        from warcio.warcwriter import WARCWriter  # type: ignore[import-untyped]

        stream = io.BytesIO()
        writer = WARCWriter(stream, gzip=compressed, warc_version="1.1")
        info = {"software": "somebody's crawler", "http-header-user-agent": "OldBot/1"}
        writer.write_record(writer.create_warcinfo_record("x.warc.gz", info))
        for number in range(3):
            url = f"https://s{number}.example/robots.txt"
            head = StatusAndHeaders("200 OK", [("Content-Type", "text/plain")], "HTTP/1.1")
            body = rules(f"/{number}")
            answered = writer.create_warc_record(
                url, "response", io.BytesIO(body), length=len(body), http_headers=head
            )
            lines = [("User-Agent", f"NewBot/{number}")]
            head = StatusAndHeaders("GET /robots.txt HTTP/1.1", lines, is_http_request=True)
            asked = writer.create_warc_record(
                url, "request", io.BytesIO(), length=0, http_headers=head
            )
            writer.write_request_response_pair(asked, answered)
        store, done = imported(stream.getvalue())
        assert done == WarcImport(3, 0, {})
        assert sorted(fetch_record.user_agent for fetch_record in store.fetch_records()) == [
            *("NewBot/0", "NewBot/1", "NewBot/2")
        ]
        assert all(store.body(fetch_record.digest or "") for fetch_record in store.fetch_records())

    def test_lines_end_as_they_like(self) -> None:
        archive = record("response", answer().replace(b"\r\n", b"\n")).replace(b"\r\n", b"\n")
        length = len(answer().replace(b"\r\n", b"\n"))
        assert f"Content-Length: {length}".encode() in archive
        assert only(archive)[1] == rules("/a")


# --- Hostile archives -----------------------------------------------------------------------------


def bodies(count: int) -> list[bytes]:
    """Return records of as many origins."""
    return [
        record(
            "response",
            answer(rules(f"/{number}") + b"# %d\n" % number * 20),
            WARC_Target_URI=f"https://s{number}.example/robots.txt",
            WARC_Record_ID=f"<urn:uuid:{number}>",
        )
        for number in range(count)
    ]


def mixed(compressed: bool) -> bytes:
    """Return an archive of ours, and two records of others behind it."""
    ours = exported(eventful().store, gzip=compressed)
    return ours + b"".join(map(gzip.compress, bodies(2)) if compressed else bodies(2))


ARCHIVES = {compressed: mixed(compressed) for compressed in (False, True)}


class TestDamage:
    """What is damaged is counted, and costs no more than it must."""

    def test_nothing(self) -> None:
        assert imported(b"")[1] == WarcImport(0, 0, {})
        assert imported(gzip.compress(b""))[1] == WarcImport(0, 0, {})

    @pytest.mark.parametrize(
        "archive",
        [
            b"<!doctype html><title>404</title>",
            b"x",
            b"\x1f\x8b",
            b"\x1f\x8b\x08garbage",
            b"\n" * 5_000,
            b"x" * 1_000_000,
            gzip.compress(b"x" * 1_000_000),
            gzip.compress(b"\n" * 1_000_000),
            b"WARC/1.1\r\n",
            b"WARC/1.1\r\nContent-Length: 5\r\n",
            b"WARC/1.1\r\nContent-Length: 5\r\n\r\n",
            b"WARC/1.1\r\nContent-Length: -5\r\n\r\n",
            b"WARC/1.1\r\nContent-Length: 1e9\r\n\r\n",
            b"WARC/1.1\r\nContent-Length: " + b"9" * 5_000 + b"\r\n\r\n",
            b"WARC/1.1\r\nWARC-Type: response\r\n\r\n",
            b"WARC/1.1\r\nX: " + b"y" * 1_000_000,
            b"WARC/1.1\r\n" + b"X: y\r\n" * 1_000_000,
            b"WARC/9.9\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\n\r\n",
        ],
        ids=lambda octets: repr(octets[:30]),
    )
    def test_no_archive(self, archive: bytes) -> None:
        assert skipped(archive) == {"damaged": 1}

    def test_cut_anywhere(self) -> None:
        """Of an archive that is cut, what came before the cut is there."""
        for compressed in (False, True):
            parts = [gzip.compress(one) if compressed else one for one in bodies(3)]
            archive = b"".join(parts)
            for end in range(len(parts[0]) + 1, len(archive), 7):
                _, done = imported(archive[:end])
                whole = sum(end >= len(b"".join(parts[: number + 1])) - 4 for number in range(3))
                assert done.added in (whole, whole - 1), end
                assert done.skipped.get("damaged", 0) <= 1

    def test_one_member_is_damaged(self) -> None:
        """Reading goes on at the next gzip member, whichever octet is wrong."""
        parts = [gzip.compress(one, mtime=0) for one in bodies(3)]
        for at in range(len(parts[1])):
            broken = bytearray(parts[1])
            broken[at] ^= 0x55
            store, done = imported(parts[0] + bytes(broken) + parts[2])
            origins = {fetch_record.origin for fetch_record in store.fetch_records()}
            assert {"https://s0.example", "https://s2.example"} <= origins, at
            if done.added == 3:
                # Only fields that do not describe the octets may be wrong: time, system, flags.
                assert at in range(3, 10)
            else:
                assert done.skipped["damaged"] >= 1

    def test_a_large_member_is_damaged_at_its_end(self) -> None:
        """All octets of a record were read before its checksum: that counts all the same."""
        noise = random.Random(1).randbytes(300_000).hex().encode()
        parts = [gzip.compress(one) for one in bodies(2)]
        large = record("response", answer(b"# " + noise), WARC_Record_ID="<urn:uuid:9>")
        broken = bytearray(gzip.compress(large))
        broken[-8] ^= 1
        store, done = imported(parts[0] + bytes(broken) + parts[1])
        assert done == WarcImport(2, 0, {"damaged": 1})
        assert SITE not in {fetch_record.origin for fetch_record in store.fetch_records()}

    def test_a_cut_member_and_the_next(self) -> None:
        """Wherever the cut is, and wherever a read of the file happens to end."""
        noise = random.Random(1).randbytes(150_000).hex().encode()
        large = gzip.compress(
            record("response", answer(b"# " + noise), WARC_Record_ID="<urn:uuid:9>")
        )
        rest = b"".join(map(gzip.compress, bodies(2)))
        for end in (5, 100, 65_530, 65_536, 65_540, 131_072, len(large) - 1):
            done = imported(large[:end] + rest)[1]
            assert done.added == 2, end
            assert done.skipped["damaged"] >= 1

    def test_octets_between_members(self) -> None:
        parts = [gzip.compress(one) for one in bodies(2)]
        assert imported(parts[0] + bytes(100) + parts[1] + bytes(10))[1] == WarcImport(2, 0, {})
        wrong = gzip.compress(b"nothing")
        for junk in (b"x", b"\x1f\x8b", b"\x1f\x8b\x08\xff" * 10, b"y" * 200_000, wrong, wrong * 9):
            done = imported(parts[0] + junk + parts[1])[1]
            assert done.added == 2
            assert done.skipped["damaged"] >= 1

    @pytest.mark.parametrize("lie", [-10, 10, 100_000])
    def test_a_length_that_lies(self, lie: int) -> None:
        """Affects only its own record, if each has a separate member."""
        parts = bodies(3)
        true = parts[1].partition(b"Content-Length: ")[2].partition(b"\r\n")[0]
        said = b"Content-Length: %d" % (int(true) + lie)
        parts[1] = parts[1].replace(b"Content-Length: " + true, said)
        store, done = imported(b"".join(map(gzip.compress, parts)))
        origins = {fetch_record.origin for fetch_record in store.fetch_records()}
        assert {"https://s0.example", "https://s2.example"} <= origins
        assert done.skipped.get("damaged", 0) == 1

    def test_without_members_reading_ends_there(self) -> None:
        """The text of a record within a page must not become one."""
        forged = record("response", answer(b"User-agent: *\nDisallow: /\n"))
        page = record("response", answer(b"\r\n\r\n" + forged), WARC_Target_URI=f"{SITE}/page")
        short = page.replace(b"Content-Length: ", b"Content-Length: 1\r\nX: ", 1)
        first, last = bodies(2)
        for archive in (first + short + last, gzip.compress(first + short + last)):
            store, done = imported(archive)
            assert [fetch_record.origin for fetch_record in store.fetch_records()] == [
                "https://s0.example"
            ]
            assert done.skipped == {"other": 1, "damaged": 1}

    @given(st.data())
    def test_any_change(self, data: st.DataObject) -> None:
        """Octets changed, added or left out: never an exception, never a file that was not."""
        archive = bytearray(ARCHIVES[data.draw(st.booleans())])
        for _ in range(data.draw(st.integers(1, 4))):
            at = data.draw(st.integers(0, len(archive) - 1))
            end = at + data.draw(st.sampled_from([0, 1, 2, 50]))
            archive[at:end] = data.draw(st.binary(max_size=8))
            archive = archive or bytearray(b"x")
        store, done = imported(bytes(archive))
        assert set(done.skipped) <= set(SKIP_REASONS)
        for fetch_record in store.fetch_records():
            body = store.body(fetch_record.digest or "")
            assert body is None or body_digest(body) == fetch_record.digest

    def test_blank_lines_without_end(self) -> None:
        """What follows a record to the end of its member is read, but not for ever."""
        large = gzip.compress(bodies(1)[0] + b"\n" * 2_000_000)
        assert imported(large)[1] == WarcImport(0, 0, {"damaged": 1})

    def test_damage_without_end(self) -> None:
        """An archive that is nothing but the starts of gzip members is given up."""
        done = imported(b"\x1f\x8b\x08\xff" * 2_000_000)[1]
        assert done == WarcImport(0, 0, {"damaged": 10_000})
        wrong = gzip.compress(b"nothing\n", 1)
        assert imported(wrong * 20_000)[1].skipped["damaged"] <= 10_001

    def test_an_international_name_without_its_library(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        target = {"WARC_Target_URI": "https://b\xfccher.example/robots.txt"}
        assert only(record("response", answer(), **target))[0].origin.startswith("https://xn--")
        monkeypatch.setitem(sys.modules, "idna", None)
        target = {"WARC_Target_URI": "https://m\xfcller.example/robots.txt"}
        assert skipped(record("response", answer(), **target)) == {"other": 1}


class Endless(io.RawIOBase):
    """A stream that gives the same octets again and again, up to a size."""

    def __init__(self, first: bytes, again: bytes, size: int) -> None:
        self._ready, self._again, self._left = first, again, size

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        assert size > 0, "nobody reads an archive as a whole"
        while len(self._ready) < size and self._left > 0:
            self._ready += self._again
            self._left -= len(self._again)
        piece, self._ready = self._ready[:size], self._ready[size:]
        return piece


def deflated(block: bytes, times: int) -> tuple[bytes, bytes]:
    """Return gzip that starts with a block, and what may follow it so many times."""
    made = zlib.compressobj(9, zlib.DEFLATED, 31)
    first = made.compress(block) + made.flush(zlib.Z_FULL_FLUSH)
    again = made.compress(bytes(2**20)) + made.flush(zlib.Z_FULL_FLUSH)
    return first, again * times


@pytest.mark.slow
class TestBounds:
    """Memory is that of a few records, whatever sizes an archive declares."""

    @pytest.mark.parametrize(
        "stream",
        [
            pytest.param(
                lambda: Endless(
                    b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: https://example.com/"
                    b"robots.txt\r\nContent-Length: 999999999\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
                    b"# comment\n" * 1000,
                    20_000_000,
                ),
                id="one record without end",
            ),
            pytest.param(
                lambda: Endless(b"WARC/1.1\r\n", b"X: y\r\n" * 1000, 20_000_000), id="header"
            ),
            pytest.param(lambda: Endless(b"WARC/1.1\r\nX: ", b"y" * 1000, 20_000_000), id="line"),
            pytest.param(lambda: Endless(b"", b"\r\n" * 1000, 20_000_000), id="blank lines"),
            pytest.param(
                lambda: io.BytesIO(b"".join(deflated(b"WARC/1.1\r\nX: ", 40))), id="bomb in a line"
            ),
            pytest.param(
                lambda: io.BytesIO(
                    b"".join(
                        deflated(
                            b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: "
                            + ROBOTS.encode()
                            + b"\r\nContent-Length: 900000000\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
                            60,
                        )
                    )
                ),
                id="bomb in a file",
            ),
            pytest.param(
                lambda: Endless(
                    b"",
                    record(
                        "response",
                        answer(gzip.compress(bytes(2**24)), "Content-Encoding: gzip"),
                        WARC_Record_ID="<urn:uuid:1>",
                    ),
                    200_000,
                ),
                id="bombs in answers",
            ),
            pytest.param(
                lambda: Endless(
                    b"", record("request", REQUEST + bytes(2**16), WARC_Record_ID="x"), 12_000_000
                ),
                id="requests",
            ),
        ],
    )
    def test_memory(self, stream: Callable[[], Any]) -> None:
        given = stream()
        import_warc(MemoryStore(), io.BytesIO(exported(eventful().store)))  # what is loaded once
        tracemalloc.start()
        try:
            import_warc(MemoryStore(), given)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 48 * 2**20, f"{peak / 2**20:.0f} MiB"

    @pytest.mark.parametrize(
        ("most", "made"),
        [
            pytest.param(
                6,
                lambda number: record(
                    "response",
                    answer(b"# %d\n" % number + b"#" * 200_000),
                    WARC_Record_ID=f"<urn:uuid:{number}>",
                    WARC_Target_URI=f"https://s{number}.example/robots.txt",
                ),
                id="answers",
            ),
            pytest.param(
                2,
                lambda number: b"".join(
                    record(
                        "request",
                        b"GET /robots.txt HTTP/1.1\r\nUser-Agent: %d %s\r\n\r\n"
                        % (number * 30 + one, b"x" * 990),
                        WARC_Record_ID=f"<urn:uuid:{number * 30 + one}>",
                    )
                    for one in range(30)
                ),
                id="requests",
            ),
        ],
    )
    def test_what_waits_is_little(self, most: int, made: Callable[[int], bytes]) -> None:
        """Answers wait for their requests, and requests for their answers, but not for ever."""

        class Sink(MemoryStore):
            def add(self, fetch_records: Any) -> int:
                return sum(1 for _ in fetch_records)

        archive = io.BytesIO(b"".join(map(made, range(100))))
        tracemalloc.start()
        try:
            import_warc(Sink(), archive)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < most * 2**20, f"{peak / 2**20:.0f} MiB"

    def test_many_fetches(self, tmp_path: Path) -> None:
        """Neither direction keeps more than a few fetches in memory at a time."""
        path = tmp_path / "a.warc"
        store = SQLiteStore(tmp_path / "a.sqlite")
        template = History().record_fetch(0, file("/a"))
        body = b"# %d\n" + b"#" * 200_000

        def made() -> Iterator[tuple[FetchRecord, bytes]]:
            for number in range(300):
                octets = body % number
                yield (
                    template._replace(
                        at=START + number,
                        until=START + number,
                        digest=body_digest(octets),
                        size=len(octets),
                    ),
                    octets,
                )

        store.add(made())
        again = SQLiteStore(tmp_path / "b.sqlite")
        tracemalloc.start()
        try:
            assert export_warc(store, path) == 300
            assert import_warc(again, path)[:3] == (300, 0, {})
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            store.close()
            again.close()
        assert path.stat().st_size > 60_000_000
        assert peak < 20 * 2**20, f"{peak / 2**20:.0f} MiB"
