"""RR509: rules that a parser which takes the first match reads differently."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.analysis.values import ORIGIN
from robotrules.linting.check import Check, quote, relate
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.rule_proofs import MOST_WILD, CrawlerClass, PrefixIndex
from robotrules.robotstxt.values import Rule


class OrderDependent(Check):
    """
    What it finds:
        A rule that wins because it is longer, after a shorter rule that says the opposite. It is
        shown with a URL; of one group the first such rule is reported.

    Why it matters:
        RFC 9309 looks for the longest match, whatever the order. The draft of 1996 took the first
        line that matches, and programs that still do, such as scripts on older versions of Python's
        `urllib.robotparser`, never get to the longer rule. In the other order both read the same.

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
        "Parsers that take the first match stop at line {line} ({first}) and do not get here; put "
        "the longer rule first and all of them agree{more}."
    )
    reference = "RFC 9309 §2.2.2; REP-2.2.2-05"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield for each group the first rule that depends on its place."""
        told: set[int] = set()
        for kind, decided in zip(
            context.crawler_classes, context.proofs.decided_paths, strict=True
        ):
            if kind.groups[0] in told:
                continue
            found = list(_dependent(kind, decided))
            if not found:
                continue
            told.update(kind.groups)
            path, rule, first = found[0]
            rest = len(found) - 1
            more = f"; {rest:,} more rules here depend on it" if rest > 1 else ""
            more = "; one more rule here depends on it" if rest == 1 else more
            yield self.about(
                context,
                rule,
                url=ORIGIN + path,
                line=first.line,
                first=quote(str(first)),
                more=more,
                related=[relate("the first that matches", first)],
            )


def _dependent(kind: CrawlerClass, decided: dict[int, str]) -> Iterator[tuple[str, Rule, Rule]]:
    """Yield a path, the rule that decides it, and the first that matches and says otherwise."""
    if len({rule.allow for rule in kind.written if rule.form}) < 2:
        return
    prefixes = PrefixIndex(kind)
    if len(prefixes.others) > MOST_WILD:
        return
    for at, path in sorted(decided.items()):
        first = min(prefixes.matching(path), default=None, key=lambda one: one[0])
        if first and first[0] < at and first[1].allow != kind.written[at].allow:
            yield path, kind.written[at], first[1]
