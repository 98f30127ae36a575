"""RR810: rules of X-Robots-Tag that Robots-Tag lacks."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import PageCheck, join_names, quote
from robotrules.linting.context import Page
from robotrules.linting.mentions import find_rules_in_force
from robotrules.linting.note import LintNote
from robotrules.tags.codes import Carrier, Source, TagNote


class FieldNotRead(PageCheck):
    """
    What it finds:
        A response with both fields, in which X-Robots-Tag says something to everybody that
        Robots-Tag does not say.

    Why it matters:
        What a crawler does with two fields is not settled. This project unites them; the author of
        the draft proposed that Robots-Tag alone counts where it is there. With the same rules in
        both it makes no difference.

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
        "X-Robots-Tag says {names} and Robots-Tag does not: a crawler that reads only the new "
        "field does not see it."
    )
    reference = "draft-illyes-repext §3.1.1; AMB-74"

    def check_page(self, page: Page) -> Iterator[LintNote]:
        """Yield a note where the old field says more."""
        if not any(page.usage.fields.get(str(Carrier.ROBOTS_TAG))):
            return
        new, old = (
            find_rules_in_force(page, one) for one in (Carrier.ROBOTS_TAG, Carrier.X_ROBOTS_TAG)
        )
        more = [text for rule, text in old.items() if rule not in new]
        if more:
            note = TagNote(self.slug, self.level, Source(Carrier.X_ROBOTS_TAG))
            yield self.about_tag(note, names=join_names([quote(text) for text in more]))
