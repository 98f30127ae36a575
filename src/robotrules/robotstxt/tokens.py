"""
Product tokens: the names crawlers are called by in a robots.txt (RFC 9309 §2.2.1).

What can be asked as a name, what is refused and why, and the name in a User-Agent header. It does
not compare names with groups: the engine does.

Sections: names · names in headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from robotrules.errors import ProductTokenError
from robotrules.profile import Profile

# A crawler's name, or several in the order of preference (AMB-30).
Tokens = str | Sequence[str]

# --- Names ----------------------------------------------------------------------------------------

# A User-Agent header or a list has these, and no name does (AMB-22); nor has one a control
# character, by which it would be compared with no group and everything seem allowed.
_NOT_IN_A_NAME = re.compile(r"[\s/(;,\x00-\x1f\x7f]")
_URL = re.compile(r"/|[A-Za-z][-+.A-Za-z0-9]*://")
# How much of a wrong name an error repeats.
_LONGEST_SHOWN = 80


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


def can_be_name(text: str) -> bool:
    """Tell whether a crawler can be asked about by *text*: no header, no list, not empty."""
    return bool(text) and not _NOT_IN_A_NAME.search(text)


def is_compared_whole(name: str, profile: Profile) -> bool:
    """Tell whether a profile compares a name as it is given."""
    return can_be_name(name) and (
        profile.any_product_token or name == "*" or is_product_token(name)
    )


def is_url(text: str) -> bool:
    """Tell whether *text* is a URL or a path in a name's place."""
    return _URL.match(text) is not None


def vetted_name(name: object, profile: Profile) -> str:
    """
    Return the name by which groups are chosen; refuse what is no name (AMB-22).

    To compare a User-Agent header, a list or a URL with user-agent lines finds no group, and then
    everything seems allowed. Profile google takes the leading name, and an empty one for `*`.
    """
    if not isinstance(name, str):
        raise wrong_type(name)
    if is_url(name):
        raise ProductTokenError(
            f"{_shown(name)} is a URL and not a product token: pass the URL first, as in "
            "check(url, product_token)"
        )
    if not can_be_name(name):
        if profile.leading_name:
            return leading_name(name) or "*"
        raise ProductTokenError(_why_no_name(name))
    if is_compared_whole(name, profile):
        return name
    raise ProductTokenError(
        f"{_shown(name)} is no product token: RFC 9309 §2.2.1 knows letters, '_' and '-' only. "
        "robotrules.product_token() finds the token in a User-Agent header; profile 'default' "
        "compares other names literally."
    )


def vet_names(names: str | Sequence[str], profile: Profile) -> None:
    """Refuse what is no name, or not several; a registry's names are what they are."""
    if isinstance(names, str) or not are_names(names):
        vetted_name(names, profile)
    elif not isinstance(names, CrawlerNames):
        for name in names:
            vetted_name(name, profile)


def are_names(given: object) -> bool:
    """Tell whether a value is a sequence of names; the entry of a registry is not (AMB-30)."""
    return (
        isinstance(given, Sequence)
        and not isinstance(given, bytes)
        and not isinstance(getattr(given, "names", None), CrawlerNames)
    )


def wrong_type(given: object) -> TypeError:
    """Return the error for what is neither a name nor several."""
    is_entry = isinstance(getattr(given, "names", None), CrawlerNames)
    cure = ": pass its .names" if is_entry else ""
    return TypeError(
        "a product token is a str such as 'ExampleBot', or several in a list in the order of "
        f"preference; not {type(given).__name__}{cure}"
    )


def _why_no_name(name: str) -> str:
    if not name or name.isspace():
        return "the product token is empty: pass the crawler's name"
    parts = [part.strip() for part in name.split(",")]
    if len(parts) > 1 and all(map(can_be_name, parts)):
        several = ", ".join(map(_shown, parts[:4])) + (", ..." if len(parts) > 4 else "")
        return f"{_shown(name)} is not a product token: pass several names as a list, [{several}]"
    found = product_token(re.sub(r"[\x00-\x1f\x7f]", " ", name))
    cure = f"pass {_shown(found)}" if found else "pass the crawler's name, such as 'ExampleBot'"
    return (
        f"{_shown(name)} is not a product token: a name has no '/', '(', ';', ',', no control "
        f"character and no white space. From a User-Agent header use "
        f"robotrules.product_token(); here, {cure}"
    )


def _shown(name: str) -> str:
    return repr(name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}...")


# --- Names in headers -----------------------------------------------------------------------------

# product = token ["/" product-version] (RFC 9110 §10.1.5). A name may have digits and dots, as some
# crawlers' do, though RFC 9309 knows neither; one that begins with digits goes on with letters.
_PRODUCT = re.compile(
    r"(?P<name>(?:[A-Za-z]|[0-9]+[A-Za-z]{3})[-\w.]*)(?:/(?P<version>\S*))?", re.ASCII
)
_COMMENT = re.compile(r"\(([^()]*)\)")
# `imagesift.com`, `www.example.com/bot`: an address. `archive.org_bot` is a name.
_HOST = re.compile(r"www\..*|(?:[-\w]+\.)+[a-z]{2,4}", re.ASCII)
# Parts of the strings by which programs claim to be browsers; never the crawler's own name.
_BROWSER = re.compile(
    r"mozilla|applewebkit|khtml|like|gecko|chrome|chromium|headlesschrome|crios|safari|mobile"
    r"|version|edg|edge|edga|edgios|opr|opera|presto|firefox|fxios|msie|trident|konqueror|build"
    r"|samsungbrowser|ucbrowser|yabrowser|vivaldi|compatible|windows|macintosh|linux|android"
    r"|iphone|ipad|x11|ubuntu|u",
    re.IGNORECASE,
)


def product_token(user_agent: str) -> str | None:
    """
    Return the product token a crawler probably means by its User-Agent header.

    The first product that is not part of a browser's string, first inside comments that say
    `compatible`, then outside of comments, then in any comment. None when there is nothing left:
    then the crawler has to say its name itself. Of a name with spaces it is the first word, which
    is what parsers read of a user-agent line.
    """
    comments = _COMMENT.findall(user_agent)
    outside = _COMMENT.sub(" ", user_agent)
    # `(compatible; Mozilla/5.0; …)` says what it is compatible with, and nothing of a name.
    claims = [
        text.partition("compatible")[2]
        for text in comments
        if "compatible" in text and "mozilla" not in text.lower()
    ]
    claimed = [part for text in claims for part in text.split(";")]
    # Platforms stand in comments too; there only `name/version` is a product.
    others = [part for text in comments for part in text.split(";") if "/" in part]
    for candidates in (claimed, outside.split(), others):
        for candidate in candidates:
            if name := _name(candidate):
                return name
    return None


def _name(candidate: str) -> str | None:
    """Return the name in a part of a header; of several words the first if it has a version."""
    products = []
    for word in candidate.split():
        # Neither `+https://…` nor an e-mail address is a product: they are contacts.
        found = _PRODUCT.fullmatch(word.strip(",;"))
        if found and not _HOST.fullmatch(found["name"]):
            products.append(found)
    if not products or (len(products) > 1 and not products[0]["version"]):
        return None
    name: str = products[0]["name"]
    return None if _BROWSER.fullmatch(name) else name
