"""
Answers about text that the agent passes: nothing is fetched here.

The functions are verbs, so they run where the verbs of the HTTP API run: long texts in a process of
their own, with a time limit. They are not paths of the HTTP API. Each returns the object that the
command prints with `--json`, bounded. The crawler is already chosen: `as` is filled in by the
caller.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from robotrules.analysis import Crawler, compare
from robotrules.analysis.crawlers import as_documented
from robotrules.guide import Guidance, guidance
from robotrules.json_results.binary_files import describe_binary
from robotrules.json_results.crawlers import CrawlerChoice
from robotrules.linting import LEVELS, LintNote, lint
from robotrules.linting.render import STDIN, LintedFile, count_notes
from robotrules.linting.render.json_form import as_json, statistics
from robotrules.robotstxt import RobotsTxt, parse
from robotrules.robotstxt.verdict import DISALLOWING, Reason, Verdict
from robotrules.service.mcp.arguments import (
    CompareArguments,
    ExplainArguments,
    GuidanceArguments,
    LintArguments,
)
from robotrules.service.mcp.page_guidance import GUIDANCE_SITE_TEXT, page_values
from robotrules.service.mcp.site_text import Verbatim, bound
from robotrules.service.problems import Problem
from robotrules.service.schemas import crawler_of, purposes_of
from robotrules.service.verbs import AGENT_PATH, INLINE, Verb
from robotrules.service.work import WorkPool

__all__ = [
    "COMPARE",
    "EXPLAIN",
    "GUIDANCE",
    "LINT",
    "PAGE_GUIDANCE",
    "PageArguments",
    "guidance_result",
    "run_given",
]

MAX_NOTES = 50
# A fix with more text than this is named, and its edits are left out.
MAX_FIX = 2_000
MAX_REGIONS = 20

EXPLAIN_SITE_TEXT = ("groups", "group_structures", "winner", "losers", "notes", "access")
LINT_SITE_TEXT = ("files[].notes",)
COMPARE_SITE_TEXT = ("changes", "statements")


def _parsed(text: str, profile: str = "default") -> RobotsTxt:
    return parse(text.encode("utf-8", "replace"), profile)


# --- Explain and guidance -------------------------------------------------------------------------


def explain_given(arguments: ExplainArguments) -> object:
    """Explain a verdict with a given robots.txt."""
    crawler = crawler_of(arguments.as_ or "", arguments.profile, literal=False)
    purposes = purposes_of(arguments.purpose, arguments.profile)
    robots = _parsed(arguments.robots or "", arguments.profile)
    found = robots.explain(arguments.url, crawler.names, purposes)
    return bound(found._replace(known=crawler.known).as_dict(), EXPLAIN_SITE_TEXT)


def guidance_given(arguments: GuidanceArguments) -> object:
    """Return the guidance of a given robots.txt and page."""
    crawler = crawler_of(arguments.as_ or "", "default", literal=False)
    found = guidance(
        arguments.url,
        crawler.names,
        robots=None if arguments.robots is None else _parsed(arguments.robots),
        headers=header_lines(arguments.headers),
        html=arguments.html or None,
        purposes=purposes_of(arguments.purpose, "default"),
    )
    return guidance_result(found, crawler)


class PageArguments(GuidanceArguments, kw_only=True):
    """A page that was passed, and the robots.txt that was looked up for it."""

    file: bytes
    complete: bool
    reason: str | None
    """The reason of the verdict if no rules apply."""
    access: dict[str, Any]
    """How the robots.txt was fetched."""


def guidance_of_page(arguments: PageArguments) -> object:
    """Return the guidance of a given page and a robots.txt that was looked up."""
    crawler = crawler_of(arguments.as_ or "", "default", literal=False)
    found = guidance(
        arguments.url,
        crawler.names,
        robots=parse(arguments.file, complete=arguments.complete),
        headers=header_lines(arguments.headers),
        html=arguments.html or None,
        purposes=purposes_of(arguments.purpose, "default"),
    )
    if arguments.reason is not None:
        reason = Reason(arguments.reason)
        verdict = Verdict(reason not in DISALLOWING, reason, None, "default")
        found = found._replace(verdict=verdict)
    return guidance_result(found, crawler, access=arguments.access)


def header_lines(headers: dict[str, str | list[str]] | None) -> list[tuple[str, str]] | None:
    """Return header fields as lines; None if there are none, because every response has some."""
    if not headers:
        return None
    return [
        (name, value)
        for name, values in headers.items()
        for value in ([values] if isinstance(values, str) else values)
    ]


def guidance_result(
    found: Guidance,
    crawler: CrawlerChoice,
    *,
    status: int | None = None,
    access: dict[str, Any] | None = None,
    not_fetched: str | None = None,
    is_redirected: bool = False,
) -> dict[str, Any]:
    """
    Return guidance as a result.

    *status* and *access* are those of a fetched page, *not_fetched* says why there is none, and
    *is_redirected* whether the site has chosen its URL.
    """
    values = page_values(found, access=access, not_fetched=not_fetched)
    values |= {"status": status, "access": access, "known": crawler.known_dict}
    return bound(values, (*("url",) * is_redirected, *GUIDANCE_SITE_TEXT))


# --- Lint and compare -----------------------------------------------------------------------------


def lint_given(arguments: LintArguments) -> object:
    """Lint a robots.txt: the most severe notes first, and the counts of all."""
    robots = _parsed(arguments.robots, arguments.profile)
    if words := describe_binary(robots.body):
        refused = LintedFile(STDIN.encode(), is_file=False, error=f"{STDIN} {words}")
        return bound(as_json([refused]), LINT_SITE_TEXT)
    notes = lint(robots)
    every = LintedFile(STDIN.encode(), False, tuple(notes))
    first = sorted(notes, key=lambda note: LEVELS.index(note.level))[:MAX_NOTES]
    counts = count_notes([every])
    found = as_json([every._replace(notes=tuple(first))])
    found |= {"counts": counts, "statistics": statistics([every])}
    for file in found["files"]:
        file["counts"] = counts
        file["notes"] = [_note_values(note, robots.body) for note in first]
    left_out = {"files.0.notes": len(notes) - len(first)} if len(notes) > len(first) else {}
    return bound(found, LINT_SITE_TEXT, left_out)


def _note_values(note: LintNote, body: bytes) -> dict[str, Any]:
    """Return a note; the text of its fix is exact, or left out if it is long or invisible."""
    values = note.as_dict()
    fix = values["fix"]
    if fix is not None:
        texts = [edit["text"] for edit in fix["edits"]]
        visible = all(text.replace("\n", "").isprintable() for text in texts)
        if not visible or sum(map(len, texts)) > MAX_FIX or len(texts) > MAX_NOTES:
            fix["edits"] = []
        fix["edits"] = [edit | {"text": Verbatim(edit["text"])} for edit in fix["edits"]]
    return values | {"line_text": line_text(body, note.line)}


def line_text(body: bytes, line: int | None) -> str | None:
    """Return a line of a file as it is written; None if it is not about a line."""
    if line is None:
        return None
    lines = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n", line)
    return lines[line - 1].decode("utf-8", "replace") if line <= len(lines) else None


def compare_given(arguments: CompareArguments) -> object:
    """Compare two robots.txt files by meaning."""
    old, new = (_parsed(text, arguments.profile) for text in (arguments.old, arguments.new))
    only: list[Crawler] = []
    if arguments.as_ is not None:
        name = crawler_of(arguments.as_, arguments.profile, literal=False).name
        only = [as_documented(Crawler(name), old, new)]
    found = compare(old, new, only=only, literal=False, max_regions=MAX_REGIONS)
    values = found.as_dict()
    # What does not change for a crawler is not news to an agent.
    values["changes"] = [change for change in values["changes"] if change["equal"] is not True]
    return bound(values, COMPARE_SITE_TEXT)


# --- Verbs ----------------------------------------------------------------------------------------


def _verb(
    name: str, request: type[Any], run: Callable[[Any], object], *, heavy: bool = False
) -> Verb:
    return Verb(f"{AGENT_PATH}{name}", "", request, run, {}, heavy=heavy)


EXPLAIN = _verb("explain", ExplainArguments, explain_given)
GUIDANCE = _verb("guidance", GuidanceArguments, guidance_given)
LINT = _verb("lint", LintArguments, lint_given, heavy=True)
COMPARE = _verb("compare", CompareArguments, compare_given, heavy=True)
PAGE_GUIDANCE = _verb("page-guidance", PageArguments, guidance_of_page)
# Pages that are long take time, and the interpreter from all other calls.
_LONG = {
    verb.path: verb._replace(path=f"{verb.path}-long", heavy=True)
    for verb in (GUIDANCE, PAGE_GUIDANCE)
}
VERBS = (EXPLAIN, GUIDANCE, PAGE_GUIDANCE, LINT, COMPARE, *_LONG.values())


async def run_given(work: WorkPool, verb: Verb, arguments: object) -> dict[str, Any]:
    """Return the answer of a verb."""
    try:
        body = msgspec.json.encode(arguments)
    except UnicodeEncodeError:
        raise Problem(
            "invalid-request", "a text has half of a surrogate pair: pass valid Unicode"
        ) from None
    if len(body) > INLINE:
        verb = _LONG.get(verb.path, verb)
    found: dict[str, Any] = msgspec.json.decode(await work.run(verb, body))
    return found
