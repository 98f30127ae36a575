"""
The targets, by name. Each is a module whose first line is its invariant.

A target has `check(case)`, which returns when the invariant holds and raises AssertionError when it
does not. To add one: write its file, and name it here.
"""

from __future__ import annotations

from collections.abc import Callable

from fuzz.nasty import Case
from fuzz.targets import agree, extensions, index, pickles, spans, tags, total

TARGETS: dict[str, Callable[[Case], None]] = {
    "agree": agree.check,
    "extensions": extensions.check,
    "index": index.check,
    "pickles": pickles.check,
    "spans": spans.check,
    "tags": tags.check,
    "total": total.check,
}
