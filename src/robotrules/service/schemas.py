"""
Request bodies of the HTTP API: what verbs share. Each verb adds its own fields.

A file is text (`robots`) or, where its bytes matter, base64 (`robots_base64`). Names and defaults
are those of the options of the command line: `as`, `purpose`, `profile`, `literal`.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from robotrules.robotstxt import RobotsTxt, parse
from robotrules.service.problems import Problem

__all__ = ["ProfileName", "QuestionInput", "Request", "RobotsInput"]

ProfileName = Literal["default", "strict", "google"]
Token = Annotated[str, Meta(max_length=1_000)]


class Request(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A request body; an unknown field is an error, because it is probably a typing error."""


class RobotsInput(Request, kw_only=True):
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
        if self.robots_base64 is not None and self.robots is None:
            return self.robots_base64
        if self.robots is None or self.robots_base64 is not None:
            raise Problem("invalid-request", "pass either robots or robots_base64", at="$.robots")
        # Lone surrogates are possible in JSON; they become '?', as in a browser.
        return self.robots.encode("utf-8", "replace")

    def parsed(self) -> RobotsTxt:
        """The parsed file."""
        return parse(self.octets, self.profile)


class QuestionInput(RobotsInput, kw_only=True):
    """A robots.txt, and the crawler that a question is about."""

    as_: Annotated[
        Token | list[Token],
        Meta(
            description="The crawler's product token, or several, the preferred one first.",
            examples=["ExampleBot"],
        ),
    ] = msgspec.field(name="as")
    purpose: Annotated[
        list[Token], Meta(description="Purposes of the crawler, such as EXAMPLE-PURPOSE-1.")
    ] = msgspec.field(default_factory=list)
    literal: Annotated[
        bool, Meta(description="Select groups without the registry of well-known crawlers.")
    ] = False
