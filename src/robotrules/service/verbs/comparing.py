"""
Verbs: diff, simplify, matrix. Each answers what its command prints with `--json`.

None of them is linear in its worst case: `max_states` limits each exact question, and all the
questions of one request share a limit that grows with it. What was not decided is said so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from robotrules.analysis import MAX_STATES, simplify
from robotrules.errors import ProductTokenError
from robotrules.json_results.diff import compare_files, diff_values, list_compared, list_crawlers
from robotrules.json_results.diff_sections import MAX_REGIONS, DiffReport
from robotrules.json_results.impact import Impact, ImpactCounter
from robotrules.json_results.simplify import simplification_values
from robotrules.linting.intent import find_misread_lines
from robotrules.matrix import MAX_GIVEN, Matrix, matrix
from robotrules.matrix import MAX_STATES as MATRIX_MAX_STATES
from robotrules.matrix.html import page
from robotrules.matrix.svg import picture
from robotrules.octets import to_octets, visible
from robotrules.profile import PROFILES
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS
from robotrules.robotstxt import parse
from robotrules.robotstxt.tokens import vet_name
from robotrules.service.problems import Problem
from robotrules.service.schemas import ProfileName, RequestBody, RobotsInput, Token
from robotrules.service.verbs import Verb
from robotrules.service.verbs.bodies import body_values, file_octets

# Crawlers and purposes of one request.
MOST_CRAWLERS, MOST_PURPOSES = 200, 5
MOST_URLS = 100_000
# The name that a file without a name has in a matrix, as for stdin.
NAMELESS = "stdin"

Url = Annotated[str, Meta(max_length=1_048_576)]
Crawlers = Annotated[
    Token | Annotated[list[Token], Meta(max_length=MOST_CRAWLERS)],
    Meta(description="Product tokens: only these crawlers; '*' is everyone else. None: all."),
]
States = Annotated[
    int,
    Meta(ge=1, le=MAX_STATES, description="The state limit of the search for each proof."),
]
# Of `CRAWLER_PURPOSES`, which grow with the registry.
MatrixPurpose = Annotated[str, Meta(max_length=100, examples=["ai-training"])]


def crawler_tokens(given: str | Sequence[str], profile: str, *, literal: bool) -> tuple[str, ...]:
    """Return product tokens; a well-known crawler may have a name outside the grammar."""
    tokens = (given,) if isinstance(given, str) else tuple(given)
    for number, token in enumerate(tokens):
        if literal or token not in KNOWN_CRAWLERS:
            try:
                vet_name(token, PROFILES[profile])
            except ProductTokenError as error:
                at = "$.as" if isinstance(given, str) else f"$.as[{number}]"
                raise Problem("invalid-request", visible(str(error)), at=at) from None
    return tokens


# --- diff -----------------------------------------------------------------------------------------


class DiffRequest(RequestBody, kw_only=True):
    """The body of diff: two files, each as text or as base64."""

    old: Annotated[str | None, Meta(description="The robots.txt before, as text.")] = None
    old_base64: Annotated[bytes | None, Meta(description="The same as base64.")] = None
    new: Annotated[str | None, Meta(description="The robots.txt after, as text.")] = None
    new_base64: Annotated[bytes | None, Meta(description="The same as base64.")] = None
    as_: Crawlers = msgspec.field(name="as", default_factory=list)
    purpose: Annotated[
        list[Token],
        Meta(max_length=MOST_PURPOSES, description="Only crawlers with these purposes."),
    ] = msgspec.field(default_factory=list)
    literal: Annotated[
        bool, Meta(description="Select groups without the registry of well-known crawlers.")
    ] = False
    profile: ProfileName = "default"
    urls: Annotated[
        Annotated[list[Url], Meta(max_length=MOST_URLS)] | None,
        Meta(description="URLs: count which of them change, by crawler and path segment."),
    ] = None
    max_regions: Annotated[
        int, Meta(ge=1, le=MAX_REGIONS, description="The most regions for each crawler.")
    ] = MAX_REGIONS
    max_states: States = MAX_STATES


class UrlList(NamedTuple):
    """URLs of a request, as a source of URLs without a name."""

    form: UrlListForm
    skipped: NoSkippedLines
    urls: int
    name: str = "-"
    error: str = ""


class UrlListForm(str):
    """The format of a list of URLs."""

    noun = "URL"


class NoSkippedLines(NamedTuple):
    """Nothing was skipped."""

    lines: int = 0
    examples: tuple[Any, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {"lines": 0, "examples": []}


def diff(request: DiffRequest) -> object:
    """
    Return what changes from one file to another, for which crawlers and URLs.

    The time grows with the rules of both files and with the crawlers that obey different groups,
    up to `max_states` for each question and a total for all; beyond that it is not decided.
    """
    octets = (
        file_octets(request.old, request.old_base64, "old"),
        file_octets(request.new, request.new_base64, "new"),
    )
    tokens = crawler_tokens(request.as_, request.profile, literal=request.literal)
    for number, purpose in enumerate(request.purpose):
        if not purpose.strip():
            words = "the purpose is empty: pass a purpose, or remove it"
            raise Problem("invalid-request", words, at=f"$.purpose[{number}]")
    old, new = (parse(body, request.profile) for body in octets)
    found, parts = compare_files(
        old,
        new,
        list_crawlers(tokens, request.purpose),
        literal=request.literal,
        max_regions=request.max_regions,
        max_states=request.max_states,
    )
    if request.urls is not None:
        parts = parts._replace(impact=_measure_impact(request.urls, parts))
    return diff_values(found, parts)


def _measure_impact(urls: Sequence[str], parts: DiffReport) -> Impact:
    counting = ImpactCounter(list_compared(parts))
    # Blank lines of a list are not URLs.
    counting.add([url for url in (to_octets(url).strip() for url in urls) if url])
    return counting.impact(UrlList(UrlListForm("list"), NoSkippedLines(), counting.urls))


# --- simplify -------------------------------------------------------------------------------------


class SimplifyRequest(RobotsInput, kw_only=True):
    """The body of simplify."""

    remove_groups: Annotated[
        bool, Meta(description="Also remove groups with the same rules as the group for '*'.")
    ] = False
    single_profile: Annotated[
        bool, Meta(description="Prove equivalence under `profile` only, not under all profiles.")
    ] = False
    max_states: States = MAX_STATES


def simplified(request: SimplifyRequest) -> object:
    """
    Return the lines that can be removed, and the smaller file, proved to mean the same.

    The time grows with rules times crawlers, and with `max_states` for each rule that is hard to
    decide. A file that cannot be simplified is returned as it is; `refused` says why.
    """
    robots = request.parsed()
    misread, keep = find_misread_lines(robots)
    found = simplify(
        robots,
        profiles=() if request.single_profile else tuple(PROFILES),
        groups=request.remove_groups,
        keep=keep,
        max_states=request.max_states,
    )
    body = request.octets if found.refused or not found.steps else found.body
    return simplification_values(found, misread) | body_values(body)


# --- matrix ---------------------------------------------------------------------------------------


class MatrixRequest(RobotsInput, kw_only=True):
    """The body of matrix."""

    as_: Crawlers = msgspec.field(name="as", default_factory=list)
    purpose: Annotated[
        list[MatrixPurpose],
        Meta(
            max_length=len(CRAWLER_PURPOSES),
            description="Show all well-known crawlers with these purposes.",
        ),
    ] = msgspec.field(default_factory=list)
    literal: Annotated[
        bool, Meta(description="Select groups without the registry of well-known crawlers.")
    ] = False
    all: Annotated[bool, Meta(description="Show all well-known crawlers.")] = False
    path: Annotated[
        list[Annotated[str, Meta(min_length=1, max_length=8_192)]],
        Meta(max_length=MAX_GIVEN, description="Paths; without them some are made from the rules."),
    ] = msgspec.field(default_factory=list)
    format: Annotated[
        Literal["json", "svg", "html"],
        Meta(description="With svg or html, `body` has a picture or a page, too."),
    ] = "json"
    title: Annotated[
        str, Meta(max_length=1_000, description="The name of the site in the picture or page.")
    ] = ""
    date: Annotated[
        str, Meta(max_length=100, description="A date to show in the picture or page.")
    ] = ""
    max_states: Annotated[
        int, Meta(ge=1, le=MATRIX_MAX_STATES, description="The state limit of each 'all URLs'.")
    ] = MATRIX_MAX_STATES


def who_may_fetch(request: MatrixRequest) -> object:
    """
    Return which crawlers may fetch which paths; with `format`, a picture or a page in `body`.

    The time grows with the groups of the file times its rules; ten questions about all URLs may
    reach `max_states`, and after them nothing more is decided.
    """
    if request.as_ and (request.purpose or request.all):
        words = "`as` cannot be combined with `purpose` or `all`: pass one of them"
        raise Problem("invalid-request", words, at="$.as")
    for number, purpose in enumerate(request.purpose):
        if purpose not in CRAWLER_PURPOSES:
            known = ", ".join(CRAWLER_PURPOSES)
            words = f"{visible(purpose)!r} is not a purpose of well-known crawlers: use {known}"
            raise Problem("invalid-request", words, at=f"$.purpose[{number}]")
    tokens = crawler_tokens(request.as_, request.profile, literal=request.literal)
    for number, path in enumerate(request.path):
        if not path.startswith("/") and "://" not in path:
            words = f"{visible(path)!r} is not a path: pass one that starts with '/'"
            raise Problem("invalid-request", words, at=f"$.path[{number}]")
    found = matrix(
        request.parsed(),
        crawlers=tokens,
        purposes=request.purpose,
        all_crawlers=request.all,
        paths=[to_octets(path).decode("utf-8", "backslashreplace") for path in request.path],
        url=visible(request.title) if request.title else NAMELESS,
        max_states=request.max_states,
        literal=request.literal,
    )
    values = found.as_dict()
    if request.format != "json":
        values["body"] = _draw(found, request)
    return values


def _draw(found: Matrix, request: MatrixRequest) -> str:
    named = found if request.title else found._replace(url=None)
    day = visible(request.date) if request.date else None
    return (page if request.format == "html" else picture)(named, date=day)


VERBS: tuple[Verb, ...] = (
    Verb(
        "/v1/diff",
        "Compare two robots.txt files by meaning",
        DiffRequest,
        diff,
        {
            "old": "User-agent: *\nDisallow: /private\n",
            "new": "User-agent: *\nDisallow: /private/\n",
            "urls": ["https://example.com/private.html"],
        },
        "diff",
        heavy=True,
        command="diff",
    ),
    Verb(
        "/v1/simplify",
        "Find lines of a robots.txt that can be removed",
        SimplifyRequest,
        simplified,
        {"robots": "User-agent: *\nDisallow: /a\nDisallow: /a/b\n"},
        "simplify",
        heavy=True,
        command="simplify",
    ),
    Verb(
        "/v1/matrix",
        "Show which crawlers may fetch which paths",
        MatrixRequest,
        who_may_fetch,
        {"robots": "User-agent: GPTBot\nDisallow: /\n", "as": ["GPTBot", "*"]},
        "matrix",
        heavy=True,
        command="matrix",
    ),
)
