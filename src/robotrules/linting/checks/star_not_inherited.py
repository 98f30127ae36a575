"""RR418: a group for a named crawler without all rules of the `*` group."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.analysis.crawlers import EVERYONE_ELSE
from robotrules.analysis.values import ORIGIN
from robotrules.linting.check import Check, join_names, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.rule_proofs import CrawlerClass
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt.values import Rule

# A group that repeats this share of the `*` rules is assumed to omit the others on purpose.
REPEATED = 0.5


class StarNotInherited(Check):
    """
    What it finds:
        A group with rules for a named crawler that does not repeat a rule of the `*` group, so that
        the crawler may fetch URLs that are blocked for others. A group that allows such a URL with
        its own rule is not reported.

    Why it matters:
        A named crawler obeys only its own group: the `*` group is for crawlers that no group names.
        URLs that are blocked for `*` are allowed for this crawler, unless its group repeats the
        rule. Many authors do not expect that. If it is intended, add an Allow for these URLs, or
        suppress the note with `# robotrules: ignore[RR418]`. Crawlers that ignore the `*` group
        according to their operators, such as AdsBot-Google, are not reported. For a group that
        repeats half of the rules or more, the note is for information only.

    Example:
            User-agent: *
            Disallow: /private/

            User-agent: ExampleBot
            Disallow: /images/

    Instead:
            User-agent: *
            Disallow: /private/

            User-agent: ExampleBot
            Disallow: /private/
            Disallow: /images/
    """

    code = "RR418"
    slug = "star-not-inherited"
    level = "warning"
    message = (
        "{names} {obey} only this group{repeats}, so {they} may fetch the URLs that line {line} "
        "({rule}) blocks for everyone else. Repeat the rule here if it should apply."
    )
    reference = "RFC 9309 §2.2.1"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield groups of named crawlers that do not repeat all rules of the `*` group."""
        classes = context.crawler_classes
        star = next((candidate for candidate in classes if _is_star(candidate)), None)
        blocked = _disallow_rules(star) if star else {}
        # A file that blocks everything for `*` names the crawlers that it allows.
        if star is None or not blocked or "/" in blocked:
            return
        for crawler_class in classes:
            own = _disallow_rules(crawler_class)
            if crawler_class is star or not own or "/" in own:
                continue
            names = [name for name in crawler_class.names if not _ignores_star(name)]
            omitted = (rule for form, rule in blocked.items() if form not in own)
            lost = next((rule for rule in omitted if names and _allows(crawler_class, rule)), None)
            if lost is None:
                continue
            repeated = len(own.keys() & blocked.keys())
            start = context.groups[crawler_class.groups[0]].starts[0]
            yield self.about(
                context,
                start,
                # An author who repeats that many knows that the group inherits nothing.
                level="info" if repeated >= len(blocked) * REPEATED else None,
                url=ORIGIN + lost.form.replace("*", "").removesuffix("$"),
                names=join_names(names),
                obey="obeys" if len(names) == 1 else "obey",
                they="it" if len(names) == 1 else "they",
                repeats=f", which repeats {repeated} of {len(blocked)} rules for '*'"
                if repeated
                else "",
                line=lost.line,
                rule=quote(str(lost)),
            )


def _is_star(crawler_class: CrawlerClass) -> bool:
    return any(c.product_token == EVERYONE_ELSE and not c.purposes for c in crawler_class.crawlers)


def _disallow_rules(crawler_class: CrawlerClass) -> dict[str, Rule]:
    """Return the Disallow rules of a class of crawlers, by pattern."""
    return {rule.form: rule for rule in crawler_class.written if not rule.allow and rule.form}


def _allows(crawler_class: CrawlerClass, rule: Rule) -> bool:
    """Return whether no rule of a class of crawlers matches the URL that *rule* blocks."""
    path = rule.form.replace("*", "").removesuffix("$")
    return path.startswith("/") and crawler_class.rules.check(ORIGIN + path).rule is None


def _ignores_star(name: str) -> bool:
    """Return whether a crawler ignores the `*` group, according to its operator."""
    known = KNOWN_CRAWLERS.get(name)
    return known is not None and known.ignores_star
