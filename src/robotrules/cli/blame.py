"""
`robotrules blame`: the commit that blocked or allowed a URL, and every flip before it.

A wrapper around `operations.blame.trace_verdicts()`: the versions come from a git repository, or
from the fetches of a store. `blame_text` formats the result.

Sections: the command · versions · JSON.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from robotrules.cli.client import library_errors, store_option
from robotrules.cli.console import CliError, Output, quoted, report
from robotrules.cli.options import (
    CrawlerHint,
    json_option,
    literal_option,
    parse_crawler,
    parse_purposes,
    parse_urls,
    profile_option,
    purpose_option,
)
from robotrules.cli.progress import progress_bar
from robotrules.cli.text import plural
from robotrules.http.origins import origin_of
from robotrules.json_results.crawlers import CrawlerChoice
from robotrules.octets import to_text, visible

if TYPE_CHECKING:
    from robotrules.operations.blame import VerdictChange, VerdictTrace
    from robotrules.operations.git_history import FileVersion
    from robotrules.operations.rule_history import RuleHistory

# Increased when a key of the JSON changes its meaning or is removed.
SCHEMA_VERSION = 1
DEFAULT_FILE, DEFAULT_REVISION = "robots.txt", "HEAD"
# The file in the folder, if it differs from the last commit.
UNCOMMITTED = "not committed"
# Each question is asked of each version.
MOST_QUESTIONS = 1_000


# --- The command ----------------------------------------------------------------------------------


@click.command()
@click.argument("urls", nargs=-1, metavar="URL...")
@click.option(
    "--as",
    "product_tokens",
    metavar="TOKEN",
    multiple=True,
    help="The crawler's product token, such as ExampleBot. Repeat it for several crawlers.",
)
@literal_option
@purpose_option
@click.option(
    "--file",
    "file",
    metavar="FILE",
    help="The robots.txt in a git repository, or the policy it is written from (.toml). Defaults "
    "to robots.txt in this folder.",
)
@click.option(
    "--rev",
    "revisions",
    metavar="REV",
    help="A branch, a tag, a commit, a date such as 2026-08-01, or a range such as v1.0..main. "
    "Defaults to HEAD, and the file "
    "in the folder if it differs.",
)
@click.option(
    "--fetched",
    is_flag=True,
    help="Use the fetches in the store instead of git: when a change was first seen.",
)
@store_option
@profile_option
@json_option("Print one JSON object per line, for each URL and crawler.")
def blame(
    urls: tuple[str, ...],
    product_tokens: tuple[str, ...],
    literal: bool,
    purposes: tuple[str, ...],
    file: str | None,
    revisions: str | None,
    fetched: bool,
    where: str | None,
    profile: str,
    as_json: bool,
) -> int:
    """
    Show which commit blocked or allowed a URL.

    Checks every version of a robots.txt in its git repository, so no flip of the verdict is missed,
    and shows the commit since which the URL is allowed or disallowed, its change of the file, and
    the flips before it. The versions are those of the main line: a change that was made in a branch
    counts from its merge on. A URL may be a path that starts with '/'. Nothing is fetched. The exit
    code is 0 if all URLs are allowed now, 1 if any is disallowed, 2 for a usage or I/O error.

    \b
    Examples:
      robotrules blame https://example.com/search --as Googlebot
      robotrules blame /search /blog/ --as Googlebot --as GPTBot --file public/robots.txt
      robotrules blame /search --as Googlebot --rev v1.0..main --json
      robotrules blame /search --as Googlebot --file policy.toml
      robotrules blame https://example.com/search --as Googlebot --fetched
    """
    if not urls:
        raise CliError("missing URL: pass a URL, or a path such as /search")
    if fetched and (file is not None or revisions is not None):
        raise CliError("--fetched reads the store: it cannot be combined with --file or --rev")
    crawlers = [
        parse_crawler([token], profile, literal=literal, hint_registry=False)
        for token in dict.fromkeys(product_tokens)
    ] or [parse_crawler((), profile, literal=literal)]
    given_purposes = parse_purposes(purposes, profile)
    octets = parse_urls(urls, profile, hints=False)
    _refuse_other_urls(urls)
    if len(octets) * len(crawlers) > MOST_QUESTIONS:
        raise CliError(
            f"more than {MOST_QUESTIONS:,} pairs of a URL and a crawler: pass fewer of them"
        )
    sources = (
        _fetched_sources(octets, where, profile)
        if fetched
        else [_git_source(octets, file or DEFAULT_FILE, revisions, profile)]
    )
    from robotrules.operations.blame import VerdictQuestion, trace_verdicts

    output = Output()
    disallowed = False
    is_first = True
    for source in sources:
        questions = [
            VerdictQuestion(url, crawler.names, crawler.name, given_purposes)
            for url in source.urls
            for crawler in crawlers
        ]
        with progress_bar("version") as progress:
            traces = trace_verdicts(source.history, questions, progress)
        _hint(source, crawlers, given_purposes)
        for trace, crawler in zip(traces, crawlers * len(source.urls), strict=True):
            if trace.verdict is None:
                raise CliError(f"the rules of no version of {source.name} are known")
            disallowed = disallowed or not trace.verdict.allowed
            if as_json:
                output.json(_trace_dict(trace, source, crawler))
            else:
                from robotrules.cli.blame_text import BlamePage

                output.lines([""] if not is_first else [])
                output.lines(list(BlamePage(trace, source, output).lines()))
            is_first = False
        output.flush()
        _say_limits(source, traces)
    return int(disallowed)


def _refuse_other_urls(urls: Sequence[str]) -> None:
    """Refuse what is neither a URL nor a path: without a slash, another path would be checked."""
    for url in urls:
        if not url.strip().startswith("/") and "://" not in url:
            raise CliError(
                f"{quoted(url)} has no scheme and does not start with '/': pass a URL such as "
                "https://example.com/search, or a path such as /search"
            )


def _hint(source: Source, crawlers: Sequence[CrawlerChoice], purposes: tuple[str, ...]) -> None:
    """Report how well-known crawlers read the last version."""
    robots = source.history.at(float("inf")).robots
    if robots is not None:
        for crawler in crawlers:
            CrawlerHint(crawler, purposes).read(robots)


def _say_limits(source: Source, traces: Sequence[VerdictTrace]) -> None:
    """Report how much was checked, and what was not."""
    count = len(source.history)
    words = {1: "the only version", 2: "both versions"}
    every = words.get(count, f"all {count:,} versions")
    report(f"checked {every} of {source.name}")
    if traces and traces[0].unknown:
        unknown = plural(traces[0].unknown, "version")
        report(f"{unknown} could not be read and count as unchanged", label="warning")
    starts_at_first = any(trace.blamed and not trace.blamed.number for trace in traces)
    if source.cut and starts_at_first:
        report(source.cut, label="warning", style="warning")


# --- Versions -------------------------------------------------------------------------------------


class Source(NamedTuple):
    """The versions of a robots.txt, and the URLs that it is for."""

    urls: list[bytes]
    name: str
    """The file or the origin, escaped."""
    history: RuleHistory
    versions: list[FileVersion] | None
    """The commits; None for fetches."""
    cut: str
    """Why there may be earlier versions; empty if there are none."""
    file: str = ""

    def octets(self, number: int) -> bytes | None:
        """Return the file of a version as it was written; None if there was none."""
        if number < 0:
            return None
        if self.versions is not None:
            return self.versions[number].octets
        rules = self.history.after(number + 1)
        return rules.robots.body if rules.robots is not None and rules.has_file else None


def _git_source(urls: list[bytes], file: str, revisions: str | None, profile: str) -> Source:
    from robotrules.operations.git_history import (
        MOST_VERSIONS,
        GitError,
        NoRepositoryError,
        file_versions,
        is_shallow,
    )
    from robotrules.operations.rule_history import rules_from_versions

    try:
        versions = file_versions(file, DEFAULT_REVISION if revisions is None else revisions)
        shallow = is_shallow(file)
    except NoRepositoryError as error:
        raise CliError(f"{error} with --file, such as --file shop/public/robots.txt") from None
    except GitError as error:
        raise CliError(str(error)) from None
    cut = ""
    if shallow:
        cut = "the clone is shallow, so an older commit may be the one: git fetch --unshallow"
    elif revisions and ".." in revisions:
        cut = "--rev leaves out older commits, and one of them may be the one"
    elif len(versions) == MOST_VERSIONS:
        cut = f"only the last {MOST_VERSIONS:,} versions were read, so an older one may be the one"
    if revisions is None:
        versions += _uncommitted(file, versions[-1])
    render = _render_policy if file.lower().endswith(".toml") else None
    history = rules_from_versions(versions, profile, render)
    return Source(urls, visible(os.fsencode(file)), history, versions, cut, file)


def _uncommitted(file: str, last: FileVersion) -> list[FileVersion]:
    """Return the file in the folder as a version, if it differs from the last commit."""
    from robotrules.operations.git_history import LARGEST_FILE

    try:
        with Path(file).open("rb") as stream:
            octets = stream.read(LARGEST_FILE)
            at = os.fstat(stream.fileno()).st_mtime
    except OSError:
        return []  # a bare repository, or another branch's file
    if octets == last.octets:
        return []
    return [last._replace(commit="", at=at, author="", subject=UNCOMMITTED, octets=octets)]


def _render_policy(octets: bytes) -> bytes | None:
    """Return the robots.txt of a policy; None if it is not valid."""
    from robotrules.write import WriteError, write
    from robotrules.write.policy import compose

    try:
        return write(compose(octets.decode())).encode("ascii")
    except (WriteError, UnicodeDecodeError):
        return None


def _fetched_sources(urls: list[bytes], where: str | None, profile: str) -> list[Source]:
    """Return the fetches of the origins of URLs."""
    from robotrules.cli.cache import existing_store
    from robotrules.client.evidence import Evidence
    from robotrules.operations.rule_history import rules_from_evidence

    by_origin: dict[str, list[bytes]] = {}
    for url in urls:
        with library_errors():
            origin = origin_of(url)
        if origin is None:
            raise CliError(
                f"{quoted(os.fsdecode(url))} has no host: with --fetched, pass a URL such as "
                "https://example.com/search"
            )
        by_origin.setdefault(origin, []).append(url)
    sources = []
    with existing_store(where) as store, library_errors():
        for origin, some in by_origin.items():
            history = rules_from_evidence(Evidence(store, profile), origin).loaded()
            if not len(history):
                raise CliError(
                    f"the store has no fetch of {origin}: fetch it with `robotrules prefetch "
                    f"{origin}`, or read a git repository without --fetched"
                )
            words = "the rules may be older than the first fetch"
            sources.append(Source(some, f"{origin}/robots.txt", history, None, words))
    return sources


# --- JSON -----------------------------------------------------------------------------------------


def _trace_dict(trace: VerdictTrace, source: Source, crawler: CrawlerChoice) -> dict[str, Any]:
    from robotrules.operations.blame import question_dict, verdict_dict

    assert trace.verdict is not None
    blamed = trace.blamed
    return {
        "schema": SCHEMA_VERSION,
        **question_dict(trace.question),
        "known": crawler.known_dict,
        **(verdict_dict(trace.verdict) or {}),
        "profile": trace.verdict.profile,
        "file": source.name,
        "versions": len(source.history),
        "unknown_versions": trace.unknown,
        "is_cut": bool(source.cut),
        "since": None if blamed is None else _change_dict(blamed, source),
        "changes": [_change_dict(change, source) for change in trace.changes],
    }


def _change_dict(change: VerdictChange, source: Source) -> dict[str, Any]:
    from robotrules.operations.blame import verdict_dict

    rules = source.history.after(change.number + 1)
    version = source.versions[change.number] if source.versions is not None else None
    return {
        "at": _timestamp(rules.since),
        "changed_after": _timestamp(rules.changed_after),
        "source": rules.source,
        "commit": None if version is None else _commit_dict(version),
        "is_first": not change.number,
        "flips": change.flips,
        "before": verdict_dict(change.before),
        "after": verdict_dict(change.after),
    }


def _timestamp(at: float | None) -> str | None:
    from robotrules.cache import format_timestamp

    return None if at is None else format_timestamp(at)


def _commit_dict(version: FileVersion) -> dict[str, Any]:
    return {
        "id": version.commit or None,
        "author": _text(version.author),
        "subject": _text(version.subject),
        "path": _text(version.path),
        "is_merge": len(version.parents) > 1,
    }


def _text(text: str) -> str:
    """Return text of git for JSON: an octet that is not UTF-8 becomes `\\xNN`."""
    return to_text(text.encode("utf-8", "surrogateescape"))
