"""
Bulk: whole datasets of URLs and robots.txt files, as Arrow columns.

`Corpus` joins robots.txt states with URLs, `facts()` describes files as a table, `survey()` makes
the tables and charts of a study from it, and `origins()` computes the origins of a column of URLs.
The extra `bulk` has what this package needs: pip install 'robotrules[bulk]'. Nothing is imported
before it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robotrules.bulk.corpus import Corpus
    from robotrules.bulk.file_facts import facts, facts_batches
    from robotrules.bulk.origin_columns import origins
    from robotrules.bulk.rejects import Reject
    from robotrules.bulk.surveys import Survey, survey

__all__ = ["Corpus", "Reject", "Survey", "facts", "facts_batches", "origins", "survey"]

_MODULES = {
    "Corpus": "corpus",
    "Reject": "rejects",
    "Survey": "surveys",
    "facts": "file_facts",
    "facts_batches": "file_facts",
    "origins": "origin_columns",
    "survey": "surveys",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name not in ("Reject", "origins"):
        # Says what to install if pyarrow is missing.
        import_module(f"{__name__}.arrow_support")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
