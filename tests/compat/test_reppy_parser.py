"""The C++ parser of reppy 0.4.14, built without its Python module: the answers on our page."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.compat.suites import SUBSTITUTES, download
from tests.compat.test_pages import Row, read_answers

# Headers that the code of 2019 uses without including them.
INCLUDES = ("limits", "cstdint", "stdexcept")


def build_parser(compiler: str, folder: Path) -> Path:
    """Compile the parser with our driver, and return the program."""
    sources = next(download("reppy", folder, release="0.4.14").glob("**/rep-cpp"))
    program = folder / "reppy_driver"
    command = [compiler, "-std=c++11", "-w", "-O1", "-o", str(program)]
    for header in INCLUDES:
        command += ["-include", header]
    for part in (sources, sources / "deps" / "url-cpp"):
        command += ["-I", str(part / "include"), *map(str, sorted(part.glob("src/*.cpp")))]
    command.append(str(SUBSTITUTES / "reppy_driver.cpp"))
    built = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert built.returncode == 0, built.stderr[-2000:]
    return program


def answer_all(program: Path, rows: list[Row]) -> list[str]:
    """Return the answers of the parser, in order."""
    texts = [text.encode() for row in rows for text in (row.text, row.user_agent, row.url)]
    questions = b"".join(b"%d\n%s" % (len(text), text) for text in texts)
    ran = subprocess.run([str(program)], input=questions, capture_output=True, timeout=60)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout.decode().splitlines()


@pytest.mark.slow
def test_the_answers_of_reppy(tmp_path: Path) -> None:
    """The column *original* is what reppy answers, and every row is a difference."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler on this machine")
    rows = read_answers("reppy")
    answers = answer_all(build_parser(compiler, tmp_path), rows)
    measured = [row._replace(original=answer) for row, answer in zip(rows, answers, strict=True)]
    assert measured == rows
    assert all(row.original != row.ours for row in rows)
