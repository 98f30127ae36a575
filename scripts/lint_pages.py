"""
Generate the pages of `docs/lint`: one for each check, from its docstring.

    python scripts/lint_pages.py            write them
    python scripts/lint_pages.py --check    fail if a page is out of date
"""

from __future__ import annotations

import sys
from pathlib import Path

from robotrules.linting import CHECKS, Check
from robotrules.linting.check import PageCheck
from robotrules.linting.check_docs import LAYERS, first_paragraph, parts
from robotrules.linting.note import MEANINGS

FOLDER = Path(__file__).parents[1] / "docs" / "lint"


def render_page(check: Check) -> str:
    """Return the page of a check."""
    documentation = parts(check)
    lines = [
        f"# {check.code} {check.slug}",
        "",
        f"*{check.level}: {MEANINGS[check.level]}* · {check.reference}",
        "",
    ]
    for name, text in documentation.items():
        lines += [f"## {name}", "", text, ""]
    # Comments suppress notes on a robots.txt only, not on the tags of a page.
    comment = (
        ""
        if isinstance(check, PageCheck)
        else f"`# robotrules: ignore[{check.code}]` at the end of a line, or on a line before it, "
        "suppresses the note. "
    )
    lines += [
        "## Suppressing it",
        "",
        f"{comment}`--ignore {check.code}`, and `ignore` in `robotrules.toml`, disable the check.",
        "",
        f"[All checks](README.md) · tested by [tests/lint/{check.code}.md]"
        f"(../../tests/lint/{check.code}.md)",
        "",
    ]
    return "\n".join(lines)


def render_index() -> str:
    """Return the page that lists all checks."""
    lines = [
        "# The checks",
        "",
        f"`robotrules lint` has {len(CHECKS)} checks; `robotrules rule CODE` prints the page of a "
        "check. Codes are grouped by layer and never reused.",
        "",
    ]
    for digit, layer in LAYERS.items():
        of_layer = [check for check in CHECKS if check.code[2] == digit]
        if not of_layer:
            continue
        lines += [f"## {layer}", "", "| code | finds | level | fix |", "|---|---|---|---|"]
        for check in of_layer:
            sentence = first_paragraph(parts(check)["What it finds"]).split(". ")[0].rstrip(".")
            link = f"[{check.code}]({check.slug}.md) {check.slug}"
            plain = sentence.replace("|", "\\|")
            lines.append(f"| {link} | {plain} | {check.level} | {describe_fix(check)} |")
        lines.append("")
    return "\n".join(lines)


def describe_fix(check: Check) -> str:
    """Return whether a check has a fix, as the test of the check shows."""
    test = Path(__file__).parents[1] / "tests" / "lint" / f"{check.code}.md"
    text = test.read_text(encoding="utf-8") if test.exists() else ""
    if "```fixed verdicts" in text:
        return "yes, changes verdicts"
    return "yes" if "```fixed" in text else ""


def main() -> int:
    """Write the pages, or compare them."""
    wanted = {f"{check.slug}.md": render_page(check) for check in CHECKS}
    wanted["README.md"] = render_index()
    existing = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    if "--check" in sys.argv:
        stale = sorted(
            name
            for name in wanted.keys() | existing.keys()
            if wanted.get(name) != existing.get(name)
        )
        if stale:
            print(f"docs/lint: {', '.join(stale)} out of date: run python scripts/lint_pages.py")
        return int(bool(stale))
    FOLDER.mkdir(exist_ok=True)
    for name in existing.keys() - wanted.keys():
        (FOLDER / name).unlink()
    for name, text in wanted.items():
        if existing.get(name) != text:
            (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
