"""RR827: two tags that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import PageCheck, quote
from robotrules.linting.context import Page
from robotrules.linting.note import LintNote
from robotrules.tags.codes import Carrier, TagNote
from robotrules.tags.known_rules import LIFTS, Value
from robotrules.tags.rules import Mention, RuleStatus

# Contradictions of one page that are told; a page may have thousands of elements.
MOST = 20


class ContradictingTags(PageCheck):
    """
    What it finds:
        Two places that say different things about one page: `index` beside `noindex`, a header
        against a meta element, or two limits for one thing.

    Why it matters:
        Rules restrict and none grants: whatever one place asks for holds, and another cannot take
        it back. So a page with `noindex` in a header is not indexed, whatever its own meta element
        says. Mostly one of the two is set by a server or a plugin that nobody thought of. Yandex
        documents that in meta elements what permits wins.

    Example:
            X-Robots-Tag: noindex

            <meta name="robots" content="index, follow">

    Instead:
            X-Robots-Tag: noindex

            <meta name="robots" content="noindex, follow">
    """

    code = "RR827"
    slug = "contradicting-tags"
    level = "warning"
    message = (
        "{what}{one} and {opposite} in {other} contradict each other: the stricter one "
        "counts{yandex}."
    )
    reference = "draft-illyes-repext §3.1.1, §3.1.2; XRT-15, VEN-09, AMB-75, AMB-86"

    def check_page(self, page: Page) -> Iterator[LintNote]:
        """Yield what speaks against a rule in force, for each pair of places once."""
        told: set[tuple[str, str, str]] = set()
        for name, value in page.usage.values:
            for strict in page.usage.mentions_of(name)[:1]:
                for other in page.usage.mentions:
                    key = name, str(strict.source), str(other.source)
                    if key in told or not _speaks_against(other, name, value):
                        continue
                    told.add(key)
                    if len(told) > MOST:
                        return
                    note = TagNote(self.slug, self.level, other.source, other.start, other.end)
                    yield self.about_tag(
                        note,
                        what=quote(strict.text),
                        one=f" in {strict.source}" if strict.source != other.source else "",
                        opposite=quote(other.text),
                        other=other.source,
                        yandex=", except for Yandex" if _in_metas(strict, other) else "",
                    )


def _in_metas(strict: Mention, other: Mention) -> bool:
    """Tell whether both are in elements and one permits: there Yandex lets it win (VEN-09)."""
    metas = strict.source.carrier is other.source.carrier is Carrier.META
    return metas and other.name in LIFTS


def _speaks_against(other: Mention, name: str, value: Value) -> bool:
    if other.standing is RuleStatus.NO_EFFECT and name in LIFTS.get(other.name, ()):
        return True
    said = other.standing in (RuleStatus.IN_FORCE, RuleStatus.NO_EFFECT)
    return said and other.name == name and other.value != value
