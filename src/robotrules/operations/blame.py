"""
Which version of a robots.txt blocked or allowed a URL: the versions at which its verdict flipped.

Every version is checked, so a verdict that flipped and flipped back is seen too; a bisection would
miss it. A version is parsed once for all URLs and crawlers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from robotrules.octets import to_text
from robotrules.operations.rule_history import RuleHistory, RulesAt
from robotrules.robotstxt import Tokens
from robotrules.robotstxt.verdict import Reason, Verdict

__all__ = ["VerdictChange", "VerdictQuestion", "VerdictTrace", "trace_verdicts"]


class VerdictQuestion(NamedTuple):
    """A URL and a crawler."""

    url: bytes
    names: Tokens
    """The product tokens of the crawler."""
    crawler: str
    """Its display name."""
    purposes: tuple[str, ...] = ()


class VerdictChange(NamedTuple):
    """A version at which the verdict, or the rule that decides it, changed."""

    number: int
    """The number of the version in its history, from 0."""
    before: Verdict | None
    """The verdict before; None in the first version."""
    after: Verdict
    flips: bool
    """Whether the URL became allowed or disallowed; the first version counts as a flip."""


class VerdictTrace(NamedTuple):
    """The changes of the verdict on a URL for a crawler, the oldest first."""

    question: VerdictQuestion
    changes: tuple[VerdictChange, ...]
    unknown: int
    """Versions whose rules are not known; the verdict before them is assumed to last."""

    @property
    def verdict(self) -> Verdict | None:
        """The last verdict; None if the rules of no version are known."""
        return self.changes[-1].after if self.changes else None

    @property
    def flips(self) -> tuple[VerdictChange, ...]:
        """The versions at which the URL became allowed or disallowed."""
        return tuple(change for change in self.changes if change.flips)

    @property
    def blamed(self) -> VerdictChange | None:
        """The version since which the URL is allowed, or disallowed, without interruption."""
        return next((change for change in reversed(self.changes) if change.flips), None)


def trace_verdicts(
    history: RuleHistory,
    questions: Sequence[VerdictQuestion],
    progress: Callable[[int, int], None] | None = None,
) -> list[VerdictTrace]:
    """
    Return the changes of the verdict on each question.

    *progress* is called with the number of versions that were checked, and of all.
    """
    changes: list[list[VerdictChange]] = [[] for _ in questions]
    body: bytes | None = None
    unknown = 0
    for number, rules in enumerate(history):
        if rules.robots is None:
            unknown += 1
        elif not rules.has_file or rules.robots.body != body:
            # Some commits change only the mode or the name.
            body = rules.robots.body if rules.has_file else None
            for question, found in zip(questions, changes, strict=True):
                _add_change(found, number, _check(rules, question))
        if progress is not None:
            progress(number + 1, len(history))
    return [
        VerdictTrace(question, tuple(found), unknown)
        for question, found in zip(questions, changes, strict=True)
    ]


def _check(rules: RulesAt, question: VerdictQuestion) -> Verdict:
    assert rules.robots is not None
    if not rules.has_file:
        return Verdict(True, Reason.UNAVAILABLE, None, rules.robots.profile.name)
    return rules.robots.check(question.url, question.names, question.purposes)


def _add_change(found: list[VerdictChange], number: int, verdict: Verdict) -> None:
    decision = _decision(verdict)
    before = found[-1].after if found else None
    if before is None or _decision(before) != decision:
        flips = before is None or before.allowed != verdict.allowed
        found.append(VerdictChange(number, before, verdict, flips))


def _decision(verdict: Verdict) -> tuple[bool, Reason, str | None]:
    """
    Return what is compared: not the line, which moves with every edit above it.

    It reads the rule, and a verdict whose rule was read does not keep the file.
    """
    rule = verdict.rule
    return verdict.allowed, verdict.reason, None if rule is None else str(rule)


def verdict_dict(verdict: Verdict | None) -> dict[str, Any] | None:
    """Return a verdict of a version as plain values for JSON."""
    if verdict is None:
        return None
    return {
        "allowed": verdict.allowed,
        "reason": str(verdict.reason),
        "line": verdict.line,
        "pattern": verdict.rule.pattern if verdict.rule else None,
    }


def question_dict(question: VerdictQuestion) -> dict[str, Any]:
    """Return a question as plain values for JSON."""
    return {
        "url": to_text(question.url),
        "product_token": question.crawler,
        "purposes": list(question.purposes),
    }
