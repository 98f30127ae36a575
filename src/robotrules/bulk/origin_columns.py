"""
Origins of columns: which robots.txt governs each URL of an Arrow column (RFC 9309 §2.3).

The rules are those of `http/origins.py`; the engine applies them to plain hosts itself and calls
that module for international names and addresses.
"""

from __future__ import annotations

from robotrules._engine import engine
from robotrules.http.origins import origin_of
from robotrules.robotstxt.ruleset import ArrowColumn, ArrowExporter, validate_threads


def origins(column: ArrowExporter, *, threads: int = 0) -> ArrowColumn:
    """
    Return the origin of each URL, such as `https://example.com`; null if it has none.

    *column* and the result are Arrow columns, as in `RuleSet.allows_arrow()`.
    """
    found: ArrowColumn = engine.origins_column(column, validate_threads(threads), origin_of)
    return found
