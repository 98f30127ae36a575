"""Every switch and limit of a tag profile is covered: with another value, some vector fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import suite

from robotrules import tags
from tests.conformance.switches import ChangedProfile, fails_with

# Parts whose items name a tag profile.
PARTS = ("usage", "robots_tag")
OTHER_VALUES: dict[str, dict[Any, Any]] = {
    "max_field_bytes": {16_384: 65_536},
    "max_html_bytes": {2_097_152: 4_194_304},
    "none_means": {
        ("noindex", "nofollow"): ("noindex",),
        ("noindex", "nofollow", "nosnippet"): ("noindex", "nofollow"),
    },
    "without_effect": {
        frozenset(): frozenset({"noindex"}),
        tags.GOOGLE.without_effect: frozenset(),
    },
    "names": {None: frozenset({"googlebot"}), tags.GOOGLE.names: None},
}
# Where nocache and noarchive have no effect, neither has the precedence between them.
WITHOUT_EFFECT = {("google", "nocache_over_noarchive")}
VECTORS = [vector for vector in suite.load() if any(part in vector.data for part in PARTS)]
# Long fields and pages; only the limits need them.
LONG = [vector for vector in VECTORS if "limit" in vector.id]


def changes() -> Iterator[tuple[str, str, object]]:
    """Yield each tag profile with each switch and limit and another value."""
    for profile in tags.TAG_PROFILES.values():
        for field, value in profile._asdict().items():
            if (profile.name, field) in WITHOUT_EFFECT:
                continue
            if isinstance(value, bool):
                yield profile.name, field, not value
            elif field in OTHER_VALUES:
                yield profile.name, field, OTHER_VALUES[field][value]


@pytest.mark.parametrize(("profile", "switch", "value"), list(changes()))
def test_switch_is_covered(profile: str, switch: str, value: object) -> None:
    """With one switch changed, at least one vector about the profile fails."""

    limits = switch.startswith("max_")
    changed = ChangedProfile("tag", PARTS, profile, switch, value)
    for vector in VECTORS:
        if (vector in LONG) != limits:
            continue
        if fails_with(vector, changed, "default"):
            return

    pytest.fail(f"no vector about tag profile {profile} covers {switch}")
