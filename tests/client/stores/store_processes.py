"""
Processes for tests of stores: writers to be killed, racers, and many that open a store at once.

    python -m tests.client.stores.store_processes kill
    python -m tests.client.stores.store_processes prefetch WHERE FIRST
    python -m tests.client.stores.store_processes TASK WHERE FOLDER PROCESSES TIMES

A separate process without open stores and without threads forks the others: that is cheap, and as
safe as a fork can be. A `#` in WHERE is the number of the time.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from importlib import import_module
from itertools import count
from pathlib import Path

from robotrules.access import Request, Response
from robotrules.client import AsyncClient, open_store
from robotrules.errors import MissingExtraError
from tests.client.stores.sample_records import NOW, ORIGIN, numbered


def kill() -> None:
    """
    Kill a writer for each line of the input: `WHERE FIRST SECONDS`.

    The writer puts FIRST and the numbers after it, and reports each; it is killed after
    SECONDS. Print the last number that it reported; -1: none.
    """
    print("ready", flush=True)
    for line in sys.stdin:
        where, first, seconds = line.split()
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            _write(where, int(first), write)
        os.close(write)
        time.sleep(float(seconds))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with open(read, "rb") as said:
            lines = said.read().splitlines()
        failed = [words for words in lines if not words.isdigit()]
        print(failed or int(lines[-1]) if lines else -1, flush=True)


def _write(where: str, number: int, said: int) -> None:
    """Put one number after the other, until the process is killed."""
    try:
        store = open_store(where)
        while True:
            store.put(*numbered(number))
            os.write(said, b"%d\n" % number)
            number += 1
    except BaseException:
        os.write(said, traceback.format_exc().replace("\n", " ").encode() + b"\n")
        os._exit(1)


def prefetch(where: str, first: str) -> None:
    """
    Prefetch origins from a number on, as an event loop does; print each as it is ready.

    The files are numbered too, and come from no network.
    """

    class Everywhere:
        async def send(self, request: Request) -> Response:
            await asyncio.sleep(0)
            return Response(200, [], f"# {request.url}\n".encode(), address="192.0.2.1")

        async def aclose(self) -> None:
            pass

    async def run() -> None:
        origins = (f"https://s{number}.example" for number in count(int(first)))
        agent = "ExampleBot/1.0 (+https://example.com/bot)"
        async with AsyncClient(agent, store=where, transport=Everywhere()) as client:
            await client.prefetch(
                origins, concurrency=40, progress=lambda state: print(state.origin, flush=True)
            )

    asyncio.run(run())


def lease(where: str, folder: str) -> None:
    """Take a lease repeatedly, from many threads; only its holder may be in the folder."""
    alone = Path(folder, "alone")
    end = time.monotonic() + 60
    with closing(open_store(where)) as store:

        def work(thread: int) -> None:
            holder, taken = f"{os.getpid()} {thread}", 0
            while taken < 5:
                assert time.monotonic() < end, "nobody gives it back"
                if store.lease("key", holder, 30):
                    os.close(os.open(alone, os.O_CREAT | os.O_EXCL))
                    time.sleep(0.001)
                    alone.unlink()
                    taken += 1
                    store.release("key", holder)
                time.sleep(0.002)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))


def turns(where: str, folder: str) -> None:
    """Reserve slots from many threads, and write them to files."""
    with closing(open_store(where)) as store, ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda _: store.reserve_slot(ORIGIN, NOW, 1.0), range(100)))
    Path(folder, f"{os.getpid()}").write_text("\n".join(map(repr, taken)))


def opening(where: str, folder: str) -> None:
    """Open a store that others open at the same moment, and put something."""
    moment = float(Path(folder, "moment").read_text())
    time.sleep(max(moment - time.time(), 0.0))
    with closing(open_store(where)) as store:
        store.put(*numbered(os.getpid()))


def many(task: Callable[[str, str], None], where: str, folder: str, processes: int) -> None:
    """Run a task in several processes at once; exit with 0 if all of them succeeded."""
    Path(folder, "moment").write_text(repr(time.time() + 0.03))
    children = []
    for _ in range(processes):
        child = os.fork()
        if child == 0:
            try:
                task(where, folder)
            except BaseException:
                traceback.print_exc()
                sys.stderr.flush()
                os._exit(1)
            os._exit(0)
        children.append(child)
    failed = [child for child in children if os.waitpid(child, 0)[1]]
    if failed:
        sys.exit(f"{len(failed)} of {processes} failed")


if __name__ == "__main__":
    # Each child would import them, and be killed before it is done.
    for library in ("redis", "postgres"):
        with suppress(MissingExtraError):
            import_module(f"robotrules.client.stores.{library}")
    name, *rest = sys.argv[1:]
    if name == "kill":
        kill()
    elif name == "prefetch":
        prefetch(*rest)
    else:
        place, folder, processes, times = rest
        for number in range(int(times)):
            task = {"lease": lease, "turns": turns, "opening": opening}[name]
            many(task, place.replace("#", str(number)), folder, int(processes))
