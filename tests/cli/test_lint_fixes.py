"""The work of commands on large files, counted in operations and not in time."""

from __future__ import annotations

from pathlib import Path

import pytest

from robotrules.cli.console import Output
from robotrules.linting import fix_rounds
from robotrules.linting.checks import misspelt_record
from tests.cli.shell import robotrules

LINES = 5_000


def test_parse_writes_many_lines_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a million lines fit into a file, and a write for each is most of the time."""
    written: list[str] = []
    write = Output.write

    def count(self: Output, text: str) -> None:
        written.append(text)
        write(self, text)

    monkeypatch.setattr(Output, "write", count)
    ran = robotrules("parse", "-", "--lines", stdin=b"\r" * LINES + b"Sitemap: x")
    assert len(written) < LINES / 100
    lines = ran.out.splitlines()
    assert len(lines) == LINES + 2
    assert (lines[1], lines[LINES]) == ("     1", f"  {LINES}")
    assert lines[-1] == f"  {LINES + 1}         sitemap       Sitemap: x"


def test_rounds_of_fixes_are_bounded_by_the_size(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A check may inspect only some fixable parts; large files are not linted twenty times."""
    monkeypatch.setattr(misspelt_record, "MOST_NAMES", 1)
    file = tmp_path / "robots.txt"
    lines = [f"Dissalow{number}: /{number}" for number in range(7)]
    body = "\n".join(["User-agent: *", *lines, ""])
    file.write_text(body, encoding="utf-8")
    arguments = ("lint", "--unsafe-fixes", str(file), "--select", "misspelt-record")
    whole = robotrules(*arguments)
    assert (file.read_text().count("Disallow: "), "run the command again" in whole.err) == (
        7,
        False,
    )
    file.write_text(body, encoding="utf-8")
    monkeypatch.setattr(fix_rounds, "MOST_LINTED", 0)
    for fixed in (3, 6, 7):
        ran = robotrules(*arguments)
        assert file.read_text().count("Disallow: ") == fixed
        assert ("too large to apply all fixes in one run" in ran.err) == (fixed < 7)
