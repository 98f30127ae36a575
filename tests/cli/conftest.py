"""Fixtures of the command line tests: a robots.txt file and a temporary cache folder."""

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


@pytest.fixture(autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder for each test: none may touch the one of whoever runs it."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("ROBOTRULES_CACHE_DIR", str(folder))
    monkeypatch.delenv("ROBOTRULES_STORE", raising=False)
    return folder
