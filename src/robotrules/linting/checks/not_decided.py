"""RR590: rules that the exact checks did not decide within the budget."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote


class NotDecided(Check):
    """
    What it finds:
        Rules that the exact checks did not decide, because the file has very many rules, or
        patterns with very many wildcards. Lint limits the states, so it finishes in about a second.

    Why it matters:
        These rules may be dead or redundant without a note. The notes that are reported are still
        proved.

    Example:
        A group with hundreds of patterns such as `/*a*b*c*d*e*f`, each of which may cover another.

    Instead:
        Run `robotrules simplify`, which has a larger budget and lists the rules that can be
        removed. `--max-states` raises the limit of each query, but not the limit of all queries
        together in a file with very many rules.
    """

    code = "RR590"
    slug = "not-decided"
    level = "info"
    message = "{count} checked for redundancy; 'robotrules simplify' checks {them}."
    reference = "docs/analysis.md"
    exact = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield one note for all undecided rules."""
        undecided = context.proofs.undecided
        if undecided:
            line = undecided[0].line
            several = f"{len(undecided):,} rules (from line {line} on) were not"
            is_single = len(undecided) == 1
            count = f"The rule of line {line} was not" if is_single else several
            yield self.about_file(count=count, them="it" if is_single else "them")
