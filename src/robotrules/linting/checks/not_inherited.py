"""RR635: a Content-Usage record that a longer path switches off."""

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
from robotrules.robotstxt.tokens import is_product_token
from robotrules.robotstxt.values import Record, shown

LETTERS = {preference: letter for letter, preference in LABELS.items()}
# Notes for which a URL is looked for: the first ones teach enough.
MOST_SHOWN = 20


class NotInherited(Check):
    """
    What it finds:
        A `Content-Usage` record with a path, in a group where a record without a path states more.
        The URL in the note is one where that preference is unknown.

    Why it matters:
        Only the record with the longest matching path counts, and nothing is inherited from shorter
        ones, not even for categories that it does not mention. So `Content-Usage: /x/ search=n`
        takes a `train-ai=n` for the whole site away from everything below `/x/`. Few authors expect
        that.

    Example:
            User-agent: *
            Content-Usage: train-ai=n
            Content-Usage: /news/ search=y

    Instead:
        Say all of it again for the path:

            User-agent: *
            Content-Usage: train-ai=n
            Content-Usage: /news/ search=y, train-ai=n
    """

    code = "RR635"
    slug = "not-inherited"
    level = "warning"
    message = (
        "Where this path matches, {what} of line {line} does not count: it is unknown there{shown}."
    )
    reference = "draft-ietf-aipref-attach-05 §3.1; AMB-113"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the records that take a wider statement away, and what of it."""
        noted = context.parser_notes(self.slug)
        if not noted:
            return
        said = {key: _said(some) for key, some in collect_statements(context).items()}
        asked: dict[int, PreferenceSet | None] = {}
        for number, note in enumerate(noted):
            record = context.by_line[note.line or 0]
            group = context.document_groups[record.line]
            narrow = said.get((group, split(record).path), {})
            wider = said.get((group, None), {})
            lost = {name: one for name, one in wider.items() if name not in narrow}
            if group is None or not lost:
                continue
            url = None
            if number < MOST_SHOWN:
                if group not in asked:
                    asked[group] = _asked(context, group)
                url = _shown(asked[group], record, list(lost))
            numbers = dict.fromkeys(line for _, line in lost.values())
            lines = [context.by_line[number] for number in numbers]
            yield self.about(
                context,
                record,
                what=join_names([f"'{name}={LETTERS[one]}'" for name, (one, _) in lost.items()]),
                line=lines[0].line,
                shown=f", for instance at {url}" if url else "",
                url=url,
                related=[relate("states it", one) for one in lines],
                fix=_fix(record, {name: LETTERS[one] for name, (one, _) in lost.items()}),
            )


def _said(found: tuple[tuple[Record, Statement], ...]) -> dict[str, tuple[Preference, int]]:
    """Return what some records state together, and the line of the first that does."""
    said: dict[str, tuple[Preference, int]] = {}
    for record, statement in found:
        for name in CATEGORIES:
            value = statement.get(name)
            if value is Preference.UNKNOWN:
                continue
            before = said.get(name)
            if before is None or (before[0] is Preference.ALLOWED and value is not before[0]):
                said[name] = value, record.line
    return said


def _asked(context: LintContext, group: int) -> PreferenceSet | None:
    names = context.robots.grouped_for(KEYS[0]).groups[group].user_agents
    tokens = [name for name in names if name == "*" or is_product_token(name)]
    return preferences_for(context.robots, tokens[0]) if tokens else None


def _shown(asked: PreferenceSet | None, record: Record, names: list[str]) -> str | None:
    """Return a URL that is proved to show it."""
    path = shown(split(record).path or b"").removesuffix("$").replace("*", "")
    if asked is None:
        return None
    found = asked.at(ORIGIN + path)
    unknown = all(found.get(name) is Preference.UNKNOWN for name in names)
    return ORIGIN + path if found.applicable and unknown else None


def _fix(record: Record, lost: dict[str, str]) -> Fix:
    more = ", ".join(f"{name}={letter}" for name, letter in lost.items())
    edit = Edit(record.end, record.end, f", {more}".encode())
    return Fix(f"Say '{more}' here too", (edit,), changes_verdicts=True)
