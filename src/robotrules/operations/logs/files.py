"""Log files in the order of time: opened, decompressed, and with their format detected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from itertools import chain
from typing import NamedTuple

from robotrules.octets import visible
from robotrules.operations.logs.entries import LogTimes
from robotrules.operations.logs.formats import LogFormatError, LogReader, log_reader
from robotrules.url_lists import BLOCK, GZIP, LineChunk, UrlReader

__all__ = ["LogInput", "OpenLog", "logs_in_order"]

# Compressed data is read in smaller blocks, because logs expand about twentyfold.
PACKED_BLOCK = 16 * 1024


class LogInput(NamedTuple):
    """A log that is not a file by name, such as stdin."""

    name: str
    blocks: Iterable[bytes]


class OpenLog:
    """A log and the reader of its format; its lines are read once."""

    def __init__(self, log: str | LogInput, log_format: str) -> None:
        """Raises `OSError`, or `LogFormatError` with the name of the file."""
        self.name = log if isinstance(log, str) else log.name
        self._format = log_format
        self.source = UrlReader(_file_blocks(log) if isinstance(log, str) else log.blocks)
        self._lines = self.source.lines()
        self._head: list[LineChunk] = []
        for chunk in self._lines:
            self._head.append(chunk)
            # A short block, such as the first one of a pipe, may have comments only.
            if any(line.strip() and line[:1] != b"#" for line in chunk.octets.split(b"\n")):
                break
        self.reader = self._new_reader() if self._head else None

    def chunks(self) -> Iterator[LineChunk]:
        """Yield the lines."""
        return chain(self._head, self._lines)

    def first_time(self, zone: tzinfo) -> float:
        """Return the time of the first request; infinity if none was found."""
        times = LogTimes(zone)
        reader = self._new_reader() if self._head else None
        for chunk in self._head if reader else ():
            assert reader is not None
            found = reader.read(chunk, _Anyone(), everyone=True)
            for _, fields in found.picked:
                moment = times.read(fields[found.columns.time], fields[found.columns.date])
                if moment:
                    return moment.at
        return float("inf")

    def _new_reader(self) -> LogReader:
        try:
            return log_reader(b"".join(chunk.octets for chunk in self._head), self._format)
        except LogFormatError as error:
            raise LogFormatError(f"'{visible(self.name)}': {error}") from None


def logs_in_order(
    logs: Sequence[str | LogInput], log_format: str, zone: tzinfo
) -> Iterator[OpenLog]:
    """Yield logs in the order of their first requests, one open at a time."""
    if len(logs) == 1:
        yield OpenLog(logs[0], log_format)
        return
    starts = []
    for number, log in enumerate(logs):
        found = OpenLog(log, log_format)
        # What is not a file by name cannot be opened again.
        starts.append((found.first_time(zone), number, None if isinstance(log, str) else found))
    for _, number, opened in sorted(starts, key=lambda start: start[:2]):
        yield opened or OpenLog(logs[number], log_format)


class _Anyone(Mapping[bytes, None]):
    """Takes no User-Agent for a crawler's."""

    def __getitem__(self, raw: bytes) -> None:
        return None

    def __iter__(self) -> Iterator[bytes]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _file_blocks(name: str) -> Iterator[bytes]:
    # Unbuffered: blocks are large.
    with open(name, "rb", buffering=0) as stream:
        size = 0
        while True:
            try:
                block = stream.read(size or PACKED_BLOCK)
            except OSError as error:
                error.filename = name
                raise
            if not block:
                return
            size = size or (PACKED_BLOCK if block.startswith(GZIP) else BLOCK)
            yield block
