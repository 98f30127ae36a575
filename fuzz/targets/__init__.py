"""
The fuzz targets, by name. The first line of each module is its invariant.

A target has `check(case)`, which raises AssertionError if the case breaks the invariant. To add a
target, write its module and add it here.
"""

from __future__ import annotations

from collections.abc import Callable

from fuzz.generator import Case
from fuzz.targets import (
    agree,
    columns,
    compare,
    extensions,
    fix,
    fmt,
    index,
    lint,
    lsp,
    matrix,
    pickles,
    simplify,
    spans,
    tags,
    total,
)

TARGETS: dict[str, Callable[[Case], None]] = {
    "agree": agree.check,
    "columns": columns.check,
    "compare": compare.check,
    "extensions": extensions.check,
    "fix": fix.check,
    "fmt": fmt.check,
    "index": index.check,
    "lint": lint.check,
    "lsp": lsp.check,
    "matrix": matrix.check,
    "pickles": pickles.check,
    "simplify": simplify.check,
    "spans": spans.check,
    "tags": tags.check,
    "total": total.check,
}
