"""Every vector, on both engines, without a process in between (`engine`: `tests/conftest.py`)."""

from __future__ import annotations

from types import ModuleType

import pytest
import robotrules_harness
import suite


@pytest.mark.parametrize("vector", suite.load(), ids=lambda vector: vector.id)
def test_vector(vector: suite.Vector, engine: ModuleType) -> None:
    """The library answers as the vector says; where it does not, read the section cited."""

    answer = robotrules_harness.answer(suite.question(vector), engine)
    result = suite.judge(vector, answer)

    where = f"RFC 9309 §{vector.data['section']}, {', '.join(vector.requirements)}"
    assert result.kind == "passed", "\n".join((where, vector.data["comment"], *result.details))
    assert result.details == (), "our own harness answers every part"
