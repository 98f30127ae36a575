"""
Verdict and Explanation: what was decided about a URL, by what, and what else matched.

Both are values. A verdict is a statement about rules that a site asks crawlers to honour; it is no
access authorization (RFC 9309 §1). It does not know how matching is done.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from robotrules.robotstxt.values import Group, GroupStructure, Note, Rule

# Raised when a field of `Explanation.as_dict()` changes meaning or goes away.
SCHEMA_VERSION = 1


class Reason(StrEnum):
    """Why a verdict is what it is: a code a program can switch on."""

    ALLOW_RULE = "allow-rule"
    """An allow rule matches with the most octets, or ties with a disallow rule."""
    DISALLOW_RULE = "disallow-rule"
    """A disallow rule matches with more octets than any allow rule."""
    NO_MATCH = "no-match"
    """The groups have rules, and none matches (§2.2.2)."""
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
    """Nobody knows what the robots.txt says, so nothing is allowed (§2.3.1.4)."""
    RESTRICTED = "restricted"
    """The robots.txt answers 401 or 403, and the client takes that as disallow (AMB-51)."""
    NO_ORIGIN = "no-origin"
    """Not an http or https URL with a host: no robots.txt governs it, and nothing is fetched."""

    @property
    def sentence(self) -> str:
        """The reason for people."""
        return _SENTENCES[self]


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
    """Where the rules of a set were written: read when somebody asks, not before."""

    def rule(self, number: int) -> Rule:
        """Return a rule."""

    def rules(self) -> tuple[Rule, ...]:
        """Return all rules; made once."""

    def count(self) -> int:
        """Return how many rules there are."""

    def is_for_nobody(self) -> bool:
        """Tell whether no group was chosen."""

    def written(self) -> list[tuple[bytes, bool]]:
        """Return the patterns as written, each with whether it allows."""


class Verdict:
    """
    The answer for one URL. `bool(verdict)` is `allowed`. Immutable.

    It depends on what decided and not on the URL, so rule sets make each verdict once and share
    it; the deciding rule is read from the file when somebody asks for it.
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
        """Why: a code a program can switch on."""
        return self._reason

    @property
    def profile(self) -> str:
        """The name of the profile that the file was read with."""
        return self._profile

    @property
    def rule(self) -> Rule | None:
        """The deciding rule, if one decided."""
        rule = self._rule
        if rule is None or isinstance(rule, Rule):
            return rule
        source, number = rule
        self._rule = found = source.rule(number)
        return found

    @property
    def line(self) -> int | None:
        """The line of the deciding rule."""
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
        """Return it as plain values for JSON."""
        return {
            "allowed": self.allowed,
            "reason": str(self.reason),
            "rule": self.rule.as_dict() if self.rule else None,
            "profile": self.profile,
        }


class Outcome(StrEnum):
    """What became of a rule that matches."""

    WINS = "wins"
    """It decides."""
    FEWER_OCTETS = "fewer-octets"
    """The winner is more specific (§2.2.2)."""
    ALLOW_WINS_TIE = "allow-wins-tie"
    """A disallow rule as specific as the allow rule that wins (AMB-40)."""
    LATER_LINE = "later-line"
    """Says what the winner says, as specifically, on a later line."""
    NOT_CONSULTED = "not-consulted"
    """`/robots.txt` is allowed whatever the rules say (AMB-45)."""


class Match(NamedTuple):
    """A rule that matches the URL, and what became of it."""

    rule: Rule
    outcome: Outcome
    group: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {"outcome": str(self.outcome), "group": self.group, **self.rule.as_dict()}


class GroupMatch(StrEnum):
    """Why these groups are the ones to obey (§2.2.1)."""

    TOKEN = "product-token"
    """They name the product token."""
    PURPOSE = "purpose"
    """None names it, and these name a purpose of the crawler (draft-illyes-rep-purpose §3.2)."""
    STAR = "star"
    """None names it, so the star groups count."""
    NONE = "none"
    """None names it, and there is no star group."""


class Described(Protocol):
    """Something that can be shown as plain values."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""


class Documented(Protocol):
    """A crawler as a registry documents it."""

    def short_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""


class Explanation(NamedTuple):
    """How a verdict was reached: groups, normal form, winner and losers."""

    url: str
    path: str
    """Path and query of the URL in the form that rules are compared with."""
    product_token: str
    """The product token asked for; several are joined with a comma and a space, and of a
    well-known crawler's names the first one stands here."""
    matched_tokens: tuple[str, ...]
    """Those of them that the groups name."""
    verdict: Verdict
    matched_by: GroupMatch
    groups: tuple[Group, ...]
    """The groups obeyed, merged in this order."""
    matches: tuple[Match, ...]
    """Every rule that matches, the winner first."""
    notes: tuple[Note, ...]
    """Notes of the file that lie in these groups or concern the file as a whole."""
    purposes: tuple[str, ...] = ()
    """The purposes the crawler has."""
    matched_purposes: tuple[str, ...] = ()
    """Those of them that the groups were chosen by."""
    access: Described | None = None
    """How the file was got, from whoever got it; None: it was given."""
    known: Documented | None = None
    """The well-known crawler whose names chose the groups; None: the name alone did."""
    group_structures: tuple[GroupStructure, ...] = ()
    """The groups over which the crawler reads records of other documents, where they differ from
    those of its rules (AMB-29)."""

    @property
    def winner(self) -> Match | None:
        """The match that decides."""
        return next((match for match in self.matches if match.outcome == Outcome.WINS), None)

    @property
    def losers(self) -> tuple[Match, ...]:
        """The other matches, the most specific first."""
        return tuple(match for match in self.matches if match.outcome != Outcome.WINS)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON; `docs/explain.schema.json` describes them."""
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
            "group_structures": [found.as_dict() for found in self.group_structures],
            "winner": winner.as_dict() if winner else None,
            "losers": [match.as_dict() for match in self.losers],
            "notes": [note.as_dict() for note in self.notes],
            "access": self.access.as_dict() if self.access else None,
            "known": self.known.short_dict() if self.known else None,
        }
