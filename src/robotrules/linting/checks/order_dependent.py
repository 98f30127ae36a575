"""RR509: rules whose order matters to a parser that takes the first match."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.analysis.values import ORIGIN
from robotrules.linting.check import Check, quote, relate
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.rule_proofs import MOST_WILD, CrawlerClass, PlainPatternIndex
from robotrules.robotstxt.values import Rule


class OrderDependent(Check):
    """
    What it finds:
        A rule that wins because it is longer, after a shorter rule that says the opposite. The note
        has an example URL. Only the first such rule of a group is reported.

    Why it matters:
        RFC 9309 uses the longest match, in any order. The draft of 1996 used the first rule that
        matches, and programs that still do, such as scripts with Python's `urllib.robotparser`
        before 2026, never reach the longer rule. In the other order, both agree.

    Example:
            User-agent: *
            Disallow: /shop/
            Allow: /shop/open/

    Instead:
            User-agent: *
            Allow: /shop/open/
            Disallow: /shop/
    """

    code = "RR509"
    slug = "order-dependent"
    level = "info"
    message = (
        "Parsers that use the first match, such as Python's urllib.robotparser before 2026, stop "
        "at line {line} ({first}). Put the longer rule first{more}."
    )
    reference = "RFC 9309 §2.2.2; REP-2.2.2-05"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield for each group the first rule that depends on its position."""
        reported: set[int] = set()
        decided_paths = context.proofs.decided_paths
        for crawler_class, paths in zip(context.crawler_classes, decided_paths, strict=True):
            if crawler_class.groups[0] in reported:
                continue
            dependent = list(_find_dependent(crawler_class, paths))
            if not dependent:
                continue
            reported.update(crawler_class.groups)
            path, rule, first = dependent[0]
            rest = len(dependent) - 1
            more = f"; {rest:,} more rules of this group depend on the order" if rest > 1 else ""
            more = "; one more rule of this group depends on the order" if rest == 1 else more
            yield self.about(
                context,
                rule,
                url=ORIGIN + path,
                line=first.line,
                first=quote(str(first)),
                more=more,
                related=[relate("the first match", first)],
            )


def _find_dependent(
    crawler_class: CrawlerClass, decided_paths: dict[int, str]
) -> Iterator[tuple[str, Rule, Rule]]:
    """Yield a path, the rule that decides it, and the first match if it says the opposite."""
    written = crawler_class.written
    if len({rule.allow for rule in written if rule.form}) < 2:
        return
    prefixes = PlainPatternIndex(crawler_class)
    if len(prefixes.others) > MOST_WILD:
        return
    for at, path in sorted(decided_paths.items()):
        first = min(prefixes.matching(path), default=None, key=lambda match: match[0])
        if first and first[0] < at and first[1].allow != written[at].allow:
            yield path, written[at], first[1]
