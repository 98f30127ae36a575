"""RR822: a rule that nobody is known to have defined."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robotrules.linting.check import PageCheck, quote
from robotrules.linting.context import Page
from robotrules.linting.mentions import find_carrier, find_rule_text
from robotrules.linting.note import LintNote
from robotrules.tags.codes import TagNote
from robotrules.tags.rules import Standing

# Words that meant something once.
RETIRED = {
    "noodp": "the Open Directory that it is about closed in 2017",
    "noydir": "the Yahoo Directory that it is about closed in 2014",
}


class UnknownRule(PageCheck):
    """
    What it finds:
        A word in a field or a robots meta element that is no rule of the draft and none that a
        vendor documents.

    Why it matters:
        Crawlers skip words that they do not know, so this one does no harm. A vendor may have
        brought it up since this list was made. If you rely on it, look who documents it.

    Example:
            X-Robots-Tag: noindex, noscreenshot

    Instead:
            X-Robots-Tag: noindex
    """

    code = "RR822"
    slug = "unknown-rule"
    level = "info"
    message = "{text} has no effect: {why}."
    reference = "draft-illyes-repext §3.1.3; AMB-78"

    def check_page(self, page: Page) -> Iterator[LintNote]:
        """Yield the words that nobody knows from anywhere."""
        for note in page.tag_notes(self.slug):
            if not find_carrier(find_rule_text(page, note, Standing.UNKNOWN)):
                yield self.about_tag(note, **self.words(page, note))

    def words(self, page: Page, note: TagNote) -> dict[str, Any]:
        """Quote the rule as written."""
        text = find_rule_text(page, note, Standing.UNKNOWN)
        why = RETIRED.get(text.lower(), "nobody that is known has defined it")
        return {"text": quote(text), "why": why}
