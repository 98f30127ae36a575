"""RR512: a file that asks everyone to fetch nothing."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.analysis.compare import equivalent
from robotrules.analysis.crawlers import EVERYONE_ELSE
from robotrules.analysis.values import ORIGIN
from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.rule_proofs import CrawlerClass
from robotrules.robotstxt import parse
from robotrules.robotstxt.values import Rule

# With more rules than this, nobody disallowed everything by accident.
MOST_RULES = 500


class EverythingDisallowed(Check):
    """
    What it finds:
        A file that disallows every URL for everyone, and that welcomes nobody by name. That no URL
        is allowed is proved, not tried.

    Why it matters:
        This is right for a site that should not be crawled. It is also what test servers have, and
        it often comes along when a site goes live: then search engines fetch nothing from that day
        on. They may still list addresses that others link to, because they cannot see a `noindex`
        on pages that they are asked not to fetch. On a test server, `# robotrules: ignore[RR512]`
        says that it is meant.

    Example:
            User-agent: *
            Disallow: /

    Instead:
        For a site that should be found:

            User-agent: *
            Disallow:
    """

    code = "RR512"
    slug = "everything-disallowed"
    level = "warning"
    message = "{rule} blocks every URL of the site for all crawlers. Is that still meant?"
    reference = "RFC 9309 §2.2.2"
    exact = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rule, if it is for everyone and nothing is left over."""
        if not any(_is_for_all(rule) for group in context.groups for rule in group.rules):
            return  # who obeys which groups is only then worth asking
        star = next((kind for kind in context.crawler_classes if _is_star(kind)), None)
        rule = _for_all(star) if star else None
        if star is None or rule is None or len(star.written) > MOST_RULES:
            return
        # Who is welcome by name shows that the rest was meant.
        if not all(_for_all(kind) for kind in context.crawler_classes):
            return
        # Most exceptions are seen at once, and the others are proved not to be there.
        if any(one.allow and _spells_allowed(star, one) for one in star.written):
            return
        nothing = parse(b"User-agent: *\nDisallow: /", context.robots.profile).rules_for("*")
        if equivalent(star.rules, nothing, budget=context.budget).equal:
            yield self.about(context, rule, rule=quote(str(rule)))


def _is_star(kind: CrawlerClass) -> bool:
    return any(one.product_token == EVERYONE_ELSE and not one.purposes for one in kind.crawlers)


def _for_all(kind: CrawlerClass) -> Rule | None:
    """Return the rule of a kind that disallows every path."""
    return next(filter(_is_for_all, kind.written), None)


def _is_for_all(rule: Rule) -> bool:
    return not rule.allow and rule.pattern != "" and rule.form.rstrip("*") in ("", "/")


def _spells_allowed(kind: CrawlerClass, rule: Rule) -> bool:
    path = rule.form.removesuffix("$").replace("*", "x")
    return path[:1] == "/" and path != "/robots.txt" and kind.rules.allows(ORIGIN + path)
