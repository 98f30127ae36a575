"""RR821: a rule that is nearly one that is known."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any

from robotrules.linting.check import PageCheck, quote
from robotrules.linting.context import Page
from robotrules.linting.mentions import said
from robotrules.tags.codes import TagNote
from robotrules.tags.known_rules import KNOWN, MOST_LETTERS
from robotrules.tags.rules import RuleStatus

_BARE = {re.sub(r"[^a-z]", "", name): name for name in KNOWN}


class MisspeltRule(PageCheck):
    """
    What it finds:
        A word in a field or a robots meta element that is no rule and looks like one.

    Why it matters:
        Crawlers skip words that they do not know, without a sound. A page with `no-index` is
        indexed like any other.

    Example:
            <meta name="robots" content="no-index">

    Instead:
            <meta name="robots" content="noindex">
    """

    code = "RR821"
    slug = "misspelt-rule"
    level = "warning"
    message = (
        "Nobody has defined {text}, so it has no effect; a rule that is known looks like it{hint}."
    )
    reference = "draft-illyes-repext §3.1.3; AMB-78"

    def words(self, page: Page, note: TagNote) -> dict[str, Any]:
        """Quote the word, and name the rule that it looks like."""
        text = said(page, note, RuleStatus.UNKNOWN)
        name = text.lower()[:MOST_LETTERS]
        close = get_close_matches(name, KNOWN, 1, 0.7)
        known = _BARE.get(re.sub(r"[^a-z]", "", name)) or (close[0] if close else None)
        return {"text": quote(text), "hint": f": '{known}'" if known else ""}
