"""RR901: a suppression without a note to suppress."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robotrules.linting.check import Check, SuppressionCheck, join_names, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.suppressions import Suppression, Used, removal_fix


class UnusedSuppression(SuppressionCheck):
    """
    What it finds:
        A comment `# robotrules: ignore[…]` with nothing to suppress: a check that it names found
        nothing there. It is reported only if that check ran.

    Why it matters:
        The reason for the comment is gone, and if the problem comes back, it is not reported.

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
    message = "This suppression has no effect: {names} found nothing. Remove it."
    reference = "docs/linting.md"

    def check_suppressions(
        self,
        context: LintContext,
        suppressions: Sequence[Suppression],
        used: Used,
        checks: Sequence[Check],
    ) -> Iterator[LintNote]:
        """Yield the suppressions that suppressed nothing, although their checks ran."""
        ran = {name for check in checks for name in _names(check) if _is_complete(context, check)}
        all_ran = len(checks) == _count_checks()
        for suppression in suppressions:
            matched = used.get(suppression, frozenset())
            if "" in matched or not (suppression.names or all_ran):
                continue
            idle = [
                name for name in suppression.names if name.text in ran and name.text not in matched
            ]
            if not suppression.names:
                names = "all checks"
            elif idle:
                names = join_names([quote(name.written) for name in idle])
            else:
                continue
            line = context.line(suppression.line)
            fix = removal_fix(line, context.whole_line(suppression.line), suppression, idle)
            span = suppression.start, suppression.end
            yield self.note(context, *span, names=names, fix=fix)


def _is_complete(context: LintContext, check: Check) -> bool:
    """Return whether a check examined everything, so that finding nothing is conclusive."""
    if check.code.startswith("RR9"):
        return False  # notes about suppressions cannot be suppressed
    if check.code.startswith("RR7"):
        return context.received.status is not None
    return not (check.code in context.ended or (check.exact and context.proofs.undecided))


def _names(check: Check) -> tuple[str, str]:
    return check.code.lower(), check.slug


def _count_checks() -> int:
    # Not at the top: that module imports this one.
    from robotrules.linting.checks import CHECKS

    return len(CHECKS)
