"""
Access profiles: the choices that RFC 9309 §2.3.1 and §2.4 leave open.

`strict` uses the status classes of the RFC, `google` follows Google's documentation (VEN-04), and
`stale` uses a stored copy while a file is unreachable (AMB-58). A profile is data, read by `access`
and `cache`. The names are those of the parsing profiles.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from robotrules.errors import ProfileError
from robotrules.profile import PROFILES, Profile, find_profile

DAY = 86_400.0


class _AccessFields(NamedTuple):
    name: str

    unreachable_4xx: tuple[int, ...] = (408, 421, 425, 429)
    """4xx statuses that say nothing about the file, so it is unreachable (AMB-50, AMB-52)."""
    deny_on_401_403: bool = False
    """Treat 401 and 403 as complete disallow, as the draft of 1996 did (AMB-51)."""
    max_redirects: int = 5
    """Maximum number of redirects to follow; at least five (§2.3.1.2)."""
    redirect_failure_unreachable: bool = False
    """Treat too many redirects, loops and broken redirects as unreachable (AMB-55)."""
    broken_redirect: str = "unreachable"
    """`unreachable` or `unavailable`: the meaning of a broken redirect (AMB-54)."""
    validators: bool = True
    """Send conditional requests instead of fetching an unchanged file again (AMB-54)."""
    min_ttl: float = 300.0
    """Minimum lifetime of a result in seconds, whatever its Cache-Control says (AMB-60)."""
    max_ttl: float = DAY
    """Maximum lifetime of a result in seconds; at most a day (§2.4)."""
    stale_after: float = inf
    """Seconds of complete disallow before a stored copy is used, while unreachable (AMB-58)."""
    without_copy: str = "disallow"
    """`disallow` or `allow`: the policy if there is no stored copy (VEN-04)."""
    give_up_after: float = 30 * DAY
    """Seconds of failures until `on_give_up` (§2.3.1.4, AMB-59)."""
    on_give_up: str = "unavailable"
    """`unavailable`, or `cached`: the stored copy, if there is one (AMB-58)."""
    initial_backoff: float = 60.0
    """Seconds until the retry after the first failure; doubled after each further failure."""
    max_backoff: float = 3_600.0
    """Maximum seconds until a retry; a Retry-After may extend it to a day."""


class AccessProfile(_AccessFields):
    """The choices that RFC 9309 §2.3.1 and §2.4 leave open. Immutable; see `replace()`."""

    __slots__ = ()

    def __new__(cls, **fields: Any) -> AccessProfile:
        """Create a profile; pass each field by name."""
        for name in fields:
            if name not in _AccessFields._fields:
                known = ", ".join(_AccessFields._fields)
                raise ProfileError(f"unknown access profile field {name!r}: use {known}")
        if "unreachable_4xx" in fields:
            fields["unreachable_4xx"] = tuple(sorted(fields["unreachable_4xx"]))
        profile = super().__new__(cls, **fields)
        profile._vet()
        return profile

    def _vet(self) -> None:
        for status in self.unreachable_4xx:
            if not isinstance(status, int) or not 400 <= status < 500:
                raise ProfileError(
                    f"unreachable_4xx contains {status!r}: use statuses from 400 to 499"
                )
        if not isinstance(self.max_redirects, int) or not 5 <= self.max_redirects <= 100:
            raise ProfileError(
                f"max_redirects is {self.max_redirects!r}: use 5 to 100 (RFC 9309 §2.3.1.2 "
                "requires at least five)"
            )
        for name in ("deny_on_401_403", "redirect_failure_unreachable", "validators"):
            if not isinstance(getattr(self, name), bool):
                raise ProfileError(f"{name} is {getattr(self, name)!r}: use True or False")
        for name in _DURATIONS:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
                raise ProfileError(f"{name} is {value!r}: use seconds, 0 or more")
        if not 1 <= self.min_ttl <= self.max_ttl <= DAY:
            raise ProfileError(
                f"min_ttl is {self.min_ttl:g} and max_ttl {self.max_ttl:g}: use 1 <= min_ttl <= "
                "max_ttl <= 86400 (RFC 9309 §2.4: at most 24 hours)"
            )
        if self.initial_backoff < 1 or self.max_backoff < self.initial_backoff:
            raise ProfileError(
                f"initial_backoff is {self.initial_backoff:g} and max_backoff "
                f"{self.max_backoff:g}: use 1 <= initial_backoff <= max_backoff, in seconds"
            )
        for name, words in _CHOICES.items():
            if getattr(self, name) not in words:
                raise ProfileError(f"{name} is {getattr(self, name)!r}: use {' or '.join(words)}")

    def replace(self, **changes: Any) -> AccessProfile:
        """Return a copy with the given fields changed."""
        return AccessProfile(**self._asdict() | changes)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._asdict(),)


_DURATIONS = (
    *("min_ttl", "max_ttl", "stale_after", "give_up_after", "initial_backoff", "max_backoff"),
)
_CHOICES = {
    "broken_redirect": ("unreachable", "unavailable"),
    "without_copy": ("disallow", "allow"),
    "on_give_up": ("unavailable", "cached"),
}


def _rebuild(values: dict[str, Any]) -> AccessProfile:
    return AccessProfile(**values)


ACCESS_PROFILES = {
    profile.name: profile
    for profile in (
        AccessProfile(name="default"),
        # §2.3.1.3 as written: every status from 400 to 499 is unavailable (AMB-50, AMB-52).
        AccessProfile(name="strict", unreachable_4xx=()),
        # VEN-04: all 4xx but 429; after twelve hours of disallow, the last copy or no rules.
        AccessProfile(
            name="google",
            unreachable_4xx=(429,),
            broken_redirect="unavailable",
            validators=False,
            stale_after=12 * 3_600.0,
            without_copy="allow",
        ),
        # Reading 2 of AMB-58: §2.4 permits use of a stored copy while the file is unreachable.
        AccessProfile(name="stale", stale_after=0.0),
    )
}


def find_access_profile(profile: str | AccessProfile | Profile) -> AccessProfile:
    """Return the access profile with this name, or the one that belongs to a parsing profile."""
    if isinstance(profile, AccessProfile):
        return profile
    if isinstance(profile, Profile):
        return ACCESS_PROFILES.get(profile.name, ACCESS_PROFILES["default"])
    try:
        return ACCESS_PROFILES[profile]
    except (KeyError, TypeError):
        known = ", ".join(ACCESS_PROFILES)
        raise ProfileError(
            f"unknown access profile {profile!r}: use {known}, or pass an AccessProfile"
        ) from None


def find_profiles(profile: str | Profile) -> tuple[Profile, AccessProfile]:
    """Return the parsing profile and the access profile with this name."""
    if isinstance(profile, str) and profile not in PROFILES:
        # `stale` is an access profile only; for an unknown name the error lists all of them.
        return find_profile("default"), find_access_profile(profile)
    found = find_profile(profile)
    return found, find_access_profile(found)
