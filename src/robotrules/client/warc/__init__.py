"""
WARC 1.1 export and import: evidence in the format of web archives.

`export_warc` writes the fetch records of a store for other programs. `import_warc` reads such an
archive, and the records are the same except for their provenance: each names the archive that it
was imported from, whatever the archive says. It also reads other archives, such as those of Common
Crawl, where every response for `/robots.txt` becomes a fetch record. Unusable records are counted
by reason, and nothing is guessed: redirects are not followed, and a truncated file is not used.

Both need warcio: `pip install 'robotrules[warc]'`. The formats of records are in
`writing`, `reading` and `captures`.
"""

from __future__ import annotations

import errno
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO, NamedTuple, cast

from robotrules.cache import FetchRecord, Provenance, Store
from robotrules.client.source_filter import make_source_filter
from robotrules.errors import MissingExtraError
from robotrules.http.origins import origin_of
from robotrules.octets import visible

__all__ = ["SKIP_REASONS", "WarcImport", "export_warc", "import_warc"]

# Block size for hashing an archive, and the maximum length of its stored name.
BLOCK = 64 * 1024
MAX_NAME_LENGTH = 255
MISSING = "WARC archives need warcio, which is not installed: pip install 'robotrules[warc]'"
Where = str | os.PathLike[str] | BinaryIO
# Why a record of an archive did not become a fetch record.
SKIP_REASONS = {
    "other": "responses for other URLs than /robots.txt",
    "redirect": "redirects, which are not followed in an archive",
    "revisit": "records that refer to a file in another archive",
    "cut": "truncated files",
    "coding": "files in an unsupported content coding",
    "no-http": "records without an HTTP response",
    "bad-date": "records without a usable date",
    "bad-digest": "altered records, with another digest; the fetch is kept without its file",
    "bad-visit": "inconsistent fetch records",
    "alone": "responses without their fetch record",
    "damaged": "unreadable parts of the archive",
}


class WarcImport(NamedTuple):
    """The outcome of importing an archive."""

    added: int
    """Fetch records that are new to the store."""
    known: int
    """Fetch records that the store already had."""
    skipped: dict[str, int]
    """Number of unusable records, by the reasons of `SKIP_REASONS`."""
    provenance: Provenance | None = None
    """The provenance of the added fetch records."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "added": self.added,
            "known": self.known,
            "skipped": self.skipped,
            "archive": self.provenance.as_dict() if self.provenance else None,
        }


def export_warc(
    store: Store,
    where: Where,
    *,
    origin: str | Iterable[str] | None = None,
    after: float | None = None,
    before: float | None = None,
    source: str | None = None,
    gzip: bool | None = None,
    now: float | None = None,
    progress: Callable[[FetchRecord], None] | None = None,
) -> int:
    """
    Write the fetch records of a store as an archive; return how many.

    *where* is a path or a stream of octets. A path must not exist, and only a whole archive gets
    its name. *gzip* None goes by the name: compressed if that ends with `.gz`. *now* is the date of
    the first record; without it, the clock's. *origin*, one or
    several, *after*, *before* and *source* (`own`, `imported`, or the SHA-256 of an archive) choose
    visits. What was imported says so in its `metadata` record.
    """
    try:
        from robotrules.client.warc.writer import Writer
    except ImportError as error:
        raise _missing_warcio(error) from None
    is_chosen = make_source_filter(source)
    origins = None if origin is None else [_origin(one) for one in _to_list(origin)]
    info = {
        "software": _software(),
        "format": "WARC File Format 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/"
        "warc-1.1/",
        "description": "Visits to robots.txt files: what was found, when, and until when it held",
    }
    with ExitStack() as opened:
        stream = _create_file(where, opened)
        if gzip is None:
            gzip = isinstance(where, (str, os.PathLike)) and os.fspath(where).endswith(".gz")
        at = time.time() if now is None else now
        writer = Writer(stream, gzip=gzip, info=info, at=at)
        count = 0
        for fetch_record in filter(is_chosen, _select_records(store, origins, after, before)):
            writer.add(fetch_record, store.body)
            count += 1
            if progress is not None:
                progress(fetch_record)
    return count


def import_warc(
    store: Store,
    where: Where,
    *,
    name: str | None = None,
    now: float | None = None,
    progress: Callable[[int], None] | None = None,
) -> WarcImport:
    """
    Import an archive into a store as evidence; *where* is a path or a binary stream.

    Each visit keeps where it comes from: the SHA-256 of the archive, its *name* (that of the file,
    if there is one), and the time, *now*. So an archive is read twice; a stream that cannot go back
    is copied to a temporary file. *progress* is called with the number of bytes read in the second
    pass.

    The content of the archive never raises. Memory does not grow with the archive, whatever it says
    of itself, and of a file as much is kept as a client would read.
    """
    try:
        from robotrules.client.warc.captures import Captures
    except ImportError as error:
        raise _missing_warcio(error) from None
    with ExitStack() as opened:
        if isinstance(where, (str, os.PathLike)):
            stream: BinaryIO = opened.enter_context(open(where, "rb"))
        else:
            stream = where
        at = time.time() if now is None else now
        stream, digest = _hash_archive(stream, opened)
        provenance = Provenance(_name(where, name), digest, at)
        reader = _Reader(stream, progress)
        captures = Captures(cast(BinaryIO, reader), provenance)
        added = store.add(captures.fetch_records())
        if reader.digest() != digest:
            raise ValueError(
                "the archive changed during the import, and the imported records name its "
                f"previous SHA-256, {digest}: import the new one into another store"
            )
    skipped = dict(sorted(captures.skipped.items()))
    return WarcImport(added, captures.found - added, skipped, provenance)


def _hash_archive(stream: BinaryIO, opened: ExitStack) -> tuple[BinaryIO, str]:
    """Return the archive as a seekable stream, and its SHA-256."""
    seekable = getattr(stream, "seekable", None)
    found = sha256()
    if seekable is not None and seekable():
        start = stream.tell()
        while block := stream.read(BLOCK):
            found.update(block)
        stream.seek(start)
        return stream, found.hexdigest()
    copy = opened.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - closed by the caller
    while block := stream.read(BLOCK):
        found.update(block)
        copy.write(block)
    copy.seek(0)
    return copy, found.hexdigest()


def _name(where: Where, name: str | None) -> str:
    """Return the name of an archive, without its folder, which is specific to this machine."""
    given: object = name
    if name is None:
        given = os.fspath(where) if isinstance(where, (str, os.PathLike)) else None
        given = getattr(where, "name", None) if given is None else given
    text = os.fsdecode(given) if isinstance(given, (str, bytes)) else ""
    return visible(os.path.basename(text))[:MAX_NAME_LENGTH]


class _Reader:
    """Reads an archive, and computes its digest."""

    def __init__(self, stream: BinaryIO, progress: Callable[[int], None] | None) -> None:
        self._stream = stream
        self._progress = progress
        self._hash = sha256()

    def read(self, size: int) -> bytes:
        """Return bytes of the archive."""
        octets = self._stream.read(size)
        self._hash.update(octets)
        if self._progress is not None:
            self._progress(len(octets))
        return octets

    def digest(self) -> str:
        """Return the SHA-256 of the whole archive; the rest is read first."""
        while self.read(BLOCK):
            pass
        return self._hash.hexdigest()


def _select_records(
    store: Store, origins: list[str] | None, after: float | None, before: float | None
) -> Iterator[FetchRecord]:
    if origins is None:
        yield from store.fetch_records(after=after, before=before)
    else:
        for one in dict.fromkeys(origins):
            yield from store.fetch_records(one, after=after, before=before)


def _create_file(where: Where, opened: ExitStack) -> BinaryIO:
    """Return the stream to write; a path gets the archive only when it is complete."""
    if not isinstance(where, (str, os.PathLike)):
        return where
    path = Path(where)
    if os.path.lexists(path):
        raise _exists(path)
    # An unpredictable name of a new file: a symbolic link placed there by another user would lead
    # elsewhere.
    part = path.with_name(f".{path.name[:100]}.{token_hex(8)}.part")
    stream = opened.enter_context(part.open("xb"))

    def finish(kind: object, *_: object) -> None:
        """Rename the complete archive, or remove it."""
        try:
            stream.close()
            if kind is None:
                _rename_new(part, path)
        finally:
            part.unlink(missing_ok=True)

    opened.push(finish)
    return stream


def _rename_new(part: Path, path: Path) -> None:
    """Rename a file; a file that got that name meanwhile is not replaced."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise _exists(path) from None
    except OSError:  # a file system without links
        if os.path.lexists(path):
            raise _exists(path) from None
        os.rename(part, path)


def _exists(path: Path) -> FileExistsError:
    return FileExistsError(errno.EEXIST, "there is such a file already: name another", str(path))


def _software() -> str:
    try:
        return f"robotrules/{metadata.version('robotrules')}"
    except metadata.PackageNotFoundError:
        return "robotrules"


def _to_list(origin: str | Iterable[str]) -> list[str]:
    return [origin] if isinstance(origin, str) else list(origin)


def _origin(url: str) -> str:
    found = origin_of(url)
    if found is None:
        raise ValueError(f"{url!r} has no origin: pass one such as 'https://example.com'")
    return found


def _missing_warcio(error: ImportError) -> Exception:
    """Return the error for a missing warcio; any other missing module is a bug."""
    if (error.name or "").partition(".")[0] != "warcio":
        return error
    return MissingExtraError(MISSING)
