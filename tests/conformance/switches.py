"""
Change a field of a tag or access profile, and run a vector with it.

The items of a question name such profiles and their options.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import robotrules_harness
import suite

import robotrules


class ChangedProfile(NamedTuple):
    """A profile with another value for one field."""

    kind: str
    """`tag` or `access`: the prefix of the names in a question."""
    parts: Sequence[str]
    """Parts whose items name such a profile."""
    profile: str
    switch: str
    value: object


def fails_with(vector: suite.Vector, changed: ChangedProfile, default: str) -> bool:
    """Return whether a vector fails with a changed profile; *default* is that of an item."""
    question = suite.make_question(vector)
    is_used = False
    for item in (item for part in changed.parts for item in question.get(part, ())):
        options = item.get(f"{changed.kind}_options", {})
        profile = item.get(f"{changed.kind}_profile", default)
        if profile == changed.profile and changed.switch not in options:
            item[f"{changed.kind}_options"] = {**options, changed.switch: changed.value}
            is_used = True
    return is_used and not _passes(vector, question)


def _passes(vector: suite.Vector, question: dict[str, Any]) -> bool:
    try:
        answer = robotrules_harness.answer(question)
    except robotrules.RobotrulesError as error:
        answer = {"errored": str(error)}
    return suite.judge(vector, answer).kind == "passed"
