"""Vectors that hold HTML say the same of either tree builder: justhtml where selectolax is not."""

from __future__ import annotations

import pytest
import robotrules_harness
import suite

from tests.tags.builders import BUILDERS, only

PARTS = ("usage", "guidance", "snippets", "written")


def has_html(vector: suite.Vector) -> bool:
    """Return whether some item of a vector has a page to be read."""
    items = [item for part in PARTS for item in vector.data.get(part, ())]
    return any(name in item for item in items for name in ("html", "dom", "meta"))


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize(
    "vector", [one for one in suite.load() if has_html(one)], ids=lambda one: one.id
)
def test_html(vector: suite.Vector, builder: str) -> None:
    """With the other one hidden, each tree builder answers as the vector says."""

    pytest.importorskip(builder)
    with only(builder):
        result = suite.judge(vector, robotrules_harness.answer(suite.question(vector)))

    assert result.kind == "passed", "\n".join((vector.data["comment"], *result.details))
