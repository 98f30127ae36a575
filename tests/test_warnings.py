"""Warnings point at the line of the user's code; a separate file, as tracers add frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from robotrules import PurposeWarning, RobotsTxt

Read = Callable[..., RobotsTxt]


@pytest.mark.parametrize(
    "ask",
    [
        lambda robots: robots.select_groups("foo", ["P"]).groups,
        lambda robots: robots.rules_for("foo", ["P"]),
        lambda robots: robots.explain("/", "foo", ["P"]),
    ],
    ids=["select", "rules_for", "explain"],
)
def test_purposes_that_are_not_read(read: Read, ask: Callable[[RobotsTxt], Any]) -> None:
    """The warning is about the call that passes purposes."""
    with pytest.warns(PurposeWarning) as told:
        ask(read("", "strict"))
    assert told[0].filename == __file__
