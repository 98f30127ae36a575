"""The page on RFC 9309 is generated from the suite, and up to date."""

from __future__ import annotations

import subprocess
import sys

import suite

SCRIPT = suite.HERE.parent / "scripts" / "rfc9309_page.py"
PAGE = suite.HERE.parent / "docs" / "rfc9309.md"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the script in a process."""
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_page_is_up_to_date() -> None:
    """The page on disk is the one that the script writes."""

    done = run("--check")

    assert done.returncode == 0, done.stdout + done.stderr


def test_page_shows_every_vector() -> None:
    """Each vector of RFC 9309 is on the page once, and each requirement has a heading."""

    text = PAGE.read_text(encoding="utf-8")

    for vector in suite.load():
        anchor = f'<a id="{vector.id.replace("/", "--")}"></a>'
        assert text.count(anchor) == (0 if vector.is_extension else 1)
    for name in suite.load_requirements():
        assert not name.startswith("REP-") or f"### {name}\n" in text


def test_usage() -> None:
    """A wrong argument exits with 2, a difference with 1."""

    assert run("--chekc").returncode == 2
