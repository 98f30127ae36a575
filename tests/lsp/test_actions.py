"""Actions: quick fixes, silence, and all safe fixes at once."""

from __future__ import annotations

import pytest
from lsprotocol.types import CodeActionKind

from robotrules.linting import lint
from robotrules.linting.note import LintNote
from robotrules.lsp.code_actions import FIX_ALL, EditTarget, fix_all, quick_fixes
from robotrules.lsp.document import OpenDocument
from tests.lsp.editor import done
from tests.lsp.samples import note

PLACE = EditTarget("file:///robots.txt")
TEXT = "User-agent: *\ndisallow: /é\nAllow: /b # why\n"


def titles(text: str, found: list[LintNote], about: str) -> list[str]:
    """Return what is offered where a part of a text stands."""
    document = OpenDocument(text)
    at = document.octets.index(about.encode())
    return [one.title for one in quick_fixes(document, found, at, at, PLACE)]


def chosen(text: str, found: list[LintNote], about: str, title: str) -> str:
    """Return a text after an action was chosen by the beginning of its title."""
    document = OpenDocument(text)
    at = document.octets.index(about.encode())
    (action,) = [
        one for one in quick_fixes(document, found, at, at, PLACE) if one.title.startswith(title)
    ]
    assert action.kind == CodeActionKind.QuickFix
    return done(text, action)


def test_a_fix_is_applied() -> None:
    """Its edits are edits of the text, and its note is the diagnostic it is for."""
    found = [note(TEXT, "disallow", new="Disallow")]
    assert titles(TEXT, found, "disallow")[0] == "Write it (RR999)"
    assert chosen(TEXT, found, "/é", "Write it") == TEXT.replace("disallow", "Disallow")
    action = quick_fixes(OpenDocument(TEXT), found, 14, 14, PLACE)[0]
    assert action.is_preferred is True
    assert [one.code for one in action.diagnostics or ()] == ["RR999"]


def test_a_fix_that_changes_verdicts_says_so() -> None:
    """And is not what an editor does unasked."""
    found = [note(TEXT, "disallow", new="Allow", loud=True)]
    action = quick_fixes(OpenDocument(TEXT), found, 14, 14, PLACE)[0]
    assert action.title == "Write it (RR999; changes verdicts)"
    assert action.is_preferred is False


def test_a_fix_that_is_not_proved_says_so() -> None:
    """A fix that claims to keep the verdicts is put to the proof before it is offered."""
    found = [note(TEXT, "disallow", new="Allow")]
    action = quick_fixes(OpenDocument(TEXT), found, 14, 14, PLACE)[0]
    assert action.title == "Write it (RR999; changes verdicts)"
    assert action.is_preferred is False


def test_only_what_is_here_is_offered() -> None:
    """On another line nothing is."""
    found = [note(TEXT, "disallow", new="Disallow")]
    assert titles(TEXT, found, "Allow: /b") == []


@pytest.mark.parametrize(
    ("line", "silenced"),
    [
        ("Disallow: x", "Disallow: x  # robotrules: ignore[RR999]"),
        ("Disallow: x ", "Disallow: x # robotrules: ignore[RR999]"),
        ("Disallow: x # why", "Disallow: x # why  # robotrules: ignore[RR999]"),
        (
            "Disallow: x # robotrules: ignore[RR501]",
            "Disallow: x # robotrules: ignore[RR501, RR999]",
        ),
        ("😀: x", "😀: x  # robotrules: ignore[RR999]"),
    ],
)
def test_a_note_is_silenced_where_it_is(line: str, silenced: str) -> None:
    """By a comment at the end of its line; one that is there already gets another name."""
    text = f"User-agent: *\r\n{line}\r\nAllow: /\r\n"
    assert chosen(text, [note(text, "x")], "x", "Ignore RR999 (made-up) on this line") == (
        text.replace(line, silenced)
    )


def test_silence_is_silence() -> None:
    """Lint reports it no more."""
    text = "User-agent: *\nDisallow: x\nAllow: y\n"
    found = [one for one in lint(text) if one.code == "RR505"]
    assert len(found) == 2
    after = chosen(text, found, "x", "Ignore RR505")
    assert [one.line for one in lint(after) if one.code == "RR505"] == [3]


@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_a_note_about_the_file_is_silenced_at_its_beginning(start: str) -> None:
    """On a line of its own, which ends as the others do."""
    text = f"{start}User-agent: *\r\nDisallow: /\r\n"
    found = [note(text, "/")._replace(line=None)]
    comment = "# robotrules: ignore-file[RR999]\r\n"
    after = chosen(text, found, "User", "Ignore RR999 (made-up) in this file")
    assert after == f"{start}{comment}User-agent: *\r\nDisallow: /\r\n"


def test_edits_may_name_their_version() -> None:
    """So that a client does not apply them to another text."""
    place = PLACE._replace(version=7, versioned=True)
    found = [note(TEXT, "disallow", new="Disallow")]
    action = quick_fixes(OpenDocument(TEXT), found, 14, 14, place)[0]
    assert action.edit is not None
    assert action.edit.changes is None
    (change,) = action.edit.document_changes or ()
    assert change.text_document.version == 7  # type: ignore[union-attr]
    assert done(TEXT, action) == TEXT.replace("disallow", "Disallow")


# --- All at once ----------------------------------------------------------------------------------


def test_all_safe_fixes_at_once() -> None:
    """Those that change verdicts are left, and so is one that is not proved."""
    text = "User-agent: *\nDisallow : /a\nAllow : /b\nDisallow: c\nAllow: /d\n"
    found = [
        note(text, "Disallow :", new="Disallow:"),
        note(text, "Allow :", new="Allow:"),
        note(text, "c\n", new="/c\n", loud=True),
        note(text, "/d", new="/a"),  # says that it is quiet, and is not
    ]
    action = fix_all(OpenDocument(text), found, PLACE)
    assert action is not None
    assert action.kind == FIX_ALL
    assert done(text, action) == text.replace(" :", ":")


def test_nothing_to_fix_is_no_action() -> None:
    """Nor is a file that is not read to its end."""
    assert fix_all(OpenDocument(TEXT), [note(TEXT, "disallow")], PLACE) is None
    long = TEXT + "#" * 600_000 + "\nDisallow: /\n"
    assert fix_all(OpenDocument(long), [note(TEXT, "disallow", new="Disallow")], PLACE) is None
