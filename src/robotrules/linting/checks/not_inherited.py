"""RR635: a Content-Usage record that a record with a longer path overrides."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.analysis.values import ORIGIN
from robotrules.extensions.content_usage import KEYS, PreferenceSet, preferences_for
from robotrules.extensions.scoped import split
from robotrules.extensions.vocabulary import CATEGORIES, LABELS, Preference, Statement
from robotrules.linting.check import Check, join_names, relate
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.linting.scoped_records import collect_statements
from robotrules.octets import to_text
from robotrules.robotstxt.tokens import is_product_token
from robotrules.robotstxt.values import Record

LETTERS = {preference: letter for letter, preference in LABELS.items()}
# Notes that get an example URL.
MOST_SHOWN = 20


class NotInherited(Check):
    """
    What it finds:
        A `Content-Usage` record with a path, in a group where a record without a path states more
        preferences. The URL in the note is one where such a preference is unknown.

    Why it matters:
        Only the record with the longest matching path counts. It inherits nothing from shorter
        paths, not even for categories that it does not mention. So `Content-Usage: /x/ search=n`
        cancels a `train-ai=n` for the whole site below `/x/`. Few authors expect that.

    Example:
            User-agent: *
            Content-Usage: train-ai=n
            Content-Usage: /news/ search=y

    Instead:
        Repeat all preferences for the path:

            User-agent: *
            Content-Usage: train-ai=n
            Content-Usage: /news/ search=y, train-ai=n
    """

    code = "RR635"
    slug = "not-inherited"
    level = "warning"
    message = (
        "Where this path matches, {what} of line {line} does not apply: crawlers treat it as "
        "unknown{shown}. Repeat it in this record."
    )
    reference = "draft-ietf-aipref-attach-05 §3.1; AMB-113"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the records that override a statement without a path."""
        notes = context.parser_notes(self.slug)
        if not notes:
            return
        stated = {key: _combine(some) for key, some in collect_statements(context).items()}
        by_group: dict[int, PreferenceSet | None] = {}
        for number, note in enumerate(notes):
            record = context.by_line[note.line or 0]
            group = context.document_groups[record.line]
            narrow = stated.get((group, split(record).path), {})
            wider = stated.get((group, None), {})
            lost = {name: value for name, value in wider.items() if name not in narrow}
            if group is None or not lost:
                continue
            url = None
            if number < MOST_SHOWN:
                if group not in by_group:
                    by_group[group] = _read_preferences(context, group)
                url = _find_url(by_group[group], record, list(lost))
            lines = dict.fromkeys(line for _, line in lost.values())
            records = [context.by_line[line] for line in lines]
            yield self.about(
                context,
                record,
                what=join_names([f"'{name}={LETTERS[p]}'" for name, (p, _) in lost.items()]),
                line=records[0].line,
                shown=f", for example at {url}" if url else "",
                url=url,
                related=[relate("states it", wide) for wide in records],
                fix=_fix(record, {name: LETTERS[p] for name, (p, _) in lost.items()}),
            )


def _combine(
    statements: tuple[tuple[Record, Statement], ...],
) -> dict[str, tuple[Preference, int]]:
    """Return the preferences that records state together, with the line of each."""
    combined: dict[str, tuple[Preference, int]] = {}
    for record, statement in statements:
        for name in CATEGORIES:
            value = statement.get(name)
            if value is Preference.UNKNOWN:
                continue
            before = combined.get(name)
            if before is None or (before[0] is Preference.ALLOWED and value is not before[0]):
                combined[name] = value, record.line
    return combined


def _read_preferences(context: LintContext, group: int) -> PreferenceSet | None:
    names = context.robots.grouped_for(KEYS[0]).groups[group].user_agents
    tokens = [name for name in names if name == "*" or is_product_token(name)]
    return preferences_for(context.robots, tokens[0]) if tokens else None


def _find_url(preferences: PreferenceSet | None, record: Record, names: list[str]) -> str | None:
    """Return a URL for which the named preferences are proved to be unknown."""
    path = to_text(split(record).path or b"").removesuffix("$").replace("*", "")
    if preferences is None:
        return None
    stated = preferences.for_url(ORIGIN + path)
    unknown = all(stated.get(name) is Preference.UNKNOWN for name in names)
    return ORIGIN + path if stated.applicable and unknown else None


def _fix(record: Record, lost: dict[str, str]) -> Fix:
    more = ", ".join(f"{name}={letter}" for name, letter in lost.items())
    edit = Edit(record.end, record.end, f", {more}".encode())
    return Fix(f"Add '{more}'", (edit,), changes_verdicts=True)
