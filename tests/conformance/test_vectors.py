"""Every vector, on both engines, without a process in between."""

from __future__ import annotations

import os
from types import ModuleType

import pytest
import robotrules_harness
import suite

from robotrules import _engine


@pytest.fixture(scope="session", params=["native", "pure"])
def engine(request: pytest.FixtureRequest) -> ModuleType:
    """The engine to ask; the native one may be missing unless the gate requires it."""
    module: ModuleType | None = getattr(_engine, request.param)
    if module is not None:
        return module
    if os.environ.get("ROBOTRULES_REQUIRE_EXTENSIONS", "") not in ("", "0"):
        pytest.fail("ROBOTRULES_REQUIRE_EXTENSIONS is set, and the native engine is not built")
    pytest.skip("the native engine is not built here")


@pytest.mark.parametrize("vector", suite.load(), ids=lambda vector: vector.id)
def test_vector(vector: suite.Vector, engine: ModuleType) -> None:
    """The library answers as the vector says; where it does not, read the section cited."""

    answer = robotrules_harness.answer(suite.question(vector), engine)
    result = suite.judge(vector, answer)

    where = f"RFC 9309 §{vector.data['section']}, {', '.join(vector.requirements)}"
    assert result.kind == "passed", "\n".join((where, vector.data["comment"], *result.details))
    assert result.details == (), "our own harness answers every part"
