"""
`robotrules matrix`: a table of crawlers and paths, as text, JSON, HTML or SVG.

A wrapper around `robotrules.matrix.matrix` for a file or a live robots.txt.

Sections: the command · text.
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterator
from string import ascii_lowercase

import click

from robotrules import RobotsTxt
from robotrules.cli.atomic_write import refuse_overwriting, write_atomically
from robotrules.cli.client import ClientOptions, library_errors, with_client_options
from robotrules.cli.console import STDIN, CliError, Output, quoted, report
from robotrules.cli.input_files import default_robots_file, is_host_name, read_robots, refuse_binary
from robotrules.cli.options import (
    crawler_purpose_option,
    fetching_profile_option,
    hint_misspelt,
    json_option,
    literal_option,
    parse_tokens,
    parsing_profile,
    report_notes,
)
from robotrules.cli.text import Paint, cell_width, truncate
from robotrules.config import MatrixConfig, find_config
from robotrules.http.origins import origin_of
from robotrules.matrix import MAX_GIVEN, MAX_STATES, Matrix
from robotrules.matrix import matrix as made
from robotrules.matrix.text import FOOTNOTE, TITLE, footnotes, group_label, headline, may_not_obey
from robotrules.matrix.values import Cell, MatrixRow, PurposeBand
from robotrules.octets import visible
from robotrules.registries.crawlers import KNOWN_CRAWLERS

# The maximum width of names and headings.
LONGEST_NAME = 30
LONGEST_PATH = 16
SUMMARY = len("not decided")
GAP = "  "
MARKS = {True: "✓", False: "✗"}
DAGGER = "†"
WORDS = {True: "allowed", False: "disallowed"}
# A pipe has no width, and what is pasted from one is read in so many columns.
WIDTH = 100
_STYLES = {"everything": "allowed", "nothing": "disallowed", "some": "warning"}


@click.command()
@click.argument("given", metavar="[FILE|URL|HOST]...", nargs=-1)
@click.option(
    "--origins",
    "origins_file",
    metavar="FILE",
    help="Also show the origins in FILE, one per line; '-' is stdin.",
)
@click.option(
    "--as",
    "product_tokens",
    metavar="TOKEN",
    multiple=True,
    help="Show this crawler only, by its product token, such as GPTBot; '*' is everyone else. "
    "Repeat it for several.",
)
@crawler_purpose_option("Show all well-known crawlers with this purpose")
@literal_option
@click.option("--all", "all_crawlers", is_flag=True, help="Show all well-known crawlers.")
@click.option(
    "--path",
    "paths",
    metavar="PATH",
    multiple=True,
    help="A path to ask about, such as /news/; without it some are made from the rules of the "
    "file. Repeat it for several.",
)
@click.option("--html", metavar="FILE", help="Write a page that needs no other; '-' is stdout.")
@click.option("--svg", metavar="FILE", help="Write a picture; '-' is stdout.")
@click.option("--title", metavar="TEXT", help="The name of the site in the HTML or SVG output.")
@click.option("--date", metavar="TEXT", help="A date to show in the HTML or SVG output.")
@fetching_profile_option
@click.option(
    "--max-states",
    type=click.IntRange(1),
    metavar="N",
    default=MAX_STATES,
    show_default=True,
    help="The state limit of the search for each 'all URLs' proof.",
)
@json_option("Print one JSON object, described in docs/cli/matrix.md.")
@with_client_options()
def matrix(
    given: tuple[str, ...],
    origins_file: str | None,
    product_tokens: tuple[str, ...],
    literal: bool,
    purposes: tuple[str, ...],
    all_crawlers: bool,
    paths: tuple[str, ...],
    html: str | None,
    svg: str | None,
    title: str | None,
    date: str | None,
    profile: str,
    max_states: int,
    as_json: bool,
    client_options: ClientOptions,
) -> int:
    """
    Show which crawlers may fetch which paths.

    FILE is a robots.txt, or '-' for stdin; for a URL or a host, the robots.txt of its origin is
    fetched; without any, robots.txt in this directory is used. The rows are well-known crawlers,
    grouped by purpose, and all that the file names; the columns are the main paths of the site.
    Each mark is the verdict on that path; 'all URLs' covers every possible URL. With several sites,
    the table has a column for each host, or a line if there are more hosts than crawlers. Default
    crawlers and paths can be set in robotrules.toml or pyproject.toml. The exit code is 0 for any
    file, and 2 for a usage or I/O error.

    \b
    Examples:
      robotrules matrix robots.txt
      robotrules matrix https://example.com
      robotrules matrix robots.txt --purpose ai-training --path / --path /news/
      robotrules matrix robots.txt --html matrix.html --svg matrix.svg
      robotrules matrix example.com example.org --as GPTBot --path /
    """
    if [html, svg].count(STDIN) + as_json > 1:
        raise CliError("only one output can go to stdout: pass files to --html and --svg")
    if len(paths) > MAX_GIVEN:
        raise CliError(f"{len(paths)} paths are too many: pass at most {MAX_GIVEN}")
    if product_tokens and (purposes or all_crawlers):
        raise click.UsageError("--as cannot be combined with --purpose or --all")
    paths_given = [name for name in given[1:] if name[:1] == "/" and not os.path.exists(name)]
    if paths_given:
        words = f"pass paths with --path, as in --path {quoted(paths_given[0])}"
        raise click.UsageError(f"there is no file {quoted(paths_given[0])}; {words}")
    if len(given) > 1 or origins_file is not None or _is_host(given):
        # Imported late: not needed for one file, and slow to import.
        from robotrules.cli.matrix_hosts import HostsOptions, SiteTargets, show_sites
        from robotrules.cli.site_sources import find_sites, read_origins

        sites = find_sites([*given, *(read_origins(origins_file) if origins_file else ())])
        if len(sites) != 1:
            tokens = _tokens(product_tokens, "default", literal)
            hint_misspelt(tokens, [])
            chosen = tuple(map(_path, paths))
            options = HostsOptions(tokens, purposes, all_crawlers, chosen, max_states, literal)
            targets = SiteTargets(html, svg, title, date, as_json)
            files = [*given, *filter(None, [origins_file])]
            return show_sites(sites, files, profile, client_options, options, targets)
        given = (sites[0].origin or sites[0].given,)
    file = given[0] if given else default_robots_file(or_url=True)
    for option, target in (("--html", html), ("--svg", svg)):
        if target is not None:
            refuse_overwriting(target, [file], option)
    reading = parsing_profile(profile, fetches="://" in file)
    usual = _settings(file)
    product_tokens = product_tokens or (() if purposes or all_crawlers else usual.crawlers)
    tokens = _tokens(product_tokens, reading, literal)
    robots = _robots(file, profile, reading, client_options)
    hint_misspelt(tokens, [robots])
    found = made(
        robots,
        crawlers=tokens,
        purposes=purposes,
        all_crawlers=all_crawlers,
        paths=[_path(path) for path in paths or usual.paths],
        url=visible(title) if title else _display_name(file),
        max_states=max_states,
        literal=literal,
    )
    output = Output()
    for form, target in (("html", html), ("svg", svg)):
        if target is not None:
            write_output(_render(form, found, date), target)
    if as_json:
        output.json(found.as_dict())
    elif html is None and svg is None:
        output.lines(list(MatrixPage(found, output).lines()))
    output.flush()
    return 0


def _is_host(given: tuple[str, ...]) -> bool:
    """Tell whether the only argument is a host, such as `example.com`."""
    return len(given) == 1 and is_host_name(given[0]) and not os.path.exists(given[0])


def _tokens(tokens: tuple[str, ...], profile: str, literal: bool) -> tuple[str, ...]:
    """Return the crawlers to show; a well-known one may have a name outside the grammar."""
    unknown = [token for token in tokens if literal or token not in KNOWN_CRAWLERS]
    if unknown:
        parse_tokens(unknown, profile)
    return tokens


def _settings(file: str) -> MatrixConfig:
    """Return the settings of the file's project, or of this directory."""
    with library_errors():
        return find_config(os.curdir if "://" in file or file == STDIN else file).matrix


def _robots(file: str, profile: str, reading: str, client_options: ClientOptions) -> RobotsTxt:
    """Read the file, or fetch the robots.txt of an origin."""
    if "://" not in file:
        client_options.hint_unused()
        robots, octets = read_robots(file, reading)
        refuse_binary(octets, file)
        report_notes(robots.notes, file)
        return robots
    # Imported late: not needed for files, and slow to import.
    from robotrules.cli.origin_lookup import fetched_robots

    robots = fetched_robots([file], profile, client_options, hint_stored=True)
    report_notes(robots.notes, file)
    return robots


def _display_name(file: str) -> str:
    """Return the display name of a file: its origin, or its name on disk."""
    if file == STDIN:
        return "stdin"
    if "://" in file:
        with library_errors():
            return visible(origin_of(file) or file)
    return visible(os.fsencode(os.path.basename(file)))


def _path(path: str) -> str:
    if not path.startswith("/") and "://" not in path:
        raise CliError(
            f"{quoted(path)} is not a path: pass one that starts with '/', such as /{visible(path)}"
        )
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _render(form: str, found: Matrix, date: str | None) -> str:
    day = visible(date) if date else None
    if form == "html":
        from robotrules.matrix.html import page

        return page(found, date=day)
    from robotrules.matrix.svg import picture

    return picture(found, date=day)


def write_output(text: str, target: str) -> None:
    """Write a page or picture to a file, or to stdout for `-`."""
    octets = text.encode("utf-8")
    if target == STDIN:
        sys.stdout.buffer.write(octets)
        return
    write_atomically(target, octets)
    report(f"{quoted(target)} written")


# --- Text -----------------------------------------------------------------------------------------


class MatrixPage:
    """A matrix as lines of text."""

    def __init__(self, matrix: Matrix, output: Output) -> None:
        self._matrix = matrix
        self._paint: Paint = output.paint
        self._terminal = output.terminal
        self._room = output.width if output.terminal else WIDTH
        self._marks = mark_texts()
        self._in_words = self._marks != MARKS
        self._dagger = "+" if self._in_words else DAGGER
        names = [cell_width(self._named(asked)) for asked in matrix.rows]
        self._name = min(max([*names, 7]), LONGEST_NAME)
        self._group = max(cell_width(_group(asked)) for asked in matrix.rows)
        self._headings, self._gap = self._chosen_headings()

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        whose = f": {visible(self._matrix.url)}" if self._matrix.url else ""
        yield self._paint("heading", truncate(f"{TITLE}{whose}", max(self._room, 40)))
        yield headline(self._matrix)
        yield ""
        yield from self._key()
        yield self._heading()
        for band in self._matrix.bands:
            yield from self._band(band)
        yield ""
        yield from self._notes()

    # --- Headings ---------------------------------------------------------------------------------

    def _chosen_headings(self) -> tuple[list[str], str]:
        """Return the column headings, paths or letters, and the column separator."""
        paths = [visible(column.path) for column in self._matrix.columns]
        short = [truncate(path, LONGEST_PATH) if self._terminal else path for path in paths]
        letters = [_letter(at) for at in range(len(paths))]
        if self._taken(short, GAP) <= self._room:
            return short, GAP
        gap = GAP if self._taken(letters, GAP) <= self._room else " "
        if self._taken(letters, gap) > self._room:
            self._group = 0  # no room for groups; JSON has them
        return letters, gap

    def _taken(self, headings: list[str], gap: str) -> int:
        """Return the line width with these headings."""
        columns = sum(self._wide(heading) + len(gap) for heading in headings)
        return len(GAP) + self._name + len(GAP) + SUMMARY + columns + len(GAP) + self._group

    def _key(self) -> Iterator[str]:
        if not self._headings or self._headings[0] != "a":
            return
        for letter, column in zip(self._headings, self._matrix.columns, strict=True):
            path = visible(column.path)
            if self._terminal:
                path = truncate(path, max(self._room - 6, 10))
            yield f"{GAP}{self._paint('start', letter)}{GAP}{path}"
        yield ""

    def _heading(self) -> str:
        names = [_padded(heading, self._wide(heading)) for heading in self._headings]
        summary = _padded("all URLs", SUMMARY)
        name = _padded("crawler", self._name)
        return self._paint("faint", self._joined(name, summary, names, "group"))

    def _joined(self, name: str, summary: str, marks: list[str], group: str) -> str:
        """Return a line of the table."""
        line = f"{GAP}{name}{GAP}{summary}{self._gap}{self._gap.join(marks)}"
        return f"{line}{GAP}{group}".rstrip() if self._group else line.rstrip()

    def _wide(self, heading: str) -> int:
        """Return the width of a column."""
        return max(map(cell_width, (heading, *self._marks.values())))

    # --- Lines ------------------------------------------------------------------------------------

    def _band(self, band: PurposeBand) -> Iterator[str]:
        yield self._paint("heading", band.title)
        for asked in band.rows:
            name = _padded(truncate(self._named(asked), LONGEST_NAME), self._name)
            style = _STYLES.get(asked.summary, "faint")
            summary = self._paint(style, _padded(asked.summary, SUMMARY))
            marks = [self._cell(at, cell) for at, cell in enumerate(asked.cells)]
            yield self._joined(name, summary, marks, self._paint("faint", _group(asked)))

    def _named(self, asked: MatrixRow) -> str:
        return visible(asked.name) + (f" {self._dagger}" if may_not_obey(asked) else "")

    def _cell(self, at: int, cell: Cell) -> str:
        wide = self._wide(self._headings[at])
        return self._paint(WORDS[cell.allowed], _padded(self._marks[cell.allowed], wide))

    def _notes(self) -> Iterator[str]:
        marks = ((WORDS[yes], mark) for yes, mark in self._marks.items())
        colon = ":" if self._in_words else ""
        legend = [f"{self._paint(word, mark)}{colon} {word}" for word, mark in marks]
        yield GAP.join(legend)
        for words in (*footnotes(self._matrix), FOOTNOTE):
            words = words.replace(DAGGER, self._dagger)
            for line in textwrap.wrap(words, min(self._room, 100)):
                yield self._paint("faint", line)


def _group(asked: MatrixRow) -> str:
    line = f" line {asked.lines[0]}" if asked.lines else ""
    return truncate(visible(group_label(asked)), LONGEST_NAME) + line


def _letter(at: int) -> str:
    """Return a, b … z, aa, ab …"""
    first, last = divmod(at, len(ascii_lowercase))
    return (ascii_lowercase[first - 1] if first else "") + ascii_lowercase[last]


def _padded(text: str, wide: int) -> str:
    return text + " " * max(wide - cell_width(text), 0)


def mark_texts() -> dict[bool, str]:
    """Return a tick and a cross, or words if the encoding has neither."""
    try:
        "".join((*MARKS.values(), DAGGER)).encode(sys.stdout.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return {True: "yes", False: "no"}
    return MARKS
