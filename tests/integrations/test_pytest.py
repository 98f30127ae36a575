"""The pytest plug-in in temporary projects: collection, and the text of a failure."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
MODULE = "robotrules.integrations.pytest"
ROBOTS = "User-agent: *\nDisallow: /private/\nAllow: /private/press/\n"
EXPECT = """\
[[expect]]
crawlers = ["ExampleBot", "OtherBot"]
disallowed = "/private/x"

[[expect]]
all-disallowed = "/private/"
why = "nobody needs these"
"""
# As strict as a project can be: what warns, fails.
STRICT = '[tool.pytest.ini_options]\naddopts = "--strict-config --strict-markers"\n'
STRICT += 'filterwarnings = ["error"]\n'
CI = {"CI", "BUILD_NUMBER"}


class Ran(NamedTuple):
    """The result of a run."""

    code: int
    out: str


def run(folder: Path, *more: str, installed: bool = False) -> Ran:
    """Run pytest in a folder; *installed*: with all plug-ins that are, and not with ours alone."""
    by_itself = installed and entry_points(group="pytest11", name="robotrules")
    loaded = [] if by_itself else ["-p", MODULE]
    command = [sys.executable, "-m", "pytest", "--color=no", "-p", "no:cacheprovider", *loaded]
    # pytest shortens its last lines for people, and not where one of these says it is a CI's.
    variables = {name: value for name, value in os.environ.items() if name not in CI}
    if not installed:
        variables["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    ran = subprocess.run(
        [*command, *more],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Ran(ran.returncode, ran.stdout + ran.stderr)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a robots.txt and an expectation file."""
    put(tmp_path, "pyproject.toml", STRICT)
    put(tmp_path, "robots.txt", ROBOTS)
    put(tmp_path, "robots.test.toml", EXPECT)
    return tmp_path


def put(folder: Path, name: str, text: str) -> None:
    """Write a file and the folders above it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_each_expectation_is_a_test(project: Path) -> None:
    """Each has a descriptive name, and passes or fails independently."""
    ran = run(project, "-v", installed=True)
    assert ran.code == 1
    assert "robots.test.toml::line 3: ExampleBot: /private/x is disallowed PASSED" in ran.out
    assert "robots.test.toml::line 3: OtherBot: /private/x is disallowed PASSED" in ran.out
    assert "1 failed, 2 passed" in ran.out
    one = run(project, "-q", "-k", "OtherBot")
    assert (one.code, "1 passed, 2 deselected" in one.out) == (0, True)


def test_a_failure_is_an_explanation_without_a_traceback(project: Path) -> None:
    """The expected and the actual result, the relevant lines, and the fix."""
    ran = run(project, "-q")
    assert (
        "expected all of /private/ disallowed, found /private/press/ is allowed by line 3: Allow: "
        "/private/press/\n"
        "failed, line 6: everyone else: all of /private/ is disallowed\n"
        "why       nobody needs these\n"
        "expected  all of /private/ disallowed\n"
        "found     /private/press/ is allowed by line 3: Allow: /private/press/\n"
        "groups    lines 1-3: the group for '*'\n"
        "     3 | Allow: /private/press/\n"
        "       |        ^^^^^^^^^^^^^^^\n"
    ) in ran.out
    assert "fix       change line 3" in ran.out
    assert "Traceback" not in ran.out
    assert ".py:" not in ran.out


def test_a_summary_has_the_expected_and_the_actual_result(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has one line; the test name identifies the expectation."""
    monkeypatch.setenv("COLUMNS", "200")
    ran = run(project, "-q")
    assert "is disallowed - expected all of /private/ disallowed, found /private/pr" in ran.out


def test_a_file_that_cannot_be_used_is_one_error(project: Path) -> None:
    """Broken TOML, an unknown key, a missing robots.txt: one line each."""
    put(project, "a/robots.test.toml", "[[expect]")
    put(project, "b/robots.test.toml", "[[expect]]\nalowed = '/'\n")
    put(project, "c/robots.test.toml", "robots = 'none.txt'\n[[expect]]\nallowed = '/'\n")
    ran = run(project, "-q")
    assert ran.code == 2
    for words in (
        "this is not valid TOML",
        "did you mean allowed?",
        "none.txt: there is no such file",
    ):
        assert words in ran.out
    assert "3 errors" in ran.out
    assert "Traceback" not in ran.out


def test_a_missing_page_is_one_line(project: Path) -> None:
    """It fails when it is evaluated, and the other expectations are unaffected."""
    put(
        project,
        "robots.test.toml",
        "[[expect]]\npage = 'none.html'\ntags = 'noindex'\n[[expect]]\nallowed = '/'\n",
    )
    ran = run(project, "-q")
    assert "none.html: there is no such file; check the name" in ran.out
    assert "1 failed, 1 passed" in ran.out
    assert "Traceback" not in ran.out


def test_other_names_are_a_setting(project: Path) -> None:
    """Files of other tools are left alone unless they are named."""
    put(project, "shop.robots.test.toml", "[[expect]]\nallowed = '/'\n")
    put(project, "other.test.toml", "this is not for us")
    put(project, "robots.test.toml", "[[expect]]\nallowed = '/'\n")
    assert "2 passed" in run(project, "-q").out
    put(project, "pyproject.toml", STRICT + 'robotrules_files = ["expect-*.toml"]\n')
    put(project, "expect-shop.toml", "[[expect]]\nallowed = ['/', '/a', '/b']\n")
    assert "3 passed" in run(project, "-q").out


def test_settings_of_the_project_apply(project: Path) -> None:
    """The profile of [tool.robotrules.test] applies to the expectations."""
    put(project, "robots.txt", "User-agent: *\nDisallow: /\nAllow: /index.html\n")
    put(project, "robots.test.toml", "[[expect]]\nallowed = '/'\n")
    assert "1 failed" in run(project, "-q").out
    put(project, "pyproject.toml", STRICT + '[tool.robotrules.test]\nprofile = "google"\n')
    assert "1 passed" in run(project, "-q").out


def test_the_robots_txt_of_an_application(project: Path) -> None:
    """`expect_robots` is for tests that obtain a robots.txt themselves."""
    put(
        project,
        "test_app.py",
        "BODY = b'User-agent: *\\nDisallow: /private/\\n'\n\n\n"
        "def test_good(expect_robots):\n    expect_robots(BODY)\n\n\n"
        "def test_text(expect_robots):\n    expect_robots(BODY.decode(), 'robots.test.toml')\n\n\n"
        "def test_bad(expect_robots):\n    expect_robots(b'')\n",
    )
    ran = run(project, "-q", "test_app.py")
    assert "1 failed, 2 passed" in ran.out
    assert ran.out.count("fix       no group is for") == 3
    assert "def test_bad" not in ran.out


def test_a_project_without_such_files_has_no_cost(project: Path) -> None:
    """Neither the expectations nor their dependencies are imported."""
    (project / "robots.test.toml").unlink()
    put(
        project,
        "test_app.py",
        "import sys\n\n\ndef test_imports():\n"
        "    ours = {name for name in sys.modules if name.startswith('robotrules.')}\n"
        "    heavy = ('expect', 'config', 'analysis', 'client', 'tags')\n"
        "    assert not [name for name in ours if name.split('.')[1] in heavy]\n",
    )
    ran = run(project, "-q")
    assert (ran.code, "1 passed" in ran.out) == (0, True), ran.out


def test_live_origins_are_fetched_by_tests_and_not_by_collection(project: Path) -> None:
    """Listing tests fetches nothing; an origin that does not respond is one line."""
    put(project, "robots.test.toml", "url = 'http://127.0.0.1:9/robots.txt'\n" + EXPECT)
    listed = run(project, "-q", "--collect-only")
    assert (listed.code, "3 tests collected" in listed.out) == (0, True)
    ran = run(project, "-q", "-x")
    assert "http://127.0.0.1:9: the robots.txt is unreachable" in ran.out
    assert "Traceback" not in ran.out


def test_the_entry_point_is_declared() -> None:
    """pytest finds the plug-in by itself once robotrules is installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"robotrules": MODULE}
