"""
The examples in the documentation are run, and say what they print.

A Python block is executed with those before it on its page. A `print(...)` with a comment on its
line prints exactly that comment.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", "docs/tutorial.md"]


@pytest.mark.parametrize("page", PAGES)
def test_examples_do_what_they_say(page: str) -> None:
    """Every Python block of a page runs, and prints what its comments promise."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, page, "exec"), names)
        promised = re.findall(r"^print\(.*\)\s*# (.*)$", block, re.MULTILINE)
        if promised:
            assert printed.getvalue().splitlines() == promised


def test_links_lead_somewhere() -> None:
    """Every relative link of a page names a file that exists."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "conformance/README.md"]
    for page in pages:
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"
