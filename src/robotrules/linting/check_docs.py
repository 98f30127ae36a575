"""
Teaching: the four parts of what a check has to say for itself.

The docstring of a check has *What it finds*, *Why it matters*, *Example* and *Instead*, each a
heading with a colon and indented text under it, which is Markdown: a deeper indent is an example as
it would stand in a file. It does not know how a page is laid out.
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
    """Return what a check teaches, by part; empty where docstrings were stripped."""
    text = dedent(check.__doc__ or "").strip("\n")
    cut = _HEADING.split(text)
    # By one step only, so that what stands deeper still does.
    said = (_STEP.sub("", part).strip("\n").rstrip() for part in cut[2::2])
    return dict(zip(cut[1::2], said, strict=True))


def first_paragraph(text: str) -> str:
    """Return the first paragraph of a part as one line."""
    return " ".join(text.split("\n\n")[0].split())


def sample(text: str) -> str:
    """Return what of a part stands deeper: an example as it would stand in a file."""
    blocks = [line for line in text.split("\n") if line.startswith("    ") or not line.strip()]
    return dedent("\n".join(blocks)).strip("\n") + "\n" if any(map(str.strip, blocks)) else ""
