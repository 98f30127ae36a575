"""RR590: rules that the exact checks did not decide within their budget."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote


class NotDecided(Check):
    """
    What it finds:
        Rules about which the exact checks gave up, because the file has very many rules or patterns
        with very many wildcards. Lint has a budget, so that it answers in about a second.

    Why it matters:
        What was not checked may be in order or not. Every note that is given is proved all the
        same.

    Example:
        A group with hundreds of patterns such as `/*a*b*c*d*e*f`, each of which may cover another.

    Instead:
        Run `robotrules simplify`, which has a larger budget of its own and says which rules can go.
        `--budget` lets each question see more; a file with very many rules has a limit for all
        questions together, which it does not raise.
    """

    code = "RR590"
    slug = "not-decided"
    level = "info"
    message = "{count} checked for redundancy; 'robotrules simplify' checks {them}."
    reference = "docs/analysis.md"
    exact = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield one note for all of them."""
        undecided = context.proofs.undecided
        if undecided:
            line = undecided[0].line
            many = f"{len(undecided):,} rules (from line {line} on) were not"
            one = len(undecided) == 1
            count = f"The rule of line {line} was not" if one else many
            yield self.about_file(count=count, them="it" if one else "them")
