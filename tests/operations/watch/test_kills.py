"""
The watch as a process that is killed at random moments, while the site goes through changes.

Each change is told exactly once to every channel that can be told once (a file on stdout, a feed),
at least once and with the same id to a webhook, and none is lost.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.shell import COMMAND, process_environment
from tests.cli.sites import response, site
from tests.operations.watch.receivers import Hook, webhook_endpoint

ATOM = "{http://www.w3.org/2005/Atom}"


class Told(NamedTuple):
    """What the channels were told."""

    kills: int
    steps: int
    sentences: list[str]
    stdout: Counter[str]
    webhook: Counter[str]
    feed: Counter[str]
    commands: Counter[str]


def robots(step: int) -> bytes:
    """Return the file of a step: each has another rule."""
    return response(f"User-agent: *\nDisallow: /step{step}/\n", "Content-Type: text/plain")


def run_and_kill(folder: Path, kills: int, seed: int, webhook_down: range = range(0)) -> Told:
    """
    Start a watch again and again, kill it at random moments, and change the site meanwhile.

    The site goes on when the webhook knows of its last change, or has been down for long enough.
    The webhook is down while a kill of *webhook_down* comes.
    """
    randomness = random.Random(seed)
    out = folder / "events.jsonl"
    heard = folder / "heard"
    step = 0
    with site({"/robots.txt": robots(0)}) as target, webhook_endpoint() as hook:
        command = [
            *(*COMMAND, "watch", target.origin, "--every", "1s", "--after", "1000"),
            *("--allow-private", "127.0.0.1", "--webhook", hook.url, "--timeout", "5"),
            *("--feed", str(folder / "feed.atom"), "--state", str(folder / "state.sqlite")),
            *("--exec", f"sh -c 'cat >> {heard}'"),
        ]
        variables = process_environment(
            ROBOTRULES_CACHE_DIR=str(folder / "cache"),
            ROBOTRULES_WEBHOOK_SECRET="a secret of more than 24 characters",
        )

        def start() -> subprocess.Popen[bytes]:
            with out.open("ab") as stdout, (folder / "log").open("ab") as log:
                return subprocess.Popen(command, stdout=stdout, stderr=log, env=variables)

        once, began = [*command, "--once"], time.monotonic()
        first = subprocess.run(once, env=variables, capture_output=True, check=False)
        assert (first.returncode, first.stdout) == (0, b""), first.stderr
        # A process that starts slowly, because the machine is busy, lives longer.
        life = max(time.monotonic() - began, 0.8)
        for number in range(kills):
            hook.status = 503 if number in webhook_down else 200
            process = start()
            time.sleep(life * randomness.uniform(0.3, 1.6))
            process.send_signal(signal.SIGKILL)
            process.wait()
            # The next change waits until this one is known: a change that no look saw is not told.
            if len(read_ids(out)) >= step:
                step += 1
                target.answers["/robots.txt"] = robots(step)
        hook.status = 200
        process = start()
        try:
            wait_until_told(hook, out, folder, step)
        finally:
            process.terminate()
            assert process.wait(30) == 0
        lines = [json.loads(line) for line in out.read_bytes().splitlines()]
        feed = ElementTree.parse(folder / "feed.atom").getroot()
        ids = [entry.findtext(f"{ATOM}id") or "" for entry in feed.iter(f"{ATOM}entry")]
        return Told(
            kills,
            step,
            [line["sentence"] for line in lines],
            Counter(line["id"] for line in lines),
            Counter(event["id"] for event in hook.events),
            Counter(ids),
            Counter(json.loads(line)["id"] for line in heard.read_bytes().splitlines()),
        )


def read_ids(out: Path) -> list[str]:
    """Return the ids in a file of events; a line that is being written does not count."""
    whole = out.read_bytes().rpartition(b"\n")[0] if out.exists() else b""
    return [json.loads(line)["id"] for line in whole.splitlines()]


def wait_until_told(hook: Hook, out: Path, folder: Path, steps: int) -> None:
    """Wait until the last change has reached every channel."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        told = {event["id"] for event in hook.events}
        heard = folder / "heard"
        commands = heard.read_bytes().count(b"\n") if heard.exists() else 0
        if min(len(told), len(read_ids(out)), commands) >= steps:
            time.sleep(0.5)
            return
        time.sleep(0.1)
    log = (folder / "log").read_text(encoding="utf-8")
    raise AssertionError(f"{len(hook.events)} of {steps} events after a minute: {log[-2000:]}")


def check_told(told: Told) -> None:
    """Check that each change was told: once, in order, and to every channel."""
    assert len(told.stdout) == told.steps
    assert set(told.stdout.values()) == {1}
    assert set(told.feed.values()) == {1}
    assert len(told.feed) == told.steps
    assert set(told.webhook) == set(told.stdout) == set(told.commands)
    for step, sentence in enumerate(told.sentences, 1):
        assert f"/step{step}/*" in sentence


@pytest.mark.slow
def test_killed_fifty_times_each_change_is_told_once(tmp_path: Path) -> None:
    """SIGKILL at 50 random moments; the webhook is down for a part of the time, and told after."""
    told = run_and_kill(tmp_path, 50, seed=9309, webhook_down=range(15, 30))
    assert told.steps >= 5
    check_told(told)


def test_killed_a_few_times(tmp_path: Path) -> None:
    """The same with four kills."""
    check_told(run_and_kill(tmp_path, 4, seed=1))
