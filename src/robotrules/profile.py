"""
Profiles: named, documented sets of departures from RFC 9309 (AMB-00).

`strict` follows the grammar and the text of the RFC. `default` adds tolerances that do not change a
verdict for a file that follows the grammar. `google` gives the same results as google/robotstxt,
including its bugs. Every departure is one switch here, is read in one place of an engine, and adds
a note with its position. A profile is data: the engines parse.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from types import ModuleType
from typing import Any, NamedTuple

from robotrules.errors import ProfileError

# RFC 9309 §2.5: the parsing limit MUST be at least 500 kibibytes.
LEAST_MAX_BYTES = 500 * 1024


class Role(Enum):
    """The effect of a record on grouping (RFC 9309 §2.1): all that the parser knows about it."""

    START = "START"
    """Starts a group, or continues the user-agent lines of the current group."""
    RULE = "RULE"
    """Ends the user-agent lines of its group."""
    OTHER = "OTHER"
    """Belongs to its group and has no effect on grouping (§2.2.4)."""


class Extension(NamedTuple):
    """The declaration of a record other than User-agent, Allow and Disallow."""

    key: str
    """The record's name, case-insensitive."""
    spellings: tuple[str, ...] = ()
    """Other names that are accepted for it, with the note `typo`."""
    role: Role = Role.OTHER
    scope: str = "group"
    """`file` or `group`: where a reader of this record looks for it."""
    reference: str = ""
    """The document that defines it."""


# The only record outside the RFC that starts groups; see `extensions/purpose.py`. Profile default
# reads it: otherwise the rules of such a group would belong to the group before it (AMB-99).
USER_AGENT_PURPOSE = Extension(
    "User-Agent-Purpose", (), Role.START, "file", "draft-illyes-rep-purpose §3"
)

# Records that the documents defining them add to the rules of a group (`rule =/ …`), by name, with
# the keys they are known by. For parsers of RFC 9309 they are other records and do not end the
# user-agent lines, so a file can have two group structures: verdicts use the structure of the RFC,
# and each of these records uses the structure of its document (AMB-29).
DOCUMENT_RULES = {
    "App-Directives": ("app-directives", "app-directive"),  # draft-nottingham-plan-b §2
    "Content-Usage": ("content-usage",),  # draft-ietf-aipref-attach-05 §3.2
}

# Misspellings that google/robotstxt accepts for the records of the RFC (AMB-14). Reading them gives
# the meaning that the site intended. The list is closed.
GOOGLE_SPELLINGS = (
    ("useragent", "user-agent"),
    ("user agent", "user-agent"),
    ("dissallow", "disallow"),
    ("dissalow", "disallow"),
    ("disalow", "disallow"),
    ("diasllow", "disallow"),
    ("disallaw", "disallow"),
    ("site-map", "sitemap"),
)
# More misspellings found in robots.txt files. No profile accepts them; a custom profile can.
MORE_SPELLINGS = (
    *GOOGLE_SPELLINGS,
    ("user-agents", "user-agent"),
    ("user_agent", "user-agent"),
    ("usser-agent", "user-agent"),
    ("user-agnet", "user-agent"),
    ("desallow", "disallow"),
    ("disallows", "disallow"),
    ("dis allow", "disallow"),
    ("disallowed", "disallow"),
    ("alow", "allow"),
    ("allows", "allow"),
    ("sitemaps", "sitemap"),
    ("site map", "sitemap"),
)


class _Fields(NamedTuple):
    name: str

    max_bytes: int = LEAST_MAX_BYTES
    """Lines that start at or after this octet are ignored (§2.5, AMB-18)."""
    max_line: int | None = None
    """Octets of a line after this many are ignored; None: no limit (AMB-17)."""
    spellings: tuple[tuple[str, str], ...] = ()
    """Accepted misspellings of record names (AMB-14)."""
    extensions: tuple[Extension, ...] = ()
    """Records outside the RFC that affect grouping or have other spellings."""

    decode_utf16: bool = False
    """Decode a file with a UTF-16 byte order mark (§2.2.2, AMB-08)."""
    cut_bom: bool = False
    """Skip an incomplete UTF-8 byte order mark (AMB-07)."""
    cut_at_nul: bool = False
    """A NUL ends the content of a line (AMB-05)."""
    ascii_whitespace: bool = False
    """VT and FF are whitespace, like SP and HTAB (AMB-10)."""
    missing_colon: bool = False
    """Accept a record without a colon, for the names of the RFC and sitemap (AMB-13)."""
    prefix_keys: bool = False
    """Accept a name that starts with a known name: `Disallow-foo` is disallow (AMB-15)."""
    keep_controls: bool = False
    """Keep control characters as data; otherwise the line is ignored (§3, AMB-05)."""
    keep_invalid_utf8: bool = False
    """Keep octets that are not UTF-8 as data; otherwise the line is ignored (AMB-06)."""
    keep_spaces: bool = False
    """Keep whitespace inside a path pattern as data; otherwise the rule is ignored (AMB-11)."""
    star_with_text: bool = False
    """`User-agent: * text` starts a star group (AMB-23)."""
    literal_tokens: bool = False
    """Compare a product token outside the grammar with the whole value: `MJ12bot` (AMB-22)."""
    comma_user_agents: bool = False
    """`User-agent: a, b` names both crawlers (erratum 8895, AMB-25)."""
    first_star_group_only: bool = False
    """Use only the first of several star groups (draft-koster-rep-04, AMB-26)."""
    merge_tokens: bool = False
    """Merge the groups of all product tokens of a crawler, not only of the first (AMB-30)."""
    any_product_token: bool = False
    """Accept a crawler's product token outside the grammar without an error (§2.2.1)."""
    leading_name: bool = False
    """For a User-Agent header, use the leading name, or `*` if there is none (AMB-22)."""
    separate_lines: bool = False
    """Keep other App-Directives lines of a path if one is invalid (RFC 9651 §4.2, AMB-105)."""
    minimal_encoding: bool = False
    """Compare with minimal percent-encoding: reading 3 of AMB-33 (AMB-35 to AMB-37)."""
    url_as_given: bool = False
    """Compare the URL as given: without normalization, dot segments kept (AMB-46)."""
    split_escapes: bool = False
    """`*`, `$` and the end of a prefix may fall inside a `%XX` escape (AMB-43)."""
    index_page: bool = False
    """`Allow: /d/index.html` also allows `/d/` (AMB-47)."""
    match_robots_txt: bool = False
    """Match `/robots.txt` like any other path (AMB-45)."""
    empty_rules_match: bool = False
    """An empty rule matches every URL with 0 octets, and allows it (AMB-42)."""


class Profile(_Fields):
    """
    How to parse what the RFC leaves open, or what sites write against the grammar.

    Immutable; `replace()` makes another profile. A field is a limit, a table or a switch; a switch
    that is on is a departure from the text of the RFC.
    """

    # No __slots__: a profile caches its settings for each engine in its __dict__.

    def __new__(cls, **fields: Any) -> Profile:
        """Make a profile; pass each field by name."""
        for name in fields:
            if name not in _Fields._fields:
                known = ", ".join(_Fields._fields)
                raise ProfileError(f"a profile has no field {name!r}; it has {known}")
        for table in ("spellings", "extensions"):
            if table in fields:
                fields[table] = tuple(fields[table])
        profile = super().__new__(cls, **fields)
        profile._validate()
        return profile

    def _validate(self) -> None:
        for name, default in _Fields._field_defaults.items():
            value = getattr(self, name)
            if isinstance(default, bool) and not isinstance(value, bool):
                raise ProfileError(f"{name} is a switch: use True or False, not {value!r}")
        if self.max_bytes < LEAST_MAX_BYTES:
            raise ProfileError(
                f"max_bytes is {self.max_bytes:,}, but RFC 9309 §2.5 requires at least "
                f"{LEAST_MAX_BYTES:,} octets: use that or more"
            )
        if self.max_bytes > 1 << 30:
            raise ProfileError(f"max_bytes is {self.max_bytes:,}: use at most {1 << 30:,} (1 GiB)")
        if self.max_line is not None and self.max_line < 1:
            raise ProfileError(f"max_line is {self.max_line}: use a positive number, or None")
        for extension in self.extensions:
            if not isinstance(extension.role, Role):
                raise ProfileError(
                    f"the role of {extension.key!r} is {extension.role!r}: use Role.START, "
                    "Role.RULE or Role.OTHER"
                )
            for name in (extension.key, *extension.spellings):
                if not name.strip() or name.strip() != name or ":" in name or "#" in name:
                    raise ProfileError(
                        f"{name!r} cannot be the name of a record: use text without ':', '#' "
                        "or surrounding whitespace"
                    )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a profile is immutable: make another with replace({name}=...)")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._asdict(),)

    def replace(self, **changes: Any) -> Profile:
        """Return a profile with the given fields changed."""
        return Profile(**self._asdict() | changes)

    def with_extensions(self, *extensions: Extension) -> Profile:
        """Return a profile that also declares these records."""
        return self.replace(extensions=self.extensions + extensions)

    def with_rules(self, keys: Collection[str]) -> Profile:
        """Return a profile in which records of these names (in lower case) have the role RULE."""
        known = tuple(
            extension._replace(role=Role.RULE) if extension.key.lower() in keys else extension
            for extension in self.extensions
        )
        declared = {extension.key.lower() for extension in known}
        new = (Extension(key, role=Role.RULE) for key in keys if key not in declared)
        return self.replace(extensions=(*known, *new))

    def switches(self) -> tuple[str, ...]:
        """Return the names of the switches that are on, in the order of the fields."""
        return tuple(name for name, value in self._asdict().items() if value is True)

    def reads_purposes(self) -> bool:
        """Tell whether purpose lines start groups, so that a crawler's purposes have an effect."""
        key = USER_AGENT_PURPOSE.key.lower()
        return any(
            extension.role is Role.START
            for extension in self.extensions
            if extension.key.lower() == key
        )

    def settings(self, engine: ModuleType) -> Any:
        """Return the profile as settings of *engine*; cached for each engine."""
        settings = self.__dict__.get(engine.__name__)
        if settings is None:
            switches = [name for name in self.switches() if name not in _PYTHON_SWITCHES]
            settings = engine.Settings(switches, self._keys(), self.max_bytes, self.max_line)
            self.__dict__[engine.__name__] = settings
        return settings

    def _keys(self) -> list[tuple[bytes, bytes, str, bool]]:
        roles = {"user-agent": "START", "allow": "RULE", "disallow": "RULE", "sitemap": "OTHER"}
        keys = [(key, key, role, True) for key, role in roles.items()]
        roles |= {extension.key.lower(): extension.role.value for extension in self.extensions}
        for spelling, key in self.spellings:
            keys.append((spelling, key, roles.get(key.lower(), "OTHER"), True))
        for extension in self.extensions:
            for name in (extension.key, *extension.spellings):
                keys.append((name, extension.key, extension.role.value, False))
        return [(a.encode(), b.encode(), role, bare) for a, b, role, bare in keys]


def _rebuild(values: dict[str, Any]) -> Profile:
    return Profile(**values)


# Switches that the engines do not read: those of group selection (`robotstxt/selection.py`), and
# one of the App-Directives reader.
_PYTHON_SWITCHES = frozenset(
    {"first_star_group_only", "merge_tokens", "any_product_token", "leading_name", "separate_lines"}
)

STRICT = Profile(name="strict")
DEFAULT = Profile(
    name="default",
    spellings=GOOGLE_SPELLINGS,
    extensions=(USER_AGENT_PURPOSE,),
    decode_utf16=True,
    missing_colon=True,
    keep_invalid_utf8=True,
    keep_spaces=True,
    star_with_text=True,
    literal_tokens=True,
    any_product_token=True,
    separate_lines=True,
)
GOOGLE = Profile(
    name="google",
    # google/robotstxt has no limit; Google's crawler has one. A profile needs a limit (§2.5), so
    # this is larger than any known file.
    max_bytes=16 * 1024 * 1024,
    # google/robotstxt has a line buffer of 2083 * 8 octets; the last is a terminator (AMB-17).
    max_line=2083 * 8 - 1,
    spellings=GOOGLE_SPELLINGS,
    cut_bom=True,
    cut_at_nul=True,
    ascii_whitespace=True,
    missing_colon=True,
    prefix_keys=True,
    keep_controls=True,
    keep_invalid_utf8=True,
    keep_spaces=True,
    star_with_text=True,
    merge_tokens=True,
    any_product_token=True,
    leading_name=True,
    separate_lines=True,
    minimal_encoding=True,
    url_as_given=True,
    split_escapes=True,
    index_page=True,
    match_robots_txt=True,
    empty_rules_match=True,
)
PROFILES = {profile.name: profile for profile in (DEFAULT, STRICT, GOOGLE)}


def find_profile(profile: str | Profile) -> Profile:
    """Return the profile with this name; a Profile is returned unchanged."""
    if isinstance(profile, Profile):
        return profile
    try:
        return PROFILES[profile]
    except (KeyError, TypeError):
        known = ", ".join(PROFILES)
        raise ProfileError(
            f"there is no profile {profile!r}: use {known}, or a Profile made with "
            "robotrules.DEFAULT.replace(...)"
        ) from None
