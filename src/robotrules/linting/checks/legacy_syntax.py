"""RR806: the grammar of X-Robots-Tag in a Robots-Tag field."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import PageCheck, quote
from robotrules.linting.context import PageContext
from robotrules.tags.codes import TagNote
from robotrules.tags.legacy_grammar import is_rule, parse_legacy_rules


class LegacySyntax(PageCheck):
    """
    What it finds:
        A Robots-Tag field in the grammar of X-Robots-Tag: `noindex` alone, or `googlebot: noindex`.

    Why it matters:
        The new field starts with the name of a crawler, and the rules are parameters of that name.
        `Robots-Tag: noindex` is valid, but names a crawler called noindex and sets no rule. It is
        the most likely mistake when moving to the new field.

    Example:
            Robots-Tag: noindex

    Instead:
            Robots-Tag: *;noindex
    """

    code = "RR806"
    slug = "legacy-syntax"
    level = "warning"
    message = "{text} is X-Robots-Tag syntax and has no effect in Robots-Tag for any crawler{hint}."
    reference = "draft-illyes-repext §3.1.1; AMB-72"

    def words(self, page: PageContext, note: TagNote) -> dict[str, Any]:
        """Return the text as written, and in the grammar of this field."""
        text = page.text(note)
        structured = _to_structured(text)
        return {"text": quote(text), "hint": f": write {quote(structured)}" if structured else ""}


def _to_structured(text: str) -> str | None:
    """Return plain rules in the grammar of Robots-Tag; None if they are not plain."""
    members: dict[str, list[str]] = {}
    for word in parse_legacy_rules(text, scopes=True, space_separates=False):
        if not is_rule(word.name) or (word.value or "0").strip().isdigit() is False:
            return None
        value = f"={word.value.strip()}" if word.value else ""
        members.setdefault(word.scope or "*", []).append(f"{word.name}{value}")
    return ", ".join(f"{name};{';'.join(rules)}" for name, rules in members.items()) or None
