"""
Logs: one line for each request and event, as text or JSON, on stderr.

Lines have the id of the request. They have no query, no field values, no bodies and no tokens. A
thread writes them, so a slow reader of stderr does not stop the service: if 10,000 lines wait, new
ones are dropped and counted.

    {"time":"2026-05-01T12:00:00.123Z","level":"info","event":"request","id":"…","method":"POST",
     "path":"/v1/check","status":200,"seconds":0.0012,"client":"127.0.0.1","problem":""}
"""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from typing import BinaryIO

import msgspec

from robotrules.octets import visible

__all__ = [
    "LogHandler",
    "LogWriter",
    "exception_text",
    "exception_values",
    "format_json",
    "format_text",
    "set_up_logging",
]

WAITING = 10_000
# How long a line waits for others to be written with it.
PAUSE = 0.05
Value = str | int | float
# What a value in quotes may have, and one without them may not.
_QUOTED = re.compile(r'[\s"\\=]')


def format_json(level: str, event: str, values: dict[str, Value]) -> bytes:
    """Return an event as a line of JSON."""
    return msgspec.json.encode({"time": _now(), "level": level, "event": event, **values}) + b"\n"


def format_text(level: str, event: str, values: dict[str, Value]) -> bytes:
    """
    Return an event as a line of text: `name=value`, with control characters escaped.

    A value with a space, a quote, a backslash or `=` is in quotes, with `\\` before quotes and
    backslashes.
    """
    words = " ".join(f"{name}={_word(value)}" for name, value in values.items() if value != "")
    return f"{_now()} {level} {event} {words}\n".encode("utf-8", "backslashreplace")


def _word(value: Value) -> str:
    if not isinstance(value, str):
        return f"{value:.6g}" if isinstance(value, float) else str(value)
    if not _QUOTED.search(value) and value.isprintable():
        return value
    # Control characters become escapes with one backslash, after those of the value were doubled.
    text = visible(value.replace("\\", "\\\\").replace('"', '\\"').encode("utf-8", "replace"))
    return f'"{text}"'


def _now() -> str:
    seconds = time.time()
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03}Z"


class LogWriter:
    """Writes lines in a thread; never waits for the reader of the log."""

    def __init__(
        self,
        form: str = "text",
        *,
        stream: BinaryIO | None = None,
        on_drop: Callable[[], object] = bool,
    ) -> None:
        self._format = format_json if form == "json" else format_text
        self._stream, self.on_drop = stream, on_drop
        self._lines: deque[bytes] = deque()
        self._wake = threading.Event()
        self._closed = False
        self._thread: threading.Thread | None = None

    def write(self, level: str, event: str, **values: Value) -> None:
        """Write an event."""
        if len(self._lines) >= WAITING:
            self.on_drop()
            return
        self._lines.append(self._format(level, event, values))
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="log", daemon=True)
            self._thread.start()
        self._wake.set()

    def close(self, timeout: float = 1.0) -> None:
        """Write what waits; give up after *timeout* seconds."""
        self._closed = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout)
            self._thread = None
        self._closed = False

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            if not self._closed:
                time.sleep(PAUSE)
            lines = []
            while self._lines:
                lines.append(self._lines.popleft())
            try:
                stream = self._stream or sys.stderr.buffer
                stream.write(b"".join(lines))
                stream.flush()
            except (OSError, ValueError, AttributeError):
                pass  # stderr is closed: there is nowhere to report that
            if self._closed and not self._lines:
                return


class LogHandler(logging.Handler):
    """Sends what libraries log to a writer."""

    def __init__(self, writer: LogWriter, level: int = logging.INFO) -> None:
        super().__init__(level)
        self._writer = writer

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; of an exception its type and place, because a message may have a URL."""
        values: dict[str, Value] = {"message": record.getMessage()}
        if record.exc_info and record.exc_info[1]:
            values |= exception_values(record.exc_info[1])
        self._writer.write(record.levelname.lower(), record.name, **values)


def exception_text(error: BaseException) -> str:
    """Return the type of an exception and its message, which must not have parts of a request."""
    return f"{type(error).__name__}: {error}"


def exception_values(error: BaseException) -> dict[str, Value]:
    """Return the type of an exception, and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)[-8:]
    places = (f"{os.path.basename(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames)
    return {"error": type(error).__name__, "at": " > ".join(places)}


def set_up_logging(writer: LogWriter) -> None:
    """Send what this package and its server log to a writer."""
    for name in ("robotrules", "uvicorn", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers = [LogHandler(writer)]
        # uvicorn reports each start and stop in several lines.
        logger.setLevel(logging.WARNING)
        logger.propagate = False
