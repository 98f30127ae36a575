"""
The pre-commit hooks, run by the real pre-commit in a fresh git project.

What a user writes is `repo: https://…/robotrules`; pre-commit then clones that, and builds it in a
separate environment. Here the hooks of `.pre-commit-hooks.yaml` are put into the configuration of
the project as local ones, word for word but for `language: system`, which runs the robotrules that
is installed here: building the engine for each test would take minutes and prove nothing about the
hooks. Pre-commit itself validates the file as that of a repository.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("pre_commit", reason="pre-commit is not installed")
if shutil.which("git") is None:
    pytest.skip("git is not installed", allow_module_level=True)

pytestmark = pytest.mark.slow
HOOKS = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"
IDS = ["robotrules-lint", "robotrules-fmt", "robotrules-fmt-check", "robotrules-test"]
UNTIDY = "user-agent:*\ndisallow:/private/\n"
TIDY = "User-agent: *\nDisallow: /private/\n"
EXPECT = '[[expect]]\ndisallowed = "/private/x"\n'


class Ran(NamedTuple):
    """The result of a run."""

    code: int
    out: str


def hooks() -> list[dict[str, Any]]:
    """Return the hooks as they are declared."""
    # pre-commit's own reader, which has no types.
    yaml = import_module("pre_commit.yaml")
    declared: list[dict[str, Any]] = yaml.yaml_load(HOOKS.read_text(encoding="utf-8"))
    return declared


class Project:
    """A git repository with some files and some of the hooks."""

    def __init__(self, folder: Path, wanted: Sequence[str]) -> None:
        self.folder = folder / "project"
        self.folder.mkdir()
        home = {"PRE_COMMIT_HOME": str(folder / "home"), "HOME": str(folder)}
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._variables = {**os.environ, **home, "PATH": programs, "GIT_CONFIG_NOSYSTEM": "1"}
        local = [{**hook, "language": "system"} for hook in hooks() if hook["id"] in wanted]
        # JSON is valid YAML, and needs no quoting.
        configured = {"repos": [{"repo": "local", "hooks": local}]}
        self.put(".pre-commit-config.yaml", json.dumps(configured))
        self.run("git", "init", "--quiet")

    def put(self, name: str, text: str) -> None:
        """Write a file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run(self, *command: str) -> Ran:
        """Run a command in the project."""
        ran = subprocess.run(
            command,
            cwd=self.folder,
            env=self._variables,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Ran(ran.returncode, ran.stdout + ran.stderr)

    def commit(self) -> Ran:
        """Add everything, and run the hooks as a commit would."""
        assert self.run("git", "add", "--all").code == 0
        return self.run(sys.executable, "-m", "pre_commit", "run")


def test_pre_commit_accepts_the_file(tmp_path: Path) -> None:
    """It is a manifest, and has these hooks."""
    ran = Project(tmp_path, []).run(
        sys.executable, "-m", "pre_commit", "validate-manifest", str(HOOKS)
    )
    assert ran == Ran(0, "")
    assert [hook["id"] for hook in hooks()] == IDS
    assert {hook["language"] for hook in hooks()} == {"python"}


def test_expectations_are_evaluated_before_a_commit(tmp_path: Path) -> None:
    """A robots.txt that is not as expected fails the hook, and the failure explains it."""
    project = Project(tmp_path, ["robotrules-test"])
    project.put("robots.txt", TIDY)
    project.put("robots.test.toml", EXPECT)
    ran = project.commit()
    assert (ran.code, "test robots.txt" in ran.out, "Passed" in ran.out) == (0, True, True)
    project.put("robots.txt", "User-agent: *\nDisallow: /other/\n")
    ran = project.commit()
    assert ran.code == 1
    assert "found     allowed: no rule matches" in ran.out
    project.put("robots.test.toml", "[[expect]]\nalowed = '/'\n")
    ran = project.commit()
    assert "exit code: 2" in ran.out
    assert "did you mean allowed?" in ran.out


@pytest.mark.parametrize(
    ("name", "starts"),
    [
        ("robots.txt", True),
        ("public/robots.txt", True),
        ("shop.robots.test.toml", True),
        ("robotrules.toml", True),
        ("pyproject.toml", True),
        ("pages/draft.html", True),
        ("pages/draft.xhtml", True),
        ("pages/draft.http", True),
        ("pages/draft.css", False),
        ("other.toml", False),
        ("robots.txt.md", False),
    ],
)
def test_files_that_start_the_tests(name: str, starts: bool) -> None:
    """Everything an expectation may depend on: the file, settings, and pages."""
    [hook] = [hook for hook in hooks() if hook["id"] == "robotrules-test"]
    assert bool(re.search(hook["files"], name)) is starts


def test_other_files_start_no_hook(tmp_path: Path) -> None:
    """A commit without a robots.txt runs no hook."""
    project = Project(tmp_path, IDS)
    project.put("not-robots.txt", "x")
    project.put("robots.txt.md", "x")
    ran = project.commit()
    assert (ran.code, ran.out.count("(no files to check)Skipped")) == (0, len(IDS))


def test_a_robots_txt_is_formatted(tmp_path: Path) -> None:
    """`fmt-check` fails and writes nothing; `fmt` writes, which pre-commit shows as a failure."""
    project = Project(tmp_path, ["robotrules-fmt-check"])
    for name in ("robots.txt", "shop/robots.txt"):
        project.put(name, UNTIDY)
    assert project.commit().code == 1
    assert (project.folder / "robots.txt").read_text(encoding="utf-8") == UNTIDY
    second = tmp_path / "second"
    second.mkdir()
    project = Project(second, ["robotrules-fmt"])
    for name in ("robots.txt", "shop/robots.txt"):
        project.put(name, UNTIDY)
    ran = project.commit()
    assert (ran.code, "files were modified by this hook" in ran.out) == (1, True)
    for name in ("robots.txt", "shop/robots.txt"):
        assert (project.folder / name).read_text(encoding="utf-8") == TIDY
    assert project.commit().code == 0


def test_a_robots_txt_is_linted(tmp_path: Path) -> None:
    """A rule without effect fails the hook, with its code and its line."""
    pytest.importorskip("robotrules.cli.lint")
    project = Project(tmp_path, ["robotrules-lint"])
    project.put("robots.txt", "Disallow: /early\nUser-agent: *\nDisallow: private\n")
    ran = project.commit()
    assert ran.code == 1
    assert "RR" in ran.out
    project.put("robots.txt", TIDY)
    assert project.commit().code == 0
