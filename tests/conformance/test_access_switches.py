"""Every field of an access profile is seen by a vector: turn it, and some vector fails."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Any

import pytest
import suite

from robotrules.access import ACCESS_PROFILES
from tests.conformance.turning import Turned, notices

# Parts whose items name an access profile.
PARTS = ("access", "timelines")
DAY = 86_400.0
OTHER_VALUES: dict[str, dict[Any, Any]] = {
    "unreachable_4xx": {
        # Each status for itself: the profile without it, or with one more.
        (408, 421, 425, 429): [(421, 425, 429), (408, 425, 429), (408, 421, 429), (408, 421, 425)],
        (): [(408,), (421,), (425,), (429,), (404,)],
        (429,): [(), (408, 429), (404, 429)],
    },
    "max_redirects": {5: [6]},
    "min_ttl": {300.0: [299.0, 301.0]},
    "max_ttl": {DAY: [DAY - 1]},
    "stale_after": {
        inf: [12 * 3_600.0],
        12 * 3_600.0: [inf, 0.0, 12 * 3_600.0 + 61],
        0.0: [inf, 1.0],
    },
    "broken_redirect": {"unreachable": ["unavailable"], "unavailable": ["unreachable"]},
    "without_copy": {"disallow": ["allow"], "allow": ["disallow"]},
    "give_up_after": {30 * DAY: [30 * DAY - 1, 30 * DAY + 1]},
    "on_give_up": {"unavailable": ["cached"]},
    "initial_backoff": {60.0: [59.0, 61.0]},
    "max_backoff": {3_600.0: [3_599.0, 3_601.0]},
}
# Where complete disallow lasts until patience ends, no copy is ever looked for before.
UNSEEN = {("default", "without_copy"), ("strict", "without_copy")}
VECTORS = [vector for vector in suite.load() if any(part in vector.data for part in PARTS)]
# Long files; no switch needs them.
SHORT = [vector for vector in VECTORS if not vector.id.startswith("access-limits/")]


def turned() -> Iterator[tuple[str, str, object]]:
    """Yield each access profile with each field, and other values."""
    for profile in ACCESS_PROFILES.values():
        for field, value in profile._asdict().items():
            if field == "name" or (profile.name, field) in UNSEEN:
                continue
            for other in [not value] if isinstance(value, bool) else OTHER_VALUES[field][value]:
                yield profile.name, field, other


@pytest.mark.parametrize(("profile", "switch", "value"), list(turned()))
def test_switch_is_seen(profile: str, switch: str, value: object) -> None:
    """With one field turned, at least one vector about the profile does not pass."""

    asked = Turned("access", PARTS, profile, switch, value)
    for vector in SHORT:
        if notices(vector, asked, vector.profile):
            return

    pytest.fail(f"no vector about access profile {profile} sees {switch}={value}")
