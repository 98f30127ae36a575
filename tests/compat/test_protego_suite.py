"""Protego's own tests, from its source distribution, run against the drop-in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compat.suites import compare, download, run_pytest

pytest.importorskip("protego")


@pytest.mark.slow
def test_the_suite_of_protego(tmp_path: Path) -> None:
    """All tests of Protego pass with our Protego, except for the listed ones."""
    folder = download("protego", tmp_path)
    # `test_unquote.py` has only private functions of Protego.
    outcomes = run_pytest(
        folder, "substitute_protego", "tests", "--ignore", "tests/test_unquote.py"
    )
    assert list(outcomes.values()).count("passed") > 4_000
    compare("protego", outcomes)
