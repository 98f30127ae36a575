"""
Policies: what a site asks of crawlers, in a few words of TOML, made a robots.txt.

A policy says `keep-out` and `welcome`, what content may be used for, and what single applications
should do; `compose` makes groups of it. Everyone means everyone: what is asked of all crawlers is
repeated in the groups of those that are named, because RFC 9309 §2.2.1 gives them their own group
alone. What is said to a crawler itself comes before that. It does not read files, and does not know
how a robots.txt is laid out: `write` does.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, NamedTuple, NoReturn

from robotrules.errors import WriteError
from robotrules.http import structured_fields
from robotrules.robotstxt import normalize_path
from robotrules.toml_positions import read
from robotrules.write import (
    NewGroup,
    NewRecord,
    NewRobotsTxt,
    NewRule,
    app_directives_record,
    content_usage_record,
    display_string_value,
    most_specific_first,
    token_value,
)

# A policy is written by hand; what is larger is something else.
LARGEST = 1 << 20
IN_A_POLICY = ("comment", "sitemaps", "records", "everyone", "for", "applications")
TO_EVERYONE = ("comment", "keep-out", "welcome", "use", "crawl-delay", "records")
FOR_SOME = ("crawlers", "purposes", "instead-of-everyone", *TO_EVERYONE)
# The categories of draft-ietf-aipref-vocab-07 §6.1.
USES = ("train-ai", "search")
# Values that TOML has no words for (RFC 9651 §3.3).
SPECIAL = ("token", "text", "bytes")
SKIPPED = "Crawlers that do not know User-Agent-Purpose skip this group."

# Statements by path; those of None count where no path fits.
ByPath = dict[str | None, dict[str, Any]]


def compose(text: str, name: str = "policy.toml") -> NewRobotsTxt:
    """
    Return the robots.txt that a policy asks for; *name* is for its errors.

    Raises `WriteError` that says the file, the key and what is known there. A policy of more than
    1 MiB, or one that is nested deeper than settings are, is refused.
    """
    # Half a surrogate pair is no UTF-8, and refused as that.
    octets = text.encode("utf-8", "surrogatepass")
    return _robots(_Place(read(octets, name, WriteError, LARGEST).value, name))


class _Place:
    """A table or a value of a policy, and where it stands."""

    def __init__(self, value: Any, name: str, key: str = "") -> None:
        self.value = value
        self._name = name
        self.key = key

    def error(self, words: str) -> WriteError:
        """Return an error about this place."""
        return WriteError(f"{self._name}: {self.key + ': ' if self.key else ''}{words}")

    def refuse(self, words: str) -> NoReturn:
        """Raise an error about this place."""
        raise self.error(words)

    def at(self, key: str | int, usual: Any = None) -> _Place:
        """Return a part."""
        if isinstance(key, int):
            return _Place(self.value[key], self._name, f"{self.key}[{key + 1}]")
        dotted = f"{self.key}.{key}" if self.key else key
        return _Place(self.value.get(key, usual), self._name, dotted)

    def table(self, known: tuple[str, ...] = ()) -> Mapping[str, Any]:
        """Return it as a table; with *known* keys it has no others."""
        if not isinstance(self.value, dict):
            self.refuse(f"this is a table, not {self.value!r}")
        for key in self.value if known else ():
            if key not in known:
                likely = get_close_matches(key, known, 1)
                cure = f": did you mean {likely[0]!r}?" if likely else "."
                self.refuse(f"there is no {key!r}{cure} Known here: {', '.join(known)}")
        return self.value

    def text(self) -> str:
        """Return it as text."""
        if not isinstance(self.value, str):
            self.refuse(f"this is text in quotes, not {self.value!r}")
        return self.value

    def texts(self) -> list[str]:
        """Return it as a list of texts; one text will do."""
        if isinstance(self.value, str):
            return [self.value]
        if not isinstance(self.value, list):
            self.refuse(f'this is a list such as ["/private/"], not {self.value!r}')
        return [self.at(number).text() for number in range(len(self.value))]

    def switch(self) -> bool:
        """Return it as true or false."""
        if not isinstance(self.value, bool):
            self.refuse(f"say true or false, not {self.value!r}")
        return self.value


@contextmanager
def _blamed(place: _Place) -> Iterator[None]:
    """Say in which place something was refused."""
    try:
        yield
    except WriteError as error:
        raise place.error(str(error)) from None


class _Said(NamedTuple):
    """What is asked of some crawlers."""

    rules: dict[str, NewRule]
    """By path pattern, in the form it is compared in."""
    use: ByPath
    delay: str | None
    records: list[NewRecord]
    comment: str

    def over(self, everyone: _Said) -> _Said:
        """
        Return this and what is asked of everyone.

        Where this speaks of a path, nothing that everyone is told of it, or of what lies below it,
        is left.
        """
        own = {record.key for record in self.records}
        rules = {
            form: rule
            for form, rule in everyone.rules.items()
            if not any(_covers(mine, form) for mine in self.rules)
        }
        use = {
            path: {
                label: value for label, value in said.items() if not self._speaks_of(label, path)
            }
            for path, said in everyone.use.items()
        }
        return _Said(
            rules | self.rules,
            {path: use.get(path, {}) | self.use.get(path, {}) for path in use | self.use},
            self.delay or everyone.delay,
            [*(record for record in everyone.records if record.key not in own), *self.records],
            self.comment,
        )

    def _speaks_of(self, label: str, path: str | None) -> bool:
        return any(
            label in said and (mine is None or (path or "").startswith(mine))
            for mine, said in self.use.items()
        )

    def group(
        self, user_agents: list[str], purposes: list[str], directives: list[NewRecord]
    ) -> NewGroup:
        """Return the group that says it, for parsers that take the first match too."""
        records = [content_usage_record(use, path) for path, use in _inherited(self.use).items()]
        delay = [NewRecord("Crawl-delay", self.delay)] if self.delay else []
        rules = most_specific_first(self.rules.values())
        comment = self.comment or ("" if user_agents else SKIPPED)
        others = [*delay, *records, *directives, *self.records]
        return NewGroup(user_agents, purposes, rules, others, comment)


def _covers(mine: str, other: str) -> bool:
    """Tell whether a path pattern speaks of all that another one does; wildcards speak for none."""
    plain = "*" not in mine and not mine.endswith("$")
    return mine == other or (plain and other.startswith(mine))


def _inherited(said: ByPath) -> ByPath:
    """
    Return statements that repeat what wider paths say.

    A reader looks at the longest path alone (AMB-104, AMB-113); people mean the others too.
    """
    found: ByPath = {}
    for path in sorted(said, key=lambda path: (path is not None, len(path or ""))):
        wider = (other for other in found if other is None or (path or "").startswith(other))
        merged: dict[str, Any] = {}
        for other in wider:
            merged |= found[other]
        found[path] = merged | said[path]
    return {path: found[path] for path in said if found[path]}


# --- Reading --------------------------------------------------------------------------------------


def _robots(policy: _Place) -> NewRobotsTxt:
    top = policy.table(IN_A_POLICY)
    everyone = _said(policy.at("everyone", {}), TO_EVERYONE)
    directives = list(_directives(policy.at("applications", {})))
    some = policy.at("for", [])
    if not isinstance(some.value, list):
        some.refuse("this is a list of tables: write [[for]] in two brackets")
    named: list[NewGroup] = []
    purposed: list[NewGroup] = []
    met: dict[str, str] = {}
    for number in range(len(some.value)):
        place = some.at(number)
        said = _said(place, FOR_SOME)
        if not place.at("instead-of-everyone", False).switch():
            said = said.over(everyone)
        crawlers, purposes = (place.at(key, []).texts() for key in ("crawlers", "purposes"))
        if not crawlers and not purposes:
            place.refuse('for whom? Add crawlers = ["ExampleBot"], or purposes')
        if "*" in crawlers:
            place.refuse("'*' is everyone: say it in [everyone]")
        for name in [f"crawler {name}" for name in crawlers] + [f"purpose {p}" for p in purposes]:
            if name.lower() in met:
                # Some parsers obey the first of two groups, some mix up groups that share a name.
                place.refuse(f"{name} is in {met[name.lower()]} too: say all of it in one place")
            met[name.lower()] = place.key
        with _blamed(place):
            # One group for names and one for purposes: robotspy reads a purpose line as a name,
            # and then mixes up the groups that have it.
            named += [said.group(crawlers, [], directives)] if crawlers else []
            purposed += [said.group([], purposes, [])] if purposes else []
    groups = [*_longer_names_first(named), *purposed]
    if "everyone" in top or directives:
        with _blamed(policy.at("everyone")):
            # Last, for parsers that take the first group that fits.
            groups.append(everyone.group(["*"], [], directives))
    records = [*_sitemaps(policy.at("sitemaps", [])), *_records(policy.at("records", {}))]
    with _blamed(policy):
        return NewRobotsTxt(groups, records, policy.at("comment", "").text())


def _said(place: _Place, known: tuple[str, ...]) -> _Said:
    table = place.table(known)
    rules: dict[str, NewRule] = {}
    for key in ("keep-out", "welcome"):
        where = place.at(key, [])
        for pattern in where.texts():
            if "://" in pattern:
                where.refuse(f"{pattern!r} is a URL: say its path, such as '/private/'")
            with _blamed(where):
                rule = NewRule(key == "welcome", pattern)
            form = normalize_path(rule.pattern, pattern=True)
            if form in rules and rules[form] != rule:
                where.refuse(f"{pattern!r} is in keep-out too: leave it in one of them")
            rules[form] = rule
    delay = place.at("crawl-delay", 0)
    seconds = delay.value
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        delay.refuse(f"this is a number of seconds, not {seconds!r}")
    if not 0 <= seconds < math.inf:
        delay.refuse(f"this is a number of seconds, 0 or more, not {seconds!r}")
    return _Said(
        rules,
        _use(place.at("use", {})),
        # Without exponent and sign, as readers want it (REC-crawl-delay-01).
        f"{Decimal(repr(abs(seconds))):f}" if "crawl-delay" in table else None,
        list(_records(place.at("records", {}))),
        place.at("comment", "").text(),
    )


def _use(place: _Place) -> ByPath:
    """Return what content may be used for, by path."""
    found: ByPath = {}
    for path, part in _by_path(place):
        for label in part.table(USES):
            found.setdefault(path, {})[label] = part.at(label).switch()
    return found


def _by_path(place: _Place) -> Iterator[tuple[str | None, _Place]]:
    """Yield the parts of a table that are about a path, and what is left."""
    table = place.table()
    here = {key: value for key, value in table.items() if not key.startswith("/")}
    yield None, _Place(here, place._name, place.key)
    for key in table:
        if key.startswith("/"):
            yield key, place.at(key)


def _directives(place: _Place) -> Iterator[NewRecord]:
    """Yield the App-Directives records: one for each path, with all applications that have it."""
    paths: dict[str | None, dict[str, dict[str, Any]]] = {}
    for application in place.table():
        mine = place.at(application)
        said: ByPath = {}
        for path, part in _by_path(mine):
            said[path] = {name: _value(part.at(name)) for name in part.table()}
            with _blamed(part):
                app_directives_record({application: said[path]}, path)
        for path, values in _inherited(said).items():
            paths.setdefault(path, {})[application] = values
    with _blamed(place):
        records = [app_directives_record(said, path) for path, said in paths.items()]
    yield from records


def _value(place: _Place) -> Any:
    """Return the value of an app directive as a Structured Field has it."""
    value = place.value
    if isinstance(value, dict):
        table = place.table(SPECIAL)
        if len(table) != 1:
            place.refuse('say one of { token = "…" }, { text = "…" }, { bytes = "…" }')
        (key,) = table
        given = place.at(key).text()
        if key == "bytes":
            try:
                return base64.b64decode(given, validate=True)
            except ValueError:
                place.refuse(f"{given!r} is no base64")
        return token_value(given) if key == "token" else display_string_value(given)
    if isinstance(value, str) and not value.isascii():
        place.refuse(f"a String is ASCII: say {{ text = {value!r} }}")
    if structured_fields.value_type(value) in ("Inner List", "Date") and not getattr(
        value, "tzinfo", None
    ):
        place.refuse(f"say true, a number, text, or a date with its time and offset, not {value}")
    return value


def _sitemaps(place: _Place) -> Iterator[NewRecord]:
    for url in place.texts():
        if not url.startswith(("https://", "http://")):
            place.refuse(f"{url!r} is no absolute URL: say https://…{url}")
        with _blamed(place):
            record = NewRecord("Sitemap", url)
        yield record


def _records(place: _Place) -> Iterator[NewRecord]:
    for key in place.table():
        where = place.at(key)
        for value in where.texts():
            with _blamed(where):
                record = NewRecord(key, value)
            yield record


def _longer_names_first(groups: list[NewGroup]) -> list[NewGroup]:
    """
    Return groups so that a name stands before one it contains; otherwise as given.

    CPython's parser of old gives ExampleBot-News the first group whose name is in that name.
    """
    found: list[NewGroup] = []
    for group in groups:
        contained = (
            at
            for at, other in enumerate(found)
            if any(name in mine for name in other.names() for mine in group.names())
        )
        found.insert(next(contained, len(found)), group)
    return found
