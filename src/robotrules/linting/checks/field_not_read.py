"""RR810: rules of X-Robots-Tag that Robots-Tag lacks."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import PageCheck, join_names, quote
from robotrules.linting.context import PageContext
from robotrules.linting.mentions import find_rules_in_force
from robotrules.linting.note import LintNote
from robotrules.tags.codes import Carrier, TagNote, TagSource


class FieldNotRead(PageCheck):
    """
    What it finds:
        A response with both fields, in which X-Robots-Tag has a rule for all crawlers that
        Robots-Tag does not have.

    Why it matters:
        How a crawler combines the two fields is not settled. This project obeys the rules of both;
        the author of the draft proposed that Robots-Tag alone counts if it is present. With the
        same rules in both fields it makes no difference.

    Example:
            Robots-Tag: *;nosnippet
            X-Robots-Tag: noindex, nosnippet

    Instead:
            Robots-Tag: *;noindex;nosnippet
            X-Robots-Tag: noindex, nosnippet
    """

    code = "RR810"
    slug = "field-not-read"
    level = "info"
    message = (
        "X-Robots-Tag sets {names} and Robots-Tag does not, so crawlers that read only Robots-Tag "
        "ignore it. Send the same rules in both fields."
    )
    reference = "draft-illyes-repext §3.1.1; AMB-74"

    def check_page(self, page: PageContext) -> Iterator[LintNote]:
        """Yield a note where the old field has more rules."""
        if not any(page.usage.fields.get(str(Carrier.ROBOTS_TAG))):
            return
        new, old = (
            find_rules_in_force(page, Carrier.ROBOTS_TAG),
            find_rules_in_force(page, Carrier.X_ROBOTS_TAG),
        )
        more = [text for rule, text in old.items() if rule not in new]
        if more:
            note = TagNote(self.slug, self.level, TagSource(Carrier.X_ROBOTS_TAG))
            yield self.about_tag(note, names=join_names([quote(text) for text in more]))
