"""Code actions: quick fixes, suppression comments, and `source.fixAll`."""

from __future__ import annotations

import pytest
from lsprotocol.types import CodeActionKind

from robotrules.editing.code_actions import FIX_ALL, EditTarget, make_fix_all, make_quick_fixes
from robotrules.editing.document import OpenDocument
from robotrules.linting import lint
from robotrules.linting.note import LintNote
from tests.lsp.editor import apply_action
from tests.lsp.samples import note

TARGET = EditTarget("file:///robots.txt")
TEXT = "User-agent: *\ndisallow: /é\nAllow: /b # why\n"


def list_titles(text: str, notes: list[LintNote], about: str) -> list[str]:
    """Return the titles of the actions at the first occurrence of *about*."""
    document = OpenDocument(text)
    at = document.octets.index(about.encode())
    return [action.title for action in make_quick_fixes(document, notes, at, at, TARGET)]


def apply_titled(text: str, notes: list[LintNote], about: str, title: str) -> str:
    """Return a text after the action whose title starts with *title*."""
    document = OpenDocument(text)
    at = document.octets.index(about.encode())
    (action,) = [
        action
        for action in make_quick_fixes(document, notes, at, at, TARGET)
        if action.title.startswith(title)
    ]
    assert action.kind == CodeActionKind.QuickFix
    return apply_action(text, action)


def test_a_fix_is_applied() -> None:
    """Its edits are text edits, and it names the diagnostic it fixes."""
    found = [note(TEXT, "disallow", new="Disallow")]
    assert list_titles(TEXT, found, "disallow")[0] == "Write it (RR999)"
    assert apply_titled(TEXT, found, "/é", "Write it") == TEXT.replace("disallow", "Disallow")
    action = make_quick_fixes(OpenDocument(TEXT), found, 14, 14, TARGET)[0]
    assert action.is_preferred is True
    assert [diagnostic.code for diagnostic in action.diagnostics or ()] == ["RR999"]


def test_the_title_of_an_unsafe_fix_says_so() -> None:
    """And it is not the preferred action."""
    found = [note(TEXT, "disallow", new="Allow", unsafe=True)]
    action = make_quick_fixes(OpenDocument(TEXT), found, 14, 14, TARGET)[0]
    assert action.title == "Write it (RR999; changes the file's meaning)"
    assert action.is_preferred is False


def test_a_fix_without_proof_is_unsafe() -> None:
    """A fix that claims to be safe is checked before it is offered."""
    found = [note(TEXT, "disallow", new="Allow")]
    action = make_quick_fixes(OpenDocument(TEXT), found, 14, 14, TARGET)[0]
    assert action.title == "Write it (RR999; changes the file's meaning)"
    assert action.is_preferred is False


def test_actions_are_for_notes_on_the_line() -> None:
    """On another line there is none."""
    found = [note(TEXT, "disallow", new="Disallow")]
    assert list_titles(TEXT, found, "Allow: /b") == []


@pytest.mark.parametrize(
    ("line", "suppressed"),
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
def test_a_note_is_suppressed_on_its_line(line: str, suppressed: str) -> None:
    """By a comment at the end of the line; an existing comment gets another code."""
    text = f"User-agent: *\r\n{line}\r\nAllow: /\r\n"
    assert apply_titled(text, [note(text, "x")], "x", "Ignore RR999 (invented) on this line") == (
        text.replace(line, suppressed)
    )


def test_a_suppressed_note_is_gone() -> None:
    """Lint does not report it any more."""
    text = "User-agent: *\nDisallow: x\nAllow: y\n"
    found = [note for note in lint(text) if note.code == "RR505"]
    assert len(found) == 2
    after = apply_titled(text, found, "x", "Ignore RR505")
    assert [note.line for note in lint(after) if note.code == "RR505"] == [3]


@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_a_note_about_the_file_is_suppressed_on_the_first_line(start: str) -> None:
    """On a new line with the line end of the file."""
    text = f"{start}User-agent: *\r\nDisallow: /\r\n"
    found = [note(text, "/")._replace(line=None)]
    comment = "# robotrules: ignore-file[RR999]\r\n"
    after = apply_titled(text, found, "User", "Ignore RR999 (invented) in this file")
    assert after == f"{start}{comment}User-agent: *\r\nDisallow: /\r\n"


def test_edits_name_the_document_version() -> None:
    """If the client supports it, so that it does not apply them to another version."""
    target = TARGET._replace(version=7, versioned=True)
    found = [note(TEXT, "disallow", new="Disallow")]
    action = make_quick_fixes(OpenDocument(TEXT), found, 14, 14, target)[0]
    assert action.edit is not None
    assert action.edit.changes is None
    (change,) = action.edit.document_changes or ()
    assert change.text_document.version == 7  # type: ignore[union-attr]
    assert apply_action(TEXT, action) == TEXT.replace("disallow", "Disallow")


# --- source.fixAll --------------------------------------------------------------------------------


def test_fix_all_applies_the_safe_fixes() -> None:
    """Unsafe fixes are left out, and so is a fix without proof."""
    text = "User-agent: *\nDisallow : /a\nAllow : /b\nDisallow: c\nAllow: /d\n"
    found = [
        note(text, "Disallow :", new="Disallow:"),
        note(text, "Allow :", new="Allow:"),
        note(text, "c\n", new="/c\n", unsafe=True),
        note(text, "/d", new="/a"),  # claims to be safe, and is not
    ]
    action = make_fix_all(OpenDocument(text), found, TARGET)
    assert action is not None
    assert action.kind == FIX_ALL
    assert apply_action(text, action) == text.replace(" :", ":")


def test_without_fixes_there_is_no_action() -> None:
    """Nor for a file above the size limit."""
    assert make_fix_all(OpenDocument(TEXT), [note(TEXT, "disallow")], TARGET) is None
    long = TEXT + "#" * 600_000 + "\nDisallow: /\n"
    assert (
        make_fix_all(OpenDocument(long), [note(TEXT, "disallow", new="Disallow")], TARGET) is None
    )
