"""
RobotsTxt: one parsed robots.txt, and the questions it answers (RFC 9309).

Bytes go in, values come out. No I/O, no clock, and no exception about content: every byte string
is a robots.txt (§2.3.1.5). It does not know where the file came from or how old it is.
"""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, AnyStr, NamedTuple

from robotrules import _engine
from robotrules.errors import ProductTokenError, PurposeWarning
from robotrules.octets import to_octets, to_text
from robotrules.profile import DOCUMENT_RULES, Profile, Role, find_profile
from robotrules.robotstxt.readers import reader
from robotrules.robotstxt.reading import Reading
from robotrules.robotstxt.ruleset import URL, RuleSet, rule_set
from robotrules.robotstxt.tokens import (
    CrawlerNames,
    are_names,
    is_compared_whole,
    leading_name,
    vetted_name,
    wrong_type,
)
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
from robotrules.robotstxt.verdict import Explanation, GroupMatch, Match, Outcome, Verdict

if TYPE_CHECKING:
    from datetime import datetime, time

    from robotrules.extensions.crawl_delay import CrawlDelay
    from robotrules.extensions.request_rate import RequestRate
    from robotrules.extensions.sitemap import Sitemap

Tokens = str | Sequence[str]
# The groups that a crawler obeys, by number; why these; and its names, or purposes, they have.
Choice = tuple[list[int], GroupMatch, tuple[str, ...]]
# What rule sets are remembered by: name or names, and purposes if there are any.
# Those of a well-known crawler equal a tuple that chooses otherwise, and have a third part.
Name = (
    str
    | tuple[str, ...]
    | tuple[str | tuple[str, ...], tuple[str, ...]]
    | tuple[CrawlerNames, tuple[str, ...], bool]
)
# How many names a file remembers rule sets for. Crawlers ask as one or a few; an audit
# that asks as thousands must not keep thousands.
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

    *complete* is False when the body was cut before it got here: an unfinished last line is then
    not used (AMB-12). *engine* is for tests that compare the engines.
    """
    if not isinstance(body, bytes):
        if not isinstance(body, (str, bytearray, memoryview)):
            name = type(body).__name__
            cure = "response.content"
            if hasattr(body, "read_bytes"):
                cure = "path.read_bytes()"
            elif hasattr(body, "readline"):
                cure = "file.read()"
            raise TypeError(f"a robots.txt is bytes or str, not {name}; pass {cure}")
        body = to_octets(body)
    usual = engine is None and isinstance(profile, str)
    read = _usual_reader(profile) if usual else _reader(profile, engine)
    return read(body, complete)


def _reader(profile: str | Profile, engine: Any = None) -> Callable[[bytes, bool], RobotsTxt]:
    """Return what parses under a profile."""
    profile, engine = find_profile(profile), engine or _engine.engine
    return partial(_class_of(engine), profile, engine, profile.settings(engine))


# The same for a profile by name, made once: a small file is parsed in less time than it takes.
_usual_reader = cache(_reader)


@cache
def _class_of(engine: Any) -> Any:
    """Return the class that is an engine's File and a RobotsTxt; the engine's methods first."""
    slots = ("_documents", "_groups", "_records", "_structures")
    members = {"__slots__": slots, "__module__": __name__, "__doc__": RobotsTxt.__doc__}
    return type("RobotsTxt", (engine.File, RobotsTxt), members)


class _DocumentRecords(NamedTuple):
    """The records of one document beside RFC 9309, over the groups of that document."""

    groups: dict[int, int | None]
    """The number of each record's group, by the record's line."""
    by_group: dict[int | None, list[Record]]


class RobotsTxt:
    """A parsed robots.txt. Immutable; share it between threads, pickle it, use it as a key."""

    # Instances are also instances of an engine's File, so that a check for a known token is one
    # call: see `_class_of()`. `_engine/_native.pyi` lists the hooks that an engine calls.
    __slots__ = ()
    _document: Any
    _profile: Profile
    _engine: Any
    # What was decoded cannot be parsed again from its octets: pickle needs what was received.
    _received: bytes
    _records: tuple[Record, ...]
    _groups: tuple[Group, ...]
    _structures: dict[tuple[str, ...], RobotsTxt | None]
    _documents: dict[tuple[str, ...], _DocumentRecords]
    _by_name: dict[Name, RuleSet]
    _by_groups: dict[tuple[int, ...], RuleSet]

    @property
    def profile(self) -> Profile:
        """The profile it was read with."""
        return self._profile

    # --- Deciding -----------------------------------------------------------------------------

    def check(self, url: URL, product_token: Tokens, purposes: Sequence[str] = ()) -> Verdict:
        """
        Return the verdict on *url* for the crawler called *product_token*.

        A crawler with several names passes them in its order of preference (AMB-30). *purposes*
        count where no group names it (draft-illyes-rep-purpose §3.2, AMB-95).
        """
        raise NotImplementedError  # an engine's File has it

    def rules_for(self, product_token: Tokens, purposes: Sequence[str] = ()) -> RuleSet:
        """Return the compiled rules that a crawler obeys; remembered for the next call."""
        if purposes or not isinstance(product_token, str):
            names, purposes = _vet_names(product_token), _vet_purposes(purposes)
            key = _key_of(names, purposes)
            if (rules := self._by_name.get(key)) is None:
                self._warn_of(purposes)
                rules = self._remembered(key, self._choose(names, purposes)[0])
        elif (rules := self._by_name.get(product_token)) is None:
            rules = self._rules_for_new_token(product_token)
        return rules

    def _rules_for_new_token(self, token: str) -> RuleSet:
        """Return the rules for a new token. A hook of the engine's File: see `_native.pyi`."""
        return self._remembered(token, self._obeyed(token)[0])

    def _remembered(self, key: Name, groups: list[int]) -> RuleSet:
        """Return the rules of some groups, to be found by a name from now on."""
        by_name, by_groups = self._by_name, self._by_groups
        # Crawlers that obey the same groups share what is compiled.
        rules = by_groups.get(numbers := tuple(groups))
        if rules is None:
            document, engine, profile = self._document, self._engine, self._profile
            source = Reading(document, engine, profile, groups)
            rules = rule_set(engine, document, groups, source, profile)
        if len(by_name) >= REMEMBERED:
            by_name.clear()
            by_groups.clear()
        by_groups[numbers] = by_name[key] = rules
        return rules

    def select(self, product_token: Tokens, purposes: Sequence[str] = ()) -> tuple[Group, ...]:
        """
        Return the groups a crawler obeys (§2.2.1).

        Every group that names *product_token*, compared without case. If none does, every group
        that names one of *purposes*. If none does, every `*` group. If there is none either, no
        group, which allows everything.
        """
        purposes = _vet_purposes(purposes) if purposes else ()
        self._warn_of(purposes)
        return self._chosen(product_token, purposes)

    def _chosen(self, product_token: Tokens, purposes: Sequence[str]) -> tuple[Group, ...]:
        groups = self.groups
        return tuple(groups[number] for number in self._choose(product_token, purposes)[0])

    def _warn_of(self, purposes: Sequence[str]) -> None:
        """Say that purposes change nothing where the profile does not read them."""
        if purposes and not self._profile.reads_purposes():
            warnings.warn(
                f"profile {self._profile.name!r} does not read User-Agent-Purpose, so purposes= "
                "changes nothing: use profile 'default', or leave purposes out",
                PurposeWarning,
                stacklevel=3,
            )

    def _choose(self, product_token: Tokens, purposes: Sequence[str] = ()) -> Choice:
        """Choose the groups a crawler obeys: by its name, else its purposes, else the star."""
        if isinstance(product_token, str):
            name = vetted_name(product_token, self._profile)
            star, is_named = self._obeyed(name)
            if is_named:
                return star, GroupMatch.TOKEN, (name,)
        elif isinstance(product_token, CrawlerNames):
            for token in product_token:
                # Where the grammar decides what a name is, MJ12bot is MJ, and 360Spider nobody. Of
                # a name with spaces parsers read the first word (AMB-21).
                whole = is_compared_whole(token, self._profile)
                name = token if whole else leading_name(token)
                if name and (groups := self._named_by(name)):
                    return groups, GroupMatch.TOKEN, (token,)
            star = [] if product_token.ignores_star else self._obeyed("*")[0]
        else:
            groups, named = self._choose_among(tuple(_vet_names(product_token)))
            if groups:
                return groups, GroupMatch.TOKEN, named
            star, _ = self._obeyed("*")
        if purposes:
            found = {
                purpose: self._document.select(b"user-agent-purpose", purpose)
                for purpose in purposes
                if purpose != "*"  # names nobody (AMB-97)
            }
            matched = tuple(purpose for purpose, groups in found.items() if groups)
            if matched:
                merged = sorted({number for groups in found.values() for number in groups})
                return merged, GroupMatch.PURPOSE, matched
        return star, GroupMatch.STAR if star else GroupMatch.NONE, ()

    def _obeyed(self, token: str) -> tuple[list[int], bool]:
        """Return the groups that name a crawler, and True; or the star's, and False."""
        if not (token.isalpha() and token.isascii()):  # most are letters only, which is in order
            token = vetted_name(token, self._profile)
        found: tuple[list[int], bool] = self._document.choose(token)
        if self._profile.first_star_group_only and not found[1]:
            return found[0][:1], False
        return found

    def _choose_among(self, tokens: tuple[str, ...]) -> tuple[list[int], tuple[str, ...]]:
        if not tokens:
            raise ProductTokenError("no product token was given: pass the crawler's name")
        tokens = tuple(vetted_name(token, self._profile) for token in tokens)
        chosen: set[int] = set()
        named: tuple[str, ...] = ()
        for token in tokens:
            groups = self._named_by(token)
            if groups and (self._profile.merge_tokens or not named):
                chosen.update(groups)
                named += (token,)
        return sorted(chosen), named

    def _named_by(self, token: str) -> list[int]:
        """Return the numbers of the groups that name *token*; the star is nobody's name."""
        return self._document.select(b"user-agent", token) if token != "*" else []

    def explain(self, url: URL, product_token: Tokens, purposes: Sequence[str] = ()) -> Explanation:
        """Return how the verdict on *url* is reached: groups, normal form, winner and losers."""
        purposes = _vet_purposes(purposes) if purposes else ()
        self._warn_of(purposes)
        numbers, because, named = self._choose(product_token, purposes)
        all_groups = self.groups
        groups = tuple(all_groups[number] for number in numbers)
        rules = [(rule, group.index) for group in groups for rule in group.rules]
        key = _key_of(product_token, purposes)
        compiled = self._by_name.get(key) or self._remembered(key, numbers)
        verdict = compiled.check(url)
        path, found = compiled.matches(url)
        # Of an index page the directory may match too (AMB-47): its better match counts.
        best: dict[int, int] = {}
        for position, octets in found:
            best.setdefault(position, octets)
        most = max(best.values(), default=0)
        matches = tuple(
            Match(rules[at][0], _outcome(rules[at][0], octets < most, verdict), rules[at][1])
            for at, octets in best.items()
        )
        starts = [group.records[0].key_start for group in all_groups]
        obeyed = frozenset(numbers)
        # A line that is no record is of the group it stands in, up to the next one's first line.
        notes = tuple(
            note
            for note in self.notes
            if note.line is None or bisect_right(starts, note.start) - 1 in obeyed
        )
        if purposes and not self._profile.reads_purposes():
            code = "purposes-not-read"
            notes += (Note(code, QUESTION_NOTES[code][0], None, 0, 0),)
        text = url if isinstance(url, str) else to_text(url)
        name = product_token if isinstance(product_token, str) else ", ".join(product_token)
        if isinstance(product_token, CrawlerNames):
            name = product_token[0]  # what it is called; the others are where it looks next
        by_purpose = because is GroupMatch.PURPOSE
        structures = (
            GroupStructure(name, self.grouped_for(name)._chosen(product_token, purposes))
            for name in DOCUMENT_RULES
        )
        lines = _lines_of(groups)
        return Explanation(
            text,
            path,
            name,
            () if by_purpose else named,
            verdict,
            because,
            groups,
            matches,
            notes,
            tuple(purposes),
            named if by_purpose else (),
            group_structures=tuple(one for one in structures if _lines_of(one.groups) != lines),
        )

    # --- What other records say -----------------------------------------------------------------

    @property
    def sitemaps(self) -> tuple[Sitemap, ...]:
        """The sitemaps of the file in its order, each once; see `robotrules.sitemaps()`."""
        found: tuple[Sitemap, ...] = reader("sitemaps")(self)
        return found

    def crawl_delay(
        self, product_token: Tokens, purposes: Sequence[str] = (), *, star: bool = False
    ) -> CrawlDelay | None:
        """Return the delay asked of a crawler, or None; see `robotrules.crawl_delay()`."""
        found: CrawlDelay | None = reader("crawl_delay")(self, product_token, purposes, star=star)
        return found

    def request_rate(
        self,
        product_token: Tokens,
        purposes: Sequence[str] = (),
        *,
        at: time | datetime | None = None,
    ) -> RequestRate | None:
        """
        Return the politest rate asked of a crawler, or None; see `robotrules.request_rates()`.

        *at* is a time of day in UTC: rates for other hours do not count then.
        """
        rates = reader("request_rates")(self, product_token, purposes)
        counting = (rate for rate in rates if at is None or rate.applies(at))
        return max(counting, key=lambda rate: rate.seconds, default=None)

    def clean_url(self, url: AnyStr) -> AnyStr:
        """Return a URL without the parameters that Clean-param names; `robotrules.clean_url()`."""
        clean: AnyStr = reader("clean_url")(self, url)
        return clean

    # --- What was written ---------------------------------------------------------------------

    @property
    def body(self) -> bytes:
        """The octets that were parsed; every span points into them."""
        body: bytes = self._document.body
        return body

    @property
    def lines(self) -> tuple[Line, ...]:
        """Every line that was read, comments and blank ones included."""
        body = self.body
        return tuple(
            [
                _new(Line, (number, start, end, comment, body[start:end]))
                for number, start, end, comment in self._document.lines()
            ]
        )

    @property
    def records(self) -> tuple[Record, ...]:
        """Every record in order, known to a profile or not."""
        try:
            return self._records
        except AttributeError:  # extension readers ask again and again
            self._records = self._reading().records()  # type: ignore[misc]  # a slot of that class
            return self._records

    @property
    def groups(self) -> tuple[Group, ...]:
        """Every group in order."""
        try:
            return self._groups
        except AttributeError:  # who asks for one crawler's groups asks for another's
            self._groups = self._made_groups()  # type: ignore[misc]  # a slot of that class
            return self._groups

    def _made_groups(self) -> tuple[Group, ...]:
        members: list[list[Record]] = [[] for _ in range(self._document.group_count())]
        for record in self.records:
            if record.group is not None:
                members[record.group].append(record)
        as_rules = self._reading().as_rules
        return tuple(
            Group(
                index,
                tuple(record for record in records if record.role is Role.START),
                as_rules(one for one in records if one.is_rule),
                tuple(records),
            )
            for index, records in enumerate(members)
        )

    def grouped_for(self, record: str) -> RobotsTxt:
        """
        Return the file with the groups over which records of a name are read (AMB-29).

        App-Directives and Content-Usage are rules in their own documents, where a user-agent line
        after one opens a new group. For other records, and where that makes no difference, this
        is the file itself.
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
            regrouped = None  # and not itself: a file that holds itself is a cycle
            if _parts_user_agents(self.records, keys):
                read = _reader(_with_rules(self._profile, keys), self._engine)
                regrouped = read(self._received, self._document.complete)
            structures[keys] = regrouped
        return structures[keys] or self

    def _document_records(self, keys: Sequence[str]) -> _DocumentRecords:
        """Return the records of a document's names over its own groups (AMB-29), read once."""
        keys = tuple(keys)
        try:
            documents = self._documents
        except AttributeError:
            documents = self._documents = {}  # type: ignore[misc]  # a slot of that class
        if keys not in documents:
            # Both readings have the same records: only roles and groups differ.
            groups = {r.line: r.group for r in self.grouped_for(keys[0]).records if r.key in keys}
            by_group: dict[int | None, list[Record]] = {}
            for record in self.records:
                if record.key in keys:
                    by_group.setdefault(groups[record.line], []).append(record)
            documents[keys] = _DocumentRecords(groups, by_group)
        return documents[keys]

    @property
    def group_structures(self) -> tuple[GroupStructure, ...]:
        """The group structures that differ from `groups`, with the record that each is for."""
        views = ((name, self.grouped_for(name)) for name in DOCUMENT_RULES)
        return tuple(GroupStructure(name, one.groups) for name, one in views if one is not self)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was tolerated or could not be used, in the order of the file."""
        found = self._document.notes()
        levels = {code: self._level(code) for code in {code for code, *_ in found}}
        return tuple(
            [
                _new(Note, (code, levels[code], line or None, start, end))
                for code, line, start, end in found
            ]
        )

    def _level(self, code: str) -> str:
        unused = code in KEPT_BY and not getattr(self._profile, KEPT_BY[code])
        return "error" if unused else NOTES[code][0]

    def _reading(self) -> Reading:
        return Reading(self._document, self._engine, self._profile, [])

    # --- Being a value ------------------------------------------------------------------------

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


# A file may have a quarter of a million lines; see `reading`.
_new = tuple.__new__
# The keys that count as rules where a record is read, by each of them.
_KEYS_OF_DOCUMENTS = {key: keys for keys in DOCUMENT_RULES.values() for key in keys}
_with_rules = lru_cache(REMEMBERED)(Profile.with_rules)


def _parts_user_agents(records: Iterable[Record], keys: tuple[str, ...]) -> bool:
    """Tell whether a user-agent line joins a group by RFC 9309, and not where *keys* are rules."""
    listing = ended = False
    for record in records:
        if record.role is Role.START:
            if listing and ended:
                return True
            listing, ended = True, False
        elif record.role is Role.RULE:
            listing = False
        elif record.key in keys:
            ended = True
    return False


def _lines_of(groups: tuple[Group, ...]) -> list[tuple[int, int]]:
    return [group.lines for group in groups]


def _vet_names(product_token: Tokens) -> Tokens:
    if not are_names(product_token):
        raise wrong_type(product_token)
    return product_token


def _key_of(names: Tokens, purposes: Sequence[str]) -> Name:
    """Return what the rule set of a crawler is remembered by."""
    if isinstance(names, CrawlerNames):
        return names, tuple(purposes), names.ignores_star
    name = names if isinstance(names, str) else tuple(names)
    return (name, tuple(purposes)) if purposes else name


def _vet_purposes(purposes: Sequence[str]) -> tuple[str, ...]:
    many = not isinstance(purposes, (str, bytes)) and isinstance(purposes, Iterable)
    purposes = tuple(purposes) if many else purposes
    if not many or not all(isinstance(purpose, str) for purpose in purposes):
        form = "purposes are a list of str such as ['EXAMPLE-PURPOSE-1']"
        raise TypeError(f"{form}, not {purposes!r}")
    # Only what the parser trims is empty (RFC 9309 §2.2): a file may have U+00A0 for a purpose, and
    # whoever asks for all that a file names passes it on.
    if not all(purpose.strip(" \t") for purpose in purposes):
        raise ProductTokenError("a purpose is empty: leave it out, or pass its registered token")
    return tuple(dict.fromkeys(purposes))


def _outcome(rule: Rule, shorter: bool, verdict: Verdict) -> Outcome:
    """Say what became of a rule that matches, given what won."""
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
