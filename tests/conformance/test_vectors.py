"""Every vector passes on both engines, in this process (`engine`: `tests/conftest.py`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import pytest
import robotrules_harness
import suite


@pytest.mark.parametrize("vector", suite.load(), ids=lambda vector: vector.id)
def test_vector(vector: suite.Vector, engine: ModuleType) -> None:
    """The answers are as expected; if one is not, read the section that the vector cites."""

    answer = robotrules_harness.answer(suite.make_question(vector), engine)
    result = suite.judge(vector, answer)

    document = suite.load_documents()[vector.requirements[0].split("-")[0]]
    section = document if vector.is_extension else f"RFC 9309 §{vector.data['section']}"
    where = f"{section}, {', '.join(vector.requirements)}"
    assert result.kind == "passed", "\n".join((where, vector.data["comment"], *result.details))
    assert result.details == (), "our harness answers every part"
    assert find_unanswered(vector, answer) == [], "and every field"


def find_unanswered(vector: suite.Vector, answer: Mapping[str, Any]) -> list[str]:
    """Return the fields that a vector expects about extensions and an answer leaves out."""
    return [
        field
        for name, part in suite.EXTENSION_PARTS.items()
        for field in find_missing(name, part, vector.data.get(name, ()), answer.get(name, ()))
    ]


def find_missing(name: str, part: suite.Part, wanted: Any, given: Any) -> Iterator[str]:
    """Yield the fields that items expect and their answers leave out, nested items included."""
    for item, answer in zip(wanted, given, strict=True):
        for field in part.expected:
            if field in item and field.removeprefix("absent_") not in answer:
                yield f"{name} {field}"
        for inner, inner_part in part.inner.items():
            items, answers = item.get(inner, ()), answer.get(inner, ())
            yield from find_missing(f"{name} {inner}", inner_part, items, answers)
