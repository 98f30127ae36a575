"""
`robotrules diff`: what changes from one robots.txt to another, for whom, and on which URLs.

A few lines over `robotrules.analysis.compare()`: two files, or what is served now, are read and
compared by what they mean. How the answer looks is the business of `diff_text` and `diff_markdown`.
It does not compare anything itself.

Sections: the command · the two files · the comparison · JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from robotrules import RobotsTxt, is_product_token
from robotrules.analysis import (
    MAX_STATES,
    Crawler,
    FileDifference,
    compare,
    exceptions,
)
from robotrules.analysis.crawlers import as_documented
from robotrules.cache import FreshnessReason
from robotrules.cli.client import Opening, client_options, told
from robotrules.cli.diff_parts import (
    EVERYONE_ELSE,
    EXCEPTION_BUDGET,
    MAX_REGIONS,
    MOST_EXCEPTIONS,
    Parts,
    parts_of,
)
from robotrules.cli.diff_words import names_of
from robotrules.cli.impact import Reach, reach_of
from robotrules.cli.options import (
    given_purposes,
    given_tokens,
    json_option,
    literal_option,
    profile_option,
    say_notes,
)
from robotrules.cli.progress import counting
from robotrules.cli.streams import STDIN, CliError, Output, quoted, read_robots, say
from robotrules.http.origins import authority_end, origin_of
from robotrules.profile import PROFILES
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt.internals import reparse

if TYPE_CHECKING:
    from robotrules.cli.origin_lookup import Looker

# Regions that are shown for each kind of crawlers: more would not be one screen.
MOST = 5
# Regions of which JSON says where in them nothing changes.
MOST_ASKED = 50
# Crawlers that are named together in JSON.
MOST_NAMES = 8
NOT_DECIDED = 2


# --- The command ----------------------------------------------------------------------------------


@click.command()
@click.argument("old")
@click.argument("new")
@click.option(
    "--as",
    "product_tokens",
    metavar="TOKEN",
    multiple=True,
    help="Compare for this crawler only, by its product token, such as ExampleBot; '*' is everyone "
    "else. Repeat it for several crawlers.",
)
@click.option(
    "--purpose",
    "purposes",
    metavar="PURPOSE",
    multiple=True,
    help="Compare for crawlers with this purpose only (User-Agent-Purpose); with --as, for those "
    "crawlers, which have it. Repeat it for several purposes of one crawler.",
)
@literal_option
@profile_option
@click.option(
    "--urls",
    "file",
    metavar="FILE",
    help="Count what changes on the URLs of FILE: a list, an access log, JSON lines, CSV or a "
    "sitemap, gzipped or not; '-' is stdin.",
)
@click.option(
    "--most",
    type=click.IntRange(1),
    metavar="N",
    help=f"How many regions are shown for each crawler; by default {MOST}, and all of them with "
    "--json.",
)
@click.option(
    "--budget",
    type=click.IntRange(1),
    metavar="N",
    default=MAX_STATES,
    show_default=True,
    help="How many states each question may see before it is not decided.",
)
@json_option("Print one JSON object; docs/diff.schema.json describes it.")
@click.option("--markdown", is_flag=True, help="Print Markdown for a comment on a pull request.")
@client_options(fresh=False)
def diff(
    old: str,
    new: str,
    product_tokens: tuple[str, ...],
    purposes: tuple[str, ...],
    literal: bool,
    profile: str,
    file: str | None,
    most: int | None,
    budget: int,
    as_json: bool,
    markdown: bool,
    opening: Opening,
) -> int:
    """
    Show what changes from one robots.txt to another.

    OLD and NEW are files, '-' for stdin, or origins such as https://example.com, whose robots.txt
    is fetched now. Compares what they mean and not their texts, for every URL there is: for each
    crawler and each purpose that either of them names, and for everyone else. Shows the URLs whose
    verdict changes, as path patterns, each with a shortest URL and the lines that decide; then what
    changes in sitemaps, delays, preferences and app directives. The exit code is 0 if it is proved
    that they mean the same, 1 if they differ, 2 for usage or I/O; and 2 where neither could be
    decided within the budget, which stderr says.

    \b
    Examples:
      robotrules diff robots.txt new.txt
      robotrules diff https://example.com robots.txt --as ExampleBot
      git show main:robots.txt | robotrules diff - robots.txt --markdown
      robotrules diff old.txt new.txt --urls access.log.gz
      robotrules diff old.txt new.txt --json
    """
    if as_json and markdown:
        raise click.UsageError("--json and --markdown are two forms: leave out one")
    if [old, new, file].count(STDIN) > 1:
        raise CliError("stdin can only be one of the files: pass '-' once")
    asked = _asked(product_tokens, purposes, profile, literal)
    before, after = _files((old, new), profile, opening)
    if not literal:
        asked = [as_documented(crawler, before, after) for crawler in asked]
    with counting("crawler") as progress:
        bound = most or MAX_REGIONS if as_json else MAX_REGIONS
        found = compare(
            before,
            after,
            only=asked,
            literal=literal,
            most=bound,
            budget=budget,
            progress=progress,
        )
    parts = parts_of(found, budget, asked=bool(asked))
    parts = parts._replace(identical=before.body == after.body)
    if parts.proved and not parts.identical:
        parts = parts._replace(elsewhere=_elsewhere(before, after, asked, budget, literal))
    if file is not None:
        parts = parts._replace(reach=_reach(file, parts))
    output = Output()
    if as_json:
        output.json(_as_json(found, parts, (old, new)))
    elif markdown:
        from robotrules.cli.diff_markdown import DiffComment

        output.lines(list(DiffComment(parts, most or MOST, _shown_names(old, new)).lines()))
    else:
        from robotrules.cli.diff_text import DiffPage

        output.lines(list(DiffPage(parts, most or MOST, output).lines()))
    output.flush()
    if parts.equal is None:
        _say_undecided(found, budget)
        return NOT_DECIDED
    return int(not parts.equal)


def _shown_names(*names: str) -> tuple[str, ...]:
    return tuple("stdin" if name == STDIN else name for name in names)


def _say_undecided(found: FileDifference, budget: int) -> None:
    if not found.complete:
        say("not decided: more crawlers or purposes are named than can be compared; --as names one")
    elif all(change.difference.equal for change in found.changes):
        say("not decided: other records are written otherwise, and may come to the same or not")
    else:
        say(f"not decided within {budget:,} states a question; --budget {budget * 10} asks on")


def _reach(file: str, parts: Parts) -> Reach:
    """Return what changes on the URLs of a file."""
    compared = [
        (names_of(part.crawlers, str, MOST_NAMES, parts.alone), *part.rules)
        for part in parts.reachable
    ]
    if len(compared) < len(parts.changed) + len(parts.undecided):
        _warn(f"URLs are counted for {len(compared)} kinds of crawlers only; --as names others")
    return reach_of(file, compared)


def _warn(words: str) -> None:
    say(words, label="warning", style="warning")


# --- The two files --------------------------------------------------------------------------------


def _files(names: Sequence[str], profile: str, opening: Opening) -> list[RobotsTxt]:
    """Return the files, parsed."""
    origins = {name: _origin(name) for name in names if "://" in name}
    live: dict[str, RobotsTxt] = {}
    if origins:
        # Who has files at hand does not wait for what fetches.
        from robotrules.cli.origin_lookup import Looker

        with (
            opening.client(profile) as client,
            Looker(client, fresh=True, profile=profile) as looker,
        ):
            live = {name: _live(origin, looker) for name, origin in origins.items()}
    else:
        opening.hint_unused()
    return [live[name] if name in live else _read(name, profile) for name in names]


def _read(name: str, profile: str) -> RobotsTxt:
    robots, _ = read_robots(name, profile)
    say_notes(robots.notes, name)
    return robots


def _live(origin: str, looker: Looker) -> RobotsTxt:
    """Return the robots.txt of an origin, asked for now."""
    from robotrules.cache import EffectivePolicy
    from robotrules.cli.access_text import failure_of, moment_words, state_words

    held = looker.helds([origin])[origin]
    if held.policy is EffectivePolicy.DISALLOW:
        raise CliError(f"nobody knows what {origin} says: {state_words(held)}")
    if held.policy is EffectivePolicy.ALLOW:
        say(f"{origin}: {state_words(held)}", label="hint")
    elif (failure_of(held) or held.reason is FreshnessReason.STALE_COPY) and held.fetch_record:
        at = moment_words(held.fetch_record.at)
        _warn(f"{origin}: {state_words(held)}; what was fetched {at} is compared")
    say_notes(held.robots.notes, origin)
    return held.robots


def _origin(url: str) -> str:
    """Return the origin that a URL names; one that names something else ends the command."""
    with told():
        origin = origin_of(url)
    if origin is None:
        raise CliError(
            f"{quoted(url)} has no robots.txt: pass a file, or an origin such as https://example.com"
        )
    if url[authority_end(url) :] not in ("", "/", "/robots.txt"):
        raise CliError(
            f"{quoted(url)} is no origin, and only the robots.txt of one is fetched: pass "
            f"{origin}, or save the file and pass that"
        )
    return origin


# --- The comparison -------------------------------------------------------------------------------


def _asked(
    tokens: Sequence[str], purposes: Sequence[str], profile: str, literal: bool
) -> list[Crawler]:
    """Return the crawlers that options name; empty: everybody."""
    given = given_purposes(purposes, profile)
    if not tokens:
        return [EVERYONE_ELSE._replace(purposes=given)] if given else []
    unknown = [token for token in tokens if literal or token not in KNOWN_CRAWLERS]
    if unknown:
        given_tokens(unknown, profile)
    return [Crawler(token, given) for token in dict.fromkeys(tokens)]


def _elsewhere(
    old: RobotsTxt, new: RobotsTxt, asked: Sequence[Crawler], budget: int, literal: bool
) -> tuple[tuple[str, bool | None], ...]:
    """Return whether files that mean the same do so as other profiles read them."""
    found = []
    for profile in PROFILES.values():
        if profile != old.profile:
            read = [reparse(robots, profile) for robots in (old, new)]
            whom = [
                crawler if literal else as_documented(crawler, *read)
                for crawler in asked
                if profile.any_product_token
                or is_product_token(crawler.product_token)
                or crawler.known
            ]
            same: bool | None = True
            if whom or not asked:
                same = compare(*read, only=whom, literal=literal, budget=budget).equal
            found.append((profile.name, same))
    return tuple(found)


# --- JSON -----------------------------------------------------------------------------------------


def _as_json(found: FileDifference, parts: Parts, names: tuple[str, str]) -> dict[str, Any]:
    """Return the comparison as plain values, with where in regions nothing changes."""
    values = {**found.as_dict(), "equal": parts.equal}
    regions = [
        (change, region, written)
        for change, of_change in zip(found.changes, values["changes"], strict=True)
        for region, written in zip(change.difference.regions, of_change["regions"], strict=True)
    ]
    for number, (change, region, written) in enumerate(regions):
        written["unchanged"] = None
        if number < MOST_ASKED:
            but = exceptions(
                change.old_rules,
                change.new_rules,
                region,
                most=MOST_EXCEPTIONS,
                budget=EXCEPTION_BUDGET,
            )
            written["unchanged"] = [one.as_dict() for one in but]
    old, new = (None if name == STDIN else name for name in names)
    schema = values.pop("schema")
    reach = parts.reach.as_dict() if parts.reach else None
    elsewhere = dict(parts.elsewhere) if parts.elsewhere else None
    others = {"other_profiles": elsewhere, "reach": reach}
    return {"schema": schema, "old": old, "new": new, **values, **others}
