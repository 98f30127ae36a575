"""`robotrules evidence`, run in this process: every way in, colour, hostile input, lost stores."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from robotrules import StoreError
from robotrules.access import Response
from robotrules.cache import body_digest
from robotrules.cli import client
from robotrules.client.stores import SQLiteStore, serialization
from robotrules.client.warc import export_warc
from tests.cli.shell import Ran, robotrules
from tests.client.histories import DAY, SITE, START, History, file, refused, rules
from tests.client.warc_readers import with_fastwarc

URL = f"{SITE}/a"
AS = ["--as", "ExampleBot"]


@pytest.fixture
def where(tmp_path: Path) -> str:
    """A store with a history: /a, then a failure, then /b."""
    path = tmp_path / "evidence.sqlite"
    history = History(SQLiteStore(path))
    history.record_fetch(0, file("/a"))
    history.record_fetch(1, refused())
    history.record_fetch(2, file("/b"))
    history.store.close()
    return str(path)


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with everything that a stranger could write into it, in version 1."""
    monkeypatch.setattr(serialization, "vet_record", lambda visit, body: None)
    path = tmp_path / "evil.sqlite"
    store = SQLiteStore(path)
    body = b"User-agent: *\nDisallow: /a\x1b[31m\n"
    visit = (
        History()
        .record_fetch(0, file("/a"))
        ._replace(
            agent="Bot\x1b[2J",
            user_agent="Bot\x1b[2J/1\r\n",
            url=f"{SITE}/\x1b",
            address="\x1b",
            digest=body_digest(body),
            size=len(body),
        )
    )
    failed = (
        History().record_fetch(1, refused())._replace(agent="Bot\x1b[2J", detail="no\x1b[31m way")
    )
    store.add([(visit, body), (failed, None)])
    store.close()
    return str(path)


def asked(where: str, *arguments: str, **options: Any) -> Ran:
    """Run the command with a store."""
    return robotrules("evidence", "--store", where, *arguments, **options)


class TestMoments:
    """A moment is in ISO 8601, and in UTC unless it has an offset."""

    @pytest.mark.parametrize(
        ("typed", "at"),
        [
            ("2026-05-01T12:00Z", "2026-05-01T12:00:00Z"),
            ("2026-05-01T12:00:30.5Z", "2026-05-01T12:00:30Z"),
            ("2026-05-01T14:00+02:00", "2026-05-01T12:00:00Z"),
            ("2026-05-01 12:00Z", "2026-05-01T12:00:00Z"),
            ("2026-05-01", "2026-05-01T00:00:00Z"),
            (" 2026-05-01 ", "2026-05-01T00:00:00Z"),
        ],
    )
    def test_typed(self, where: str, typed: str, at: str) -> None:
        ran = asked(where, URL, *AS, "--at", typed)
        assert ran.err == ""
        assert f"At        {at}\n" in ran.out
        assert ran.code == 1

    def test_without_a_zone(self, where: str) -> None:
        ran = asked(where, URL, *AS, "--at", "2026-05-01T12:00")
        assert "has no time zone and is read as UTC" in ran.err
        assert ran.code == 1

    @pytest.mark.parametrize("typed", ["", "noon", "2026", "2026-13-01", "20260501", "1777593600"])
    def test_none(self, where: str, typed: str) -> None:
        ran = asked(where, URL, *AS, "--at", typed)
        assert (ran.code, ran.out) == (2, "")
        assert "is not a date or time: pass one such as 2026-05-01T12:00Z" in ran.err

    def test_now(self, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(client, "now", lambda: START + DAY / 2)
        for arguments in ((), ("--at", "now")):
            assert "At        2026-05-01T12:00:00Z\n" in asked(where, URL, *AS, *arguments).out


class TestAnswers:
    """The exit code is the verdict; 2 means unknown."""

    @pytest.mark.parametrize(
        ("moment", "code"),
        [
            ("2026-04-30", 2),
            ("2026-05-01T12:00Z", 1),
            ("2026-05-02T00:00:30Z", 1),
            ("2026-05-03T12:00Z", 0),
            ("2026-06-01", 0),
        ],
    )
    def test_exit_codes(self, where: str, moment: str, code: int) -> None:
        for form in ((), ("--json",)):
            assert asked(where, URL, *AS, "--at", moment, *form).code == code

    def test_json(self, where: str) -> None:
        ran = asked(where, URL, *AS, "--at", "2026-05-01T12:00Z", "--json")
        found = json.loads(ran.out)
        assert (found["allowed"], found["line"], found["in_force"]) == (False, 2, True)
        assert ran.err == ""
        ran = asked(where, URL, *AS, "--at", "2026-04-30", "--json")
        assert json.loads(ran.out)["allowed"] is None
        assert ran.err.startswith("robotrules evidence: There is no fetch of https://example.com")

    def test_colour(self, where: str) -> None:
        shown = {"terminals": ("stdout",)}
        out = asked(where, URL, *AS, "--at", "2026-05-01T12:00Z", **shown).out
        assert out.startswith("\x1b[31mdisallowed\x1b[0m  ")
        assert "\x1b[31m^^\x1b[0m" in out
        assert "\x1b[1mNotes\x1b[0m" in out
        out = asked(where, URL, *AS, "--at", "2026-04-30", **shown).out
        assert out.startswith("\x1b[2munknown\x1b[0m")
        assert "\x1b[31merror\x1b[0m never-visited" in out
        assert "\x1b" not in asked(where, URL, *AS, "--at", "2026-04-30").out

    def test_several_names(self, where: str) -> None:
        names = ("--as", "ExampleBot-News,ExampleBot")
        ran = asked(where, URL, *names, "--at", "2026-05-01T12:00Z")
        assert "Crawler   ExampleBot-News, ExampleBot, profile default" in ran.out

    def test_profiles(self, where: str) -> None:
        """`stale` has a profile for access alone, and files are read as in default."""
        ran = asked(where, URL, *AS, "--at", "2026-05-02T00:00:30Z", "--profile", "stale")
        assert "Because   line 2: Disallow: /a\n" in ran.out
        assert "profile stale" in ran.out
        ran = asked(where, URL, *AS, "--profile", "lenient")
        assert ran.code == 2
        strict = ("--profile", "strict", "--purpose", "EXAMPLE-1", "--at", "2026-05-01")
        assert "does not read User-Agent-Purpose" in asked(where, URL, *AS, *strict).err

    def test_hostile_history(self, evil: str) -> None:
        """No content of a stored file reaches a terminal as a control character."""
        for arguments in (
            (f"{URL}\x1b[31m", *AS, "--at", "2026-05-01T12:00Z"),
            (URL, *AS, "--at", "2026-05-02T00:00:30Z"),
            (SITE, "--list"),
        ):
            ran = asked(evil, *arguments)
            assert "\x1b" not in ran.out
            assert "\r" not in ran.out
            assert "\\x1b" in ran.out
            assert json.loads(asked(evil, *arguments, "--json").out.splitlines()[0])

    def test_redirects(self, tmp_path: Path) -> None:
        store = SQLiteStore(tmp_path / "s")
        there = Response(301, {"Location": "https://www.example.com/r.txt"})
        visit = History().record_fetch(0, there, file("/a"))
        store.add([(visit._replace(user_agent="ExampleBot", complete=False), rules("/a"))])
        store.close()
        out = asked(str(tmp_path / "s"), URL, *AS, "--at", "2026-05-01").out
        assert "redirects with status 301 to https://www.example.com/r.txt" in out
        assert "          as " not in out
        assert "27 bytes, truncated, SHA-256 " in out

    def test_a_url_in_octets(self, tmp_path: Path) -> None:
        store = SQLiteStore(tmp_path / "s")
        History(store).record_fetch(0, file("/%FF"))
        store.close()
        ran = asked(str(tmp_path / "s"), "https://example.com/\udcff", *AS, "--at", "2026-05-01")
        assert ran.code == 1
        assert "\\xff" in ran.out


class TestHistory:
    """The history of an origin: columns, tabs or JSON."""

    def test_tabs(self, where: str) -> None:
        lines = [line.split("\t") for line in asked(where, SITE, "--list").out.splitlines()]
        assert [len(row) for row in lines] == [8, 8, 8]
        assert [row[3] for row in lines] == ["file", "unreachable", "file"]
        assert [row[7] for row in lines] == ["own", "own", "own"]
        assert lines[0][5] == body_digest(rules("/a"))

    def test_colour(self, where: str) -> None:
        out = asked(where, SITE, "--list", terminals=("stdout",)).out
        assert "\x1b[31munreachable\x1b[0m" in out
        assert body_digest(rules("/a"))[:12] in out
        assert body_digest(rules("/a")) not in out

    def test_some(self, where: str) -> None:
        ran = asked(where, SITE, "--list", "--after", "2026-05-02", "--before", "2026-05-02")
        assert len(ran.out.splitlines()) == 1
        ran = asked(where, SITE, "--list", "--before", "2026-04-01")
        assert (ran.code, ran.out) == (2, "")

    def test_origins(self, where: str, evil: str) -> None:
        """Without a URL: of which origins there is evidence, how much, from when to when."""
        assert asked(where, "--list").out == (
            f"{SITE}\t3 fetches\t2026-05-01T00:00:00Z\t2026-05-03T00:00:00Z\t0 imported\n"
        )
        out = asked(where, "--list", terminals=("stdout",)).out
        assert out.startswith(f"{SITE}  3 fetches")
        [found] = map(json.loads, asked(where, "--list", "--json").out.splitlines())
        assert (found["origin"], found["fetches"]) == (SITE, 3)
        assert asked(where, "--list", "--before", "2026-05-01").out.count("1 fetch\t") == 1
        ran = asked(where, "--list", "--fetched-by", "NobodyBot")
        assert (ran.code, ran.out, "the store has no evidence" in ran.err) == (2, "", True)


class TestArchives:
    """Out, and in again."""

    def test_an_empty_export(self, where: str, tmp_path: Path) -> None:
        """It reports this, and leaves no file that would block the next export."""
        for archive in (tmp_path / "a.warc.gz", tmp_path / "a.warc"):
            ran = asked(where, "--export", str(archive), "--after", "2030-01-01")
            assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
            assert "there is no evidence to export" in ran.err
            assert not archive.exists()

    def test_a_partial_import(self, where: str, tmp_path: Path) -> None:
        """The exit code reports unreadable records; readable ones are imported."""
        archive = tmp_path / "a.warc"
        asked(where, "--export", str(archive))
        other = str(tmp_path / "other.sqlite")
        whole = archive.read_bytes()
        archive.write_bytes(whole[:-200])
        for more in ((), ("--json",)):
            assert asked(other, "--import", str(archive), *more).code == 1
        archive.write_bytes(whole)
        assert asked(other, "--import", str(archive)).code == 0

    def test_out_and_in(self, where: str, tmp_path: Path) -> None:
        archive, other = tmp_path / "a.warc.gz", str(tmp_path / "other.sqlite")
        ran = asked(where, "--export", str(archive))
        assert (ran.code, ran.out) == (0, "")
        assert "3 fetch records written to" in ran.err
        assert sum(record.kind == "metadata" for record in with_fastwarc(archive)) == 3
        ran = asked(other, "--import", str(archive))
        assert (ran.code, ran.out) == (0, "")
        assert ran.err == "robotrules evidence: 3 fetch records imported, 0 already known\n"
        at = ("--at", "2026-05-01T12:00Z", "--json")
        before, after = (asked(place, URL, *AS, *at) for place in (where, other))
        assert after.code == before.code
        one, two = json.loads(before.out), json.loads(after.out)
        assert {key for key in one if one[key] != two[key]} == {
            *("source", "fetch_record", "next_fetch_record", "notes"),
        }
        assert (one["source"], two["source"]) == ("own", "import")
        assert two["fetch_record"]["archive"]["name"] == "a.warc.gz"
        assert two["fetch_record"]["archive"]["sha256"] == body_digest(archive.read_bytes())
        assert [note["code"] for note in two["notes"]] == ["failed-later", "imported"]

    def test_sources(self, where: str, tmp_path: Path) -> None:
        """Own fetches come first; imports are labelled, and can be selected alone."""
        archive = tmp_path / "forged.warc"
        history = History()
        history.record_fetch(0.25, file("/b"))
        export_warc(history.store, archive)
        assert asked(where, "--import", str(archive)).code == 0
        digest = body_digest(archive.read_bytes())
        at = ("--at", "2026-05-01T12:00Z")
        ran = asked(where, URL, *AS, *at)
        assert ran.code == 1
        assert "\nSource    own fetch\n" in ran.out
        assert "warning import-differs: A fetch by ExampleBot, imported from" in ran.out
        for source in ("imported", digest, digest[:8]):
            ran = asked(where, URL, *AS, *at, "--source", source)
            assert ran.code == 0
            assert f"Source    imported from 'forged.warc', SHA-256 {digest}, on " in ran.out
        ran = asked(where, URL, *AS, *at, "--source", "own")
        assert "import-differs" not in ran.out
        found = asked(where, SITE, "--list").out.splitlines()
        assert [line.split("\t")[7] for line in found] == [
            *("own", f"import {digest[:12]} forged.warc", "own", "own"),
        ]
        assert len(asked(where, SITE, "--list", "--source", "own").out.splitlines()) == 3
        assert asked(where, "--list").out.endswith("\t1 imported\n")
        assert asked(where, "--list", terminals=("stdout",)).out.endswith("  1 imported\n")
        assert json.loads(asked(where, "--list", "--json").out)["imported"] == 1
        own = asked(where, "--list", "--source", "own", terminals=("stdout",))
        assert "imported" not in own.out
        again = str(tmp_path / "own.warc")
        assert "3 fetch records written" in asked(where, "--export", again, "--source", "own").err

    def test_invalid_sources(self, where: str) -> None:
        """A word that is not a source, and a command without sources."""
        for arguments in ((URL, *AS), (SITE, "--list"), ("--list",), ("--export", "x.warc")):
            ran = asked(where, *arguments, "--source", "mine")
            assert ran.code == 2
            assert "unknown source 'mine': use 'own', 'imported'" in ran.err
        for arguments in (("--import", "x"), ("--body", "00000000")):
            ran = asked(where, *arguments, "--source", "own")
            assert (ran.code, ran.out) == (2, "")
            assert f"--source and {arguments[0]} cannot be combined" in ran.err

    def test_a_pipe(self, where: str, tmp_path: Path) -> None:
        """The archive goes to stdout as octets, and comes from stdin."""
        out = tmp_path / "out"
        with out.open("wb") as stream:
            raw = io.TextIOWrapper(stream, encoding="utf-8")
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(sys, "stdout", raw)
                from robotrules.cli import run

                assert run(["evidence", "--store", where, "--export", "-"]) == 0
            raw.flush()
            raw.detach()
        ran = asked(str(tmp_path / "t"), "--import", "-", "--json", stdin=out.read_bytes())
        done = json.loads(ran.out)
        assert done.pop("archive")["sha256"] == body_digest(out.read_bytes())
        assert done == {"file": "-", "added": 3, "known": 0, "skipped": {}}

    def test_progress(self, where: str, tmp_path: Path) -> None:
        """A progress bar is shown only on a terminal."""
        shown = {"terminals": ("stderr",)}
        ran = asked(where, "--export", str(tmp_path / "a.warc"), **shown)
        assert "3 fetch records written" in ran.err
        ran = asked(str(tmp_path / "t"), "--import", str(tmp_path / "a.warc"), **shown)
        assert "3 fetch records imported" in ran.err

    def test_no_archive(self, where: str, tmp_path: Path) -> None:
        for octets in (b"<!doctype html>", b"\x1f\x8b\x08"):
            ran = asked(where, "--import", "-", stdin=octets)
            assert ran.code == 2
            assert "has no readable record: pass a WARC file" in ran.err
        assert asked(where, "--import", "-", stdin=b"").code == 0
        assert asked(where, "--import", str(tmp_path)).code == 2
        assert asked(where, "--import", "-", terminals=("stdin",)).code == 2

    def test_skipped_records(self, where: str) -> None:
        block = b"HTTP/1.1 301 Moved\r\n\r\n"
        head = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2026-05-01T00:00:00Z\r\n"
        target = b"WARC-Target-URI: https://example.com/robots.txt\r\n"
        archive = head + target + b"Content-Length: %d\r\n\r\n%s\r\n\r\n" % (len(block), block)
        ran = asked(where, "--import", "-", stdin=archive)
        assert (ran.code, ran.out) == (0, "")
        assert "skipped 1: redirects, which are not followed in an archive\n" in ran.err

    def test_without_warcio(
        self, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in [one for one in sys.modules if one.startswith("robotrules.client.warc.")]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, "warcio", None)
        for name in [one for one in sys.modules if one.startswith("warcio.")]:
            monkeypatch.setitem(sys.modules, name, None)
        for arguments in (("--export", str(tmp_path / "a")), ("--import", where)):
            ran = asked(where, *arguments)
            assert (ran.code, ran.out) == (2, "")
            assert "pip install 'robotrules[warc]'" in ran.err

    def test_a_store_that_fails(
        self, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object) -> None:
            raise StoreError("the disk is gone")

        monkeypatch.setattr(SQLiteStore, "body", fail)
        ran = asked(where, "--export", str(tmp_path / "a"))
        assert ran.code == 2
        assert "the disk is gone" in ran.err
        assert "cannot write" not in ran.err
        ran = asked(where, URL, *AS, "--at", "2026-05-01T12:00Z")
        assert ran.code == 2
        assert "body-missing: The store cannot read the file: the disk is gone" in ran.out

    def test_a_reader_that_goes_away(self, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
        def gone(*_: object, **__: object) -> int:
            raise BrokenPipeError

        monkeypatch.setattr("robotrules.client.warc.export_warc", gone)
        monkeypatch.setattr("robotrules.cli.abandon_stdout", lambda: None)
        assert asked(where, "--export", "-").code == 141

    def test_json(self, where: str, tmp_path: Path) -> None:
        name = str(tmp_path / "a.warc")
        ran = asked(where, "--export", name, "--json")
        assert (json.loads(ran.out), ran.err) == ({"file": name, "fetch_records": 3}, "")

    def test_targets(self, where: str, tmp_path: Path) -> None:
        ran = asked(where, "--export", str(tmp_path))
        assert ran.code == 2
        assert "exists, and evidence is not overwritten" in ran.err
        ran = asked(where, "--export", str(tmp_path / "no" / "a"))
        assert "No such file or directory; pass another file" in ran.err
        assert asked(where, "--export", "-", terminals=("stdout",)).code == 2
        assert asked(where, "--export", "-", "--json").code == 2


class TestFiles:
    """The octets of a file, by its digest."""

    def test_octets(self, evil: str) -> None:
        digest = body_digest(b"User-agent: *\nDisallow: /a\x1b[31m\n")
        for typed in (digest, digest[:8], digest.upper(), f"sha256:{digest}"):
            assert asked(evil, "--body", typed).out == "User-agent: *\nDisallow: /a\x1b[31m\n"
        shown = asked(evil, "--body", digest, terminals=("stdout",))
        assert shown.out == "User-agent: *\nDisallow: /a\\x1b[31m\n"
        found = json.loads(asked(evil, "--body", digest, "--json").out)
        assert (found["sha256"], found["size"]) == (digest, 32)

    def test_none(self, where: str) -> None:
        for typed in ("0" * 64, "0" * 8):
            ran = asked(where, "--body", typed)
            assert (ran.code, ran.out) == (2, "")
            assert "the store has no file with the SHA-256 0000" in ran.err
        for typed in ("", "abc", "x" * 64, "0" * 65):
            assert "is not a SHA-256" in asked(where, "--body", typed).err

    def test_several(self, tmp_path: Path) -> None:
        path = tmp_path / "s"
        store = SQLiteStore(path)
        visit = History().record_fetch(0, file("/a"))
        store.add([(visit._replace(digest=f"0000000{one}" * 8, at=one), None) for one in (1, 2)])
        store.add([(visit._replace(digest="00000001" + "1" * 56, at=3), None)])
        store.close()
        ran = asked(str(path), "--body", "00000001")
        assert "2 files have a SHA-256 with this prefix: pass more digits" in ran.err


class TestUsage:
    """Missing or conflicting arguments give a one-line error with a fix."""

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ((), "missing URL"),
            (AS, "--at takes exactly one URL"),
            ((URL, URL, "--list"), "--list takes exactly one URL"),
            ((URL,), "missing --as"),
            ((URL, "--as", ""), "--as is empty"),
            ((URL, *AS, "--purpose", " "), "--purpose is empty"),
            ((URL, URL, *AS), "--at takes exactly one URL"),
            ((URL, "--at", "2026-05-01", "--list"), "--list and --at cannot be combined"),
            ((URL, "--import", "a"), "--import takes no URL"),
            ((URL, "--body", "0" * 64), "--body takes no URL"),
            (("/a", "--list"), "'/a' has no origin"),
            (("/a", "--export", "x"), "'/a' has no origin"),
            ((URL, *AS, "--before", "2026-05-01"), "need --list or --export"),
            (("--export", "x", "--after", "May"), "--after 'May' is not a date or time"),
        ],
    )
    def test_words(self, where: str, arguments: tuple[str, ...], words: str) -> None:
        ran = asked(where, *arguments)
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err
        assert ran.err.count("\n") == 1

    def test_no_store(self, tmp_path: Path) -> None:
        """One that is not there is not made by looking for it."""
        path = tmp_path / "none.sqlite"
        ran = asked(str(path), URL, *AS)
        assert ran.code == 2
        assert "there is no store at" in ran.err
        assert not path.exists()

    def test_the_usual_store(self, tmp_path: Path, where: str) -> None:
        ran = robotrules("evidence", URL, *AS, ROBOTRULES_CACHE_DIR=str(tmp_path))
        assert (ran.code, "robots.sqlite" in ran.err) == (2, True)
        at = ("--at", "2026-05-01T12:00Z")
        assert robotrules("evidence", URL, *AS, *at, ROBOTRULES_STORE=where).code == 1
        assert robotrules("evidence", URL, *AS, *at, ROBOTRULES_STORE=f"sqlite:{where}").code == 1
        assert robotrules("evidence", URL, *AS, *at, ROBOTRULES_STORE="memory:").code == 2

    def test_help(self) -> None:
        out = robotrules("evidence", "--help").out
        assert "robotrules evidence https://example.com/a --at 2026-05-01T12:00Z --as" in out


def test_a_404_and_a_file_without_a_group(tmp_path: Path) -> None:
    """Pages without a rule have no excerpt."""
    store = SQLiteStore(tmp_path / "s")
    history = History(store)
    history.record_fetch(0, Response(404))
    history.record_fetch(1, Response(200, [], b""))
    store.close()
    for moment in ("2026-05-01T12:00Z", "2026-05-02T12:00Z"):
        ran = asked(str(tmp_path / "s"), URL, *AS, "--at", moment)
        assert ran.code == 0
        assert "The rule that decides" not in ran.out
