"""RR901: a comment that asks not to report what is not there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robotrules.linting.check import Check, SuppressionCheck, join_names, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.suppressions import Suppression, Used, removal_fix


class UnusedSuppression(SuppressionCheck):
    """
    What it finds:
        A comment `# robotrules: ignore[…]` for which there is nothing to ignore: a check that it
        names found nothing there. It only counts where that check did run.

    Why it matters:
        The reason for the comment is gone, and if the fault comes back nobody will hear of it.

    Example:
            User-agent: *
            Disallow: /private/   # robotrules: ignore[pattern-start]

    Instead:
            User-agent: *
            Disallow: /private/
    """

    code = "RR901"
    slug = "unused-suppression"
    level = "warning"
    message = "Nothing is there to ignore: {names} found nothing."
    reference = "docs/linting.md"

    def check_suppressions(
        self,
        context: LintContext,
        asked: Sequence[Suppression],
        used: Used,
        checks: Sequence[Check],
    ) -> Iterator[LintNote]:
        """Yield the comments that kept nothing back, and could have."""
        ran = {name for check in checks for name in _names(check) if self._decides(context, check)}
        everything = len(checks) == _how_many()
        for one in asked:
            kept = used.get(one, frozenset())
            if "" in kept or not (one.names or everything):
                continue
            idle = [name for name in one.names if name.text in ran and name.text not in kept]
            if not one.names:
                names = "all checks"
            elif idle:
                names = join_names([quote(name.written) for name in idle])
            else:
                continue
            fix = removal_fix(context.line(one.line), context.whole_line(one.line), one, idle)
            yield self.note(context, one.start, one.end, names=names, fix=fix)

    def _decides(self, context: LintContext, check: Check) -> bool:
        """Tell whether a check that found nothing has looked at everything."""
        if check.code.startswith("RR9"):
            return False  # what these find cannot be kept back
        if check.code.startswith("RR7"):
            return context.received.status is not None
        return not (check.code in context.ended or (check.exact and context.proofs.undecided))


def _names(check: Check) -> tuple[str, str]:
    return check.code.lower(), check.slug


def _how_many() -> int:
    # Not at the top: that module imports this one.
    from robotrules.linting.checks import CHECKS

    return len(CHECKS)
