"""
Request bodies of the HTTP API: what verbs share. Each verb adds its own fields.

A file is text (`robots`) or, where its bytes matter, base64 (`robots_base64`). Names and defaults
are those of the options of the command line: `as`, `purpose`, `profile`, `literal`.

Sections: bodies · values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from robotrules.errors import ProductTokenError
from robotrules.json_results.crawlers import (
    CrawlerChoice,
    choose_crawler,
    ignore_unread_purposes,
)
from robotrules.octets import visible
from robotrules.robotstxt import RobotsTxt, parse
from robotrules.robotstxt.tokens import can_be_name, is_url, product_token
from robotrules.service.problems import Problem

__all__ = [
    "MOST_TOKENS",
    "ProfileName",
    "Purposes",
    "QuestionInput",
    "RequestBody",
    "RobotsInput",
    "Tokens",
    "crawler_of",
    "octets_of",
    "purposes_of",
    "shown",
    "tokens_of",
]

ProfileName = Literal["default", "strict", "google"]
# A well-known crawler has a handful of product tokens.
MOST_TOKENS = 20
Token = Annotated[str, Meta(max_length=1_000)]
Tokens = Annotated[
    Token | Annotated[list[Token], Meta(max_length=MOST_TOKENS)],
    Meta(
        description="The crawler's product token, or several, the preferred one first.",
        examples=["ExampleBot"],
    ),
]
Purposes = Annotated[
    list[Token],
    Meta(description="Purposes of the crawler, such as EXAMPLE-PURPOSE-1.", max_length=MOST_TOKENS),
]
# How much of a value a problem quotes.
LONGEST_SHOWN = 80


# --- Bodies ---------------------------------------------------------------------------------------


class RequestBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A request body; an unknown field is an error, because it is probably a typing error."""


class RobotsInput(RequestBody, kw_only=True):
    """A robots.txt, as text or as bytes."""

    robots: Annotated[
        str | None, Meta(description="The robots.txt as text.", examples=["User-agent: *\n"])
    ] = None
    robots_base64: Annotated[
        bytes | None,
        Meta(description="The robots.txt as base64, where its bytes matter: encoding, line ends."),
    ] = None
    profile: Annotated[ProfileName, Meta(description="How to parse what RFC 9309 leaves open.")] = (
        "default"
    )

    @property
    def octets(self) -> bytes:
        """The bytes of the file; a missing one is a problem."""
        return octets_of(self.robots, self.robots_base64, "robots")

    def parsed(self) -> RobotsTxt:
        """The parsed file."""
        return parse(self.octets, self.profile)


class QuestionInput(RobotsInput, kw_only=True):
    """A robots.txt, and the crawler that a question is about."""

    as_: Tokens = msgspec.field(name="as")
    purpose: Purposes = msgspec.field(default_factory=list)
    literal: Annotated[
        bool, Meta(description="Select groups without the registry of well-known crawlers.")
    ] = False

    @property
    def crawler(self) -> CrawlerChoice:
        """The crawler; an invalid product token is a problem."""
        return crawler_of(self.as_, self.profile, literal=self.literal)

    @property
    def purposes(self) -> tuple[str, ...]:
        """The purposes; an empty one is a problem."""
        return purposes_of(self.purpose, self.profile)


# --- Values ---------------------------------------------------------------------------------------


def octets_of(text: str | None, octets: bytes | None, name: str) -> bytes:
    """Return the bytes of a file that is text or base64; *name* is the field of the text."""
    if octets is not None and text is None:
        return octets
    if text is None or octets is not None:
        both = f"{name}_base64" if name != "text" else "base64"
        raise Problem("invalid-request", f"pass either {name} or {both}", at=f"$.{name}")
    return text.encode("utf-8", "replace")


def tokens_of(given: str | Sequence[str]) -> tuple[str, ...]:
    """Return product tokens as a tuple; an empty list is a problem."""
    if not given:
        words = "as is empty: pass the crawler's product token, such as ExampleBot"
        raise Problem("invalid-request", words, at="$.as")
    return (given,) if isinstance(given, str) else tuple(given)


def crawler_of(given: str | Sequence[str], profile: str, *, literal: bool) -> CrawlerChoice:
    """Return the crawler of `as`; an invalid product token is a problem."""
    tokens = tokens_of(given)
    try:
        return choose_crawler(tokens, profile, literal=literal)
    except ProductTokenError:
        pass
    for number, token in enumerate(tokens):
        try:
            choose_crawler((token,), profile, literal=True)
        except ProductTokenError:
            at = "$.as" if isinstance(given, str) else f"$.as[{number}]"
            raise Problem("invalid-request", _explain_refusal(token), at=at) from None
    raise AssertionError("one of several tokens is invalid by itself")


def _explain_refusal(token: str) -> str:
    """Return why a text is not a product token, and what to pass instead (AMB-22)."""
    if not token.strip():
        return "as is empty: pass the crawler's product token, such as ExampleBot"
    if is_url(token):
        return f"{shown(token)} is a URL: pass it in url, and the crawler's product token in as"
    found = product_token(token)
    suggestion = f"; use {shown(found)}" if found and found != token else ""
    if can_be_name(token):
        other = suggestion or "; profile default compares other names literally"
        return (
            f"{shown(token)} is not a product token: only letters, '_' and '-' are allowed "
            f"(RFC 9309 §2.2.1){other}"
        )
    if "," in token and all(can_be_name(part.strip()) for part in token.split(",")):
        return f"{shown(token)} is a list in one text: pass an array with a text for each token"
    return (
        f"{shown(token)} is not a product token: it must not contain '/', '(', ';', ',', control "
        f"characters or white space{suggestion}"
    )


def purposes_of(given: Sequence[str], profile: str) -> tuple[str, ...]:
    """Return the purposes; an empty one is a problem."""
    for number, purpose in enumerate(given):
        if not purpose.strip():
            words = "a purpose is empty: pass a purpose, or leave it out"
            raise Problem("invalid-request", words, at=f"$.purpose[{number}]")
    ignore_unread_purposes(given, profile)
    return tuple(given)


def shown(text: str) -> str:
    """Return the beginning of a text in quotes, with control characters escaped."""
    return f"'{visible(text[:LONGEST_SHOWN])}{'…' if len(text) > LONGEST_SHOWN else ''}'"
