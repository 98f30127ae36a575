"""
RobotsTxt: one parsed robots.txt, and the questions it answers (RFC 9309).

Bytes go in, values come out. No I/O, no clock, and no exception about content: every byte string
is a robots.txt (§2.3.1.5). It does not know where the file came from or how old it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robotrules import _engine
from robotrules.errors import ProductTokenError
from robotrules.profile import Profile, Role, find_profile
from robotrules.robotstxt.ruleset import URL, RuleSet
from robotrules.robotstxt.tokens import is_product_token
from robotrules.robotstxt.values import NOTES, Group, Line, Note, Record, Rule, octets_of, shown
from robotrules.robotstxt.verdict import Because, Explanation, Match, Outcome, Verdict

Tokens = str | Sequence[str]
# How many product tokens a file remembers compiled rules for. Crawlers ask as one or a few; an
# audit that asks as thousands must not keep thousands of rule sets.
REMEMBERED = 64


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
            raise TypeError(f"a robots.txt is bytes or str, not {name}; pass response.content")
        body = octets_of(body)
    profile = find_profile(profile)
    engine = engine or _engine.engine
    document = engine.parse(body, profile.settings(engine), complete)
    return RobotsTxt(document, profile, engine, complete)


class RobotsTxt:
    """A parsed robots.txt. Immutable; share it between threads, pickle it, use it as a key."""

    __slots__ = ("_complete", "_document", "_engine", "_rule_sets", "profile")

    def __init__(self, document: Any, profile: Profile, engine: Any, complete: bool) -> None:
        self._document = document
        self._engine = engine
        self._complete = complete
        self._rule_sets: dict[Tokens, RuleSet] = {}
        self.profile = profile

    # --- Deciding -----------------------------------------------------------------------------

    def check(self, url: URL, product_token: Tokens) -> Verdict:
        """
        Return the verdict on *url* for the crawler called *product_token*.

        A crawler with several names passes them in its order of preference (AMB-30).
        """
        try:
            rules = self._rule_sets[product_token]
        except (KeyError, TypeError):
            rules = self.rules_for(product_token)
        return rules.check(url)

    def rules_for(self, product_token: Tokens) -> RuleSet:
        """Return the compiled rules that *product_token* obeys; remembered for the next call."""
        if not isinstance(product_token, str):
            product_token = tuple(product_token)
        known = self._rule_sets.get(product_token)
        if known is not None:
            return known
        groups, _ = self._choose(product_token)
        name = product_token if isinstance(product_token, str) else ", ".join(product_token)
        source = _Chosen(self, product_token, groups)
        rules = RuleSet(self._document.compile(groups), source, self.profile, name)
        if len(self._rule_sets) >= REMEMBERED:
            self._rule_sets.clear()
        return self._rule_sets.setdefault(product_token, rules)

    def select(self, product_token: Tokens) -> tuple[Group, ...]:
        """
        Return the groups a crawler obeys (§2.2.1).

        Every group that names *product_token*, compared without case. If none does, every `*`
        group. If there is none either, no group, which allows everything.
        """
        groups = self.groups
        return tuple(groups[number] for number in self._choose(product_token)[0])

    def _choose(self, product_token: Tokens) -> tuple[list[int], Because]:
        select = self._document.select
        if isinstance(product_token, str):
            self._vet(product_token)
            chosen = select(b"user-agent", octets_of(product_token))
        else:
            chosen = self._choose_among(product_token)
        if chosen and product_token != "*":
            return chosen, Because.TOKEN
        star = select(b"user-agent", b"*")
        if self.profile.first_star_group_only:
            star = star[:1]
        return star, Because.STAR if star else Because.NONE

    def _choose_among(self, tokens: Sequence[str]) -> list[int]:
        if not tokens:
            raise ProductTokenError("no product token was given: pass the crawler's name")
        chosen: set[int] = set()
        for token in tokens:
            self._vet(token)
            if token != "*":
                chosen.update(self._document.select(b"user-agent", octets_of(token)))
            if chosen and not self.profile.merge_tokens:
                break
        return sorted(chosen)

    def _vet(self, token: str) -> None:
        if not isinstance(token, str):
            name = type(token).__name__
            raise TypeError(f"a product token is a str such as 'ExampleBot', not {name}")
        if not token.strip():
            raise ProductTokenError("the product token is empty: pass the crawler's name")
        if self.profile.any_product_token or token == "*" or is_product_token(token):
            return
        raise ProductTokenError(
            f"{token!r} is no product token: RFC 9309 §2.2.1 knows letters, '_' and '-' only. "
            "robotrules.product_token() finds the token in a User-Agent header; profile 'default' "
            "compares other names literally."
        )

    def explain(self, url: URL, product_token: Tokens) -> Explanation:
        """Return how the verdict on *url* is reached: groups, normal form, winner and losers."""
        rules = self.rules_for(product_token)
        numbers, because = self._choose(product_token)
        all_groups = self.groups
        groups = tuple(all_groups[number] for number in numbers)
        home = {rule: group.index for group in groups for rule in group.rules}
        verdict = rules.check(url)
        path, found = rules.matches(url)
        matches: list[Match] = []
        every_rule = rules.rules if found else ()
        for position, _ in found:
            rule = every_rule[position]
            if all(match.rule != rule for match in matches):  # an index page matches twice (AMB-47)
                matches.append(Match(rule, _outcome(rule, verdict), home[rule]))
        spans = [(group.records[0].key_start, group.records[-1].end) for group in groups]
        notes = tuple(
            note
            for note in self.notes
            if note.line is None or any(start <= note.start <= end for start, end in spans)
        )
        text = url if isinstance(url, str) else shown(url)
        return Explanation(text, path, verdict, because, groups, tuple(matches), notes)

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
            Line(number, start, end, comment, body[start:end])
            for number, start, end, comment in self._document.lines()
        )

    @property
    def records(self) -> tuple[Record, ...]:
        """Every record in order, known to a profile or not."""
        body = self.body
        return tuple(_record(found, body) for found in self._document.records())

    @property
    def groups(self) -> tuple[Group, ...]:
        """Every group in order."""
        members: list[list[Record]] = [[] for _ in range(self._document.group_count())]
        for record in self.records:
            if record.group is not None:
                members[record.group].append(record)
        return tuple(self._group(index, records) for index, records in enumerate(members))

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was tolerated or could not be used, in the order of the file."""
        return tuple(
            Note(code, NOTES[code][0], line or None, start, end)
            for code, line, start, end in self._document.notes()
        )

    def _group(self, index: int, records: list[Record]) -> Group:
        starts = tuple(record for record in records if record.role is Role.START)
        rules = tuple(self._rule(record) for record in records if record.key in ("allow", "disallow"))
        return Group(index, starts, rules, tuple(records))

    def _record(self, number: int) -> Record:
        return _record(self._document.record(number), self.body)

    def _rule(self, record: Record) -> Rule:
        form = self._engine.normal_form(record.value, True, self.profile.settings(self._engine))
        allow, octets = record.key == "allow", len(form)
        where = record.line, record.column, record.start, record.end
        return Rule(allow, record.text, shown(form), octets, *where)

    # --- Being a value ------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RobotsTxt):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[bytes, bool, Profile]:
        return self.body, self._complete, self.profile

    def __reduce__(self) -> tuple[Any, ...]:
        return _reparse, (self.body, self.profile, self._complete)

    def __repr__(self) -> str:
        document, name = self._document, self.profile.name
        groups = document.group_count()
        return f"<RobotsTxt: {len(document.body)} octets, {groups} groups, profile {name}>"


class _Chosen:
    """The rules of chosen groups, where they are written."""

    __slots__ = ("_groups", "_numbers", "_robots", "_tokens")

    def __init__(self, robots: RobotsTxt, tokens: Tokens, groups: list[int]) -> None:
        self._robots, self._tokens, self._groups = robots, tokens, groups
        self._numbers: list[int] | None = None

    def _records(self) -> list[int]:
        if self._numbers is None:
            self._numbers = self._robots._document.rules(self._groups)
        return self._numbers

    def rule(self, number: int) -> Rule:
        return self._robots._rule(self._robots._record(self._records()[number]))

    def count(self) -> int:
        return len(self._records())

    def is_for_nobody(self) -> bool:
        return not self._groups

    def remake(self) -> tuple[Any, ...]:
        return RobotsTxt.rules_for, (self._robots, self._tokens)


def _reparse(body: bytes, profile: Profile, complete: bool) -> RobotsTxt:
    return parse(body, profile, complete=complete)


def _record(found: tuple[Any, ...], body: bytes) -> Record:
    line, line_start, key_start, key_end, start, end, key, role, group = found
    where = start, end, key_start, key_end, start - line_start + 1
    number = group if group >= 0 else None
    return Record(shown(key), body[start:end], line, Role(role), number, *where)


def _outcome(rule: Rule, verdict: Verdict) -> Outcome:
    """Say what became of a rule that matches, given what won."""
    if verdict.rule is None:
        return Outcome.NOT_CONSULTED
    if rule == verdict.rule:
        return Outcome.WINS
    if rule.octets < verdict.rule.octets:
        return Outcome.FEWER_OCTETS
    return Outcome.LATER_LINE if rule.allow == verdict.rule.allow else Outcome.ALLOW_WINS_TIE


def normal_form(
    text: str | bytes, *, pattern: bool = False, profile: str | Profile = "default"
) -> str:
    """Return the form in which a URL, or a path *pattern*, is compared (§2.2.2)."""
    profile = find_profile(profile)
    settings = profile.settings(_engine.engine)
    return shown(_engine.engine.normal_form(text, pattern, settings))
