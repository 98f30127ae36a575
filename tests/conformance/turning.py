"""
Turning a switch of a profile: does a vector notice?

For the profiles that items of a vector name, of tags and of access. It knows how a question names
a profile and its departures, and not what any switch does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import robotrules_harness
import suite

import robotrules


class Turned(NamedTuple):
    """A profile with one field at another value."""

    kind: str
    """`tag` or `access`: what the names in a question begin with."""
    parts: Sequence[str]
    """Parts whose items name such a profile."""
    profile: str
    switch: str
    value: object


def notices(vector: suite.Vector, turned: Turned, usual: str) -> bool:
    """Tell whether a vector fails with a field turned; *usual* is what an item names by default."""
    asked = suite.question(vector)
    touched = False
    for item in (item for part in turned.parts for item in asked.get(part, ())):
        options = item.get(f"{turned.kind}_options", {})
        named = item.get(f"{turned.kind}_profile", usual)
        if named == turned.profile and turned.switch not in options:
            item[f"{turned.kind}_options"] = {**options, turned.switch: turned.value}
            touched = True
    return touched and not _passes(vector, asked)


def _passes(vector: suite.Vector, asked: dict[str, Any]) -> bool:
    try:
        answer = robotrules_harness.answer(asked)
    except robotrules.RobotrulesError as error:
        answer = {"errored": str(error)}
    return suite.judge(vector, answer).kind == "passed"
