"""
Readers: where the readers of other records are that a RobotsTxt has as methods.

This layer imports nothing to its right. These methods are for people who look for them on a parsed
file, as in other libraries; what they call is named here, and imported when the first one asks.
`tests/test_architecture.py` lets this file alone do so. It does not know what any record says.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

# The function that reads a record, and the module of `robotrules.extensions` that has it.
MODULES = {
    "clean_url": "clean_param",
    "crawl_delay": "crawl_delay",
    "request_rates": "request_rate",
    "sitemaps": "sitemap",
}


@cache
def reader(name: str) -> Callable[..., Any]:
    """Return the reader of that name."""
    found: Callable[..., Any] = getattr(
        import_module(f"robotrules.extensions.{MODULES[name]}"), name
    )
    return found
