"""
`robotrules rule`: the documentation of lint checks.

A wrapper around `robotrules.linting.check_docs`: what a check finds, why it matters, an example and
the fix; or the list of all checks.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

import click

from robotrules.cli.console import CliError, Output, quoted
from robotrules.cli.options import json_option
from robotrules.cli.text import Paint
from robotrules.linting.check import Check, PageCheck
from robotrules.linting.check_docs import LAYERS, parts
from robotrules.linting.checks import CHECKS
from robotrules.linting.note import MEANINGS
from robotrules.linting.selection import find_check

# Increased when a JSON key changes its meaning or is removed.
SCHEMA_VERSION = 1
# The maximum line length on wide terminals.
WIDEST = 100
NARROWEST = 40
INDENT = "  "


@click.command()
@click.argument("names", metavar="[CODE|NAME]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="List all checks by layer.")
@json_option("Print one JSON object, described in docs/cli/rule.md.")
def rule(names: tuple[str, ...], everything: bool, as_json: bool) -> int:
    """
    Explain lint checks.

    Name a check by its code, such as RR501, or its name, such as dead-rule. A prefix of codes, such
    as RR5, lists those checks. The exit code is 0, or 2 for an unknown check.

    \b
    Examples:
      robotrules rule RR501
      robotrules rule dead-rule pattern-start
      robotrules rule RR5
      robotrules rule --all
    """
    if everything and names:
        raise click.UsageError("--all cannot be combined with names of checks")
    if not names and not everything:
        raise click.UsageError("missing check: pass a code such as RR501, or --all")
    found = CHECKS if everything else tuple(dict.fromkeys(c for n in names for c in _named(n)))
    listing = everything or not any(map(find_check, names))
    output = Output()
    if as_json:
        checks = [_as_dict(check) for check in found]
        output.json({"schema": SCHEMA_VERSION, "checks": checks})
    elif listing:
        output.lines(list(_listed(found, output.paint)))
    else:
        width = max(min(output.width, WIDEST), NARROWEST)
        lines: list[str] = []
        for check in found:
            lines += [*([""] if lines else []), *_page(check, output.paint, width)]
        output.lines(lines)
    output.flush()
    return 0


def _named(name: str) -> Sequence[Check]:
    """Return the check of a name, or the checks of a code prefix."""
    check = find_check(name)
    if check is not None:
        return [check]
    plain = name.strip().lower()
    if plain and (found := [one for one in CHECKS if one.code.lower().startswith(plain)]):
        return found
    # Similar codes are no useful suggestions, except for one digit too many.
    close = [one.code for one in CHECKS if plain.startswith(one.code.lower())]
    close = close or get_close_matches(plain, [one.slug for one in CHECKS], 1)
    near = find_check(close[0]) if close else None
    hint = f"did you mean {near.code} ({near.slug})?" if near else "see robotrules rule --all"
    raise CliError(f"{quoted(name)} is not a check: {hint}")


def _as_dict(check: Check) -> dict[str, Any]:
    return {
        "code": check.code,
        "slug": check.slug,
        "level": check.level,
        "layer": LAYERS[check.code[2]].lower(),
        "of_pages": isinstance(check, PageCheck),
        "exact": check.exact,
        "message": check.message,
        "reference": check.reference,
        "teaching": parts(check),
    }


# --- Text -----------------------------------------------------------------------------------------


def _listed(checks: Sequence[Check], paint: Paint) -> Iterator[str]:
    width = max(len(check.slug) for check in checks)
    layer = ""
    for check in checks:
        if check.code[2] != layer:
            if layer:
                yield ""
            layer = check.code[2]
            yield paint("heading", LAYERS[layer])
        level = paint(check.level, check.level)
        yield f"{INDENT}{check.code}  {check.slug:<{width}}  {level}"


def _page(check: Check, paint: Paint, width: int) -> Iterator[str]:
    yield paint("heading", f"{check.code} {check.slug}")
    level = paint(check.level, check.level)
    yield f"{level}: {MEANINGS[check.level]}"
    for heading, text in parts(check).items():
        yield ""
        yield paint("heading", heading)
        yield from _laid_out(text, width)
    yield ""
    yield paint("heading", "Reference")
    yield from _laid_out(check.reference, width)
    yield ""
    yield paint("heading", "How to suppress it")
    words = f"`# robotrules: ignore[{check.code}]` at the end of a line, or on a line before it"
    if isinstance(check, PageCheck):
        words = f"`--ignore {check.code}`, or `ignore` in robotrules.toml"
    yield from _laid_out(words, width)


def _laid_out(text: str, width: int) -> Iterator[str]:
    """Yield wrapped paragraphs; indented blocks stay as they are."""
    for number, paragraph in enumerate(text.split("\n\n")):
        if number:
            yield ""
        lines = paragraph.split("\n")
        if all(line.startswith("    ") or not line.strip() for line in lines):
            yield from (f"{INDENT}{line}".rstrip() for line in lines)
            continue
        for item in _items(lines):
            hanging = INDENT + ("  " if item.startswith("- ") else "")
            yield from textwrap.wrap(
                item,
                width,
                initial_indent=INDENT,
                subsequent_indent=hanging,
                break_on_hyphens=False,
                break_long_words=False,
            )


def _items(lines: Sequence[str]) -> Iterator[str]:
    """Yield the items of a list, or a paragraph as one."""
    item: list[str] = []
    for line in lines:
        if line.startswith("- ") and item:
            yield " ".join(item)
            item = []
        item.append(line.strip())
    yield " ".join(item)
