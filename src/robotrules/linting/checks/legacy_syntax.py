"""RR806: the grammar of X-Robots-Tag in a Robots-Tag field."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import PageCheck, quote
from robotrules.linting.context import Page
from robotrules.tags.codes import TagNote
from robotrules.tags.legacy_grammar import is_rule, parse_legacy_rules


class LegacySyntax(PageCheck):
    """
    What it finds:
        A Robots-Tag field in the grammar of X-Robots-Tag: `noindex` alone, or `googlebot: noindex`.

    Why it matters:
        The new field names first whom it speaks to, and hangs the rules on the name. `Robots-Tag:
        noindex` parses well, as a word to a crawler called noindex, and asks nothing of anybody. It
        is the likeliest slip in the move to the new name.

    Example:
            Robots-Tag: noindex

    Instead:
            Robots-Tag: *;noindex
    """

    code = "RR806"
    slug = "legacy-syntax"
    level = "warning"
    message = "{text} is in the grammar of X-Robots-Tag, and in Robots-Tag it says nothing{hint}."
    reference = "draft-illyes-repext §3.1.1; AMB-72"

    def words(self, page: Page, note: TagNote) -> dict[str, Any]:
        """Quote what stands there, and say how it is written in this field."""
        text = page.text(note)
        right = _structured(text)
        return {"text": quote(text), "hint": f": write {quote(right)}" if right else ""}


def _structured(text: str) -> str | None:
    """Return plain rules in the grammar of Robots-Tag; None: there is more to them."""
    members: dict[str, list[str]] = {}
    for word in parse_legacy_rules(text, scopes=True, space_separates=False):
        if not is_rule(word.name) or (word.value or "0").strip().isdigit() is False:
            return None
        value = f"={word.value.strip()}" if word.value else ""
        members.setdefault(word.scope or "*", []).append(f"{word.name}{value}")
    return ", ".join(f"{name};{';'.join(rules)}" for name, rules in members.items()) or None
