"""
User-Agent-Purpose (draft-illyes-rep-purpose): groups for what a crawler is for.

The record opens groups like User-agent does, so the parser knows it as a START record and
`RobotsTxt.check(url, token, purposes=…)` chooses by it: the groups of the product token, else those
of the purposes, else the star's (AMB-95). Here is what a crawler's and a site's side may ask
beside that: is a crawler's configuration what RFC 9309 and the draft want, and is a file's.

It does not choose groups, and no matching ever reads a User-Agent header (AMB-100).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from robotrules.errors import CrawlerError
from robotrules.extensions.codes import CODES, note
from robotrules.profile import USER_AGENT_PURPOSE, Profile, find_profile
from robotrules.registries import SHIPPED, Registries
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.tokens import is_product_token
from robotrules.robotstxt.values import Note

EXTENSION = USER_AGENT_PURPOSE
KEY = "user-agent-purpose"

# What profile strict refuses: what MUST be so, and that the header names the crawler. RFC 9309 says
# SHOULD there, but without it nobody can tell whose rules are obeyed.
REFUSED = {
    "product-token-grammar": "RFC 9309 §2.2.1 knows letters, '_' and '-' only",
    "product-token-not-sent": "RFC 9309 §2.2.1 wants it in the User-Agent header",
    "purpose-not-sent": "draft-illyes-rep-purpose §3.2 wants it in the User-Agent header",
    "unregistered-purpose": "draft-illyes-rep-purpose §3.2 allows registered purposes only",
}


def crawler_notes(
    user_agent: str,
    product_token: str,
    purposes: Sequence[str] = (),
    *,
    profile: str | Profile = "default",
    registries: Registries = SHIPPED,
) -> tuple[Note, ...]:
    """
    Return what a crawler's own configuration breaks: its header, its name, its purposes.

    Spans are octets of *user_agent*. In profile strict a name or purpose that is not what the
    documents want, or not in the header, raises `CrawlerError`. Purposes are looked up only in a
    registry that has any: the draft's is not open yet.
    """
    for given, what in ((user_agent, "user_agent"), (product_token, "product_token")):
        if not isinstance(given, str):
            raise TypeError(f"{what} is a str, not {type(given).__name__}")
    if isinstance(purposes, str):
        raise TypeError(f"purposes are a list of str: pass [{purposes!r}]")
    purposes = tuple(purposes)
    for purpose in purposes:
        if not isinstance(purpose, str) or not purpose.strip():
            raise TypeError(f"a purpose is a str that is not empty, not {purpose!r}")
    found = list(_faults(user_agent, product_token, purposes, registries))
    if find_profile(profile).any_product_token is False:
        for code, about in found:
            if code in REFUSED:
                raise CrawlerError(f"{about!r}: {REFUSED[code]}; header {user_agent!r}")
    end = len(user_agent.encode("utf-8", "surrogatepass"))
    return tuple(Note(code, CODES[code][0], None, 0, end) for code, _ in found)


def _faults(
    user_agent: str, product_token: str, purposes: Sequence[str], registries: Registries
) -> Iterator[tuple[str, str]]:
    """Yield codes, each with what it is about."""
    if not is_product_token(product_token):
        yield "product-token-grammar", product_token
    sent = user_agent.lower()
    if product_token.lower() not in sent:
        yield "product-token-not-sent", product_token
    for purpose in purposes:
        if purpose.lower() not in sent:
            yield "purpose-not-sent", purpose
        if len(registries.purposes) and purpose not in registries.purposes:
            yield "unregistered-purpose", purpose
    # "The identification string SHOULD describe the purpose of the crawler": a comment or an
    # address is the least a person can look at (RFC 9309 §2.2.1).
    if not re.search(r"https?://|@|\([^()]*[A-Za-z][^()]*\)", user_agent):
        yield "no-contact", user_agent


def notes(robots: RobotsTxt, registries: Registries = SHIPPED) -> Iterator[Note]:
    """Yield what is odd about the purpose lines of a file (AMB-97, AMB-99)."""
    for group in robots.groups:
        leaks = group.index and group.purposes and not group.user_agents
        if leaks and len(group.records) > len(group.starts):
            yield note("leaking-purpose", group.starts[0])
    for record in robots.records:
        if record.key != KEY:
            continue
        if not record.value:
            yield note("empty-purpose", record)
        elif record.value == b"*":
            yield note("star-purpose", record)
        elif len(registries.purposes) and record.text not in registries.purposes:
            yield note("unregistered-purpose", record)
