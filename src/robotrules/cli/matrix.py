"""
`robotrules matrix`: who may fetch what, on the terminal, as JSON, as a page or as a picture.

A few lines over `robotrules.matrix.matrix`: a file or an origin's robots.txt goes in, well-known
crawlers against the main paths come out. Pages and pictures are written in one piece. It decides
nothing itself.
"""

from __future__ import annotations

import os
import sys

import click

from robotrules import RobotsTxt
from robotrules.cli.atomic_write import refuse_overwriting, save
from robotrules.cli.client import Opening, client_options, told
from robotrules.cli.matrix_text import MatrixPage
from robotrules.cli.options import (
    fetching_profile_option,
    given_tokens,
    json_option,
    literal_option,
    parsing_profile,
    say_notes,
)
from robotrules.cli.robots_file import refuse_binary, usual_file
from robotrules.cli.streams import STDIN, CliError, Output, quoted, read_robots, say
from robotrules.config import MatrixConfig, find_config
from robotrules.http.origins import origin_of
from robotrules.matrix import MAX_GIVEN, MAX_STATES, Matrix
from robotrules.matrix import matrix as made
from robotrules.octets import visible
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS


@click.command()
@click.argument("given", metavar="[FILE|URL]", nargs=-1)
@click.option(
    "--as",
    "product_tokens",
    metavar="TOKEN",
    multiple=True,
    help="Show this crawler only, by its product token, such as GPTBot; '*' is everyone else. "
    "Repeat it for several.",
)
@click.option(
    "--purpose",
    "purposes",
    type=click.Choice(list(CRAWLER_PURPOSES)),
    metavar="PURPOSE",
    multiple=True,
    help=f"Show all well-known crawlers with this purpose: {', '.join(CRAWLER_PURPOSES)}. Repeat "
    "it for several.",
)
@literal_option
@click.option("--all", "everybody", is_flag=True, help="Show all well-known crawlers.")
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
@click.option("--name", metavar="TEXT", help="What the page or the picture calls the file.")
@click.option("--date", metavar="TEXT", help="A date to show on the page or the picture.")
@fetching_profile_option
@click.option(
    "--budget",
    type=click.IntRange(1),
    metavar="N",
    default=MAX_STATES,
    show_default=True,
    help="How many states each question about all URLs may see before it is not decided.",
)
@json_option("Print one JSON object; docs/cli/matrix.md describes it.")
@client_options()
def matrix(
    given: tuple[str, ...],
    product_tokens: tuple[str, ...],
    literal: bool,
    purposes: tuple[str, ...],
    everybody: bool,
    paths: tuple[str, ...],
    html: str | None,
    svg: str | None,
    name: str | None,
    date: str | None,
    profile: str,
    budget: int,
    as_json: bool,
    opening: Opening,
) -> int:
    """
    Show who may fetch what.

    FILE is a robots.txt, or '-' for stdin; URL is of a site whose robots.txt is fetched; without
    either, the robots.txt of this folder. Well-known crawlers by what they are for, and all whom
    the file names, stand against the main paths of the site: each mark is the verdict on that path,
    and 'all URLs' is about every URL there is. The exit code is 0 whatever the file says, and 2 for
    usage or I/O. What robotrules.toml or pyproject.toml say of crawlers and paths counts where no
    option does.

    \b
    Examples:
      robotrules matrix robots.txt
      robotrules matrix https://example.com
      robotrules matrix robots.txt --purpose ai-training --path / --path /news/
      robotrules matrix robots.txt --html matrix.html --svg matrix.svg
    """
    if [html, svg].count(STDIN) + as_json > 1:
        raise CliError("stdout can have one form only: name files with --html and --svg")
    if len(paths) > MAX_GIVEN:
        raise CliError(f"{len(paths)} paths do not fit in one matrix: pass at most {MAX_GIVEN}")
    if product_tokens and (purposes or everybody):
        raise click.UsageError("--as picks crawlers, and so do --purpose and --all: leave out one")
    if len(given) > 1:
        words = f"pass paths with --path, as in --path {quoted(given[1])}"
        raise click.UsageError(f"one FILE or URL is shown at a time: {words}")
    file = given[0] if given else usual_file(or_url=True)
    for option, target in (("--html", html), ("--svg", svg)):
        if target is not None:
            refuse_overwriting(target, [file], option)
    reading = parsing_profile(profile, fetches="://" in file)
    usual = _settings(file)
    product_tokens = product_tokens or (() if purposes or everybody else usual.crawlers)
    tokens = _tokens(product_tokens, reading, literal)
    robots = _robots(file, profile, reading, opening)
    found = made(
        robots,
        crawlers=tokens,
        purposes=purposes,
        all_crawlers=everybody,
        paths=[_path(path) for path in paths or usual.paths],
        url=visible(name) if name else _called(file),
        budget=budget,
        literal=literal,
    )
    output = Output()
    for form, target in (("html", html), ("svg", svg)):
        if target is not None:
            _hand_out(_drawn(form, found, date), target)
    if as_json:
        output.json(found.as_dict())
    elif html is None and svg is None:
        output.lines(list(MatrixPage(found, output).lines()))
    output.flush()
    return 0


def _tokens(tokens: tuple[str, ...], profile: str, literal: bool) -> tuple[str, ...]:
    """Return whom to show; a well-known crawler may have a name outside the grammar."""
    unknown = [token for token in tokens if literal or token not in KNOWN_CRAWLERS]
    if unknown:
        given_tokens(unknown, profile)
    return tokens


def _settings(file: str) -> MatrixConfig:
    """Return what the project says, that of the file or of this folder."""
    with told():
        return find_config(os.curdir if "://" in file or file == STDIN else file).matrix


def _robots(file: str, profile: str, reading: str, opening: Opening) -> RobotsTxt:
    """Return the file, or what an origin serves."""
    if "://" not in file:
        opening.hint_unused()
        robots, octets = read_robots(file, reading)
        refuse_binary(octets, file)
        say_notes(robots.notes, file)
        return robots
    # Who has a file at hand does not wait for what fetches.
    from robotrules.cli.origin_lookup import fetched_robots

    robots = fetched_robots([file], profile, opening)
    say_notes(robots.notes, file)
    return robots


def _called(file: str) -> str:
    """Return what a file is called: the origin it is from, or the name it has on the disk."""
    if file == STDIN:
        return "stdin"
    if "://" in file:
        with told():
            return visible(origin_of(file) or file)
    return visible(os.fsencode(os.path.basename(file)))


def _path(path: str) -> str:
    if not path.startswith("/") and "://" not in path:
        raise CliError(f"{quoted(path)} is no path: it starts with '/', such as /{visible(path)}")
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _drawn(form: str, found: Matrix, date: str | None) -> str:
    day = visible(date) if date else None
    if form == "html":
        from robotrules.matrix.html import page

        return page(found, date=day)
    from robotrules.matrix.svg import picture

    return picture(found, date=day)


def _hand_out(text: str, target: str) -> None:
    octets = text.encode("utf-8")
    if target == STDIN:
        sys.stdout.buffer.write(octets)
        return
    save(target, octets)
    say(f"{quoted(target)} was written")
