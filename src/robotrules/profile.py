"""
Profiles: named, documented sets of departures from RFC 9309 (AMB-00).

`strict` is the grammar and the RFC's text. `default` adds tolerances that change no answer for a
file that follows the grammar. `google` answers like google/robotstxt, bug for bug. Every departure
is one switch here, is read at one place in an engine, and leaves a note with its span.

It does not know how anything is parsed: a profile is data.
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
    """What a record does to grouping (RFC 9309 §2.1): all that the parser knows of it."""

    START = "START"
    """Opens a group, or joins the user-agent lines of the open one."""
    RULE = "RULE"
    """Closes the list of user-agent lines of its group."""
    OTHER = "OTHER"
    """Is kept with its group and has no effect on grouping (§2.2.4)."""


class Extension(NamedTuple):
    """The declaration of one record beyond User-agent, Allow and Disallow."""

    key: str
    """The record's name; case does not matter."""
    spellings: tuple[str, ...] = ()
    """Other names that mean the same and earn the note `typo`."""
    role: Role = Role.OTHER
    scope: str = "group"
    """`file` or `group`: what a reader of this record should look at."""
    reference: str = ""
    """The document that defines it."""


# The one record beyond the RFC that opens groups; `extensions/purpose.py` says more of it. It is
# here because profile default reads it: a group that a parser does not see gives its rules to the
# group before it (AMB-99).
USER_AGENT_PURPOSE = Extension(
    "User-Agent-Purpose", (), Role.START, "file", "draft-illyes-rep-purpose §3"
)

# Records that their own documents add to the rules of a group (`rule =/ …`), by name, with the keys
# they go by. For parsers of RFC 9309 they are other records and end no list of user-agent lines, so
# one file has two group structures: verdicts go by the RFC's, and each of these records by that of
# its own document (AMB-29).
DOCUMENT_RULES = {
    "App-Directives": ("app-directives", "app-directive"),  # draft-nottingham-plan-b §2
    "Content-Usage": ("content-usage",),  # draft-ietf-aipref-attach-05 §3.2
}

# What google/robotstxt accepts for the records of the RFC (AMB-14); it fails towards what the
# site meant, and the list is closed.
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
# For those who want to read more of what people write; not in any profile.
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
    """Octets of a line past this many are not read; None: no such limit (AMB-17)."""
    spellings: tuple[tuple[str, str], ...] = ()
    """Accepted misspellings of record names (AMB-14)."""
    extensions: tuple[Extension, ...] = ()
    """Records beyond the RFC that take part in grouping or have other spellings."""

    decode_utf16: bool = False
    """Read a UTF-16 file whose byte order mark says so (§2.2.2, AMB-08)."""
    cut_bom: bool = False
    """Skip a UTF-8 byte order mark that lost its last octets (AMB-07)."""
    cut_at_nul: bool = False
    """A NUL ends the content of its line (AMB-05)."""
    ascii_whitespace: bool = False
    """VT and FF are whitespace, like SP and HTAB (AMB-10)."""
    missing_colon: bool = False
    """Two words without a colon are a record, for names of the RFC and sitemap (AMB-13)."""
    prefix_keys: bool = False
    """A record is known by the beginning of its name: `Disallow-foo` (AMB-15)."""
    keep_controls: bool = False
    """Control characters are data and do not make a line unusable (§3, AMB-05)."""
    keep_invalid_utf8: bool = False
    """Octets that are not UTF-8 are data and do not make a line unusable (AMB-06)."""
    keep_spaces: bool = False
    """Whitespace inside a path pattern is data (AMB-11)."""
    star_with_text: bool = False
    """`User-agent: * text` is the star group (AMB-23)."""
    literal_tokens: bool = False
    """A product token outside the grammar equals a whole value: `MJ12bot` (AMB-22)."""
    comma_user_agents: bool = False
    """`User-agent: a, b` names both (erratum 8895, AMB-25)."""
    first_star_group_only: bool = False
    """Of several star groups only the first counts (draft-koster-rep-04, AMB-26)."""
    merge_tokens: bool = False
    """Of several product tokens all that have groups count, not the first (AMB-30)."""
    any_product_token: bool = False
    """Ask for a product token outside the grammar without an error (§2.2.1)."""
    leading_name: bool = False
    """A header asked for as a name counts by its leading name, an empty one as `*` (AMB-22)."""
    separate_lines: bool = False
    """A broken App-Directives line voids no other line of its path (RFC 9651 §4.2, AMB-105)."""
    minimal_encoding: bool = False
    """Compare with the least percent-encoding: reading 3 of AMB-33 (AMB-35 to AMB-37)."""
    url_as_given: bool = False
    """Compare the URL as given: no normal form, no dot segments removed (AMB-46)."""
    split_escapes: bool = False
    """`*`, `$` and the end of a prefix may fall inside a `%XX` escape (AMB-43)."""
    index_page: bool = False
    """`Allow: /d/index.html` allows `/d/` as well (AMB-47)."""
    match_robots_txt: bool = False
    """`/robots.txt` is matched like any other path (AMB-45)."""
    empty_rules_match: bool = False
    """An empty rule matches everything with no octets, and allows it (AMB-42)."""


class Profile(_Fields):
    """
    How to read what the RFC leaves open, or what sites write against it.

    Immutable; `replace()` makes another. A field is either a limit, a table, or a switch, and a
    switch that is on is a departure from the RFC's text.
    """

    # No __slots__: a profile keeps what it looks like to an engine, made once, in its __dict__.

    def __new__(cls, **fields: Any) -> Profile:
        """Make a profile; each field is given by its name."""
        for name in fields:
            if name not in _Fields._fields:
                known = ", ".join(_Fields._fields)
                raise ProfileError(f"a profile has no field {name!r}; it has {known}")
        for table in ("spellings", "extensions"):
            if table in fields:
                fields[table] = tuple(fields[table])
        profile = super().__new__(cls, **fields)
        profile._vet()
        return profile

    def _vet(self) -> None:
        for name, usual in _Fields._field_defaults.items():
            value = getattr(self, name)
            if isinstance(usual, bool) and not isinstance(value, bool):
                raise ProfileError(f"{name} is a switch: use True or False, not {value!r}")
        if self.max_bytes < LEAST_MAX_BYTES:
            raise ProfileError(
                f"max_bytes is {self.max_bytes:,}, but RFC 9309 §2.5 asks for at least "
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
                        "or spaces at its ends"
                    )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a profile is immutable: make another with replace({name}=...)")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._asdict(),)

    def replace(self, **changes: Any) -> Profile:
        """Return a profile that differs in the given fields."""
        return Profile(**self._asdict() | changes)

    def with_extensions(self, *extensions: Extension) -> Profile:
        """Return a profile whose parser knows these records too."""
        return self.replace(extensions=self.extensions + extensions)

    def with_rules(self, keys: Collection[str]) -> Profile:
        """Return a profile in which records of these names, in lower case, are rules of a group."""
        known = tuple(
            extension._replace(role=Role.RULE) if extension.key.lower() in keys else extension
            for extension in self.extensions
        )
        declared = {extension.key.lower() for extension in known}
        new = (Extension(key, role=Role.RULE) for key in keys if key not in declared)
        return self.replace(extensions=(*known, *new))

    def switches(self) -> tuple[str, ...]:
        """Return the names of the departures that are on, in the order they stand here."""
        return tuple(name for name, value in self._asdict().items() if value is True)

    def reads_purposes(self) -> bool:
        """Tell whether purpose lines open groups, so that a crawler's purposes count."""
        key = USER_AGENT_PURPOSE.key.lower()
        known = (one for one in self.extensions if one.key.lower() == key)
        return any(extension.role is Role.START for extension in known)

    def settings(self, engine: ModuleType) -> Any:
        """Return this profile as *engine* wants it; made once for each engine."""
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


# Switches about choosing groups, which is done in Python (`robotstxt`), and one of a reader.
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
    # google/robotstxt has no limit of its own; its crawler does. A limit there must be (§2.5), so
    # this one is larger than any file seen.
    max_bytes=16 * 1024 * 1024,
    # It writes into a buffer of 2083 * 8 octets, the last of which is a terminator (AMB-17).
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
    """Return the profile of that name, or the profile itself."""
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
