"""
Evidence as WARC 1.1, the format of web archives: out of a store, and into one.

`export_warc` writes the visits of a store so that other programs can read them. `import_warc` reads
such an archive back, and the visits are the same; and it reads archives of others, of which every
answer for `/robots.txt` becomes a visit, as Common Crawl has them. What cannot be used is counted
by its reason, and nothing is guessed: a redirect is not followed, and half a file is no file.

Both need warcio: `pip install 'robotrules[warc]'`. How records are written and read is in
`writing`, `reading` and `captures`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from importlib import metadata
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from robotrules.cache import Store, Visit
from robotrules.errors import MissingExtraError
from robotrules.origins import origin_of

__all__ = ["SKIPPED", "WarcImport", "export_warc", "import_warc"]

MISSING = "archives need warcio, and it is not installed: pip install 'robotrules[warc]'"
Where = str | os.PathLike[str] | BinaryIO
# Why a record of an archive did not become a visit.
SKIPPED = {
    "other": "answers for something else than /robots.txt",
    "redirect": "redirects, which are not followed in an archive",
    "revisit": "records that refer to a file elsewhere",
    "cut": "files of which only a part is there",
    "coding": "files in a content coding that is not read here",
    "no-http": "records that hold no HTTP answer",
    "bad-date": "records without a usable date",
    "bad-digest": "records that are not what their digest says",
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
    """How many records were of no use, by the reasons of `SKIPPED`."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


def export_warc(
    store: Store,
    where: Where,
    *,
    origin: str | Iterable[str] | None = None,
    after: float | None = None,
    before: float | None = None,
    gzip: bool | None = None,
    progress: Callable[[Visit], None] | None = None,
) -> int:
    """
    Write the visits of a store as an archive; return how many there were.

    *where* is a path or a stream of octets. A path must not exist, and only a whole archive gets
    its name. *gzip* None goes by the name: compressed if that ends with `.gz`. *origin*, one or
    several, *after* and *before* choose visits.
    """
    try:
        from robotrules.client.warc.writing import Writer
    except ImportError as error:
        raise _missing(error) from None
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
        writer = Writer(stream, gzip=gzip, info=info, at=time.time())
        count = 0
        for visit in _chosen(store, origins, after, before):
            writer.add(visit, store.body)
            count += 1
            if progress is not None:
                progress(visit)
    return count


def import_warc(store: Store, where: Where) -> WarcImport:
    """
    Read an archive into a store as evidence; *where* is a path or a stream of octets.

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
        captures = Captures(stream)
        added = store.add(captures.visits())
    return WarcImport(added, captures.found - added, dict(sorted(captures.skipped.items())))


def _chosen(
    store: Store, origins: list[str] | None, after: float | None, before: float | None
) -> Iterator[Visit]:
    if origins is None:
        yield from store.visits(after=after, before=before)
    else:
        for one in dict.fromkeys(origins):
            yield from store.visits(one, after=after, before=before)


def _created(where: Where, opened: ExitStack) -> BinaryIO:
    """Return where to write; a path gets the archive when all of it is there."""
    if not isinstance(where, (str, os.PathLike)):
        return where
    path = Path(where)
    if path.exists():
        raise FileExistsError(17, "there is such a file already: name another", str(path))
    part = path.with_name(f"{path.name}.part")
    stream = opened.enter_context(part.open("wb"))

    def finish(kind: object, *_: object) -> None:
        """Give the archive its name, or take it away."""
        stream.close()
        if kind is None:
            part.replace(path)
        else:
            part.unlink(missing_ok=True)

    opened.push(finish)
    return stream


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
