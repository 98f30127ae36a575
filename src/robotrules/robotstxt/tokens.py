"""
Product tokens: the names of crawlers in a robots.txt (RFC 9309 §2.2.1).

This module validates the names that callers pass, explains why a name is rejected, and finds the
name in a User-Agent header. The engine compares names with groups.

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

# Characters of a User-Agent header or a list, which no name contains (AMB-22). A name with a
# control character would match no group, so that everything would seem to be allowed.
_NOT_IN_A_NAME = re.compile(r"[\s/(;,\x00-\x1f\x7f]")
_URL = re.compile(r"/|[A-Za-z][-+.A-Za-z0-9]*://")
# How many characters of an invalid name an error message quotes.
_LONGEST_SHOWN = 80


class CrawlerNames(tuple[str, ...]):
    """
    The product tokens of a well-known crawler, in its order of preference.

    The crawler obeys the groups that name the first token named by any group, independent of how
    the profile treats several names (AMB-30). `ignores_star`: if no group names a token, the
    crawler obeys no group, not even the star group.
    """

    ignores_star: bool

    def __new__(cls, names: Iterable[str], *, ignores_star: bool = False) -> CrawlerNames:
        """Make it from names, the preferred name first."""
        self = super().__new__(cls, names)
        self.ignores_star = ignores_star
        return self

    def __repr__(self) -> str:
        star = ", ignores_star=True" if self.ignores_star else ""
        return f"CrawlerNames({tuple(self)!r}{star})"

    def __getnewargs_ex__(self) -> tuple[tuple[tuple[str, ...]], dict[str, bool]]:
        return (tuple(self),), {"ignores_star": self.ignores_star}


def leading_name(text: str) -> str:
    """Return the leading part of *text* that RFC 9309 §2.2.1 allows: letters, `_` and `-`."""
    leading = re.match(r"[-A-Z_a-z]*", text)
    return leading[0] if leading else ""


def is_product_token(text: str) -> bool:
    """Tell whether *text* is a product token by the grammar: letters, `_` and `-` only."""
    return re.fullmatch(r"[-A-Z_a-z]+", text) is not None


def can_be_name(text: str) -> bool:
    """Tell whether *text* can be a crawler's name: not empty, a header or a list."""
    return bool(text) and not _NOT_IN_A_NAME.search(text)


def is_compared_whole(name: str, profile: Profile) -> bool:
    """Tell whether a profile compares the whole name, not only its leading letters."""
    return can_be_name(name) and (
        profile.any_product_token or name == "*" or is_product_token(name)
    )


def is_url(text: str) -> bool:
    """Tell whether *text* is a URL or a path, passed in place of a name."""
    return _URL.match(text) is not None


def vet_name(name: object, profile: Profile) -> str:
    """
    Return the name that is compared with groups; raise a ProductTokenError if invalid (AMB-22).

    A User-Agent header, a list or a URL would match no group, so that everything would seem to be
    allowed. Profile google uses the leading letters of a header, and `*` if there are none.
    """
    if not isinstance(name, str):
        raise make_type_error(name)
    if is_url(name):
        raise ProductTokenError(
            f"{_shorten(name)} is a URL, not a product token: pass the URL first, as in "
            "check(url, product_token)"
        )
    if not can_be_name(name):
        if profile.leading_name:
            return leading_name(name) or "*"
        raise ProductTokenError(_describe_invalid_name(name))
    if is_compared_whole(name, profile):
        return name
    raise ProductTokenError(
        f"invalid product token {_shorten(name)}: only letters, '_' and '-' are allowed (RFC 9309 "
        "§2.2.1). robotrules.product_token() finds the token in a User-Agent header; profile "
        "'default' compares other names literally."
    )


def vet_names(names: str | Sequence[str], profile: Profile) -> None:
    """Raise an error unless *names* are valid; `CrawlerNames` of a registry are not checked."""
    if isinstance(names, str) or not are_names(names):
        vet_name(names, profile)
    elif not isinstance(names, CrawlerNames):
        for name in names:
            vet_name(name, profile)


def are_names(given: object) -> bool:
    """Tell whether a value is a sequence of names; a registry entry is not (AMB-30)."""
    return (
        isinstance(given, Sequence)
        and not isinstance(given, bytes)
        and not isinstance(getattr(given, "names", None), CrawlerNames)
    )


def make_type_error(given: object) -> TypeError:
    """Return the error for a value that is neither a name nor a sequence of names."""
    is_entry = isinstance(getattr(given, "names", None), CrawlerNames)
    fix = ": pass its .names" if is_entry else ""
    return TypeError(
        "a product token is a str such as 'ExampleBot', or several in a list in the order of "
        f"preference; not {type(given).__name__}{fix}"
    )


def _describe_invalid_name(name: str) -> str:
    if not name or name.isspace():
        return "the product token is empty: pass the crawler's name"
    parts = [part.strip() for part in name.split(",")]
    if len(parts) > 1 and all(map(can_be_name, parts)):
        several = ", ".join(map(_shorten, parts[:4])) + (", ..." if len(parts) > 4 else "")
        return f"{_shorten(name)} is not a product token: pass several names as a list, [{several}]"
    token = product_token(re.sub(r"[\x00-\x1f\x7f]", " ", name))
    fix = f"pass {_shorten(token)}" if token else "pass the crawler's name, such as 'ExampleBot'"
    return (
        f"{_shorten(name)} is not a product token: a name has no '/', '(', ';', ',', no control "
        f"character and no whitespace. From a User-Agent header use "
        f"robotrules.product_token(); here, {fix}"
    )


def _shorten(name: str) -> str:
    return repr(name if len(name) <= _LONGEST_SHOWN else f"{name[:_LONGEST_SHOWN]}...")


# --- Names in headers -----------------------------------------------------------------------------

# product = token ["/" product-version] (RFC 9110 §10.1.5). Names of some crawlers have digits and
# dots, which RFC 9309 does not allow; after leading digits at least three letters must follow.
_PRODUCT = re.compile(
    r"(?P<name>(?:[A-Za-z]|[0-9]+[A-Za-z]{3})[-\w.]*)(?:/(?P<version>\S*))?", re.ASCII
)
_COMMENT = re.compile(r"\(([^()]*)\)")
_LIKE = re.compile(r"(?<!\S)like\s++\S++", re.IGNORECASE)
# A host such as `imagesift.com` or `www.example.com/bot`. `archive.org_bot` is a name.
_HOST = re.compile(r"www\..*|(?:[-\w]+\.)+[a-z]{2,4}", re.ASCII)
# Products in the User-Agent strings of browsers; never the name of a crawler.
_BROWSER = re.compile(
    r"mozilla|applewebkit|khtml|like|gecko|chrome|chromium|headlesschrome|crios|safari|mobile"
    r"|version|edg|edge|edga|edgios|opr|opera|presto|firefox|fxios|msie|trident|konqueror|build"
    r"|samsungbrowser|ucbrowser|yabrowser|vivaldi|compatible|windows|macintosh|linux|android"
    r"|iphone|ipad|x11|ubuntu|u",
    re.IGNORECASE,
)
# HTTP libraries and phones at the start of a header: the crawler's name is in a comment, if it has
# one, as in `SAMSUNG-SGH-E250/1.0 … (compatible; Googlebot-Mobile/2.1)`.
_CARRIER = re.compile(
    r"aiohttp|apache-httpclient|curl|docomo|go-http-client|java|libwww-perl|nokia.*|okhttp|python"
    r"|python-\w+|samsung.*|wget",
    re.IGNORECASE,
)


def product_token(user_agent: str) -> str | None:
    """
    Return the probable product token of a crawler, given its User-Agent header.

    It is the first product of the header (RFC 9110 §10.1.5: the most significant one), unless that
    is part of a browser's string, an HTTP library or a phone. Then it is the first product that is
    not part of a browser's string: in comments that contain `compatible`, then outside comments,
    then in any comment; so a library or a phone is the name if no comment names a crawler. None if
    there is no such product: the caller then has to know the name. For a name with spaces it is the
    first word, as parsers read a user-agent line.
    """
    leading = _find_name("".join(user_agent.partition("(")[0].split()[:1]))
    if leading and not _CARRIER.fullmatch(leading):
        return leading
    comments = _COMMENT.findall(user_agent)
    # `like Googlebot` names what the crawler resembles.
    outside = _LIKE.sub(" ", _COMMENT.sub(" ", user_agent))
    # `(compatible; Mozilla/5.0; …)` contains no name.
    compatible = [
        text.partition("compatible")[2]
        for text in comments
        if "compatible" in text and "mozilla" not in text.lower()
    ]
    claimed = [part for text in compatible for part in text.split(";")]
    # Comments also contain platforms: only `name/version` is a product there.
    others = [part for text in comments for part in text.split(";") if "/" in part]
    for candidates in (claimed, outside.split(), others):
        for candidate in candidates:
            if name := _find_name(candidate):
                return name
    return None


def _find_name(candidate: str) -> str | None:
    """Return the name in a part of a header; of several words, the first if it has a version."""
    products = []
    for word in candidate.split():
        # `+https://…` and e-mail addresses are contacts, not products.
        product = _PRODUCT.fullmatch(word.strip(",;"))
        if product and not _HOST.fullmatch(product["name"]):
            products.append(product)
    if not products or (len(products) > 1 and not products[0]["version"]):
        return None
    name: str = products[0]["name"]
    return None if _BROWSER.fullmatch(name) else name
