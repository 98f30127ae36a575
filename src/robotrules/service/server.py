"""
The server: uvicorn with the limits of connections, signals, and several workers.

One worker runs in this process. Several are processes of their own that accept from one socket; a
supervisor replaces a worker that ends or does not answer. Settings, with the tokens, go to
workers through a socket: they are in no argument and no environment variable.

    SIGTERM, SIGINT  /readyz says 503; after `unready_seconds` the socket is closed and running
                     requests are finished; after `stop_timeout` they are cancelled; again: at once
    SIGHUP           the token file is read again; before the start is complete, the signal waits

When the process that started it is gone, a worker stops as after SIGTERM.

Sections: one worker · several workers · where it listens.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
import uvicorn
from prometheus_client.multiprocess import mark_process_dead

from robotrules.service.app import Service
from robotrules.service.connections import Connections, limited_protocol
from robotrules.service.hangups import hangups_blocked, hangups_handled
from robotrules.service.logs import LogWriter, exception_text, set_up_logging
from robotrules.service.metrics import MULTIPROCESS_VARIABLE
from robotrules.service.settings import ServiceSettings, read_tokens

__all__ = ["STARTUP_FAILURE", "listen", "run", "worker_main"]

BACKLOG = 2048
STARTUP_FAILURE = 3
# File descriptors beside those of connections: logs, stores, fetches, processes.
OTHER_FILES = 300
# As in the command line: a file becomes many small objects without reference cycles.
GC_THRESHOLD = 50_000
# Steps of the event loop from accepting a connection to its protocol, and some more.
ACCEPT_STEPS = 5
Started = Callable[[], object]


def run(settings: ServiceSettings, listening: socket.socket, on_start: Started) -> int:
    """Run the service until a signal stops it; return the exit code, 0 or `STARTUP_FAILURE`."""
    settings = _with_files(settings)
    if settings.workers > 1:
        return _Supervisor(settings, listening, on_start).run()
    return _run_worker(settings, listening, on_start)


# --- One worker -----------------------------------------------------------------------------------


class _Server(uvicorn.Server):
    """uvicorn's server with our signals and a periodic sweep of connections."""

    def __init__(
        self,
        config: uvicorn.Config,
        service: Service,
        connections: Connections,
        on_start: Started,
        supervised: bool,
    ) -> None:
        super().__init__(config)
        self._service, self._open_connections = service, connections
        self._on_start, self._supervised = on_start, supervised
        self._parent = os.getppid()
        self._stop_at = math.inf
        self._late: list[asyncio.Task[Any]] = []

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals; unlike uvicorn's, stopping after one of them is a normal end."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        handlers: dict[int, Any] = {signal.SIGTERM: self.handle_exit}
        # Ctrl-C reaches all processes of a terminal; the supervisor tells workers when to stop.
        handlers[signal.SIGINT] = signal.SIG_IGN if self._supervised else self.handle_exit
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            with hangups_handled(self._service.reload_tokens):
                yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Begin to stop; a second signal does not wait."""
        if self._service.readiness.stopping:
            self._stop_at = 0.0
            self.force_exit = self.should_exit
            return
        self._service.readiness.stopping = True
        self._stop_at = time.monotonic() + self._service.settings.limits.unready_seconds

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and tell who waits for it."""
        await super().startup(sockets)
        if self.started:
            # What was imported stays: the collector need not look at it again and again.
            gc.freeze()
            gc.set_threshold(GC_THRESHOLD, *gc.get_threshold()[1:])
            self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop to listen, and finish the requests of all connections that were made before."""
        self._open_connections.stopping = True
        loop = asyncio.get_running_loop()
        if isinstance(loop, asyncio.SelectorEventLoop):
            for listening in sockets or ():
                loop.remove_reader(listening)
            for _ in range(ACCEPT_STEPS):  # connections that the event loop has accepted
                await asyncio.sleep(0)
        # No pause from here until uvicorn closes the sockets: a connection that is still in the
        # queue of a closed socket is reset.
        for accepted in accept_all(sockets or ()):
            self._late.append(
                loop.create_task(loop.connect_accepted_socket(self._make_protocol, accepted))
            )
        await super().shutdown(sockets)

    def _make_protocol(self) -> asyncio.Protocol:
        make: Any = self.config.http_protocol_class
        protocol: asyncio.Protocol = make(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return protocol

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second: tell whether to stop."""
        if counter % 10 == 0:
            self._open_connections.sweep()
            self._service.metrics.running.set(self._service.running)
            if self._supervised:
                if os.getppid() != self._parent and not self._service.readiness.stopping:
                    self.handle_exit(signal.SIGTERM, None)
                else:
                    self._on_start()  # a sign of life
        if time.monotonic() >= self._stop_at:
            self.should_exit = True
        return await super().on_tick(counter)


def _run_worker(
    settings: ServiceSettings,
    listening: socket.socket,
    on_start: Started,
    *,
    supervised: bool = False,
) -> int:
    log = LogWriter(settings.log_format)
    service = Service(settings, log)
    log.on_drop = service.metrics.log_lines_dropped.inc
    set_up_logging(log)
    limits = settings.limits
    connections = Connections(limits, service.metrics)
    config = uvicorn.Config(
        service,
        http=limited_protocol(connections),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=BACKLOG,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        timeout_keep_alive=limits.idle_timeout,
        timeout_graceful_shutdown=math.ceil(limits.stop_timeout),
    )
    log.write("info", "start", pid=os.getpid())
    try:
        _Server(config, service, connections, on_start, supervised).run([listening])
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else STARTUP_FAILURE
    finally:
        log.write("info", "stop", pid=os.getpid())
        log.close()
    return 0


def _with_files(settings: ServiceSettings) -> ServiceSettings:
    """Allow as many open files as connections need, or fewer connections."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return settings
    wanted = settings.limits.max_connections + OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        if soft < wanted:
            limits = settings.limits._replace(max_connections=max(1, soft - OTHER_FILES))
            return settings._replace(limits=limits)
    return settings


# --- Several workers ------------------------------------------------------------------------------

# A worker gives a sign of life every second.
SILENT_SECONDS = 30.0
START_SECONDS = 60.0
# After a worker ended, the next one that ends is replaced this much later.
QUICK_END = 5.0
KILL_AFTER = 5.0
TICK = 0.1


class _Worker:
    """A worker process, and the socket to it."""

    def __init__(self, settings: ServiceSettings, listening: socket.socket, folder: str) -> None:
        self.pipe, theirs = socket.socketpair()
        self.began = self.last_sign = time.monotonic()
        self.ready = False
        with theirs, hangups_blocked():
            files = [theirs.fileno(), listening.fileno()]
            self.popen = subprocess.Popen(
                [sys.executable, "-P", "-m", "robotrules.service.server", *map(str, files)],
                stdin=subprocess.DEVNULL,
                pass_fds=files,
                env={**os.environ, MULTIPROCESS_VARIABLE: folder},
            )
        with contextlib.suppress(OSError):  # it has ended already, which is seen later
            self.pipe.sendall(msgspec.json.encode(settings) + b"\n")
        self.pipe.setblocking(False)

    def listen(self) -> None:
        """Read its signs of life."""
        with contextlib.suppress(OSError):
            if self.pipe.recv(4096):
                self.ready, self.last_sign = True, time.monotonic()

    def hangs(self) -> bool:
        """Tell whether it gave no sign of life for long."""
        allowed = SILENT_SECONDS if self.ready else START_SECONDS
        return time.monotonic() - self.last_sign > allowed

    def signal(self, number: int) -> None:
        """Send a signal, if it runs."""
        if self.popen.poll() is None:
            self.popen.send_signal(number)


class _Supervisor:
    """Starts workers, replaces those that end, and stops them."""

    def __init__(
        self, settings: ServiceSettings, listening: socket.socket, on_start: Started
    ) -> None:
        self._settings, self._listening, self._on_start = settings, listening, on_start
        self._signals: list[int] = []
        self._hangup = False
        self._log = LogWriter(settings.log_format)
        self._folder = ""
        self._not_before = 0.0
        self._last_end = -QUICK_END

    def run(self) -> int:
        """Run until a signal stops it; return the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, _: self._signals.append(number))
        with hangups_handled(self._note_hangup):
            return self._run()

    def _note_hangup(self) -> None:
        self._hangup = True

    def _run(self) -> int:
        workers: list[_Worker] = []
        code = 0
        self._folder = tempfile.mkdtemp(prefix="robotrules-metrics-")
        try:
            workers = [self._start() for _ in range(self._settings.workers)]
            announced = False
            while not self._take_signals(workers):
                for place, worker in enumerate(workers):
                    worker.listen()
                    if worker.ready and not announced:
                        announced = True
                        self._on_start()
                    if worker.popen.poll() == STARTUP_FAILURE and not announced:
                        return STARTUP_FAILURE
                    workers[place] = self._replaced(worker)
                time.sleep(TICK)
        finally:
            self._stop(workers)
            shutil.rmtree(self._folder, ignore_errors=True)
            self._log.close()
        return code

    def _take_signals(self, workers: list[_Worker]) -> bool:
        """Read the tokens again if SIGHUP asks for it; tell whether to stop."""
        if self._hangup:
            self._hangup = False
            self._read_tokens()
            for worker in workers:
                worker.signal(signal.SIGHUP)
        if self._signals:
            self._signals.pop(0)
            return True
        return False

    def _read_tokens(self) -> None:
        """Read the tokens again, for workers that start later."""
        path = self._settings.token_file
        if path is None:
            return
        try:
            self._settings = self._settings._replace(tokens=read_tokens(path))
        except (OSError, ValueError) as error:
            self._log.write("error", "tokens-kept", reason=exception_text(error))
        else:
            self._log.write("info", "tokens-read")

    def _start(self) -> _Worker:
        worker = _Worker(self._settings, self._listening, self._folder)
        self._log.write("info", "worker-start", pid=worker.popen.pid)
        return worker

    def _replaced(self, worker: _Worker) -> _Worker:
        if worker.popen.poll() is None:
            if not worker.hangs():
                return worker
            worker.popen.kill()
            worker.popen.wait()
        now = time.monotonic()
        if worker.pipe.fileno() >= 0:
            self._log.write(
                "error", "worker-end", pid=worker.popen.pid, code=worker.popen.returncode
            )
            worker.pipe.close()
            mark_process_dead(worker.popen.pid, self._folder)  # type: ignore[no-untyped-call]
            # A worker is replaced at once; if workers end again and again, there is a pause.
            self._not_before = max(now, self._last_end + QUICK_END)
            self._last_end = now
        return worker if now < self._not_before else self._start()

    def _stop(self, workers: list[_Worker]) -> None:
        limits = self._settings.limits
        # The system accepts connections for as long as one process has the socket.
        self._listening.close()
        for worker in workers:
            worker.signal(signal.SIGTERM)
        end = time.monotonic() + limits.unready_seconds + limits.stop_timeout + KILL_AFTER
        for worker in workers:
            while worker.popen.poll() is None:
                if self._signals:  # a second signal does not wait
                    self._signals.clear()
                    for other in workers:
                        other.signal(signal.SIGTERM)
                if time.monotonic() > end:
                    worker.popen.kill()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    worker.popen.wait(TICK)
            worker.pipe.close()


def worker_main(arguments: list[str]) -> int:
    """Run one of several workers; its settings come through the socket to the supervisor."""
    pipe = socket.socket(fileno=int(arguments[0]))
    listening = socket.socket(fileno=int(arguments[1]))
    # Not for the processes that this worker starts.
    for each in (pipe, listening):
        each.set_inheritable(False)
    with pipe.makefile("rb") as lines:
        settings = msgspec.json.decode(lines.readline(), type=ServiceSettings)
    pipe.setblocking(False)

    def give_sign() -> None:
        """Tell the supervisor that this worker runs."""
        with contextlib.suppress(OSError):
            pipe.send(b".")

    return _run_worker(settings, listening, give_sign, supervised=True)


# --- Where it listens -----------------------------------------------------------------------------


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; OSError says why it cannot."""
    host = host.strip("[]")
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, _, _, _, address = found[0]
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


def accept_all(sockets: Iterable[socket.socket]) -> list[socket.socket]:
    """Return the connections that wait to be accepted."""
    found = []
    for listening in sockets:
        listening.setblocking(False)
        with contextlib.suppress(OSError):
            while True:
                accepted, _ = listening.accept()
                accepted.setblocking(False)
                found.append(accepted)
    return found


if __name__ == "__main__":
    sys.exit(worker_main(sys.argv[1:]))
