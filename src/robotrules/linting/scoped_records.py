"""
Scoped records: Content-Usage, App-Directives and Content-Signal as the checks read them.

These records belong to a group and may start with a path. The readers of `extensions` note that
something is odd about a line; this module finds the applications, app directives or preferences
that a message names. Groups are those of each record's own document (AMB-29).

Sections: App-Directives · Content-Usage · paths that start with a star · names of groups.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from robotrules.extensions.app_lines import KEYS as APP_KEYS
from robotrules.extensions.app_lines import AppDirective, Registration, read_line, statement_for
from robotrules.extensions.content_usage import KEYS as USAGE_KEYS
from robotrules.extensions.scoped import split
from robotrules.extensions.vocabulary import Statement, StatementSource, read_values
from robotrules.http.structured_fields import parse_dictionary, parse_list
from robotrules.linting.check import join_names, quote
from robotrules.linting.context import LintContext
from robotrules.robotstxt.values import Group, Note, Record

# Names that a message lists at most; a line may hold a thousand.
MOST_NAMED = 4

# --- App-Directives -------------------------------------------------------------------------------


def list_applications(context: LintContext, note: Note) -> list[str]:
    """Return the applications that the record of a note names."""
    if note.line is None:
        return []
    return list(read_line(context.by_line[note.line], context.robots).parameters)


def find_directives(
    context: LintContext, note: Note, status: Registration
) -> list[tuple[str, AppDirective]]:
    """Return the app directives of the note's record with a registration status."""
    if note.line is None:
        return []
    line = read_line(context.by_line[note.line], context.robots)
    return [
        (application, directive)
        for application in line.parameters
        for directive in statement_for(application, line, context.registries).directives
        if directive.status is status
    ]


# --- Content-Usage --------------------------------------------------------------------------------

# Labels of earlier revisions that published files still use, each with its replacement, where there
# is one (draft-ietf-aipref-vocab-07 §6.1, CU-V6.1-01).
OLD_LABELS: dict[str, str | None] = {
    "bots": None,
    "ai": "train-ai",
    "genai": "train-ai",
    "train-genai": "train-ai",
    "ai-output": None,
}
Statements = dict[tuple[int | None, bytes | None], tuple[tuple[Record, Statement], ...]]


def collect_statements(context: LintContext) -> Statements:
    """Return the records that state a preference, by group and path; None: without a path."""
    statements: dict[tuple[int | None, bytes | None], list[tuple[Record, Statement]]] = {}
    for record in context.records(*USAGE_KEYS):
        path, text, _ = split(record)
        parsed = parse_dictionary(text)
        if parsed.value:
            statement = Statement(StatementSource.ROBOTS, read_values(parsed), record=record)
            key = context.document_groups[record.line], path
            statements.setdefault(key, []).append((record, statement))
    return {key: tuple(some) for key, some in statements.items()}


# --- Paths that start with a star -----------------------------------------------------------------

# Allow and Disallow may start with `*`; scoped records may not, because their statements can start
# with `*` too (AMB-112). No key of a statement contains `=`, `;` or `,`, and a path rarely does.
_STAR = re.compile(rb"(\*[^ \t=;,]*)[ \t]+(?=[^ \t])")


def find_star_path(record: Record) -> bytes | None:
    """Return the text that was probably meant as a path, if a valid statement follows it."""
    match = _STAR.match(record.value)
    if not match:
        return None
    rest = record.value[match.end() :]
    if record.key == "content-usage":
        is_valid = bool(parse_dictionary(rest).value)
    elif record.key in APP_KEYS:
        is_valid = bool(parse_list(rest).value)
    else:
        is_valid = record.key == "content-signal" and b"=" in rest
    return match[1] if is_valid else None


# --- Names of groups ------------------------------------------------------------------------------


def describe_group(group: Group) -> str:
    """Return the crawlers that a group names, for a message."""
    return describe_user_agents(group.starts)


def describe_user_agents(starts: Sequence[Record]) -> str:
    """Return the crawlers that user-agent lines name: the first few, and how many more."""
    names = [quote(start.text) for start in starts[:MOST_NAMED]]
    more = len(starts) - len(names)
    return f"{', '.join(names)} and {more:,} more" if more else join_names(names, MOST_NAMED)
