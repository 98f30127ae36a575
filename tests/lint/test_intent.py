"""
Intent: no safe fix depends on a misread record, and the order of fixes keeps the intent.

The property over generated files is in `tests/property/test_fix_intent.py`.
"""

from __future__ import annotations

from typing import Any

import pytest

from robotrules import RobotsTxt, parse
from robotrules.linting import Edit, Fix, LintNote, fix, intent, lint
from robotrules.linting.context import LintContext
from robotrules.linting.intent import find_misread_lines, parse_as_meant

EVIL = (
    b"User-agent: BadBot\nDisallow: /\nUser-agen: EvilBot\nDisallow: /\n\n"
    b"User-agent: *\nDisallow: /cart\n"
)
CORRECTED = EVIL.replace(b"agen:", b"agent:")


def apply_fixes(body: bytes, *, unsafe: bool = False, **choices: Any) -> bytes:
    """Return a file after passes of fixes, as the command line applies them."""
    for _ in range(20):
        robots = parse(body)
        body = fix(robots, lint(robots, **choices), unsafe=unsafe).body
        if body == robots.body:
            break
    return body


def is_withheld(body: bytes, **choices: Any) -> bool:
    """Return whether the duplicate rule of a file is reported without a fix."""
    (note,) = [note for note in lint(body, **choices) if note.slug == "duplicate-rule"]
    return note.fix is None


def test_a_duplicate_of_a_misread_group_stays() -> None:
    """Removing the second `Disallow: /` would allow EvilBot once the spelling is corrected."""
    assert apply_fixes(EVIL) == EVIL
    assert apply_fixes(EVIL, unsafe=True) == CORRECTED
    duplicate = next(note for note in lint(EVIL) if note.slug == "duplicate-rule")
    assert duplicate.fix is None
    corrected = CORRECTED.replace(b"User-agent: EvilBot\n", b"")
    assert next(note for note in lint(corrected) if note.slug == "duplicate-rule").fix


@pytest.mark.parametrize("choices", [{"select": ["RR502"]}, {"ignore": ["RR3"]}])
def test_misread_records_count_if_their_check_is_not_selected(choices: dict[str, Any]) -> None:
    """Selecting a single check does not make its fixes unsafe."""
    assert apply_fixes(EVIL, **choices) == EVIL
    assert is_withheld(EVIL, **choices)
    assert not is_withheld(b"User-agent: a\nDisallow: /a\nDisallow: /a\n", **choices)


def test_misread_records_count_if_they_are_suppressed() -> None:
    """A suppression hides a note, but does not change how the line is read."""
    body = EVIL.replace(b"EvilBot", b"EvilBot # robotrules: ignore[RR303]")
    assert not [note for note in lint(body) if note.slug == "misspelt-record"]
    assert apply_fixes(body) == body


@pytest.mark.parametrize(
    "line",
    [
        b'"User-agent: EvilBot"',  # misspelt, without a fix
        b"these rules are for EvilBot",  # no record
        b"User-agent\xc2\xa0: EvilBot",
    ],
)
def test_a_misread_line_without_a_fix_counts_too(line: bytes) -> None:
    """The author may correct it by hand."""
    body = EVIL.replace(b"User-agen: EvilBot", line)
    assert apply_fixes(body) == body
    assert is_withheld(body)


def test_only_groups_that_the_fix_depends_on_count() -> None:
    """A misread line of another group does not matter."""
    group = b"User-agent: BadBot\nDisallow: /a\nDisallow: /a\n"
    slip = b"User-agen: EvilBot\n"
    other = b"\nUser-agent: OtherBot\nDisallow: /b\n"
    assert not is_withheld(slip + group + other)
    assert not is_withheld(group + other + slip)
    assert is_withheld(group + slip + other)
    assert is_withheld(b"User-agent: BadBot\n" + slip + b"Disallow: /a\nDisallow: /a\n")


def test_a_note_with_a_safe_fix_is_not_misread() -> None:
    """For example a comment of another language."""
    assert not is_withheld(b"User-agent: a\nDisallow: /a\n// again\nDisallow: /a\n")


def test_both_groups_of_a_duplicate_count() -> None:
    """The rule that stays is in one group, the rule that is removed in the other."""
    first, second = (
        b"User-agent: a\nDisallow: /a\n%b\n",
        b"User-agent: a\nDisallow: /a\n%bAllow: /b\n",
    )
    slip = b"Disalows: /c\n"
    assert not is_withheld(first % b"" + second % b"")
    assert is_withheld(first % slip + second % b"")
    assert is_withheld(first % b"" + second % slip)


def test_blank_lines_depend_on_no_record() -> None:
    """They can be removed, whatever is misspelt around them."""
    body = b"User-agent: *\n\nDisalow: /a\n"
    assert apply_fixes(body) == b"User-agent: *\nDisalow: /a\n"


def test_misread_names_count_across_groups() -> None:
    """`Example Reader` is read as Example; the rules of Example stay when that is corrected."""
    body = (
        b"User-agent: Example Reader\nDisallow: /a\n\n"
        b"User-agent: Example\nDisallow: /a\nDisallow: /b\n"
    )
    assert apply_fixes(body) == body
    assert is_withheld(body)
    other = b"\nUser-agent: Other Reader\nDisallow: /c\n"
    assert not is_withheld(body.replace(b" Reader", b"") + other)
    alone = b"User-agent: Example Reader\nDisallow: /a\nDisallow: /b\nDisallow: /a\n"
    assert apply_fixes(alone) == alone.removesuffix(b"Disallow: /a\n")


def test_the_proof_is_for_the_file_as_meant() -> None:
    """A safe fix that is proved only for the file as it is read is left."""
    start = EVIL.index(b"Disallow: /\n\n")
    edit = Edit(start, start + len(b"Disallow: /\n"), b"")
    fixable = LintNote("RR502", "x", "info", "x", 4, 1, 1, 0, 0, fix=Fix("Do it", (edit,)))
    assert fix(parse(EVIL), [fixable]).left == (fixable,)
    shorter = EVIL.replace(b"User-agen: EvilBot\n", b"")
    at = shorter.index(b"Disallow: /\n\n")
    other = fixable._replace(fix=Fix("Do it", (Edit(at, at + len(b"Disallow: /\n"), b""),)))
    assert fix(parse(shorter), [other]).applied == (other,)


def test_records_come_before_groups_and_these_before_rules() -> None:
    """Each stage is a separate pass, so that lint runs again on the changed file."""
    body = b"User-agent: Googelbot\nDisalow: x\nDisallows: /y\n"
    passes = []
    for _ in range(3):
        robots = parse(body)
        done = fix(robots, lint(robots), unsafe=True)
        passes.append({note.code for note in done.applied})
        body = done.body
    assert passes == [{"RR301", "RR303"}, {"RR412"}, {"RR505"}]
    assert body == b"User-agent: Googlebot\nDisallow: /x\nDisallow: /y\n"


def test_parse_as_meant() -> None:
    """
    First with corrected records, then also with corrected names and patterns, under any profile.
    """
    body = b"User-agen: Googelbot\nDissallow x\n"
    for profile in ("default", "strict", "google"):
        spelled, whole = parse_as_meant(parse(body, profile))
        assert spelled.body == b"User-agent: Googelbot\nDisallow: x\n"
        assert whole.body == b"User-agent: Googlebot\nDisallow: /x\n"
        # google takes the one for a record, and strict the other for none.
        for slip in (b"Disallows:", b"Disallow"):
            spelled, _ = parse_as_meant(parse(b"User-agent: a\n%b /x\n" % slip, profile))
            assert spelled.body == b"User-agent: a\nDisallow: /x\n"


def test_the_context_is_reused_while_the_file_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each stage needs the notes of readers, which cost as much as parsing the file."""
    made: list[bytes] = []

    def context(robots: RobotsTxt) -> LintContext:
        made.append(robots.body)
        return LintContext(robots)

    monkeypatch.setattr(intent, "LintContext", context)
    parse_as_meant(parse(CORRECTED))
    assert made == [CORRECTED]
    parse_as_meant(parse(EVIL))
    assert made == [CORRECTED, EVIL, CORRECTED]


def test_lines_that_depend_on_a_misread_record() -> None:
    """All records of its group, and no others."""
    misread, resting = find_misread_lines(parse(EVIL))
    assert misread == [3]
    assert resting == {1, 2, 3, 4}
    assert find_misread_lines(parse(CORRECTED)) == ([], frozenset())
    body = b"User-agent: Googelbot\nDisallow: x\nDisallow : /y\n"
    assert find_misread_lines(parse(body)) == ([], frozenset())


def test_lines_before_the_first_group_depend_on_each_other() -> None:
    """They apply to no crawler until the record that names their crawler is corrected."""
    slip = b"User-agen: EvilBot\nDisallow: /\n"
    assert find_misread_lines(parse(slip + b"\n" + CORRECTED)) == ([1], frozenset({1, 2}))
    # Two misread lines, in two groups: the lines in their order, each once.
    body = EVIL + b"Disalows: /a\nAlow: /b\n"
    misread, resting = find_misread_lines(parse(body))
    assert misread == [3, 8, 9]
    assert resting == {1, 2, 3, 4, 6, 7, 8, 9}
