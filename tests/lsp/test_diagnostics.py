"""Diagnostics: notes as an editor shows them, chosen as a project wants."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol.types import DiagnosticSeverity, DiagnosticTag, Position, Range

from robotrules.config import Config, LintConfig
from robotrules.errors import ConfigError
from robotrules.linting.selection import find_check
from robotrules.lsp import diagnostics as module
from robotrules.lsp.diagnostics import Showing, at, diagnostic, diagnostics, notes, teaching
from robotrules.lsp.document import OpenDocument
from tests.lsp.samples import note

URI = "file:///robots.txt"
TEXT = "User-agent: *\nDisallow: /é😀/x\nAllow: /a\nAllow: /b\n"


def test_a_note_keeps_its_place_its_code_and_its_words() -> None:
    """Columns are those of the client; a related place is one that an editor can go to."""
    found = note(TEXT, "x", level="error", related="Allow: /a")
    shown = diagnostic(OpenDocument(TEXT), URI, found)
    assert shown.range == Range(Position(1, 15), Position(1, 16))
    assert (shown.code, shown.source, shown.message) == ("RR999", "robotrules", "It is made up.")
    assert shown.severity == DiagnosticSeverity.Error
    assert shown.code_description is None
    (related,) = shown.related_information or ()
    assert (related.message, related.location.uri) == ("see there", URI)
    assert related.location.range.start == Position(2, 0)


@pytest.mark.parametrize(
    ("level", "severity"),
    [
        ("error", DiagnosticSeverity.Error),
        ("warning", DiagnosticSeverity.Warning),
        ("info", DiagnosticSeverity.Information),
    ],
)
def test_the_severity_is_the_level(level: str, severity: DiagnosticSeverity) -> None:
    """All three of them."""
    assert diagnostic(OpenDocument(TEXT), URI, note(TEXT, "x", level=level)).severity == severity


def test_what_could_go_is_faint() -> None:
    """Where a client can show that; related places likewise."""
    found = note(TEXT, "x", slug="dead-rule", related="Allow: /a")
    document = OpenDocument(TEXT)
    assert diagnostic(document, URI, found).tags == [DiagnosticTag.Unnecessary]
    plain = diagnostic(document, URI, found, Showing(related=False, tags=False))
    assert (plain.tags, plain.related_information) == (None, None)
    assert diagnostic(document, URI, note(TEXT, "x")).tags is None


def test_what_could_go_is_named_by_checks_that_there_are() -> None:
    """A slug that no check has would never be shown faint."""
    assert [slug for slug in module.UNNECESSARY if find_check(slug) is None] == []


def test_what_cannot_be_seen_shows() -> None:
    """A message quotes strangers; a URL that shows it is named."""
    found = note(TEXT, "x")._replace(message="It says 'a\x1b\n'.", url="https://a.example/b")
    shown = diagnostic(OpenDocument(TEXT), URI, found)
    assert shown.message == "It says 'a\\x1b\\x0a'. (https://a.example/b)"


def test_notes_about_the_file_and_about_nothing() -> None:
    """The first is shown at its first line, an empty span as its line."""
    document = OpenDocument(TEXT)
    whole = note(TEXT, "x")._replace(line=None, start=0, end=0)
    assert diagnostic(document, URI, whole).range == Range(Position(0, 0), Position(0, 0))
    start = TEXT.index("Allow: /a")
    empty = note(TEXT, "Allow: /a")
    empty = empty._replace(start=empty.start, end=empty.start)
    assert start > 0
    assert diagnostic(document, URI, empty).range == Range(Position(2, 0), Position(2, 9))


def test_of_very_many_the_first_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a last one says how many there are."""
    monkeypatch.setattr(module, "MOST_SHOWN", 2)
    found = [note(TEXT, "x")] * 5
    shown = diagnostics(OpenDocument(TEXT), URI, found)
    assert len(shown) == 3
    assert shown[-1].message.startswith("There are 3 more notes")


def test_notes_on_a_line() -> None:
    """Anywhere on it; those about the file are on the first."""
    found = [note(TEXT, "/a"), note(TEXT, "/b"), note(TEXT, "x")._replace(line=None)]
    document = OpenDocument(TEXT)
    start = document.octets.index(b"Allow: /a")
    assert at(document, found, start, start) == found[:1]
    assert at(document, found, start, len(TEXT.encode()) - 1) == found[:2]
    assert at(document, found, 0, 0) == found[2:]


# --- Settings -------------------------------------------------------------------------------------

DEAD = "User-agent: *\nDisallow: /shop*\nAllow: /shop\nDisallow: x\n"


def codes(config: Config | None = None, file: str = "", budget: int | None = None) -> list[str]:
    """Return the codes of what is found in a file."""
    return [one.code for one in notes(OpenDocument(DEAD), config, file, budget=budget)]


def test_a_project_chooses(tmp_path: Path) -> None:
    """By selecting, by ignoring, and by the names of files."""
    assert {"RR501", "RR505"} <= set(codes())
    assert codes(Config(lint=LintConfig(select=("RR501",)))) == ["RR501"]
    assert "RR505" not in codes(Config(lint=LintConfig(ignore=("pattern-start",))))
    by_file = LintConfig(select=("RR50",), per_file_ignores={"old.txt": ("RR505",)})
    config = Config(str(tmp_path / "robotrules.toml"), lint=by_file)
    assert "RR505" not in codes(config, str(tmp_path / "old.txt"))
    assert "RR505" in codes(config, str(tmp_path / "new.txt"))


def test_a_name_that_is_no_check_says_where_it_stands() -> None:
    """The settings are wrong and not the file."""
    config = Config("here/robotrules.toml", LintConfig(select=("RR501", "dead-rul")))
    with pytest.raises(ConfigError, match=r"here/robotrules.toml: select names 'dead-rul'"):
        codes(config)


def test_whoever_is_in_a_hurry_asks_for_less() -> None:
    """With next to no budget nothing is proved, and that is a note of its own."""
    found = codes(budget=1)
    assert "RR501" not in found
    assert [one.slug for one in notes(OpenDocument(DEAD), budget=1)].count("not-decided") >= 1
    # What a project asks for is no more than what there is time for.
    assert codes(Config(lint=LintConfig(budget=10_000)), budget=1) == found


def test_teaching_is_one_paragraph() -> None:
    """The first part of what a check teaches; nothing for a code that nobody has."""
    assert teaching(note(TEXT, "x", code="RR501")).startswith("A rule that decides no URL")
    assert "\n" not in teaching(note(TEXT, "x", code="RR501"))
    assert teaching(note(TEXT, "x", code="RR000")) == ""
