"""RR827: two tags that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import PageCheck, quote
from robotrules.linting.context import PageContext
from robotrules.linting.note import LintNote
from robotrules.tags.codes import Carrier, TagNote
from robotrules.tags.known_rules import LIFTS, Value
from robotrules.tags.rules import Mention, RuleStatus

# Contradictions reported for one page, which may have thousands of elements.
MOST = 20


class ContradictingTags(PageCheck):
    """
    What it finds:
        Two places that state different things about one page: `index` beside `noindex`, a header
        against a meta element, or two limits of the same kind.

    Why it matters:
        Rules only restrict: one place cannot lift a rule that another one sets. So a page with
        `noindex` in a header is not indexed, whatever its meta element says. Usually a server or a
        plugin sets one of the two unnoticed. Yandex documents an exception: in meta elements the
        permissive rule wins.

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
        "{strict}{where} and {opposite} in {other} contradict each other: {crawlers} obey the "
        "stricter one. Keep only the one that you mean."
    )
    reference = "draft-illyes-repext §3.1.1, §3.1.2; XRT-15, VEN-09, AMB-75, AMB-86"

    def check_page(self, page: PageContext) -> Iterator[LintNote]:
        """Yield the rules that contradict a rule in force, once for each pair of places."""
        reported: set[tuple[str, str, str]] = set()
        for name, value in page.usage.values:
            for strict in page.usage.mentions_of(name)[:1]:
                for other in page.usage.mentions:
                    key = name, str(strict.source), str(other.source)
                    if key in reported or not _contradicts(other, name, value):
                        continue
                    reported.add(key)
                    if len(reported) > MOST:
                        return
                    note = TagNote(self.slug, self.level, other.source, other.start, other.end)
                    yield self.about_tag(
                        note,
                        strict=quote(strict.text),
                        where=f" in {strict.source}" if strict.source != other.source else "",
                        opposite=quote(other.text),
                        other=other.source,
                        crawlers=_name_crawlers(strict, other),
                    )


def _name_crawlers(strict: Mention, other: Mention) -> str:
    """Return which crawlers obey the stricter rule: in meta elements Yandex does not (VEN-09)."""
    in_elements = strict.source.carrier is other.source.carrier is Carrier.META
    return "crawlers other than Yandex" if in_elements and other.name in LIFTS else "crawlers"


def _contradicts(other: Mention, name: str, value: Value) -> bool:
    if other.standing is RuleStatus.NO_EFFECT and name in LIFTS.get(other.name, ()):
        return True
    stated = other.standing in (RuleStatus.IN_FORCE, RuleStatus.NO_EFFECT)
    return stated and other.name == name and other.value != value
