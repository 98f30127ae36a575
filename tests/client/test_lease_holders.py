"""Holders of leases: the death of a process on this machine is seen, and no other is declared."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from robotrules.access import Response
from robotrules.cache import Store
from robotrules.client import lease_holders, open_store
from robotrules.client.lease_holders import is_dead, new_holder
from tests.client.scripted import Clock, Server, opened

SITE = "https://example.com"
HOLDS = (
    "import sys\n"
    "from robotrules.client.lease_holders import new_holder\n"
    "print(new_holder(), flush=True)\n"
    "sys.stdin.read()\n"
)

pytestmark = pytest.mark.skipif(
    lease_holders.process_space_id(os.getpid()) is None, reason="the kernel does not say it"
)


@pytest.fixture
def process() -> Iterator[subprocess.Popen[str]]:
    """A process that prints its holder name, and waits."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def named(process: subprocess.Popen[str]) -> str:
    """Return what a process is called as a holder."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.fixture(scope="module")
def dead() -> str:
    """What a process was called that is gone."""
    done = subprocess.run(
        [sys.executable, "-c", HOLDS], input="", capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


class TestDeath:
    """Only what is certain is reported."""

    def test_a_killed_process(self, process: subprocess.Popen[str]) -> None:
        """It is alive, then a zombie that its parent has not noticed, then gone."""
        holder = named(process)
        assert not is_dead(holder)
        process.send_signal(signal.SIGKILL)
        end = time.monotonic() + 10
        while not is_dead(holder) and time.monotonic() < end:
            time.sleep(0.005)
        assert is_dead(holder)
        process.wait()
        assert is_dead(holder)

    def test_this_process(self) -> None:
        """Two names are never the same, and both are alive."""
        one, other = new_holder(), new_holder()
        assert one != other
        assert not is_dead(one)

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
    def test_a_child(self) -> None:
        """A child process has a separate name, and its death is detected."""
        read, write = os.pipe()
        new_holder()
        child = os.fork()
        if child == 0:
            os.write(write, new_holder().encode())
            os._exit(0)
        os.close(write)
        with open(read) as said:
            holder = said.read()
        os.waitpid(child, 0)
        assert holder.split(".")[1] == str(child)
        assert is_dead(holder)

    def test_a_number_that_was_given_again(self) -> None:
        """Another process of the same number, started at another time."""
        place, pid, start, *rest = new_holder().split(".")
        assert is_dead(".".join([place, pid, str(int(start) - 1), *rest]))

    def test_elsewhere(self, dead: str) -> None:
        """Another machine, boot or container: its numbers mean nothing here."""
        _, _, rest = dead.partition(".")
        assert is_dead(dead)
        assert not is_dead(f"{'0' * 24}.{rest}")

    @pytest.mark.parametrize(
        "name", ["", "me", "a.b", "{}.1", "{}.x.1.a.1", "{}.0.1.a.1", "{}.-1.1.a.1"]
    )
    def test_other_names(self, name: str) -> None:
        """Names in other formats give no information."""
        place = new_holder().partition(".")[0]
        assert not is_dead(name.format(place))

    def test_a_process_that_is_hidden(self, monkeypatch: pytest.MonkeyPatch, dead: str) -> None:
        """Another user's process, which cannot be signalled and is not listed, may be running."""
        monkeypatch.setattr(os, "kill", _raises(PermissionError()))
        assert not is_dead(dead)

    def test_a_first_thread_that_ended(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A process goes on while it has another thread, though it looks like a zombie."""
        holder = new_holder()
        values = lease_holders._read_stat(os.getpid())
        assert values is not None
        values[0] = "Z"
        monkeypatch.setattr(
            lease_holders, "_read_stat", lambda pid: [*values[:17], "2", *values[18:]]
        )
        assert not is_dead(holder)
        monkeypatch.setattr(
            lease_holders, "_read_stat", lambda pid: [*values[:17], "1", *values[18:]]
        )
        assert is_dead(holder)

    @pytest.mark.parametrize("hides", ["/proc/self", "/proc/self/ns/pid", "boot"])
    def test_a_kernel_without_that_information(
        self, monkeypatch: pytest.MonkeyPatch, dead: str, hides: str, tmp_path: Path
    ) -> None:
        """Without all of it no process is declared dead, and names are still unique."""
        real = os.readlink
        monkeypatch.setattr(
            os, "readlink", lambda path: "1" if path == hides == "/proc/self" else real(path)
        )
        if hides == "boot":
            monkeypatch.setattr(lease_holders, "_BOOT_ID", tmp_path / "none")
        elif hides != "/proc/self":
            monkeypatch.setattr(os, "readlink", _only(real, "/proc/self"))
        for cached in (lease_holders.process_space_id, lease_holders._process_prefix):
            cached.cache_clear()
        try:
            assert not is_dead(dead)
            assert len({new_holder() for _ in range(3)}) == 3
        finally:
            for cached in (lease_holders.process_space_id, lease_holders._process_prefix):
                cached.cache_clear()


def _raises(error: Exception) -> Callable[..., Any]:
    def call(*_: object) -> None:
        raise error

    return call


def _only(real: Callable[[str], str], path: str) -> Callable[[str], str]:
    def call(asked: str) -> str:
        if asked != path:
            raise PermissionError
        return real(asked)

    return call


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Stores of this machine."""
    found = open_store("memory:" if request.param == "memory" else tmp_path / "robots.sqlite")
    yield found
    found.close()


@pytest.mark.parametrize("kind", ["sync", "async"])
class TestLeases:
    """Callers do not wait for the lease of a dead process."""

    def test_of_a_robots_txt(self, kind: str, store: Store, dead: str) -> None:
        """The request is sent at once."""
        clock, server = Clock(), Server()
        server.answers[f"{SITE}/robots.txt"] = Response(200, {}, b"User-agent: *\nDisallow: /x\n")
        assert store.lease(SITE, dead, 35)
        with opened(kind, server, clock, store=store) as client:
            assert not client.check(f"{SITE}/x")
        assert clock.slept == []
        assert store.holder(SITE) is None

    def test_of_a_slot(self, kind: str, store: Store, dead: str) -> None:
        """A slot begins at once."""
        clock, server = Clock(), Server()
        assert store.lease(f"turn {SITE}", dead, 60)
        with opened(kind, server, clock, store=store) as client, client.slot(SITE):
            assert clock.slept == []

    def test_of_another_process(self, kind: str, store: Store, dead: str) -> None:
        """One that may live is waited for: twice as long as a lease is, and then no longer."""
        clock, server = Clock(), Server()
        assert store.lease(SITE, f"{'0' * 24}.{dead.partition('.')[2]}", 3600)
        with opened(kind, server, clock, store=store, timeout=1.0) as client:
            assert client.check(f"{SITE}/x")
        assert 12 <= sum(clock.slept) <= 13


class TestStatus:
    """What the kernel reports of a process."""

    @pytest.fixture
    def says(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
        """Replace a report of the kernel."""

        def say(octets: bytes) -> None:
            class Said:
                def __init__(self, path: str) -> None:
                    assert path == "/proc/7/stat"

                def read_text(self, encoding: str | None) -> str:
                    return octets.decode(encoding or "utf-8")

            monkeypatch.setattr(lease_holders, "Path", Said)

        return say

    REST = b"S " + b"0 " * 16 + b"3 0 999 0"

    @pytest.mark.parametrize("name", [b"a", b"a) b", b"\xff", b"a (b)"])
    def test_names(self, says: Callable[[bytes], None], name: bytes) -> None:
        """A name may hold anything."""
        says(b"7 (" + name + b") " + self.REST)
        status = lease_holders._read_stat(7)
        assert status is not None
        assert (status[0], status[17], status[19]) == ("S", "3", "999")

    @pytest.mark.parametrize("rest", [b"", b"S 1 2", b"S " + b"0 " * 18, b"S " + b"x " * 30])
    def test_what_is_something_else(self, says: Callable[[bytes], None], rest: bytes) -> None:
        """Then nothing is known."""
        says(b"7 (a) " + rest)
        assert lease_holders._read_stat(7) is None

    @pytest.mark.parametrize(
        ("state", "threads", "start", "runs"),
        [
            ("S", "1", "5", True),
            ("Z", "1", "5", False),
            ("X", "1", "5", False),
            ("X", "0", "5", False),
            ("Z", "2", "5", True),
            ("S", "1", "6", False),
        ],
    )
    def test_running(
        self, state: str, threads: str, start: str, runs: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A zombie is dead, unless it has other threads; and a number may be another's."""
        sent: list[tuple[int, int]] = []
        monkeypatch.setattr(os, "kill", lambda pid, number: sent.append((pid, number)))
        values = ["0"] * 20
        values[0], values[17], values[19] = state, threads, start
        monkeypatch.setattr(lease_holders, "_read_stat", lambda pid: values)
        for pid in (1, 7):
            assert lease_holders._is_running(pid, 5) is runs
        assert sent == [(1, 0), (7, 0)]
        assert lease_holders._is_running(0, 5)
        assert lease_holders._is_running(-1, 5)
        assert len(sent) == 2
