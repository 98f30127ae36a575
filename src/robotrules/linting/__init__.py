"""
Lint: find errors, likely mistakes and oddities in a robots.txt and in the tags of a page.

    import robotrules
    for note in robotrules.lint(body):
        print(note)

Each check has a stable code, a level, an explanation, a reference, and a fix where the fix is
certain. All checks share one parse of the file. Unknown records are not reported: RFC 9309 §2.2.4
allows them. The package does no I/O and does not render notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from robotrules.analysis.values import ORIGIN
from robotrules.http.origins import origin_of
from robotrules.linting.check import MOST_NOTES, Check, PageCheck, SuppressionCheck
from robotrules.linting.checks import CHECKS
from robotrules.linting.context import LintContext, PageContext, ServedResponse
from robotrules.linting.fixing import FixResult, fix
from robotrules.linting.intent import withhold_doubtful_fixes
from robotrules.linting.note import LEVELS, Edit, Fix, LintNote, Related
from robotrules.linting.rule_proofs import MAX_STATES
from robotrules.linting.selection import find_check, select_checks
from robotrules.linting.suppressions import filter_notes, parse_suppressions
from robotrules.registries import SHIPPED, Registries
from robotrules.robotstxt import RobotsTxt, parse

if TYPE_CHECKING:
    from robotrules.profile import Profile

__all__ = [
    "CHECKS",
    "LEVELS",
    "MAX_STATES",
    "Check",
    "Edit",
    "Fix",
    "FixResult",
    "LintNote",
    "Related",
    "ServedResponse",
    "find_check",
    "fix",
    "lint",
    "lint_page",
    "select_checks",
]


def lint(
    body: str | bytes | bytearray | memoryview | RobotsTxt,
    *,
    profile: str | Profile = "default",
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    received: ServedResponse | None = None,
    registries: Registries = SHIPPED,
    max_states: int = MAX_STATES,
) -> list[LintNote]:
    """
    Return the notes of all checks on a robots.txt, in file order.

    *select* and *ignore* name checks by code, code prefix, or slug. *received* describes how the
    file was served, where that is known. *max_states* limits the states that each exact query may
    visit; a note reports the rules that were not decided. A check lists at most 10,000 notes
    without a fix; a note reports that there are more. Content never raises.
    """
    robots = body if isinstance(body, RobotsTxt) else parse(body, profile)
    checks = select_checks(select, ignore)
    context = LintContext(robots, received, registries, max_states)
    found = [note for check in checks for note in _run_check(check, context)]
    # Fixes may depend on lines that a stopped check did not reach, so only complete checks count.
    complete = [check for check in checks if check.code not in context.ended]
    safe = list(withhold_doubtful_fixes(context, found, complete))
    kept = _apply_suppressions(context, safe, checks)
    return sorted(_use_received_origin(context, _summarize(context, kept)), key=_position)


def _run_check(check: Check, context: LintContext) -> Iterator[LintNote]:
    """Yield the notes of a check; stop after `MOST_NOTES` notes without a fix."""
    without_fix = 0
    for note in check.check(context):
        without_fix += note.fix is None
        if without_fix > MOST_NOTES and not check.summed_up:
            context.ended[check.code] = check.slug
            return
        yield note


def _position(note: LintNote) -> tuple[int, int, str, int]:
    return note.line or 0, note.start, note.code, note.end


def _summarize(context: LintContext, notes: Iterable[LintNote]) -> Iterator[LintNote]:
    """Yield notes; for a check that reports once per file, one note that sums up all of its."""
    summarizing = {(check.code, level): check for check in CHECKS for level in check.summed_up}
    by_check: dict[tuple[str, str], list[LintNote]] = {}
    for note in notes:
        if (note.code, note.level) in summarizing:
            by_check.setdefault((note.code, note.level), []).append(note)
        else:
            yield note
    for key, some in by_check.items():
        some.sort(key=_position)
        yield summarizing[key].summary(context, some) if len(some) > 1 else some[0]


def _use_received_origin(context: LintContext, notes: Iterable[LintNote]) -> Iterator[LintNote]:
    """Yield notes with example URLs on the file's own origin, where that is known."""
    origin = origin_of(context.received.url or "") if context.received else None
    for note in notes:
        url = note.url or ""
        # A URL that is written in the file stays as it is.
        if origin and url.startswith(f"{ORIGIN}/"):
            if url.encode("utf-8", "backslashreplace") not in context.robots.body:
                note = note._replace(url=origin + url.removeprefix(ORIGIN))
        yield note


def _apply_suppressions(
    context: LintContext, notes: list[LintNote], checks: tuple[Check, ...]
) -> Iterator[LintNote]:
    """Yield the notes that no comment suppresses, and notes about the suppressions."""
    if b"robotrules:" not in context.robots.body.lower():
        yield from notes
        return
    suppressions = parse_suppressions(context.lines)
    kept, used = filter_notes(notes, suppressions)
    yield from kept
    for check in checks:
        if isinstance(check, SuppressionCheck):
            yield from check.check_suppressions(context, suppressions, used, checks)


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
    Return the notes of all checks on the tags of a page: its header fields and meta elements.

    With *robots*, the parsed robots.txt of its origin, conflicts between both are reported too.
    The arguments are those of `robotrules.guidance`. Content never raises.
    """
    from robotrules.guide import guidance
    from robotrules.tags import usage_rules

    given: dict[str, Any] = {"headers": headers, "html": html, "dom": dom, "registries": registries}
    given["complete"] = complete or html is None
    usage = usage_rules(url=url, product_token=product_token, **given)
    guided = None if robots is None else guidance(url, product_token, robots=robots, **given)
    page = PageContext(usage, guided)
    notes = [
        note
        for check in select_checks(select, ignore)
        if isinstance(check, PageCheck)
        for note in check.check_page(page)
    ]
    return sorted(notes, key=lambda note: (note.part, note.start, note.code))
