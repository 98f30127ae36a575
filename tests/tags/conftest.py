"""Fixtures of the tests of tags: each of the tree builders."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.tags.builders import BUILDERS, only


@pytest.fixture(params=BUILDERS)
def tree_builder(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run a test once with selectolax and once where there is justhtml alone."""
    with only(request.param):
        yield request.param
