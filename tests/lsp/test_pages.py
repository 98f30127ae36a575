"""The page about editors: what it says one sees is what one sees."""

from __future__ import annotations

import re
from pathlib import Path

from robotrules.linting import lint
from robotrules.lsp.document import OpenDocument
from robotrules.lsp.hover import hover

PAGE = (Path(__file__).parents[2] / "docs" / "editors.md").read_text(encoding="utf-8")
SEEN = PAGE.partition("## What you see")[2]
(FILE,) = re.findall(r"^```text\n(.*?)^```", SEEN, re.MULTILINE | re.DOTALL)


def quoted(heading: str) -> list[str]:
    """Return the quoted paragraphs under a heading, each on one line."""
    part = SEEN.partition(f"### {heading}\n")[2].partition("### ")[0]
    lines = [line[1:].strip() for line in part.splitlines() if line.startswith(">")]
    return [" ".join(one.split()) for one in "\n".join(lines).split("\n\n")]


def words(line: int) -> str:
    """Return the hover on the value of a line."""
    document = OpenDocument(FILE)
    found = hover(document, document.lines[line - 1].end)
    assert found is not None
    return found.markdown


def test_the_note() -> None:
    """Its code and its words."""
    (said,) = quoted("Notes")
    (note,) = [note for note in lint(FILE) if note.line == 4]
    assert said == f"`{note.code}` {note.message}"


def test_the_hovers() -> None:
    """Every paragraph that is quoted, in its order; URLs are listed there one below the other."""
    found = words(5)
    for paragraph in quoted("Hover"):
        heading, _, urls = paragraph.partition(": ")
        if heading in ("Matches", "Misses"):
            assert f"{heading}:\n\n- {urls.split(', ')[0].removesuffix(' …')}\n" in f"{found}\n"
        else:
            assert paragraph in found
    assert "every URL it matches is decided by line 3, `Disallow: /shop*`." in words(4)
    assert "that is 34,560 in a day at most." in words(6)
