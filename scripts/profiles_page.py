"""
Writes docs/profiles.md from the profiles.

    python scripts/profiles_page.py            write the page
    python scripts/profiles_page.py --check    exit 1 if the page on disk differs

It reads the names, docstrings and values of the fields.
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

RFC 9309 leaves some cases open, and some files do not follow its grammar. A profile is a named set
of decisions for these cases. `strict` follows the grammar and the text of the RFC; `default` adds
tolerances that do not change a verdict for a file that follows the grammar; `google` gives the same
results as google/robotstxt, including its bugs. To make a custom profile, change fields of another
profile: `robotrules.DEFAULT.replace(comma_user_agents=True)`.

`RobotsTxt.notes` reports everything that the parser tolerated or ignored.

In a pattern, the part after a `*` and before the first `?` can match in the path or in the query:
the delimiters `/ ? = &` match in either. A `?` after a wildcard matches the `?` that starts the
query, or a `?` inside the query.

"""


def read_descriptions() -> dict[str, str]:
    """Return the docstring of each field of a profile."""
    (cls,) = (
        node
        for node in ast.parse(inspect.getsource(profile)).body
        if isinstance(node, ast.ClassDef) and node.name == "_Fields"
    )
    docstrings: dict[str, str] = {}
    field = ""
    for node in cls.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            field = node.target.id
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and field:
            docstrings[field] = str(node.value.value)
            field = ""
    return docstrings


def render_value(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else ""
    if isinstance(value, tuple):
        return f"{len(value)}" if value else ""
    return f"{value:,}" if isinstance(value, int) else "none"


def render_page() -> str:
    names = list(profile.PROFILES)
    rows = [f"| field | {' | '.join(names)} | what it does |", "|---" * (len(names) + 2) + "|"]
    for field, description in read_descriptions().items():
        values = [render_value(getattr(profile.PROFILES[name], field)) for name in names]
        rows.append(f"| `{field}` | {' | '.join(values)} | {description} |")
    spellings = ", ".join(f"`{wrong}` ({right})" for wrong, right in profile.GOOGLE_SPELLINGS)
    notes = ["| note | level | meaning |", "|---|---|---|"]
    notes += [f"| `{code}` | {level} | {text} |" for code, (level, text) in NOTES.items()]
    return (
        OPENING
        + "## Fields\n\n"
        + "\n".join(rows)
        + f"\n\nThe misspellings of `default` and `google`: {spellings}.\n"
        + "\n## Notes\n\n"
        + "`error`: the line, or a part of it, is ignored. `warning`: the parser tolerated a\n"
        + "departure from the grammar. `info`: no problem.\n\n"
        + "\n".join(notes)
        + "\n"
    )


def main() -> int:
    text = render_page()
    if "--check" in sys.argv[1:]:
        if PAGE.read_text(encoding="utf-8") == text:
            return 0
        print(f"{PAGE.name} does not match the profiles: run python scripts/profiles_page.py")
        return 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
