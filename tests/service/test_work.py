"""Where verbs run: inline, in threads, and in processes that end, are killed, or take too long."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec
import pytest

from robotrules.service.metrics import Metrics
from robotrules.service.problems import Problem
from robotrules.service.settings import Limits
from robotrules.service.verbs import Verb, load_verbs
from robotrules.service.work import LARGE, WorkPool, run_verb
from tests.service.running import runs, until

Result = TypeVar("Result")
VERBS = load_verbs()
LINT, EXPLAIN = VERBS["/v1/lint"], VERBS["/v1/explain"]
SMALL = json.dumps({"robots": "User-agent: *\nDisallow: /a\n"}).encode()
QUESTION = {"robots": "User-agent: *\nDisallow: /a\n", "url": "/a", "as": "ExampleBot"}
# Lint writes a note for every line: many seconds of work.
SLOW = json.dumps({"robots": "User-agent: *\n" + "Disalow: /a/very/long/path\n" * 280_000}).encode()


@contextmanager
def pool(processes: int = 1, **limits: float) -> Iterator[WorkPool]:
    """A pool, which is closed afterwards with all its processes."""
    made = WorkPool(Limits(**limits), processes, Metrics())  # type: ignore[arg-type]
    try:
        yield made
    finally:
        pids = made.pids
        made.close()
        assert until(lambda: not any(map(runs, pids)), 5)


def run(question: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine; each test has several event loops, which a pool has to stand."""
    return asyncio.run(question)


def ended(work: WorkPool, reason: str) -> float:
    """Return how many processes ended for a reason."""
    name, labels = "robotrules_work_processes_ended_total", {"reason": reason}
    return work._metrics.registry.get_sample_value(name, labels) or 0.0


def stop(work: WorkPool) -> int:
    """Let the process of a pool do nothing, however fast the machine is; return its id."""
    run(work.run(LINT, SMALL))
    (pid,) = work.pids
    os.kill(pid, signal.SIGSTOP)
    return pid


def refused(work: WorkPool, verb: Verb, body: bytes) -> Problem:
    """Return the problem of a request."""
    with pytest.raises(Problem) as raised:
        run(work.run(verb, body))
    return raised.value


def test_a_process_gives_the_answer_that_this_one_gives() -> None:
    """Also for lines, and with problems and their members."""
    with pool() as work:
        assert run(work.run(LINT, SMALL)) == run_verb(LINT, SMALL)
        here = pytest.raises(Problem)
        with here as raised:
            run_verb(LINT, b'{"robots": 1}')
        there = refused(work, LINT, b'{"robots": 1}')
        assert there.as_dict() == raised.value.as_dict()
        assert there.as_dict()["at"] == "$.robots"
        (pid,) = work.pids
        assert pid != os.getpid()


def test_large_bodies_of_light_verbs_leave_the_event_loop() -> None:
    """A thread works on them, and the loop goes on."""
    body = json.dumps({**QUESTION, "robots": QUESTION["robots"] + "#" * 400_000}).encode()
    assert EXPLAIN.inline < len(body) < LARGE

    async def both(work: WorkPool) -> tuple[bytes, int]:
        running = asyncio.ensure_future(work.run(EXPLAIN, body))
        ticks = 0
        while not running.done():
            await asyncio.sleep(0)
            ticks += 1
        return running.result(), ticks

    with pool() as work:
        answer, ticks = run(both(work))
        assert json.loads(answer)["allowed"] is False
        assert ticks > 3
        assert work.pids == []


WORST: dict[str, Callable[[int], dict[str, Any]]] = {
    "/v1/check": lambda size: {
        "robots": "User-agent: *\n" + "".join(f"Disallow:/{n}\n" for n in range(size // 28)),
        "urls": [f"/{n}" for n in range(size // 28)],
        "as": "Bot",
    },
    "/v1/explain": lambda size: {
        **QUESTION,
        "robots": "User-agent: *\n" + "Allow:/\n" * (size // 9),
    },
    "/v1/tags": lambda size: {"headers": ["Robots-Tag: " + "a;noindex, " * (size // 11)]},
    "/v1/guidance": lambda size: {
        "url": "https://example.com/a",
        "as": "Bot",
        "robots": "User-agent: *\n" + "Content-Usage:a=y\n" * (size // 19),
    },
    "/v1/editor/tokens": lambda size: {"robots": "a:\n" * (size // 4)},
    "/v1/editor/completion": lambda size: {
        "robots": "User-agent: *\n" + "Allow:/\n" * (size // 9),
        "position": {"line": 1, "character": 3},
    },
}


def test_the_worst_inline_bodies_are_known() -> None:
    """Each verb that may run on the event loop has one here."""
    assert set(WORST) == {path for path, verb in VERBS.items() if not verb.heavy}


@pytest.mark.parametrize("path", WORST)
def test_inline_work_is_short(path: str) -> None:
    """The event loop waits for it: some 3 ms of the processor, and more with coverage measured."""
    verb = VERBS[path]
    body = json.dumps(WORST[path](verb.inline - 200)).encode()
    assert verb.inline * 0.7 < len(body) <= verb.inline
    times = []
    with pool() as work:
        for _ in range(5):
            assert work.is_inline(verb, body)
            began = time.thread_time()
            work.run_inline(verb, body)
            times.append(time.thread_time() - began)
        assert min(times) < 0.03
        assert not work.is_inline(verb, b" " * (verb.inline + 1))


def test_very_large_bodies_are_read_in_a_process() -> None:
    """Reading their JSON would stop all threads of this one."""
    body = json.dumps({**QUESTION, "robots": QUESTION["robots"] + "#" * 4_000_000}).encode()
    with pool() as work:
        assert run(work.run(EXPLAIN, body)) == run_verb(EXPLAIN, body)
        assert len(work.pids) == 1


def test_work_that_takes_too_long_is_ended() -> None:
    """503 with Retry-After; the process is killed, and the next request has another one."""
    with pool(work_timeout=0.5) as work:
        run(work.run(LINT, SMALL))
        (before,) = work.pids
        began = time.monotonic()
        problem = refused(work, LINT, SLOW)
        assert (problem.slug, problem.headers) == ("took-too-long", {"Retry-After": "2"})
        assert 0.4 < time.monotonic() - began < 4
        assert not runs(before)
        assert run(work.run(LINT, SMALL))
        assert work.pids != [before]
        assert ended(work, "timeout") == 1


def test_the_loop_goes_on_while_a_process_works() -> None:
    """Light requests are answered in the meantime."""

    async def meanwhile(work: WorkPool) -> float:
        running = asyncio.ensure_future(work.run(LINT, SLOW))
        longest = 0.0
        while not running.done():
            began = time.monotonic()
            await asyncio.sleep(0.001)
            await work.run(EXPLAIN, json.dumps(QUESTION).encode())
            longest = max(longest, time.monotonic() - began)
        with pytest.raises(Problem):
            running.result()
        return longest

    with pool(work_timeout=0.5) as work:
        run(work.run(LINT, SMALL))
        assert run(meanwhile(work)) < 0.3


@pytest.mark.parametrize("times", [1, 2])
def test_a_process_that_dies_is_replaced(times: int) -> None:
    """The request runs once more in another process; if that dies too, 503."""

    def kill(first: int) -> None:
        """Kill the process that has the request, and the next one, which has it as well."""
        assert until(lambda: work._processes[0]._busy)
        time.sleep(0.2)
        os.kill(first, signal.SIGKILL)
        if times == 2:
            assert until(lambda: work.pids and work.pids != [first])
            os.kill(work.pids[0], signal.SIGKILL)

    async def both(first: int) -> bytes:
        killing = asyncio.create_task(asyncio.to_thread(kill, first))
        try:
            return await work.run(LINT, SMALL)
        finally:
            await killing

    with pool(work_timeout=30) as work:
        first = stop(work)
        if times == 1:
            assert run(both(first)) == run_verb(LINT, SMALL)
        else:
            with pytest.raises(Problem) as raised:
                run(both(first))
            assert (raised.value.slug, raised.value.headers) == ("work-ended", {"Retry-After": "2"})
        assert ended(work, "died") == times
        assert run(work.run(LINT, SMALL)) == run_verb(LINT, SMALL)


def test_a_process_killed_while_it_is_idle_costs_no_request() -> None:
    """The next request gets its answer from another one."""
    with pool() as work:
        run(work.run(LINT, SMALL))
        (pid,) = work.pids
        os.kill(pid, signal.SIGKILL)
        assert until(lambda: not runs(pid), 5)
        assert run(work.run(LINT, SMALL)) == run_verb(LINT, SMALL)


def test_too_much_waiting_work_is_refused() -> None:
    """At once if too many wait; after a while if one waits too long."""

    async def crowd(work: WorkPool) -> list[str]:
        asked = [asyncio.create_task(work.run(LINT, SMALL)) for _ in range(5)]
        await asyncio.wait(asked)
        return [task.exception().slug for task in asked]  # type: ignore[union-attr]

    with pool(work_timeout=1.5, queue_timeout=0.4, max_waiting=2) as work:
        stop(work)
        slugs = run(crowd(work))
        # All five are sent at once: two may wait, of which one begins.
        assert sorted(slugs) == ["busy"] * 4 + ["took-too-long"]
        assert work.waiting == 0


def test_cancelled_work_that_waits_is_dropped() -> None:
    """A client that leaves makes room for others, and no process works for it."""

    async def leave(work: WorkPool) -> None:
        first = asyncio.create_task(work.run(LINT, SMALL))
        while not work._processes[0]._busy:
            await asyncio.sleep(0.01)
        second = asyncio.create_task(work.run(LINT, SMALL))
        await asyncio.sleep(0.1)
        assert work.waiting == 1
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        assert work.waiting == 0
        with pytest.raises(Problem):
            await first

    with pool(work_timeout=1.5) as work:
        stop(work)
        run(leave(work))


def test_waiting_for_a_process_refuses_nothing_that_a_thread_does() -> None:
    """As many requests may wait for threads, however many wait for processes."""
    body = json.dumps({**QUESTION, "robots": QUESTION["robots"] + "#" * 100_000}).encode()

    async def crowd(work: WorkPool) -> bytes:
        heavy = [asyncio.create_task(work.run(LINT, SMALL))]
        while not work._processes[0]._busy:
            await asyncio.sleep(0.01)
        heavy += [asyncio.create_task(work.run(LINT, SMALL)) for _ in range(2)]
        await asyncio.sleep(0.1)
        assert work.waiting == 2
        answer = await work.run(EXPLAIN, body)
        for task in heavy:
            task.cancel()
        await asyncio.wait(heavy)
        return answer

    with pool(work_timeout=2, max_waiting=2) as work:
        stop(work)
        assert run(crowd(work)) == run_verb(EXPLAIN, body)


def test_a_request_does_not_wait_for_the_start_of_a_process() -> None:
    """Nor does it start a process that is starting already."""
    started: list[int] = []

    async def first(work: WorkPool) -> None:
        async with work.opened():
            for process in work._processes:
                spawn = process._spawn
                process._spawn = lambda spawn=spawn, **given: slow(spawn, **given)  # type: ignore[method-assign]
            await asyncio.gather(*(work.run(LINT, SMALL) for _ in range(4)))

    def slow(spawn: Callable[..., Any], **given: bool) -> Any:
        time.sleep(0.1)
        started.append(1)
        return spawn(**given)

    for _ in range(3):
        started.clear()
        with pool(2) as work:
            run(first(work))
        assert len(started) <= 2


def test_a_successor_that_dies_is_replaced() -> None:
    """Also if it never was ready: otherwise the old process would live for ever."""
    with pool(work_requests=2) as work:
        run(work.run(LINT, SMALL))
        (old,) = work.pids
        process = work._processes[0]
        assert until(lambda: run(work.run(LINT, SMALL)) and process._successor is not None)
        assert process._successor is not None
        process._successor.popen.kill()
        process._successor.popen.wait()
        assert until(lambda: run(work.run(LINT, SMALL)) and work.pids != [old], 20)
        assert ended(work, "recycled") >= 1


@pytest.mark.parametrize("mebibytes", [60, 80, 90, 110, 120])
def test_memory_is_limited(monkeypatch: pytest.MonkeyPatch, mebibytes: int) -> None:
    """
    A request that needs more ends with 503, and the service goes on.

    Native code and Python fail at different places; neither may wait for ever.
    """
    monkeypatch.setenv("RUST_BACKTRACE", "1")
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux limits the memory of a process this way")
    body = json.dumps({"robots": "User-agent: *\n" + "Disallow: /a\n" * 300_000}).encode()
    with pool(work_memory=mebibytes * 1024 * 1024, work_timeout=30) as work:
        problem = refused(work, LINT, body)
        assert problem.slug == "work-ended", problem.detail
        assert run(work.run(LINT, SMALL)) == run_verb(LINT, SMALL)


def test_processes_are_replaced_after_many_requests() -> None:
    """What a long life collects is given back; no request waits for the new process."""
    with pool(work_requests=3) as work:
        pids: list[int] = []
        end = time.monotonic() + 60
        while len(set(pids)) < 2 and time.monotonic() < end:
            run(work.run(LINT, SMALL))
            pids.append(work.pids[0])
            time.sleep(0.1)
        assert len(set(pids)) >= 2
        assert ended(work, "recycled") >= 1


def test_processes_end_with_whoever_started_them() -> None:
    """Also after SIGKILL, and in the middle of work."""
    script = f"""
import asyncio, json, sys, time
from robotrules.service.settings import Limits
from robotrules.service.verbs import load_verbs
from robotrules.service.work import WorkPool
async def main():
    pool = WorkPool(Limits(work_timeout=60), 1)
    lint = load_verbs()["/v1/lint"]
    await pool.run(lint, {SMALL!r})
    asyncio.create_task(pool.run(lint, sys.stdin.buffer.read()))
    await asyncio.sleep(0.5)
    print(*pool.pids, flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin, process.stdout:
        process.stdin.write(SLOW)
        process.stdin.close()
        pid = int(process.stdout.readline())
        assert runs(pid)
        process.kill()
        process.wait()
        assert until(lambda: not runs(pid), 5)


def test_an_error_of_a_verb_is_an_error_here() -> None:
    """Its place is known, without the message, which might have parts of the input."""
    with pool() as work:
        broken = LINT._replace(path="/v1/nothing")
        with pytest.raises(RuntimeError, match=r"^KeyError at \S*verbs/__init__\.py:\d+$"):
            run(work.run(broken, SMALL))
        assert run(work.run(LINT, SMALL))


def test_bodies_that_are_no_json_are_problems() -> None:
    """Whatever the bytes."""
    for body in (b"", b"{", b"\xff\xfe", b"[" * 100_000, b'"', b"1e999999", b"\0"):
        with pool() as work:
            problem = refused(work, EXPLAIN, body)
            assert problem.slug in ("malformed-body", "invalid-request")


def test_limits_cross_to_the_process() -> None:
    """They are JSON in its arguments."""
    limits = Limits(max_urls=7, rate=1.5)
    assert msgspec.json.decode(msgspec.json.encode(limits), type=Limits) == limits
