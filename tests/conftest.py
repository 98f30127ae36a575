"""What all tests share: the two engines, and how hard the property tests try."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import partial
from types import ModuleType

import hypothesis
import pytest

import robotrules
from robotrules import RobotsTxt, _engine
from robotrules._engine import pure

# `dev` is for working, `ci` for the gate (the same examples every time), `deep` for a night.
hypothesis.settings.register_profile("dev", max_examples=40, deadline=None)
hypothesis.settings.register_profile(
    "ci",
    max_examples=100,
    deadline=None,
    derandomize=True,
    database=None,
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.data_too_large],
)
hypothesis.settings.register_profile(
    "deep", hypothesis.settings.get_profile("ci"), max_examples=10_000, derandomize=False
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "dev")

# A shell starts background commands with SIGINT ignored, and child processes inherit that: tests
# of Ctrl-C would wait for a process that ignores it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def find_engine(name: str) -> ModuleType:
    """Return an engine; skip the test where the native one was not built and need not be."""
    engine = _engine.native if name == "native" else pure
    if engine is None:
        required = os.environ.get("ROBOTRULES_REQUIRE_EXTENSIONS", "") not in ("", "0")
        say = pytest.fail if required else pytest.skip
        say("the native engine is not built here: pip install -e . with a Rust toolchain")
    return engine


@pytest.fixture(params=["native", "pure"], scope="session")
def engine(request: pytest.FixtureRequest) -> ModuleType:
    """Each of the engines."""
    return find_engine(request.param)


@pytest.fixture(scope="session")
def native() -> ModuleType:
    """The native engine alone."""
    return find_engine("native")


@pytest.fixture(scope="session")
def read(engine: ModuleType) -> Callable[..., RobotsTxt]:
    """`robotrules.parse` with each of the engines."""
    return partial(robotrules.parse, engine=engine)
