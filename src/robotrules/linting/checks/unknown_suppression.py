"""RR902: a comment that names a check that does not exist."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from robotrules.linting.check import Check, quote
from robotrules.linting.note import LintNote
from robotrules.linting.subject import Subject
from robotrules.linting.suppressions import Suppression, Used, without

# Names for which a near one is looked for.
MOST_GUESSES = 20


class UnknownSuppression(Check):
    """
    What it finds:
        A comment `# robotrules: ignore[…]` that names no check by its code or slug. The beginning
        of a code, such as `RR5`, is no name here.

    Why it matters:
        It keeps nothing back. What was to be ignored is still reported, or was never found.

    Example:
            User-agent: *
            Disallow: private/   # robotrules: ignore[patern-start]

    Instead:
            User-agent: *
            Disallow: private/   # robotrules: ignore[pattern-start]
    """

    code = "RR902"
    slug = "unknown-suppression"
    level = "warning"
    message = "{name} is no check. {hint}."
    reference = "docs/lint.md"

    def check(self, subject: Subject) -> Iterator[LintNote]:
        """Yield nothing: this looks at comments only."""
        return iter(())

    def check_suppressions(
        self,
        subject: Subject,
        asked: Sequence[Suppression],
        used: Used,
        checks: Sequence[Check],
    ) -> Iterator[LintNote]:
        """Yield the names that are nobody's."""
        # Not at the top: that module imports this one.
        from robotrules.linting.checks import CHECKS

        known = {name: check for check in CHECKS for name in (check.code.lower(), check.slug)}
        guesses = MOST_GUESSES
        for one in asked:
            for name in one.names:
                if name.text in known:
                    continue
                guesses -= 1
                near = get_close_matches(name.text[:60], known, 1) if guesses >= 0 else []
                check = known[near[0]] if near else None
                hint = (
                    f"The nearest is {check.code} ({check.slug})"
                    if check
                    else "'robotrules rule --all' lists what there is"
                )
                fix = without(subject.line(one.line), subject.whole_line(one.line), one, [name])
                yield self.note(
                    subject, name.start, name.end, name=quote(name.text), hint=hint, fix=fix
                )
