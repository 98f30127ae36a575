"""RR418: a group for a named crawler that has none, or not all, of the rules for everyone."""

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

# The share of the rules for everyone from which on a group leaves out the others on purpose.
REPEATED = 0.5


class StarNotInherited(Check):
    """
    What it finds:
        A group that names a crawler and has rules of its own for it, while a rule of the group for
        everyone is not repeated there, so that the crawler may fetch what others may not. A group
        that allows such a URL by a rule of its own means it, and is left alone.

    Why it matters:
        A crawler that is named obeys its own group alone: the group of `*` is for those that no
        group names. What is blocked for everyone is open to this crawler, unless it is repeated.
        That surprises many people. Where it is meant, an Allow for these URLs says so, and
        `# robotrules: ignore[RR418]` leaves the note out. Crawlers that ignore the group of `*` by
        their operators' documentation, such as AdsBot-Google, have lost nothing. A group that
        repeats half of the rules or more was written by somebody who knows: what it leaves out is a
        note for information.

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
        "{names} {obey} this group alone{repeats}, so {they} may fetch what line {line} ({rule}) "
        "blocks for everyone else."
    )
    reference = "RFC 9309 §2.2.1"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield groups of named crawlers that do not repeat all that everyone is asked."""
        star = next((kind for kind in context.crawler_classes if _is_star(kind)), None)
        asked = _disallows(star) if star else {}
        # A file that asks everyone to leave names those that it welcomes.
        if star is None or not asked or "/" in asked:
            return
        for kind in context.crawler_classes:
            own = _disallows(kind)
            if kind is star or not own or "/" in own:
                continue
            names = [name for name in kind.names if not _ignores_star(name)]
            forgotten = (rule for form, rule in asked.items() if form not in own)
            lost = next((rule for rule in forgotten if names and _allows(kind, rule)), None)
            if lost is None:
                continue
            repeated = len(own.keys() & asked.keys())
            start = context.groups[kind.groups[0]].starts[0]
            yield self.about(
                context,
                start,
                # Whoever repeats that many knows that the group stands alone.
                level="info" if repeated >= len(asked) * REPEATED else None,
                url=ORIGIN + lost.form.replace("*", "").removesuffix("$"),
                names=join_names(names),
                obey="obeys" if len(names) == 1 else "obey",
                they="it" if len(names) == 1 else "they",
                repeats=f", which repeats {repeated} of {len(asked)} rules for everyone"
                if repeated
                else "",
                line=lost.line,
                rule=quote(str(lost)),
            )


def _is_star(kind: CrawlerClass) -> bool:
    return any(c.product_token == EVERYONE_ELSE and not c.purposes for c in kind.crawlers)


def _disallows(kind: CrawlerClass) -> dict[str, Rule]:
    """Return what a kind of crawlers is asked to leave, by pattern."""
    return {rule.form: rule for rule in kind.written if not rule.allow and rule.form}


def _allows(kind: CrawlerClass, rule: Rule) -> bool:
    """Tell whether what a rule blocks is open to a kind, and no rule of its own says so."""
    path = rule.form.replace("*", "").removesuffix("$")
    return path.startswith("/") and kind.rules.check(ORIGIN + path).rule is None


def _ignores_star(name: str) -> bool:
    """Tell whether a crawler ignores the group for everyone, by its operator's documentation."""
    known = KNOWN_CRAWLERS.get(name)
    return known is not None and known.ignores_star
