"""
The arguments of the tools.

Their descriptions are what an agent reads before it calls a tool. Unknown arguments are errors,
because they are probably typing errors.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, get_args

import msgspec
from msgspec import Meta

from robotrules.service.mcp.site_text import quote
from robotrules.service.problems import Problem
from robotrules.service.schemas import ProfileName, RequestBody

__all__ = [
    "CompareArguments",
    "ExplainArguments",
    "GuidanceArguments",
    "LintArguments",
    "MayFetchArguments",
    "read_arguments",
]

# RFC 9309 §2.5: parsers read at least 500 KiB; a longer file is read to its limit.
MAX_FILE = 1_000_000
MAX_PAGE = 2_000_000
HEADERS = {"Content-Type": "text/html", "X-Robots-Tag": ["nosnippet", "ExampleBot: noindex"]}

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
        Meta(
            description="All header fields of the response that you have, by name. Without them, "
            "what they may forbid is unknown.",
            examples=[HEADERS],
        ),
    ] = None
    html: Annotated[
        Annotated[str, Meta(max_length=MAX_PAGE)] | None,
        Meta(
            description="The HTML that you have, or its head. With headers or html, the page is "
            "not fetched; without html, what it may forbid is unknown."
        ),
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


# --- Wrong arguments ------------------------------------------------------------------------------

# `Expected …, got … - at `$.headers[0]``
_AT = re.compile(r"(?P<what>.*) - at `\$\.(?P<name>\w+)(?P<rest>.*)`", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d+(?:[/?#]|$))")
_HEADERS_EXAMPLE = f"pass an object such as {msgspec.json.encode(HEADERS).decode()}"


def read_arguments(type_: type[Any], arguments: dict[str, Any], *, needs_url: bool) -> Any:
    """
    Return the arguments of a call; what is wrong is a problem that says how to correct it.

    *needs_url*: whether a path is not enough, because no robots.txt is passed.
    """
    try:
        given = msgspec.convert(arguments, type_)
    except msgspec.ValidationError as error:
        raise _problem(str(error), arguments) from None
    if needs_url:
        _require_scheme(given.url, has_robots="robots" in type_.__struct_fields__)
    return given


def _problem(error: str, arguments: dict[str, Any]) -> Problem:
    found = _AT.fullmatch(error)
    if found is None:
        return Problem("invalid-request", error)
    name, value = found["name"], arguments.get(found["name"])
    advice = ""
    if "enum value" in found["what"]:
        advice = f": pass one of {', '.join(get_args(ProfileName))}"
    elif " of length <= " in found["what"] and isinstance(value, (str, list)):
        advice = f"; it has {len(value):,}"
        if name == "html":
            advice += ": pass the head of the page"
    elif name == "headers":
        advice = f": {_HEADERS_EXAMPLE}"
    elif name == "purpose":
        advice = ': pass a list of texts, such as ["EXAMPLE-PURPOSE-1"]'
    return Problem("invalid-request", f"{found['what']}{advice}", at=name + found["rest"])


def _require_scheme(url: str, *, has_robots: bool) -> None:
    """Raise a problem if a URL that is looked up is a path, or has no scheme."""
    robots = ", or the robots.txt in robots" if has_robots else ", such as https://example.com/a"
    if url.startswith("/") and not url.startswith("//"):
        detail = f"a path alone names no site: pass an http or https URL{robots}"
        raise Problem("invalid-request", detail, at="url")
    if not _SCHEME.match(url):
        better = quote(f"https://{url.removeprefix('//')}", 100)
        detail = f"the URL has no scheme: pass an http or https URL, such as {better}"
        raise Problem("invalid-request", detail, at="url")
