"""
A command: a program of the user's that gets each event as JSON on its standard input.

It is started without a shell, once for each event, and accepts the event with exit code 0. It and
the processes that it started are ended when its time is over.
"""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress

from robotrules.octets import visible
from robotrules.operations.watch.channels import DELIVERED, Delivery
from robotrules.operations.watch.events import WatchEvent

TIMEOUT = 60.0
# How much of an error message is read.
MAX_ERROR = 2_000


class CommandChannel:
    """A program that is run for each event."""

    batch = 1

    def __init__(self, arguments: Sequence[str], *, timeout: float = TIMEOUT) -> None:
        """*arguments* are the program and its arguments."""
        if not arguments or not arguments[0]:
            raise ValueError("the command is empty: pass a program, such as 'notify --to ops'")
        self._arguments = list(arguments)
        self._timeout = timeout
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
                )
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or str(error)
                return Delivery(f"it cannot be started: {visible(str(why))[:200]}")
            try:
                code = process.wait(self._timeout)
            except subprocess.TimeoutExpired:
                return Delivery(f"it did not end within {self._timeout:g} s, and was stopped")
            finally:
                _end_group(process)
            if code == 0:
                return DELIVERED
            told.seek(0)
            lines = told.read(MAX_ERROR).splitlines()
            words = f": {visible(lines[0])[:200]}" if lines else ""
            why = f"exit code {code}" if code > 0 else f"signal {-code}"
            return Delivery(f"{why}{words}")


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End a program that still runs, with the processes that it started."""
    if process.poll() is None:
        with suppress(OSError, AttributeError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
