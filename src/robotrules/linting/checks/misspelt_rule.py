"""RR821: a word that is nearly a known tag rule."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any

from robotrules.linting.check import PageCheck, quote
from robotrules.linting.context import PageContext
from robotrules.linting.mentions import find_rule_text
from robotrules.tags.codes import TagNote
from robotrules.tags.known_rules import KNOWN, MOST_LETTERS
from robotrules.tags.rules import RuleStatus

_BARE = {re.sub(r"[^a-z]", "", name): name for name in KNOWN}


class MisspeltRule(PageCheck):
    """
    What it finds:
        A word in a field or a robots meta element that is not a rule but looks like one.

    Why it matters:
        Crawlers silently ignore words that they do not know. A page with `no-index` is indexed like
        any other.

    Example:
            <meta name="robots" content="no-index">

    Instead:
            <meta name="robots" content="noindex">
    """

    code = "RR821"
    slug = "misspelt-rule"
    level = "warning"
    message = "{text} is not a known rule, so crawlers ignore it. Did you mean {known}?"
    reference = "draft-illyes-repext §3.1.3; AMB-78"

    def words(self, page: PageContext, note: TagNote) -> dict[str, Any]:
        """Return the word, and the rule that it looks like."""
        text = find_rule_text(page, note, RuleStatus.UNKNOWN)
        name = text.lower()[:MOST_LETTERS]
        close = get_close_matches(name, KNOWN, 1, 0.7)
        known = _BARE.get(re.sub(r"[^a-z]", "", name)) or (close[0] if close else None)
        return {"text": quote(text), "known": quote(known) if known else "another rule"}
