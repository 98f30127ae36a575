"""
Findings: the reports of an audit of one live page, each with a code, a level and a sentence.

These findings need more than one carrier, or a response of a server. Problems of a single file or
field are notes of its parser, which an audit includes with their own codes. This module checks
nothing itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

LEVELS = ("error", "warning", "info")

# `error`: something does not work; `warning`: it works, but probably not as intended; `info`: a
# fact. Placeholders are in braces.
CODES: dict[str, tuple[str, str]] = {
    # robots.txt: access (RFC 9309 §2.3, §2.4)
    "robots-unreachable": (
        "error",
        "The robots.txt is unreachable ({why}): crawlers then assume that everything is "
        "disallowed.",
    ),
    "robots-lost": (
        "error",
        "The redirects of the robots.txt do not lead to a file ({why}): some crawlers treat "
        "that as no rules, and others stop crawling the site.",
    ),
    "robots-restricted": (
        "warning",
        "The robots.txt responds with {status}. RFC 9309 treats that as no rules, so everything is "
        "allowed, and some crawlers as the opposite: serve it to all clients.",
    ),
    "no-robots": ("info", "There is no robots.txt ({why}), so everything is allowed."),
    "robots-redirected": (
        "info",
        "The robots.txt redirects to {url}; its rules apply to the origin that was requested "
        "first.",
    ),
    "robots-media-type": (
        "error",
        "The robots.txt is sent as {type}; its media type is text/plain (RFC 9309 §2.3).",
    ),
    "robots-charset": (
        "error",
        "The robots.txt is declared as {charset}; its encoding is UTF-8 (RFC 9309 §2.3).",
    ),
    "robots-long-lifetime": (
        "info",
        "The robots.txt asks to be cached for {time}; crawlers cache it for at most 24 hours "
        "(RFC 9309 §2.4).",
    ),
    "robots-short-lifetime": (
        "info",
        "The robots.txt asks not to be cached, or only for {time}; most crawlers cache it longer.",
    ),
    "robots-old-copy": (
        "warning",
        "The robots.txt is unreachable, and the rules are those of a cached copy.",
    ),
    "schemes-disagree": (
        "warning",
        "The robots.txt of {origin} is a different file, and by it the same path is {word}: each "
        "applies to its own scheme.",
    ),
    "schemes-differ": (
        "info",
        "The robots.txt of {origin} is a different file, with the same result for this path.",
    ),
    # The page
    "page-unreachable": ("error", "The page cannot be read: {why}."),
    "page-status": ("warning", "The page responds with {status}, so there is nothing to index."),
    "page-redirected": ("info", "The URL redirects to {url}."),
    "redirect-to-disallowed": (
        "warning",
        "The URL redirects to {url}, which is disallowed ({why}): crawlers stop there.",
    ),
    "redirect-unreachable": (
        "warning",
        "The URL redirects to {url}, and the robots.txt there cannot be read ({why}): crawlers "
        "that cannot read it either stop there.",
    ),
    "canonical-not-http": (
        "warning",
        "The page names {url} as canonical, which is not an http or https URL: no crawler can "
        "read it.",
    ),
    "canonical-unreachable": (
        "warning",
        "The page names {url} as canonical, and the robots.txt there cannot be read: crawlers that "
        "cannot read it either do not fetch that page.",
    ),
    "canonical-disallowed": (
        "warning",
        "The page names {url} as canonical, which is disallowed ({why}): {who} cannot read it.",
    ),
    "canonicals-differ": (
        "warning",
        "The page names several canonical URLs, {urls}: crawlers choose among them.",
    ),
    "tags-disagree": (
        "warning",
        "{one} says {what}, and {other} says {else_}: the stricter one counts.",
    ),
    "usage-disagrees": (
        "warning",
        "About {category}, {one} says {what} and {other} says {else_}: what disallows counts.",
    ),
    # Sitemaps
    "no-sitemap": ("info", "The robots.txt names no sitemap."),
    "sitemap-unreachable": ("error", "The sitemap cannot be read: {why}."),
    "sitemap-disallowed": (
        "warning",
        "The sitemap itself is disallowed ({why}): crawlers may not fetch it.",
    ),
    "sitemap-unreadable": ("error", "This is not a readable sitemap: {why}."),
    "sitemap-media-type": ("info", "The sitemap is sent as {type}, though it is {what}."),
    "sitemap-cut": (
        "info",
        "The sitemap is longer than the audit reads: {count} of its URLs were checked.",
    ),
    "sitemaps-not-read": (
        "info",
        "At most {most} sitemap files are fetched, so {count} were skipped.",
    ),
    "listed-and-disallowed": (
        "warning",
        "The sitemap lists {url}, and the rules disallow it: list it or disallow it, not both.",
    ),
    "listed-and-noindex": (
        "warning",
        "The sitemap lists {url}, and the page says noindex: do one of them.",
    ),
    "listed-and-redirected": (
        "warning",
        "The sitemap lists {url}, which redirects: list where it leads.",
    ),
    "lists-disallowed": (
        "warning",
        "The sitemap lists {count} of this origin that the rules disallow, such as {url}.",
    ),
}

# Of an audit of many pages, which knows other pages of the site too.
SITE_CODES: dict[str, tuple[str, str]] = {
    "page-skipped": (
        "error",
        "The page was not requested, because {why}.",
    ),
    "listed-and-missing": (
        "warning",
        "The sitemap lists {url}, which responds with {status}: remove it, or repair the page.",
    ),
    "listed-and-canonical-elsewhere": (
        "warning",
        "The sitemap lists {url}, and the page names {canonical} as canonical: list that one.",
    ),
    "noindex-and-canonical": (
        "warning",
        "The page says noindex and names {url} as canonical: one asks to drop the page, the other "
        "to merge it with another. Do one of them.",
    ),
    "canonical-noindex": (
        "warning",
        "The page names {url} as canonical, and that page says noindex: crawlers may show neither.",
    ),
    "canonical-redirected": (
        "warning",
        "The page names {url} as canonical, which redirects to {target}: name that one.",
    ),
    "canonical-missing": (
        "warning",
        "The page names {url} as canonical, which responds with {status}.",
    ),
    "crawlers-differ": (
        "info",
        "Not all of these crawlers get the same: {answers}.",
    ),
    "canonical-elsewhere": (
        "info",
        "The page names {url} as canonical: crawlers may show that URL instead.",
    ),
    "noindex": ("info", "The page says noindex ({why}), so it is not indexed."),
    "not-listed": ("info", "No sitemap lists this page, which may be indexed."),
}


class Finding(NamedTuple):
    """One finding of an audit."""

    code: str
    level: str
    """`error`, `warning` or `info`."""
    message: str
    """One sentence. Quoted text is untrusted."""
    where: str
    """The place: `robots.txt, line 3`, `page`, `sitemap https://…`."""
    crawlers: tuple[str, ...] = ()
    """Of an audit for several crawlers, those that it is about; empty: all of them."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON; `crawlers` is left out if it is about all."""
        values = self._asdict()
        del values["crawlers"]
        return {**values, "crawlers": list(self.crawlers)} if self.crawlers else values

    def __str__(self) -> str:
        return f"{self.where}: {self.level} {self.code}: {self.message}"


def finding(code: str, where: str, **words: object) -> Finding:
    """Return the finding with this code."""
    level, sentence = CODES.get(code) or SITE_CODES[code]
    return Finding(code, level, sentence.format(**words), where)
