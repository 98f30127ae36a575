"""RR902: a suppression that names no existing check, or has a syntax error."""

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

# The code in examples.
EXAMPLE = "RR501"
# Names for which a similar name is searched.
MOST_GUESSES = 20


class UnknownSuppression(SuppressionCheck):
    """
    What it finds:
        A comment `# robotrules: ignore[…]` with a name that is neither the code nor the slug of a
        check; the start of a code, such as `RR5`, is not enough. Also a comment with another form:
        names without brackets, brackets without names, or another word.

    Why it matters:
        It suppresses nothing. The note that it was meant for is still reported, or never was.

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
        suppressions: Sequence[Suppression],
        used: Used,
        checks: Sequence[Check],
    ) -> Iterator[LintNote]:
        """Yield the names that match no check, and malformed suppressions."""
        # Not at the top: that module imports this one.
        from robotrules.linting.checks import CHECKS

        known = {name: check for check in CHECKS for name in (check.code.lower(), check.slug)}
        for malformed in find_malformed(context.lines):
            hint, fix = _suggest(malformed, known)
            text, span = (
                quote(f"{malformed.word}{malformed.rest}"),
                (malformed.start, malformed.end),
            )
            yield self.note(
                context, *span, text=text, what="suppresses nothing", hint=hint, fix=fix
            )
        guesses = MOST_GUESSES
        for suppression in suppressions:
            for name in suppression.names:
                if name.text in known:
                    continue
                guesses -= 1
                close = get_close_matches(name.text[:60], known, 1) if guesses >= 0 else []
                check = known[close[0]] if close else None
                hint, fix = "'robotrules rule --all' lists all checks", None
                if check:
                    hint = f"The closest name is {check.code} ({check.slug})"
                if check and close[0] == check.slug:  # a similar code is not certain to be meant
                    edit = Edit(name.start, name.end, check.slug.encode())
                    fix = Fix(f"Write {quote(check.slug)}", (edit,))
                text, what = quote(name.written), "is not a check"
                yield self.note(
                    context, name.start, name.end, text=text, what=what, hint=hint, fix=fix
                )


def _suggest(malformed: MalformedSuppression, known: Collection[str]) -> tuple[str, Fix | None]:
    """Return how to write a malformed suppression, with a fix if that is certain."""
    word, names = malformed.word.lower(), malformed.rest.replace(",", " ").split()
    if word not in (IGNORE, IGNORE_FILE):
        return f"Write '{IGNORE}[{EXAMPLE}]' or '{IGNORE_FILE}[{EXAMPLE}]'", None
    if malformed.rest.lstrip().startswith("["):
        return f"Name a check in the brackets, as in '{word}[{EXAMPLE}]'", None
    if 0 < len(names) <= MOST_NAMES and all(name.lower() in known for name in names):
        text = f"{word}[{', '.join(names)}]"
        edit = Edit(malformed.start, malformed.end, f"# robotrules: {text}".encode())
        hint = f"Put the names in brackets: write {quote(text)}"
        return hint, Fix(f"Write {quote(text)}", (edit,))
    return f"Name checks in brackets, as in '{word}[{EXAMPLE}]', and give reasons after them", None
