"""
Readers: the extension functions that RobotsTxt offers as methods, such as `crawl_delay()`.

Other libraries have these as methods of a parsed file, so RobotsTxt has them too. `robotstxt` must
not import `extensions`, which imports `robotstxt`: the functions are named here and imported at the
first call. `tests/test_architecture.py` allows this in this file only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

# Each function, and the module of `robotrules.extensions` that defines it.
MODULES = {
    "clean_url": "clean_param",
    "crawl_delay": "crawl_delay",
    "request_rates": "request_rate",
    "sitemaps": "sitemap",
}


@cache
def load_reader(name: str) -> Callable[..., Any]:
    """Import and return the function of that name."""
    module = import_module(f"robotrules.extensions.{MODULES[name]}")
    function: Callable[..., Any] = getattr(module, name)
    return function
