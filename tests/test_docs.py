"""
The examples in the documentation are run, and their output is compared.

A Python block is executed with those before it on its page. A `print(...)` with a comment on its
line prints exactly that comment. A block that looks like a session of the interpreter is one.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.shell import robotrules

ROOT = Path(__file__).parent.parent
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
WORKBENCH = re.compile(r"^## A workbench.*?^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = [
    str(page.relative_to(ROOT))
    for page in (
        ROOT / "README.md",
        *sorted(ROOT.glob("docs/*.md")),
        *sorted(ROOT.glob("docs/bulk/*.md")),
        *sorted(ROOT.glob("docs/compat/*.md")),
        *sorted(ROOT.glob("docs/integrations/*.md")),
    )
    if PYTHON.search(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("page", PAGES)
def test_examples_run_and_print_their_comments(page: str) -> None:
    """Every Python block of a page runs, and prints what its comments show."""
    text = (ROOT / page).read_text(encoding="utf-8")
    names: dict[str, object] = {}
    session, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    for block in PYTHON.findall(text):
        if block.startswith(">>>"):
            test = session.get_doctest(block, names, page, page, 0)
            told = io.StringIO()
            assert not runner.run(test, out=told.write, clear_globs=False).failed, told.getvalue()
            names.update(test.globs)
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, page, "exec"), names)
        promised = re.findall(r"^print\(.*\)\s*# (.*)$", block, re.MULTILINE)
        if promised:
            assert printed.getvalue().splitlines() == promised


def test_every_command_of_the_workbench_shows_something(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the tour: diffs have something to change, lint something to note."""
    text = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    (typed,) = WORKBENCH.findall(text)
    commands = re.findall(r"^\$ (?:cd (\S+) && )?robotrules (.+)$", typed, re.MULTILINE)
    assert len(commands) == typed.count("$ ") >= 6
    for folder, arguments in commands:
        monkeypatch.chdir(ROOT / folder)
        ran = robotrules(*shlex.split(arguments))
        assert ran.code < 2, ran.err
        assert len(ran.out.splitlines()) >= (1 if folder else 5), arguments


def test_links_lead_somewhere() -> None:
    """Every relative link of a page names a file that exists."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "conformance/README.md"]
    for page in pages:
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"


EXAMPLES = sorted(ROOT.glob("examples/*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_the_recorded_output(example: Path, tmp_path: Path) -> None:
    """Every example runs alone, in any folder, and prints what `tests/examples` contains."""
    ran = subprocess.run(
        [sys.executable, str(example)], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    expected = ROOT / "tests" / "examples" / f"{example.stem}.txt"
    assert ran.stdout == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", ["integrations", "compat"])
def test_pages_of_hosts_begin_with_a_change(folder: str) -> None:
    """Before any other section: what to change, as a diff of at most ten lines."""
    pages = [path for path in (ROOT / "docs" / folder).glob("*.md") if path.name != "README.md"]
    assert len(pages) >= 4
    for path in pages:
        first = path.read_text(encoding="utf-8").partition("\n## ")[0]
        found = re.findall(r"```diff\n(.*?)```", first, re.DOTALL)
        assert len(found) == 1, path
        lines = found[0].splitlines()
        assert len(lines) <= 10, path
        assert {"+"} < {line[:1] for line in lines} <= {"+", "-", " ", ""}, path
