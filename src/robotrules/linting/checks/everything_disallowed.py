"""RR512: a file that blocks every URL for all crawlers."""

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

# A file with more rules than this does not disallow everything by accident.
MOST_RULES = 500


class EverythingDisallowed(Check):
    """
    What it finds:
        A file that disallows every URL for all crawlers, with no exception for a named crawler. It
        is proved that no URL is allowed, not tested on samples.

    Why it matters:
        This is right for a site that should not be crawled. Test servers use it too, and it is
        often copied by mistake when a site goes live: search engines then fetch nothing. They may
        still list URLs that other sites link to, because they cannot see a `noindex` on pages that
        they do not fetch. On a test server, write `# robotrules: ignore[RR512]` to accept it.

    Example:
            User-agent: *
            Disallow: /

    Instead:
        For a site that search engines should find:

            User-agent: *
            Disallow:
    """

    code = "RR512"
    slug = "everything-disallowed"
    level = "warning"
    message = (
        "{rule} blocks every URL of the site for all crawlers. If search engines should find the "
        "site, write 'Disallow:' without a path."
    )
    reference = "RFC 9309 §2.2.2"
    exact = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rule, if it applies to all crawlers and no URL stays allowed."""
        if not any(_is_for_all(rule) for group in context.groups for rule in group.rules):
            return  # avoids the cost of finding the rules of every crawler
        star = next((kind for kind in context.crawler_classes if _is_star(kind)), None)
        rule = _for_all(star) if star else None
        if star is None or rule is None or len(star.written) > MOST_RULES:
            return
        # An exception for a named crawler shows that the rule is intended.
        if not all(_for_all(kind) for kind in context.crawler_classes):
            return
        # A cheap test finds most exceptions, and the proof below excludes the others.
        if any(written.allow and _allows_own_path(star, written) for written in star.written):
            return
        all_blocked = parse(b"User-agent: *\nDisallow: /", context.robots.profile).rules_for("*")
        if equivalent(star.rules, all_blocked, max_states=context.max_states).equal:
            yield self.about(context, rule, rule=quote(str(rule)))


def _is_star(kind: CrawlerClass) -> bool:
    return any(
        crawler.product_token == EVERYONE_ELSE and not crawler.purposes for crawler in kind.crawlers
    )


def _for_all(kind: CrawlerClass) -> Rule | None:
    """Return the rule of a kind of crawler that disallows every path."""
    return next(filter(_is_for_all, kind.written), None)


def _is_for_all(rule: Rule) -> bool:
    return not rule.allow and rule.pattern != "" and rule.form.rstrip("*") in ("", "/")


def _allows_own_path(kind: CrawlerClass, rule: Rule) -> bool:
    path = rule.form.removesuffix("$").replace("*", "x")
    return path[:1] == "/" and path != "/robots.txt" and kind.rules.allows(ORIGIN + path)
