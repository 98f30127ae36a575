"""Diffs: removed lines are red and added ones green on a terminal; `patch` reads plain ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from robotrules.cli.text import Paint
from robotrules.cli.unified_diff import colourize, diff_lines
from tests.cli.shell import robotrules

BODY = b"user-agent:*\nDisallow: a\nDisallow: /b\nDisallow: /b/c\n"
RED, GREEN, BOLD, CYAN, FAINT = (f"\x1b[{code}m" for code in (31, 32, 1, 36, 2))
END = "\x1b[0m"


def test_each_line_by_what_it_is() -> None:
    """The names of the files come first: a removed line may look like one."""
    lines = list(diff_lines(b"a\n-- x\nb\n", b"a\n++ y\nb", "old", "new"))
    assert colourize(lines, Paint(True)) == [
        f"{BOLD}--- old{END}",
        f"{BOLD}+++ new{END}",
        f"{CYAN}@@ -1,3 +1,3 @@{END}",
        " a",
        f"{RED}--- x{END}",
        f"{RED}-b{END}",
        f"{GREEN}+++ y{END}",
        f"{GREEN}+b{END}",
        f"{FAINT}\\ No newline at end of file{END}",
    ]
    assert colourize(lines, Paint(False)) == lines


@pytest.mark.parametrize(
    "command", [["lint", "--unsafe-fixes"], ["fmt"], ["simplify"]], ids=" ".join
)
def test_commands(command: list[str], tmp_path: Path) -> None:
    """Colour on a terminal, and none in a pipe or with NO_COLOR."""
    file = tmp_path / "robots.txt"
    file.write_bytes(BODY)
    arguments = (*command, "--diff", str(file))
    ran = robotrules(*arguments, terminals=["stdout"])
    assert ran.code == 1
    assert f"\n{RED}-" in ran.out
    assert ran.out.startswith(f"{BOLD}--- {file}{END}\n")
    plain = robotrules(*arguments).out
    assert "\x1b" not in plain
    assert robotrules(*arguments, terminals=["stdout"], NO_COLOR="1").out == plain
    assert robotrules(*arguments, FORCE_COLOR="1").out == ran.out


def test_a_policy(tmp_path: Path) -> None:
    """`write --compare` shows a diff too."""
    policy = tmp_path / "policy.toml"
    policy.write_text('[everyone]\nkeep-out = ["/x"]\n', encoding="utf-8")
    ran = robotrules("write", str(policy), "--compare", "-", terminals=["stdout"])
    assert ran.code == 1, ran.err
    assert f"{GREEN}+Disallow: /x{END}\n" in ran.out
