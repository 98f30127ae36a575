"""The JSON of `robotrules simplify`: the lines of a robots.txt that can be removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robotrules.analysis import Simplification


def simplification_values(
    found: Simplification,
    misread: Sequence[int],
    file: str | None = None,
    written: str | None = None,
) -> dict[str, Any]:
    """
    Return a simplification as plain values.

    *misread* are the lines whose groups are kept because the author meant something else; *file*
    and *written* are the names of the files that were read and written.
    """
    values = found.as_dict()
    schema = values.pop("schema")
    return {"schema": schema, "file": file, "written": written, **values, "misread": [*misread]}
