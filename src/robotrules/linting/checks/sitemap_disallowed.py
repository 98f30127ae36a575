"""RR654: a sitemap that the rules block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robotrules.analysis.values import ORIGIN
from robotrules.extensions.sitemap import Sitemap, sitemaps
from robotrules.http.origins import authority_end, origin_of
from robotrules.linting.check import Check, join_names, quote, relate
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote

# Well-known search engine crawlers.
ENGINES = ("Googlebot", "bingbot", "YandexBot", "Baiduspider", "DuckDuckBot", "Applebot")
STAR = "*"
# Sitemaps that are examined; hand-written files have some dozens.
MOST_SITEMAPS = 200
# Classes of crawlers that are examined; with more, some crawler is assumed to be allowed.
MOST_CLASSES = 200


class SitemapDisallowed(Check):
    """
    What it finds:
        A `Sitemap` record whose URL the rules of the same file block: for all crawlers, or for a
        large search engine that may fetch the home page. Only sitemaps of the same origin are
        examined, because the rules apply to no other; if the URL of the file is not known, that is
        assumed.

    Why it matters:
        Crawlers fetch a sitemap like any other URL. A crawler that obeys the rules does not fetch a
        blocked sitemap, and does not find the pages that it lists.

    Example:
            User-agent: *
            Disallow: /files/

            Sitemap: https://example.com/files/sitemap.xml

    Instead:
            User-agent: *
            Disallow: /files/
            Allow: /files/sitemap.xml

            Sitemap: https://example.com/files/sitemap.xml
    """

    code = "RR654"
    slug = "sitemap-disallowed"
    level = "warning"
    message = (
        "Line {line} ({rule}) blocks this sitemap for {who}{assumed}. Allow the URL of the sitemap."
    )
    reference = "RFC 9309 §2.2.2; sitemaps.org protocol; REC-sitemap-01"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the sitemaps that are blocked for all crawlers or for a search engine."""
        named = {name.lower() for group in context.groups for name in group.user_agents}
        names = [STAR, *(name for name in ENGINES if name.lower() in named)]
        here = _find_origin(context)
        sitemaps_here = _find_sitemaps(context, here)
        if not sitemaps_here:
            return
        home = ORIGIN + "/"
        urls = [sitemap.url for sitemap in sitemaps_here]
        allowed = {name: _check_urls(context, name, urls) for name in names}
        crawling = [name for name in names if context.robots.rules_for(name).allows(home)]
        for at, sitemap in enumerate(sitemaps_here):
            blocked = [name for name in crawling if not allowed[name][at]]
            some = any(allowed[name][at] for name in names)
            for_all = not some and _is_blocked_for_all(context, sitemap.url)
            if not blocked and not for_all:
                continue
            blocked = [STAR] if for_all else blocked
            rule = context.robots.check(sitemap.url, blocked[0]).rule
            yield self.about(
                context,
                sitemap.record,
                who=_describe_crawlers(blocked, for_all=for_all),
                line=rule.line if rule else sitemap.line,
                rule=quote(str(rule)),
                assumed="" if here else ", if it is on the same origin as this file",
                url=sitemap.url,
                related=[relate("blocks it", rule)] if rule else [],
            )


def _is_blocked_for_all(context: LintContext, url: str) -> bool:
    """Return whether the rules block a URL for every class of crawlers."""
    classes = context.crawler_classes
    return len(classes) <= MOST_CLASSES and not any(
        crawler_class.rules.allows(url) for crawler_class in classes
    )


def _describe_crawlers(names: Sequence[str], *, for_all: bool) -> str:
    if names[0] != STAR:
        return join_names(names)
    return "all crawlers" if for_all else "all crawlers that no group names"


def _find_origin(context: LintContext) -> str | None:
    url = context.received.url
    return origin_of(url) if url else None


def _find_sitemaps(context: LintContext, origin: str | None) -> list[Sitemap]:
    """Return the sitemaps that the rules apply to, as far as that is known."""
    if "sitemap" not in context.keys or not context.groups:
        return []
    found = sitemaps(context.robots, context.received.url if origin else None)
    if origin is not None:
        return [sitemap for sitemap in found if origin_of(sitemap.url) == origin][:MOST_SITEMAPS]
    return [sitemap for sitemap in found if sitemap.relative or authority_end(sitemap.url)][
        :MOST_SITEMAPS
    ]


def _check_urls(context: LintContext, name: str, urls: list[str]) -> list[bool]:
    return list(context.robots.rules_for(name).allows_many(urls))
