"""
Steps: what can go from a file, each with its reason, and what came of taking it out.

All are immutable and go to JSON with `as_dict()`. Lines are those of the file as it was. They do
not know how any of it is found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from robotrules.analysis.files import FileDifference
from robotrules.analysis.values import Witness
from robotrules.registries.crawlers import KnownCrawler
from robotrules.robotstxt.values import Rule

# Raised when a key of `Simplification.as_dict()` changes meaning or goes away.
SCHEMA_VERSION = 1
# Lines that a sentence names; JSON has all.
MOST_NAMED = 3
# A rule whose pattern starts as it should; without its colon, a profile may have read it too.
_ROOTED = re.compile(r"^\s*[^\s:]+(?:\s*:\s*|\s+)[/*]")


class SimplificationStep(NamedTuple):
    """Something that can go."""

    code: str
    lines: tuple[int, ...]
    """What it is about: a rule, a user-agent line, or all lines of a group."""
    reason_lines: tuple[int, ...]
    """Lines that make it unnecessary."""
    text: str
    """The first of the lines, as written."""
    group: int | None
    """Where its group starts; None: it stands before the first."""
    witness: Witness | None = None
    """A shortest URL that the rule decides, where it decides any."""

    @property
    def sentence(self) -> str:
        """The reason, in one sentence."""
        words = reason(self.code, self.reason_lines)
        if self.code == "unusable-rule" and not _ROOTED.search(self.text):
            return f"{words}, for a path pattern starts with '/' or '*'"
        return words

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "code": self.code,
            "lines": list(self.lines),
            "reason_lines": list(self.reason_lines),
            "text": self.text,
            "group": self.group,
            "witness": self.witness.as_dict() if self.witness else None,
            "sentence": self.sentence,
        }


# By code: the reason where some lines are it, one or several, and the reason where none is.
_REASONS = {
    "dead-rule": (
        "{} decides every URL it matches",
        "{} decide every URL it matches",
        "it decides no URL",
    ),
    "redundant-rule": (
        "without it {} says the same",
        "without it {} say the same",
        "without it no rule decides, which allows as well",
    ),
    "repeated-rule": ("{} says the same", "{} say the same", ""),
    "unusable-rule": ("", "", "no URL matches it"),
    "empty-rule": ("", "", "an empty rule beside others says nothing"),
    "outside-group": ("", "", "it stands before the first user-agent line, so nobody obeys it"),
    "nobodys-rule": ("", "", "no user-agent line of its group names a crawler"),
    "repeated-user-agent": ("{} names it in the same group", "", ""),
    "mergeable-groups": ("the group of {} has the same rules, so one group is enough", "", ""),
    "split-group": ("the group of {} is for the same crawlers, so one group is enough", "", ""),
    "repeated-group": (
        "the group of {} is for its crawlers too, and says all of it",
        "the groups of {} are for its crawlers too, and say all of it",
        "nobody obeys it",
    ),
    "same-as-star": (
        "without it its crawlers obey the group of {}, which tells them the same",
        "without it its crawlers obey the groups of {}, which tell them the same",
        "without it no group is for its crawlers, which allows as well",
    ),
}
CODES = tuple(_REASONS)


def reason(code: str, because: Sequence[int]) -> str:
    """Return why something can go, in one sentence."""
    one, several, none = _REASONS[code]
    if not because:
        return none
    return (one if len(because) == 1 else several).format(named_lines(because))


def named_lines(lines: Sequence[int]) -> str:
    """Return `line 3`, `lines 3 and 5`, or `lines 3, 5, 7 and 12 more`."""
    if len(lines) == 1:
        return f"line {lines[0]}"
    rest = len(lines) - MOST_NAMED
    names = [str(line) for line in lines[:MOST_NAMED]] + [f"{rest:,} more"] * (rest > 0)
    return f"lines {', '.join(names[:-1])} and {names[-1]}"


class Left(NamedTuple):
    """Something that stays, though it could go under one profile, or seemed to."""

    code: str
    """`other-profile`: another profile needs it. `not-proved`: without it, the proof failed.
    `well-known-crawler`: without the group, a crawler of the registry would not obey the star's."""
    line: int
    text: str
    profile: str
    witness: Witness | None = None
    """A URL whose verdict would change under that profile."""
    crawler: KnownCrawler | None = None
    """The well-known crawler that needs it."""
    instead: str = ""
    """The name whose group that crawler would obey; empty: it would obey none."""

    @property
    def sentence(self) -> str:
        """Why a well-known crawler needs it, in one sentence; empty: none does."""
        if self.crawler is None:
            return ""
        name, source = self.crawler.product_token, self.crawler.source
        if self.instead:
            return f"without it {name} obeys the group of {self.instead} ({source})"
        return f"without it {name} obeys no group, for it ignores groups for '*' ({source})"

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "code": self.code,
            "line": self.line,
            "text": self.text,
            "profile": self.profile,
            "witness": self.witness.as_dict() if self.witness else None,
            "crawler": self.crawler.short_dict() if self.crawler else None,
            "sentence": self.sentence or None,
        }


class Simplification(NamedTuple):
    """A smaller file that means the same, and what makes it smaller."""

    profile: str
    profiles: tuple[str, ...]
    """Under all of these it means the same, and that is proved."""
    steps: tuple[SimplificationStep, ...]
    """In the order of the file."""
    body: bytes
    """The smaller file; the file itself if nothing can go."""
    rules_before: int
    rules_after: int
    groups_before: int
    groups_after: int
    octets_before: int
    octets_after: int
    proof: FileDifference | None
    """What `compare()` says of both files; None: nothing goes, so there is nothing to prove."""
    also_equal: dict[str, bool | None]
    """Whether both mean the same under each profile; None: not decided."""
    undecided: tuple[Rule, ...]
    """Rules that stay because it was not decided whether they can go."""
    left: tuple[Left, ...]
    """What stays because of another profile, or because the proof failed without it."""
    optional: tuple[SimplificationStep, ...]
    """Groups that say what everyone is told. They stay unless they are asked for: a crawler with
    several names would obey the group of its next name, and not the star's (AMB-30). Groups that
    well-known crawlers need for that are not among them: `left` has those."""
    refused: str = ""
    """Why the file is left alone; empty: it was looked at."""

    @property
    def octets(self) -> int:
        """How many octets are saved."""
        return self.octets_before - self.octets_after

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON; `docs/cli/simplify.md` describes them."""
        return {
            "schema": SCHEMA_VERSION,
            "profile": self.profile,
            "profiles": list(self.profiles),
            "steps": [step.as_dict() for step in self.steps],
            "optional": [step.as_dict() for step in self.optional],
            "left": [left.as_dict() for left in self.left],
            "undecided": [rule.as_dict() for rule in self.undecided],
            "rules": {"before": self.rules_before, "after": self.rules_after},
            "groups": {"before": self.groups_before, "after": self.groups_after},
            "octets": {"before": self.octets_before, "after": self.octets_after},
            "equal": self.also_equal,
            "refused": self.refused or None,
        }
