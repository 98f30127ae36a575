"""`robotrules cache`, run in this process: listing, pruning, and the location of the store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robotrules.access import Response
from robotrules.cli import client
from robotrules.cli.cache import _Lines
from robotrules.client.stores import SQLiteStore, serialization
from tests.cli.shell import Ran, robotrules
from tests.client.histories import DAY, SITE, START, History, file, refused


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with an origin of each kind, half a day after the first fetch."""
    path = tmp_path / "cache.sqlite"
    history = History(SQLiteStore(path))
    history.record_fetch(-40, file("/old"), site="https://old.example")
    history.record_fetch(0, file("/a"))
    history.record_fetch(0, file("/a"), agent="OtherBot")
    history.record_fetch(0, Response(404), site="https://none.example")
    history.record_fetch(0.5, refused(), site="https://down.example")
    history.store.close()
    monkeypatch.setattr(client, "now", lambda: START + DAY / 2 + 10)
    return str(path)


def cache(verb: str, where: str, *arguments: str, **options: Any) -> Ran:
    """Run a command with a store."""
    return robotrules("cache", verb, "--store", where, *arguments, **options)


class TestShow:
    """A line for each origin and crawler: the deciding state, its expiry and its start."""

    def test_tabs(self, where: str) -> None:
        ran = cache("show", where)
        rows = [line.split("\t") for line in ran.out.splitlines()]
        assert ran.code == 0
        assert [(row[0], row[1], row[2]) for row in rows] == [
            ("unreachable", "https://down.example", "ExampleBot"),
            ("rules", SITE, "ExampleBot"),
            ("rules", SITE, "OtherBot"),
            ("no file", "https://none.example", "ExampleBot"),
            ("expired", "https://old.example", "ExampleBot"),
        ]
        assert rows[1][3:] == [
            "2026-05-02T00:00:00.000+00:00",
            "2026-05-01T00:00:00.000+00:00",
            "status 200",
        ]
        assert rows[0][5] == "no connection: connection refused"
        assert rows[4][3] == "due"

    def test_columns(self, where: str) -> None:
        out = cache("show", where, terminals=("stdout",)).out
        assert "\x1b[31munreachable\x1b[0m  https://down.example" in out
        assert "until 2026-05-02 00:00 UTC  requested 00:00 UTC" in out

    def test_many(self, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """They are written some at a time."""
        monkeypatch.setattr(_Lines, "BATCH", 2)
        for terminals in ((), ("stdout",)):
            out = cache("show", where, terminals=terminals).out
            assert len(out.splitlines()) == 5

    def test_some(self, where: str) -> None:
        ran = cache("show", where, f"{SITE}/page?x", "https://NONE.example")
        assert len(ran.out.splitlines()) == 3
        ran = cache("show", where, "https://other.example")
        assert (ran.code, ran.out) == (0, "")
        assert ran.err == "robotrules cache show: the store has no entry of these origins\n"

    def test_json(self, where: str) -> None:
        rows = [json.loads(line) for line in cache("show", where, "--json").out.splitlines()]
        assert [row["policy"] for row in rows] == [
            "disallow",
            "rules",
            "rules",
            "allow",
            "nothing",
        ]
        assert rows[0]["failures"] == 1
        assert (rows[4]["must_refresh"], rows[4]["reason"]) == (True, "stale")

    def test_profiles(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Under `stale` a copy decides while a file is unreachable."""
        store = SQLiteStore(tmp_path / "s")
        history = History(store)
        history.record_fetch(0, file("/a"))
        history.record_fetch(1, refused())
        store.close()
        monkeypatch.setattr(client, "now", lambda: START + DAY + 10)
        words = [
            cache("show", str(tmp_path / "s"), "--profile", name).out.split("\t")[0]
            for name in ("default", "stale")
        ]
        assert words == ["unreachable", "rules"]

    def test_restricted(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A 403 that a profile treats as disallow is not a failure."""
        from robotrules.access import ACCESS_PROFILES

        store = SQLiteStore(tmp_path / "s")
        History(store).record_fetch(0, Response(403))
        store.close()
        monkeypatch.setattr(client, "now", lambda: START + 10)
        old = ACCESS_PROFILES["default"].replace(deny_on_401_403=True)
        monkeypatch.setitem(ACCESS_PROFILES, "default", old)
        assert cache("show", str(tmp_path / "s")).out.startswith("restricted\t")

    def test_nothing(self, tmp_path: Path) -> None:
        SQLiteStore(tmp_path / "s").close()
        for terminals in ((), ("stdout",)):
            ran = cache("show", str(tmp_path / "s"), terminals=terminals)
            assert (ran.code, ran.out) == (0, "")
            assert "the store has no entry" in ran.err

    def test_hostile(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A store of version 1 took names that are refused now."""
        monkeypatch.setattr(serialization, "vet_record", lambda visit, body: None)
        store = SQLiteStore(tmp_path / "s")
        History(store).record_fetch(0, Response(404), agent="Bot\x1b[2J")
        store.close()
        out = cache("show", str(tmp_path / "s")).out
        assert "Bot\\x1b[2J" in out
        assert "\x1b" not in out


class TestPrune:
    """Old entries are deleted; evidence is deleted only on request."""

    def test_entries(self, where: str) -> None:
        ran = cache("prune", where, "--older-than", "30d")
        assert (ran.code, ran.out) == (0, "")
        assert ran.err == "robotrules cache prune: 1 entry removed; evidence is kept\n"
        assert len(cache("show", where).out.splitlines()) == 4
        assert robotrules("evidence", "https://old.example", "--list", "--store", where).code == 0

    def test_evidence(self, where: str) -> None:
        ran = cache("prune", where, "--before", "2026-05-01T06:00Z", "--evidence")
        assert ran.err.endswith("4 entries and 4 fetch records removed\n")
        assert robotrules("evidence", SITE, "--list", "--store", where).code == 2
        down = ("evidence", "https://down.example", "--list", "--store", where)
        assert robotrules(*down).code == 0

    def test_json(self, where: str) -> None:
        ran = cache("prune", where, "--before", "2026-01-01", "--json")
        assert json.loads(ran.out) == {
            "before": "2026-01-01T00:00:00.000+00:00",
            "entries": 0,
            "fetch_records": None,
        }

    @pytest.mark.parametrize(
        ("typed", "entries"), [("13h", 4), ("0.5d", 4), ("1d", 1), ("2w", 1), ("6w", 0)]
    )
    def test_spans(self, where: str, typed: str, entries: int) -> None:
        ran = cache("prune", where, "--older-than", typed, "--json")
        assert json.loads(ran.out)["entries"] == (entries if typed != "13h" else 1)

    @pytest.mark.parametrize("typed", ["", "30", "d", "-1d", "1y", "1d1h", "9999999d"])
    def test_no_spans(self, where: str, typed: str) -> None:
        ran = cache("prune", where, "--older-than", typed)
        assert ran.code == 2
        assert "is not a duration: pass a number and s, m, h, d or w" in ran.err

    def test_how_old(self, where: str) -> None:
        for arguments in ((), ("--older-than", "1d", "--before", "2026-05-01")):
            ran = cache("prune", where, *arguments)
            assert ran.code == 2
            assert "pass either --older-than" in ran.err


class TestPath:
    """Where the store is."""

    def test_files(self, tmp_path: Path, where: str) -> None:
        ran = robotrules("cache", "path", ROBOTRULES_CACHE_DIR=str(tmp_path))
        assert ran.out == f"{tmp_path / 'robots.sqlite'}\n"
        assert cache("path", where).out == f"{where}\n"
        assert cache("path", f"sqlite:{where}").out == f"{where}\n"
        found = json.loads(cache("path", where, "--json").out)
        assert (found["store"], found["exists"]) == (where, True)
        assert found["size"] > 0
        assert not (tmp_path / "robots.sqlite").exists()

    def test_servers(self) -> None:
        """A password is not shown."""
        for where, shown in (
            ("redis://:secret@host/0", "redis://:…@host/0"),
            ("postgresql://me:secret@host/db", "postgresql://me:…@host/db"),
            ("postgresql://me@host/db", "postgresql://me@host/db"),
            ("redis://host", "redis://host"),
            ("memory:", "memory:"),
        ):
            assert cache("path", where).out == f"{shown}\n"
            assert json.loads(cache("path", where, "--json").out)["exists"] is None


class TestUsage:
    """Misuse gives a one-line error with a fix."""

    def test_no_command(self) -> None:
        ran = robotrules("cache")
        assert (ran.code, ran.out) == (2, "")
        assert "robotrules cache prune --older-than 30d" in ran.err

    def test_no_store(self, tmp_path: Path) -> None:
        path = tmp_path / "none"
        for verb, *arguments in (("show",), ("prune", "--older-than", "1d")):
            ran = cache(verb, str(path), *arguments)
            assert (ran.code, ran.out) == (2, "")
            assert "there is no store at" in ran.err
        assert not path.exists()

    def test_a_store_of_another_user(self, tmp_path: Path) -> None:
        path = tmp_path / "notes.txt"
        path.write_text(
            "my notes, which are no database, and more than a hundred octets of them" * 9
        )
        ran = cache("show", str(path))
        assert ran.code == 2
        assert "--store" in ran.err
        assert path.read_text().startswith("my notes")

    def test_origins(self, where: str) -> None:
        assert "is not an origin" in cache("show", where, "example.com").err
