"""
App-Directives (draft-nottingham-plan-b): directives of a site for an application, by its name.

    User-Agent: *
    App-Directives: examplesearch;widgets=?0
    App-Directives: /news/ examplesearch;widgets;teaser=200

`directives_for()` selects groups and reads their lines once for an application, and returns a set
with `for_url(url)` and `for_urls(urls)`. `app_directives()` does both. An app directive is a stated
preference without technical enforcement (§4), and does not affect crawling (§2.1).

Sections: the result · the set · entry points · notes on a file. Lines are parsed by `app_lines`.
Conflicts with Content-Usage are not resolved here (AMB-108).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from robotrules.extensions import require_robots_txt
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
    "named_applications",
    "notes",
]


# Content-Usage is read with the group structure of its own document (AMB-29).
CONTENT_USAGE = ("content-usage",)


# --- The result -----------------------------------------------------------------------------------


class AppDirectives(NamedTuple):
    """The app directives of a file for one application and one URL."""

    application: str
    product_token: str
    """The token that the groups were selected by; `*` for an application without (AMB-106)."""
    matched_by: GroupMatch
    directives: tuple[AppDirective, ...]
    not_applied: tuple[AppDirective, ...]
    """Directives whose value has another type than the registered one."""
    content_usage: tuple[Record, ...]
    """Every Content-Usage record for the same product token, with any path."""
    own_notes: tuple[Note, ...]
    """Notes on the records that count here."""
    unread: tuple[Note, ...]
    """Notes on records of the groups that could not be read; all results of a set share them."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on the records that count here, and on those that could not be read."""
        return _in_order((*self.unread, *self.own_notes))

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of an app directive; *default* if it is not given."""
        return next((one.value for one in self.directives if one.name == name), default)

    @property
    def overrides(self) -> tuple[str, ...]:
        """
        The app directives beside Content-Usage records, as `examplesearch;widgets`.

        In a conflict they can be considered to override Content-Usage, within their own semantics
        (§1.2). Whether there is a conflict depends on these semantics.
        """
        if not self.content_usage:
            return ()
        return tuple(f"{self.application};{directive.name}" for directive in self.directives)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "application": self.application,
            "product_token": self.product_token,
            "matched_by": str(self.matched_by),
            "directives": [directive.as_dict() for directive in self.directives],
            "not_applied": [directive.as_dict() for directive in self.not_applied],
            "overrides": list(self.overrides),
            "content_usage": [
                {"value": record.text, "line": record.line} for record in self.content_usage
            ],
            "notes": [note.as_dict() for note in self.notes],
        }


# --- The set --------------------------------------------------------------------------------------


class DirectiveSet:
    """
    The app directives of a file for one application. Immutable; share it between threads.

    Only records of the groups that the application obeys are read, and of them only those that
    name it: the longest path pattern among these counts (AMB-104).
    """

    __slots__ = (
        *("_arguments", "_scoped", "_statements", "_unread"),
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
        # A record that could not be read may be for this application, and for any path.
        unread: list[Note] = []
        lines = [read_line(record, robots) for record in records]
        if not robots.profile.separate_lines:
            lines = _without_voided(lines, robots)
        for line in lines:
            if application in line.parameters:
                self._statements.append(statement_for(application, line, registries))
            elif any(note.level == "error" for note in line.notes):
                unread += line.notes
        self._unread = tuple(unread)
        entries = [(statement.line.path, at) for at, statement in enumerate(self._statements)]
        self._arguments = robots, application, token, registries
        self._scoped = ScopedSet(entries, robots, self._combine)

    def __reduce__(self) -> tuple[Any, ...]:
        return DirectiveSet, self._arguments

    def for_url(self, url: URL) -> AppDirectives:
        """
        Return the app directives for *url*: those of the longest matching path pattern.

        Shorter patterns add nothing (AMB-104). Lines that tie are combined in the order of the
        file; a later value replaces an earlier one (AMB-105).
        """
        return self._scoped.at(url)

    def for_urls(self, urls: Iterable[URL]) -> list[AppDirectives]:
        """Return the same for many URLs, mostly with one call into the engine."""
        return self._scoped.at_many(urls)

    def _combine(self, indexes: tuple[int, ...]) -> AppDirectives:
        applied: dict[str, AppDirective] = {}
        not_applied: list[AppDirective] = []
        notes: list[Note] = []
        for statement in map(self._statements.__getitem__, indexes):
            notes += statement.notes
            for directive in statement.directives:
                # A value that cannot be applied does not replace one that can.
                if directive.status is Registration.TYPE_MISMATCH:
                    not_applied.append(directive)
                    continue
                earlier = applied.get(directive.name)
                if earlier and (earlier.type, earlier.value) != (directive.type, directive.value):
                    start = split(earlier.record).start
                    notes.append(note("overridden-directive", earlier.record, start))
                applied[directive.name] = directive
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
        return True  # an empty set is a usable result

    def __repr__(self) -> str:
        return f"<DirectiveSet: {len(self)} records for {self.application}>"


def _without_voided(lines: Sequence[AppLine], robots: RobotsTxt) -> list[AppLine]:
    """
    Return lines without those whose List is void because of another line (AMB-105).

    Lines with the same path are one List (draft-nottingham-plan-b §2), and a List with a part that
    fails to parse is ignored as a whole (RFC 9651 §4.2): the path has no directives, and a shorter
    path counts.
    """
    voided = {_path_form(line, robots) for line in lines if line.is_broken}
    return [line for line in lines if line.is_broken or _path_form(line, robots) not in voided]


def _path_form(line: AppLine, robots: RobotsTxt) -> bytes | None:
    return None if line.path is None else comparison_form(line.path, robots)


def _in_order(notes: Iterable[Note]) -> tuple[Note, ...]:
    return tuple(sorted(dict.fromkeys(notes), key=lambda note: note.start))


# --- Entry points ---------------------------------------------------------------------------------


def directives_for(
    robots: RobotsTxt,
    application: str,
    *,
    product_token: Tokens | None = None,
    registries: Registries = SHIPPED,
) -> DirectiveSet:
    """
    Return the app directives of a file for an application, compiled for many URLs.

    Groups are selected by *product_token*, or by the product token that the application has
    registered; without either, the groups of `*` count (AMB-106).
    """
    require_robots_txt(robots)
    if not isinstance(application, str):
        name = type(application).__name__
        raise TypeError(f"application must be a str such as 'examplesearch', not {name}")
    parsed = parse_list(application.encode("utf-8", "backslashreplace")).value
    if not parsed or not is_token(parsed[0][0]) or str(parsed[0][0]) != application:
        raise ValueError(
            f"{application!r} is not an application identifier: pass a Token (RFC 9651 §3.3.4), "
            "which starts with a letter or '*' and has no spaces, such as 'examplesearch'"
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
    """Return the app directives of a file for an application and a URL; see `directives_for()`."""
    token, known = product_token, registries
    return directives_for(robots, application, product_token=token, registries=known).for_url(url)


def named_applications(robots: RobotsTxt) -> tuple[str, ...]:
    """Return the applications that a file names in records that can be read, each once."""
    require_robots_txt(robots)
    lines = (read_line(record, robots) for record in robots.records if record.key in KEYS)
    return tuple(dict.fromkeys(application for line in lines for application in line.parameters))


# --- Notes on a file ------------------------------------------------------------------------------


def notes(robots: RobotsTxt, registries: Registries = SHIPPED) -> Iterator[Note]:
    """Yield notes on the App-Directives records of a file, for all applications."""
    records = [record for record in robots.records if record.key in KEYS]
    regrouped, groups = robots.grouped_for(KEYS[0]), document_groups(robots, KEYS)
    star = frozenset(regrouped.select_groups("*").indices) if records else frozenset()
    obeyed: dict[str, frozenset[int]] = {}
    for record in records:
        line, group = read_line(record, robots), groups[record.line]
        record_notes = dict.fromkeys(line.notes)
        if group is None:
            record_notes[note("record-outside-group", record)] = None
        elif group not in star:
            record_notes[note("named-group-directives", record)] = None  # RECOMMENDED (§1.3)
        for application in line.parameters:
            record_notes |= dict.fromkeys(statement_for(application, line, registries).notes)
            entry = registries.applications.get(application)
            if entry is None or group is None:
                continue
            if application not in obeyed:
                chosen = regrouped.select_groups(entry.product_token or "*").indices
                obeyed[application] = frozenset(chosen)
            if group not in obeyed[application]:
                record_notes[line.note("unseen-directives")] = None
        yield from record_notes
