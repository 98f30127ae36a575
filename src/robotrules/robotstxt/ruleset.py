"""
RuleSet: the compiled rules of the groups one product token obeys (RFC 9309 §2.2.2).

Compiled once, immutable, shared between threads. Built from groups and not from a token, so that
path-scoped records of extensions use the same matcher: they ask `best()`, which reports ties. It
does not know how groups are chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from robotrules._engine import engine as default_engine
from robotrules.profile import Profile, find_profile
from robotrules.robotstxt.values import Rule, octets_of, shown
from robotrules.robotstxt.verdict import Reason, Verdict

URL = str | bytes
# The engine's answer for `/robots.txt`; any other negative number says that no rule matches.
IMPLICIT = -2


class RuleSet:
    """Rules ready to be asked. Equal when made of the same rules under the same profile."""

    __slots__ = (
        "_decide",
        "_grouped",
        "_load_rule",
        "_matcher",
        "_remake",
        "_rule_count",
        "_verdicts",
        "product_token",
        "profile",
    )

    def __init__(
        self,
        matcher: Any,
        profile: Profile,
        product_token: str,
        load_rule: Callable[[int], Rule],
        rule_count: Callable[[], int],
        remake: tuple[Any, ...],
        grouped: bool = True,
    ) -> None:
        self._matcher = matcher
        self._decide = matcher.decide
        self._load_rule = load_rule
        self._rule_count = rule_count
        self._remake = remake
        self._grouped = grouped
        # A verdict does not depend on the URL, only on what decided: each is made once.
        self._verdicts: dict[int, Verdict] = {}
        self.profile = profile
        self.product_token = product_token

    @classmethod
    def from_patterns(
        cls, patterns: Iterable[str | bytes], profile: str | Profile = "default", engine: Any = None
    ) -> RuleSet:
        """Compile path patterns of any record; `best(url)` gives the positions of those that win."""
        profile, engine = find_profile(profile), engine or default_engine
        octets = [octets_of(pattern) for pattern in patterns]
        settings = profile.settings(engine)
        matcher = engine.compile([(pattern, True) for pattern in octets], settings)

        def rule(number: int) -> Rule:
            form = engine.normal_form(octets[number], True, settings)
            return Rule(True, shown(octets[number]), shown(form), len(form), 0, 0, 0, 0)

        remake = cls.from_patterns, (octets, profile)
        return cls(matcher, profile, "*", rule, octets.__len__, remake)

    def allows(self, url: URL) -> bool:
        """Tell whether the rules allow *url*: the hot path."""
        allowed: bool = self._matcher.allows(url)
        return allowed

    def allows_many(self, urls: Iterable[URL]) -> list[bool]:
        """Tell it for many URLs with one crossing into the engine."""
        allowed: list[bool] = self._matcher.allows_many(urls)
        return allowed

    def check(self, url: URL) -> Verdict:
        """Return the verdict for *url*, with its reason and the deciding rule."""
        number = self._decide(url)
        try:
            return self._verdicts[number]
        except KeyError:
            return self._verdict(number)

    def check_many(self, urls: Iterable[URL]) -> list[Verdict]:
        """Return the verdicts for many URLs with one crossing into the engine."""
        numbers = self._matcher.decide_many(urls)
        verdicts = {number: self._verdict(number) for number in set(numbers)}
        return [verdicts[number] for number in numbers]

    def best(self, url: URL) -> tuple[int, ...]:
        """Return the positions of the rules that match with the most octets: those that tie."""
        return tuple(self._matcher.best(url))

    def matches(self, url: URL) -> tuple[str, tuple[tuple[int, int], ...]]:
        """Return the URL's path in normal form, and each match: position of the rule, octets."""
        path, found = self._matcher.matches(url)
        return shown(path), tuple(found)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules in the order of the file, those that can never match included."""
        return tuple(self._load_rule(number) for number in range(self._rule_count()))

    def _verdict(self, number: int) -> Verdict:
        known = self._verdicts.get(number)
        if known is not None:
            return known
        rule = self._load_rule(number) if number >= 0 else None
        if rule is not None and rule.octets:
            allowed, reason = rule.allow, Reason.ALLOW_RULE if rule.allow else Reason.DISALLOW_RULE
        else:
            allowed, reason = True, self._reason_without_rule(number)
        verdict = Verdict(allowed, reason, rule, self.profile.name, self.product_token)
        return self._verdicts.setdefault(number, verdict)

    def _reason_without_rule(self, number: int) -> Reason:
        if number >= 0:
            return Reason.EMPTY_RULE
        if number == IMPLICIT:
            return Reason.IMPLICIT
        if len(self._matcher):
            return Reason.NO_MATCH
        return Reason.NO_RULES if self._grouped else Reason.NO_GROUP

    def __len__(self) -> int:
        return self._rule_count()

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RuleSet):
            return NotImplemented
        mine, theirs = (self.rules, self.profile), (other.rules, other.profile)
        return mine == theirs and self.product_token == other.product_token

    def __hash__(self) -> int:
        return hash((self.rules, self.profile, self.product_token))

    def __repr__(self) -> str:
        token, name = self.product_token, self.profile.name
        return f"<RuleSet for {token!r}: {len(self)} rules, profile {name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return self._remake
