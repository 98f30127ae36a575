"""
Check docs: parse the docstring of a check into its four parts.

The parts are *What it finds*, *Why it matters*, *Example* and *Instead*: each a heading with a
colon and indented Markdown below it. A deeper indent is an example as it would be in a file. This
module does not lay out pages.
"""

from __future__ import annotations

import re
from textwrap import dedent

from robotrules.linting.check import Check

# By the first digit of a code.
LAYERS = {
    "1": "Bytes",
    "2": "Lines",
    "3": "Records",
    "4": "Groups",
    "5": "Rules",
    "6": "Extensions",
    "7": "Access",
    "8": "Tags",
    "9": "Lint itself",
}
PARTS = ("What it finds", "Why it matters", "Example", "Instead")
_HEADING = re.compile(rf"^({'|'.join(PARTS)}):[ \t]*$", re.MULTILINE)
_STEP = re.compile(r"^ {1,4}", re.MULTILINE)


def parts(check: Check) -> dict[str, str]:
    """Return the parts of a check's docstring by heading; empty if docstrings were stripped."""
    docstring = dedent(check.__doc__ or "").strip("\n")
    pieces = _HEADING.split(docstring)
    # One step only, so that examples stay indented.
    texts = (_STEP.sub("", text).strip("\n").rstrip() for text in pieces[2::2])
    return dict(zip(pieces[1::2], texts, strict=True))


def first_paragraph(text: str) -> str:
    """Return the first paragraph of a part as one line."""
    return " ".join(text.split("\n\n")[0].split())


def sample(text: str) -> str:
    """Return the indented lines of a part: an example as it would be in a file."""
    lines = [line for line in text.split("\n") if line.startswith("    ") or not line.strip()]
    return dedent("\n".join(lines)).strip("\n") + "\n" if any(map(str.strip, lines)) else ""
