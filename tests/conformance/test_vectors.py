"""Every vector, on both engines, without a process in between (`engine`: `tests/conftest.py`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import parts
import pytest
import robotrules_harness
import suite


@pytest.mark.parametrize("vector", suite.load(), ids=lambda vector: vector.id)
def test_vector(vector: suite.Vector, engine: ModuleType) -> None:
    """The library answers as the vector says; where it does not, read the section cited."""

    answer = robotrules_harness.answer(suite.question(vector), engine)
    result = suite.judge(vector, answer)

    document = suite.load_documents()[vector.requirements[0].split("-")[0]]
    section = document if vector.is_extension else f"RFC 9309 §{vector.data['section']}"
    where = f"{section}, {', '.join(vector.requirements)}"
    assert result.kind == "passed", "\n".join((where, vector.data["comment"], *result.details))
    assert result.details == (), "our own harness answers every part"
    assert unanswered(vector, answer) == [], "and every field"


def unanswered(vector: suite.Vector, answer: Mapping[str, Any]) -> list[str]:
    """Return the fields that a vector expects about extensions and an answer leaves out."""
    return [
        field
        for name, part in parts.EXTENSION_PARTS.items()
        for field in left_out(name, part, vector.data.get(name, ()), answer.get(name, ()))
    ]


def left_out(name: str, part: parts.Part, wanted: Any, given: Any) -> Iterator[str]:
    """Yield the fields that items expect and their answers leave out, those of items within too."""
    for one, other in zip(wanted, given, strict=True):
        for field in part.expected:
            if field in one and field.removeprefix("absent_") not in other:
                yield f"{name} {field}"
        for inner, its in part.inner.items():
            yield from left_out(f"{name} {inner}", its, one.get(inner, ()), other.get(inner, ()))
