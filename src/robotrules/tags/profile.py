"""
Tag profiles: how to read tag rules where draft-illyes-repext is open or vendors differ (AMB-00).

`strict` follows the draft and RFC 9651: a field that fails to parse is ignored. `default` adds
tolerances that can only add restrictions. `google`, `bing`, `apple` and `yandex` follow the
documentation of these vendors. They are separate from the robots.txt profiles of the same names,
because the engines do not process tags.

A profile is data; it parses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from robotrules.errors import ProfileError
from robotrules.profile import Profile

# draft-illyes-repext §3.1.1: the parsing limit of a field MUST be at least 8 KiB; §4 refers to it
# for HTML too.
LEAST_BYTES = 8 * 1024
# No server sends longer fields, and no head of a page is longer.
MOST_BYTES = 64 * 1024 * 1024


class _Fields(NamedTuple):
    name: str

    max_field_bytes: int = 16 * 1024
    """Octets of a combined field value that are read (§3.1.1, AMB-69)."""
    max_html_bytes: int = 2 * 1024 * 1024
    """Octets of a page that are read (§4, AMB-92)."""

    lower_keys: bool = False
    """Read `a;NoIndex` as `a;noindex`: §3.1.3 beside RFC 9651 §3.1.2 (AMB-66)."""
    recover_malformed: bool = False
    """Members before a failure count; RFC 9651 §4.2 ignores the whole field (AMB-67)."""
    skip_empty_lines: bool = False
    """Field lines without a value are skipped (RFC 9110 §5.6.1.2, AMB-70)."""
    legacy_words: bool = False
    """`Robots-Tag: noindex` means `*;noindex`, as its author intended (AMB-72)."""
    space_separates: bool = False
    """`noai noimageai` are two rules although there is no comma between them (AMB-93)."""
    scope_both: bool = False
    """Rules after a scope count for all crawlers if lines may have been joined (AMB-82)."""
    x_robots_tag_only: bool = False
    """Robots-Tag is not read: no vendor documents support for the name of the draft."""
    prefer_robots_tag: bool = False
    """X-Robots-Tag is not read if there is a Robots-Tag (AMB-74)."""
    body_metas: bool = False
    """Meta elements outside the head count (AMB-87)."""
    robot_name: bool = False
    """`<meta name=robot>` counts as `robots` (AMB-90)."""
    permitting_wins: bool = False
    """`index`, `follow`, `archive` and `all` lift the rules that forbid it (VEN-09, AMB-86)."""
    nocache_over_noarchive: bool = False
    """`nocache` beside `noarchive` leaves `nocache` in force (VEN-05)."""

    none_means: tuple[str, ...] = ("noindex", "nofollow")
    """The tag rules that `none` stands for (AMB-85)."""
    without_effect: frozenset[str] = frozenset()
    """Tag rules that are known and have no effect (XRT-16)."""
    names: frozenset[str] | None = None
    """The product tokens that are read in meta elements, beside `robots`; None: all (XRT-17)."""


class TagProfile(_Fields):
    """
    How to read tag rules. Immutable; `replace()` makes another.

    A switch that is on departs from the draft. All switches can only add restrictions, except
    `permitting_wins`, `nocache_over_noarchive`, `prefer_robots_tag`, `x_robots_tag_only`, and the
    rules and crawlers that `without_effect` and `names` leave out.
    """

    __slots__ = ()

    def __new__(cls, **fields: Any) -> TagProfile:
        """Make a profile from keyword arguments."""
        for name in fields:
            if name not in _Fields._fields:
                known = ", ".join(_Fields._fields)
                raise ProfileError(f"a tag profile has no field {name!r}; it has {known}")
        if "name" not in fields:
            raise ProfileError("a tag profile needs a name: TagProfile(name=...)")
        for name in ("none_means", "without_effect", "names"):
            if name in fields:
                fields[name] = _validate_names(name, fields[name])
        profile = super().__new__(cls, **fields)
        profile._validate()
        return profile

    def _validate(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ProfileError(f"the name of a tag profile must be text, not {self.name!r}")
        for name, default in _Fields._field_defaults.items():
            value = getattr(self, name)
            if isinstance(default, bool) and not isinstance(value, bool):
                raise ProfileError(f"{name} is a switch: use True or False, not {value!r}")
        for name in ("max_field_bytes", "max_html_bytes"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool):
                raise ProfileError(f"{name} must be a number of octets, not {value!r}")
            if value < LEAST_BYTES:
                raise ProfileError(
                    f"{name} is {value:,}: use at least {LEAST_BYTES:,} octets "
                    "(draft-illyes-repext §3.1.1)"
                )
            if value > MOST_BYTES:
                raise ProfileError(f"{name} is {value:,}: use at most {MOST_BYTES:,} (64 MiB)")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._asdict(),)

    def replace(self, **changes: Any) -> TagProfile:
        """Return a profile that differs in the given fields."""
        return TagProfile(**self._asdict() | changes)

    def _replace(self, **changes: Any) -> TagProfile:
        return self.replace(**changes)  # `NamedTuple._replace` would not call `_validate`

    def switches(self) -> tuple[str, ...]:
        """Return the names of the switches that are on, in the order of the fields."""
        return tuple(name for name, value in self._asdict().items() if value is True)


def _validate_names(field: str, given: Any) -> Any:
    """Return names of rules or crawlers as a hashable value."""
    if given is None and field == "names":
        return None
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise ProfileError(f"{field} must be a list of str, not {given!r}")
    names = list(given)
    if not all(isinstance(name, str) for name in names):
        raise ProfileError(f"{field} must be a list of str, not {given!r}")
    return tuple(names) if field == "none_means" else frozenset(names)


def _rebuild(values: dict[str, Any]) -> TagProfile:
    return TagProfile(**values)


STRICT = TagProfile(name="strict")
DEFAULT = TagProfile(
    name="default",
    lower_keys=True,
    recover_malformed=True,
    skip_empty_lines=True,
    legacy_words=True,
    space_separates=True,
)
# The vendors document X-Robots-Tag; none of them documents Robots-Tag yet.
_VENDOR = DEFAULT.replace(x_robots_tag_only=True)
GOOGLE = _VENDOR.replace(
    name="google",
    body_metas=True,
    robot_name=True,
    names=frozenset({"googlebot", "googlebot-news"}),
    without_effect=frozenset({"noarchive", "nocache", "nositelinkssearchbox"}),
)
BING = _VENDOR.replace(name="bing", nocache_over_noarchive=True)
APPLE = _VENDOR.replace(name="apple", none_means=("noindex", "nofollow", "nosnippet"))
YANDEX = _VENDOR.replace(name="yandex", permitting_wins=True)
TAG_PROFILES = {profile.name: profile for profile in (DEFAULT, STRICT, GOOGLE, BING, APPLE, YANDEX)}


def find_tag_profile(profile: str | TagProfile | Profile) -> TagProfile:
    """
    Return the tag profile of that name, or the profile itself.

    A robots.txt profile stands for the tag profile of the same name, or for `default` if there is
    none.
    """
    if isinstance(profile, TagProfile):
        return profile
    if isinstance(profile, Profile):
        return TAG_PROFILES.get(profile.name, DEFAULT)
    try:
        return TAG_PROFILES[profile]
    except (KeyError, TypeError):
        known = ", ".join(TAG_PROFILES)
        raise ProfileError(
            f"unknown tag profile {profile!r}: use {known}, or a TagProfile made with "
            "robotrules.tags.DEFAULT.replace(...)"
        ) from None
