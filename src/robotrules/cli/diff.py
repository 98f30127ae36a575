"""
`robotrules diff`: the changes from one robots.txt to another, by crawler and URL.

A wrapper around `robotrules.analysis.compare()`: two files or live robots.txt files are read and
compared by meaning. `diff_text` and `diff_markdown` format the result.

Sections: the command · the two files · the comparison · JSON.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import click

from robotrules import RobotsTxt, parse
from robotrules.analysis import MAX_STATES, Crawler, FileDifference
from robotrules.cache import FreshnessReason
from robotrules.cli.changed_urls import ChangedUrlsOutput, changed_urls_option
from robotrules.cli.client import ClientOptions, library_errors, with_client_options
from robotrules.cli.console import STDIN, CliError, Output, quoted, report
from robotrules.cli.impact import measure_impact
from robotrules.cli.input_files import read_robots
from robotrules.cli.options import (
    hint_misspelt,
    json_option,
    literal_option,
    parse_purposes,
    parse_tokens,
    profile_option,
    report_notes,
)
from robotrules.cli.progress import progress_bar
from robotrules.cli.url_files import refuse_file_arguments
from robotrules.http.origins import authority_end, origin_of
from robotrules.json_results.diff import (
    compare_files,
    diff_values,
    list_compared,
    list_crawlers,
)
from robotrules.json_results.diff_sections import MAX_REGIONS, DiffReport
from robotrules.json_results.impact import Impact
from robotrules.octets import visible
from robotrules.registries.crawlers import KNOWN_CRAWLERS

if TYPE_CHECKING:
    from robotrules.cli.origin_lookup import OriginLookup

# Regions that are shown for each kind of crawlers: more would not be one screen.
MOST = 5
NOT_DECIDED = 2


# --- The command ----------------------------------------------------------------------------------


@click.command()
@click.argument("given", nargs=-1, metavar="[OLD] [NEW]")
@click.option(
    "--git",
    "revisions",
    metavar="REV",
    help="Compare the file in a revision of its git repository, or before a date such as "
    "2026-08-01, with the file in the folder, or with a second revision: REV1..REV2. Pass the "
    "file as the only argument; defaults to robots.txt.",
)
@click.option(
    "--as",
    "product_tokens",
    metavar="TOKEN",
    multiple=True,
    help="Compare for this crawler only, by its product token, such as ExampleBot; '*' stands for "
    "everyone else. Repeat it for several.",
)
@click.option(
    "--purpose",
    "purposes",
    metavar="PURPOSE",
    multiple=True,
    help="Compare for crawlers with this purpose only (User-Agent-Purpose); with --as, the "
    "purpose of those crawlers. Repeat it for several.",
)
@literal_option
@profile_option
@click.option(
    "--urls",
    "files",
    metavar="FILE",
    multiple=True,
    help="Count which URLs of FILE change: a list, an access log, JSON lines, CSV or a sitemap, "
    "optionally gzipped; '-' is stdin. Repeat it for several.",
)
@changed_urls_option
@click.option(
    "--max-regions",
    type=click.IntRange(1),
    metavar="N",
    help=f"The maximum number of regions per crawler. Defaults to {MOST}, or to all with --json.",
)
@click.option(
    "--max-states",
    type=click.IntRange(1),
    metavar="N",
    default=MAX_STATES,
    show_default=True,
    help="The state limit of the search for each proof; beyond it the result is undecided.",
)
@json_option("Print one JSON object; docs/cli/diff.md describes it.")
@click.option("--markdown", is_flag=True, help="Print Markdown for a comment on a pull request.")
@with_client_options(refresh=False)
def diff(
    given: tuple[str, ...],
    revisions: str | None,
    product_tokens: tuple[str, ...],
    purposes: tuple[str, ...],
    literal: bool,
    profile: str,
    files: tuple[str, ...],
    changed_urls: str | None,
    max_regions: int | None,
    max_states: int,
    as_json: bool,
    markdown: bool,
    client_options: ClientOptions,
) -> int:
    """
    Show what changes from one robots.txt to another.

    OLD and NEW are files, '-' for stdin, or origins such as https://example.com, whose robots.txt
    is fetched. Compares the meaning of the files, not their text, for all possible URLs: for each
    crawler and purpose that either file names, and for everyone else. Shows the URLs whose
    verdict changes as path patterns, each with a shortest URL and the deciding lines; then changes
    of sitemaps, delays, preferences and app directives. The exit code is 0 if the files are proved
    to be equivalent, 1 if they differ, 2 for a usage or I/O error or if neither could be decided
    within --max-states.

    \b
    Examples:
      robotrules diff robots.txt new.txt
      robotrules diff --git main
      robotrules diff --git 2026-08-01
      robotrules diff --git v1.0..v2.0 public/robots.txt
      robotrules diff https://example.com robots.txt --as ExampleBot
      git show main:robots.txt | robotrules diff - robots.txt --markdown
      robotrules diff old.txt new.txt --urls access.log --urls access.log.1.gz
      robotrules diff old.txt new.txt --urls access.log.gz --changed-urls changed.csv
      robotrules diff old.txt new.txt --json
    """
    if as_json and markdown:
        raise click.UsageError("--json and --markdown cannot be combined")
    old, new = _two_at_most(given, files)
    if [old, new, *files].count(STDIN) > 1:
        raise CliError("stdin can be read only once: pass '-' once")
    listing = None
    if changed_urls is not None:
        others = [name for name in (old, new) if name is not None]
        listing = ChangedUrlsOutput(
            changed_urls, urls=files, others=others, as_json=as_json, markdown=markdown
        )
    asked = _asked(product_tokens, purposes, profile, literal)
    compared: list[str] = []
    if revisions is None:
        old, new = _require_two(old, new)
        before, after = _files((old, new), profile, client_options)
    else:
        client_options.hint_unused()
        versions = _git_files(revisions, old, new, files, profile)
        (old, before, _), (new, after, _) = versions
        compared = [f"Compared: {' → '.join(version.description for version in versions)}"]
    hint_misspelt(product_tokens, (before, after))
    with progress_bar("crawler") as progress:
        bound = max_regions or MAX_REGIONS if as_json else MAX_REGIONS
        found, parts = compare_files(
            before,
            after,
            asked,
            literal=literal,
            max_regions=bound,
            max_states=max_states,
            progress=progress,
        )
    if files:
        parts = parts._replace(impact=_impact(files, parts, listing))
    output = Output()
    if listing is not None and listing.is_stdout:
        pass  # the list of URLs replaces the report
    elif as_json:
        names = (None if name == STDIN else name for name in (old, new))
        output.json(diff_values(found, parts, *names))
    elif markdown:
        from robotrules.cli.diff_markdown import DiffComment

        output.lines(list(DiffComment(parts, max_regions or MOST, _shown_names(old, new)).lines()))
    else:
        from robotrules.cli.diff_text import DiffPage

        output.lines(compared)
        output.lines(list(DiffPage(parts, max_regions or MOST, output).lines()))
    output.flush()
    if parts.equal is None:
        _say_undecided(found, max_states)
        return NOT_DECIDED
    return int(not parts.equal)


def _shown_names(*names: str) -> tuple[str, ...]:
    return tuple("stdin" if name == STDIN else name for name in names)


def _say_undecided(found: FileDifference, max_states: int) -> None:
    if not found.complete:
        report(
            "not decided: the files name too many crawlers or purposes to compare; select some "
            "with --as"
        )
    elif all(change.difference.equal for change in found.changes):
        report("not decided: other records differ in text, and may or may not be equivalent")
    else:
        report(f"not decided within {max_states:,} states; try --max-states {max_states * 10}")


def _impact(files: Sequence[str], parts: DiffReport, listing: ChangedUrlsOutput | None) -> Impact:
    """Return the impact on the URLs of files, and list those that change."""
    compared = list_compared(parts)
    if len(compared) < len(parts.changed) + len(parts.undecided):
        _warn(
            f"URLs are counted for {len(compared)} sections only; select other crawlers with --as"
        )
    return measure_impact(files, compared) if listing is None else listing.measure(files, compared)


def _warn(words: str) -> None:
    report(words, label="warning", style="warning")


# --- The two files --------------------------------------------------------------------------------


def _two_at_most(given: Sequence[str], files: Sequence[str]) -> tuple[str | None, str | None]:
    """Return OLD and NEW, each None if it is missing; *files* are those of `--urls`."""
    if len(given) > 2:
        refuse_file_arguments(given[2:], files)
        raise click.UsageError(f"Got unexpected extra argument {quoted(given[2])}")
    old, new = (*given, None, None)[:2]
    return old, new


def _require_two(old: str | None, new: str | None) -> tuple[str, str]:
    """Return both files; without --git, neither may be missing."""
    if old is None or new is None:
        raise click.UsageError(f"Missing argument '{'OLD' if old is None else 'NEW'}'")
    return old, new


class _Version(NamedTuple):
    """A file of `--git`."""

    name: str
    """As git names it."""
    robots: RobotsTxt
    description: str
    """For people: the commit with its day."""


def _git_files(
    revisions: str, file: str | None, more: str | None, files: Sequence[str], profile: str
) -> list[_Version]:
    """Return both versions of `--git`; *files* are those of `--urls`."""
    file = file or "robots.txt"
    if more is not None:
        refuse_file_arguments([more], files)
        raise CliError("--git compares versions of one file: pass only one, or remove --git")
    if file == STDIN or "://" in file or file.lower().endswith(".toml"):
        raise CliError(f"--git needs a robots.txt in a repository, and {quoted(file)} is not one")
    old, dots, new = revisions.partition("..")
    if new.startswith("."):
        raise CliError(f"--git {quoted(revisions)}: two dots are needed, as in v1.0..v2.0")
    if not (old.strip() or new.strip()):
        raise CliError(
            f"--git {quoted(revisions)}: pass a branch, a tag, a commit, or a date such as "
            "2026-08-01"
        )
    found = [_read_revision(file, old or "HEAD", profile)]
    if dots:
        found.append(_read_revision(file, new or "HEAD", profile))
    else:
        description = f"{visible(os.fsencode(file))} in the folder"
        found.append(_Version(file, _read(file, profile), description))
    return found


def _read_revision(file: str, revision: str, profile: str) -> _Version:
    # Imported late: it is only needed with --git.
    from robotrules.operations.git_history import GitError, file_at, find_revision

    try:
        commit = find_revision(file, revision)
        octets = file_at(file, revision)
    except GitError as error:
        raise CliError(str(error)) from None
    robots = parse(octets, profile)
    # git has no such name for a date.
    name = f"{commit.short if commit.is_date else revision}:{file}"
    report_notes(robots.notes, name)
    day = datetime.fromtimestamp(commit.at, UTC).strftime("%Y-%m-%d")
    written = "" if commit.commit.startswith(revision) else f"{visible(revision)}, "
    description = f"{visible(os.fsencode(file))} of commit {commit.short} ({written}{day})"
    return _Version(name, robots, description)


def _files(names: Sequence[str], profile: str, client_options: ClientOptions) -> list[RobotsTxt]:
    """Return the files, parsed."""
    origins = {name: _origin(name) for name in names if "://" in name}
    live: dict[str, RobotsTxt] = {}
    if origins:
        # Imported late: not needed for files, and slow to import.
        from robotrules.cli.origin_lookup import OriginLookup

        with (
            client_options.client(profile) as client,
            OriginLookup(client, refresh=True, profile=profile) as lookup,
        ):
            live = {name: _live(origin, lookup) for name, origin in origins.items()}
    else:
        client_options.hint_unused()
    return [live[name] if name in live else _read(name, profile) for name in names]


def _read(name: str, profile: str) -> RobotsTxt:
    robots, _ = read_robots(name, profile)
    report_notes(robots.notes, name)
    return robots


def _live(origin: str, lookup: OriginLookup) -> RobotsTxt:
    """Fetch and return the robots.txt of an origin."""
    from robotrules.cache import EffectivePolicy
    from robotrules.cli.access_text import describe_state, failure_of, format_time
    from robotrules.json_results.access import describe_response

    origin_state = lookup.look_up_many([origin])[origin]
    if origin_state.policy is EffectivePolicy.DISALLOW:
        raise CliError(f"{origin}: {describe_state(origin_state)}")
    if origin_state.policy is EffectivePolicy.ALLOW:
        report(f"{origin}: {describe_state(origin_state)}", label="hint")
    elif (
        failure_of(origin_state) or origin_state.reason is FreshnessReason.STALE_COPY
    ) and origin_state.fetch_record:
        at = format_time(origin_state.fetch_record.at)
        last = failure_of(origin_state) or origin_state.entry.last_failure
        why = f" ({describe_response(last)})" if last else ""
        _warn(
            f"{origin}: the robots.txt cannot be fetched now{why}; the stored copy, fetched {at}, "
            "is compared"
        )
    report_notes(origin_state.robots.notes, origin)
    return origin_state.robots


def _origin(url: str) -> str:
    """Return the origin of a URL; a URL with another path is refused."""
    with library_errors():
        origin = origin_of(url)
    if origin is None:
        raise CliError(
            f"{quoted(url)} has no robots.txt: pass a file, or an origin such as https://example.com"
        )
    if url[authority_end(url) :] not in ("", "/", "/robots.txt"):
        raise CliError(
            f"{quoted(url)} is not an origin: pass {origin} to compare its robots.txt, or save the "
            "file and pass it"
        )
    return origin


# --- The comparison -------------------------------------------------------------------------------


def _asked(
    tokens: Sequence[str], purposes: Sequence[str], profile: str, literal: bool
) -> list[Crawler]:
    """Return the crawlers that options name; empty means all."""
    given = parse_purposes(purposes, profile)
    unknown = [token for token in tokens if literal or token not in KNOWN_CRAWLERS]
    if unknown:
        parse_tokens(unknown, profile)
    return list_crawlers(tokens, given)
