"""
A stream of lines: stdout, as JSON or text.

A write and the note that it happened cannot be one step. If the stream is a regular file, its
length is stored before the write, and after a crash the file shows what was written: each line is
there once. In a pipe or on a terminal that cannot be seen, so a line may appear a second time if
the process is killed between the write and the note; its id is the same.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

from robotrules.operations.watch.channels import DELIVERED, Delivery
from robotrules.operations.watch.events import WatchEvent

try:
    import fcntl
except ImportError:  # not a Unix: positions are not known
    fcntl = None  # type: ignore[assignment]

# How much of a file is searched for the lines of an interrupted write.
MAX_SEARCHED = 16 * 1024 * 1024


class StreamChannel:
    """Lines on a stream."""

    key = "stdout"
    name = "stdout"
    batch = 100

    def __init__(self, stream: BinaryIO, line_of: Callable[[WatchEvent], bytes]) -> None:
        """*line_of* returns the line of an event, with its line end."""
        self._stream = stream
        self._line_of = line_of

    def deliver(self, events: Sequence[WatchEvent]) -> Delivery:
        """Write the lines; a stream that cannot be written raises OSError, which ends the watch."""
        self._write(b"".join(map(self._line_of, events)))
        return DELIVERED

    def _write(self, octets: bytes) -> None:
        self._stream.write(octets)
        self._stream.flush()

    # --- After a crash --------------------------------------------------------------------------

    def position(self) -> dict[str, int] | None:
        """Return the file and its length, where the next line goes; None: not a regular file."""
        try:
            number = self._stream.fileno()
            status = os.fstat(number)
            if not stat.S_ISREG(status.st_mode) or fcntl is None:
                return None
            appends = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_APPEND
            offset = status.st_size if appends else os.lseek(number, 0, os.SEEK_CUR)
        except (OSError, ValueError):
            return None
        return {"device": status.st_dev, "inode": status.st_ino, "offset": offset}

    def resume(self, position: dict[str, Any], events: Sequence[WatchEvent]) -> None:
        """
        Complete an interrupted write: what is missing of the lines of *events* is written.

        *position* is what `position()` returned before that write.
        """
        lines = [self._line_of(event) for event in events]
        there = self._read_from(position)
        if there is None:
            self._write(b"".join(lines))  # another file: these lines are not in it
            return
        whole = b"".join(lines)
        if len(there) < len(whole) and whole.startswith(there):
            self._write(whole[len(there) :])  # killed in the middle of a line
            return
        written = set(there.splitlines(keepends=True))
        self._write(b"".join(line for line in lines if line not in written))

    def _read_from(self, position: dict[str, Any]) -> bytes | None:
        """Return what is in the file from a position on; None: it is another file."""
        now = self.position()
        if now is None or any(now[name] != position.get(name) for name in ("device", "inode")):
            return None
        try:
            # The stream is open for writing only: open the same file again.
            with open(f"/proc/self/fd/{self._stream.fileno()}", "rb", buffering=0) as file:
                file.seek(position["offset"])
                parts, left = [], MAX_SEARCHED
                while left > 0 and (part := file.read(left)):
                    parts.append(part)
                    left -= len(part)
        except OSError:
            return None
        return b"".join(parts)
