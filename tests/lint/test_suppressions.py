"""
Suppressions: which comments suppress notes, for which line, and how they are removed.

The literate tests of RR901 and RR902 cover the notes about suppressions.
"""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from robotrules import parse
from robotrules.linting import LintNote, lint
from robotrules.linting.context import LintContext
from robotrules.linting.suppressions import (
    Suppression,
    filter_notes,
    find_malformed,
    parse_suppressions,
    removal_fix,
)


def parsed_suppressions(body: bytes) -> list[tuple[int | None, list[str]]]:
    """Return the line that each suppression of a file is for, and the names in it."""
    suppressions = parse_suppressions(parse(body).lines)
    return [(one.about, [name.text for name in one.names]) for one in suppressions]


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        (b"# robotrules: ignore[RR505]", ["rr505"]),
        (b"#robotrules:ignore[RR505]", ["rr505"]),
        (b"#\t RobotRules: \tIGNORE [Pattern-Start]", ["pattern-start"]),
        (b"# robotrules: ignore[RR505, bom,typo  nul]", ["rr505", "bom", "typo", "nul"]),
        (b"# robotrules: ignore", []),
        (b"# robotrules: ignore-file \t", []),
        (b"# robotrules: ignore # it is meant so", []),
        (b"# words # robotrules: ignore[bom] more words", ["bom"]),
        (b"## robotrules: ignore[bom]", ["bom"]),
    ],
)
def test_names_of_a_suppression(comment: bytes, expected: list[str]) -> None:
    """Case and whitespace are ignored; other words may surround it."""
    about = None if b"file" in comment else 1
    assert parsed_suppressions(b"Disallow: /a " + comment) == [(about, expected)]
    assert list(find_malformed(parse(b"Disallow: /a " + comment).lines)) == []


@pytest.mark.parametrize(
    ("comment", "word", "rest"),
    [
        (b"# robotrules: ignore RR505", "ignore", " RR505"),
        (b"# robotrules: ignore: it is meant so", "ignore", ": it is meant so"),
        (b"# robotrules: ignore-file bom # why", "ignore-file", " bom"),
        (b"# robotrules: ignore[]", "ignore", "[]"),
        (b"# robotrules: ignore[ , ", "ignore", "[ ,"),
        (b"# robotrules: ignor[RR505]", "ignor", "[RR505]"),
        (b"# robotrules: \xff", "", "\ufffd"),
        (b"# robotrules: ignored", "ignored", ""),
        (b"# robotrules: ignore-files[bom]", "ignore-files", "[bom]"),
    ],
)
def test_malformed_suppressions(comment: bytes, word: str, rest: str) -> None:
    """They suppress nothing, and lint reports them."""
    body = b"User-agent: *\nDisallow: a " + comment
    assert parsed_suppressions(body) == []
    (one,) = find_malformed(parse(body).lines)
    assert (one.line, one.word, one.rest) == (2, word, rest)
    assert comment.startswith(body[one.start : one.end])
    slugs = [note.slug for note in lint(body, select=["RR505", "RR902"])]
    assert sorted(slugs) == ["pattern-start", "unknown-suppression"]


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        ("ignore RR101", "Put the names in brackets: write 'ignore[RR101]'."),
        ("ignore-file bom, nul", "Put the names in brackets: write 'ignore-file[bom, nul]'."),
        ("ignore[]", "Name a check in the brackets, as in 'ignore[RR501]'."),
        ("ignor[RR505]", "Write 'ignore[RR501]' or 'ignore-file[RR501]'."),
        (
            "ignore as meant",
            "Name checks in brackets, as in 'ignore[RR501]', and give reasons after them.",
        ),
        ("ignore[RR50Z]", "'RR50Z' is not a check."),
    ],
)
def test_the_note_says_what_to_write(comment: str, words: str) -> None:
    """It quotes names as they are written."""
    (note,) = lint(f"Allow: / # robotrules: {comment}\n", select=["RR902"])
    assert words in note.message


def test_an_unused_name_is_shown_as_it_was_written() -> None:
    """Not in the case in which names are compared."""
    (note,) = lint("User-agent: *\nAllow: / # robotrules: ignore[Rr101]", select=["RR901", "RR101"])
    assert note.message == "This suppression has no effect: 'Rr101' found nothing. Remove it."


@pytest.mark.parametrize(
    "comment",
    [
        b"# robotrules",
        b"# robotrules:",
        b"# robotrules: # ignore",
        b"# robotrules ignore[bom]",
        b"# my robotrules: ignore[bom]",
        b"robotrules: ignore[bom]",
    ],
)
def test_other_comments(comment: bytes) -> None:
    """They suppress nothing, and there is no note about them."""
    assert parsed_suppressions(b"Disallow: /a " + comment) == []
    assert list(find_malformed(parse(b"Disallow: /a " + comment).lines)) == []


def test_unclosed_brackets_end_with_the_line() -> None:
    """An incomplete suppression must not suppress all checks."""
    assert parsed_suppressions(b"Disallow: a # robotrules: ignore[bom\nDisallow: b") == [
        (1, ["bom"])
    ]


def test_a_comment_alone_is_for_the_next_record() -> None:
    """Blank lines and other comments between are skipped, and several comments add up."""
    body = (
        b"# robotrules: ignore[bom]\n"
        b"\n"
        b"  # words\n"
        b"  # robotrules: ignore[typo]\r\n"
        b"Disallow: /a # robotrules: ignore[nul]\n"
        b"Disallow: /b\n"
        b"# robotrules: ignore\n"
    )
    assert parsed_suppressions(body) == [(5, ["bom"]), (5, ["typo"]), (5, ["nul"]), (7, [])]


def test_a_suppression_for_the_file() -> None:
    """It may be anywhere, also after a record."""
    assert parsed_suppressions(b"Allow: /\nAllow: / # robotrules: ignore-file[bom]") == [
        (None, ["bom"])
    ]


def test_spans() -> None:
    """The span of a suppression is its comment; that of a name is the name."""
    body = b"\xef\xbb\xbfAllow: /  # old # robotrules: ignore[Bom, typo] because\n"
    (one,) = parse_suppressions(parse(body).lines)
    assert body[one.start : one.end] == b"# robotrules: ignore[Bom, typo]"
    assert [body[name.start : name.end] for name in one.names] == [b"Bom", b"typo"]


def note(line: int | None, code: str = "RR505", slug: str = "pattern-start") -> LintNote:
    """Return a note about a line."""
    return LintNote(code, slug, "error", "Words.", line, 1, 1, 0, 0)


def remaining(
    notes: list[LintNote], asked: list[Suppression]
) -> tuple[list[LintNote], dict[Suppression, set[str]]]:
    """Return the notes that are left, and the names of each suppression that were used."""
    left, used = filter_notes(notes, asked)
    return list(left), {one: set(names) for one, names in used.items()}


def test_scope_of_a_suppression() -> None:
    """Its line, or the file; a code or a slug; a code prefix matches no check."""
    (one,) = parse_suppressions(parse(b"Allow: / # robotrules: ignore[RR505, bom]").lines)
    bom, dead = note(1, "RR101", "bom"), note(1, "RR501", "dead-rule")
    assert remaining([note(1)], [one]) == ([], {one: {"rr505"}})
    assert remaining([note(1), bom], [one]) == ([], {one: {"rr505", "bom"}})
    assert remaining([note(2), note(None), dead], [one]) == ([note(2), note(None), dead], {})
    whole, every = one._replace(about=None), one._replace(names=())
    assert remaining([note(2), note(None)], [whole]) == ([], {whole: {"rr505"}})
    assert remaining([dead], [every]) == ([], {every: {""}})
    short = one._replace(names=(one.names[0]._replace(text="rr5"),))
    assert remaining([note(1)], [short]) == ([note(1)], {})
    assert remaining([bom], [one, whole]) == ([], {one: {"bom"}, whole: {"bom"}})


def test_lint_applies_suppressions() -> None:
    """The note of one line is suppressed, that of another stays."""
    body = b"User-agent: *\nDisallow: a # robotrules: ignore[pattern-start]\nDisallow: b\n"
    assert [one.line for one in lint(body, select=["pattern-start"])] == [3]
    whole = body + b"# robotrules: ignore-file[RR505]\n"
    assert lint(whole, select=["pattern-start"]) == []


# --- Taking them out ------------------------------------------------------------------------------


def remove_names(body: bytes, *names: str) -> bytes:
    """
    Return a file without these names of its first suppression; without names, without the comment.
    """
    context = LintContext(parse(body))
    suppression = parse_suppressions(context.lines)[0]
    these = [name for name in suppression.names if name.text in names]
    fix = removal_fix(
        context.line(suppression.line), context.whole_line(suppression.line), suppression, these
    )
    assert fix is not None
    assert not fix.changes_verdicts
    (edit,) = fix.edits
    return body[: edit.start] + edit.octets + body[edit.end :]


@pytest.mark.parametrize(
    ("line", "left"),
    [
        (b"Allow: /a  # robotrules: ignore[bom]\r\n", b"Allow: /a\r\n"),
        (b"Allow: /a#robotrules: ignore", b"Allow: /a"),
        (b"Allow: /a # robotrules: ignore[bom] since 2020\n", b"Allow: /a # since 2020\n"),
        (b"Allow: /a # robotrules: ignore[bom] # why\n", b"Allow: /a  # why\n"),
        (b"Allow: /a # why # robotrules: ignore[bom] \n", b"Allow: /a # why\n"),
        (b"Allow: /a # one # robotrules: ignore[bom] two\n", b"Allow: /a # one  two\n"),
        (b"  # robotrules: ignore[bom]\r\n", b""),
        (b"# robotrules: ignore[bom]", b""),
    ],
)
def test_removing_a_comment_keeps_the_line(line: bytes, left: bytes) -> None:
    """Text around it is kept, as a comment if it was one; a line with nothing else is removed."""
    assert remove_names(b"Allow: /\n" + line) == b"Allow: /\n" + left


def test_removing_a_name_keeps_the_others() -> None:
    """Other names stay as they are written; without other names, the comment is removed."""
    body = b"Allow: / # robotrules: ignore[Bom,typo , nul] why\n"
    assert remove_names(body, "typo") == b"Allow: / # robotrules: ignore[Bom, nul] why\n"
    assert remove_names(body, "bom", "nul") == b"Allow: / # robotrules: ignore[typo] why\n"
    assert remove_names(body, "bom", "typo", "nul") == b"Allow: / # why\n"


def test_a_comment_with_very_many_names_has_no_fix() -> None:
    """The cost would be quadratic."""
    body = b"User-agent: *\nAllow: / # robotrules: ignore[" + b"bom," * 101 + b"]\n"
    notes = lint(body, select=["unused-suppression", "bom"])
    assert len(notes) == 1
    assert {note.fix for note in notes} == {None}


# --- Whatever the octets --------------------------------------------------------------------------

PARTS = [
    *(b"# robotrules: ignore", b"# robotrules: ignore-file", b"#", b"[", b"]", b",", b" ", b"bom"),
    *(b"RR505", b"\n", b"\r", b"Allow: /", b"\xff", b"\xc2\xa0", b"-", b"\0"),
]
comments = st.lists(st.sampled_from(PARTS) | st.binary(max_size=3), max_size=12).map(b"".join)


@given(body=comments)
@example(body=b"# robotrules: ignore[\xff\xfe]")
def test_nothing_raises_and_every_span_is_inside(body: bytes) -> None:
    """With any content of a comment; and removing it changes no record."""
    robots = parse(body)
    suppressions = parse_suppressions(robots.lines)
    assert list(suppressions) == sorted(suppressions, key=lambda one: one.start)
    for one in suppressions:
        assert 0 <= one.start <= one.end <= len(robots.body)
        assert robots.body[one.start : one.start + 1] == b"#"
        for name in one.names:
            assert one.start < name.start < name.end <= one.end
    records = [(record.key, record.value) for record in robots.records]
    if suppressions:
        names = [name.text for name in suppressions[0].names]
        for some in (names, names[:1]):
            now = parse(remove_names(robots.body, *some))
            assert [(record.key, record.value) for record in now.records] == records


def test_a_suppression_is_hashable() -> None:
    """`lint` puts suppressions into sets."""
    suppression = Suppression(1, None, (), 0, 3)
    assert {suppression, suppression._replace(line=1)} == {suppression}
