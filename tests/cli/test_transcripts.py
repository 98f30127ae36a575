"""
Transcripts: what a person types and sees, in `tests/cli/<verb>.md` and on the pages of `docs/cli`.

A block of the kind `text file=NAME` is a file of the folder in which the page's commands run. In a
block of the kind `console` each line after `$ ` is given to a shell, and one that ends with a
backslash goes on in the next. The lines after it are exactly what appears on a terminal of 100
columns without colour, but for the seconds that something took.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.shell import COMMAND, Terminal, process_environment

pytest.importorskip("pty", reason="pseudo-terminals are a matter of Unix")

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted(
    [*ROOT.glob("tests/cli/*.md"), *ROOT.glob("docs/cli/*.md"), ROOT / "docs/explain.md"]
)
BLOCK = re.compile(
    r"^```(?P<kind>console|text file=(?P<name>\S+))\n(?P<text>.*?)^```$", re.M | re.S
)
SECONDS = re.compile(r"in [0-9]+\.[0-9] s$", re.MULTILINE)
COMMANDS = re.compile(r"^\$ ", re.MULTILINE)


class Typed(NamedTuple):
    """A command, and what appears."""

    line: int
    command: str
    output: str


def read_page(page: Path) -> tuple[dict[str, str], list[Typed]]:
    """Return the files and the commands of a page."""
    text = page.read_text(encoding="utf-8")
    files, typed = {}, []
    for block in BLOCK.finditer(text):
        if block["name"]:
            files[block["name"]] = block["text"]
            continue
        line = text.count("\n", 0, block.start()) + 2
        before, *parts = COMMANDS.split(block["text"])
        assert not before, f"{page.name}, line {line}: a console block starts with a command"
        for part in parts:
            command, output = part.split("\n", 1)
            while command.endswith("\\"):
                more, output = output.split("\n", 1)
                command += "\n" + more
            typed.append(Typed(line, command, output))
            line += part.count("\n")
    return files, typed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_is_typed_shows_what_is_printed(page: Path, tmp_path: Path) -> None:
    """Every command of a page shows on a terminal what the page says."""
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "robotrules"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    folder = tmp_path / "folder"
    folder.mkdir()
    files, typed = read_page(page)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    assert typed, f"{page.name} has no commands"
    variables = process_environment(NO_COLOR="1")
    variables["PATH"] = f"{programs}:{variables['PATH']}"
    for line, command, output in typed:
        with Terminal() as terminal:
            end = terminal.theirs
            with subprocess.Popen(
                ["sh", "-c", command],
                stdin=end,
                stdout=end,
                stderr=end,
                cwd=folder,
                env=variables,
            ):
                shown = terminal.read()
        where = f"{page.name}, line {line}: {command}"
        assert SECONDS.sub("in 0.0 s", shown) == SECONDS.sub("in 0.0 s", output), where


def test_every_command_has_a_transcript() -> None:
    """A command comes with a transcript and a page."""
    from robotrules import cli

    for name in cli.COMMANDS:
        assert ROOT / f"tests/cli/{name}.md" in PAGES
        assert ROOT / f"docs/cli/{name}.md" in PAGES
