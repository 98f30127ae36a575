"""
`robotrules write --check`: whether a server can serve a policy, with all notes of lint.

A wrapper around `robotrules.serving`, with the defaults of `SitePolicy`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from robotrules.cli.console import CliError, Output, report
from robotrules.errors import CheckError, PolicyError
from robotrules.octets import visible
from robotrules.serving import SitePolicy
from robotrules.serving.policy_lint import describe_note, lint_policy, stops
from robotrules.serving.policy_source import load_policy
from robotrules.serving.site_policy import DEFAULT_MAX_AGE, find_codes

# As in `SitePolicy`.
MIN_LEVEL = "warning"


def check_policy(
    source: Path | str, name: str, ignore: Sequence[str], values: dict[str, Any] | None
) -> int:
    """
    Print the notes on a policy; return 1 if one of them stops a server.

    *source* is a file, or the text from stdin; *values* are for JSON, and None for text.
    """
    try:
        loaded = load_policy(source)
        notes = lint_policy(loaded, DEFAULT_MAX_AGE, find_codes(ignore))
        stopping = [note for note in notes if stops(note, MIN_LEVEL)]
        if not stopping:
            SitePolicy(source, min_level=MIN_LEVEL, ignore=ignore)
    except (PolicyError, CheckError) as error:
        raise CliError(visible(str(error))) from None
    output = Output()
    if values is not None:
        check = {"can_be_served": not stopping, "notes": [note.as_dict() for note in notes]}
        output.json(values | {"check": check})
    else:
        output.lines([visible(describe_note(loaded, note)) for note in notes])
    output.flush()
    if stopping:
        count = "1 note" if len(stopping) == 1 else f"{len(stopping)} notes"
        report(f"a server does not start with {name}, because of {count}")
    return int(bool(stopping))
