"""RR504: a rule without which every URL would get the same verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robotrules.analysis.values import Redundant
from robotrules.linting.check import Check, quote, relate, relate_notes
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote


class RedundantRule(Check):
    """
    What it finds:
        A rule that decides some URLs, all of which a shorter rule would decide in the same way.
        This is proved for all URLs there are. Of several such rules each could go alone. A file has
        one note for all of them, at the first.

    Why it matters:
        Nothing is wrong with it. But a file that says things once is easier to read, and a rule
        that seems to be an exception and is none misleads. `Allow: /` is not reported: it says
        aloud what holds anyway, and many files have it on purpose.

    Example:
            User-agent: *
            Disallow: /shop/
            Disallow: /shop/cart/

    Instead:
            User-agent: *
            Disallow: /shop/

        `robotrules simplify` finds how many can go together, and proves it.
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
        for _, found in sorted(context.proofs.redundant.items()):
            rule = found.rule
            if rule.allow and rule.form in ("/", "/*", "*"):
                continue
            told = context.proofs.dead.keys() | context.proofs.equal_patterns.keys()
            if found.instead and all(other.line in told for other in found.instead):
                continue  # of the two, the one that decides nothing or repeats was told
            if not _is_alike_everywhere(found):
                continue
            yield self.about(
                context,
                rule,
                rule=quote(str(rule)),
                why=_why(found),
                related=[relate("says the same", other) for other in found.instead],
            )

    def summary(self, context: LintContext, notes: Sequence[LintNote]) -> LintNote:
        """Say how many there are; the first is described."""
        first, rest = notes[0], notes[1:]
        why = first.message.rpartition(" is redundant: ")[2]
        words = (
            f"{len(notes):,} rules are redundant. The first is this one: {why} "
            "'robotrules simplify' finds which of them can go together."
        )
        more = relate_notes(rest, "redundant, too")
        return first._replace(message=words, related=(*first.related, *more))


def _is_alike_everywhere(found: Redundant) -> bool:
    """
    Tell whether parsers that do not unescape see the same redundancy.

    Google's parser tells `/a%3Ab` from `/a:b` (AMB-36). Where a pattern with an escape is not
    covered as it is written, it may be needed there.
    """
    if "%" not in found.rule.pattern and not any("%" in one.pattern for one in found.instead):
        return True
    return any(found.rule.pattern.startswith(one.pattern) for one in found.instead)


def _why(found: Redundant) -> str:
    lines = [str(rule.line) for rule in found.instead]
    which = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(lines)} together"
    if found.rule.allow:
        # Where nothing disallows, no rule is needed (§2.2.2): the lines are for the rest.
        kept = (
            f", by {which.removesuffix(' together')} where a rule says otherwise" if lines else ""
        )
        return f"these URLs are allowed without it{kept}"
    blocks = "blocks" if len(lines) == 1 else "block"
    return f"{which} already {blocks} these URLs"
