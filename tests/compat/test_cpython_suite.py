"""CPython's own tests of `urllib.robotparser`, run against the drop-in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

import pytest

from robotrules import engine_name
from tests.compat.suites import (
    DOWNLOAD_TIMEOUT,
    SUBSTITUTES,
    cache_folder,
    compare,
    environment,
)

# What `import robotrules` and `read()` need, by package name.
NEEDED = ("http-sf", "httpx2", "idna", "platformdirs", "click")


def find_interpreter(minor: str) -> str | None:
    """Return an interpreter of Python *minor* that has its own test suite."""
    roots = [os.environ.get("PYENV_ROOT"), str(Path.home() / ".pyenv")]
    candidates = [sys.executable, shutil.which(f"python{minor}")]
    for root in filter(None, roots):
        installed = sorted(Path(root).glob(f"versions/{minor}.*/bin/python3"), reverse=True)
        candidates += map(str, installed)
    check = (
        "import sys, importlib.util as u; print('%d.%d' % sys.version_info[:2]); "
        "assert u.find_spec('test.test_robotparser')"
    )
    for candidate in filter(None, candidates):
        try:
            ran = subprocess.run(
                [candidate, "-c", check], capture_output=True, text=True, timeout=30
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if ran.returncode == 0 and ran.stdout.strip() == minor:
            return candidate
    return None


def install_needed(python: str, minor: str) -> Path:
    """Return a folder with the packages for another interpreter; kept between runs."""
    kept = cache_folder() / f"packages-{minor}-{crc32(repr(NEEDED).encode()):08x}"
    if kept.exists():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=kept.parent) as partial:
        command = [python, "-m", "pip", "install", "-q", "--target", f"{partial}/packages", *NEEDED]
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=DOWNLOAD_TIMEOUT)
        except subprocess.TimeoutExpired:
            pytest.skip(f"Python {minor}: pip install: no answer within {DOWNLOAD_TIMEOUT} s")
        if ran.returncode:
            pytest.skip(f"Python {minor}: {ran.stderr.strip()[-300:]}")
        return Path(partial, "packages").replace(kept)


@pytest.mark.slow
@pytest.mark.parametrize("minor", ["3.11", "3.13"])
def test_the_suite_of_cpython(minor: str, tmp_path: Path) -> None:
    """`test.test_robotparser` passes with our RobotFileParser, except for the listed tests."""
    python = find_interpreter(minor)
    if python is None:
        pytest.skip(f"no Python {minor} with its test suite on this machine")
    variables = environment()
    if python != sys.executable:
        # The native engine is built for the Python of the tests, so another one has the pure one.
        variables = environment(install_needed(python, minor))
        variables["ROBOTRULES_REQUIRE_EXTENSIONS"] = "0"
    ran = subprocess.run(
        [python, str(SUBSTITUTES / "run_cpython_suite.py")],
        cwd=tmp_path,
        env=variables,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    result = json.loads(ran.stdout)
    assert result["python"].startswith(f"{minor}.")
    assert result["engine"] == (engine_name() if python == sys.executable else "pure")
    outcomes = result["outcomes"]
    assert list(outcomes.values()).count("passed") > 50
    # The suite's own server answers 403: it was reached, and it was not refused as private.
    assert outcomes["PasswordProtectedSiteTestCase.testPasswordProtectedSite"] == "passed"
    compare("cpython", outcomes)
