"""
User agents: the name that a drop-in compares with groups, given what its caller passes.

Other libraries accept a product token or a whole User-Agent header in the same argument, and
compare it with groups by substring, prefix or equality. Here the header is reduced to one name,
which RFC 9309 §2.2.1 compares for equality without case (AMB-20, AMB-22). Nothing is fetched here.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from robotrules.errors import ProductTokenError
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.ruleset import URL
from robotrules.robotstxt.tokens import can_be_name, is_url, product_token

# How many user agents a file caches checks for: a crawler has one or a few, and programs that
# rotate headers must not fill the memory.
MAX_CACHED = 256
# The first word of a header, up to a version, a comment or a list separator.
_FIRST_WORD = re.compile(r"[^\s/(;,\x00-\x1f\x7f]+")


def crawler_name(user_agent: str) -> str:
    """
    Return the name that is compared with groups, given a product token or a User-Agent header.

    A text that can be a name is the name. Of a header it is the product token, or the first word if
    there is none: `Mozilla` for a browser's header, so that a group for Mozilla applies. Without
    any word it is `*`, the crawlers that no group names. A URL is an error: the arguments are
    swapped, and every URL would seem to be allowed.
    """
    if not isinstance(user_agent, str):
        raise TypeError(
            "a user agent is a str, such as 'ExampleBot' or a User-Agent header; not "
            f"{type(user_agent).__name__}"
        )
    if can_be_name(user_agent):
        return user_agent
    if is_url(user_agent) and len(user_agent.split()) == 1:
        raise ProductTokenError(
            f"{user_agent[:80]!r} is a URL, not a user agent: pass a name such as 'ExampleBot', "
            "and check the order of the arguments"
        )
    if token := _token_in(user_agent):
        return token
    word = _FIRST_WORD.search(user_agent)
    return word[0] if word else "*"


def _token_in(header: str) -> str | None:
    """Return the product token of a header, or None; a name may have letters of any script."""
    if header.isascii():
        return product_token(header)
    # `product_token()` reads ASCII, as RFC 9110 §10.1.5 has it: it is given a letter for each
    # letter, and the name is taken from the same place of the header.
    masked = "".join(c if c.isascii() else "x" if c.isalnum() else " " for c in header)
    token = product_token(masked)
    if token is None:
        return None
    place = re.search(rf"(?<![-\w.]){re.escape(token)}(?![-\w.])", masked)
    return header[place.start() : place.end()] if place else None


class ChecksByUserAgent(dict[str, Callable[[URL], bool]]):
    """
    A function for each user agent that tells whether a URL is allowed to it; made on first use.

    Crawlers pass the same header with every URL, so a check costs one dictionary lookup in addition
    to matching the rules.
    """

    __slots__ = ("robots",)

    def __init__(self, robots: RobotsTxt) -> None:
        """Make it for a parsed file."""
        super().__init__()
        self.robots = robots

    def __missing__(self, user_agent: str) -> Callable[[URL], bool]:
        allows = self.robots.rules_for(crawler_name(user_agent)).allows
        if len(self) >= MAX_CACHED:
            self.clear()
        self[user_agent] = allows
        return allows

    def __reduce__(self) -> tuple[type[ChecksByUserAgent], tuple[RobotsTxt]]:
        return type(self), (self.robots,)
