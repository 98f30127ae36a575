"""
Evidence as WARC 1.1, the format of web archives: out of a store, and into one.

`export_warc` writes the visits of a store so that other programs can read them. `import_warc` reads
such an archive back, and the visits are the same but for their provenance: each names the archive
that it was imported from, whatever the archive says. It reads archives of others too, of which
every answer for `/robots.txt` becomes a visit, as Common Crawl has them. What cannot be used is
counted by its reason, and nothing is guessed: a redirect is not followed, and half a file is no
file.

Both need warcio: `pip install 'robotrules[warc]'`. How records are written and read is in
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

# What is read of an archive in one go, to hash it; and the longest name that is kept of one.
BLOCK = 64 * 1024
MAX_NAME_LENGTH = 255
MISSING = "archives need warcio, and it is not installed: pip install 'robotrules[warc]'"
Where = str | os.PathLike[str] | BinaryIO
# Why a record of an archive did not become a visit.
SKIP_REASONS = {
    "other": "answers for something else than /robots.txt",
    "redirect": "redirects, which are not followed in an archive",
    "revisit": "records that refer to a file elsewhere",
    "cut": "files of which only a part is there",
    "coding": "files in a content coding that is not read here",
    "no-http": "records that hold no HTTP answer",
    "bad-date": "records without a usable date",
    "bad-digest": "altered records, whose digest does not match; a visit is kept without its file",
    "bad-visit": "records of a visit that cannot have been",
    "alone": "answers that lost the record of their visit",
    "damaged": "parts of the archive that cannot be read",
}


class WarcImport(NamedTuple):
    """What came of reading an archive."""

    added: int
    """Visits that are new to the store."""
    known: int
    """Visits that it had."""
    skipped: dict[str, int]
    """How many records were of no use, by the reasons of `SKIP_REASONS`."""
    provenance: Provenance | None = None
    """What the visits that were added say of where they come from."""

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
    Write the visits of a store as an archive; return how many there were.

    *where* is a path or a stream of octets. A path must not exist, and only a whole archive gets
    its name. *gzip* None goes by the name: compressed if that ends with `.gz`. *now* is the date of
    the first record; without it, the clock's. *origin*, one or
    several, *after*, *before* and *source* (`own`, `imported`, or the SHA-256 of an archive) choose
    visits. What was imported says so in its `metadata` record.
    """
    try:
        from robotrules.client.warc.writer import Writer
    except ImportError as error:
        raise _missing(error) from None
    is_chosen = make_source_filter(source)
    origins = None if origin is None else [_origin(one) for one in _several(origin)]
    info = {
        "software": _software(),
        "format": "WARC File Format 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/"
        "warc-1.1/",
        "description": "Visits to robots.txt files: what was found, when, and until when it held",
    }
    with ExitStack() as opened:
        stream = _created(where, opened)
        if gzip is None:
            gzip = isinstance(where, (str, os.PathLike)) and os.fspath(where).endswith(".gz")
        at = time.time() if now is None else now
        writer = Writer(stream, gzip=gzip, info=info, at=at)
        count = 0
        for fetch_record in filter(is_chosen, _chosen(store, origins, after, before)):
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
    Read an archive into a store as evidence; *where* is a path or a stream of octets.

    Each visit keeps where it comes from: the SHA-256 of the archive, its *name* (that of the file,
    if there is one), and the time, *now*. So an archive is read twice; a stream that cannot go back
    is copied to a temporary file. *progress* is told how many octets were read the second time.

    What the archive holds never raises. Memory does not grow with the archive, whatever it says of
    itself, and of a file as much is kept as a client would read.
    """
    try:
        from robotrules.client.warc.captures import Captures
    except ImportError as error:
        raise _missing(error) from None
    with ExitStack() as opened:
        if isinstance(where, (str, os.PathLike)):
            stream: BinaryIO = opened.enter_context(open(where, "rb"))
        else:
            stream = where
        at = time.time() if now is None else now
        stream, digest = _hashed(stream, opened)
        provenance = Provenance(_name(where, name), digest, at)
        reader = _Reader(stream, progress)
        captures = Captures(cast(BinaryIO, reader), provenance)
        added = store.add(captures.fetch_records())
        if reader.digest() != digest:
            raise ValueError(
                "the archive was changed while it was imported, and what was imported names its "
                f"SHA-256 of before, {digest}: import the new one into another store"
            )
    skipped = dict(sorted(captures.skipped.items()))
    return WarcImport(added, captures.found - added, skipped, provenance)


def _hashed(stream: BinaryIO, opened: ExitStack) -> tuple[BinaryIO, str]:
    """Return an archive that can be read from its start, and its SHA-256."""
    seekable = getattr(stream, "seekable", None)
    found = sha256()
    if seekable is not None and seekable():
        start = stream.tell()
        while block := stream.read(BLOCK):
            found.update(block)
        stream.seek(start)
        return stream, found.hexdigest()
    copy = opened.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - closed by who opened
    while block := stream.read(BLOCK):
        found.update(block)
        copy.write(block)
    copy.seek(0)
    return copy, found.hexdigest()


def _name(where: Where, name: str | None) -> str:
    """Return what an archive is called, without its folder, which is of this machine alone."""
    given: object = name
    if name is None:
        given = os.fspath(where) if isinstance(where, (str, os.PathLike)) else None
        given = getattr(where, "name", None) if given is None else given
    text = os.fsdecode(given) if isinstance(given, (str, bytes)) else ""
    return visible(os.path.basename(text))[:MAX_NAME_LENGTH]


class _Reader:
    """An archive as it is read, and its digest."""

    def __init__(self, stream: BinaryIO, progress: Callable[[int], None] | None) -> None:
        self._stream = stream
        self._progress = progress
        self._hash = sha256()

    def read(self, size: int) -> bytes:
        """Return octets of the archive."""
        octets = self._stream.read(size)
        self._hash.update(octets)
        if self._progress is not None:
            self._progress(len(octets))
        return octets

    def digest(self) -> str:
        """Return the SHA-256 of all of it; what was not read yet is read."""
        while self.read(BLOCK):
            pass
        return self._hash.hexdigest()


def _chosen(
    store: Store, origins: list[str] | None, after: float | None, before: float | None
) -> Iterator[FetchRecord]:
    if origins is None:
        yield from store.fetch_records(after=after, before=before)
    else:
        for one in dict.fromkeys(origins):
            yield from store.fetch_records(one, after=after, before=before)


def _created(where: Where, opened: ExitStack) -> BinaryIO:
    """Return where to write; a path gets the archive when all of it is there."""
    if not isinstance(where, (str, os.PathLike)):
        return where
    path = Path(where)
    if os.path.lexists(path):
        raise _exists(path)
    # A name that cannot be guessed, and a file that was not there before: a link that somebody put
    # in its place would lead elsewhere.
    part = path.with_name(f".{path.name[:100]}.{token_hex(8)}.part")
    stream = opened.enter_context(part.open("xb"))

    def finish(kind: object, *_: object) -> None:
        """Give the archive its name, or take it away."""
        try:
            stream.close()
            if kind is None:
                _name_new(part, path)
        finally:
            part.unlink(missing_ok=True)

    opened.push(finish)
    return stream


def _name_new(part: Path, path: Path) -> None:
    """Give a file its name; what got that name meanwhile is left alone."""
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


def _several(origin: str | Iterable[str]) -> list[str]:
    return [origin] if isinstance(origin, str) else list(origin)


def _origin(url: str) -> str:
    found = origin_of(url)
    if found is None:
        raise ValueError(f"{url!r} has no origin: pass one such as 'https://example.com'")
    return found


def _missing(error: ImportError) -> Exception:
    """Return what to raise when warcio is not there; another module that is missing is a fault."""
    if (error.name or "").partition(".")[0] != "warcio":
        return error
    return MissingExtraError(MISSING)
