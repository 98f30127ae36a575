"""Edits: they lead from a file to another, and touch little of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from robotrules.linting.note import Edit
from robotrules.lsp import edits
from robotrules.lsp.document import OpenDocument
from robotrules.lsp.edits import between, of_octets
from tests.lsp.editor import applied


def test_only_lines_that_differ_are_edited() -> None:
    """So that a cursor elsewhere stays where it is."""
    old, new = "a: 1\nb: 2\nc: 3\nd: 4\n", "a: 1\nB: 2\nc: 3\nD: 4\n"
    found = between(OpenDocument(old), new.encode())
    assert [(one.range.start.line, one.new_text) for one in found] == [(1, "B: 2\n"), (3, "D: 4\n")]
    assert applied(old, found) == new


def test_the_same_is_no_edit() -> None:
    """Nothing to do is an empty list."""
    assert between(OpenDocument("a: 1\n"), b"a: 1\n") == []


def test_long_files_change_in_one_piece() -> None:
    """A comparison line by line is quadratic, so there is a limit to it."""
    old = "a: 1\n" + "x: 1\ny: 1\n" * edits.MOST_COMPARED + "z: 1\n"
    new = old.replace("x", "X")
    found = between(OpenDocument(old), new.encode())
    assert len(found) == 1
    assert (found[0].range.start.line, found[0].new_text[:1]) == (1, "X")
    assert applied(old, found) == new


def test_edits_of_octets_are_edits_of_text() -> None:
    """In order, the same twice once, columns in UTF-16."""
    document = OpenDocument("😀é: /x\n")
    found = of_octets(document, [Edit(8, 10, b"/y"), Edit(0, 4, b""), Edit(8, 10, b"/y")])
    assert [(one.range.start.character, one.range.end.character) for one in found] == [
        (0, 2),
        (5, 7),
    ]
    assert applied("😀é: /x\n", found) == "é: /y\n"


FILES = st.lists(st.sampled_from(["a: 1", "b: é", "😀", ""]), max_size=8).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n", "\r"]).map(lambda end: end.join(lines))
)


class TestEdits:
    """The edits between two files lead from the first to the second."""

    @given(FILES, FILES)
    def test_they_lead_there(self, old: str, new: str) -> None:
        """Whatever the two are, line ends included."""
        assert applied(old, between(OpenDocument(old), new.encode())) == new
