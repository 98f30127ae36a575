"""
The URL of a request that is checked: the one whose page is requested.

A robots.txt governs the host of its URL (RFC 9309 §2.3), so a request that names another host is
refused. This module knows no host library.
"""

from __future__ import annotations

import re

from robotrules.errors import CrawlerError
from robotrules.http.origins import authority_end, origin_of, split_origin

# Schemes whose requests are checked: a robots.txt governs no others (RFC 9309 §2.3).
CHECKED_SCHEMES = frozenset(("http", "https"))
# A target that replaces path and query of a URL; with "#" it could be read in two ways.
_TARGET = re.compile(rb"/[!-\"$-~]*")
_PORT = re.compile(r":[0-9]+\Z")
_USERINFO = re.compile(r"^(https?://)[^/?#]*@", re.IGNORECASE)


def vet_host(url: str, field: str | bytes | None) -> None:
    """
    Raise `CrawlerError` if *field*, the Host field of a request, names another host than its URL.

    The page would be one of that host, and the rules those of the URL's host (RFC 9309 §2.3).
    """
    if field is None or field == url[url.find("//") + 2 : authority_end(url)]:
        return
    text = field.decode("latin-1") if isinstance(field, bytes) else field
    text = text.rpartition("@")[2]  # urllib writes name and password of a URL into the field
    origin, end = split_origin(f"http://{text}")
    own, named = origin_of(url), origin if end == len(text) + 7 else None
    if own is not None and _host(own) != _host(named or ""):
        raise CrawlerError(
            f"the request for {url} has the field 'Host: {text:.200}': the rules are those of the "
            "URL's host (RFC 9309 §2.3). Request the URL of the other host, or remove the field"
        )


def _host(origin: str) -> str:
    return _PORT.sub("", origin.partition("://")[2])


def replace_target(url: str, target: object) -> str:
    """Return the URL that is requested if an extension of the request replaces its target."""
    if not isinstance(target, bytes) or not _TARGET.fullmatch(target):
        raise CrawlerError(
            f"extensions['target'] is {target!r:.200}: pass a path and query as ASCII bytes, such "
            "as b'/a?b', or remove it; other targets have no rules that can be checked"
        )
    return url[: authority_end(url)] + target.decode("ascii")


def without_userinfo(url: str) -> str:
    """Return a URL without name and password, which belong in no error message or log."""
    return _USERINFO.sub(r"\1", url) if "@" in url else url
