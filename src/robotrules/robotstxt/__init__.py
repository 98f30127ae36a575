"""
RobotsTxt: a parsed robots.txt file and the queries on it (RFC 9309).

The input is bytes, the results are values. There is no I/O, no clock, and no exception about
content: every byte string is a robots.txt (§2.3.1.5). A RobotsTxt does not know its origin or age.
"""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, AnyStr, NamedTuple, cast

from robotrules import _engine
from robotrules.errors import PurposeWarning
from robotrules.octets import to_octets, to_text
from robotrules.profile import DOCUMENT_RULES, Profile, Role, find_profile
from robotrules.robotstxt.readers import load_reader
from robotrules.robotstxt.reading import Reading
from robotrules.robotstxt.ruleset import URL, RuleSet, rule_set
from robotrules.robotstxt.selection import (
    GroupChoice,
    choose_groups,
    find_groups,
    require_names,
    select_indices,
    vet_purposes,
)
from robotrules.robotstxt.tokens import CrawlerNames
from robotrules.robotstxt.tokens import Tokens as Tokens
from robotrules.robotstxt.values import (
    KEPT_BY,
    NOTES,
    QUESTION_NOTES,
    Group,
    GroupStructure,
    Line,
    Note,
    Record,
    Rule,
)
from robotrules.robotstxt.verdict import Explanation, Match, Outcome, Verdict

if TYPE_CHECKING:
    from datetime import datetime, time

    from robotrules.extensions.crawl_delay import CrawlDelay
    from robotrules.extensions.request_rate import RequestRate
    from robotrules.extensions.sitemap import Sitemap

# The key of a cached rule set: name or names, and purposes if there are any. `CrawlerNames` equal a
# tuple that selects groups by another rule, so their key has a third part.
CacheKey = (
    str
    | tuple[str, ...]
    | tuple[str | tuple[str, ...], tuple[str, ...]]
    | tuple[CrawlerNames, tuple[str, ...], bool]
)
# How many crawlers a file caches rule sets for. A crawler has one name or a few; an audit that
# checks thousands of names must not keep thousands of rule sets.
REMEMBERED = 256


def parse(
    body: str | bytes | bytearray | memoryview,
    profile: str | Profile = "default",
    *,
    complete: bool = True,
    engine: Any = None,
) -> RobotsTxt:
    """
    Parse a robots.txt. Never raises on content.

    *body* is the content. A path or a URL as a str is parsed as content too, and has no rules, so
    everything is allowed: pass `Path("robots.txt").read_bytes()` for a file, and use `Client` for a
    URL.

    *complete* is False when the body was truncated before this call: an unfinished last line is
    then ignored (AMB-12). *engine* is for tests that compare the engines.
    """
    if not isinstance(body, bytes):
        if not isinstance(body, (str, bytearray, memoryview)):
            name = type(body).__name__
            argument = "response.content"
            if hasattr(body, "read_bytes"):
                argument = "path.read_bytes()"
            elif hasattr(body, "readline"):
                argument = "file.read()"
            raise TypeError(f"a robots.txt is bytes or str, not {name}; pass {argument}")
        body = to_octets(body)
    is_cached = engine is None and isinstance(profile, str)
    parser = _get_cached_parser(profile) if is_cached else _make_parser(profile, engine)
    return parser(body, complete)


def _make_parser(profile: str | Profile, engine: Any = None) -> Callable[[bytes, bool], RobotsTxt]:
    """Return a function that parses with a profile."""
    profile, engine = find_profile(profile), engine or _engine.engine
    return partial(_make_class(engine), profile, engine, profile.settings(engine))


# Cached for profiles given by name: making a parser takes longer than parsing a small file.
_get_cached_parser = cache(_make_parser)


@cache
def _make_class(engine: Any) -> type[RobotsTxt]:
    """Return a class that is an engine's File and a RobotsTxt; the engine's methods come first."""
    slots = ("_documents", "_groups", "_records", "_structures")
    members = {"__slots__": slots, "__module__": __name__, "__doc__": RobotsTxt.__doc__}
    return cast("type[RobotsTxt]", type("RobotsTxt", (engine.File, RobotsTxt), members))


class DocumentRecords(NamedTuple):
    """The records of another document than RFC 9309, over the groups of that document (AMB-29)."""

    groups: dict[int, int | None]
    """The index of each record's group, by the record's line."""
    by_group: dict[int | None, list[Record]]
    """The records of each group, by the group's index."""


class RobotsTxt:
    """A parsed robots.txt. Immutable; share it between threads, pickle it, use it as a key."""

    # An instance is also an engine's File, so that a check with cached rules is one call into the
    # engine: see `_make_class()`. `_engine/_native.pyi` lists the hooks that an engine calls.
    __slots__ = ()
    _document: Any
    _profile: Profile
    _engine: Any
    # A decoded file cannot be parsed again from its body: pickle needs the bytes received.
    _received: bytes
    _records: tuple[Record, ...]
    _groups: tuple[Group, ...]
    _structures: dict[tuple[str, ...], RobotsTxt | None]
    _documents: dict[tuple[str, ...], DocumentRecords]
    _by_name: dict[CacheKey, RuleSet]
    _by_groups: dict[tuple[int, ...], RuleSet]

    if TYPE_CHECKING:

        def __init__(
            self, profile: Profile, engine: Any, settings: Any, body: bytes, complete: bool
        ) -> None:
            """Use `parse()`; an engine's File has the constructor."""

    @property
    def profile(self) -> Profile:
        """The profile the file was parsed with."""
        return self._profile

    # --- Verdicts -----------------------------------------------------------------------------

    def check(self, url: URL, product_token: Tokens, purposes: Sequence[str] = ()) -> Verdict:
        """
        Return the verdict on *url* for the crawler called *product_token*.

        A crawler with several names passes them in the order of preference (AMB-30). *purposes*
        apply if no group names the crawler (draft-illyes-rep-purpose §3.2, AMB-95).
        """
        raise NotImplementedError  # an engine's File implements it

    def rules_for(self, product_token: Tokens, purposes: Sequence[str] = ()) -> RuleSet:
        """Return the compiled rules that a crawler obeys; cached for the next call."""
        if purposes or not isinstance(product_token, str):
            names, purposes = require_names(product_token), vet_purposes(purposes)
            key = _make_key(names, purposes)
            if (rules := self._by_name.get(key)) is None:
                self._warn_if_not_read(purposes)
                groups, _, _ = select_indices(self._document, self._profile, names, purposes)
                rules = self._cache_rules(key, groups)
        elif (rules := self._by_name.get(product_token)) is None:
            rules = self._rules_for_new_token(product_token)
        return rules

    def _rules_for_new_token(self, token: str) -> RuleSet:
        """Return the rules for a new token. A hook of the engine's File: see `_native.pyi`."""
        return self._cache_rules(token, find_groups(self._document, self._profile, token)[0])

    def _cache_rules(self, key: CacheKey, groups: list[int]) -> RuleSet:
        """Return the rules of *groups*, compiled if necessary, and cache them under *key*."""
        by_name, by_groups = self._by_name, self._by_groups
        # Crawlers that obey the same groups share the compiled rules.
        rules = by_groups.get(indices := tuple(groups))
        if rules is None:
            rules = self._compile(groups)
        if len(by_name) >= REMEMBERED:
            by_name.clear()
            by_groups.clear()
        by_groups[indices] = by_name[key] = rules
        return rules

    def _compile(self, groups: list[int]) -> RuleSet:
        document, engine, profile = self._document, self._engine, self._profile
        source = Reading(document, engine, profile, groups)
        return rule_set(engine, document, groups, source, profile)

    def select_groups(self, product_token: Tokens, purposes: Sequence[str] = ()) -> GroupChoice:
        """
        Return the groups a crawler obeys, and how they were selected (§2.2.1).

        Every group that names *product_token*, compared case-insensitively. If no group does, every
        group that names one of *purposes*. If no group does, every `*` group. If there is no `*`
        group, the crawler obeys no group, and everything is allowed.
        """
        purposes = vet_purposes(purposes) if purposes else ()
        self._warn_if_not_read(purposes)
        return choose_groups(self, product_token, purposes)

    def _warn_if_not_read(self, purposes: Sequence[str]) -> None:
        """Warn that purposes have no effect if the profile does not read them."""
        if purposes and not self._profile.reads_purposes():
            warnings.warn(
                f"profile {self._profile.name!r} does not read User-Agent-Purpose, so purposes= "
                "changes nothing: use profile 'default', or leave purposes out",
                PurposeWarning,
                stacklevel=3,
            )

    def explain(self, url: URL, product_token: Tokens, purposes: Sequence[str] = ()) -> Explanation:
        """Return how the verdict on *url* is reached: groups, normal form, winner and losers."""
        purposes = vet_purposes(purposes) if purposes else ()
        self._warn_if_not_read(purposes)
        choice = choose_groups(self, product_token, purposes)
        groups = choice.groups
        rules = [(rule, group.index) for group in groups for rule in group.rules]
        key = _make_key(product_token, purposes)
        compiled = self._by_name.get(key) or self._cache_rules(key, list(choice.indices))
        verdict = compiled.check(url)
        path, matched = compiled.matches(url)
        # The directory of an index page may match too (AMB-47): the better match counts.
        best: dict[int, int] = {}
        for position, octets in matched:
            best.setdefault(position, octets)
        most = max(best.values(), default=0)
        matches = tuple(
            Match(rules[at][0], _find_outcome(rules[at][0], octets < most, verdict), rules[at][1])
            for at, octets in best.items()
        )
        name = product_token if isinstance(product_token, str) else ", ".join(product_token)
        if isinstance(product_token, CrawlerNames):
            name = product_token[0]  # the crawler's name; the others are fallbacks
        structures = (
            GroupStructure(
                record, choose_groups(self.grouped_for(record), product_token, purposes).groups
            )
            for record in DOCUMENT_RULES
        )
        lines = _get_lines(groups)
        return Explanation(
            url if isinstance(url, str) else to_text(url),
            path,
            name,
            choice.matched_tokens,
            verdict,
            choice.matched_by,
            groups,
            matches,
            self._find_notes(choice, purposes),
            tuple(purposes),
            choice.matched_purposes,
            group_structures=tuple(
                structure for structure in structures if _get_lines(structure.groups) != lines
            ),
        )

    def _find_notes(self, choice: GroupChoice, purposes: Sequence[str]) -> tuple[Note, ...]:
        """Return the notes on the chosen groups, on the file as a whole, and on the query."""
        starts, obeyed = [group.records[0].key_start for group in self.groups], set(choice.indices)
        # A line that is not a record belongs to the group around it, up to the next group's start.
        notes = tuple(
            note
            for note in self.notes
            if note.line is None or bisect_right(starts, note.start) - 1 in obeyed
        )
        if purposes and not self._profile.reads_purposes():
            code = "purposes-not-read"
            notes += (Note(code, QUESTION_NOTES[code][0], None, 0, 0),)
        return notes

    # --- Other records ------------------------------------------------------------------------

    @property
    def sitemaps(self) -> tuple[Sitemap, ...]:
        """The sitemaps in the order of the file, each once; see `robotrules.sitemaps()`."""
        sitemaps: tuple[Sitemap, ...] = load_reader("sitemaps")(self)
        return sitemaps

    def crawl_delay(
        self, product_token: Tokens, purposes: Sequence[str] = (), *, star: bool = False
    ) -> CrawlDelay | None:
        """Return the delay requested of a crawler, or None; see `robotrules.crawl_delay()`."""
        read = load_reader("crawl_delay")
        delay: CrawlDelay | None = read(self, product_token, purposes, star=star)
        return delay

    def request_rate(
        self,
        product_token: Tokens,
        purposes: Sequence[str] = (),
        *,
        at: time | datetime | None = None,
    ) -> RequestRate | None:
        """
        Return the slowest rate requested of a crawler, or None; see `robotrules.request_rates()`.

        *at* is a time of day in UTC; rates for other hours are then ignored.
        """
        rates = load_reader("request_rates")(self, product_token, purposes)
        applicable = (rate for rate in rates if at is None or rate.applies(at))
        return max(applicable, key=lambda rate: rate.seconds, default=None)

    def clean_url(self, url: AnyStr) -> AnyStr:
        """Return *url* without the parameters in Clean-param; see `robotrules.clean_url()`."""
        clean: AnyStr = load_reader("clean_url")(self, url)
        return clean

    # --- Content ------------------------------------------------------------------------------

    @property
    def body(self) -> bytes:
        """The octets that were parsed; all positions refer to them."""
        body: bytes = self._document.body
        return body

    @property
    def lines(self) -> tuple[Line, ...]:
        """Every line that was read, including comments and blank lines."""
        body = self.body
        return tuple(
            [
                _new(Line, (number, start, end, comment, body[start:end]))
                for number, start, end, comment in self._document.lines()
            ]
        )

    @property
    def records(self) -> tuple[Record, ...]:
        """Every record in the order of the file, whether the profile knows its name or not."""
        try:
            return self._records
        except AttributeError:  # cached: every extension reader reads all records
            self._records = self._make_reading().records()  # type: ignore[misc]  # a slot of that class
            return self._records

    @property
    def groups(self) -> tuple[Group, ...]:
        """Every group in the order of the file."""
        try:
            return self._groups
        except AttributeError:  # cached: callers select the groups of one crawler after another
            self._groups = self._make_groups()  # type: ignore[misc]  # a slot of that class
            return self._groups

    def _make_groups(self) -> tuple[Group, ...]:
        members: list[list[Record]] = [[] for _ in range(self._document.group_count())]
        for record in self.records:
            if record.group is not None:
                members[record.group].append(record)
        as_rules = self._make_reading().as_rules
        return tuple(
            Group(
                index,
                tuple(record for record in records if record.role is Role.START),
                as_rules(record for record in records if record.is_rule),
                tuple(records),
            )
            for index, records in enumerate(members)
        )

    def grouped_for(self, record: str) -> RobotsTxt:
        """
        Return the file with the groups in which records of this name are read (AMB-29).

        The documents that define App-Directives and Content-Usage make them rules, so that a
        user-agent line after such a record starts a new group. For other records, and if the groups
        are the same, the result is the file itself.
        """
        if not isinstance(record, str):
            raise TypeError(f"a record's name is a str, not {type(record).__name__}")
        keys = _KEYS_OF_DOCUMENTS.get(record.lower())
        if keys is None:
            return self
        try:
            structures = self._structures
        except AttributeError:
            structures = self._structures = {}  # type: ignore[misc]  # a slot of that class
        if keys not in structures:
            regrouped = None  # not `self`: that would be a reference cycle
            if _are_groups_split(self.records, keys):
                parser = _make_parser(_with_rules(self._profile, keys), self._engine)
                regrouped = parser(self._received, self._document.complete)
            structures[keys] = regrouped
        return structures[keys] or self

    def _document_records(self, keys: Sequence[str]) -> DocumentRecords:
        """Return the records of a document over that document's groups (AMB-29); cached."""
        keys = tuple(keys)
        try:
            documents = self._documents
        except AttributeError:
            documents = self._documents = {}  # type: ignore[misc]  # a slot of that class
        if keys not in documents:
            # Both structures have the same records: only roles and groups differ.
            groups = {r.line: r.group for r in self.grouped_for(keys[0]).records if r.key in keys}
            by_group: dict[int | None, list[Record]] = {}
            for record in self.records:
                if record.key in keys:
                    by_group.setdefault(groups[record.line], []).append(record)
            documents[keys] = DocumentRecords(groups, by_group)
        return documents[keys]

    @property
    def group_structures(self) -> tuple[GroupStructure, ...]:
        """The group structures that differ from `groups`, each with the record it applies to."""
        files = ((record, self.grouped_for(record)) for record in DOCUMENT_RULES)
        return tuple(
            GroupStructure(record, regrouped.groups)
            for record, regrouped in files
            if regrouped is not self
        )

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on what the parser tolerated or ignored, in the order of the file."""
        notes = self._document.notes()
        levels = {code: self._find_level(code) for code in {code for code, *_ in notes}}
        return tuple(
            [
                _new(Note, (code, levels[code], line or None, start, end))
                for code, line, start, end in notes
            ]
        )

    def _find_level(self, code: str) -> str:
        is_ignored = code in KEPT_BY and not getattr(self._profile, KEPT_BY[code])
        return "error" if is_ignored else NOTES[code][0]

    def _make_reading(self) -> Reading:
        return Reading(self._document, self._engine, self._profile, [])

    # --- Equality, pickling -------------------------------------------------------------------

    def _identity(self) -> tuple[bytes, Profile, bool]:
        return self.body, self._profile, self._document.complete

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RobotsTxt):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __reduce__(self) -> tuple[Any, ...]:
        _, profile, complete = self._identity()
        return _reparse, (self._received, profile, complete)

    def __repr__(self) -> str:
        count, name = self._document.group_count(), self._profile.name
        return f"<RobotsTxt: {len(self.body)} octets, {count} groups, profile {name}>"


def _reparse(body: bytes, profile: Profile, complete: bool) -> RobotsTxt:
    return parse(body, profile, complete=complete)


# Faster than the constructor of a named tuple: a file may have 250,000 lines; see `reading`.
_new = tuple.__new__
# The names of the record that each document makes a rule, by each of these names.
_KEYS_OF_DOCUMENTS = {key: keys for keys in DOCUMENT_RULES.values() for key in keys}
_with_rules = lru_cache(REMEMBERED)(Profile.with_rules)


def _are_groups_split(records: Iterable[Record], keys: tuple[str, ...]) -> bool:
    """Tell whether a user-agent line joins a group by RFC 9309, but not if *keys* are rules."""
    in_user_agents = has_key = False
    for record in records:
        if record.role is Role.START:
            if in_user_agents and has_key:
                return True
            in_user_agents, has_key = True, False
        elif record.role is Role.RULE:
            in_user_agents = False
        elif record.key in keys:
            has_key = True
    return False


def _get_lines(groups: tuple[Group, ...]) -> list[tuple[int, int]]:
    return [group.lines for group in groups]


def _make_key(names: Tokens, purposes: Sequence[str]) -> CacheKey:
    """Return the key under which the rule set of a crawler is cached."""
    if isinstance(names, CrawlerNames):
        return names, tuple(purposes), names.ignores_star
    name = names if isinstance(names, str) else tuple(names)
    return (name, tuple(purposes)) if purposes else name


def _find_outcome(rule: Rule, shorter: bool, verdict: Verdict) -> Outcome:
    """Return the outcome for a rule that matches, given the verdict."""
    if verdict.rule is None:
        return Outcome.NOT_CONSULTED
    if rule == verdict.rule:
        return Outcome.WINS
    if shorter:
        return Outcome.FEWER_OCTETS
    return Outcome.LATER_LINE if rule.allow == verdict.rule.allow else Outcome.ALLOW_WINS_TIE


def normalize_path(
    text: str | bytes, *, pattern: bool = False, profile: str | Profile = "default"
) -> str:
    """Return the form in which a URL, or a path *pattern*, is compared (§2.2.2)."""
    profile = find_profile(profile)
    settings = profile.settings(_engine.engine)
    return to_text(_engine.engine.normal_form(text, pattern, settings))
