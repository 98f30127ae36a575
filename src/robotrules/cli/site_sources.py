"""
The sites of `report` and `matrix`: robots.txt files, URLs and bare hosts, in the order given.

Files are read; URLs are fetched concurrently through one client. A file that cannot be read ends
the command, because it was a mistake; a host that cannot be reached becomes a source that says why.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from robotrules import parse
from robotrules.cache import EffectivePolicy
from robotrules.cli.access_text import describe_stale_copy, describe_state, format_time
from robotrules.cli.client import ClientOptions, library_errors
from robotrules.cli.console import STDIN, CliError, quoted, report
from robotrules.cli.input_files import (
    is_host_name,
    open_octets,
    read_robots,
    refuse_binary,
    url_chunks,
)
from robotrules.cli.options import parsing_profile, report_notes
from robotrules.cli.progress import progress_bar
from robotrules.cli.text import plural
from robotrules.http.origins import origin_of, parse_origin
from robotrules.json_results.access import describe_response
from robotrules.octets import visible
from robotrules.operations.site_report.facts import SiteSource
from robotrules.robotstxt.values import Note

if TYPE_CHECKING:
    from robotrules.client.origin_state import OriginState
    from robotrules.client.sync import Client

__all__ = ["MOST_SITES", "GivenSite", "find_sites", "read_origins", "site_origin", "take_sites"]

# More do not fit in one table or page.
MOST_SITES = 2_000
# Files whose warnings are reported.
MOST_NOTED = 5
Value = TypeVar("Value")


class GivenSite(NamedTuple):
    """A file or an origin, as given on the command line."""

    given: str
    origin: str | None
    """None: it is a file."""


def find_sites(given: Sequence[str]) -> list[GivenSite]:
    """Return files and origins, each origin once; what is neither ends the command."""
    found: dict[str, GivenSite] = {}
    for name in given:
        is_host = is_host_name(name) and not os.path.exists(name)
        if "://" not in name and not is_host:
            found.setdefault(f"file {name}", GivenSite(name, None))
            continue
        with library_errors():
            origin = parse_origin(name.strip())
        if origin is None:
            raise CliError(
                f"{quoted(name)} has no robots.txt: pass an http or https URL with a host"
            )
        found.setdefault(origin, GivenSite(name, origin))
    if [site.given for site in found.values()].count(STDIN) > 1:
        raise CliError("stdin can be read once: pass '-' once")
    if len(found) > MOST_SITES:
        raise CliError(f"{plural(len(found), 'site')} are too many: pass at most {MOST_SITES:,}")
    return list(found.values())


def read_origins(file: str) -> list[str]:
    """Return the origins of `--origins`, one per line; a bare host means https."""
    stream = open_octets(file, "origins")
    found: dict[str, None] = {}
    try:
        for chunk in url_chunks(stream, file):
            for octets in chunk.urls:
                text = octets.decode("utf-8", "replace")
                if text.startswith("#"):
                    continue
                origin = parse_origin(text)
                if origin is None:
                    where = "stdin" if file == STDIN else quoted(file)
                    raise CliError(
                        f"'{visible(text[:100])}' in {where} is not an origin: put one per line, "
                        f"such as https://example.com"
                    )
                found[origin] = None
                if len(found) > MOST_SITES:
                    raise CliError(f"{quoted(file)} has more than {MOST_SITES:,} origins")
    finally:
        if file != STDIN:
            stream.close()
    return list(found)


def take_sites(
    sites: Sequence[GivenSite],
    profile: str,
    client_options: ClientOptions,
    take: Callable[[SiteSource, Client | None, OriginState | None], Value],
    *,
    notes: bool = True,
) -> list[Value]:
    """
    Read and fetch sites, and return what *take* makes of each, in order.

    *take* is called as files arrive, so that not all of them are in memory at once. *notes*: report
    warnings about the first files.
    """
    values: dict[int, Value] = {}
    origins = {site.origin: at for at, site in enumerate(sites) if site.origin is not None}
    reading = parsing_profile(profile, fetches=bool(origins))
    counts = Counter(os.path.basename(site.given) for site in sites if site.origin is None)
    with_notes = 0
    for at, site in enumerate(sites):
        if site.origin is None:
            # Files of the same name are told apart by their paths.
            base = os.path.basename(site.given)
            shown = site.given if counts[base] > 1 else base
            source, noted = _read_file(site.given, shown, reading)
            if notes and noted and with_notes < MOST_NOTED:
                report_notes(noted, site.given)
            with_notes += bool(noted)
            values[at] = take(source, None, None)
    if notes and with_notes > MOST_NOTED:
        more = plural(with_notes - MOST_NOTED, "more file")
        report(f"there are warnings about {more}; robotrules lint shows them", label="hint")
    if not origins:
        client_options.hint_unused()
    else:
        _fetch(origins, profile, client_options, take, values)
    return [values[at] for at in sorted(values)]


def _read_file(name: str, shown: str, profile: str) -> tuple[SiteSource, list[Note]]:
    """Return a file, and what is wrong with it as a whole."""
    robots, octets = read_robots(name, profile)
    refuse_binary(octets, name)
    noted = [note for note in robots.notes if note.line is None and note.level != "info"]
    return SiteSource("stdin" if name == STDIN else visible(os.fsencode(shown)), robots), noted


def _fetch(
    origins: dict[str, int],
    profile: str,
    client_options: ClientOptions,
    take: Callable[[SiteSource, Client | None, OriginState | None], Value],
    values: dict[int, Value],
) -> None:
    # Imported late: not needed for files, and slow to import.
    from robotrules.cli.origin_lookup import BATCH, OriginLookup

    refresh = client_options.refresh
    with (
        client_options.client(profile) as client,
        OriginLookup(client, refresh=refresh, profile=profile) as lookup,
        progress_bar("host") as progress,
    ):

        def arrived(origin_state: OriginState) -> None:
            """Take the state of an origin."""
            lookup.hint(origin_state)
            source = _fetched(origin_state, profile)
            values[origins[origin_state.origin]] = take(source, client, origin_state)
            progress(len(values), len(origins))

        with library_errors():
            client.prefetch(origins, concurrency=BATCH, progress=arrived, refresh=refresh)


def _fetched(origin_state: OriginState, profile: str) -> SiteSource:
    from robotrules.cli.lint_urls import served_response

    name = visible(origin_state.origin)
    origin, record = origin_state.origin, origin_state.fetch_record
    if origin_state.policy is EffectivePolicy.DISALLOW or record is None:
        return SiteSource(name, None, origin, problem=describe_state(origin_state))
    served = served_response(origin_state, record)
    if origin_state.policy is not EffectivePolicy.RULES:
        robots = parse(b"", parsing_profile(profile, fetches=True))
        status = describe_state(origin_state)
        return SiteSource(name, robots, origin, status, is_file=False, served=served)
    parts = [describe_response(record), f"fetched {format_time(record.at)}"]
    parts += filter(None, [describe_stale_copy(origin_state)])
    return SiteSource(name, origin_state.robots, origin, ", ".join(parts), served=served)


def site_origin(url: str | None) -> str | None:
    """Return the origin of `--url`, where a file is served; an invalid one ends the command."""
    if url is None:
        return None
    with library_errors():
        found = origin_of(url)
    if found is None:
        raise CliError(f"--url {quoted(url)} has no origin: pass an http or https URL with a host")
    return found
