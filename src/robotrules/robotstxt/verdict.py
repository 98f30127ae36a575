"""
Verdict and Explanation: the decision on a URL, the deciding rule, and the other matches.

Both are values. A verdict is about rules that a site asks crawlers to honour; it is not a form of
access authorization (RFC 9309 §1).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from robotrules.robotstxt.values import Group, GroupStructure, Note, Rule

# Increased when a field of `Explanation.as_dict()` changes its meaning or is removed.
SCHEMA_VERSION = 1


class Reason(StrEnum):
    """The reason for a verdict, as a code that programs can switch on."""

    ALLOW_RULE = "allow-rule"
    """An allow rule matches with the most octets, or ties with a disallow rule."""
    DISALLOW_RULE = "disallow-rule"
    """A disallow rule matches with more octets than any allow rule."""
    NO_MATCH = "no-match"
    """The groups have rules, but none matches (§2.2.2)."""
    NO_RULES = "no-rules"
    """The groups have no rule that can match (§2.2.2)."""
    NO_GROUP = "no-group"
    """No group names the product token, and there is no star group (§2.2.1)."""
    IMPLICIT = "implicitly-allowed"
    """`/robots.txt` is always allowed (§2.2.2)."""
    EMPTY_RULE = "empty-rule"
    """Profile google: an empty rule is the matched line (AMB-42)."""
    UNAVAILABLE = "unavailable"
    """There is no robots.txt, so everything is allowed (§2.3.1.3)."""
    UNREACHABLE = "unreachable"
    """The robots.txt cannot be fetched, so nothing is allowed (§2.3.1.4)."""
    RESTRICTED = "restricted"
    """The robots.txt returns 401 or 403, and the client treats that as disallow (AMB-51)."""
    NO_ORIGIN = "no-origin"
    """Not an http or https URL with a host: no robots.txt applies, and nothing is fetched."""

    @property
    def sentence(self) -> str:
        """The reason as a phrase."""
        return _SENTENCES[self]


# The reasons that disallow.
DISALLOWING = frozenset(
    (Reason.DISALLOW_RULE, Reason.UNREACHABLE, Reason.RESTRICTED, Reason.NO_ORIGIN)
)
_SENTENCES = {
    Reason.ALLOW_RULE: "an allow rule is the most specific match",
    Reason.DISALLOW_RULE: "a disallow rule is the most specific match",
    Reason.NO_MATCH: "no rule matches",
    Reason.NO_RULES: "the group has no rules",
    Reason.NO_GROUP: "no group is for this crawler",
    Reason.IMPLICIT: "/robots.txt is always allowed",
    Reason.EMPTY_RULE: "an empty rule matches everything",
    Reason.UNAVAILABLE: "there is no robots.txt",
    Reason.UNREACHABLE: "the robots.txt is unreachable",
    Reason.RESTRICTED: "the robots.txt answers 401 or 403",
    Reason.NO_ORIGIN: "not an http or https URL with a host",
}


class RuleSource(Protocol):
    """The rules of a rule set as values, made on demand."""

    def rule(self, number: int) -> Rule:
        """Return a rule."""

    def rules(self) -> tuple[Rule, ...]:
        """Return all rules; cached."""

    def count(self) -> int:
        """Return how many rules there are."""

    def has_no_groups(self) -> bool:
        """Tell whether the crawler obeys no group."""

    def written(self) -> list[tuple[bytes, bool]]:
        """Return the patterns as written, each with whether it allows."""


class Verdict:
    """
    The decision on a URL. `bool(verdict)` is `allowed`. Immutable.

    A verdict depends on the deciding rule, not on the URL, so a rule set makes each verdict once
    and shares it. The deciding rule is read from the file on the first access.
    """

    __slots__ = ("_allowed", "_profile", "_reason", "_rule")

    def __init__(
        self,
        allowed: bool,
        reason: Reason,
        rule: Rule | tuple[RuleSource, int] | None,
        profile: str,
    ) -> None:
        self._allowed = allowed
        self._reason = reason
        self._rule = rule
        self._profile = profile

    @property
    def allowed(self) -> bool:
        """Whether the rules allow the URL."""
        return self._allowed

    @property
    def reason(self) -> Reason:
        """The reason, as a code that programs can switch on."""
        return self._reason

    @property
    def profile(self) -> str:
        """The name of the profile that the file was parsed with."""
        return self._profile

    @property
    def rule(self) -> Rule | None:
        """The deciding rule; None if no rule decides."""
        rule = self._rule
        if rule is None or isinstance(rule, Rule):
            return rule
        source, number = rule
        rule = self._rule = source.rule(number)
        return rule

    @property
    def line(self) -> int | None:
        """The line of the deciding rule; None if no rule decides."""
        rule = self.rule
        return rule.line if rule else None

    def __bool__(self) -> bool:
        return self._allowed

    def __str__(self) -> str:
        word = "allowed" if self.allowed else "disallowed"
        if self.rule is None:
            return f"{word}: {self.reason.sentence}"
        return f"{word} by line {self.rule.line}: {self.rule}"

    def __repr__(self) -> str:
        return f"<Verdict, profile {self.profile}: {self}>"

    def _identity(self) -> tuple[Any, ...]:
        return self.allowed, self.reason, self.rule, self.profile

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Verdict):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __reduce__(self) -> tuple[Any, ...]:
        return Verdict, self._identity()

    def as_dict(self) -> dict[str, Any]:
        """Return the value as plain data for JSON."""
        return {
            "allowed": self.allowed,
            "reason": str(self.reason),
            "rule": self.rule.as_dict() if self.rule else None,
            "profile": self.profile,
        }


class Outcome(StrEnum):
    """The outcome for a rule that matches."""

    WINS = "wins"
    """The rule decides."""
    FEWER_OCTETS = "fewer-octets"
    """The winner is more specific (§2.2.2)."""
    ALLOW_WINS_TIE = "allow-wins-tie"
    """The rule is a disallow rule, as specific as the allow rule that wins (AMB-40)."""
    LATER_LINE = "later-line"
    """The rule equals the winner in kind and specificity, on a later line."""
    NOT_CONSULTED = "not-consulted"
    """`/robots.txt` is always allowed, so no rule decides (AMB-45)."""


class Match(NamedTuple):
    """A rule that matches the URL, and its outcome."""

    rule: Rule
    outcome: Outcome
    group: int

    def as_dict(self) -> dict[str, Any]:
        """Return the value as plain data for JSON."""
        return {"outcome": str(self.outcome), "group": self.group, **self.rule.as_dict()}


class GroupMatch(StrEnum):
    """How the groups that a crawler obeys were selected (§2.2.1)."""

    TOKEN = "product-token"
    """The groups name the product token."""
    PURPOSE = "purpose"
    """No group names the token; these name a purpose (draft-illyes-rep-purpose §3.2)."""
    STAR = "star"
    """No group names the token, so the star groups apply."""
    NONE = "none"
    """No group names the token, and there is no star group."""


class Described(Protocol):
    """A value with a form for JSON."""

    def as_dict(self) -> dict[str, Any]:
        """Return the value as plain data for JSON."""


class Documented(Protocol):
    """A registry entry of a well-known crawler."""

    def short_dict(self) -> dict[str, Any]:
        """Return the value as plain data for JSON."""


class Explanation(NamedTuple):
    """How a verdict is reached: groups, normal form, winner and losers."""

    url: str
    path: str
    """Path and query of the URL in normal form, as compared with rules."""
    product_token: str
    """The product token of the query. Several are joined with a comma and a space; for a well-known
    crawler it is the first of its names."""
    matched_tokens: tuple[str, ...]
    """The product tokens that the groups name."""
    verdict: Verdict
    matched_by: GroupMatch
    groups: tuple[Group, ...]
    """The groups obeyed, merged in this order."""
    matches: tuple[Match, ...]
    """Every rule that matches, the winner first."""
    notes: tuple[Note, ...]
    """Notes on these groups and on the file as a whole."""
    purposes: tuple[str, ...] = ()
    """The purposes of the crawler."""
    matched_purposes: tuple[str, ...] = ()
    """The purposes that the groups name, if they were selected by purpose."""
    access: Described | None = None
    """How the client obtained the file; None if the caller supplied it."""
    known: Documented | None = None
    """The well-known crawler whose names selected the groups; None if only the name did."""
    group_structures: tuple[GroupStructure, ...] = ()
    """The groups in which the crawler reads records of other documents, where they differ from the
    groups of its rules (AMB-29)."""

    @property
    def winner(self) -> Match | None:
        """The match that decides."""
        return next((match for match in self.matches if match.outcome == Outcome.WINS), None)

    @property
    def losers(self) -> tuple[Match, ...]:
        """The other matches, the most specific first."""
        return tuple(match for match in self.matches if match.outcome != Outcome.WINS)

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data for JSON, as in `explain.schema.json`."""
        groups = [
            {key: value for key, value in group.as_dict().items() if key != "rules"}
            | {"rule_count": len(group.rules)}
            for group in self.groups
        ]
        winner = self.winner
        return {
            "schema": SCHEMA_VERSION,
            "url": self.url,
            "path": self.path,
            "profile": self.verdict.profile,
            "product_token": self.product_token,
            "matched_tokens": list(self.matched_tokens),
            "purposes": list(self.purposes),
            "matched_purposes": list(self.matched_purposes),
            "allowed": self.verdict.allowed,
            "reason": str(self.verdict.reason),
            "matched_by": str(self.matched_by),
            "groups": groups,
            "group_structures": [structure.as_dict() for structure in self.group_structures],
            "winner": winner.as_dict() if winner else None,
            "losers": [match.as_dict() for match in self.losers],
            "notes": [note.as_dict() for note in self.notes],
            "access": self.access.as_dict() if self.access else None,
            "known": self.known.short_dict() if self.known else None,
        }
