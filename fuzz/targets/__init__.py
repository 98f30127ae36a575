"""
The targets, by name. Each is a module whose first line is its invariant.

A target has `check(case)`, which returns when the invariant holds and raises AssertionError when it
does not. To add one: write its file, and name it here.
"""

from __future__ import annotations

from collections.abc import Callable

from fuzz.nasty import Case
from fuzz.targets import (
    agree,
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
