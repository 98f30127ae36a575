"""
The result of `simplify()`: the steps with their reasons, the smaller file and its proof.

All values are immutable, and `as_dict()` returns them for JSON. Line numbers are those of the
original file. The module does not know how steps are found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from robotrules.analysis.files import FileDifference
from robotrules.analysis.values import Witness
from robotrules.registries.crawlers import KnownCrawler
from robotrules.robotstxt.values import Rule

# Increased when a key of `Simplification.as_dict()` changes meaning or is removed.
SCHEMA_VERSION = 1
# Line numbers in a sentence; JSON has all.
MAX_NAMED = 3
# A rule whose pattern starts with `/` or `*`; some profiles read a rule without its colon.
_ROOTED = re.compile(r"^\s*[^\s:]+(?:\s*:\s*|\s+)[/*]")


class SimplificationStep(NamedTuple):
    """Lines that can be removed or merged."""

    code: str
    lines: tuple[int, ...]
    """A rule, a user-agent line, or all lines of a group."""
    reason_lines: tuple[int, ...]
    """Lines that make them unnecessary."""
    text: str
    """The first of the lines, as written."""
    group: int | None
    """The first line of the group; None for a line before the first group."""
    witness: Witness | None = None
    """A shortest URL that the rule decides, if it decides any."""

    @property
    def sentence(self) -> str:
        """The reason, in one sentence."""
        text = format_reason(self.code, self.reason_lines)
        if self.code == "unusable-rule" and not _ROOTED.search(self.text):
            return f"{text}, because a path pattern starts with '/' or '*'"
        return text

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


# By code: the reason with one line, with several lines, and without lines.
_REASONS = {
    "dead-rule": (
        "{} decides every URL it matches",
        "{} decide every URL it matches",
        "it decides no URL",
    ),
    "redundant-rule": (
        "without it {} gives the same result",
        "without it {} give the same result",
        "without it no rule matches, and the URLs stay allowed",
    ),
    "repeated-rule": ("{} is the same rule", "{} are the same rule", ""),
    "unusable-rule": ("", "", "no URL matches it"),
    "empty-rule": ("", "", "an empty rule has no effect beside other rules"),
    "outside-group": ("", "", "it is before the first user-agent line, so no crawler obeys it"),
    "nobodys-rule": ("", "", "no user-agent line of its group names a crawler"),
    "repeated-user-agent": ("{} names it in the same group", "", ""),
    "mergeable-groups": ("the group of {} has the same rules, so one group is enough", "", ""),
    "split-group": ("the group of {} is for the same crawlers, so one group is enough", "", ""),
    "repeated-group": (
        "the group of {} is for the same crawlers and has the same effect",
        "the groups of {} are for the same crawlers and have the same effect",
        "no crawler obeys it",
    ),
    "same-as-star": (
        "without it its crawlers obey the group of {}, with the same effect",
        "without it its crawlers obey the groups of {}, with the same effect",
        "without it no group is for its crawlers, and all URLs stay allowed",
    ),
}
CODES = tuple(_REASONS)


def format_reason(code: str, reason_lines: Sequence[int]) -> str:
    """Return the reason of a step, in one sentence."""
    one, several, none = _REASONS[code]
    if not reason_lines:
        return none
    return (one if len(reason_lines) == 1 else several).format(format_lines(reason_lines))


def format_lines(lines: Sequence[int]) -> str:
    """Return `line 3`, `lines 3 and 5`, or `lines 3, 5, 7 and 12 more`."""
    if len(lines) == 1:
        return f"line {lines[0]}"
    rest = len(lines) - MAX_NAMED
    names = [str(line) for line in lines[:MAX_NAMED]] + [f"{rest:,} more"] * (rest > 0)
    return f"lines {', '.join(names[:-1])} and {names[-1]}"


class RetainedLine(NamedTuple):
    """A line that stays although it is unnecessary under one profile, or seemed to be."""

    code: str
    """`other-profile`: another profile needs it. `not-proved`: without it, the proof failed.
    `well-known-crawler`: without the group, a crawler of the registry would not obey `*`."""
    line: int
    text: str
    profile: str
    witness: Witness | None = None
    """A URL whose verdict would change under that profile."""
    crawler: KnownCrawler | None = None
    """The well-known crawler that needs it."""
    instead: str = ""
    """The name whose group that crawler would obey; empty: it would obey no group."""

    @property
    def sentence(self) -> str:
        """Why a well-known crawler needs the line, in one sentence; else empty."""
        if self.crawler is None:
            return ""
        name, source = self.crawler.product_token, self.crawler.source
        if self.instead:
            return f"without it {name} obeys the group of {self.instead} ({source})"
        return f"without it {name} obeys no group: it ignores groups for '*' ({source})"

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
    """A smaller file that means the same, and the steps that make it smaller."""

    profile: str
    profiles: tuple[str, ...]
    """The profiles under which both files are proved to mean the same."""
    steps: tuple[SimplificationStep, ...]
    """In the order of the file."""
    body: bytes
    """The smaller file; the file itself if nothing can be removed."""
    rules_before: int
    rules_after: int
    groups_before: int
    groups_after: int
    octets_before: int
    octets_after: int
    proof: FileDifference | None
    """The result of `compare()` for both files; None if there are no steps."""
    also_equal: dict[str, bool | None]
    """Whether both mean the same under each profile; None: not decided."""
    undecided: tuple[Rule, ...]
    """Rules that stay because it was not decided whether they can be removed."""
    left: tuple[RetainedLine, ...]
    """Lines that stay because of another profile, or because the proof failed without them."""
    optional: tuple[SimplificationStep, ...]
    """Groups with the same effect as that of `*`. They are removed on request only: a crawler with
    several names would obey the group of its next name, and not that of `*` (AMB-30). Groups that
    well-known crawlers need for that are in `left`."""
    refused: str = ""
    """Why the file was not simplified; empty if it was."""

    @property
    def octets(self) -> int:
        """The number of octets saved."""
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
