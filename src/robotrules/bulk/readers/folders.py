"""
Folders of robots.txt files: one file per host, named by it.

`example.com.txt`, `example.com_robots.txt` and `example.com/robots.txt` are files of
https://example.com; a name may start with a scheme, such as `http___example.com.txt` or the folder
`http/example.com/robots.txt`. The time of the file is not the time of the fetch, so that is null.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from robotrules.access.values import SLACK
from robotrules.bulk.arrow_support import pa
from robotrules.bulk.readers.chunks import Cursor, InputChunk
from robotrules.bulk.rejects import Reject
from robotrules.bulk.robots_table import SCHEMA
from robotrules.http.origins import parse_origin, robots_url
from robotrules.profile import LEAST_MAX_BYTES

MAX_BODY = LEAST_MAX_BYTES + SLACK
BATCH_FILES = 4096
BATCH_BYTES = 16 * 1024 * 1024
_SCHEME = re.compile(r"(https?)(?:___|:__|_|:)(?=.)")
_ENDING = re.compile(r"(?:[._-]robots)?\.txt\Z", re.IGNORECASE)


def read_folder(
    path: str, start: Cursor | None = None, batch_rows: int = BATCH_FILES
) -> Iterator[InputChunk]:
    """Yield the files of a folder in the normal form; a cursor is a number of files."""
    files = folder_files(path)
    done = (start or [0])[0]
    rows: list[dict[str, object]] = []
    rejects: list[Reject] = []
    size = position = 0
    yield InputChunk(pa.RecordBatch.from_pylist([], SCHEMA), [], [done], 0)
    for number, file in enumerate(files[done:], done + 1):
        place = os.path.relpath(file, path)
        origin = origin_of_file(place)
        try:
            if origin is None:
                raise ValueError(f"the name is not a host: {place!r}")
            with open(file, "rb") as opened:
                body = opened.read(MAX_BODY + 1)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            rejects.append(Reject(file, "", reason))
            body = b""
        else:
            rows.append(
                {
                    "origin": origin,
                    "url": robots_url(origin),
                    "status": 200,
                    "body": body[:MAX_BODY],
                    "complete": len(body) <= MAX_BODY,
                    "source": file,
                }
            )
        size += len(body)
        position += len(body)
        is_full = len(rows) + len(rejects) >= batch_rows or size >= BATCH_BYTES
        if is_full or number == len(files):
            batch = pa.RecordBatch.from_pylist(rows, SCHEMA)
            yield InputChunk(batch, rejects, [number], position)
            rows, rejects, size = [], [], 0


def folder_files(path: str) -> list[str]:
    """Return the files of a folder and its folders, in a fixed order."""
    return sorted(
        os.path.join(folder, name)
        for folder, _, names in os.walk(path)
        for name in names
        if not name.startswith(".")
    )


def origin_of_file(place: str) -> str | None:
    """Return the origin of a file from its path in the folder; None: it has no host."""
    parts = place.replace(os.sep, "/").split("/")
    name = _ENDING.sub("", parts[-1])
    if parts[-1].lower() == "robots.txt":
        name = ""
    folders = [part for part in parts[:-1] if part not in ("http", "https")]
    host = name or (folders[-1] if folders else "")
    scheme = "http" if "http" in parts[:-1] else "https"
    if found := _SCHEME.match(host):
        scheme, host = found[1], host[found.end() :]
    # A port is written with an underscore where a colon is not possible.
    host = re.sub(r"_([0-9]{1,5})\Z", r":\1", host)
    return parse_origin(f"{scheme}://{host}") if "." in host or "localhost" in host else None
