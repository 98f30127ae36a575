"""
Findings: what an audit of one live page reports, each with a code, a level and a sentence.

Here are the findings that need more than one carrier, or an answer of a server. What parsers say
about a file or a field alone is in their notes, which an audit passes on under their own codes. It
does not look at anything itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

LEVELS = ("error", "warning", "info")

# `error`: something does not work; `warning`: it works, and probably not as meant; `info`: good to
# know. Braces are filled in.
CODES: dict[str, tuple[str, str]] = {
    # robots.txt: access (RFC 9309 §2.3, §2.4)
    "robots-unreachable": (
        "error",
        "The robots.txt is unreachable ({why}): crawlers then assume that everything is "
        "disallowed.",
    ),
    "robots-lost": (
        "error",
        "The redirects of the robots.txt do not lead to a file ({why}): some crawlers take that "
        "for no rules at all, and others stop crawling the site.",
    ),
    "robots-restricted": (
        "warning",
        "The robots.txt answers {status}. RFC 9309 takes that for no rules, so that everything is "
        "allowed, and some crawlers for the opposite: serve it to everybody.",
    ),
    "no-robots": ("info", "There is no robots.txt ({why}), so everything is allowed."),
    "robots-redirected": (
        "info",
        "The robots.txt redirects to {url}; its rules hold for the origin that was asked first.",
    ),
    "robots-media-type": (
        "error",
        "The robots.txt is sent as {type}; its media type is text/plain (RFC 9309 §2.3).",
    ),
    "robots-charset": (
        "error",
        "The robots.txt is said to be in {charset}; its encoding is UTF-8 (RFC 9309 §2.3).",
    ),
    "robots-long-lifetime": (
        "info",
        "The robots.txt asks to be kept for {time}; crawlers use it for no longer than 24 hours "
        "(RFC 9309 §2.4).",
    ),
    "robots-short-lifetime": (
        "info",
        "The robots.txt asks not to be kept, or for {time} only; most crawlers keep it for longer.",
    ),
    "robots-old-copy": (
        "warning",
        "The robots.txt is unreachable, and rules are those of a copy fetched before.",
    ),
    "schemes-disagree": (
        "warning",
        "The robots.txt of {origin} is another file, and says that the same path is {word}: each "
        "governs its own scheme.",
    ),
    "schemes-differ": (
        "info",
        "The robots.txt of {origin} is another one, though it says the same about this path.",
    ),
    # The page
    "page-unreachable": ("error", "The page cannot be read: {why}."),
    "page-status": ("warning", "The page answers {status}, so there is nothing to index."),
    "page-redirected": ("info", "The URL redirects to {url}."),
    "redirect-to-disallowed": (
        "warning",
        "The URL redirects to {url}, which is disallowed ({why}): crawlers stop there.",
    ),
    "canonical-disallowed": (
        "warning",
        "The page names {url} as canonical, which is disallowed ({why}): no crawler can read it.",
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
        "The sitemap itself is disallowed ({why}): crawlers may leave it alone.",
    ),
    "sitemap-unreadable": ("error", "This is no sitemap that can be read: {why}."),
    "sitemap-media-type": ("info", "The sitemap is sent as {type}, though it is {what}."),
    "sitemap-cut": ("info", "The sitemap is longer than was read here: {count} of its URLs are."),
    "sitemaps-not-read": (
        "info",
        "No more than {most} sitemap files are asked for, so {count} were left out.",
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


class Finding(NamedTuple):
    """One thing that an audit found."""

    code: str
    level: str
    """`error`, `warning` or `info`."""
    message: str
    """One sentence for people. What it quotes comes from strangers."""
    where: str
    """What it is about: `robots.txt, line 3`, `page`, `sitemap https://…`."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()

    def __str__(self) -> str:
        return f"{self.where}: {self.level} {self.code}: {self.message}"


def finding(code: str, where: str, **words: object) -> Finding:
    """Return the finding of a code."""
    level, sentence = CODES[code]
    return Finding(code, level, sentence.format(**words), where)
