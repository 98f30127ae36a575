"""
Helpers of the modules that answer for robotrules: error handling, and comparing equivalent calls.

It does not know what is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def answer_item(answer: Callable[..., Any], *arguments: Any) -> Any:
    """Answer one item; an exception is the answer to this item and does not affect the others."""
    try:
        return answer(*arguments)
    except Exception as error:  # as in `protocol.run`
        return {"errored": f"{type(error).__name__}: {error}"}


def require_equal(first: Any, *others: Any) -> None:
    """Raise if calls that have to give the same result do not."""
    for other in others:
        if other != first:
            raise AssertionError(f"equivalent calls differ: {first!r} and {other!r}")
