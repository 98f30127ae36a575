"""RR504: a rule whose removal changes no verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robotrules.analysis.values import RedundantRuleFinding
from robotrules.linting.check import Check, quote, relate, relate_notes
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote


class RedundantRule(Check):
    """
    What it finds:
        A rule that decides some URLs, all of which a shorter rule would decide in the same way.
        This is proved for all possible URLs. Each of several such rules can be removed on its own,
        but not always together. A file has one note for all of them, at the first.

    Why it matters:
        The rule is harmless. But a file without repetition is easier to read, and a rule that looks
        like an exception without being one is misleading. `Allow: /` is not reported: many files
        state the default on purpose.

    Example:
            User-agent: *
            Disallow: /shop/
            Disallow: /shop/cart/

    Instead:
            User-agent: *
            Disallow: /shop/

        `robotrules simplify` finds which rules can be removed together, and proves it.
    """

    code = "RR504"
    slug = "redundant-rule"
    level = "info"
    message = "{rule} is redundant: {why}."
    reference = "RFC 9309 §2.2.2"
    exact = True
    summed_up = ("info",)

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules that are proved to be redundant."""
        for _, redundant in sorted(context.proofs.redundant.items()):
            rule = redundant.rule
            if rule.allow and rule.form in ("/", "/*", "*"):
                continue
            reported = context.proofs.dead.keys() | context.proofs.equal_patterns.keys()
            if redundant.instead and all(other.line in reported for other in redundant.instead):
                continue  # another check reports the other rule, as dead or as a duplicate
            if not _is_redundant_unnormalized(redundant):
                continue
            yield self.about(
                context,
                rule,
                rule=quote(str(rule)),
                why=_explain(redundant),
                related=[relate("covers it", other) for other in redundant.instead],
            )

    def summary(self, context: LintContext, notes: Sequence[LintNote]) -> LintNote:
        """Return a note with the number of redundant rules and a description of the first."""
        first, rest = notes[0], notes[1:]
        why = first.message.rpartition(" is redundant: ")[2]
        words = (
            f"{len(notes):,} rules are redundant. The first is this one: {why} "
            "'robotrules simplify' finds which of them can be removed together."
        )
        more = relate_notes(rest, "also redundant")
        return first._replace(message=words, related=(*first.related, *more))


def _is_redundant_unnormalized(redundant: RedundantRuleFinding) -> bool:
    """
    Return whether the rule is also redundant for parsers that do not normalise escapes.

    Google's parser distinguishes `/a%3Ab` from `/a:b` (AMB-36). A pattern with an escape that is
    not covered as it is written may be needed there.
    """
    pattern = redundant.rule.pattern
    if "%" not in pattern and not any("%" in rule.pattern for rule in redundant.instead):
        return True
    return any(pattern.startswith(rule.pattern) for rule in redundant.instead)


def _explain(redundant: RedundantRuleFinding) -> str:
    lines = [str(rule.line) for rule in redundant.instead]
    which = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(lines)} together"
    if redundant.rule.allow:
        # Without a Disallow no rule is needed (§2.2.2): the lines are for the other URLs.
        others = which.removesuffix(" together")
        kept = f", by {others} where another rule would block them" if lines else ""
        return f"these URLs are allowed without it{kept}"
    blocks = "blocks" if len(lines) == 1 else "block"
    return f"{which} already {blocks} these URLs"
