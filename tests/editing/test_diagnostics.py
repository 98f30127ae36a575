"""Diagnostics: lint notes as an editor shows them, selected by the settings of the project."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol.types import DiagnosticSeverity, DiagnosticTag, Position, Range

from robotrules.config import Config, LintConfig
from robotrules.editing import diagnostics as module
from robotrules.editing.diagnostics import (
    ClientSupport,
    find_notes,
    lint_document,
    make_diagnostic,
    make_diagnostics,
    summarize_check,
)
from robotrules.editing.document import OpenDocument
from robotrules.errors import ConfigError
from robotrules.linting import find_check
from tests.lsp.samples import note

URI = "file:///robots.txt"
TEXT = "User-agent: *\nDisallow: /é😀/x\nAllow: /a\nAllow: /b\n"


def test_a_note_keeps_its_range_code_and_message() -> None:
    """Columns are in the encoding of the client; a related note is a location."""
    found = note(TEXT, "x", level="error", related="Allow: /a")
    shown = make_diagnostic(OpenDocument(TEXT), URI, found)
    assert shown.range == Range(Position(1, 15), Position(1, 16))
    assert (shown.code, shown.source, shown.message) == ("RR999", "robotrules", "It is invented.")
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
    assert (
        make_diagnostic(OpenDocument(TEXT), URI, note(TEXT, "x", level=level)).severity == severity
    )


def test_a_removable_line_is_unnecessary() -> None:
    """If the client supports tags; related locations likewise."""
    found = note(TEXT, "x", slug="dead-rule", related="Allow: /a")
    document = OpenDocument(TEXT)
    assert make_diagnostic(document, URI, found).tags == [DiagnosticTag.Unnecessary]
    support = ClientSupport(related_information=False, tags=False)
    reduced = make_diagnostic(document, URI, found, support)
    assert (reduced.tags, reduced.related_information) == (None, None)
    assert make_diagnostic(document, URI, note(TEXT, "x")).tags is None


def test_the_checks_of_unnecessary_lines_exist() -> None:
    """A slug without a check would never be used."""
    assert [slug for slug in module.UNNECESSARY if find_check(slug) is None] == []


def test_invisible_characters_are_escaped() -> None:
    """A message quotes untrusted text; the example URL is appended."""
    found = note(TEXT, "x")._replace(message="It says 'a\x1b\n'.", url="https://a.example/b")
    shown = make_diagnostic(OpenDocument(TEXT), URI, found)
    assert shown.message == "It says 'a\\x1b\\x0a'. (https://a.example/b)"


def test_ranges_of_notes_without_a_span() -> None:
    """A note about the file is at its start; an empty span becomes its line."""
    document = OpenDocument(TEXT)
    whole = note(TEXT, "x")._replace(line=None, start=0, end=0)
    assert make_diagnostic(document, URI, whole).range == Range(Position(0, 0), Position(0, 0))
    start = TEXT.index("Allow: /a")
    empty = note(TEXT, "Allow: /a")
    empty = empty._replace(start=empty.start, end=empty.start)
    assert start > 0
    assert make_diagnostic(document, URI, empty).range == Range(Position(2, 0), Position(2, 9))


def test_the_number_of_diagnostics_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last one says how many more there are."""
    monkeypatch.setattr(module, "MAX_DIAGNOSTICS", 2)
    found = [note(TEXT, "x")] * 5
    shown = make_diagnostics(OpenDocument(TEXT), URI, found)
    assert len(shown) == 3
    assert shown[-1].message.startswith("3 more notes are not shown")


def test_notes_on_a_line() -> None:
    """Anywhere on the line; notes about the file are on the first line."""
    found = [note(TEXT, "/a"), note(TEXT, "/b"), note(TEXT, "x")._replace(line=None)]
    document = OpenDocument(TEXT)
    start = document.octets.index(b"Allow: /a")
    assert find_notes(document, found, start, start) == found[:1]
    assert find_notes(document, found, start, len(TEXT.encode()) - 1) == found[:2]
    assert find_notes(document, found, 0, 0) == found[2:]


# --- Settings -------------------------------------------------------------------------------------

DEAD = "User-agent: *\nDisallow: /shop*\nAllow: /shop\nDisallow: x\n"


def codes(config: Config | None = None, file: str = "", max_states: int | None = None) -> list[str]:
    """Return the codes of the notes in a file."""
    return [
        note.code for note in lint_document(OpenDocument(DEAD), config, file, max_states=max_states)
    ]


def test_settings_select_checks(tmp_path: Path) -> None:
    """With select, ignore, and per-file-ignores."""
    assert {"RR501", "RR505"} <= set(codes())
    assert codes(Config(lint=LintConfig(select=("RR501",)))) == ["RR501"]
    assert "RR505" not in codes(Config(lint=LintConfig(ignore=("pattern-start",))))
    by_file = LintConfig(select=("RR50",), per_file_ignores={"old.txt": ("RR505",)})
    config = Config(str(tmp_path / "robotrules.toml"), lint=by_file)
    assert "RR505" not in codes(config, str(tmp_path / "old.txt"))
    assert "RR505" in codes(config, str(tmp_path / "new.txt"))


def test_an_unknown_check_in_the_settings_is_an_error() -> None:
    """The message names the settings file."""
    config = Config("here/robotrules.toml", LintConfig(select=("RR501", "dead-rul")))
    with pytest.raises(ConfigError, match=r"here/robotrules.toml: select names 'dead-rul'"):
        codes(config)


def test_the_budget_is_limited() -> None:
    """With almost no budget nothing is proved, and a note says so."""
    found = codes(max_states=1)
    assert "RR501" not in found
    assert [note.slug for note in lint_document(OpenDocument(DEAD), max_states=1)].count(
        "not-decided"
    ) >= 1
    # The settings cannot raise the limit.
    assert codes(Config(lint=LintConfig(max_states=10_000)), max_states=1) == found


def test_the_summary_of_a_check_is_one_paragraph() -> None:
    """The first one of its documentation; empty for an unknown code."""
    assert summarize_check(note(TEXT, "x", code="RR501")).startswith("A rule that decides no URL")
    assert "\n" not in summarize_check(note(TEXT, "x", code="RR501"))
    assert summarize_check(note(TEXT, "x", code="RR000")) == ""
