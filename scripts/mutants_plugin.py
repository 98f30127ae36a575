"""
A pytest plug-in for mutation runs: what pytest and our caches would otherwise hide from mutmut.

`scripts/mutants.py` loads it with `-p`; ordinary test runs do not know it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, settings


def cache_clearers() -> Iterator[Callable[[], None]]:
    """Yield `cache_clear` of every memoised function of the package, methods included."""
    for name, module in list(sys.modules.items()):
        if name != "robotrules" and not name.startswith("robotrules."):
            continue
        for value in list(vars(module).values()):
            members = list(vars(value).values()) if isinstance(value, type) else []
            for member in (value, *members):
                clear = getattr(member, "cache_clear", None)
                if callable(clear):
                    yield clear


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give items the private name that mutmut 3.8 reads and pytest 9.2 no longer has."""
    # mutmut runs the tests twice in one process, which Hypothesis takes for two executors.
    usual = settings()
    unheeded = [*usual.suppress_health_check, HealthCheck.differing_executors]
    settings.register_profile("mutants", usual, suppress_health_check=unheeded)
    settings.load_profile("mutants")
    for item in items:
        item._nodeid = item.nodeid  # type: ignore[attr-defined]


def pytest_runtest_setup() -> None:
    """Empty all memoised functions: a value kept by an earlier test never runs the mutant."""
    for clear in cache_clearers():
        clear()
