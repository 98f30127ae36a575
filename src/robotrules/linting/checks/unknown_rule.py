"""RR822: a rule without a known definition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robotrules.linting.check import PageCheck, quote
from robotrules.linting.context import PageContext
from robotrules.linting.mentions import find_carrier, find_rule_text
from robotrules.linting.note import LintNote
from robotrules.tags.codes import TagNote
from robotrules.tags.rules import RuleStatus

# Rules that have lost their meaning.
RETIRED = {
    "noodp": "it refers to the Open Directory, which closed in 2017",
    "noydir": "it refers to the Yahoo Directory, which closed in 2014",
}


class UnknownRule(PageCheck):
    """
    What it finds:
        A word in a header field or a robots meta element that is neither a rule of the draft nor
        documented by a vendor.

    Why it matters:
        Crawlers ignore unknown words, so this one is harmless. A vendor may have introduced it
        since this list was made. If you rely on it, check who documents it.

    Example:
            X-Robots-Tag: noindex, noscreenshot

    Instead:
            X-Robots-Tag: noindex
    """

    code = "RR822"
    slug = "unknown-rule"
    level = "info"
    message = "{text} has no effect: {why}. Remove it, or check the spelling."
    reference = "draft-illyes-repext §3.1.3; AMB-78"

    def check_page(self, page: PageContext) -> Iterator[LintNote]:
        """Yield the words that belong in no other carrier either."""
        for note in page.tag_notes(self.slug):
            if not find_carrier(find_rule_text(page, note, RuleStatus.UNKNOWN)):
                yield self.about_tag(note, **self.words(page, note))

    def words(self, page: PageContext, note: TagNote) -> dict[str, Any]:
        """Return the rule as written, and why it has no effect."""
        text = find_rule_text(page, note, RuleStatus.UNKNOWN)
        why = RETIRED.get(text.lower(), "no known specification or vendor defines it")
        return {"text": quote(text), "why": why}
