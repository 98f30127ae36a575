"""RR863: a noindex on a page that looks as if it was not for everybody."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import PageCheck
from robotrules.linting.context import Page
from robotrules.linting.note import LintNote
from robotrules.linting.sensitive_paths import find_sensitive_word
from robotrules.origins import authority_end
from robotrules.tags.codes import TagNote


class TagNotAccessControl(PageCheck):
    """
    What it finds:
        A page with `noindex` whose address has a word in it such as `internal`, `private` or
        `backup`. It takes a robots.txt to know the address.

    Why it matters:
        A tag is a request to crawlers about what they do with a page. Whoever knows the address
        reads the page all the same, and crawlers that obey nothing do too. The draft says that
        owners who want to keep something to themselves should use a measure made for that, such as
        HTTP Authentication.

    Example:
        A page at `https://example.com/internal/salaries` that anybody can open:

            X-Robots-Tag: noindex

    Instead:
        Ask for a login first; an answer 401 shows nothing to anybody, and needs no tag.
    """

    code = "RR863"
    slug = "tag-not-access-control"
    level = "info"
    message = (
        "A noindex keeps no one from reading the page, and its address says '{word}': what is not "
        "for everybody needs a login."
    )
    reference = "draft-illyes-repext §4; RTG-4-01, RFC 9309 §3"

    def check_page(self, page: Page) -> Iterator[LintNote]:
        """Yield a note where the address of a page with `noindex` gives something away."""
        url = page.guidance.url if page.guidance else ""
        word = (
            find_sensitive_word(url[authority_end(url) :])
            if page.usage.may_index is False
            else None
        )
        if word:
            source = page.usage.because("noindex")[0].source
            yield self.about_tag(TagNote(self.slug, self.level, source), word=word)
