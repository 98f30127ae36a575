"""Comments: a space after the sign before words, and none in drawings."""

from __future__ import annotations

import pytest

from robotrules import parse
from robotrules.formatting import format_robots
from robotrules.formatting.comments import format_comment_block, format_trailing_comment


def alone(comment: str) -> str:
    """Return a comment on its own line."""
    return format_comment_block([comment.encode()])[0].decode()


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("#words", "# words"),
        ("# words  ", "# words"),
        ("  #words", "# words"),
        ("#Été", "# Été"),
        ("#9 lives", "# 9 lives"),
        ("#Disallow: /x", "# Disallow: /x"),
        ("#", "#"),
        ("# ", "#"),
        ('#"quoted"', '#"quoted"'),
        ("#  indented", "#  indented"),
        ("#\ttab", "#\ttab"),
        ("#!shebang", "#!shebang"),
        ("##heading", "##heading"),
        ("#-----", "#-----"),
        ("#xxxxxxx", "#xxxxxxx"),
        ("#a   b", "#a   b"),
        ("#/path", "#/path"),
        ("#_x", "#_x"),
        ("#😀", "#😀"),
    ],
)
def test_one_alone(written: str, canonical: str) -> None:
    """A character that is not a letter or digit may be part of a drawing."""
    assert alone(written) == canonical


def test_words_together() -> None:
    """Each gets its space, and none is set in."""
    assert format_comment_block([b"#one", b"  # two", b"#", b'# "three"']) == [
        b"# one",
        b"# two",
        b"#",
        b'# "three"',
    ]


@pytest.mark.parametrize(
    "drawing",
    [
        ["##########", "#  title #", "#words", "##########"],
        ["   ###", "  #   #", " #words #"],
        ["#  _", "# | |__", "#words"],
        ["#name    value", "#a       b"],
    ],
)
def test_drawings_are_left_alone(drawing: list[str]) -> None:
    """Where one is drawn, none is moved against another."""
    lines = [line.encode() for line in drawing]
    assert format_comment_block(lines) == lines
    assert format_comment_block([line + b" \t" for line in lines]) == lines


def test_a_drawing_that_is_set_in() -> None:
    """All of it may be moved together."""
    assert format_comment_block([b"  #----", b"  #a  |", b"  #----"]) == [
        b"#----",
        b"#a  |",
        b"#----",
    ]


@pytest.mark.parametrize(
    ("written", "canonical"), [(b"#x ", b"# x"), (b"#-x", b"#-x"), (b"#", b"#"), (b"#  x", b"#  x")]
)
def test_beside_a_record(written: bytes, canonical: bytes) -> None:
    """The same, of one."""
    assert format_trailing_comment(written) == canonical


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("/x #y", "/x  # y"),
        ("/x\t\t# y", "/x  # y"),
        ("/x     #", "/x  #"),
        ("/x# y", "/x  # y"),
        ("/x#", "/x  #"),
        # It may be intended as a fragment: that it is not one must stay visible.
        ("/x#y", "/x#y"),
        ("/#/x #y ", "/#/x #y"),
    ],
)
def test_behind_a_path(written: str, canonical: str) -> None:
    """Two spaces before the sign, if it is set off."""
    body = f"User-agent: a\nDisallow: {written}\n"
    expected = f"User-agent: a\nDisallow: {canonical}\n".encode()
    assert format_robots(parse(body)).body == expected


def test_after_an_empty_value() -> None:
    """An empty value has no fragment."""
    assert format_robots(parse("User-agent: a\nDisallow:#all\n")).body.endswith(
        b"Disallow:  # all\n"
    )


def test_comments_that_come_together() -> None:
    """Where the blank line between them goes, a drawing keeps its neighbour from moving."""
    body = b"User-agent: a\nAllow: /\n\n#words\n\n#-----\nDisallow: /x\n"
    once = format_robots(parse(body)).body
    assert once == body.replace(b"\n\n", b"\n")
    assert not format_robots(parse(once)).changed
