"""
Results of the analysis, each with a URL that shows it.

All values are immutable, and `as_dict()` returns them for JSON. An answer that was not reached
within the state limit is None, or the rule is listed as undecided; it is never a guess. The module
does not know how results are computed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from robotrules.robotstxt.values import Rule
from robotrules.robotstxt.verdict import Verdict

# A witness is a path; it is shown as a URL of this origin.
ORIGIN = "https://example.com"


class Witness(NamedTuple):
    """A URL that shows something: no URL that does has a shorter path."""

    path: str
    """Path and query in normal form; non-ASCII characters are escaped, in every profile."""

    @property
    def url(self) -> str:
        """The path at `https://example.com`; the origin is arbitrary."""
        return ORIGIN + self.path

    def __str__(self) -> str:
        # A path that starts with // would be read as a host.
        return self.url if self.path.startswith("//") else self.path

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {"path": self.path, "url": self.url}


class Undecided(NamedTuple):
    """No answer: the query was not decided within the state limit. Neither true nor false."""

    states: int

    def __bool__(self) -> bool:
        raise TypeError(
            f"{self}, so the answer is neither true nor false: pass a larger max_states=, or check "
            "for analysis.Undecided first"
        )

    def __str__(self) -> str:
        return f"not decided within {self.states:,} states"

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {"undecided": True, "states": self.states}


class DeadRuleFinding(NamedTuple):
    """A rule that decides no URL."""

    rule: Rule
    covers: tuple[Rule, ...]
    """Rules that decide in its place: one of them matches each URL it matches, with higher
    precedence. Empty if the pattern matches no URL at all, or none but `/robots.txt`."""

    @property
    def matches_nothing(self) -> bool:
        """Whether its pattern matches no URL that rules apply to."""
        return not self.covers

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {"rule": self.rule.as_dict(), "covers": [rule.as_dict() for rule in self.covers]}


class RedundantRuleFinding(NamedTuple):
    """A rule without which every URL has the same verdict."""

    rule: Rule
    instead: tuple[Rule, ...]
    """Rules that give the same verdict on the URLs it decides. Empty if it decides none, or if
    without it no rule matches and the URLs are allowed as well."""
    dead: bool
    """Whether it decides no URL at all."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        instead = [rule.as_dict() for rule in self.instead]
        return {"rule": self.rule.as_dict(), "instead": instead, "dead": self.dead}


class RuleFindings(NamedTuple):
    """The findings about the rules of a set, in the order of the file."""

    rules: tuple[Any, ...]
    """`DeadRuleFinding` or `RedundantRuleFinding` values."""
    undecided: tuple[Rule, ...]
    """Rules that were not decided within the state limit."""
    states: int
    """The number of states used."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "rules": [found.as_dict() for found in self.rules],
            "undecided": [rule.as_dict() for rule in self.undecided],
            "states": self.states,
        }


class Region(NamedTuple):
    """URLs whose verdict changes, with one deciding rule before and one after."""

    patterns: tuple[str, ...]
    """Path patterns that all match there: one, or two if neither includes the other."""
    witness: Witness
    """A shortest URL of the region."""
    old: Verdict
    new: Verdict

    def __str__(self) -> str:
        return " and ".join(self.patterns)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "patterns": list(self.patterns),
            "witness": self.witness.as_dict(),
            "old": self.old.as_dict(),
            "new": self.new.as_dict(),
        }


class UnchangedRegion(NamedTuple):
    """A part of a region's patterns where nothing changes, because another rule decides."""

    pattern: str
    witness: Witness
    old: Verdict
    new: Verdict

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "pattern": self.pattern,
            "witness": self.witness.as_dict(),
            "old": self.old.as_dict(),
            "new": self.new.as_dict(),
        }


class Equivalence(NamedTuple):
    """
    Whether two rule sets give every URL the same verdict.

    True in a condition if that is proved, False if there is a witness against it; an undecided one
    raises `TypeError` in a condition.
    """

    equal: bool | None
    """None: not decided."""
    witness: Witness | None
    """A shortest URL on which they differ."""
    old: Verdict | None
    new: Verdict | None
    states: int

    def __bool__(self) -> bool:
        return bool(Undecided(self.states)) if self.equal is None else self.equal

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "equal": self.equal,
            "witness": self.witness.as_dict() if self.witness else None,
            "old": self.old.as_dict() if self.old else None,
            "new": self.new.as_dict() if self.new else None,
            "states": self.states,
        }


class Difference(NamedTuple):
    """All URLs on which two rule sets differ, as regions."""

    regions: tuple[Region, ...]
    """Every URL whose verdict changes is in one of them, unless the answer is not complete."""
    complete: bool
    """Whether these are all; False: the limit on states or on regions was reached."""
    states: int

    @property
    def equal(self) -> bool | None:
        """True: proved equal. None: no difference was found, but not everything was decided."""
        if self.regions:
            return False
        return True if self.complete else None

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "equal": self.equal,
            "complete": self.complete,
            "regions": [region.as_dict() for region in self.regions],
            "states": self.states,
        }


class MinimizedRules(NamedTuple):
    """Fewer rules with the same verdict on every URL."""

    kept: tuple[Rule, ...]
    removed: tuple[RedundantRuleFinding, ...]
    """In the order of removal; the rules they name were there when each was removed."""
    undecided: tuple[Rule, ...]
    """Rules that were kept because it was not decided whether they can be removed."""
    states: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "kept": [rule.as_dict() for rule in self.kept],
            "removed": [redundant.as_dict() for redundant in self.removed],
            "undecided": [rule.as_dict() for rule in self.undecided],
            "states": self.states,
        }
