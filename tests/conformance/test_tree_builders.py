"""Vectors with HTML pass with both tree builders, selectolax and justhtml."""

from __future__ import annotations

import pytest
import robotrules_harness
import suite

from tests.tags.builders import BUILDERS, only

PARTS = ("usage", "guidance", "snippets", "written")


def has_html(vector: suite.Vector) -> bool:
    """Return whether some item of a vector has a page."""
    items = [item for part in PARTS for item in vector.data.get(part, ())]
    return any(name in item for item in items for name in ("html", "dom", "meta"))


@pytest.mark.parametrize("builder", BUILDERS)
@pytest.mark.parametrize(
    "vector", [vector for vector in suite.load() if has_html(vector)], ids=lambda vector: vector.id
)
def test_html(vector: suite.Vector, builder: str) -> None:
    """With the other tree builder hidden, the vector passes."""

    pytest.importorskip(builder)
    with only(builder):
        result = suite.judge(vector, robotrules_harness.answer(suite.make_question(vector)))

    assert result.kind == "passed", "\n".join((vector.data["comment"], *result.details))
