"""
`robotrules cache`: what the store holds, where it is, and how it forgets.

`show` lists what is known of origins now, `prune` forgets what is old, `path` tells where the store
is. Evidence is forgotten only where that is asked for. It fetches nothing.
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
from robotrules.cli.access_text import answer_words, moment_words
from robotrules.cli.client import open_given_store, store_option, told
from robotrules.cli.datetimes import given_moment, given_span
from robotrules.cli.options import fetching_profile_option, json_option
from robotrules.cli.streams import CliError, Output, quoted, say
from robotrules.cli.text import cells, plural, shortened
from robotrules.http.origins import origin_of
from robotrules.octets import visible

if TYPE_CHECKING:
    from robotrules.cache import Store

USAGE_OR_IO = 2
# On a terminal what is longer than this moves the columns after it.
WIDEST = 50
LONGEST = 200
WORDS = {
    EffectivePolicy.RULES: ("rules", "start"),
    EffectivePolicy.ALLOW: ("no file", "allowed"),
    EffectivePolicy.DISALLOW: ("unreachable", "disallowed"),
    EffectivePolicy.NOTHING: ("old", "faint"),
}


@click.group(invoke_without_command=True)
@click.pass_context
def cache(ctx: click.Context) -> int | None:
    """
    Show what is stored of robots.txt files, and forget what is old.

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
@json_option("Print one JSON object a line, for each origin and crawler.")
def show(origins: tuple[str, ...], where: str | None, profile: str, as_json: bool) -> int:
    """
    Show what is stored, of all origins or of some.

    Each line is one origin as one crawler found it: what decides now, until when, and when it was
    asked for. 'old' is what would be asked for again before an answer is given. In a pipe, tabs are
    between the columns.
    """
    wanted = {_given_origin(origin) for origin in origins}
    access, output, now = ACCESS_PROFILES[profile], Output(), client.now()
    count = 0
    with existing_store(where) as store, told():
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
        say("nothing is stored" + (" of that" if wanted else ""))
    return 0


def _given_origin(text: str) -> str:
    with told():
        found = origin_of(text.strip())
    if found is None:
        raise CliError(f"{quoted(text)} is no origin: pass one such as https://example.com")
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
    """Entries as lines: a few at a time are aligned, so that millions take no memory."""

    TOGETHER = 500

    def __init__(self, output: Output, access: AccessProfile, now: float) -> None:
        self._output, self._access, self._now = output, access, now
        self._rows: list[tuple[str, ...]] = []
        self._styles: list[str] = []

    def add(self, entry: Entry) -> None:
        """Take an entry."""
        fresh = freshness(entry, self._now, self._access)
        word, style = WORDS[fresh.policy]
        if fresh.policy is EffectivePolicy.DISALLOW and fresh.reason is FreshnessReason.FRESH:
            word = "restricted"
        last = entry.last_failure or entry.last_success
        came = shortened(answer_words(last), LONGEST) if last else ""
        if self._output.terminal:
            until = "due" if fresh.must_refresh else f"until {moment_words(fresh.until)}"
            times = (until, f"asked {moment_words(entry.last_fetch_at)}")
        else:
            times = (
                "due" if fresh.must_refresh else format_timestamp(fresh.until),
                format_timestamp(entry.last_fetch_at),
            )
        self._rows.append((word, visible(entry.origin), visible(entry.agent), *times, came))
        self._styles.append(style)
        if len(self._rows) >= self.TOGETHER:
            self.end()

    def end(self) -> None:
        """Write what was taken."""
        output = self._output
        if not output.terminal:
            output.lines(["\t".join(row) for row in self._rows])
        else:
            widths = [max(map(cells, column)) for column in zip(*self._rows, strict=True)]
            for row, style in zip(self._rows, self._styles, strict=True):
                padded = [
                    text + " " * (min(width, WIDEST) - cells(text))
                    for text, width in zip(row, widths, strict=True)
                ]
                padded[0] = output.paint(style, padded[0])
                output.lines(["  ".join(padded).rstrip()])
        self._rows, self._styles = [], []


# --- prune ----------------------------------------------------------------------------------------


@cache.command()
@click.option(
    "--older-than", metavar="SPAN", help="Forget what was last asked for longer ago, such as 30d."
)
@click.option(
    "--before", metavar="MOMENT", help="Forget what was last asked for before, such as 2026-05-01."
)
@click.option(
    "--evidence",
    is_flag=True,
    help="Forget the visits of that time too, and the files that only they need. What the rules "
    "said then can no longer be shown: export it first.",
)
@store_option
@json_option("Print one JSON object: how much was forgotten.")
def prune(
    older_than: str | None, before: str | None, evidence: bool, where: str | None, as_json: bool
) -> int:
    """
    Forget what is old.

    Entries are what a client uses now; what is forgotten is fetched again when it is needed.
    Evidence, which is every visit with its file, stays unless --evidence says otherwise.

    \b
    Examples:
      robotrules cache prune --older-than 30d
      robotrules evidence --export 2025.warc.gz --before 2026-01-01
      robotrules cache prune --before 2026-01-01 --evidence
    """
    if (older_than is None) == (before is None):
        raise CliError(
            "how old is old? Pass one of --older-than SPAN, such as 30d, and --before MOMENT, such "
            "as 2026-05-01"
        )
    if older_than is not None:
        limit = client.now() - given_span(older_than, "--older-than")
    else:
        limit = given_moment(before or "", "--before")
    with existing_store(where) as store, told():
        entries = store.prune(limit)
        visits = store.prune_evidence(limit) if evidence else None
    if as_json:
        output = Output()
        output.json(
            {"before": format_timestamp(limit), "entries": entries, "fetch_records": visits}
        )
        output.flush()
        return 0
    forgotten = "1 entry" if entries == 1 else f"{entries:,} entries"
    if visits is None:
        say(f"{forgotten} forgotten; evidence stays")
    else:
        say(f"{forgotten} and {plural(visits, 'visit')} of the evidence forgotten")
    return 0


# --- path -----------------------------------------------------------------------------------------


@cache.command()
@store_option
@json_option("Print one JSON object.")
def path(where: str | None, as_json: bool) -> int:
    """Tell where the store is: --store, else ROBOTRULES_STORE, else a file in your cache folder."""
    file = store_path(where)
    shown = str(file) if file else _without_password(where or "")
    output = Output()
    if as_json:
        there = file.exists() if file else None
        size = file.stat().st_size if file and there else None
        output.json({"store": shown, "exists": there, "octets": size})
    else:
        output.lines([visible(shown)])
    output.flush()
    return 0


def _without_password(where: str) -> str:
    return re.sub(r"(?<=://)([^/@:]*):[^/@]*@", r"\1:…@", where)


# --- Stores that are there ------------------------------------------------------------------------


def store_path(where: str | None) -> Path | None:
    """Return the file of a store; None: it is none, but a server's or memory."""
    if not where:
        with told():
            from robotrules.client.stores import default_path

            return default_path()
    if where.startswith("sqlite:"):
        return Path(where.removeprefix("sqlite:")).expanduser().absolute()
    is_file = "://" not in where and not where.startswith("memory:")
    return Path(where).expanduser().absolute() if is_file else None


@contextmanager
def existing_store(where: str | None) -> Iterator[Store]:
    """Open a store to look at it, and close it; one that is not there is not made."""
    file = store_path(where)
    if file is not None and not file.exists():
        raise CliError(
            f"there is no store at {quoted(where or str(file))}: robotrules fetch makes one, "
            "robotrules evidence --import fills one, and --store names another"
        )
    store = open_given_store(where)
    try:
        yield store
    finally:
        store.close()
