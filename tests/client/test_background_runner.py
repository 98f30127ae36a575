"""Background work: once for each key, in a few threads, until the runner is closed."""

from __future__ import annotations

import threading
import time

from robotrules.client.threads import BackgroundRunner


def finish(later: BackgroundRunner) -> None:
    """Wait until nothing is wanted."""
    deadline = time.monotonic() + 10
    while later._pending and time.monotonic() < deadline:
        time.sleep(0.001)


def test_once_for_each_key() -> None:
    """While it is wanted; afterwards it may be wanted again."""
    later, go = BackgroundRunner(2), threading.Event()
    done: list[str] = []

    def work() -> None:
        assert go.wait(10)
        done.append(threading.current_thread().name)

    for _ in range(3):
        later.submit("a", work)
    later.submit("b", work)
    assert later._threads is not None
    assert later._threads._max_workers == 2
    go.set()
    finish(later)
    assert len(done) == 2
    assert all(name.startswith("robotrules-background_") for name in done)
    later.submit("a", work)
    finish(later)
    assert len(done) == 3
    later.close()


def test_the_end() -> None:
    """What is begun is finished, what waits is not begun, and nothing is taken any more."""
    later, go, begun = BackgroundRunner(1), threading.Event(), threading.Event()
    done: list[str] = []

    def first() -> None:
        begun.set()
        assert go.wait(10)
        done.append("first")

    later.submit("a", first)
    later.submit("b", lambda: done.append("second"))
    assert begun.wait(10)
    timer = threading.Timer(0.05, go.set)
    timer.start()
    later.close()
    later.submit("c", lambda: done.append("third"))
    timer.join()
    assert done == ["first"]
