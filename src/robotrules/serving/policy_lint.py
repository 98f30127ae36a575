"""
Lint of a policy before it is served: its robots.txt and its `[[tags]]` tables.

Notes of at least a chosen level stop the start, by default errors and warnings, as in the exit code
of `robotrules lint`. The message has each note with its line and how to fix it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from robotrules.errors import PolicyError
from robotrules.linting import LEVELS, LintNote, ServedResponse, lint
from robotrules.octets import visible
from robotrules.serving.policy_source import LoadedPolicy
from robotrules.serving.tag_lint import lint_tags

EMPTY_FILE = "RR114"
LONGEST_LINE = 80
MOST_SHOWN = 20


def lint_policy(policy: LoadedPolicy, max_age: int, ignore: Iterable[str] = ()) -> list[LintNote]:
    """Return the notes on a policy; *ignore* names checks by code or slug."""
    ignore = tuple(ignore)
    served = ServedResponse(
        status=200,
        media_type="text/plain",
        charset="utf-8",
        cache_control=f"max-age={max_age}",
    )
    notes = lint(policy.robots, ignore=ignore, received=served)
    if not policy.is_generated:
        # An empty file that is served on purpose is rare; one that was cut off is not.
        notes = [
            note._replace(level="warning") if note.code == EMPTY_FILE else note for note in notes
        ]
    for table in policy.tags:
        notes += lint_tags(policy.robots, table, ignore)
    return notes


def stops(note: LintNote, min_level: str) -> bool:
    """Return whether a note is at least as severe as a level."""
    return LEVELS.index(note.level) <= LEVELS.index(min_level)


def refuse_notes(policy: LoadedPolicy, notes: Sequence[LintNote], min_level: str) -> None:
    """Raise a PolicyError with the notes that stop the start, if there are any."""
    stopping = [note for note in notes if stops(note, min_level)]
    if not stopping:
        return
    count = "1 note" if len(stopping) == 1 else f"{len(stopping)} notes"
    lines = [f"{policy.name} is not served, because lint has {count}:"]
    lines += [f"  {describe_note(policy, note)}" for note in stopping[:MOST_SHOWN]]
    lines += [f"  … and {len(stopping) - MOST_SHOWN} more"] if stopping[MOST_SHOWN:] else []
    codes = list(dict.fromkeys(note.code for note in stopping))
    lines.append(
        f"Fix it, or accept it with the setting ignore={codes}; "
        f"`robotrules rule {codes[0]}` explains the check"
    )
    raise PolicyError("\n".join(lines), stopping)


def describe_note(policy: LoadedPolicy, note: LintNote) -> str:
    """Return a note in one line: where, what, and the fix if there is one."""
    words = f"{note.level} {note.code} {note.slug}: {visible(note.message)}"
    if note.part.startswith("tags"):
        return f"{policy.name}, line {note.line}, {note.part}: {words}"
    where = policy.robots_name
    if note.line:
        line = visible(policy.robots.lines[note.line - 1].text)
        where += f", line {note.line} ({line[:LONGEST_LINE]!r})"
    title = visible(note.fix.title) if note.fix else ""
    fix = f" {title}." if title and title not in words else ""
    url = visible(note.url) if note.url else ""
    example = f" An example is {url}." if url and url not in words else ""
    return f"{where}: {words}{example}{fix}"
