"""RR902: a comment that names a check that does not exist, or asks for nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches

from robotrules.linting.check import Check, SuppressionCheck, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.linting.suppressions import (
    IGNORE,
    IGNORE_FILE,
    MOST_NAMES,
    MalformedSuppression,
    Suppression,
    Used,
    find_malformed,
)

# A code for hints.
EXAMPLE = "RR501"
# Names for which a near one is looked for.
MOST_GUESSES = 20


class UnknownSuppression(SuppressionCheck):
    """
    What it finds:
        A comment `# robotrules: ignore[…]` that names no check by its code or slug. The beginning
        of a code, such as `RR5`, is no name here. Also one that is not written like that: names
        without brackets, brackets without names, or another word.

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
    message = "{text} {what}. {hint}."
    reference = "docs/linting.md"

    def check_suppressions(
        self,
        context: LintContext,
        asked: Sequence[Suppression],
        used: Used,
        checks: Sequence[Check],
    ) -> Iterator[LintNote]:
        """Yield the names that are nobody's, and what only looks like a request."""
        # Not at the top: that module imports this one.
        from robotrules.linting.checks import CHECKS

        known = {name: check for check in CHECKS for name in (check.code.lower(), check.slug)}
        for odd in find_malformed(context.lines):
            hint, fix = _cure(odd, known)
            text = quote(f"{odd.word}{odd.rest}")
            what = "keeps nothing back"
            yield self.note(context, odd.start, odd.end, text=text, what=what, hint=hint, fix=fix)
        guesses = MOST_GUESSES
        for one in asked:
            for name in one.names:
                if name.text in known:
                    continue
                guesses -= 1
                near = get_close_matches(name.text[:60], known, 1) if guesses >= 0 else []
                check = known[near[0]] if near else None
                hint, fix = "'robotrules rule --all' lists what there is", None
                if check:
                    hint = f"The nearest is {check.code} ({check.slug})"
                if check and near[0] == check.slug:  # of codes that look alike none is nearer
                    edit = Edit(name.start, name.end, check.slug.encode())
                    fix = Fix(f"Write {quote(check.slug)}", (edit,))
                text, what = quote(name.written), "is no check"
                yield self.note(
                    context, name.start, name.end, text=text, what=what, hint=hint, fix=fix
                )


def _cure(odd: MalformedSuppression, known: Collection[str]) -> tuple[str, Fix | None]:
    """Return what to write for what only looks like a request; with a fix if that is certain."""
    word, names = odd.word.lower(), odd.rest.replace(",", " ").split()
    if word not in (IGNORE, IGNORE_FILE):
        return f"It is written '{IGNORE}[{EXAMPLE}]' or '{IGNORE_FILE}[{EXAMPLE}]'", None
    if odd.rest.lstrip().startswith("["):
        return f"Name a check in the brackets, as in '{word}[{EXAMPLE}]'", None
    if 0 < len(names) <= MOST_NAMES and all(name.lower() in known for name in names):
        meant = f"{word}[{', '.join(names)}]"
        edit = Edit(odd.start, odd.end, f"# robotrules: {meant}".encode())
        return f"Names stand in brackets: write {quote(meant)}", Fix(
            f"Write {quote(meant)}", (edit,)
        )
    return f"Name checks in brackets, as in '{word}[{EXAMPLE}]', and reasons behind them", None
