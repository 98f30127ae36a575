"""What the tests of the command line share: a file to ask about."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.shell import ROBOTS


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A robots.txt."""
    path = tmp_path / "robots.txt"
    path.write_bytes(ROBOTS)
    return str(path)
