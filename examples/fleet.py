"""A fleet: processes that share a store fetch a robots.txt once, and share the rate limit."""

import multiprocessing
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

from small_site import SmallSite

import robotrules

AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
PROCESSES, THREADS, PAGES, DELAY = 2, 16, 3, 0.1


class SlowSite(SmallSite):
    """A slow site that records the highest number of concurrent requests."""

    def __init__(self) -> None:
        self._lock, self._active, self.most = Lock(), 0, 0
        super().__init__()

    def answer(self, path: str) -> tuple[int, str, dict[str, str]]:
        with self._lock:
            self._active += 1
            self.most = max(self.most, self._active)
        time.sleep(0.3 if path == "/robots.txt" else 0.02)
        with self._lock:
            self._active -= 1
            return super().answer(path)


def work(store: str, url: str, ready: Any, reports: Any) -> None:
    """Run one process of the fleet: check URLs in many threads, then fetch a few pages."""
    with robotrules.Client(
        AGENT, store=store, allow_private=["127.0.0.1"], min_delay=DELAY
    ) as client:
        urls = [f"{url}/private/{number}" for number in range(THREADS)]
        ready.wait()
        with ThreadPoolExecutor(THREADS) as threads:
            verdicts = set(map(str, threads.map(client.check, urls)))
        began = time.time()
        pages = [client.fetch(f"{url}/news") for _ in range(PAGES)]
        reports.put((sorted(verdicts), began, pages[-1].at))


def main() -> None:
    # Spawned processes share nothing but the store, like processes on different machines.
    fleet = multiprocessing.get_context("spawn")
    ready, queue = fleet.Barrier(PROCESSES), fleet.Queue()
    with SlowSite() as site, tempfile.TemporaryDirectory() as folder:
        arguments = (str(Path(folder) / "robots.sqlite"), site.url, ready, queue)
        processes = [fleet.Process(target=work, args=arguments) for _ in range(PROCESSES)]
        for process in processes:
            process.start()
        reports = [queue.get(timeout=50) for _ in processes]
        for process in processes:
            process.join()
        for verdicts, _, _ in reports:
            print(f"a process of {THREADS} threads heard: {'; '.join(verdicts)}")
        print(f"requests for the robots.txt that reached the site: {site.asked['/robots.txt']}")
        print(f"pages: {site.asked['/news']}, at once at most: {site.most}")
        took = max(end for _, _, end in reports) - min(began for _, began, _ in reports)
        least = (PROCESSES * PAGES - 1) * DELAY
        print(f"turns were {DELAY} s apart or more: {took >= least}")


if __name__ == "__main__":
    main()
