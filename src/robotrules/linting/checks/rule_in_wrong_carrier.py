"""RR828: a word among tag rules that belongs in another carrier."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import PageCheck, quote
from robotrules.linting.context import PageContext
from robotrules.linting.mentions import find_carrier
from robotrules.linting.note import LintNote
from robotrules.tags.codes import TagNote
from robotrules.tags.rules import RuleStatus


class RuleInWrongCarrier(PageCheck):
    """
    What it finds:
        A word in a header field or a robots meta element that belongs in a robots.txt, or in a
        record or field about AI: `disallow`, `crawl-delay`, `train-ai`, `ai-train`.

    Why it matters:
        Tags say how a fetched page may be used; a robots.txt says what to fetch. They have no words
        in common. Crawlers ignore words that are not tag rules, so the word has no effect.

    Example:
            <meta name="robots" content="disallow">

    Instead:
        To keep the page out of search results:

            <meta name="robots" content="noindex">
    """

    code = "RR828"
    slug = "rule-in-wrong-carrier"
    level = "warning"
    message = "{text} is not a tag rule and has no effect here. It belongs in {where}."
    reference = "draft-illyes-repext §3.1.3; RFC 9309 §2.2; draft-ietf-aipref-attach-05 §2, §3"

    def check_page(self, page: PageContext) -> Iterator[LintNote]:
        """Yield each such word once."""
        reported: set[str] = set()
        for mention in page.usage.mentions:
            where = find_carrier(mention.name)
            if where and mention.standing is RuleStatus.UNKNOWN and mention.name not in reported:
                reported.add(mention.name)
                note = TagNote(self.slug, self.level, mention.source, mention.start, mention.end)
                yield self.about_tag(note, text=quote(mention.text), where=where)
