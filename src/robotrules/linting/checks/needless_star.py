"""RR516: a `*` at the end of a pattern, where it is proved to change nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.profile import PROFILES
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.values import Rule

INDEX = "/index.htm"
# Rules of as many octets that are compared one by one; with more, nothing is said.
MOST_COMPARED = 50


class NeedlessStar(Check):
    """
    What it finds:
        Patterns that end in `*`, where taking it away changes no verdict. There is one note for a
        file, at the first of them.

    Why it matters:
        A pattern matches the beginning of a path, so `/search` and `/search*` match the same URLs,
        and `/files/*` matches `/files/` as well. Nothing is wrong with it, but it is easily
        misread, and parsers from before wildcards take the `*` for a letter: for them the rule
        never matches. It does count as one octet where rules compete, so it is only reported where
        no rule competes that closely.

    Example:
            User-agent: *
            Disallow: /search*

    Instead:
            User-agent: *
            Disallow: /search
    """

    code = "RR516"
    slug = "needless-star"
    level = "info"
    message = "{pattern} matches the same without the '*' at its end{more}."
    reference = "RFC 9309 §2.2.2, §2.2.3; AMB-39, AMB-48"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield one note for all of them, with one fix."""
        if b"*" not in context.robots.body:
            return
        found = list(_needless(_rules(context.robots)))
        if not found:
            return
        # How many octets a pattern has, and what competes with it, depends on who reads it.
        needed = {line for name in PROFILES for line in _needed(context.parse_as(name))}
        found = [(rule, stars) for rule, stars in found if rule.line not in needed]
        if not found:
            return
        edits = [Edit(rule.end - stars, rule.end, b"") for rule, stars in found]
        rest = len(found) - 1
        other = "and so does one other rule" if rest == 1 else f"and so do {rest:,} other rules"
        words = "Take the '*' away" if not rest else "Take these '*' away"
        yield self.about(
            context,
            found[0][0],
            pattern=quote(found[0][0].pattern),
            more=f", {other}" if rest else "",
            fix=Fix(words, tuple(edits)),
        )


def _rules(robots: RobotsTxt) -> list[Rule]:
    return [rule for group in robots.groups for rule in group.rules]


def _needed(robots: RobotsTxt) -> set[int]:
    """Return the lines of rules whose stars may decide something for a profile."""
    rules = _rules(robots)
    lines = {rule.line for rule in rules}
    if robots.profile.index_page and any(INDEX in rule.pattern for rule in rules):
        return lines  # an index page competes as its directory too, with other octets
    return lines - {rule.line for rule, _ in _needless(rules)}


def _needless(rules: Sequence[Rule]) -> Iterator[tuple[Rule, int]]:
    """Yield rules that end in stars which decide nothing, and how many those are."""
    by_octets: dict[tuple[bool, int], list[Rule]] = {}
    for rule in rules:
        by_octets.setdefault((rule.allow, rule.octets), []).append(rule)
    for rule in rules:
        stars = len(rule.form) - len(rule.form.rstrip("*"))
        # A `$` that stood before them would become the end of the path, and a blank no part of it.
        anchors = rule.pattern.rstrip("*").endswith(("$", " ", "\t"))
        if stars and len(rule.form) > stars and rule.form[0] in "/*" and not anchors:
            # Only what says the opposite with as many octets, with or without the stars, competes.
            sizes = range(rule.octets - stars, rule.octets + 1)
            close = [by_octets.get((not rule.allow, size), ()) for size in sizes[:MOST_COMPARED]]
            if len(sizes) <= MOST_COMPARED and not any(_may_meet(rule, some) for some in close):
                yield rule, stars


def _may_meet(rule: Rule, others: Sequence[Rule]) -> bool:
    """Tell whether a URL might match a rule and one of others, going by how they begin."""
    if len(others) > MOST_COMPARED:
        return True
    begins = _beginning(rule)
    return any(
        begins.startswith(start) or start.startswith(begins) for start in map(_beginning, others)
    )


def _beginning(rule: Rule) -> str:
    """Return what every URL that a rule matches begins with."""
    return rule.form.partition("*")[0].removesuffix("$")
