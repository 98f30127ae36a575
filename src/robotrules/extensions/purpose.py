"""
User-Agent-Purpose (draft-illyes-rep-purpose): groups for the purposes of crawlers.

The record opens groups like User-agent does, so the parser has it as a START record and
`RobotsTxt.check(url, token, purposes=…)` selects by it: the groups of the product token, else those
of the purposes, else those of `*` (AMB-95). This module checks the configuration of a crawler and
the purpose lines of a file against RFC 9309 and the draft.

It does not select groups, and no matching reads a User-Agent header (AMB-100).
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

# What profile strict rejects: violations of a MUST, and a header that does not name the crawler.
# RFC 9309 says SHOULD there, but without it a site cannot tell which group the crawler obeys.
REFUSED = {
    "product-token-grammar": "a product token may have only letters, '_' and '-' (RFC 9309 §2.2.1)",
    "product-token-not-sent": "send it in the User-Agent header (RFC 9309 §2.2.1)",
    "purpose-not-sent": "send it in the User-Agent header (draft-illyes-rep-purpose §3.2)",
    "unregistered-purpose": "use a registered purpose (draft-illyes-rep-purpose §3.2)",
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
    Return notes on the configuration of a crawler: its header, its name, its purposes.

    Spans are octets of *user_agent*. In profile strict, a name or purpose that violates the
    documents or is not in the header raises `CrawlerError`. Purposes are looked up only if the
    registry has entries: the registry of the draft does not exist yet.
    """
    for given, what in ((user_agent, "user_agent"), (product_token, "product_token")):
        if not isinstance(given, str):
            raise TypeError(f"{what} must be a str, not {type(given).__name__}")
    if isinstance(purposes, str):
        raise TypeError(f"purposes must be a list of str: pass [{purposes!r}]")
    purposes = tuple(purposes)
    for purpose in purposes:
        if not isinstance(purpose, str) or not purpose.strip():
            raise TypeError(f"a purpose must be a non-empty str, not {purpose!r}")
    problems = list(_find_problems(user_agent, product_token, purposes, registries))
    if find_profile(profile).any_product_token is False:
        for code, about in problems:
            if code in REFUSED:
                raise CrawlerError(f"{about!r}: {REFUSED[code]}; header {user_agent!r}")
    end = len(user_agent.encode("utf-8", "surrogatepass"))
    return tuple(Note(code, CODES[code][0], None, 0, end) for code, _ in problems)


def _find_problems(
    user_agent: str, product_token: str, purposes: Sequence[str], registries: Registries
) -> Iterator[tuple[str, str]]:
    """Yield codes, each with the text that it is about."""
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
    # "The identification string SHOULD describe the purpose of the crawler": at least a comment, a
    # URL or an address (RFC 9309 §2.2.1).
    if not re.search(r"https?://|@|\([^()]*[A-Za-z][^()]*\)", user_agent):
        yield "no-contact", user_agent


def notes(robots: RobotsTxt, registries: Registries = SHIPPED) -> Iterator[Note]:
    """Yield notes on the purpose lines of a file (AMB-97, AMB-99)."""
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
