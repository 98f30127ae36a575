"""
Writes docs/profiles.md from the profiles themselves, so that the page cannot drift.

    python scripts/profiles_page.py            write the page
    python scripts/profiles_page.py --check    exit 1 if the page on disk differs

It reads field names, their sentences and their values; it does not know what a switch does.
"""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path

from robotrules import profile
from robotrules.robotstxt.values import NOTES

PAGE = Path(__file__).parent.parent / "docs" / "profiles.md"
OPENING = """# Profiles

<!-- made by scripts/profiles_page.py from src/robotrules/profile.py: do not edit -->

RFC 9309 leaves some cases open, and sites write records that it does not define. A profile is a
named set of decisions for these cases. `strict` follows the grammar and the text of the RFC;
`default` adds tolerances that change no answer for a file that follows the grammar; `google`
behaves like google/robotstxt, including its bugs. To define another profile, use `replace`:
`robotrules.DEFAULT.replace(comma_user_agents=True)`.

Every tolerance leaves a note in `RobotsTxt.notes`, and so does every line that is not used.

In a pattern, the text after a `*` and before the first `?` may match in the path or in the query:
the delimiters `/ ? = &` match in either place. A `?` after a wildcard matches the `?` that starts
the query or one inside the query.

"""


def sentences() -> dict[str, str]:
    """Return the sentence below each field of a profile."""
    (cls,) = (
        node
        for node in ast.parse(inspect.getsource(profile)).body
        if isinstance(node, ast.ClassDef) and node.name == "_Fields"
    )
    found: dict[str, str] = {}
    field = ""
    for node in cls.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            field = node.target.id
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and field:
            found[field] = str(node.value.value)
            field = ""
    return found


def cell(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else ""
    if isinstance(value, tuple):
        return f"{len(value)}" if value else ""
    return f"{value:,}" if isinstance(value, int) else "none"


def page() -> str:
    names = list(profile.PROFILES)
    rows = [f"| field | {' | '.join(names)} | what it does |", "|---" * (len(names) + 2) + "|"]
    for field, sentence in sentences().items():
        values = [cell(getattr(profile.PROFILES[name], field)) for name in names]
        rows.append(f"| `{field}` | {' | '.join(values)} | {sentence} |")
    spellings = ", ".join(f"`{wrong}` ({right})" for wrong, right in profile.GOOGLE_SPELLINGS)
    notes = ["| note | level | meaning |", "|---|---|---|"]
    notes += [f"| `{code}` | {level} | {text} |" for code, (level, text) in NOTES.items()]
    return (
        OPENING
        + "## Fields\n\n"
        + "\n".join(rows)
        + f"\n\nThe misspellings of `default` and `google`: {spellings}.\n"
        + "\n## Notes\n\n"
        + "`error`: the line, or a part of it, was not used. `warning`: a departure from the\n"
        + "grammar was tolerated. `info`: good to know.\n\n"
        + "\n".join(notes)
        + "\n"
    )


def main() -> int:
    text = page()
    if "--check" in sys.argv[1:]:
        if PAGE.read_text(encoding="utf-8") == text:
            return 0
        print(f"{PAGE.name} is not what the profiles say: run python scripts/profiles_page.py")
        return 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
