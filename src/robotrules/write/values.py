"""
The parts of a new robots.txt: NewRule, NewRecord, NewGroup, NewRobotsTxt.

Constructors reject or escape text that a file cannot contain, so that every value can be written
and read back; `str` of a value is its text. Values are immutable and compare by value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self, TypeVar

from robotrules.errors import WriteError
from robotrules.http import structured_fields
from robotrules.octets import to_octets
from robotrules.profile import GOOGLE, LEAST_MAX_BYTES, MORE_SPELLINGS
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt import normalize_path
from robotrules.robotstxt.tokens import product_token

T = TypeVar("T")

# The user-agent line of a group for purposes only. Parsers without support for purposes then read a
# group that matches no crawler, instead of more rules for the group before (AMB-99). It is a
# product token in the grammar of RFC 9309 §2.2.1. No crawler's name starts with `_`, so it matches
# neither for parsers that search it in a crawler's name nor for those that compare prefixes.
PLACEHOLDER = "_purpose-only_"

# Names of records: those about the whole file, and those that need a group.
FILE_KEYS = frozenset({"sitemap", "host", "clean-param"})
SCOPED_KEYS = frozenset({"app-directives", "content-usage", "content-signal"})
GROUP_KEYS = SCOPED_KEYS | {"crawl-delay", "request-rate", "visit-time"}
STRUCTURED = {
    "app-directives": structured_fields.parse_list,
    "content-usage": structured_fields.parse_dictionary,
}
# As their documents spell them; other names get one capital.
SPELLED = {key: key.title() for key in SCOPED_KEYS}
# google/robotstxt recognizes a record by the start of its name (AMB-15), others by a misspelling.
TAKEN = ("user-agent", "allow", "disallow", "sitemap", *(name for name, _ in MORE_SPELLINGS))
# The line length of google/robotstxt in octets; it uses the start of a longer line (AMB-17).
LONGEST_LINE = GOOGLE.max_line or 0

KEY = re.compile(r"[A-Za-z][-.\w]*", re.ASCII)
# Names of crawlers have digits and dots, though RFC 9309 §2.2.1 allows neither (AMB-22).
NAME = re.compile(r"\*|[-\w][-.\w]*", re.ASCII)
# As in the registry of purposes: valid in a line and in a User-Agent header (AMB-98).
PURPOSE = re.compile(r"(?!\*$)[!-\"$-~]+")
# Octets that a path pattern must escape: controls, blanks, `#`, non-ASCII, and a percent sign that
# is not part of an escape.
UNSAFE = re.compile(rb"[^!-~]|#|%(?![0-9A-Fa-f]{2})")


def _refuse(message: str) -> NoReturn:
    raise WriteError(message)


def _require_text(what: str, given: object) -> str:
    if not isinstance(given, str):
        raise TypeError(f"{what} must be a str, not {type(given).__name__}")
    return given


def _require_list(what: str, given: Iterable[T], kind: type) -> tuple[T, ...]:
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise TypeError(f"{what} must be a list of {kind.__name__}, not {given!r}: pass [...]")
    items = tuple(given)
    for item in items:
        if not isinstance(item, kind):
            raise TypeError(f"{what} must be a list of {kind.__name__}: {item!r} is not one")
    return items


def _format_line(key: str, value: str) -> str:
    line = f"{key}: {value}".rstrip()
    if len(line) > LONGEST_LINE:
        _refuse(
            f"{line[:40]!r}… has {len(line):,} bytes; Google's parser reads {LONGEST_LINE:,} bytes "
            "of a line and ignores the rest: make it shorter"
        )
    return line


def escape_pattern(octets: bytes) -> str:
    """Return a path pattern with unsafe octets percent-encoded."""
    return UNSAFE.sub(lambda octet: b"%%%02X" % octet[0][0], octets).decode("ascii")


def _validate_pattern(given: str, starts: str = "/*") -> str:
    """Return a path pattern with unsafe characters percent-encoded (RFC 9309 §2.2.2)."""
    if re.search(r"[\r\n\0]", given):
        _refuse(f"path pattern {given!r} has a line break or a NUL: remove it")
    if given[:1] not in tuple(starts):
        path = "/" + given.lstrip("^").lstrip("/")
        fix = f"write {path!r}" if given else "leave it out: without a rule all is allowed"
        if given.startswith("^"):
            fix += ", because a pattern always begins at the start of a path and has no '^'"
        _refuse(f"path pattern {given!r} does not start with {' or '.join(starts)}: {fix}")
    return escape_pattern(to_octets(given))


def _validate_comment(given: str) -> str:
    text = _require_text("a comment", given).replace("\r\n", "\n")
    lines = [line.rstrip() for line in text.split("\n")]
    for line in lines:
        if re.search(r"[^ -~]", line):
            _refuse(f"comment {line!r} has characters other than visible ASCII: remove them")
        _format_line("#", line)
    return "\n".join(lines).strip("\n")


def _comment_lines(comment: str) -> list[str]:
    return [f"# {line}".rstrip() for line in comment.split("\n")] if comment else []


class _Checked:
    """Makes `_make`, and so `_replace`, call the constructor with its checks."""

    __slots__ = ()

    if TYPE_CHECKING:
        pass  # type checkers use the signature of NamedTuple
    else:

        @classmethod
        def _make(cls, iterable: Iterable[Any]) -> Self:
            return cls(*iterable)


class _Rule(NamedTuple):
    allow: bool
    pattern: str


class NewRule(_Checked, _Rule):
    """An allow or a disallow rule; its path pattern is escaped when the rule is made."""

    __slots__ = ()

    def __new__(cls, allow: bool, pattern: str) -> Self:
        """Make a rule; `allow(pattern)` and `disallow(pattern)` are shorter."""
        if not isinstance(allow, bool):
            raise TypeError(f"allow must be True or False, not {allow!r}")
        pattern = _validate_pattern(_require_text("a path pattern", pattern))
        rule = super().__new__(cls, allow, pattern)
        _format_line("Disallow", rule.pattern)
        return rule

    def __str__(self) -> str:
        return _format_line("Allow" if self.allow else "Disallow", self.pattern)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {"key": "allow" if self.allow else "disallow", "pattern": self.pattern}


def allow(pattern: str) -> NewRule:
    """Return a rule that allows the URLs that a path pattern matches."""
    return NewRule(True, pattern)


def disallow(pattern: str) -> NewRule:
    """Return a rule that disallows the URLs that a path pattern matches."""
    return NewRule(False, pattern)


# A group without rules would merge with the group after it (RFC 9309 §2.1), and is ignored by
# parsers older than the RFC. An empty Disallow has meant "no limit" since 1994. For crawler-commons
# it also clears earlier rules; so for a crawler with another group, a rule is written that changes
# nothing: the RFC always allows /robots.txt (§2.2.2).
EMPTY = "Disallow:"
NO_OP_RULE = allow("/robots.txt$")


def suggest_name(name: str) -> str:
    """Return the product token that a name probably stands for, or else an example."""
    # `Google Extended` is Google-Extended, and not Google.
    closest = KNOWN_CRAWLERS.closest(name)
    likely = closest.product_token if closest else product_token(name)
    return likely if likely and NAME.fullmatch(likely) else "ExampleBot"


def most_specific_first(rules: Iterable[NewRule]) -> tuple[NewRule, ...]:
    """
    Return rules in an order in which first-match parsers decide like RFC 9309.

    Longest pattern first, allow before disallow (§2.2.2). For the RFC, the order is irrelevant.
    """
    return tuple(
        sorted(rules, key=lambda r: (-len(normalize_path(r.pattern, pattern=True)), not r.allow))
    )


class _Record(NamedTuple):
    key: str
    value: str
    path: str | None = None


class NewRecord(_Checked, _Record):
    """
    A record that is neither a rule nor a user-agent line: Sitemap, Crawl-delay, Content-Usage …

    *path* is for App-Directives, Content-Usage and Content-Signal, and escaped like a path pattern.
    The values of the first two must be valid Structured Fields.
    """

    __slots__ = ()

    def __new__(cls, key: str, value: str, path: str | None = None) -> Self:
        """Make a record; its name is case-insensitive."""
        key = _require_text("a record's name", key).lower()
        key = "app-directives" if key == "app-directive" else key  # AMB-101
        value = _require_text("a record's value", value).strip(" \t")
        if not KEY.fullmatch(key):
            _refuse(f"{key!r} is not a record name: use letters, digits, '-', '_' and '.'")
        if key != "sitemap" and key.startswith(TAKEN):
            _refuse(
                f"some parsers read {key!r} as another record: choose another name; rules, user "
                "agents and purposes have their own arguments in NewGroup"
            )
        if path is None and key in SCOPED_KEYS and value.startswith("/"):
            path, value = [*re.split(r"[ \t]+", value, maxsplit=1), ""][:2]
        if path is not None:
            if key not in SCOPED_KEYS:
                _refuse(f"{key!r} takes no path: write it in the value")
            path = _validate_pattern(_require_text("a path", path), starts="/")  # AMB-103, AMB-112
        if key == "sitemap" and "#" not in value and (url := re.match("[A-Za-z]+://[^/?]*", value)):
            value = url[0] + escape_pattern(to_octets(value[url.end() :]))
        if not value:
            _refuse(f"{key!r} has no value: leave the record out")
        if unsafe := re.search(r"[^\t -~]|#", value):
            _refuse(
                f"the value of {key!r} has {unsafe[0]!r} in {value[:60]!r}: use visible ASCII "
                "without '#', which starts a comment; percent-encode it in a URL"
            )
        record = super().__new__(cls, key, value, path)
        record._validate()
        str(record)
        return record

    def _validate(self) -> None:
        if self.key not in STRUCTURED:
            return
        parsed = STRUCTURED[self.key](self.value.encode())
        if parsed.error is not None:
            _refuse(f"{self.value!r} is not a value for {self.key!r}: {parsed.error}; see RFC 9651")

    def __str__(self) -> str:
        value = self.value if self.path is None else f"{self.path} {self.value}"
        return _format_line(SPELLED.get(self.key, self.key.capitalize()), value)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {"key": self.key, "path": self.path, "value": self.value}


class _Group(NamedTuple):
    user_agents: tuple[str, ...] = ()
    purposes: tuple[str, ...] = ()
    rules: tuple[NewRule, ...] = ()
    records: tuple[NewRecord, ...] = ()
    comment: str = ""


class NewGroup(_Checked, _Group):
    """A group: its product tokens and purposes, rules, other records and a comment."""

    __slots__ = ()

    def __new__(
        cls,
        user_agents: Iterable[str] = (),
        purposes: Iterable[str] = (),
        rules: Iterable[NewRule] = (),
        records: Iterable[NewRecord] = (),
        comment: str = "",
    ) -> Self:
        """Make a group."""
        user_agents = _require_list("user_agents", user_agents, str)
        purposes = _require_list("purposes", purposes, str)
        rules = _require_list("rules", rules, NewRule)
        records = _require_list("records", records, NewRecord)
        if not user_agents and not purposes:
            _refuse("the group matches no crawler: add a user agent, such as '*', or a purpose")
        for name in user_agents:
            if not NAME.fullmatch(name) or name.lower() == PLACEHOLDER:
                fix = suggest_name(name)
                _refuse(f"{name!r} is not a product token that all parsers read: pass {fix!r}")
        for name in purposes:
            if not PURPOSE.fullmatch(name):
                _refuse(f"{name!r} is not a purpose: use visible ASCII without spaces and '#'")
        for record in records:
            if record.key in FILE_KEYS:
                _refuse(
                    f"{str(record)!r} applies to the whole file: put it in the records of "
                    "NewRobotsTxt"
                )
        rules = () if rules == (NO_OP_RULE,) else rules
        comment = _validate_comment(comment)
        group = super().__new__(cls, user_agents, purposes, rules, records, comment)
        list(group.lines())  # checks the length of lines
        return group

    def names(self) -> frozenset[str]:
        """Return its user agents in lower case, for comparison."""
        return frozenset(name.lower() for name in self.user_agents)

    def lines(self, empty: str = EMPTY) -> Iterator[str]:
        """Yield its lines; *empty* is for a group without rules."""
        yield from _comment_lines(self.comment)
        # All user agents before the purposes: in Protego any other record ends the list.
        for name in self.user_agents or [PLACEHOLDER]:
            yield _format_line("User-agent", name)
        for name in self.purposes:
            yield _format_line("User-Agent-Purpose", name)
        # Rules before other records: a rule ends the list for all parsers, other records for some.
        yield from map(str, self.rules) if self.rules else [empty]
        yield from map(str, self.records)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "comment": self.comment,
            "user_agents": list(self.user_agents),
            "purposes": list(self.purposes),
            "rules": [rule.as_dict() for rule in self.rules],
            "records": [record.as_dict() for record in self.records],
        }


def longer_names_first(groups: Iterable[NewGroup]) -> list[NewGroup]:
    """
    Return groups with each name before the names it contains; otherwise in the given order.

    Python's urllib.robotparser gives ExampleBot-News the first group whose name is part of it.
    """
    ordered: list[NewGroup] = []
    for group in groups:
        contained = (
            at
            for at, other in enumerate(ordered)
            if any(name in mine for name in other.names() for mine in group.names())
        )
        ordered.insert(next(contained, len(ordered)), group)
    return ordered


class _RobotsTxt(NamedTuple):
    groups: tuple[NewGroup, ...] = ()
    records: tuple[NewRecord, ...] = ()
    comment: str = ""


class NewRobotsTxt(_Checked, _RobotsTxt):
    """
    A robots.txt to write: groups, records about the file such as Sitemap, a comment at the top.

    The order of groups and of rules is kept.
    """

    __slots__ = ()

    def __new__(
        cls,
        groups: Iterable[NewGroup] = (),
        records: Iterable[NewRecord] = (),
        comment: str = "",
    ) -> Self:
        """Make a file."""
        groups = _require_list("groups", groups, NewGroup)
        records = _require_list("records", records, NewRecord)
        for record in records:
            if record.key in GROUP_KEYS:
                _refuse(
                    f"{str(record)!r} outside a group applies to no crawler: put it in the records "
                    "of a NewGroup, such as the one for '*'"
                )
        robots = super().__new__(cls, groups, records, _validate_comment(comment))
        if (size := len(str(robots))) > LEAST_MAX_BYTES:
            _refuse(
                f"the file would have {size:,} bytes; parsers need not read more than "
                f"{LEAST_MAX_BYTES:,} (RFC 9309 §2.5): use fewer or shorter path patterns"
            )
        return robots

    def __str__(self) -> str:
        parts = [_comment_lines(self.comment), [str(record) for record in self.records]]
        named = Counter(name for group in self.groups for name in group.names())
        for group in self.groups:
            again = any(named[name] > 1 for name in group.names())
            parts.append(list(group.lines(str(NO_OP_RULE) if again else EMPTY)))
        return "\n".join("".join(f"{line}\n" for line in lines) for lines in parts if lines)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "comment": self.comment,
            "records": [record.as_dict() for record in self.records],
            "groups": [group.as_dict() for group in self.groups],
        }
