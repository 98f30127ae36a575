"""
WARC files: the robots.txt captures of an archive, as robots tables in their normal form.

A capture is a `response` (or a `revisit`) for a URL with the path `/robots.txt`, as in Common
Crawl's robotstxt archives, or a fetch without a response in an evidence archive of robotrules. All
other records are counted and skipped. fastwarc reads the records; the head of the HTTP message is
split here, because a body with a damaged coding stops fastwarc. A capture costs about two
microseconds beyond fastwarc's own iteration, and a batch is built at once from lists.

Every record is a row, a reject with its offset, or counted in *skipped*. After damage, reading
continues at the next readable record (`warc_positions`).
"""

from __future__ import annotations

import json
import os
import re
from array import array
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from itertools import accumulate
from typing import Any, BinaryIO, NamedTuple

from robotrules import _engine
from robotrules.access.values import SLACK
from robotrules.bulk.arrow_support import pa
from robotrules.bulk.readers.fastwarc_support import (
    ArchiveIterator,
    WarcHeader,
    WarcRecordType,
)
from robotrules.bulk.readers.warc_messages import (
    MAX_HEAD,
    STATUS,
    decode_body,
    parse_dates,
    redirect_target,
    split_head,
)
from robotrules.bulk.readers.warc_positions import Positions
from robotrules.bulk.rejects import Reject
from robotrules.bulk.robots_table import SCHEMA
from robotrules.client.warc.metadata_records import is_fetch_metadata, parse_metadata
from robotrules.http.origins import authority_end, origin_of
from robotrules.profile import LEAST_MAX_BYTES

# The bytes of a robots.txt file that are kept: what a client reads.
MAX_BODY = LEAST_MAX_BYTES + SLACK
# A fetch record as JSON.
MAX_METADATA = 1024 * 1024
BATCH_ROWS = 4096
# Larger batches are slower: their memory is new, and not in the cache of the processor.
BATCH_BYTES = 2 * 1024 * 1024
# This field of `warcinfo` identifies evidence archives of robotrules (client/warc/writer.py).
_EVIDENCE_FIELD = b"robotrules-visits:"
_PATH = "/robots.txt"
# A head with a coding, or one that ends before the blank line with CRLF.
_CODED_OR_ODD = re.compile(rb"\n(?:\n|content-encoding:|transfer-encoding:)")
_LENGTHS = re.compile(rb"\ncontent-length:[ \t]*([0-9]{1,15})")
# Statuses by the start of a response, so that most are one lookup.
_MAX_KNOWN_STATUSES = 512

Batches = Iterator[tuple[Any, list[Reject]]]


class WarcCursor(NamedTuple):
    """Where a batch ends, so that reading can continue there."""

    offset: int = 0
    evidence: bool = False
    """Whether robotrules wrote the records: the `warcinfo` before them states it."""


def read_warc(
    source: str | os.PathLike[str] | BinaryIO,
    *,
    name: str | None = None,
    max_body: int = MAX_BODY,
    batch_rows: int = BATCH_ROWS,
    skipped: Counter[str] | None = None,
) -> Batches:
    """
    Yield the robots.txt captures of an archive, in batches, each with the rejects since the last.

    *source* is a path, or a binary file that can seek. *name* is used in the column `source` and in
    rejects. A body is kept up to *max_body* bytes, and `complete` is false if it has more.
    *skipped* counts the other records by their type.
    """
    if isinstance(source, str | os.PathLike):
        with open(source, "rb") as file:
            yield from read_warc(
                file,
                name=os.fspath(source) if name is None else name,
                max_body=max_body,
                batch_rows=batch_rows,
                skipped=skipped,
            )
        return
    label = name if name is not None else str(getattr(source, "name", ""))
    archive = WarcArchive(source, label, max_body=max_body, skipped=skipped)
    yield from archive.batches(batch_rows)


class _Rows:
    """Rows of a batch, as columns."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self.statuses: list[int | None] = []
        self.heads: list[bytes] = []
        self.bodies: list[Any] = []
        self.dates: list[str | None] = []
        self.locations: dict[int, str] = {}
        self.cut: list[int] = []
        self.offsets: list[int] = []
        self.rejects: list[Reject] = []
        self.size = 0


class WarcArchive:
    """
    One archive, read from *start*; its rows are collected until a batch is full.

    After each batch, `cursor` states where the next one starts; it is None where reading cannot
    start, inside a gzip member with several records, and at the end.
    """

    def __init__(
        self,
        file: BinaryIO,
        name: str,
        *,
        max_body: int = MAX_BODY,
        skipped: Counter[str] | None = None,
        start: WarcCursor | None = None,
    ) -> None:
        self.cursor: WarcCursor | None = start or WarcCursor()
        self._positions = Positions(file)
        self._name = name
        self._max_body = max_body
        self._skipped: Counter[str] = Counter() if skipped is None else skipped
        self._rows = _Rows()
        self._ours = bool(start and start.evidence)
        # Offsets of records by their ids; made when the first revisit needs it.
        self._index: dict[str, int] | None = None
        # What the last record has added, in case it turns out to be damaged.
        self._undo: tuple[int, int, str] = 0, 0, ""
        # Offset and headers of the last record; no headers: none was read.
        self._last: tuple[int, Any] = 0, None

    def batches(self, batch_rows: int = BATCH_ROWS) -> Batches:
        """Yield the batches, each with the rejects since the last one."""
        offset: int | None = self.cursor.offset if self.cursor else 0
        while offset is not None:
            error = yield from self._iterate(offset, batch_rows)
            offset = self._continue_at(offset, error)
        self.cursor = None
        if self._rows.urls or self._rows.rejects:
            yield self._batch()

    # --- The fast path ----------------------------------------------------------------------------

    def _iterate(
        self, offset: int, batch_rows: int
    ) -> Generator[tuple[Any, list[Reject]], None, str]:
        """Read records from an offset until fastwarc stops; return its error message, or ''."""
        last, headers, count, rejected, skipped = -1, None, 0, 0, ""
        target, date = WarcHeader.WARC_TARGET_URI, WarcHeader.WARC_DATE
        response, limit = WarcRecordType.response, self._max_body + MAX_HEAD
        truncated, known = WarcHeader.WARC_TRUNCATED, _KNOWN_STATUSES
        max_block = self._max_body + 4
        rows = self._rows
        add_url, add_status = rows.urls.append, rows.statuses.append
        add_body, add_date = rows.bodies.append, rows.dates.append
        add_offset, add_head = rows.offsets.append, rows.heads.append
        try:
            iterator = ArchiveIterator(self._positions.stream_at(offset), parse_http=False)
            for record in iterator:
                # The last record may still be taken back, so a batch ends before a new one.
                if len(rows.urls) >= batch_rows or rows.size >= BATCH_BYTES:
                    self._set_cursor(record)
                    yield self._batch()
                    rows = self._rows
                    add_url, add_status = rows.urls.append, rows.statuses.append
                    add_body, add_date = rows.bodies.append, rows.dates.append
                    add_offset, add_head = rows.offsets.append, rows.heads.append
                last = at = record.stream_pos
                headers, skipped = record.headers, ""
                count, rejected = len(rows.urls), len(rows.rejects)
                if record.record_type is not response and record.record_type != response:
                    skipped = self._other_record(record, at)
                    continue
                url = headers.get(target)
                if not url or not (url.endswith(_PATH) and url.count("/") == 3):
                    if not url or _PATH not in url or not _is_robots_url(url):
                        skipped = "response"
                        self._skipped[skipped] += 1
                        continue
                    url = _without_brackets(url)
                block = record.reader.read(limit)
                status = known.get(block[:13])
                end = block.find(b"\r\n\r\n", 0, MAX_HEAD)
                if (
                    status is None
                    or end < 0
                    or len(block) != record.content_length
                    or len(block) - end > max_block
                    or headers.get(truncated) is not None
                ):
                    self._odd_response(record, at, url, block)
                    continue
                add_url(url)
                add_status(status)
                add_head(block[:end])
                add_body(block[end + 4 :])
                add_date(headers.get(date))
                add_offset(at)
                rows.size += len(block)
        except (OSError, ValueError, EOFError) as error:
            return str(error) or type(error).__name__
        finally:
            self._last = last, headers
            self._undo = count, rejected, skipped
        return ""

    def _set_cursor(self, record: Any) -> None:
        """Note where a record starts, if reading can start there."""
        at, positions = record.stream_pos, self._positions
        is_first = True
        if positions.magic:
            here = positions.file.tell()
            found = positions.record_end(at).record_id
            positions.file.seek(here)
            record_id = record.headers.get(WarcHeader.WARC_RECORD_ID)
            is_first = found is not None and found.decode("latin-1") == record_id
        self.cursor = WarcCursor(at, self._ours) if is_first else None

    # --- Other responses --------------------------------------------------------------------------

    def _odd_response(self, record: Any, at: int, url: str, block: bytes) -> None:
        """Add a response that needs a closer look: a redirect, an error, a coding, a cut body."""
        headers = record.headers
        if len(block) != record.content_length and len(block) < self._max_body + MAX_HEAD:
            self._reject(at, "truncated record")
            return
        line = STATUS.match(block)
        if line is None:
            self._reject(at, "no HTTP response")
            return
        status = int(line[1])
        if len(_KNOWN_STATUSES) < _MAX_KNOWN_STATUSES and not 300 <= status < 400:
            if status >= 200 and line.end() == 12 and block[12:13] == b" ":
                _KNOWN_STATUSES[block[:13]] = status
        head, separator, body = split_head(block)
        if not separator:
            self._reject(at, "the head of the HTTP response does not end")
            return
        if status < 200:
            self._reject(at, f"HTTP status {status} is not a final response")
            return
        cut = headers.get(WarcHeader.WARC_TRUNCATED) is not None
        cut = cut or len(block) != record.content_length
        if 200 <= status < 300:
            if cut and not body:
                self._reject(at, "the body was not stored")
                return
            decoded = decode_body(head, body, self._max_body)
            if isinstance(decoded, str):
                self._reject(at, decoded)
                return
            body, is_whole = decoded
            cut = cut or not is_whole
        if len(body) > self._max_body:
            body, cut = body[: self._max_body], True
        location = None
        if 300 <= status < 400:
            location = redirect_target(url, head)
        self._add(at, url, status, body, headers.get(WarcHeader.WARC_DATE), location, cut)

    def _add(
        self,
        at: int,
        url: str,
        status: int | None,
        body: bytes | None,
        date: str | None,
        location: str | None = None,
        cut: bool = False,
    ) -> None:
        rows = self._rows
        if location is not None:
            rows.locations[len(rows.urls)] = location
        if cut:
            rows.cut.append(len(rows.urls))
        rows.urls.append(url)
        rows.statuses.append(status)
        rows.heads.append(b"")
        rows.bodies.append(body)
        rows.dates.append(date)
        rows.offsets.append(at)
        rows.size += len(body or b"")

    def _reject(self, at: int, reason: str) -> None:
        self._rows.rejects.append(Reject(self._name, f"offset {at}", reason))

    # --- Other records ----------------------------------------------------------------------------

    def _other_record(self, record: Any, at: int) -> str:
        """Use a record that is not a response; return its type if it is skipped, else ''."""
        kind = record.record_type
        if kind == WarcRecordType.warcinfo:
            self._ours = _EVIDENCE_FIELD in record.reader.read(MAX_HEAD).lower()
        elif kind == WarcRecordType.metadata and self._ours:
            if self._add_failure(record, at):
                return ""
        elif kind == WarcRecordType.revisit:
            url = record.headers.get(WarcHeader.WARC_TARGET_URI)
            if url and _is_robots_url(url):
                self._add_revisit(record, at, _without_brackets(url))
                return ""
        name = str(kind)
        self._skipped[name] += 1
        return name

    def _add_failure(self, record: Any, at: int) -> bool:
        """Add a fetch without a response, which an evidence archive has as metadata."""
        try:
            values = json.loads(record.reader.read(MAX_METADATA))
        except (ValueError, RecursionError):
            return False
        fetch = parse_metadata(values) if is_fetch_metadata(values) else None
        if fetch is None or fetch.status is not None:
            return False
        self._add(at, fetch.url, None, None, record.headers.get(WarcHeader.WARC_DATE))
        return True

    def _add_revisit(self, record: Any, at: int, url: str) -> None:
        """Add a capture with the content of an earlier record of this file."""
        headers = record.headers
        target = headers.get(WarcHeader.WARC_REFERS_TO) or ""
        place = self._record_index().get(target)
        found = None if place is None else self._record_at(place)
        if found is None:
            self._reject(at, "revisit of a record that is not in this file")
            return
        block = record.reader.read(MAX_HEAD)
        line = STATUS.match(block)
        date = headers.get(WarcHeader.WARC_DATE)
        kind, earlier, is_whole = found
        if kind == WarcRecordType.resource:
            cut = len(earlier) > self._max_body
            self._add(at, url, 200, earlier[: self._max_body], date, None, cut)
        elif line is None or int(line[1]) == 304:
            self._earlier_response(at, url, earlier, date, is_whole)
        else:
            # The same content with a head of its own.
            head, _, _ = split_head(block)
            content = split_head(earlier)[2]
            self._earlier_response(at, url, head + b"\r\n\r\n" + content, date, is_whole)

    def _earlier_response(
        self, at: int, url: str, block: bytes, date: str | None, is_whole: bool
    ) -> None:
        self._odd_response(_StoredRecord(block, date, is_whole), at, url, block)

    def _record_index(self) -> dict[str, int]:
        """Return the offsets of all records by id; a second pass, which only revisits need."""
        if self._index is None:
            self._index = {}
            here = self._positions.file.tell()
            try:
                for record in ArchiveIterator(self._positions.stream_at(0), parse_http=False):
                    record_id = record.headers.get(WarcHeader.WARC_RECORD_ID)
                    if record_id:
                        self._index.setdefault(record_id, record.stream_pos)
            except (OSError, ValueError, EOFError):
                pass  # records after the damage are not found, and their revisits rejected
            self._positions.file.seek(here)
        return self._index

    def _record_at(self, offset: int) -> tuple[Any, bytes, bool] | None:
        """Return type and block of the record at an offset, and whether the block is complete."""
        here = self._positions.file.tell()
        limit = self._max_body + MAX_HEAD
        try:
            record = next(
                iter(ArchiveIterator(self._positions.stream_at(offset), parse_http=False)), None
            )
            if record is None:
                return None
            block = record.reader.read(limit)
            is_whole = record.headers.get(WarcHeader.WARC_TRUNCATED) is None
            return record.record_type, block, is_whole and len(block) == record.content_length
        except (OSError, ValueError, EOFError):
            return None
        finally:
            self._positions.file.seek(here)

    # --- Damage -----------------------------------------------------------------------------------

    def _continue_at(self, offset: int, error: str) -> int | None:
        """Return where to continue after fastwarc has stopped; None: at the end."""
        positions = self._positions
        try:
            at, headers = self._last
            if headers is None:
                return self._skip_damage(offset, error)
            found = positions.record_end(at)
            record_id = headers.get(WarcHeader.WARC_RECORD_ID)
            if found.record_id is not None and found.record_id.decode("latin-1") != record_id:
                return self._after_several(offset, at, record_id or "", error)
            if found.problem and not (not error and positions.is_end(at)):
                self._take_back()
                self._reject(at, found.problem)
            end = found.end if found.end is not None else positions.next_start(at + 1)
            return None if end is None or positions.is_end(end) else end
        except OSError as failure:
            self._reject(offset, f"cannot continue: {failure}")
            return None

    def _after_several(self, offset: int, at: int, record_id: str, error: str) -> int | None:
        """
        Return where to continue after a member with several records.

        The offset of a record that is not the first of its member is that of this member or the
        next one.
        """
        positions = self._positions
        if error:
            self._reject(at, f"damage in a member with several records: {error}")
        end = positions.member_with(at, record_id.encode("latin-1", "replace"))
        following = at if end is None else end
        return following if following > offset and not positions.is_end(following) else None

    def _skip_damage(self, offset: int, error: str) -> int | None:
        """Skip bytes that are not a record."""
        positions = self._positions
        if positions.is_end(offset):
            return None
        end = positions.empty_member_end(offset)
        if end is not None:
            return None if positions.is_end(end) else end
        found = positions.record_end(offset)
        self._reject(offset, found.problem or error or "not a WARC record")
        if found.end is not None:
            return None if positions.is_end(found.end) else found.end
        return positions.next_start(offset + 1)

    def _take_back(self) -> None:
        """Remove what the last record has added."""
        rows, (count, rejects, skipped) = self._rows, self._undo
        if len(rows.urls) > count:
            rows.locations.pop(count, None)
            if rows.cut and rows.cut[-1] == count:
                rows.cut.pop()
            for column in (
                rows.urls,
                rows.statuses,
                rows.heads,
                rows.bodies,
                rows.dates,
                rows.offsets,
            ):
                del column[count:]
        del rows.rejects[rejects:]
        if skipped:
            self._skipped[skipped] -= 1

    # --- Batches ----------------------------------------------------------------------------------

    def _batch(self) -> tuple[Any, list[Reject]]:
        """Return the rows as a batch, with the rejects."""
        rows, self._rows = self._rows, _Rows()
        bad = self._review(rows)
        count = len(rows.urls)
        url = pa.array(rows.urls, pa.string())
        complete = [True] * count
        for at in rows.cut:
            complete[at] = False
        locations: list[str | None] = [None] * count
        for at, location in rows.locations.items():
            locations[at] = location
        times, bad_times = parse_dates(rows.dates)
        origin = origin_column(url)
        values = [
            *(origin, url, pa.array(rows.statuses, pa.int16()), _binary_column(rows.bodies)),
            *(times, pa.array(locations, pa.string()), pa.array(complete, pa.bool_())),
            pa.repeat(pa.scalar(self._name, pa.string()), count),
        ]
        batch = pa.RecordBatch.from_arrays(values, schema=SCHEMA)
        rejects = rows.rejects
        bad |= {at: f"invalid WARC-Date {rows.dates[at]!r}" for at in bad_times}
        if origin.null_count:
            unknown = [at for at, value in enumerate(origin.to_pylist()) if value is None]
            bad |= {at: f"no origin: {rows.urls[at][:200]!r}" for at in unknown}
        if bad:
            rejects += [
                Reject(self._name, f"offset {rows.offsets[at]}", bad[at]) for at in sorted(bad)
            ]
            batch = batch.filter(pa.array([at not in bad for at in range(count)], pa.bool_()))
        return batch, rejects

    def _review(self, rows: _Rows) -> dict[int, str]:
        """
        Decode bodies and find short ones; return the rows to reject with the reasons.

        The heads of a batch are searched together: one by one costs more than reading them.
        """
        joined = b"\0".join(rows.heads).lower()
        suspects: Iterable[int]
        if _CODED_OR_ODD.search(joined):
            suspects = range(len(rows.heads))
        elif list(map(int, _LENGTHS.findall(joined))) == [len(body or b"") for body in rows.bodies]:
            return {}
        else:
            suspects = [
                row
                for row, head in enumerate(rows.heads)
                if (length := _LENGTHS.search(head.lower()))
                and int(length[1]) > len(rows.bodies[row] or b"")
            ]
        bad: dict[int, str] = {}
        for row in suspects:
            head, status = rows.heads[row], rows.statuses[row]
            if status is None or not 200 <= status < 300 or not head:
                continue
            if b"\n\n" in head:  # line ends without CR: the head ends earlier
                head, _, body = split_head(head + b"\r\n\r\n" + rows.bodies[row])
            else:
                body = bytes(rows.bodies[row])
            decoded = decode_body(head, body, self._max_body)
            if isinstance(decoded, str):
                bad[row] = decoded
                continue
            body, is_whole = decoded
            if not is_whole or len(body) > self._max_body:
                rows.cut.append(row)
            rows.bodies[row] = body[: self._max_body]
        return bad


class _StoredHeaders:
    """The headers of a revisit, as far as a response needs them."""

    def __init__(self, date: str | None, is_whole: bool) -> None:
        self._date, self._is_whole = date, is_whole

    def get(self, name: Any) -> str | None:
        """Return a header."""
        if name == WarcHeader.WARC_DATE:
            return self._date
        return None if self._is_whole or name != WarcHeader.WARC_TRUNCATED else "length"


class _StoredRecord:
    """An earlier response, at the time of a revisit."""

    def __init__(self, block: bytes, date: str | None, is_whole: bool) -> None:
        self.headers = _StoredHeaders(date, is_whole)
        self.content_length = len(block)


# Redirects are not among them.
_KNOWN_STATUSES: dict[bytes, int] = {b"HTTP/1.1 200 ": 200, b"HTTP/1.0 200 ": 200}


def _without_brackets(url: str) -> str:
    """Return a WARC-Target-URI without the angle brackets that some programs write."""
    return url.removeprefix("<").removesuffix(">").partition("#")[0]


def _is_robots_url(url: str) -> bool:
    """Return whether a URL is that of the robots.txt file of its origin."""
    target = _without_brackets(url)
    return target[authority_end(target) :] == _PATH


def _binary_column(bodies: list[Any]) -> Any:
    """Return bytes and views of bytes as one column; each is copied once."""
    present = [body for body in bodies if body is not None]
    data = b"".join(present)
    if len(present) == len(bodies):
        offsets = array("q", accumulate(map(len, bodies), initial=0))
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(bodies), buffers)
    return pa.array([None if body is None else bytes(body) for body in bodies], pa.large_binary())


def origin_column(urls: Any) -> Any:
    """Return the origins of a column of URLs."""
    engine = _engine.engine
    if not hasattr(engine, "origins_column"):
        engine = _engine.pure
    return pa.array(engine.origins_column(urls, 1, origin_of))
