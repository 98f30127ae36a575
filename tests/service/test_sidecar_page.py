"""
docs/sidecar.md: commands work as shown, and print what is shown.

Each command runs in a shell, with a real service and sites on loopback in place of the hosts.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from robotrules.service.problems import PROBLEMS
from tests.service.live_server import open_site, serve

PAGE = (Path(__file__).parents[2] / "docs" / "sidecar.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
ROBOTS = "User-agent: *\nDisallow: /private\nCrawl-delay: 2\n"
# A command, with the lines that continue it, and what it prints.
COMMAND = re.compile(r"^\$ (.*(?:\n    .*)*)\n((?:[^$].*\n)*)", re.MULTILINE)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_commands_work() -> None:
    commands = [found for block in BLOCKS for found in COMMAND.findall(block)]
    ran = 0
    with open_site(ROBOTS) as site, open_site(ROBOTS) as other, serve() as service:
        hosts = {
            "http://127.0.0.1:8080": service.url,
            "https://example.com": site.origin,
            "https://example.org": other.origin,
        }
        for command, shown in commands:
            if "curl " not in command:
                assert command.startswith("robotrules serve ")
                continue
            for host, url in hosts.items():
                command, shown = command.replace(host, url), shown.replace(host, url)
            done = subprocess.run(
                ["sh", "-c", command], capture_output=True, text=True, timeout=30, check=True
            )
            answers = [json.loads(line) for line in done.stdout.splitlines()]
            assert answers, command
            for answer in answers:
                assert answer.get("allowed", "postponed" in answer) is True, done.stdout
            if shown:
                assert [_without_wait(one) for one in answers] == [
                    _without_wait(json.loads(line)) for line in shown.splitlines()
                ]
                for answer in answers:
                    assert answer.get("wait", 2) == pytest.approx(2, abs=1)
            if "stream" in command:
                assert [one["product_token"] for one in answers] == ["ExampleBot", "OtherBot"]
            ran += 1
    assert ran == 5


def _without_wait(answer: dict[str, Any]) -> dict[str, Any]:
    return answer | {name: name in answer for name in ("wait", "until")}


def test_the_problems_exist() -> None:
    table = PAGE.partition("## Problems")[2]
    rows = re.findall(r"^\| (\d+) \| ((?:`[a-z-]+`(?:, )?)+) \|", table, re.MULTILINE)
    assert len(rows) >= 5
    for status, slugs in rows:
        for slug in re.findall("[a-z-]+", slugs):
            assert PROBLEMS[slug].status == int(status)
    assert "store-unavailable" in table
