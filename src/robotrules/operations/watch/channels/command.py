"""
A command: a program of the user's that gets each event as JSON on its standard input.

It is started without a shell, once for each event, and accepts the event with exit code 0. It and
the processes that it started are ended when its time is over, or the watch ends. It gets the
environment without the secrets of other channels.
"""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from threading import Event

from robotrules.octets import visible
from robotrules.operations.watch.channels import DELIVERED, Delivery
from robotrules.operations.watch.events import WatchEvent

TIMEOUT = 60.0
# How much of an error message is read.
MAX_ERROR = 2_000
# Seconds between checks whether to end it.
POLL = 0.1


class CommandChannel:
    """A program that is run for each event."""

    batch = 1

    def __init__(
        self, arguments: Sequence[str], *, timeout: float = TIMEOUT, hidden: Sequence[str] = ()
    ) -> None:
        """
        *arguments* are the program and its arguments.

        *hidden* are the environment variables that the program does not get.
        """
        if not arguments or not arguments[0]:
            raise ValueError("the command is empty: pass a program, such as 'notify --to ops'")
        self._arguments = list(arguments)
        self._timeout = timeout
        self._hidden = frozenset(hidden)
        self._interrupted = Event()
        self.name = f"command {visible(os.path.basename(arguments[0]))}"
        name = hashlib.sha256("\0".join(arguments).encode("utf-8", "surrogateescape")).hexdigest()
        self.key = f"command:{name[:16]}"

    def deliver(self, events: Sequence[WatchEvent]) -> Delivery:
        """Run the program for each event."""
        for event in events:
            found = self._run(event)
            if found.error:
                return found
        return DELIVERED

    def interrupt(self) -> None:
        """End the program that runs, and start no other."""
        self._interrupted.set()

    def _run(self, event: WatchEvent) -> Delivery:
        # A file holds any amount of messages, and no pipe of a grandchild keeps us waiting.
        with tempfile.TemporaryFile() as told, tempfile.TemporaryFile() as given:
            given.write(event.as_json_line())
            given.seek(0)
            try:
                process = subprocess.Popen(
                    self._arguments,
                    stdin=given,
                    stdout=subprocess.DEVNULL,
                    stderr=told,
                    start_new_session=True,
                    env={
                        name: text for name, text in os.environ.items() if name not in self._hidden
                    },
                )
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or str(error)
                return Delivery(f"it cannot be started: {visible(str(why))[:200]}")
            try:
                code = self._wait(process)
            finally:
                _end_group(process)
            if self._interrupted.is_set() and code != 0:
                return Delivery("it was stopped, because the watch ends")
            if code is None:
                return Delivery(f"it did not end within {self._timeout:g} s, and was stopped")
            if code == 0:
                return DELIVERED
            told.seek(0)
            lines = told.read(MAX_ERROR).splitlines()
            words = f": {visible(lines[0])[:200]}" if lines else ""
            why = f"exit code {code}" if code > 0 else f"signal {-code}"
            return Delivery(f"{why}{words}")

    def _wait(self, process: subprocess.Popen[bytes]) -> int | None:
        """Return the exit code; None: its time is over, or the watch ends."""
        end = time.monotonic() + self._timeout
        while not self._interrupted.is_set():
            left = end - time.monotonic()
            try:
                return process.wait(max(min(left, POLL), 0))
            except subprocess.TimeoutExpired:
                if left <= 0:
                    break
        return process.poll()


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End a program that still runs, with the processes that it started."""
    if process.poll() is None:
        with suppress(OSError, AttributeError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
