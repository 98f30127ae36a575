"""
Product tokens: the names crawlers are called by in a robots.txt (RFC 9309 §2.2.1).

A helper for those who only have a User-Agent header. It does not compare tokens with groups: the
engine does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# product = token ["/" product-version] (RFC 9110 §10.1.5). A name may have digits and dots, as some
# crawlers' do, though RFC 9309 knows neither.
_PRODUCT = r"(?P<name>[A-Za-z][-\w.]*)(?:/(?P<version>\S*))?"
# Parts of the strings by which programs claim to be browsers; never the crawler's own name.
_CLOTHES = (
    r"mozilla|applewebkit|khtml|like|gecko|chrome|chromium|safari|mobile|version|edge?|opr|firefox"
    r"|compatible|windows|macintosh|linux|android|iphone|ipad|x11|ubuntu|u"
)


class CrawlerNames(tuple[str, ...]):
    """
    The product tokens of one crawler in its order, with how it chooses groups by them.

    The first one that a group names decides, whatever the profile does with several names (AMB-30).
    `ignores_star`: where none does, the crawler obeys no group, the star's neither.
    """

    ignores_star: bool

    def __new__(cls, names: Iterable[str], *, ignores_star: bool = False) -> CrawlerNames:
        """Make it from names, the preferred one first."""
        self = super().__new__(cls, names)
        self.ignores_star = ignores_star
        return self

    def __repr__(self) -> str:
        star = ", ignores_star=True" if self.ignores_star else ""
        return f"CrawlerNames({tuple(self)!r}{star})"

    def __getnewargs_ex__(self) -> tuple[tuple[tuple[str, ...]], dict[str, bool]]:
        return (tuple(self),), {"ignores_star": self.ignores_star}


def leading_name(text: str) -> str:
    """Return the leading part of a name that RFC 9309 §2.2.1 knows: letters, `_` and `-`."""
    found = re.match(r"[-A-Z_a-z]*", text)
    return found[0] if found else ""


def is_product_token(text: str) -> bool:
    """Tell whether *text* is a product token by the grammar: letters, `_` and `-` only."""
    return re.fullmatch(r"[-A-Z_a-z]+", text) is not None


def product_token(user_agent: str) -> str | None:
    """
    Return the product token a crawler probably means by its User-Agent header.

    The first product that is not part of a browser's string, first inside comments that say
    `compatible`, then outside of comments, then in any comment. None when there is nothing left:
    then the crawler has to say its name itself.
    """
    comments = re.findall(r"\(([^()]*)\)", user_agent)
    outside = re.sub(r"\([^()]*\)", " ", user_agent)
    claims = [text.partition("compatible")[2] for text in comments if "compatible" in text]
    claimed = [part for text in claims for part in text.split(";")]
    # Platforms stand in comments too; there only `name/version` is a product.
    others = [part for text in comments for part in text.split(";") if "/" in part]
    for candidates in (claimed, outside.split(), others):
        names = [name for name in map(_name, candidates) if name]
        if names:
            return names[0]
    return None


def _name(candidate: str) -> str | None:
    candidate = candidate.strip(" ,;+")
    found = re.match(_PRODUCT, candidate, re.ASCII)
    if not found or "://" in candidate or "@" in candidate:
        return None
    rest = candidate[found.end() :].strip()
    if re.fullmatch(_CLOTHES, found["name"], re.IGNORECASE) or (rest and not found["version"]):
        return None
    return found["name"]
