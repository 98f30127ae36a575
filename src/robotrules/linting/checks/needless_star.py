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
# Rules with the same number of octets that are compared one by one; with more, no note.
MOST_COMPARED = 50


class NeedlessStar(Check):
    """
    What it finds:
        Patterns that end in `*`, where removing it changes no verdict. A file has one note, at the
        first of them.

    Why it matters:
        A pattern matches the beginning of a path, so `/search` and `/search*` match the same URLs,
        and `/files/*` matches `/files/` as well. The final `*` is harmless for crawlers that follow
        RFC 9309. Parsers without wildcard support take it literally, and for them the rule never
        matches. The `*` counts as one byte where rules compete, so it is only reported where no
        rule competes that closely.

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
    message = "{pattern} matches the same URLs without its final '*'{more}. Remove the '*'."
    reference = "RFC 9309 §2.2.2, §2.2.3; AMB-39, AMB-48"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield one note for all of them, with one fix."""
        if b"*" not in context.robots.body:
            return
        needless = list(_find_needless(_list_rules(context.robots)))
        if not needless:
            return
        # The octets of a pattern, and the rules that compete with it, depend on the profile.
        needed = {line for name in PROFILES for line in _find_needed(context.parse_as(name))}
        needless = [(rule, stars) for rule, stars in needless if rule.line not in needed]
        if not needless:
            return
        edits = [Edit(rule.end - stars, rule.end, b"") for rule, stars in needless]
        first, rest = needless[0][0], len(needless) - 1
        other = "so does one other rule" if rest == 1 else f"so do {rest:,} other rules"
        words = (
            "Remove the final '*'" if not rest else f"Remove the final '*' of {rest + 1:,} rules"
        )
        yield self.about(
            context,
            first,
            pattern=quote(first.pattern),
            more=f"; {other}" if rest else "",
            fix=Fix(words, tuple(edits)),
        )


def _list_rules(robots: RobotsTxt) -> list[Rule]:
    return [rule for group in robots.groups for rule in group.rules]


def _find_needed(robots: RobotsTxt) -> set[int]:
    """Return the lines of rules whose final stars may change a verdict under a profile."""
    rules = _list_rules(robots)
    lines = {rule.line for rule in rules}
    if robots.profile.index_page and any(INDEX in rule.pattern for rule in rules):
        return lines  # an index page also competes as its directory, with other octets
    return lines - {rule.line for rule, _ in _find_needless(rules)}


def _find_needless(rules: Sequence[Rule]) -> Iterator[tuple[Rule, int]]:
    """Yield the rules whose final stars change nothing, with the number of stars."""
    by_octets: dict[tuple[bool, int], list[Rule]] = {}
    for rule in rules:
        by_octets.setdefault((rule.allow, rule.octets), []).append(rule)
    for rule in rules:
        stars = len(rule.form) - len(rule.form.rstrip("*"))
        # Without the stars, a `$` before them would become an anchor, and a blank would be trimmed.
        anchors = rule.pattern.rstrip("*").endswith(("$", " ", "\t"))
        if stars and len(rule.form) > stars and rule.form[0] in "/*" and not anchors:
            # Only an opposite rule with as many octets, with or without the stars, competes.
            sizes = range(rule.octets - stars, rule.octets + 1)
            close = [by_octets.get((not rule.allow, size), ()) for size in sizes[:MOST_COMPARED]]
            if len(sizes) <= MOST_COMPARED and not any(_may_meet(rule, some) for some in close):
                yield rule, stars


def _may_meet(rule: Rule, others: Sequence[Rule]) -> bool:
    """Return whether a URL might match a rule and one of *others*, by their literal prefixes."""
    if len(others) > MOST_COMPARED:
        return True
    prefix = _literal_prefix(rule)
    return any(
        prefix.startswith(other) or other.startswith(prefix)
        for other in map(_literal_prefix, others)
    )


def _literal_prefix(rule: Rule) -> str:
    """Return the prefix of every path that a rule matches."""
    return rule.form.partition("*")[0].removesuffix("$")
