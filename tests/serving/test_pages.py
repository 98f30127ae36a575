"""
Pages of `docs/integrations` on servers: their commands make a site, and print what a page shows.

Commands run in a shell with this interpreter as `python`. Three things differ from the page: the
`pip install` line is skipped, because the tests run with the package that is under test; port 8000
is a free port; the folder is printed as `/srv/shop`.
Python blocks are run by `tests/test_docs.py`.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.serving.loopback_servers import free_port, wait_for_port

DOCS = Path(__file__).parents[2] / "docs" / "integrations"
PAGES = ("asgi", "django", "flask", "wsgi")
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
SKIPPED = "pip install"
FOLDER = "/srv/shop"


class ShellCommand(NamedTuple):
    """A command of the page with the output that is printed below it."""

    typed: str
    output: str


def read_commands(text: str) -> list[ShellCommand]:
    """Return the commands of a page; `> ` continues a command."""
    commands = []
    for block in CONSOLE.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            first, *rest = part.splitlines()
            more = [line for line in rest if line == ">" or line.startswith("> ")]
            typed = "\n".join([first, *(line[2:] for line in more)])
            commands.append(ShellCommand(typed, "\n".join(rest[len(more) :])))
    return commands


def run_commands(commands: list[ShellCommand], folder: Path) -> list[str]:
    """Run commands, and return what each printed."""
    port = str(free_port())
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {**os.environ, "PATH": path, "NO_COLOR": "1"}
    servers: list[subprocess.Popen[bytes]] = []
    printed = []
    try:
        for typed, _ in commands:
            line = typed.replace("8000", port)
            if line.startswith(SKIPPED):
                printed.append("")
                continue
            if line.endswith("&"):
                quiet = subprocess.DEVNULL
                words = ["bash", "-c", f"exec {line.removesuffix('&')}"]
                server = subprocess.Popen(
                    words,
                    cwd=folder,
                    env=environ,
                    stdout=quiet,
                    stderr=quiet,
                    # A server that restarts itself is two processes, and both end.
                    start_new_session=True,
                )
                servers.append(server)
                wait_for_port(int(port), server)
                printed.append("")
                continue
            ran = subprocess.run(
                ["bash", "-c", f"{line}\n"],
                cwd=folder,
                env=environ,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=60,
            )
            output = ran.stdout.replace("\r", "").replace(str(folder.resolve()), FOLDER)
            printed.append(output.rstrip("\n"))
    finally:
        for server in servers:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(20)
    return printed


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.skipif(not shutil.which("curl"), reason="the pages use curl, which is not installed")
def test_the_commands_of_a_page(page: str, tmp_path: Path) -> None:
    """Every command prints what is below it."""
    commands = read_commands((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    assert [command.typed.split()[0] for command in commands].count("curl") >= 3
    assert sum(command.typed.startswith(SKIPPED) for command in commands) == 1
    assert run_commands(commands, tmp_path) == [command.output for command in commands]
