"""RR590: rules that the exact checks did not decide within their budget."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check
from robotrules.linting.note import LintNote
from robotrules.linting.subject import Subject


class NotDecided(Check):
    """
    What it finds:
        Rules about which the exact checks gave up, because the file has very many rules or patterns
        with very many wildcards. Lint has a budget, so that it answers in about a second.

    Why it matters:
        What was not decided may be in order or not: nobody looked to the end. Every note that is
        given is proved all the same.

    Example:
        A group with hundreds of patterns such as `/*a*b*c*d*e*f`, each of which may cover another.

    Instead:
        Run `robotrules lint --budget 100000`, which takes longer, or `robotrules simplify`, which
        looks for what can go with a larger budget of its own.
    """

    code = "RR590"
    slug = "not-decided"
    level = "info"
    message = (
        "Whether {count} anything was not decided within {budget:,} states a question; the "
        "first is in line {line}."
    )
    reference = "docs/analysis.md"
    exact = True

    def check(self, subject: Subject) -> Iterator[LintNote]:
        """Yield one note for all of them."""
        undecided = subject.exact.undecided
        if undecided:
            count = "one rule does" if len(undecided) == 1 else f"{len(undecided):,} rules do"
            yield self.about_file(count=count, budget=subject.budget, line=undecided[0].line)
