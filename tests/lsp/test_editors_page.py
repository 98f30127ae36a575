"""docs/editors.md: the notes and hovers that it quotes are the real ones."""

from __future__ import annotations

import re
from pathlib import Path

from robotrules.editing.document import OpenDocument
from robotrules.editing.hover import render_hover
from robotrules.linting import lint

PAGE = (Path(__file__).parents[2] / "docs" / "editors.md").read_text(encoding="utf-8")
FEATURES = PAGE.partition("## What you see")[2]
(FILE,) = re.findall(r"^```text\n(.*?)^```", FEATURES, re.MULTILINE | re.DOTALL)


def quoted(heading: str) -> list[str]:
    """Return the quoted paragraphs under a heading, each on one line."""
    part = FEATURES.partition(f"### {heading}\n")[2].partition("### ")[0]
    lines = [line[1:].strip() for line in part.splitlines() if line.startswith(">")]
    return [" ".join(paragraph.split()) for paragraph in "\n".join(lines).split("\n\n")]


def hover_text(line: int) -> str:
    """Return the hover on the value of a line."""
    document = OpenDocument(FILE)
    found = render_hover(document, document.lines[line - 1].end)
    assert found is not None
    return found.markdown


def test_the_note() -> None:
    """Its code and its message."""
    (quote,) = quoted("Diagnostics")
    (note,) = [note for note in lint(FILE) if note.line == 4]
    assert quote == f"`{note.code}` {note.message}"


def test_the_hovers() -> None:
    """Every quoted paragraph; the page shows lists of URLs on one line."""
    found = hover_text(5)
    for paragraph in quoted("Hover"):
        heading, _, urls = paragraph.partition(": ")
        if heading in ("Matches", "Does not match"):
            assert f"{heading}:\n\n- {urls.split(', ')[0].removesuffix(' …')}\n" in f"{found}\n"
        else:
            assert paragraph in found
    assert "every URL that it matches is decided by line 3, `Disallow: /shop*`." in hover_text(4)
    assert "at most 34,560 requests per day." in hover_text(6)
