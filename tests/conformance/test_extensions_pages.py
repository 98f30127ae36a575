"""The vectors on the pages on extensions are generated from the suite, complete and up to date."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import suite
from scripts import extensions_pages

SCRIPT = suite.HERE.parent / "scripts" / "extensions_pages.py"
# Vendors' interpretations of tag rules; the others are about robots.txt.
ABOUT_TAGS = ("VEN-05", "VEN-08", "VEN-09")
MARKS = f"{extensions_pages.BEGIN}\n{extensions_pages.END}\n"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the script in a process."""
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_pages_are_up_to_date() -> None:
    """The pages on disk are those that the script writes."""

    done = run("--check")

    assert done.returncode == 0, done.stdout + done.stderr


def test_pages_show_every_vector() -> None:
    """Each vector of an extension and each of its requirements is on exactly one page."""

    text = "".join(map(extensions_pages.render_block, extensions_pages.PAGES))

    for vector in suite.load():
        anchor = f'<a id="{vector.id.replace("/", "--")}"></a>'
        assert text.count(anchor) == (1 if vector.is_extension else 0)
    for name in suite.load_requirements():
        elsewhere = name.startswith(("REP-", "K04-", "URI-", "VEN-")) and name not in ABOUT_TAGS
        assert text.count(f"#### {name}\n") == (0 if elsewhere else 1)


def test_links_have_targets() -> None:
    """A link to a vector on another page leads to its row."""

    pages = {page: extensions_pages.render_block(page) for page in extensions_pages.PAGES}
    for vector in suite.load():
        if vector.is_extension:
            page, _, anchor = extensions_pages.link(vector)[:-1].split("(")[1].partition("#")
            assert f'<a id="{anchor}"></a>' in pages[page]


@pytest.mark.parametrize("page", extensions_pages.PAGES)
def test_rows_have_all_cells(page: str) -> None:
    """Every row of a table has four cells, or three in the table of decisions."""

    for line in extensions_pages.render_block(page).splitlines():
        if line.startswith("| "):
            assert line.replace("\\|", "").count("|") in (4, 5), line


def test_rest_of_a_page_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text outside the marks is kept; writing is idempotent; `--check` finds changes."""

    monkeypatch.setattr(extensions_pages, "DOCS", tmp_path)
    page = tmp_path / "records.md"
    page.write_text(f"# Records\n\n{MARKS}\nThe end.\n", encoding="utf-8")

    assert extensions_pages.main(["--check"]) == 1
    assert extensions_pages.main([]) == 0
    written = page.read_text(encoding="utf-8")
    assert extensions_pages.main([]) == 0
    assert page.read_text(encoding="utf-8") == written
    assert extensions_pages.main(["--check"]) == 0
    assert written.startswith(f"# Records\n\n{extensions_pages.BEGIN}\n")
    assert written.endswith(f"\n{extensions_pages.END}\n\nThe end.\n")


def test_page_without_an_end_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an end mark the vectors follow the begin mark."""

    monkeypatch.setattr(extensions_pages, "DOCS", tmp_path)
    page = tmp_path / "records.md"
    page.write_text(f"{extensions_pages.BEGIN}\n\nThe end.\n", encoding="utf-8")

    assert extensions_pages.main([]) == 0
    assert page.read_text(encoding="utf-8").endswith(f"{extensions_pages.END}\n\nThe end.\n")


def test_pages_that_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A page that does not exist, or has no marks, is reported and not written."""

    monkeypatch.setattr(extensions_pages, "DOCS", tmp_path)
    (tmp_path / "records.md").write_text("# Records\n", encoding="utf-8")

    assert extensions_pages.main([]) == 0
    output = capsys.readouterr().out
    assert "docs/records.md is skipped: no mark" in output
    assert "docs/rep-purpose.md is skipped: no such page" in output
    assert [path.name for path in tmp_path.iterdir()] == ["records.md"]


def test_usage() -> None:
    """A wrong argument exits with 2, a difference with 1."""

    assert run("--chekc").returncode == 2
