"""RR419: a purpose of well-known crawlers that the file addresses without naming any of them."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, join_names, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.value_shapes import crawler_name
from robotrules.octets import to_text
from robotrules.registries.crawlers import KNOWN_CRAWLERS


class PurposeWithoutNames(Check):
    """
    What it finds:
        A `User-Agent-Purpose` line with a purpose such as `ai-training`, in a file that names none
        of the well-known crawlers with this purpose. A purpose has one note.

    Why it matters:
        User-Agent-Purpose is a draft. None of these crawlers is known to read it, so they obey the
        `*` group, and the group for the purpose has no effect on them. The site owner believes that
        they are blocked.

    Example:
            User-Agent-Purpose: ai-training
            Disallow: /

            User-agent: *
            Disallow:

    Instead:
        Name the crawlers. `robotrules write --preset block-ai-training` does, and so does
        `for-purpose = ["ai-training"]` in a policy; `robotrules crawlers --purpose ai-training`
        lists them:

            User-agent: GPTBot
            User-agent: ClaudeBot
            Disallow: /

            User-agent: _purpose-only_
            User-Agent-Purpose: ai-training
            Disallow: /

            User-agent: *
            Disallow:
    """

    code = "RR419"
    slug = "purpose-without-names"
    level = "warning"
    message = (
        "{purpose} has no effect on {examples}: none of them is known to read User-Agent-Purpose, "
        "and the file does not name them. Add user-agent lines; robotrules crawlers --purpose "
        "{name} lists them."
    )
    reference = "draft-illyes-rep-purpose §3.2; docs/crawlers.md"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the first line of each purpose whose well-known crawlers are not named."""
        names: frozenset[str] | None = None
        seen: set[str] = set()
        for record in context.records("user-agent-purpose"):
            purpose = to_text(record.value).lower()
            if purpose in seen:
                continue
            seen.add(purpose)
            if names is None:
                names = frozenset(map(crawler_name, context.records("user-agent")))
            named, others = KNOWN_CRAWLERS.split_by_naming(purpose, names)
            if others and not named:
                known = sorted(others, key=lambda crawler: not crawler.is_main)
                examples = join_names([crawler.product_token for crawler in known], 2)
                yield self.about(
                    context, record, purpose=quote(record.value), name=purpose, examples=examples
                )
