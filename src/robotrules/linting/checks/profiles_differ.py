"""RR510: a URL on which the profiles default, strict and google disagree."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from urllib.parse import unquote

from robotrules.analysis.crawlers import EVERYONE_ELSE, Crawler
from robotrules.analysis.values import ORIGIN
from robotrules.linting.check import Check, related
from robotrules.linting.exact import Kind, spelled_out
from robotrules.linting.note import LintNote
from robotrules.linting.subject import Subject
from robotrules.profile import PROFILES
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.tokens import is_product_token
from robotrules.robotstxt.values import Rule
from robotrules.robotstxt.verdict import Verdict

# How many rules are tried, and for how many kinds of crawlers. It is a search by example: each
# difference that is told is shown, and that there are no others is not claimed.
MOST_RULES = 2_000
MOST_KINDS = 50
# Notes of the parser, for whatever profile, on what another reads otherwise.
EXPLAINED = frozenset(
    {
        *("comma-list", "control-character", "control-kept", "cut-bom", "empty-user-agent"),
        *("invalid-utf8", "missing-colon", "nul", "odd-whitespace", "prefix-key"),
        *("space-in-pattern", "star-with-text", "typo", "unusable-user-agent", "user-agent-text"),
    }
)
_NO_URL = re.compile(r"[\x00- \x7f\ufffd]")


class ProfilesDiffer(Check):
    """
    What it finds:
        A URL on which readers of robots.txt disagree: the RFC with the tolerance most parsers have
        (`default`), the RFC to the letter (`strict`), and Google's published parser (`google`). It
        is looked for among the URLs that the rules of the file spell out, one for each rule.

    Why it matters:
        A misspelt name, a missing colon, a space or an escape in a pattern is read by one parser
        and not by the next. Then what you ask of crawlers depends on who reads it. Where they
        differ only about another spelling of the URL, the note is for information. Where another
        note says why, it is shown for the first line of a group.

    Example:
            User-agent: *
            Disalow: /drafts/

    Instead:
            User-agent: *
            Disallow: /drafts/

        Other notes on the line say what to change; docs/profiles.md lists how the profiles differ.
    """

    code = "RR510"
    slug = "profiles-differ"
    level = "warning"
    message = "For {name}, this URL is {word} here, and {others}."
    reference = "docs/profiles.md; AMB-00"

    def check(self, subject: Subject) -> Iterator[LintNote]:
        """Yield for each rule the first URL on which the profiles disagree."""
        told: set[int] = set()
        causes, known = _Causes(subject), set[tuple[int, str]]()
        left = MOST_RULES
        for kind in subject.kinds[:MOST_KINDS]:
            crawler = _asked(kind)
            if crawler is None or left <= 0:
                continue
            here = kind.rules
            there = {
                name: _rules(subject.under(name), crawler)
                for name in PROFILES
                if name != subject.robots.profile.name
            }
            # What only another profile reads as a rule is tried as well.
            written = {rule.line: rule for rule in kind.written}
            for rules in there.values():
                written |= {rule.line: rule for rule in _unshared(rules, kind)}
            for line, rule in islice(sorted(written.items()), left):
                left -= 1
                if line in told or causes.of(line) in known:
                    continue
                note = self._compared(subject, crawler, rule, here, there)
                if note:
                    told.add(line)
                    cause = causes.of(note.line or line)
                    if cause in known:
                        continue
                    if cause:
                        known.add(cause)
                    yield note

    def _compared(
        self,
        subject: Subject,
        crawler: Crawler,
        rule: Rule,
        here: RuleSet,
        there: dict[str, RuleSet],
    ) -> LintNote | None:
        for url, level in _urls(rule):
            allowed = here.allows(url)
            others = {name: one for name, one in there.items() if one.allows(url) != allowed}
            if not others:
                continue
            verdict = here.check(url)
            other = next(iter(others.values())).check(url)
            at = next((one.rule for one in (verdict, other) if one.rule), rule)
            words = f"{_word(other)} under profile {' and '.join(others)}"
            why = f" (line {other.line})" if other.line else ""
            return self.about(
                subject,
                at,
                level=level,
                url=url,
                name=crawler.name,
                word=_word(verdict),
                others=words + why,
                related=[related(subject, "decides there", other.rule)]
                if other.rule and other.rule.line != at.line
                else [],
            )
        return None


class _Causes:
    """What parsers noted that makes profiles differ, by line."""

    def __init__(self, subject: Subject) -> None:
        self._noted: dict[int, str] = {}
        for profile in PROFILES:
            for note in subject.under(profile).notes:
                if note.line is not None and note.code in EXPLAINED:
                    self._noted.setdefault(note.line, note.code)
        self._starts = [[one.line for one in group.starts] for group in subject.groups]
        self._firsts = [starts[0] for starts in self._starts]

    def of(self, line: int) -> tuple[int, str] | None:
        """Return group and code of what makes the difference; None: nothing that was noted."""
        group = bisect_right(self._firsts, line) - 1
        starts = self._starts[group] if group >= 0 else []
        code = next((self._noted[one] for one in (line, *starts) if one in self._noted), None)
        return (group, code) if code else None


def _asked(kind: Kind) -> Crawler | None:
    """Return a crawler of a kind that every profile can be asked about."""
    for crawler in kind.crawlers:
        if crawler.product_token == EVERYONE_ELSE or is_product_token(crawler.product_token):
            return crawler
    return None


def _unshared(rules: RuleSet, kind: Kind) -> list[Rule]:
    """Return the rules that another profile reads and this one does not."""
    if len(rules) == len(kind.written):
        return []
    return list(rules.rules)


def _urls(rule: Rule) -> Iterator[tuple[str, str]]:
    """
    Yield URLs that a rule spells out, as written, in normal form and unescaped, each with a level.

    That profiles disagree about a URL which is spelled as the pattern matters more than about one
    that has other escapes.
    """
    seen: set[str] = set()
    for path in spelled_out(rule._replace(form=rule.pattern)):
        seen.add(path)
        if not _NO_URL.search(path):
            yield ORIGIN + path, "warning"
    for path in spelled_out(rule):
        for one in (path, unquote(path, errors="replace")):
            # What no request can have is nobody's URL.
            if one not in seen and not _NO_URL.search(one):
                seen.add(one)
                yield ORIGIN + one, "info"


def _word(verdict: Verdict) -> str:
    return "allowed" if verdict.allowed else "disallowed"


def _rules(robots: RobotsTxt, crawler: Crawler) -> RuleSet:
    """Return the rules of a crawler; purposes count only where the profile reads them."""
    return robots.rules_for(
        crawler.product_token, crawler.purposes if robots.profile.reads_purposes() else ()
    )
