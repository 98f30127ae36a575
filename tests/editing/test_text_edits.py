"""Text edits: they turn one version of a file into another, and change few lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from robotrules.editing import text_edits
from robotrules.editing.document import OpenDocument
from robotrules.editing.text_edits import diff_text_edits, to_text_edits
from robotrules.linting.note import Edit
from tests.lsp.editor import apply_edits


def test_only_lines_that_differ_are_edited() -> None:
    """So that a cursor on another line stays in place."""
    old, new = "a: 1\nb: 2\nc: 3\nd: 4\n", "a: 1\nB: 2\nc: 3\nD: 4\n"
    edits = diff_text_edits(OpenDocument(old), new.encode())
    assert [(edit.range.start.line, edit.new_text) for edit in edits] == [
        (1, "B: 2\n"),
        (3, "D: 4\n"),
    ]
    assert apply_edits(old, edits) == new


def test_equal_files_need_no_edit() -> None:
    """The list is empty."""
    assert diff_text_edits(OpenDocument("a: 1\n"), b"a: 1\n") == []


def test_a_long_file_changes_in_one_edit() -> None:
    """The line-by-line diff is quadratic, so it has a limit."""
    old = "a: 1\n" + "x: 1\ny: 1\n" * text_edits.MAX_DIFF_LINES + "z: 1\n"
    new = old.replace("x", "X")
    edits = diff_text_edits(OpenDocument(old), new.encode())
    assert len(edits) == 1
    assert (edits[0].range.start.line, edits[0].new_text[:1]) == (1, "X")
    assert apply_edits(old, edits) == new


def test_byte_edits_become_text_edits() -> None:
    """Sorted, without duplicates, with columns in UTF-16 code units."""
    document = OpenDocument("😀é: /x\n")
    edits = to_text_edits(document, [Edit(8, 10, b"/y"), Edit(0, 4, b""), Edit(8, 10, b"/y")])
    assert [(edit.range.start.character, edit.range.end.character) for edit in edits] == [
        (0, 2),
        (5, 7),
    ]
    assert apply_edits("😀é: /x\n", edits) == "é: /y\n"


FILES = st.lists(st.sampled_from(["a: 1", "b: é", "😀", ""]), max_size=8).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n", "\r"]).map(lambda end: end.join(lines))
)


class TestEdits:
    """The edits between two files turn the first into the second."""

    @given(FILES, FILES)
    def test_round_trip(self, old: str, new: str) -> None:
        """For any two files, line ends included."""
        assert apply_edits(old, diff_text_edits(OpenDocument(old), new.encode())) == new
