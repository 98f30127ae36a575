"""
The JSON of `robotrules check`: one object for each URL.

Verdicts are few and URLs many, so the object of a URL is written as text around it: `line_end()` is
made once for each verdict.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from robotrules.robotstxt.verdict import Verdict

if TYPE_CHECKING:
    from robotrules.client.origin_state import OriginState

# Increased when a key of the JSON document changes meaning or is removed.
SCHEMA_VERSION = 1
LINE_START = '{"url": '


def verdict_values(
    verdict: Verdict, name: str, purposes: Sequence[str], known: dict[str, Any] | None
) -> dict[str, Any]:
    """Return a verdict as plain values, without the URL; *name* is the crawler's."""
    return {
        "allowed": verdict.allowed,
        "reason": str(verdict.reason),
        "line": verdict.line,
        "pattern": verdict.rule.pattern if verdict.rule else None,
        "profile": verdict.profile,
        "product_token": name,
        "purposes": list(purposes),
        "known": known,
    }


def line_end(
    verdict: Verdict,
    name: str,
    purposes: Sequence[str],
    known: dict[str, Any] | None,
    *,
    fetched: bool = False,
    origin_state: OriginState | None = None,
) -> str:
    """Return the object of a verdict after its URL; *fetched*: with how the file was fetched."""
    values = verdict_values(verdict, name, purposes, known)
    if fetched:
        # Imported late: not needed with --robots, and slow to import.
        from robotrules.json_results.access import access_values

        values |= access_values(origin_state)
    return f", {json.dumps(values)[1:]}"
