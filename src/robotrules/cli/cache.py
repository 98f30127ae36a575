"""
`robotrules cache`: list and prune the store of robots.txt files.

`show` lists the entries, `prune` removes old ones, `path` prints the location of the store.
Evidence is removed only on request. Nothing is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robotrules.access import ACCESS_PROFILES, AccessProfile
from robotrules.cache import (
    EffectivePolicy,
    Entry,
    Freshness,
    FreshnessReason,
    format_timestamp,
    freshness,
)
from robotrules.cli import client
from robotrules.cli.access_text import format_time
from robotrules.cli.client import library_errors, open_store_option, store_option
from robotrules.cli.console import CliError, Output, quoted, report
from robotrules.cli.datetimes import parse_datetime, parse_duration
from robotrules.cli.options import fetching_profile_option, json_option
from robotrules.cli.text import cell_width, plural, truncate
from robotrules.http.origins import origin_of
from robotrules.json_results.access import describe_response
from robotrules.octets import visible

if TYPE_CHECKING:
    from robotrules.cache import Store

USAGE_OR_IO = 2
# On a terminal longer values move the following columns.
WIDEST = 50
LONGEST = 200
WORDS = {
    EffectivePolicy.RULES: ("rules", "start"),
    EffectivePolicy.ALLOW: ("no file", "allowed"),
    EffectivePolicy.DISALLOW: ("unreachable", "disallowed"),
    EffectivePolicy.NOTHING: ("expired", "faint"),
}


@click.group(invoke_without_command=True)
@click.pass_context
def cache(ctx: click.Context) -> int | None:
    """
    List and prune the stored robots.txt files.

    \b
    Examples:
      robotrules cache show
      robotrules cache show https://example.com --json
      robotrules cache prune --older-than 30d
      robotrules cache path
    """
    if ctx.invoked_subcommand is not None:
        return None
    click.echo(ctx.get_help(), err=True)
    return USAGE_OR_IO


# --- show -----------------------------------------------------------------------------------------


@cache.command()
@click.argument("origins", nargs=-1, metavar="[ORIGIN]...")
@store_option
@fetching_profile_option
@json_option("Print one JSON object per line, for each origin and user agent.")
def show(origins: tuple[str, ...], where: str | None, profile: str, as_json: bool) -> int:
    """
    List the stored entries, of all origins or of some.

    Each line is one origin as one crawler fetched it: the policy, until when it is valid, and when
    it was requested. An 'expired' entry is fetched again before it is used. In a pipe, columns are
    separated by tabs.
    """
    wanted = {_parse_origin(origin) for origin in origins}
    access, output, now = ACCESS_PROFILES[profile], Output(), client.now()
    count = 0
    with existing_store(where) as store, library_errors():
        found = (entry for entry in store.entries() if not wanted or entry.origin in wanted)
        lines = _Lines(output, access, now)
        for entry in found:
            count += 1
            if as_json:
                output.json(_as_dict(entry, freshness(entry, now, access)))
            else:
                lines.add(entry)
        lines.end()
    output.flush()
    if not count:
        report("the store has no entry" + (" of these origins" if wanted else ""))
    return 0


def _parse_origin(text: str) -> str:
    with library_errors():
        found = origin_of(text.strip())
    if found is None:
        raise CliError(f"{quoted(text)} is not an origin: pass one such as https://example.com")
    return found


def _as_dict(entry: Entry, fresh: Freshness) -> dict[str, Any]:
    return {
        **entry.as_dict(),
        "policy": str(fresh.policy),
        "reason": str(fresh.reason),
        "until": format_timestamp(fresh.until),
        "must_refresh": fresh.must_refresh,
    }


class _Lines:
    """Entries as lines, aligned in batches, so that memory is bounded."""

    BATCH = 500

    def __init__(self, output: Output, access: AccessProfile, now: float) -> None:
        self._output, self._access, self._now = output, access, now
        self._rows: list[tuple[str, ...]] = []
        self._styles: list[str] = []

    def add(self, entry: Entry) -> None:
        """Add an entry."""
        fresh = freshness(entry, self._now, self._access)
        word, style = WORDS[fresh.policy]
        if fresh.policy is EffectivePolicy.DISALLOW and fresh.reason is FreshnessReason.FRESH:
            word = "restricted"
        last = entry.last_failure or entry.last_success
        response = truncate(describe_response(last), LONGEST) if last else ""
        if self._output.terminal:
            until = "due" if fresh.must_refresh else f"until {format_time(fresh.until)}"
            times = (until, f"requested {format_time(entry.last_fetch_at)}")
        else:
            times = (
                "due" if fresh.must_refresh else format_timestamp(fresh.until),
                format_timestamp(entry.last_fetch_at),
            )
        self._rows.append((word, visible(entry.origin), visible(entry.agent), *times, response))
        self._styles.append(style)
        if len(self._rows) >= self.BATCH:
            self.end()

    def end(self) -> None:
        """Write the pending entries."""
        output = self._output
        if not output.terminal:
            output.lines(["\t".join(row) for row in self._rows])
        else:
            widths = [max(map(cell_width, column)) for column in zip(*self._rows, strict=True)]
            for row, style in zip(self._rows, self._styles, strict=True):
                padded = [
                    text + " " * (min(width, WIDEST) - cell_width(text))
                    for text, width in zip(row, widths, strict=True)
                ]
                padded[0] = output.paint(style, padded[0])
                output.lines(["  ".join(padded).rstrip()])
        self._rows, self._styles = [], []


# --- prune ----------------------------------------------------------------------------------------


@cache.command()
@click.option(
    "--older-than", metavar="DURATION", help="Remove entries last fetched longer ago, such as 30d."
)
@click.option(
    "--before", metavar="DATETIME", help="Remove entries last fetched before, such as 2026-05-01."
)
@click.option(
    "--evidence",
    is_flag=True,
    help="Also remove the evidence of that time: fetch records and their files. Past verdicts can "
    "then no longer be shown; export the evidence first.",
)
@store_option
@json_option("Print one JSON object: the numbers of removed entries and records.")
def prune(
    older_than: str | None, before: str | None, evidence: bool, where: str | None, as_json: bool
) -> int:
    """
    Remove old entries.

    A removed entry is fetched again when it is needed. Evidence, the record of every fetch and its
    file, is kept unless --evidence is given.

    \b
    Examples:
      robotrules cache prune --older-than 30d
      robotrules evidence --export 2025.warc.gz --before 2026-01-01
      robotrules cache prune --before 2026-01-01 --evidence
    """
    if (older_than is None) == (before is None):
        raise CliError(
            "pass either --older-than DURATION, such as 30d, or --before DATETIME, such as "
            "2026-05-01"
        )
    if older_than is not None:
        limit = client.now() - parse_duration(older_than, "--older-than")
    else:
        limit = parse_datetime(before or "", "--before")
    with existing_store(where) as store, library_errors():
        entries = store.prune(limit)
        records = store.prune_evidence(limit) if evidence else None
    if as_json:
        output = Output()
        output.json(
            {"before": format_timestamp(limit), "entries": entries, "fetch_records": records}
        )
        output.flush()
        return 0
    removed = "1 entry" if entries == 1 else f"{entries:,} entries"
    if records is None:
        report(f"{removed} removed; evidence is kept")
    else:
        report(f"{removed} and {plural(records, 'fetch record')} removed")
    return 0


# --- path -----------------------------------------------------------------------------------------


@cache.command()
@store_option
@json_option("Print one JSON object.")
def path(where: str | None, as_json: bool) -> int:
    """Print the location of the store: --store, ROBOTRULES_STORE, or the default file."""
    file = store_path(where)
    shown = str(file) if file else _without_password(where or "")
    output = Output()
    if as_json:
        there = file.exists() if file else None
        size = file.stat().st_size if file and there else None
        output.json({"store": shown, "exists": there, "size": size})
    else:
        output.lines([visible(shown)])
    output.flush()
    return 0


def _without_password(where: str) -> str:
    return re.sub(r"(?<=://)([^/@:]*):[^/@]*@", r"\1:…@", where)


# --- Existing stores ------------------------------------------------------------------------------


def store_path(where: str | None) -> Path | None:
    """Return the file of a store; None if it is a server or in memory."""
    if not where:
        with library_errors():
            from robotrules.client.stores import default_path

            return default_path()
    if where.startswith("sqlite:"):
        return Path(where.removeprefix("sqlite:")).expanduser().absolute()
    is_file = "://" not in where and not where.startswith("memory:")
    return Path(where).expanduser().absolute() if is_file else None


@contextmanager
def existing_store(where: str | None) -> Iterator[Store]:
    """Open an existing store and close it; a missing one is not created."""
    file = store_path(where)
    if file is not None and not file.exists():
        raise CliError(
            f"there is no store at {quoted(where or str(file))}: create one with robotrules "
            f"prefetch "
            "or robotrules evidence --import, or pass another --store"
        )
    store = open_store_option(where)
    try:
        yield store
    finally:
        store.close()
