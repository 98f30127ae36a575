"""
What an analysis answers with: values, each with the URL that shows it.

All are immutable and go to JSON with `as_dict()`. Where an answer was not reached within the budget
it is None, or the rule is listed as undecided: never a guess. They do not know how answers are
found.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from robotrules.robotstxt.values import Rule
from robotrules.robotstxt.verdict import Verdict

# A witness is a path; people and programs ask about URLs, so it is shown at this origin.
ORIGIN = "https://example.com"


class Witness(NamedTuple):
    """A URL that shows something: of all that do, none has a shorter path."""

    path: str
    """Path and query in normal form; what is not ASCII in it is escaped, in every profile."""

    @property
    def url(self) -> str:
        """The path at `https://example.com`: any other origin would do."""
        return ORIGIN + self.path

    def __str__(self) -> str:
        # What starts with // alone would be read as a host.
        return self.url if self.path.startswith("//") else self.path

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {"path": self.path, "url": self.url}


class Undecided(NamedTuple):
    """No answer: the question was not decided within so many states. Neither true nor false."""

    states: int

    def __bool__(self) -> bool:
        raise TypeError(
            f"{self}: this is no answer, so it is neither true nor false. Ask with a larger "
            "budget=, or look for analysis.Undecided first"
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
    """Rules that decide in its place: each URL it matches, one of these matches first. Empty where
    the pattern matches no URL at all, or none but `/robots.txt`."""

    @property
    def matches_nothing(self) -> bool:
        """Whether no URL that rules are asked about matches its pattern."""
        return not self.covers

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {"rule": self.rule.as_dict(), "covers": [rule.as_dict() for rule in self.covers]}


class RedundantRuleFinding(NamedTuple):
    """A rule without which every URL has the same verdict."""

    rule: Rule
    instead: tuple[Rule, ...]
    """Rules that say the same to the URLs it decides. Empty where it decides none, or where without
    it no rule decides, which allows as it does."""
    dead: bool
    """Whether it decides no URL to begin with."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        instead = [rule.as_dict() for rule in self.instead]
        return {"rule": self.rule.as_dict(), "instead": instead, "dead": self.dead}


class RuleFindings(NamedTuple):
    """What was found of the rules of a set, in the order of the file."""

    rules: tuple[Any, ...]
    """`DeadRuleFinding` or `RedundantRuleFinding` values."""
    undecided: tuple[Rule, ...]
    """Rules that were not decided within the budget: they may be such, or not."""
    states: int
    """How many states were seen."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "rules": [found.as_dict() for found in self.rules],
            "undecided": [rule.as_dict() for rule in self.undecided],
            "states": self.states,
        }


class Region(NamedTuple):
    """URLs whose verdict changes, all decided by the same rule before and by the same after."""

    patterns: tuple[str, ...]
    """Path patterns that all match there: one, or two where neither includes the other."""
    witness: Witness
    """A shortest URL there."""
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
    """A part of a region's patterns in which nothing changes, because a rule there decides."""

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

    True in a condition when that is proved, False when there is a witness against it; asking an
    undecided one is an error, for nobody knows.
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
    """All URLs on which two rule sets differ, in regions."""

    regions: tuple[Region, ...]
    """Every URL whose verdict changes is in one of them, unless the answer is not complete."""
    complete: bool
    """Whether these are all; False: not decided within the budget, or more than were asked for."""
    states: int

    @property
    def equal(self) -> bool | None:
        """True: proved the same. None: no difference was found, and not everything decided."""
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
    """In the order in which they were taken out; what they name stood when each was."""
    undecided: tuple[Rule, ...]
    """Rules that were kept because it was not decided whether they can go."""
    states: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "kept": [rule.as_dict() for rule in self.kept],
            "removed": [redundant.as_dict() for redundant in self.removed],
            "undecided": [rule.as_dict() for rule in self.undecided],
            "states": self.states,
        }
