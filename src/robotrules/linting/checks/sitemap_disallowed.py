"""RR654: a sitemap that the rules disallow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robotrules.analysis.values import ORIGIN
from robotrules.extensions.sitemap import Sitemap, sitemaps
from robotrules.linting.check import Check, join_names, quote, relate
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.origins import authority_end, origin_of

# Search engines that many sites want to be found by.
ENGINES = ("Googlebot", "bingbot", "YandexBot", "Baiduspider", "DuckDuckBot", "Applebot")
EVERYBODY = "*"
# Sitemaps that are judged; files of people have some dozens.
MOST_JUDGED = 200
# Kinds of crawlers that are asked whether nobody is left: with more, somebody is.
MOST_KINDS = 200


class SitemapDisallowed(Check):
    """
    What it finds:
        A `Sitemap` record whose URL the rules of the same file disallow: for all crawlers, or for
        one of the large search engines that may fetch the home page. Only sitemaps of the same
        origin are judged, as these rules are for no other; where the file's own address is not
        known, that is assumed.

    Why it matters:
        A sitemap is an invitation to read, and it is fetched like any other URL. A crawler that
        obeys the file leaves it alone, and the pages that are listed in it are not found this way.

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
        "The rules ask {who} not to fetch the sitemap itself, by line {line} ({rule}){assumed}."
    )
    reference = "RFC 9309 §2.2.2; sitemaps.org protocol; REC-sitemap-01"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the sitemaps that nobody, or not every search engine, is asked to fetch."""
        named = {name.lower() for group in context.groups for name in group.user_agents}
        names = [EVERYBODY, *(name for name in ENGINES if name.lower() in named)]
        here = _origin(context)
        found = _of(context, here)
        if not found:
            return
        home = ORIGIN + "/"
        judged = {name: _allowed(context, name, [one.url for one in found]) for name in names}
        welcome = [name for name in names if context.robots.rules_for(name).allows(home)]
        for at, one in enumerate(found):
            against = [name for name in welcome if not judged[name][at]]
            some = any(judged[name][at] for name in names)
            nobody = not some and _is_for_nobody(context, one.url)
            if not against and not nobody:
                continue
            against = [EVERYBODY] if nobody else against
            verdict = context.robots.check(one.url, against[0])
            rule = verdict.rule
            yield self.about(
                context,
                one.record,
                who=_who(against, nobody=nobody),
                line=rule.line if rule else one.line,
                rule=quote(str(rule)),
                assumed="" if here else ", if it is of the same origin as this file",
                url=one.url,
                related=[relate("disallows it", rule)] if rule else [],
            )


def _is_for_nobody(context: LintContext, url: str) -> bool:
    """Tell whether the rules disallow a URL to all that the file can tell apart."""
    kinds = context.crawler_classes
    return len(kinds) <= MOST_KINDS and not any(kind.rules.allows(url) for kind in kinds)


def _who(names: Sequence[str], *, nobody: bool) -> str:
    if names[0] != EVERYBODY:
        return join_names(names)
    return "everybody" if nobody else "everybody without a group of their own"


def _origin(context: LintContext) -> str | None:
    url = context.received.url
    return origin_of(url) if url else None


def _of(context: LintContext, origin: str | None) -> list[Sitemap]:
    """Return the sitemaps that these rules are for, as far as that is known."""
    if "sitemap" not in context.keys or not context.groups:
        return []
    found = sitemaps(context.robots, context.received.url if origin else None)
    if origin is not None:
        return [one for one in found if origin_of(one.url) == origin][:MOST_JUDGED]
    return [one for one in found if one.relative or authority_end(one.url)][:MOST_JUDGED]


def _allowed(context: LintContext, name: str, urls: list[str]) -> list[bool]:
    return list(context.robots.rules_for(name).allows_many(urls))
