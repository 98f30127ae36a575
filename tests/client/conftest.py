"""Shared fixtures of the client tests: servers (started once, on demand), clock and clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.client.scripted import Clock, Server, opened
from tests.client.servers import postgres_server, redis_server

__all__ = ["postgres_server", "redis_server"]


@pytest.fixture
def clock() -> Clock:
    """A clock that is set by hand."""
    return Clock()


@pytest.fixture(params=["sync", "async"])
def make(
    request: pytest.FixtureRequest, server: Server, clock: Clock
) -> Iterator[Callable[..., Any]]:
    """Return what makes clients of either kind over the `server` of the test's file."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(opened(request.param, server, clock, **options))
