"""
The tutorial `docs/ci.md` and its project `examples/workbench`: what they show is run.

Files on the page are those of the project. Console blocks show what is printed; other commands, on
the page and in the project's CI files, end well there.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from robotrules import __version__ as robotrules_version
from robotrules.config import find_config
from tests.cli.shell import COMMAND, process_environment, robotrules, typed_at_a_terminal
from tests.cli.test_transcripts import read_page
from tests.operations.repositories import Repository
from tests.stored_schemas import GITLAB, WORKFLOW, schema_errors

yaml = pytest.importorskip("yaml", reason="pre-commit brings it")

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "ci.md"
PROJECT = ROOT / "examples" / "workbench"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CI_FILES = (".github/workflows/robots.yml", ".gitlab-ci.yml")
# The site that the tests of commands use: here there are no fetches and no installs.
ELSEWHERE = ("pip ", "pytest ", "robotrules test --live")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the project, and the program."""
    folder = tmp_path / "project"
    shutil.copytree(PROJECT, folder)
    repository = Repository(folder)
    repository.commit("The rules of the shop")
    repository.git("update-ref", "refs/remotes/origin/main", "HEAD")
    program = tmp_path / "bin" / "robotrules"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return folder


def variables(project: Path) -> dict[str, str]:
    """Return an environment in which the program is found."""
    found = process_environment(NO_COLOR="1")
    return {**found, "PATH": f"{project.parent / 'bin'}:{found['PATH']}"}


def commands() -> list[str]:
    """Return the commands of the page and of the CI files, console blocks left out."""
    found = [
        line for kind, text in BLOCK.findall(TEXT) if kind == "sh" for line in text.split("\n")
    ]
    for name in CI_FILES:
        text = (PROJECT / name).read_text(encoding="utf-8")
        # What follows is how a failure is remembered, and not part of the command.
        ends = r"(?: +#.*| \|\| failed=1)?$"
        found += re.findall(rf"^ *- (?:run: )?((?:pip|robotrules) .*?){ends}", text, re.M)
    return [line for line in dict.fromkeys(found) if line]


@pytest.mark.parametrize("command", [one for one in commands() if not one.startswith(ELSEWHERE)])
def test_a_command_ends_well(project: Path, command: str) -> None:
    """In the current state of the project, every check is clean."""
    verb = command.split()[1]
    if find_spec(f"robotrules.cli.{verb}") is None:
        pytest.skip(f"there is no {verb} yet")
    ran = subprocess.run(
        ["sh", "-c", command],
        cwd=project,
        env=variables(project),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for report in project.glob("*.sarif"):
        assert json.loads(report.read_text(encoding="utf-8"))["version"] == "2.1.0"


def test_all_commands_are_known() -> None:
    """Those that are not run here are few, and each is run elsewhere."""
    others = [one for one in commands() if one.startswith(ELSEWHERE)]
    assert others == [
        "pip install 'robotrules[html,http]'",
        "robotrules test --live https://shop.example/ --refresh",
        "pytest robots.test.toml",
    ]
    assert len(commands()) - len(others) >= 3


def test_console_blocks_show_what_is_printed(project: Path) -> None:
    """The commands on the page print on a terminal what the page shows."""
    pytest.importorskip("pty", reason="pseudo-terminals are a matter of Unix")
    _, _, typed = read_page(PAGE)
    assert typed
    for line, command, output in typed:
        shown = typed_at_a_terminal(command, project, variables(project))
        assert shown == output, f"ci.md, line {line}: {command}"


def test_files_on_the_page_are_those_of_the_project() -> None:
    """All of them, each whole: whoever follows the page gets what the page shows."""
    shown = [block for kind, block in BLOCK.findall(TEXT) if kind not in ("sh", "console")]
    files = [path for path in PROJECT.rglob("*") if path.is_file() and path.name != "README.md"]
    assert sorted(shown) == sorted(path.read_text(encoding="utf-8") for path in files)


def test_the_page_alone_will_do(tmp_path: Path) -> None:
    """Everything that the second minute needs is on the page before it."""
    for kind, block in BLOCK.findall(TEXT.partition("$ robotrules test\n")[0]):
        name = {"text": "robots.txt", "toml": "robots.test.toml", "html": "pages/draft.html"}
        if kind in name:
            path = tmp_path / name[kind]
            path.parent.mkdir(exist_ok=True)
            path.write_text(block, encoding="utf-8")
    ran = robotrules("test", str(tmp_path))
    assert (ran.code, ran.err) == (0, "")
    assert f": {ran.out.rsplit(': ', 1)[1]}" in TEXT


def test_the_workflow_is_valid() -> None:
    """By the schema of GitHub, with inputs that the action has, and the permissions it needs."""
    workflow = yaml.safe_load((PROJECT / CI_FILES[0]).read_text(encoding="utf-8"))
    # YAML 1.1 reads the key `on` as true.
    assert (
        schema_errors(
            {str(key).replace("True", "on"): part for key, part in workflow.items()}, WORKFLOW
        )
        == []
    )
    [action] = [
        step
        for step in workflow["jobs"]["robots"]["steps"]
        if step["uses"].startswith("robotrules/")
    ]
    inputs = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    assert set(action["with"]) <= set(inputs)
    assert workflow["permissions"]["pull-requests"] == "write"
    assert all(f"`{name}`" in TEXT for name in inputs)


def test_the_gitlab_file_is_valid() -> None:
    """By the schema of GitLab, with the template; it changes variables that the template has."""
    used = yaml.safe_load((PROJECT / CI_FILES[1]).read_text(encoding="utf-8"))
    [include] = used["include"]
    name = include["remote"].partition("/v1/")[2]
    template = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))
    job, given = template["robotrules"], used["robotrules"]["variables"]
    assert set(given) <= set(job["variables"])
    merged = {**used, "robotrules": {**job, "variables": job["variables"] | given}}
    assert schema_errors(merged, GITLAB) == []


def test_the_hooks_exist() -> None:
    """Those of the page are those of the repository."""
    declared = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    used = yaml.safe_load((PROJECT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    known = {hook["id"] for hook in declared}
    assert {hook["id"] for hook in used["repos"][0]["hooks"]} <= known
    assert all(f"`{name}`" in TEXT for name in known)


def test_the_version_is_that_of_the_package() -> None:
    """The page installs this release."""
    assert f"rev: v{robotrules_version}\n" in TEXT
    assert f"robotrules[html]=={robotrules_version}" in TEXT


def test_the_project_passes_under_pytest() -> None:
    """`pytest robots.test.toml`, with the plug-in."""
    plug = ["-p", "robotrules.integrations.pytest", "-p", "no:cacheprovider", "-q"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *plug, "-c", "/dev/null", "--rootdir", ".", "."],
        cwd=PROJECT,
        env={**process_environment(), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "passed" in ran.stdout


def test_the_settings_of_the_project_can_be_read() -> None:
    """They name crawlers and paths for the matrix, too."""
    config = find_config(PROJECT)
    assert config.path == str(PROJECT / "robotrules.toml")
    assert config.matrix.crawlers
