"""
The first question about an origin, in a process whose memory is empty and whose store is not.

    cold.py WAY FILE      asks one question of each origin in FILE; prints JSON

A process of its own for each measurement: within one, much is remembered from the first question
on. `cached.py` shows the figures. Does not know: tables.
"""

from __future__ import annotations

import gc
import json
import pickle
import random
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from cached_ways import TOKEN, USER_AGENT, Servers, Web

Progress = Callable[[str], None]
WAYS = {
    "client": "Client.check: entry and body from SQLite, parse, check",
    "store": "of it SQLite: entry and body",
    "engine": "parse and check, octets at hand",
    "protego": "Protego: parse and check, octets at hand",
}


def once(way: str, file: str) -> dict[str, float]:
    """Ask one question of each origin in this process, which has asked none before."""
    store, firsts = pickle.loads(Path(file).read_bytes())
    start = time.perf_counter()
    call = _call(way, store)
    opening = time.perf_counter() - start
    gc.collect()
    gc.disable()
    start = time.perf_counter()
    for url, digest, body in firsts:
        call(url, digest, body)
    return {"opening": opening, "seconds": (time.perf_counter() - start) / len(firsts)}


def _call(way: str, store: str) -> Callable[[str, str, bytes], Any]:
    match way:
        case "client":
            from robotrules.client import Client

            check = Client(USER_AGENT, store=store, transport=Servers({})).check
            return lambda url, digest, body: check(url)
        case "store":
            from robotrules.client import open_store

            opened = open_store(store)
            return lambda url, digest, body: (
                opened.get(url[: url.index("/", 8)], TOKEN),
                opened.body(digest),
            )
        case "engine":
            import robotrules

            parse = robotrules.parse
            return lambda url, digest, body: parse(body).check(url, TOKEN)
    protego = import_module("protego").Protego.parse
    return lambda url, digest, body: protego(body.decode("utf-8-sig", errors="ignore")).can_fetch(
        url, TOKEN
    )


def rounds(
    store: Path, known: Web, count: int, progress: Progress
) -> dict[str, list[dict[str, float]]]:
    """Way → what its processes measured, one after the other."""
    from robotrules.cache import body_digest

    firsts = [
        (next(url for url in known.urls if url.startswith(f"{origin}/")), body_digest(body), body)
        for origin, body in known.files.items()
    ]
    random.Random(9309).shuffle(firsts)
    file = store.with_name("firsts.pickle")
    file.write_bytes(pickle.dumps((str(store), firsts)))
    found: dict[str, list[dict[str, float]]] = {}
    for number in range(count + 1):
        for way in WAYS:
            progress(f"process {number} of {count}: {way}")
            done = subprocess.run(
                [sys.executable, __file__, way, str(file)],
                capture_output=True,
                check=False,
                text=True,
                timeout=300,
            )
            # Round 0 writes .pyc files and fills the file cache.
            if number and done.returncode == 0:
                found.setdefault(way, []).append(json.loads(done.stdout))
    return found


if __name__ == "__main__":
    print(json.dumps(once(*sys.argv[1:])))
