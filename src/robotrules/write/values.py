"""
What a new robots.txt is made of: NewRule, NewRecord, NewGroup, NewRobotsTxt.

Each refuses, or escapes, what a file cannot hold when it is made, so that whatever exists can be
written and read back; `str` of it is its text. They are immutable and compare by value. They do not
know how a file is read.
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
from robotrules.robotstxt import normalize_path
from robotrules.robotstxt.tokens import product_token

T = TypeVar("T")

# Stands before the purposes of a group that names no crawler. Who does not know purposes then sees
# a group for nobody, and not more rules for the group before it (AMB-99). By the grammar of
# RFC 9309 §2.2.1 it is a product token; no crawler's name starts with `_`, so neither parsers that
# look for it in a crawler's name nor those that look for the name's beginning in it find a match.
PLACEHOLDER = "_purpose-only_"

# Names of records: those that stand once for a file, and those that only a group gives a meaning.
FILE_KEYS = frozenset({"sitemap", "host", "clean-param"})
SCOPED_KEYS = frozenset({"app-directives", "content-usage", "content-signal"})
GROUP_KEYS = SCOPED_KEYS | {"crawl-delay", "request-rate", "visit-time"}
STRUCTURED = {
    "app-directives": structured_fields.parse_list,
    "content-usage": structured_fields.parse_dictionary,
}
# As their documents spell them; for other names one capital will do.
SPELLED = {key: key.title() for key in SCOPED_KEYS}
# google/robotstxt knows a record by the beginning of its name (AMB-15), others by a misspelling.
TAKEN = ("user-agent", "allow", "disallow", "sitemap", *(name for name, _ in MORE_SPELLINGS))
# Octets of a line that google/robotstxt reads; it uses the beginning of a longer one (AMB-17).
LONGEST_LINE = GOOGLE.max_line or 0

KEY = re.compile(r"[A-Za-z][-.\w]*", re.ASCII)
# Crawlers have digits and dots in their names, though RFC 9309 §2.2.1 knows neither (AMB-22).
NAME = re.compile(r"\*|[-\w][-.\w]*", re.ASCII)
# As the registry of purposes has it: what can stand in a line and in a User-Agent header (AMB-98).
PURPOSE = re.compile(r"(?!\*$)[!-\"$-~]+")
# What no path pattern can hold as it is: controls, blanks, what ends it, what is not ASCII, and a
# percent sign that escapes nothing.
UNSAFE = re.compile(rb"[^!-~]|#|%(?![0-9A-Fa-f]{2})")


def _refuse(words: str) -> NoReturn:
    raise WriteError(words)


def _text(what: str, given: object) -> str:
    if not isinstance(given, str):
        raise TypeError(f"{what} is a str, not {type(given).__name__}")
    return given


def _several(what: str, given: Iterable[T], kind: type) -> tuple[T, ...]:
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise TypeError(f"{what} are a list of {kind.__name__}, not {given!r}: pass [...]")
    several = tuple(given)
    for one in several:
        if not isinstance(one, kind):
            raise TypeError(f"{what} are a list of {kind.__name__}: {one!r} is none")
    return several


def _line(key: str, value: str) -> str:
    line = f"{key}: {value}".rstrip()
    if len(line) > LONGEST_LINE:
        _refuse(
            f"a line of {len(line):,} octets, {line[:40]!r}…: some parsers read {LONGEST_LINE:,} "
            "and use what they have; say it shorter"
        )
    return line


def escaped(octets: bytes) -> str:
    """Return octets of a path pattern with everything escaped that a file cannot hold."""
    return UNSAFE.sub(lambda found: b"%%%02X" % found[0][0], octets).decode("ascii")


def _pattern(given: str, starts: str = "/*") -> str:
    """Return a path pattern with everything escaped that a file cannot hold (RFC 9309 §2.2.2)."""
    if re.search(r"[\r\n\0]", given):
        _refuse(f"path pattern {given!r} has a line end or a NUL: pass one pattern without it")
    if given[:1] not in tuple(starts):
        cure = f"write {'/' + given!r}" if given else "leave it out: no rule means no limit"
        _refuse(f"path pattern {given!r} does not start with {' or '.join(starts)}: {cure}")
    return escaped(to_octets(given))


def _comment(given: str) -> str:
    lines = [line.rstrip() for line in _text("a comment", given).replace("\r\n", "\n").split("\n")]
    for line in lines:
        if re.search(r"[^ -~]", line):
            _refuse(f"comment {line!r} has more than visible ASCII: say it without")
        _line("#", line)
    return "\n".join(lines).strip("\n")


def _comment_lines(comment: str) -> list[str]:
    return [f"# {line}".rstrip() for line in comment.split("\n")] if comment else []


class _Checked:
    """Makes `_make`, and so `_replace`, check like the constructor does."""

    __slots__ = ()

    if TYPE_CHECKING:
        pass  # a checker knows it from NamedTuple
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
            raise TypeError(f"allow is True or False, not {allow!r}")
        rule = super().__new__(cls, allow, _pattern(_text("a path pattern", pattern)))
        _line("Disallow", rule.pattern)
        return rule

    def __str__(self) -> str:
        return _line("Allow" if self.allow else "Disallow", self.pattern)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {"key": "allow" if self.allow else "disallow", "pattern": self.pattern}


def allow(pattern: str) -> NewRule:
    """Return a rule that allows what a path pattern matches."""
    return NewRule(True, pattern)


def disallow(pattern: str) -> NewRule:
    """Return a rule that disallows what a path pattern matches."""
    return NewRule(False, pattern)


# A group without a rule would be one with the group after it (RFC 9309 §2.1), and is none at all to
# parsers of before. An empty Disallow says "no limit" since 1994. To crawler-commons it also says
# "forget the rules so far"; so a crawler that has another group is told what is true anyway: the
# RFC allows /robots.txt whatever the rules are (§2.2.2).
EMPTY = "Disallow:"
TRUE_ANYWAY = allow("/robots.txt$")


def most_specific_first(rules: Iterable[NewRule]) -> tuple[NewRule, ...]:
    """
    Return rules in the order in which a parser that takes the first match decides like RFC 9309.

    Most octets first, and of as many octets allow (§2.2.2). To the RFC their order means nothing.
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

    *path* is for App-Directives, Content-Usage and Content-Signal. It is escaped like a path
    pattern; the values of the first two are read as Structured Fields, and refused if they are not.
    """

    __slots__ = ()

    def __new__(cls, key: str, value: str, path: str | None = None) -> Self:
        """Make a record; its name is compared without case."""
        key = _text("a record's name", key).lower()
        key = "app-directives" if key == "app-directive" else key  # AMB-101
        value = _text("a record's value", value).strip(" \t")
        if not KEY.fullmatch(key):
            _refuse(f"{key!r} cannot name a record: use letters, digits, '-', '_' and '.'")
        if key != "sitemap" and key.startswith(TAKEN):
            _refuse(
                f"{key!r} is read as another record by some parsers: rules, user agents and "
                "purposes have their own place in a group; choose another name"
            )
        if path is None and key in SCOPED_KEYS and value.startswith("/"):
            path, value = [*re.split(r"[ \t]+", value, maxsplit=1), ""][:2]
        if path is not None:
            if key not in SCOPED_KEYS:
                _refuse(f"{key!r} has no path: write it as its value has it")
            path = _pattern(_text("a path", path), starts="/")  # AMB-103, AMB-112
        if key == "sitemap" and "#" not in value and (url := re.match("[A-Za-z]+://[^/?]*", value)):
            value = url[0] + escaped(to_octets(value[url.end() :]))
        if not value:
            _refuse(f"{key!r} has no value: leave the record out")
        if found := re.search(r"[^\t -~]|#", value):
            _refuse(
                f"the value of {key!r} has {found[0]!r} in {value[:60]!r}: a record's value is "
                "visible ASCII without '#', which starts a comment; percent-encode it in a URL"
            )
        record = super().__new__(cls, key, value, path)
        record._vet()
        str(record)
        return record

    def _vet(self) -> None:
        if self.key not in STRUCTURED:
            return
        parsed = STRUCTURED[self.key](self.value.encode())
        if parsed.error is not None:
            _refuse(f"{self.value!r} is no value for {self.key!r}: {parsed.error}; see RFC 9651")

    def __str__(self) -> str:
        value = self.value if self.path is None else f"{self.path} {self.value}"
        return _line(SPELLED.get(self.key, self.key.capitalize()), value)

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
    """Whom a group is for, by product token or purpose; its rules, its other records, a comment."""

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
        user_agents = _several("user_agents", user_agents, str)
        purposes = _several("purposes", purposes, str)
        rules = _several("rules", rules, NewRule)
        records = _several("records", records, NewRecord)
        if not user_agents and not purposes:
            _refuse("a group for nobody: name a user agent, such as '*', or a purpose")
        for name in user_agents:
            if not NAME.fullmatch(name) or name.lower() == PLACEHOLDER:
                likely = product_token(name)
                cure = repr(likely) if likely and NAME.fullmatch(likely) else "'ExampleBot'"
                _refuse(
                    f"{name!r} is no product token, and some parsers would not find it: pass {cure}"
                )
        for name in purposes:
            if not PURPOSE.fullmatch(name):
                _refuse(f"{name!r} is no purpose: use visible ASCII without spaces and '#'")
        for record in records:
            if record.key in FILE_KEYS:
                _refuse(f"{str(record)!r} is about the file: put it in the records of NewRobotsTxt")
        rules = () if rules == (TRUE_ANYWAY,) else rules
        group = super().__new__(cls, user_agents, purposes, rules, records, _comment(comment))
        list(group.lines())  # none is too long
        return group

    def names(self) -> frozenset[str]:
        """Return its user agents as they are compared."""
        return frozenset(name.lower() for name in self.user_agents)

    def lines(self, empty: str = EMPTY) -> Iterator[str]:
        """Yield its lines; *empty* is for a group without rules."""
        yield from _comment_lines(self.comment)
        # All user agents before the purposes: Protego ends the list at any other record.
        for name in self.user_agents or [PLACEHOLDER]:
            yield _line("User-agent", name)
        for name in self.purposes:
            yield _line("User-Agent-Purpose", name)
        # Rules before other records: a rule ends the list for everybody, another record for some.
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


class _RobotsTxt(NamedTuple):
    groups: tuple[NewGroup, ...] = ()
    records: tuple[NewRecord, ...] = ()
    comment: str = ""


class NewRobotsTxt(_Checked, _RobotsTxt):
    """
    A robots.txt to write: groups, records about the file such as Sitemap, a comment at its top.

    The order of groups, and of rules, is kept as given.
    """

    __slots__ = ()

    def __new__(
        cls,
        groups: Iterable[NewGroup] = (),
        records: Iterable[NewRecord] = (),
        comment: str = "",
    ) -> Self:
        """Make a file."""
        groups = _several("groups", groups, NewGroup)
        records = _several("records", records, NewRecord)
        for record in records:
            if record.key in GROUP_KEYS:
                _refuse(
                    f"{str(record)!r} outside a group is for nobody: put it in the records of a "
                    "NewGroup, such as the one for '*'"
                )
        robots = super().__new__(cls, groups, records, _comment(comment))
        if (size := len(str(robots))) > LEAST_MAX_BYTES:
            _refuse(
                f"the file would have {size:,} octets, and parsers need not read more than "
                f"{LEAST_MAX_BYTES:,} (RFC 9309 §2.5): use fewer or wider path patterns"
            )
        return robots

    def __str__(self) -> str:
        parts = [_comment_lines(self.comment), [str(record) for record in self.records]]
        named = Counter(name for group in self.groups for name in group.names())
        for group in self.groups:
            again = any(named[name] > 1 for name in group.names())
            parts.append(list(group.lines(str(TRUE_ANYWAY) if again else EMPTY)))
        return "\n".join("".join(f"{line}\n" for line in lines) for lines in parts if lines)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "comment": self.comment,
            "records": [record.as_dict() for record in self.records],
            "groups": [group.as_dict() for group in self.groups],
        }
