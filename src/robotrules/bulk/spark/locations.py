"""
Where WARC files are: paths, globs, lists of paths such as Common Crawl's, and remote files.

A list of paths has one path a line and a name that ends in `.paths` or `.paths.gz`; each path gets
the prefix, such as `https://data.commoncrawl.org/` or `s3://commoncrawl/`. A remote file is copied
to a temporary file before it is read: a connection that breaks is tried again, and no row comes
out twice.
"""

from __future__ import annotations

import glob
import gzip
import json
import shutil
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from robotrules.errors import InputError

LISTS = (".paths", ".paths.gz")
ATTEMPTS = 4
TIMEOUT = 60.0
# A server that says these will not say anything else in a minute.
_FINAL_STATUSES = {400, 401, 403, 404, 405, 410, 451}


def warc_files(paths: list[str], prefix: str = "") -> list[str]:
    """Return the files that paths, globs, folders and lists of paths name, in order."""
    files = [file for path in paths for file in _files(path, prefix)]
    if not files:
        raise InputError(
            f"no WARC files in {', '.join(paths) or 'an empty list of paths'}:"
            " pass files, globs, or a list of paths whose name ends in .paths.gz"
        )
    return list(dict.fromkeys(files))


def _files(path: str, prefix: str) -> Iterator[str]:
    if path.endswith(LISTS):
        yield from (f"{prefix}{line}" for line in read_list(path))
    elif is_remote(path) or prefix:
        yield f"{prefix}{path}"
    else:
        local = path.removeprefix("file://")
        if Path(local).is_dir():
            local = f"{glob.escape(local.rstrip('/'))}/*.warc*"
        if glob.has_magic(local):
            yield from sorted(glob.glob(local, recursive=True))
        else:
            # A file that is missing is a reject of its task, as a file that is broken.
            yield local


def read_list(path: str) -> list[str]:
    """Return the lines of a list of paths; empty lines are left out."""
    try:
        with opened(path) as stream:
            octets = stream.read()
        text = (gzip.decompress(octets) if path.endswith(".gz") else octets).decode("utf-8")
    except (OSError, EOFError, ValueError) as error:
        raise InputError(f"cannot read the list of paths {path}: {error}") from error
    return [line.strip() for line in text.splitlines() if line.strip()]


def option_paths(path: str | None, paths: str | None) -> list[str]:
    """Return the paths of a data source's options: `path`, and `paths` as a JSON array."""
    if paths:
        return [str(each) for each in json.loads(paths)]
    return [path] if path else []


def is_remote(path: str) -> bool:
    """Tell whether a path is a URL of another machine."""
    return "://" in path and not path.startswith("file://")


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """Open a file for reading, a remote one as a temporary copy. OSError says what failed."""
    if not is_remote(path):
        with open(path.removeprefix("file://"), "rb") as stream:
            yield stream
        return
    with tempfile.TemporaryFile(prefix="robotrules-") as copy:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                copy.seek(0)
                copy.truncate()
                _download(path, cast(BinaryIO, copy))
                break
            except OSError as error:
                final = getattr(error, "code", None) in _FINAL_STATUSES
                if final or isinstance(error, FileNotFoundError) or attempt == ATTEMPTS:
                    raise OSError(f"{error} ({path}, attempt {attempt})") from error
                time.sleep(2.0 ** (attempt - 1))
        copy.seek(0)
        yield cast(BinaryIO, copy)


def _download(path: str, copy: BinaryIO) -> None:
    if path.startswith(("http://", "https://")):
        with urllib.request.urlopen(path, timeout=TIMEOUT) as response:
            expected = response.headers.get("Content-Length")
            shutil.copyfileobj(response, copy, 2**20)
        if expected is not None and copy.tell() != int(expected):
            raise OSError(f"connection closed after {copy.tell()} of {expected} bytes")
        return
    from pyarrow import fs

    try:
        system, name = fs.FileSystem.from_uri(path)
    except ValueError as error:
        raise FileNotFoundError(f"cannot open {path}: {error}") from error
    with system.open_input_stream(name) as stream:
        shutil.copyfileobj(stream, copy, 2**20)
