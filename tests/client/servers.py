"""
Real servers for tests: a Redis and a PostgreSQL of our own, on 127.0.0.1 and a port that was free.

Each has a separate folder and a password, and is stopped by its process number; with the tests
gone it goes too. PostgreSQL does not run as root, so it runs as `postgres` or `nobody` then. Where
a server is not available the tests that need it are skipped; `scripts/test_programs.py`
installs them where it may. With ROBOTRULES_REQUIRE_SERVERS=1 a missing server fails them.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

# Needs percent-encoding in an address; tests search all messages for it.
PASSWORD = "s3cr3t/pa:ss@word"
SECONDS = 30.0


class Unavailable(Exception):
    """Why a server cannot be had here."""


class Server:
    """A server process of ours."""

    kind: str
    at_once = signal.SIGTERM
    """What stops it without a thought for its data."""

    def __init__(self) -> None:
        """Make its folder; `start()` starts it."""
        self.folder = Path(tempfile.mkdtemp(prefix=f"robotrules-{self.kind}-"))
        self.port = free_port()
        self._process_prefix: subprocess.Popen[bytes] | None = None

    def command(self) -> list[str]:
        """Return how it is started."""
        raise NotImplementedError

    def is_up(self) -> bool:
        """Return whether the server answers."""
        raise NotImplementedError

    @property
    def user(self) -> str | None:
        """The user it runs as; None: the user that runs the tests."""
        return None

    @property
    def pid(self) -> int:
        """The number of its process."""
        assert self._process_prefix is not None
        return self._process_prefix.pid

    def start(self) -> None:
        """Start it, and wait until it answers."""
        log = self.folder / "log"
        with log.open("ab") as output:
            self._process_prefix = subprocess.Popen(
                [*_with_us(), *self.command()],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self.folder,
                **_as(self.user),
            )
        end = time.monotonic() + SECONDS
        while not self.is_up():
            if self._process_prefix.poll() is not None or time.monotonic() > end:
                words = log.read_text(errors="replace")[-2000:]
                self.stop()
                raise Unavailable(f"{self.kind} did not start: {words}")
            time.sleep(0.02)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it, and wait until it is gone; `start()` starts it again on the same port."""
        process, self._process_prefix = self._process_prefix, None
        if process is None:
            return
        for pid in (process.pid, *_children(process.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        process.send_signal(how)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def freeze(self) -> None:
        """Let it hang: it accepts and never answers."""
        for pid in (self.pid, *_children(self.pid)):
            os.kill(pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        for pid in (self.pid, *_children(self.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def remove(self) -> None:
        """Stop it and remove its folder."""
        self.stop(self.at_once)
        shutil.rmtree(self.folder, ignore_errors=True)


class RedisServer(Server):
    """A Redis with a password; nothing of it is written to disk."""

    kind = "redis"

    def command(self) -> list[str]:
        """Return how it is started."""
        program = shutil.which("redis-server") or shutil.which("valkey-server")
        if program is None:
            raise Unavailable("redis-server is not installed (scripts/test_programs.py)")
        settings = {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "requirepass": PASSWORD,
            "save": "",
            "appendonly": "no",
            "dir": str(self.folder),
        }
        return [program, *[word for key in settings for word in (f"--{key}", settings[key])]]

    def is_up(self) -> bool:
        """Return whether the server answers."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith((b"+PONG", b"-NOAUTH"))
        except OSError:
            return False

    def url(self, number: int = 0) -> str:
        """Return the address of one of its databases."""
        return f"redis://:{quote(PASSWORD, '')}@127.0.0.1:{self.port}/{number}"


class PostgresServer(Server):
    """A PostgreSQL with a password; what it writes need not survive a crash of the machine."""

    kind = "postgres"
    at_once = signal.SIGQUIT

    def __init__(self) -> None:
        """Make its folder and its database."""
        super().__init__()
        self._data = self.folder / "data"
        self._programs = postgres_programs()
        words = self.folder / "password"
        words.write_text(PASSWORD)
        if self.user:
            for path in (self.folder, words):
                shutil.chown(path, self.user)
        settings = ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"]
        names = [f"--pgdata={self._data}", "--username=robotrules", f"--pwfile={words}"]
        made = subprocess.run(
            [str(self._programs / "initdb"), *names, *settings],
            capture_output=True,
            cwd=self.folder,
            timeout=SECONDS * 2,
            **_as(self.user),
        )
        if made.returncode:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise Unavailable(f"initdb failed: {made.stderr.decode(errors='replace')[-1000:]}")

    @property
    def user(self) -> str | None:
        """A user other than root."""
        if os.geteuid() != 0:
            return None
        for name in ("postgres", "nobody"):
            try:
                return pwd.getpwnam(name).pw_name
            except KeyError:
                continue
        raise Unavailable("PostgreSQL does not run as root, and there is no other user")

    def command(self) -> list[str]:
        """Return how it is started."""
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": "",
            "fsync": "off",
            "max_connections": 200,
        }
        words = [word for key in settings for word in ("-c", f"{key}={settings[key]}")]
        return [str(self._programs / "postgres"), "-D", str(self._data), *words]

    def is_up(self) -> bool:
        """Return whether the server answers."""
        asked = subprocess.run(
            [self._programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        )
        return asked.returncode == 0

    def url(self, schema: str = "public") -> str:
        """Return the address of its database, with one of its schemas."""
        where = f"127.0.0.1:{self.port}/postgres?options=-csearch_path%3D{schema}"
        return f"postgresql://robotrules:{quote(PASSWORD, '')}@{where}"


def postgres_programs() -> Path:
    """Return the folder of PostgreSQL's programs, the newest first."""
    found = sorted(
        (path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")),
        key=lambda path: [int(part) for part in path.parent.name.split(".") if part.isdigit()],
    )
    if found:
        return found[-1]
    for pattern in ("/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin"):
        for path in sorted(Path("/").glob(pattern.lstrip("/")), reverse=True):
            if (path / "initdb").exists():
                return path
    if program := shutil.which("initdb"):
        return Path(program).resolve().parent
    raise Unavailable("PostgreSQL is not installed (scripts/test_programs.py)")


def free_port() -> int:
    """Return a port that is currently free."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def _children(parent: int) -> list[int]:
    """Return the child processes of one of our processes, where the system reports them."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # gone meanwhile
        if int(state[1]) == parent:
            found.append(int(path.parent.name))
    return found


def _as(user: str | None) -> dict[str, Any]:
    """Return the arguments that make a process run as another user."""
    if user is None:
        return {}
    return {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}


def _with_us() -> list[str]:
    """Return what makes a server stop when the tests are killed, where there is such a thing."""
    program = shutil.which("setpriv")
    return [program, "--pdeathsig", "INT"] if program else []


# Servers that run already, for forks of one process that share them (scripts/mutants_plugin.py).
RUNNING: dict[Callable[[], Server], Server] = {}


def _running(make: Callable[[], Server]) -> Iterator[Server]:
    """Run a server for the duration of the tests, or skip the tests that need it."""
    if make in RUNNING:
        yield RUNNING[make]
        return
    try:
        server = make()
        server.start()
    except Unavailable as why:
        required = os.environ.get("ROBOTRULES_REQUIRE_SERVERS", "") not in ("", "0")
        (pytest.fail if required else pytest.skip)(str(why))
    try:
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def redis_server() -> Iterator[Server]:
    """A Redis for all tests; each takes a database of it, or flushes one."""
    yield from _running(RedisServer)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """A PostgreSQL for all tests; each test creates a separate schema."""
    yield from _running(PostgresServer)
