"""Every switch of every profile is covered: with another value, some vector fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import robotrules_harness
import suite

import robotrules

PROFILES = (robotrules.DEFAULT, robotrules.STRICT, robotrules.GOOGLE)
# Strict refuses product tokens outside the grammar, and within it a literal match adds nothing.
# Google compares paths as given, without a normal form and without units to split (AMB-43).
WITHOUT_EFFECT = {("strict", "literal_tokens"), ("google", "split_escapes")}
OTHER_VALUES: dict[str, dict[Any, Any]] = {
    "max_bytes": {512_000: 1 << 24, 1 << 24: 512_000},
    "max_line": {None: 16_663, 16_663: None},
}
VECTORS = [
    vector
    for vector in suite.load()
    if vector.path.stem != "cost"
    and (not vector.is_extension or "app_directives" in vector.data)
    and not any(part in vector.data for part in suite.ACCESS_PARTS)
]


def changes() -> Iterator[tuple[str, str, object]]:
    """Yield each profile with each switch and limit that has an effect, and another value."""
    for profile in PROFILES:
        for field, value in profile._asdict().items():
            if (profile.name, field) in WITHOUT_EFFECT:
                continue
            if isinstance(value, bool):
                yield profile.name, field, not value
            elif field in OTHER_VALUES:
                yield profile.name, field, OTHER_VALUES[field][value]


@pytest.mark.parametrize(("profile", "switch", "value"), list(changes()))
def test_switch_is_covered(profile: str, switch: str, value: object) -> None:
    """With one switch changed, at least one vector of the profile fails."""

    for vector in VECTORS:
        if vector.profile != profile or switch in vector.data.get("options", {}):
            continue
        question = suite.make_question(vector)
        question["options"] = {**question["options"], switch: value}
        try:
            answer = robotrules_harness.answer(question)
        except robotrules.RobotrulesError as error:
            answer = {"errored": str(error)}
        if suite.judge(vector, answer).kind != "passed":
            return

    pytest.fail(f"no vector of profile {profile} covers {switch}")
