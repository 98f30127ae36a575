"""
The arguments of the tools.

Their descriptions are what an agent reads before it calls a tool. Unknown arguments are errors,
because they are probably typing errors.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from robotrules.service.schemas import ProfileName, RequestBody

__all__ = [
    "CompareArguments",
    "ExplainArguments",
    "GuidanceArguments",
    "LintArguments",
    "MayFetchArguments",
]

# RFC 9309 §2.5: parsers read at least 500 KiB; a longer file is read to its limit.
MAX_FILE = 1_000_000
MAX_PAGE = 2_000_000

Url = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=8_000,
        description="The http or https URL.",
        examples=["https://example.com/a"],
    ),
]
As = Annotated[
    str | None,
    Meta(
        description="Your product token: the name of your crawler as robots.txt files write it, "
        "such as ExampleBot, not a whole User-Agent. Default: the name of this server.",
        examples=["ExampleBot"],
    ),
]
Purpose = Annotated[
    list[Annotated[str, Meta(min_length=1, max_length=200)]],
    Meta(max_length=20, description="Purposes of the fetch (User-Agent-Purpose); rarely needed."),
]
File = Annotated[str, Meta(max_length=MAX_FILE)]
ParsedBy = Annotated[
    ProfileName, Meta(description="How to read what RFC 9309 leaves open. Default: default.")
]


class MayFetchArguments(RequestBody, kw_only=True):
    """The arguments of may_fetch."""

    url: Url
    as_: As = msgspec.field(name="as", default=None)
    purpose: Purpose = msgspec.field(default_factory=list)


class ExplainArguments(MayFetchArguments, kw_only=True):
    """The arguments of explain."""

    robots: Annotated[
        File | None,
        Meta(description="A robots.txt as text. Then nothing is fetched, and url may be a path."),
    ] = None
    profile: ParsedBy = "default"


class GuidanceArguments(MayFetchArguments, kw_only=True):
    """The arguments of guidance."""

    headers: Annotated[
        dict[str, str | list[str]] | None,
        Meta(description="Header fields of the response that you have, by name."),
    ] = None
    html: Annotated[
        Annotated[str, Meta(max_length=MAX_PAGE)] | None,
        Meta(description="The HTML that you have. With headers or html, the page is not fetched."),
    ] = None
    robots: Annotated[
        File | None,
        Meta(description="The robots.txt as text. Then nothing at all is fetched."),
    ] = None


class LintArguments(RequestBody, kw_only=True):
    """The arguments of lint."""

    robots: Annotated[File, Meta(description="The robots.txt as text.")]
    profile: ParsedBy = "default"


class CompareArguments(RequestBody, kw_only=True):
    """The arguments of compare."""

    old: Annotated[File, Meta(description="The robots.txt before, as text.")]
    new: Annotated[File, Meta(description="The robots.txt after, as text.")]
    as_: Annotated[
        str | None,
        Meta(description="Compare for this product token only. Default: for all crawlers."),
    ] = msgspec.field(name="as", default=None)
    profile: ParsedBy = "default"
