"""
App-Directives (draft-nottingham-plan-b): what a site says to an application, by its name.

    User-Agent: *
    App-Directives: examplesearch;widgets=?0
    App-Directives: /news/ examplesearch;widgets;teaser=200

`directives_for()` chooses groups and reads their lines once for an application; the set it returns
is asked with `at(url)` and `at_many(urls)`. `app_directives()` does both. An app directive is a
stated preference and has no technical enforcement (§4); it says nothing about crawling (§2.1).

Sections: the answer · the set · the way in · notes on a file. It does not know how a line is read
(`app_lines` does), nor Content-Usage beyond its name: what overrides what is never computed here
(AMB-108).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from robotrules.extensions import vet
from robotrules.extensions.app_lines import (
    EXTENSION,
    EXTENSIONS,
    KEYS,
    AppDirective,
    AppLine,
    AppStatement,
    Registration,
    read_line,
    statement_for,
)
from robotrules.extensions.codes import note
from robotrules.extensions.scoped import (
    ScopedSet,
    comparison_form,
    document_groups,
    records_for,
    split,
)
from robotrules.http.structured_fields import is_token, parse_list
from robotrules.registries import SHIPPED, Registries
from robotrules.robotstxt import RobotsTxt, Tokens
from robotrules.robotstxt.ruleset import URL
from robotrules.robotstxt.values import Note, Record
from robotrules.robotstxt.verdict import GroupMatch

__all__ = [
    "EXTENSION",
    "EXTENSIONS",
    "AppDirective",
    "AppDirectives",
    "DirectiveSet",
    "Registration",
    "app_directives",
    "directives_for",
    "notes",
]


# Content-Usage is read over the groups of its own document (AMB-29).
CONTENT_USAGE = ("content-usage",)


# --- The answer -----------------------------------------------------------------------------------


class AppDirectives(NamedTuple):
    """What a file says to one application about a URL."""

    application: str
    product_token: str
    """What the groups were chosen by; `*` for an application without a token (AMB-106)."""
    matched_by: GroupMatch
    directives: tuple[AppDirective, ...]
    not_applied: tuple[AppDirective, ...]
    """Those whose value has another type than the registered one."""
    content_usage: tuple[Record, ...]
    """Every Content-Usage record that the same product token reads, whatever its path."""
    own_notes: tuple[Note, ...]
    """Notes on the records that count here."""
    unread: tuple[Note, ...]
    """Notes on records of the groups that could not be read; all answers of a set share them."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on the records that count here, and on those that could not be read."""
        return _in_order((*self.unread, *self.own_notes))

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of an app directive; *default* where nothing is said."""
        return next((found.value for found in self.directives if found.name == name), default)

    @property
    def overrides(self) -> tuple[str, ...]:
        """
        The app directives that stand beside Content-Usage, as `examplesearch;widgets`.

        In a conflict they can be considered to override it, within their own semantics (§1.2).
        Whether there is a conflict, only somebody who knows the semantics can tell.
        """
        if not self.content_usage:
            return ()
        return tuple(f"{self.application};{found.name}" for found in self.directives)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "application": self.application,
            "product_token": self.product_token,
            "matched_by": str(self.matched_by),
            "directives": [found.as_dict() for found in self.directives],
            "not_applied": [found.as_dict() for found in self.not_applied],
            "overrides": list(self.overrides),
            "content_usage": [
                {"value": record.text, "line": record.line} for record in self.content_usage
            ],
            "notes": [found.as_dict() for found in self.notes],
        }


# --- The set --------------------------------------------------------------------------------------


class DirectiveSet:
    """
    What a file says to one application, ready to be asked. Immutable; share it between threads.

    Only records of the groups that the application obeys are read, and of them only those that
    name it: the longest path pattern among these counts (AMB-104).
    """

    __slots__ = (
        *("_asked", "_scoped", "_statements", "_unread"),
        *("application", "content_usage", "matched_by", "product_token"),
    )

    application: str
    product_token: str
    matched_by: GroupMatch
    content_usage: tuple[Record, ...]

    def __init__(
        self, robots: RobotsTxt, application: str, token: Tokens, registries: Registries
    ) -> None:
        """Use `directives_for()`."""
        # §2.1: the groups of the product token, merged; if there are none, those of `*`.
        self.matched_by = robots.select_groups(token).matched_by
        records = records_for(robots, KEYS, token)
        self.application = application
        self.product_token = token if isinstance(token, str) else ", ".join(token)
        self.content_usage = tuple(records_for(robots, CONTENT_USAGE, token))
        self._statements: list[AppStatement] = []
        # What could not be read may have been for this application, and for any path.
        unread: list[Note] = []
        lines = [read_line(record, robots) for record in records]
        if not robots.profile.separate_lines:
            lines = _without_voided(lines, robots)
        for line in lines:
            if application in line.told:
                self._statements.append(statement_for(application, line, registries))
            elif any(found.level == "error" for found in line.notes):
                unread += line.notes
        self._unread = tuple(unread)
        entries = [(found.line.path, at) for at, found in enumerate(self._statements)]
        self._asked = robots, application, token, registries
        self._scoped = ScopedSet(entries, robots, self._combined)

    def __reduce__(self) -> tuple[Any, ...]:
        return DirectiveSet, self._asked

    def for_url(self, url: URL) -> AppDirectives:
        """
        Return the app directives for *url*: those of the longest path pattern that matches.

        Shorter patterns add nothing (AMB-104). Lines that tie are combined in the order of the
        file, and a later value replaces an earlier one (AMB-105).
        """
        return self._scoped.at(url)

    def for_urls(self, urls: Iterable[URL]) -> list[AppDirectives]:
        """Return the same for many URLs, with one crossing into the engine for most of them."""
        return self._scoped.at_many(urls)

    def _combined(self, found: tuple[int, ...]) -> AppDirectives:
        applied: dict[str, AppDirective] = {}
        not_applied: list[AppDirective] = []
        notes: list[Note] = []
        for statement in map(self._statements.__getitem__, found):
            notes += statement.notes
            for one in statement.directives:
                # A value that cannot be applied replaces none that can.
                if one.status is Registration.TYPE_MISMATCH:
                    not_applied.append(one)
                    continue
                earlier = applied.get(one.name)
                if earlier and (earlier.type, earlier.value) != (one.type, one.value):
                    start = split(earlier.record).start
                    notes.append(note("overridden-directive", earlier.record, start))
                applied[one.name] = one
        return AppDirectives(
            self.application,
            self.product_token,
            self.matched_by,
            tuple(applied.values()),
            tuple(not_applied),
            self.content_usage,
            _in_order(notes),
            self._unread,
        )

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on every record of the groups that names the application or could not be read."""
        return _in_order([*self._unread, *(n for s in self._statements for n in s.notes)])

    def __len__(self) -> int:
        """Return how many records name the application."""
        return len(self._statements)

    def __bool__(self) -> bool:
        return True  # an empty set is still a set

    def __repr__(self) -> str:
        return f"<DirectiveSet: {len(self)} records for {self.application}>"


def _without_voided(lines: Sequence[AppLine], robots: RobotsTxt) -> list[AppLine]:
    """
    Return lines without those whose List another line voids (AMB-105).

    Lines of one path are one List (draft-nottingham-plan-b §2), and a List with a part that fails
    to parse is ignored as a whole (RFC 9651 §4.2): the path says nothing, and a shorter one counts.
    """
    voided = {_form_of(line, robots) for line in lines if line.is_broken}
    return [line for line in lines if line.is_broken or _form_of(line, robots) not in voided]


def _form_of(line: AppLine, robots: RobotsTxt) -> bytes | None:
    return None if line.path is None else comparison_form(line.path, robots)


def _in_order(notes: Iterable[Note]) -> tuple[Note, ...]:
    return tuple(sorted(dict.fromkeys(notes), key=lambda found: found.start))


# --- The way in -----------------------------------------------------------------------------------


def directives_for(
    robots: RobotsTxt,
    application: str,
    *,
    product_token: Tokens | None = None,
    registries: Registries = SHIPPED,
) -> DirectiveSet:
    """
    Return what a file says to an application; compiled once, to be asked about many URLs.

    Groups are chosen by the product token that the application has registered, or by
    *product_token* if that is given; without either, those of `*` count (AMB-106).
    """
    vet(robots)
    if not isinstance(application, str):
        name = type(application).__name__
        raise TypeError(f"an application is a str such as 'examplesearch', not {name}")
    parsed = parse_list(application.encode("utf-8", "backslashreplace")).value
    if not parsed or not is_token(parsed[0][0]) or str(parsed[0][0]) != application:
        raise ValueError(
            f"{application!r} is no application identifier: pass a Token (RFC 9651 §3.3.4), which "
            "starts with a letter or '*' and has no spaces, such as 'examplesearch'"
        )
    if product_token is None:
        entry = registries.applications.get(application)
        product_token = (entry.product_token if entry else None) or "*"
    return DirectiveSet(robots, application, product_token, registries)


def app_directives(
    robots: RobotsTxt,
    url: URL,
    application: str,
    *,
    product_token: Tokens | None = None,
    registries: Registries = SHIPPED,
) -> AppDirectives:
    """Return what a file says to an application about one URL; see `directives_for()`."""
    token, known = product_token, registries
    return directives_for(robots, application, product_token=token, registries=known).for_url(url)


# --- Notes on a file ------------------------------------------------------------------------------


def notes(robots: RobotsTxt, registries: Registries = SHIPPED) -> Iterator[Note]:
    """Yield what is odd about each App-Directives record of a file, whoever it is for."""
    records = [record for record in robots.records if record.key in KEYS]
    regrouped, groups = robots.grouped_for(KEYS[0]), document_groups(robots, KEYS)
    star = frozenset(regrouped.select_groups("*").indices) if records else frozenset()
    obeyed: dict[str, frozenset[int]] = {}
    for record in records:
        line, group = read_line(record, robots), groups[record.line]
        found = dict.fromkeys(line.notes)
        if group is None:
            found[note("record-outside-group", record)] = None
        elif group not in star:
            found[note("named-group-directives", record)] = None  # RECOMMENDED (§1.3)
        for application in line.told:
            found |= dict.fromkeys(statement_for(application, line, registries).notes)
            entry = registries.applications.get(application)
            if entry is None or group is None:
                continue
            if application not in obeyed:
                chosen = regrouped.select_groups(entry.product_token or "*").indices
                obeyed[application] = frozenset(chosen)
            if group not in obeyed[application]:
                found[line.note("unseen-directives")] = None
        yield from found
