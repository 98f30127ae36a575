"""
Lint: what is wrong, odd or misunderstood in a robots.txt, and in the tags of a page.

    import robotrules
    for note in robotrules.lint(body):
        print(note)

Each check has a stable code, a level, teaching text, a reference, and a fix where the fix is
certain. Checks read the one parse that everything reads. Records that nobody knows are not
punished: RFC 9309 §2.2.4 welcomes them. It does no I/O and does not know how notes are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from robotrules.analysis.values import ORIGIN
from robotrules.http.origins import origin_of
from robotrules.linting.check import MOST_NOTES, Check, PageCheck, SuppressionCheck
from robotrules.linting.checks import CHECKS
from robotrules.linting.context import LintContext, Page, Received
from robotrules.linting.fixing import Fixed, fix
from robotrules.linting.intent import trusted
from robotrules.linting.note import LEVELS, Edit, Fix, LintNote, Related
from robotrules.linting.rule_proofs import BUDGET
from robotrules.linting.selection import chosen, find
from robotrules.linting.suppressions import sieved, suppressions
from robotrules.registries import SHIPPED, Registries
from robotrules.robotstxt import RobotsTxt, parse

if TYPE_CHECKING:
    from robotrules.profile import Profile

__all__ = [
    "BUDGET",
    "CHECKS",
    "LEVELS",
    "Check",
    "Edit",
    "Fix",
    "Fixed",
    "LintNote",
    "Received",
    "Related",
    "chosen",
    "find",
    "fix",
    "lint",
    "lint_page",
]


def lint(
    body: str | bytes | bytearray | memoryview | RobotsTxt,
    *,
    profile: str | Profile = "default",
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    received: Received | None = None,
    registries: Registries = SHIPPED,
    budget: int = BUDGET,
) -> list[LintNote]:
    """
    Return what checks find in a robots.txt, in the order of the file.

    *select* and *ignore* name checks by code, beginning of a code, or slug. *received* says how the
    file was served, where that is known. *budget* is how many states each exact question may see;
    what it does not decide is a note too. Of one check at most 10,000 notes without a fix are
    listed, and that there are more is a note. Content never raises.
    """
    robots = body if isinstance(body, RobotsTxt) else parse(body, profile)
    checks = chosen(select, ignore)
    context = LintContext(robots, received, registries, budget)
    found = [note for check in checks for note in _found(check, context)]
    # What an ended check did not come to counts where a fix could rest on it.
    whole = [check for check in checks if check.code not in context.ended]
    kept = _unsuppressed(context, list(trusted(context, found, whole)), checks)
    return sorted(_at_origin(context, _summed_up(context, kept)), key=_place)


def _found(check: Check, context: LintContext) -> Iterator[LintNote]:
    """Yield what a check finds; of what has no fix, no more than is listed."""
    without_fix = 0
    for note in check.check(context):
        without_fix += note.fix is None
        if without_fix > MOST_NOTES and not check.summed_up:
            context.ended[check.code] = check.slug
            return
        yield note


def _place(note: LintNote) -> tuple[int, int, str, int]:
    return note.line or 0, note.start, note.code, note.end


def _summed_up(context: LintContext, notes: Iterable[LintNote]) -> Iterator[LintNote]:
    """Yield notes; of checks that speak once for a file, one for all that nobody suppressed."""
    speaking = {(check.code, level): check for check in CHECKS for level in check.summed_up}
    together: dict[tuple[str, str], list[LintNote]] = {}
    for note in notes:
        if (note.code, note.level) in speaking:
            together.setdefault((note.code, note.level), []).append(note)
        else:
            yield note
    for of_check, found in together.items():
        found.sort(key=_place)
        yield speaking[of_check].summary(context, found) if len(found) > 1 else found[0]


def _at_origin(context: LintContext, notes: Iterable[LintNote]) -> Iterator[LintNote]:
    """Yield notes whose URLs are of the file's own origin, where that is known."""
    origin = origin_of(context.received.url or "") if context.received else None
    for note in notes:
        url = note.url or ""
        # A URL that stands in the file is what it is.
        if origin and url.startswith(f"{ORIGIN}/"):
            if url.encode("utf-8", "backslashreplace") not in context.robots.body:
                note = note._replace(url=origin + url.removeprefix(ORIGIN))
        yield note


def _unsuppressed(
    context: LintContext, notes: list[LintNote], checks: tuple[Check, ...]
) -> Iterator[LintNote]:
    """Yield the notes that no comment asks not to report, and notes about such comments."""
    if b"robotrules:" not in context.robots.body.lower():
        yield from notes
        return
    asked = suppressions(context.lines)
    kept, used = sieved(notes, asked)
    yield from kept
    for check in checks:
        if isinstance(check, SuppressionCheck):
            yield from check.check_suppressions(context, asked, used, checks)


def lint_page(
    url: str | bytes,
    *,
    headers: object = None,
    html: str | bytes | None = None,
    dom: str | bytes | None = None,
    robots: RobotsTxt | None = None,
    product_token: str = "*",
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    registries: Registries = SHIPPED,
    complete: bool = True,
) -> list[LintNote]:
    """
    Return what checks find in the tags of a page: its header fields and its meta elements.

    With *robots*, the parsed file of its origin, also what only shows when both are seen together.
    Arguments are those of `robotrules.guidance`. Content never raises.
    """
    from robotrules.guide import guidance
    from robotrules.tags import usage_rules

    given: dict[str, Any] = {"headers": headers, "html": html, "dom": dom, "registries": registries}
    given["complete"] = complete or html is None
    usage = usage_rules(url=url, product_token=product_token, **given)
    together = None if robots is None else guidance(url, product_token, robots=robots, **given)
    page = Page(usage, together)
    found = [
        note
        for check in chosen(select, ignore)
        if isinstance(check, PageCheck)
        for note in check.check_page(page)
    ]
    return sorted(found, key=lambda note: (note.part, note.start, note.code))
