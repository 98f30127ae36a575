"""RR863: a noindex on a page that may not be meant for the public."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.http.origins import authority_end
from robotrules.linting.check import PageCheck
from robotrules.linting.context import PageContext
from robotrules.linting.note import LintNote
from robotrules.linting.sensitive_paths import find_sensitive_word
from robotrules.tags.codes import TagNote


class TagNotAccessControl(PageCheck):
    """
    What it finds:
        A page with `noindex` whose URL has a word such as `internal`, `private` or `backup`. The
        check needs the robots.txt as well.

    Why it matters:
        A tag is a request to crawlers about the use of a page. Anyone who knows the URL can still
        read the page, and so can crawlers that ignore tags. The draft recommends a real access
        control, such as HTTP Authentication, for content that is not public.

    Example:
        A page at `https://example.com/internal/salaries` that anyone can open:

            X-Robots-Tag: noindex

    Instead:
        Require a login: a response with status 401 discloses nothing and needs no tag.
    """

    code = "RR863"
    slug = "tag-not-access-control"
    level = "info"
    message = (
        "A noindex does not stop anyone from reading the page, and its URL contains '{word}'. "
        "Require a login for content that is not public."
    )
    reference = "draft-illyes-repext §4; RTG-4-01, RFC 9309 §3"

    def check_page(self, page: PageContext) -> Iterator[LintNote]:
        """Yield a note if the URL of a page with `noindex` has a sensitive word."""
        url = page.guidance.url if page.guidance else ""
        word = (
            find_sensitive_word(url[authority_end(url) :])
            if page.usage.may_index is False
            else None
        )
        if word:
            source = page.usage.mentions_of("noindex")[0].source
            yield self.about_tag(TagNote(self.slug, self.level, source), word=word)
