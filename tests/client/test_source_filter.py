"""
Own fetches and imports: an archive never passes for an own crawl, and own fetches go first.

The archives here name the crawler, the origin and the times that suit them, as a forger would.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from robotrules.access import Response
from robotrules.cache import Provenance, Store, body_digest
from robotrules.client.evidence import Evidence
from robotrules.client.historical_verdict import HistoricalVerdict, describe_provenance
from robotrules.client.source_filter import make_source_filter
from robotrules.client.stores import MemoryStore
from robotrules.client.warc import export_warc, import_warc
from tests.client.histories import DAY, SITE, START, History, file, refused

IMPORTED_AT = START + 100 * DAY


def archive(*fetch_records: tuple[float, str], agent: str = "ExampleBot") -> bytes:
    """Return an archive whose fetches found files that disallow a path, days after the start."""
    history = History()
    for days, path in fetch_records:
        history.record_fetch(days, file(path), agent=agent)
    stream = io.BytesIO()
    export_warc(history.store, stream)
    return stream.getvalue()


def imported(store: Store, octets: bytes, name: str = "forged.warc") -> Provenance:
    """Import an archive; return the provenance of its fetches."""
    done = import_warc(store, io.BytesIO(octets), name=name, now=IMPORTED_AT)
    assert done.provenance is not None
    return done.provenance


def at(store: Store, days: float, path: str = "/a", **options: Any) -> HistoricalVerdict:
    """Check a path against the rules of a given time."""
    found = Evidence(store).at(f"{SITE}{path}", START + days * DAY, "ExampleBot", **options)
    assert options.get("source") or found.source in (None, "own") or found.notes
    return found


def codes(found: HistoricalVerdict) -> list[str]:
    """Return the codes of its notes."""
    return [note.code for note in found.notes]


class TestPrecedence:
    """Own fetches always go first; an answer from an archive is marked as such."""

    @pytest.fixture
    def store(self) -> MemoryStore:
        history = History()
        history.record_fetch(1, file("/a"))
        history.record_fetch(1.5, file("/a"))
        imported(history.store, archive((0.5, "/z"), (1.6, "/b"), (4, "/b")))
        assert isinstance(history.store, MemoryStore)
        return history.store

    def test_an_own_fetch_in_force(self, store: MemoryStore) -> None:
        """A later fetch of the same crawler in an archive changes nothing, and is pointed out."""
        found = at(store, 2)
        assert (found.allowed, found.source, found.in_force) == (False, "own", True)
        assert codes(found) == ["import-differs"]
        assert found.notes[0].level == "warning"
        assert "forged.warc" in found.notes[0].message
        assert at(store, 2, "/b").allowed is True

    def test_an_own_fetch_that_had_lapsed(self, store: MemoryStore) -> None:
        """It is still the answer: an archive cannot fill the time after it unnoticed."""
        found = at(store, 4.5)
        assert (found.allowed, found.source, found.in_force) == (False, "own", False)
        assert codes(found) == ["lapsed", "import-held"]
        assert "found something else: own fetches take precedence" in found.notes[1].message

    def test_lapsed_both(self, store: MemoryStore) -> None:
        """Own fetches go first then too."""
        found = at(store, 9)
        assert (found.allowed, found.source, found.in_force) == (False, "own", False)
        assert codes(found) == ["lapsed", "import-differs"]

    def test_before_the_first_own_fetch(self, store: MemoryStore) -> None:
        """An archive answers, and a warning names it."""
        found = at(store, 0.75, "/z")
        assert (found.allowed, found.source, found.in_force) == (False, "import", True)
        assert codes(found)[-1] == "imported"
        assert found.notes[-1].level == "warning"
        assert "imported from 'forged.warc', SHA-256 " in found.notes[-1].message
        assert found.next_fetch_record is not None
        assert found.next_fetch_record.source == "import"
        assert "imported from 'forged.warc'" in str(found)

    def test_a_requested_source(self, store: MemoryStore) -> None:
        """Each source can be used alone."""
        found = at(store, 2, "/b", source="imported")
        assert (found.allowed, found.source) == (False, "import")
        assert "imported" in codes(found)
        assert "import-differs" not in codes(found)
        own = at(store, 4.5, source="own")
        assert (own.allowed, codes(own)) == (False, ["lapsed"])
        never = at(store, 0.75, source="own")
        assert (never.allowed, codes(never)) == (None, ["never-visited"])
        assert never.next_fetch_record is not None
        assert never.next_fetch_record.at == START + DAY
        assert "(own)" in never.notes[0].message

    def test_the_next_fetch(self, store: MemoryStore) -> None:
        """It is one of the same source."""
        found = at(store, 1.2)
        assert found.next_fetch_record is not None
        assert (found.next_fetch_record.at, found.next_fetch_record.source) == (
            START + 1.5 * DAY,
            "own",
        )

    def test_the_same_found(self) -> None:
        """An archive that agrees confirms the answer, and no note is needed."""
        history = History()
        history.record_fetch(1, file("/a"))
        imported(history.store, archive((1.2, "/a")))
        assert codes(at(history.store, 1.5)) == []
        imported(history.store, archive((3, "/a")), "later.warc")
        found = at(history.store, 3.5)
        assert codes(found) == ["lapsed", "import-held"]
        assert "found the same" in found.notes[1].message

    def test_failures_are_not_counted_together(self) -> None:
        """Own failures and those of an archive are two histories."""
        history, other = History(), History()
        history.record_fetch(0, file("/a"))
        history.record_fetch(1, refused())
        other.record_fetch(0.5, refused())
        other.record_fetch(0.9, Response(404))
        stream = io.BytesIO()
        export_warc(other.store, stream)
        imported(history.store, stream.getvalue())
        found = at(history.store, 1)
        assert found.entry is not None
        assert (found.entry.failures, found.entry.failing_since) == (1, START + DAY)
        assert found.allowed is False

    def test_two_crawlers_in_an_archive(self) -> None:
        """A lapsed one found something else, and so did one in force: both are reported."""
        history = History()
        history.record_fetch(0, file("/a"))
        imported(history.store, archive((1, "/b"), agent="LateBot"), "late.warc")
        imported(history.store, archive((4, "/c"), agent="HeldBot"), "held.warc")
        found = at(history.store, 4.5)
        assert codes(found) == ["lapsed", "import-differs", "import-held"]
        assert "LateBot" in found.notes[1].message
        assert "HeldBot" in found.notes[2].message

    def test_another_reading(self) -> None:
        """A profile that reads the status otherwise does not make an import an own fetch."""
        history, other = History(), History()
        history.record_fetch(0, file("/a"))
        other.record_fetch(0.5, Response(429))
        stream = io.BytesIO()
        export_warc(other.store, stream)
        imported(history.store, stream.getvalue())
        seen = START + 0.5 * DAY
        for profile in ("default", "strict", "google"):
            found = Evidence(history.store, profile).at(f"{SITE}/a", seen, "ExampleBot")
            assert (found.source, found.allowed) == ("own", False), profile
            alone = Evidence(history.store, profile).at(
                f"{SITE}/a", seen, "ExampleBot", source="imported"
            )
            assert alone.source == "import", profile
            assert "imported" in codes(alone)

    def test_two_archives(self) -> None:
        """Imports of one crawler are one history, and crawlers among them differ as own ones do."""
        store = MemoryStore()
        first = imported(store, archive((0, "/a")), "first.warc")
        imported(store, archive((0.5, "/b")), "second.warc")
        imported(store, archive((0.6, "/c"), agent="OtherBot"), "third.warc")
        found = at(store, 0.7, "/b")
        assert found.allowed is False
        assert codes(found) == ["imported", "crawlers-differ"]
        assert "second.warc" in found.notes[0].message
        alone = at(store, 0.7, source=first.digest[:8])
        assert alone.allowed is False
        assert alone.fetch_record is not None
        assert alone.fetch_record.provenance == first


class TestHistory:
    """Fetches and periods by their source."""

    def test_periods(self) -> None:
        """Own fetches and those of each archive are separate periods."""
        history = History()
        history.record_fetch(0, file("/a"))
        first = imported(history.store, archive((0.5, "/a")), "first.warc")
        second = imported(history.store, archive((0.6, "/a")), "second.warc")
        history.record_fetch(1, file("/a"))
        evidence = Evidence(history.store)
        periods = evidence.periods(SITE)
        assert [(one.fetches, one.first.provenance) for one in periods] == [
            (2, None),
            (1, first),
            (1, second),
        ]
        described = [one.as_dict() for one in periods]
        assert [one["source"] for one in described] == ["own", "import", "import"]
        assert described[0]["archive"] is None
        assert described[1]["archive"] == {
            "name": "first.warc",
            "sha256": first.digest,
            "imported": "2026-08-09T00:00:00.000+00:00",
        }
        assert [one.fetches for one in evidence.periods(SITE, source="own")] == [2]
        assert len(list(evidence.fetch_records(SITE, source="imported"))) == 2
        assert len(list(evidence.fetch_records(SITE, source=second.digest.upper()))) == 1

    def test_as_dict(self) -> None:
        """JSON contains the source of an answer."""
        store = MemoryStore()
        given = imported(store, archive((0, "/a")))
        said = at(store, 0.5).as_dict()
        assert said["source"] == said["fetch_record"]["source"] == "import"
        assert said["fetch_record"]["archive"]["sha256"] == given.digest
        assert at(store, -1).as_dict()["source"] is None

    @pytest.mark.parametrize("bad", ["", "Own", "import", "abc", "xyz" * 10, "0" * 65, 5])
    def test_unknown_sources(self, bad: Any) -> None:
        """A misspelt source is misuse, whatever the store knows."""
        evidence, empty = Evidence(MemoryStore()), MemoryStore()
        asking: list[Callable[[], object]] = [
            lambda: make_source_filter(bad),
            lambda: evidence.at(SITE, START, "ExampleBot", source=bad),
            lambda: evidence.at("mailto:me", START, "ExampleBot", source=bad),
            lambda: evidence.fetch_records(SITE, source=bad),
            lambda: export_warc(empty, io.BytesIO(), source=bad),
        ]
        words = f"unknown source {bad!r}: use 'own', 'imported', or at least 8 digits of the "
        for ask in asking:
            with pytest.raises(ValueError, match="unknown source") as caught:
                ask()
            assert str(caught.value) == f"{words}SHA-256 of an archive"

    def test_one_archive(self) -> None:
        """Its SHA-256, with or without the name of that, and eight digits of it or more."""
        store = MemoryStore()
        given = imported(store, archive((0, "/a")))
        [fetch_record] = store.fetch_records()
        digest = given.digest
        for source in (digest, digest.upper(), f"sha256:{digest}", f"SHA256:{digest}", digest[:8]):
            assert make_source_filter(source)(fetch_record)
            assert not make_source_filter(source)(fetch_record._replace(provenance=None))
        assert not make_source_filter("0" * 8)(fetch_record)

    def test_words(self) -> None:
        """An archive that had no name is one all the same."""
        given = Provenance("", "0" * 64, START)
        assert describe_provenance(given).startswith("imported from an archive, SHA-256 000")


class Forward:
    """A stream that cannot go back."""

    def __init__(self, octets: bytes) -> None:
        self._stream = io.BytesIO(octets)

    def read(self, size: int = -1) -> bytes:
        """Return octets."""
        return self._stream.read(size)


class TestImporting:
    """Each imported fetch names its archive."""

    def test_a_file(self, tmp_path: Path) -> None:
        """By its name without the folder, and its SHA-256."""
        octets, path, store = archive((0, "/a")), tmp_path / "a b.warc", MemoryStore()
        path.write_bytes(octets)
        done = import_warc(store, path)
        assert done.provenance is not None
        assert done.provenance[:2] == ("a b.warc", body_digest(octets))
        assert done.provenance.imported_at > START
        assert [fetch_record.provenance for fetch_record in store.fetch_records()] == [
            done.provenance
        ]
        assert done.as_dict()["archive"]["name"] == "a b.warc"
        with path.open("rb") as stream:
            again = import_warc(store, stream).provenance
        assert again is not None
        assert again[:2] == done.provenance[:2]

    @pytest.mark.parametrize("make", [io.BytesIO, Forward])
    def test_streams(self, make: Callable[[bytes], BinaryIO]) -> None:
        """One that cannot go back is read all the same; a part before its place is not read."""
        octets, store, told = archive((0, "/a"), (1, "/b")), MemoryStore(), list[int]()
        stream = make(b"before" + octets)
        stream.read(6)
        done = import_warc(store, stream, now=5, progress=told.append)
        assert done.provenance == Provenance("", body_digest(octets), 5)
        assert (done.added, sum(told)) == (2, len(octets))

    def test_names(self) -> None:
        """A name is shown as it can be, and not without end."""
        for name, kept in {
            "x/y/z.warc": "z.warc",
            "a\n\x1b[31mb": "a\\x0a\\x1b[31mb",
            "long" * 100: ("long" * 100)[:255],
            os.fsdecode(b"caf\xe9.warc"): "caf\\udce9.warc",
        }.items():
            assert imported(MemoryStore(), archive((0, "/a")), name).archive == kept

    def test_provenance_in_the_archive_is_ignored(self) -> None:
        """An archive cannot declare its fetches as own, or as from another archive."""
        store = MemoryStore()
        first = imported(store, archive((0, "/a")), "first.warc")
        for chosen, count in ((None, 1), ("own", 0), ("imported", 1), (first.digest, 1)):
            stream = io.BytesIO()
            assert export_warc(store, stream, source=chosen) == count
        octets, again = stream.getvalue(), MemoryStore()
        assert b'"digest": "%s"' % first.digest.encode() in octets
        assert imported(again, octets, "second.warc").archive == "second.warc"
        assert [
            fetch_record.provenance and fetch_record.provenance.archive
            for fetch_record in again.fetch_records()
        ] == ["second.warc"]

    def test_an_archive_that_changes(self, tmp_path: Path) -> None:
        """An archive that changes during the import raises an error."""
        path = tmp_path / "a.warc"
        path.write_bytes(archive((0, "/a")))
        size = path.stat().st_size

        def change(octets: int) -> None:
            """Write more while it is read, once."""
            if path.stat().st_size == size:
                path.write_bytes(path.read_bytes() + b"\r\n")

        with pytest.raises(ValueError, match="changed during the import"):
            import_warc(MemoryStore(), path, progress=change)
