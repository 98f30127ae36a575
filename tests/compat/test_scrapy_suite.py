"""Scrapy's own tests of its robots.txt parsers, from its source distribution, run against ours."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from shutil import copytree

import pytest

from tests.compat.suites import compare, download, run_pytest

pytest.importorskip("scrapy")


@pytest.mark.slow
@pytest.mark.skipif(
    find_spec("robotrules.integrations.scrapy") is None, reason="there is no Scrapy integration"
)
def test_the_suite_of_scrapy(tmp_path: Path) -> None:
    """Scrapy's tests of parsers and of its middleware pass with our RobotParser."""
    unpacked = download("scrapy", tmp_path)
    # Only the tests: the installed Scrapy is the one that is tested.
    folder = tmp_path / "suite"
    copytree(unpacked / "tests", folder / "tests")
    outcomes = run_pytest(
        folder,
        "substitute_scrapy",
        "--noconftest",
        "tests/test_robotstxt_interface.py",
        "tests/test_downloadermiddleware_robotstxt.py",
        "-k",
        "TestProtegoRobotParser or TestRobotsTxtMiddleware and not WithRerp",
    )
    assert list(outcomes.values()).count("passed") >= 20
    compare("scrapy", outcomes)
