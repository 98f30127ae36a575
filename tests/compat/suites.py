"""
The test suites of other libraries, run against the drop-ins, and the list of known differences.

A suite is obtained by package name, kept in the user's cache folder and unpacked in a temporary
one; none of it is in this repository. `known_differences.toml` has every test that fails, with what
decides it. A failure that is not listed, and a listed test that passes, fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from xml.etree import ElementTree

import platformdirs
import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
SUBSTITUTES = HERE / "substitutes"
LIST = HERE / "known_differences.toml"
DOWNLOAD_TIMEOUT = 120


class Difference(NamedTuple):
    """A test of another library that fails with the drop-in."""

    suite: str
    test: str
    decided_by: str
    reason: str
    parameters: tuple[str, ...] = ()
    """If given, only these parameters of the test fail."""

    @property
    def tests(self) -> tuple[str, ...]:
        """The names of the tests, one for each of the parameters."""
        if not self.parameters:
            return (self.test,)
        return tuple(f"{self.test}[{parameter}]" for parameter in self.parameters)


def known_differences(suite: str) -> list[Difference]:
    """Return the known differences of a suite in the order of the list."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))["difference"]
    rows = [Difference(**row | {"parameters": tuple(row.get("parameters", ()))}) for row in listed]
    return [row for row in rows if row.suite == suite]


def compare(suite: str, outcomes: dict[str, str]) -> None:
    """Fail unless exactly the listed tests of a suite failed."""
    listed = {test for row in known_differences(suite) for test in row.tests}
    failed = {test for test, outcome in outcomes.items() if outcome == "failed"}
    assert sorted(failed - listed) == [], "failures that known_differences.toml does not list"
    assert sorted(listed - failed) == [], "listed in known_differences.toml, but not failed"


def environment(*folders: Path) -> dict[str, str]:
    """Return the environment of a suite: this robotrules, the substitutes, and other folders."""
    paths = [str(folder) for folder in (ROOT / "src", SUBSTITUTES, *folders)]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}


def download(package: str, folder: Path, release: str | None = None) -> Path:
    """
    Unpack a source distribution in *folder*; skip without it.

    *release* is the version; None: that of the installed package.
    """
    with tarfile.open(_fetch_archive(package, release or version(package))) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    return unpacked


def cache_folder() -> Path:
    """Return the folder in which downloads are kept between runs."""
    return platformdirs.user_cache_path("robotrules-tests")


def _fetch_archive(package: str, release: str) -> Path:
    """Return the archive from the cache folder, downloaded if it is not there."""
    name = f"{package}=={release}"
    kept = cache_folder() / name
    if archives := list(kept.glob("*.tar.gz")):
        return archives[0]
    kept.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", package]
    # The archive is moved when it is complete: another run may look for it at the same time.
    with TemporaryDirectory(dir=kept) as partial:
        try:
            ran = subprocess.run(
                [*command, "--dest", partial, name],
                capture_output=True,
                text=True,
                timeout=DOWNLOAD_TIMEOUT,
            )
        except subprocess.TimeoutExpired:
            pytest.skip(f"pip download {name}: no answer within {DOWNLOAD_TIMEOUT} s")
        archives = list(Path(partial).glob("*.tar.gz"))
        if ran.returncode or not archives:
            pytest.skip(f"pip download {name}: {ran.stderr.strip()[-300:]}")
        return archives[0].replace(kept / archives[0].name)


def run_pytest(folder: Path, plugin: str, *arguments: str) -> dict[str, str]:
    """Run the tests of a folder with a plug-in; return the outcome of each by name."""
    report = folder / "outcomes.xml"
    options = ["-p", plugin, "-p", "no:cacheprovider", "-p", "no:randomly", "-q", "-W", "ignore"]
    command = [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", str(folder)]
    ran = subprocess.run(
        [*command, *options, f"--junitxml={report}", *arguments],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        timeout=300,
    )
    # 0: all passed, 1: some failed; others mean that the suite did not run.
    assert ran.returncode in (0, 1), ran.stdout[-2000:] + ran.stderr[-2000:]
    outcomes: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        parts = [part for part in (case.get("classname") or "").split(".") if part[:4] == "Test"]
        name = ".".join([*parts, case.get("name") or ""])
        elements = {element.tag for element in case}
        failed, skipped = elements & {"failure", "error"}, "skipped" in elements
        outcomes[name] = "failed" if failed else "skipped" if skipped else "passed"
    return outcomes
