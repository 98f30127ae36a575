"""RR811: rules that only Robots-Tag has."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import PageCheck, join_names, quote
from robotrules.linting.context import PageContext
from robotrules.linting.mentions import find_rules_in_force
from robotrules.linting.note import LintNote
from robotrules.tags.codes import Carrier, TagNote, TagSource


class FieldNotDocumented(PageCheck):
    """
    What it finds:
        A rule for all crawlers that is only in Robots-Tag, and neither in X-Robots-Tag nor in a
        robots meta element.

    Why it matters:
        Robots-Tag is the name in a draft. Google, Bing, Apple and Yandex document X-Robots-Tag and
        the meta element. Until they document the new field too, few crawlers read a rule that is
        only there. Sending both fields does no harm.

    Example:
            Robots-Tag: *;noindex

    Instead:
            Robots-Tag: *;noindex
            X-Robots-Tag: noindex
    """

    code = "RR811"
    slug = "field-not-documented"
    level = "warning"
    message = (
        "Only Robots-Tag sets {names}, and no vendor documents that its crawlers read this field. "
        "Send X-Robots-Tag as well."
    )
    reference = "draft-illyes-repext §5.1; RTG-5.1-01, RTG-5.3-02"

    def check_page(self, page: PageContext) -> Iterator[LintNote]:
        """Yield a note where only the new field sets a rule."""
        new, old, meta = (find_rules_in_force(page, carrier) for carrier in Carrier)
        alone = [text for rule, text in new.items() if rule not in old and rule not in meta]
        if alone:
            note = TagNote(self.slug, self.level, TagSource(Carrier.ROBOTS_TAG))
            yield self.about_tag(note, names=join_names([quote(text) for text in alone]))
