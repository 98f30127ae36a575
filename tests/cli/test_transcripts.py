"""
Transcripts: what a person types and sees, in `tests/cli/<verb>.md` and on the pages of `docs/cli`.

A block of the kind `text file=NAME` is a file of the folder in which the page's commands run, and
one of the kind `http url=URL` is the response of a site that they may use (see `sites`). In a block
of the kind `console` each line after `$ ` is given to a shell, and one that ends with a backslash
goes on in the next. The lines after it are exactly what appears on a terminal of 100 columns
without colour, but for the seconds that something took.
"""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.shell import COMMAND, process_environment, typed_at_a_terminal
from tests.cli.sites import Answer, served
from tests.cli.transcript_program import seconds

pytest.importorskip("pty", reason="pseudo-terminals are a matter of Unix")

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted(
    [*ROOT.glob("tests/cli/*.md"), *ROOT.glob("docs/cli/*.md"), ROOT / "docs/explain.md"]
)
BLOCK = re.compile(
    r"^```(?P<kind>console|text file=(?P<name>\S+)|http url=(?P<url>\S+)"
    r"(?: from=(?P<since>\S+))?)\n(?P<text>.*?)^```$",
    re.M | re.S,
)
# What runs the commands of a page that has sites.
WITH_SITES = [sys.executable, "-P", str(Path(__file__).parent / "transcript_program.py")]
SECONDS = re.compile(r"in [0-9]+\.[0-9] s$", re.MULTILINE)
COMMANDS = re.compile(r"^\$ ", re.MULTILINE)
# A bar is wiped and leaves nothing; whether there was time to show one depends on the machine.
BAR = re.compile(r"\r[^\r\n]*\x1b\[K")


class Typed(NamedTuple):
    """A command, and its output."""

    line: int
    command: str
    output: str


class Written(NamedTuple):
    """The contents of a page."""

    files: dict[str, str]
    answers: dict[str, list[Answer]]
    typed: list[Typed]


def read_page(page: Path) -> Written:
    """Return the files, the sites and the commands of a page."""
    text = page.read_text(encoding="utf-8")
    files: dict[str, str] = {}
    answers: dict[str, list[Answer]] = {}
    typed = []
    for block in BLOCK.finditer(text):
        if block["name"]:
            files[block["name"]] = block["text"]
            continue
        if url := block["url"]:
            since = seconds(block["since"]) if block["since"] else 0.0
            answers.setdefault(url, []).append(Answer(since, block["text"].encode()))
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
    return Written(files, answers, typed)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_is_typed_shows_what_is_printed(page: Path, tmp_path: Path) -> None:
    """Every command of a page has the terminal output that the page shows."""
    files, answers, typed = read_page(page)
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "robotrules"
    command = shlex.join(WITH_SITES if answers else COMMAND)
    program.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    folder = tmp_path / "folder"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    assert typed, f"{page.name} has no commands"
    with served(answers) as sites:
        variables = process_environment(NO_COLOR="1", **sites)
        variables["PATH"] = f"{programs}:{variables['PATH']}"
        for line, command, output in typed:
            shown = BAR.sub("", typed_at_a_terminal(command, folder, variables))
            where = f"{page.name}, line {line}: {command}"
            assert SECONDS.sub("in 0.0 s", shown) == SECONDS.sub("in 0.0 s", output), where


def test_every_command_has_a_transcript() -> None:
    """A command comes with a transcript and a page."""
    from robotrules import cli

    for name in cli.COMMANDS:
        assert ROOT / f"tests/cli/{name}.md" in PAGES
        assert ROOT / f"docs/cli/{name}.md" in PAGES
