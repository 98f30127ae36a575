"""
What each record is: its usual spelling, a sentence for whoever writes one, and its reference.

A table for hover, completion and the outline. Roles, scopes and references of extensions are those
of their declarations; only the words are here. It does not know any file.
"""

from __future__ import annotations

from typing import NamedTuple

from robotrules.extensions import ALL
from robotrules.profile import Role

__all__ = ["RECORDS", "About", "find", "spelled"]

_RFC = "RFC 9309"


class About(NamedTuple):
    """What a record is."""

    name: str
    words: str
    """One or two sentences."""
    reference: str
    of_file: bool
    """Whether it stands for the file, wherever it is."""
    offered: bool = True
    """Whether completion offers it: not what nobody reads any more."""


_PROTOCOL = (
    About(
        "User-agent",
        "Names the crawler that the rules below are for, by its product token; `*` is for all that "
        "no other group names.",
        f"{_RFC} §2.2.1",
        False,
    ),
    About(
        "Disallow",
        "Asks crawlers not to fetch URLs that match the path pattern. Empty, it asks for nothing.",
        f"{_RFC} §2.2.2",
        False,
    ),
    About(
        "Allow",
        "Lets crawlers fetch URLs that match the path pattern, where it is more specific than a "
        "Disallow, or as specific.",
        f"{_RFC} §2.2.2",
        False,
    ),
)
_WORDS = {
    "user-agent-purpose": "Opens a group for crawlers with a registered purpose that no group "
    "names. Old parsers do not know it and give its rules to the group before.",
    "app-directives": "Tells an application what a site prefers, such as `examplesearch;widgets=?0`"
    "; with a path before it, for URLs that match. It says nothing about fetching.",
    "app-directive": "Another spelling of App-Directives, which is the usual one.",
    "content-usage": "States what content may be used for once it was fetched, such as "
    "`train-ai=n`; with a path before it, for URLs that match. The longest path alone counts.",
    "content-signal": "States preferences in the words of contentsignals.org, such as "
    "`ai-train=no`. Content-Usage is what the IETF works on.",
    "sitemap": "Names a list of a website's pages by its absolute URL. It belongs to no group.",
    "crawl-delay": "Asks crawlers to wait so many seconds between two requests. Bing reads it, "
    "Google does not.",
    "request-rate": "Asks for so many requests in so much time, such as `1/10m`. Few crawlers "
    "read it.",
    "visit-time": "Asks crawlers to come in this part of the day, in UTC, such as `0600-0845`. Few "
    "crawlers read it.",
    "clean-param": "Names query parameters that change nothing on a page, such as `sid /forum/`. "
    "Yandex reads it.",
    "host": "Once named the preferred host to Yandex. Nobody reads it any more.",
    "noindex": "Was tried in robots.txt until 2019. No crawler that is known reads it: use a "
    "robots meta element or an X-Robots-Tag field, and let crawlers fetch the page.",
    "nofollow": "Was tried in robots.txt until 2019. No crawler that is known reads it: use a "
    "robots meta element or an X-Robots-Tag field.",
    "noarchive": "Was tried in robots.txt until 2019. No crawler that is known reads it: use a "
    "robots meta element or an X-Robots-Tag field.",
    "license": "Names a licence for readers of Really Simple Licensing. It changes no verdict.",
    "domain": "google/robotstxt knows the name and does not use it.",
    "revisit-after": "google/robotstxt knows the name and does not use it.",
}
_NOT_OFFERED = frozenset(
    ("app-directive", "host", "noindex", "nofollow", "noarchive", "domain", "revisit-after")
)


def _about() -> dict[str, About]:
    found = {one.name.lower(): one for one in _PROTOCOL}
    for extension in ALL:
        key = extension.key.lower()
        of_file = extension.scope == "file" and extension.role is Role.OTHER
        words, offered = _WORDS.get(key, ""), key not in _NOT_OFFERED
        found[key] = About(extension.key, words, extension.reference, of_file, offered)
    return found


RECORDS = _about()
"""Every record that somebody defines, by its name in lower case."""


def find(key: str) -> About | None:
    """Return what is known of a record by its name."""
    return RECORDS.get(key.lower())


def spelled(key: str) -> str:
    """Return the usual spelling of a record's name; one that nobody defines, as it is."""
    about = find(key)
    return about.name if about else key
