"""GitHub: workflow commands, and never a command from the content of a file."""

from __future__ import annotations

import re

import pytest

from robotrules.linting.render import LintedFile
from robotrules.linting.render.github import github
from tests.lint.rendered import BODY, HOSTILE, hostile_file, large_file, lint_file, note

COMMAND = re.compile(r"::(?P<name>[a-z]+) (?P<parts>[^:]*)::(?P<data>.*)")


def read(line: str) -> tuple[str, dict[str, str], str]:
    """Read a command as the runner does: the first `::` after the properties ends them."""
    match = COMMAND.fullmatch(line)
    assert match, line
    pairs = dict(part.split("=", 1) for part in match["parts"].split(","))
    return match["name"], {key: part(value) for key, value in pairs.items()}, data(match["data"])


def data(text: str) -> str:
    """Unescape the message of a command."""
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def part(text: str) -> str:
    """Unescape a property of a command."""
    return data(text.replace("%3A", ":").replace("%2C", ","))


def test_a_note() -> None:
    """File, line, columns, title and message."""
    assert list(github([lint_file()])) == [
        "::error file=robots.txt,line=2,col=11,endColumn=19,title=RR505 pattern-start::The path "
        "pattern 'private/' starts with neither '/' nor '*', so it matches no URL. Start it "
        "with '/'.",
        "::warning file=robots.txt,line=4,col=8,endColumn=13,title=RR501 dead-rule::'Allow: /shop' "
        "has no effect for any crawler: line 3 decides every URL that this rule matches. Remove "
        "it, or write a longer pattern.",
    ]


def test_levels() -> None:
    """`info` becomes `notice`."""
    notes = tuple(note(level=level) for level in ("error", "warning", "info"))
    lines = github([LintedFile(b"x", notes=notes, body=BODY)])
    assert [read(line)[0] for line in lines] == ["error", "warning", "notice"]


def test_columns_are_characters() -> None:
    """Neither octets nor UTF-16 code units."""
    [line] = github([lint_file("User-agent: *\n# é\nDisallow: é😀/\n".encode())])
    _, parts, _ = read(line)
    assert (parts["line"], parts["col"], parts["endColumn"]) == ("3", "11", "14")


def test_a_url_has_no_location() -> None:
    """A fetched file has no lines in the repository, so the message says where."""
    url = b"https://example.com/robots.txt"
    [line, _] = github([lint_file(where=url, is_file=False)])
    _, parts, message = read(line)
    assert set(parts) == {"title"}
    assert message.startswith("https://example.com/robots.txt:2:11: The path pattern")


def test_a_note_about_a_page_names_the_part() -> None:
    """It has no line."""
    about = note(line=None, column=0, end_column=0, part="meta element 2")
    [line] = github([LintedFile(b"page.html", notes=(about,))])
    assert line == "::error file=page.html,title=RR505 pattern-start::meta element 2: A message."


@pytest.mark.parametrize(
    "name", ["a,b:c.txt", "100%.txt", "a\nb\r::error::x.txt", "::stop-commands::x"]
)
def test_file_names_are_escaped(name: str) -> None:
    """The runner reads any file name back unchanged."""
    lines = list(github([lint_file(where=name.encode())]))
    assert len(lines) == 2
    for line in lines:
        assert "\n" not in line
        assert "\r" not in line
        assert read(line)[1]["file"] == name


def test_no_file_writes_a_command() -> None:
    """Each note is one line, in which all control characters are visible."""
    lines = list(github([hostile_file()]))
    assert len(lines) == 3
    for line in lines:
        assert line.isprintable()
        name, parts, message = read(line)
        assert name == "error"
        assert set(parts) <= {"file", "line", "col", "endColumn", "title"}
        assert "\n::error::%0A,<b" in message
    assert "\n::error" in HOSTILE


def test_a_failed_input_is_an_error() -> None:
    """Without a file, because there may be none."""
    [line] = github([LintedFile(b"no.txt", error="cannot read\nit")])
    assert line == "::error title=robotrules lint::cannot read%0Ait"


def test_very_many_notes() -> None:
    """On one line of half a mebibyte."""
    lines = list(github([large_file()]))
    assert len(lines) == 100_000
    assert "col=100010,endColumn=100011," in lines[-1]


def test_the_url_is_in_the_message() -> None:
    """A message may refer to \"this URL\", so it has to be there."""
    shown = note(url="https://example.com/a%3Ab")
    [line] = github([LintedFile(b"robots.txt", notes=(shown,), body=BODY)])
    assert line.endswith(f"{shown.message} Shown by https://example.com/a%253Ab")
