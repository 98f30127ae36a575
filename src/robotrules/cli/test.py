"""
`robotrules test`: is a robots.txt what its owner expects?

A few lines over `robotrules.expect.files`: finds expectation files, asks them about a file or
a live origin, and shows what failed and why. It does not judge anything.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

from robotrules import RobotsTxt
from robotrules.cli.atomic_write import refuse_overwriting, save
from robotrules.cli.client import Opening, client_options, told
from robotrules.cli.expectations_text import Answered, ExpectationsPage, junit, total
from robotrules.cli.options import json_option, literal_option
from robotrules.cli.progress import counting
from robotrules.cli.streams import STDIN, CliError, Output, quoted, read_robots, say
from robotrules.cli.text import plural
from robotrules.config import Config, find_config
from robotrules.errors import ConfigError, ExpectationError, MissingExtraError
from robotrules.expect import read_expectations
from robotrules.expect.files import NAME, ClientFetcher, ExpectationFile, FileOptions, find_files
from robotrules.expect.scaffold import render_starter
from robotrules.expect.values import SCHEMA_VERSION, Carriers
from robotrules.octets import visible
from robotrules.profile import PROFILES


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "--robots",
    metavar="FILE",
    help="Ask about this robots.txt, and not about the one that the expectation file names.",
)
@click.option(
    "--live",
    metavar="URL",
    help="Ask about the live robots.txt of this URL's origin. It is fetched, and kept for a day.",
)
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    metavar="NAME",
    help="How to read what RFC 9309 leaves open: 'default', 'strict' or 'google'. Without this, "
    "what the expectation file or the settings say.",
)
@click.option(
    "--budget",
    type=click.IntRange(1),
    metavar="N",
    help="How many states each question about all URLs may see before it is not decided.",
)
@literal_option
@click.option("-v", "--verbose", is_flag=True, help="List what passed, too, and what decided.")
@click.option("--junit", "report", metavar="FILE", help="Also write a JUnit report to this file.")
@click.option(
    "--init",
    "start",
    is_flag=True,
    help="Write a first robots.test.toml for the robots.txt of this folder, or of one that is "
    "named; a file that is there is left alone.",
)
@json_option("Print one JSON object for each expectation file; docs/cli/test.md describes it.")
@client_options(crawler=False)
def test(
    files: tuple[str, ...],
    robots: str | None,
    live: str | None,
    profile: str | None,
    budget: int | None,
    literal: bool,
    verbose: bool,
    report: str | None,
    start: bool,
    as_json: bool,
    opening: Opening,
) -> int:
    """
    Test a robots.txt against what its owner expects.

    An expectation file is TOML: for these crawlers these URLs are allowed or disallowed, by this
    line; all URLs of a pattern are; a page has these tags. Without FILE it is robots.test.toml or
    tests/robots.test.toml in this folder, or what [test] of robotrules.toml names; a folder will do
    as well. A failure shows what decided and what would change it. A well-known crawler chooses
    groups as its operator documents it. The exit code is 0 if all is as expected, 1 if something is
    not, 2 for usage or I/O; what can be asked is asked all the same.

    \b
    Examples:
      robotrules test
      robotrules test --init
      robotrules test robots.test.toml --robots build/robots.txt
      robotrules test --live https://example.com/
      robotrules test --junit report.xml
    """
    if robots is not None and live is not None:
        raise click.UsageError("--robots is a file and --live is not: leave out one")
    if start:
        if robots or live or report or as_json or len(files) > 1:
            raise click.UsageError("--init writes a file and asks nothing: name a folder at most")
        return _begin(files[0] if files else ".", profile)
    given = FileOptions(robots, live, profile, budget, literal)
    output = Output()
    answered: list[Answered] = []
    read = [*files, *([robots] if robots is not None else [])]
    with ExitStack() as opened:
        fetcher = _Live(opening, opened)
        for path, config in _paths(files, answered):
            read.append(str(path))
            with _told(_shown(path), answered):
                trial = ExpectationFile(path, config, fetcher, given)
                read.append(trial.source)
                found = _answered(trial)
                answered.append(found)
                _hint(found)
                if as_json:
                    output.json(_as_json(trial, found))
                else:
                    page = ExpectationsPage(found, output, passes=verbose)
                    output.lines(list(page.lines()))
                output.flush()
        if not fetcher.used:
            opening.hint_unused()
    if len(answered) > 1 and not as_json:
        output.lines(["", total(answered)])
    output.flush()
    if report is not None:
        refuse_overwriting(report, read, "--junit")
        save(report, junit(answered))
    if any(one.trouble for one in answered):
        return 2
    return int(any(one.failed for one in answered))


# --- Files ----------------------------------------------------------------------------------------


def _paths(files: tuple[str, ...], answered: list[Answered]) -> Iterator[tuple[Path, Config]]:
    """Yield the expectation files, each with the settings that hold there."""
    for name in files or (".",):
        found: list[tuple[Path, Config]] = []
        with _told(visible(os.fsencode(name)), answered):
            found = _found(name)
        yield from found


def _found(name: str) -> list[tuple[Path, Config]]:
    """Return what an argument stands for: a file, or those of a folder."""
    if name == STDIN:
        raise CliError("'-' is no expectation file: it names others from its own folder")
    config = find_config(Path(name))
    if not os.path.isdir(name):
        return [(Path(name), config)]
    found = find_files(Path(name), config)
    if not found:
        where = "here" if name == "." else f"in {quoted(name)}"
        raise CliError(
            f"there is no expectation file {where}: write {NAME} beside robots.txt, or pass one; "
            "--init writes a first one"
        )
    return [(path, config) for path in found]


@contextmanager
def _told(name: str, answered: list[Answered]) -> Iterator[None]:
    """Say what cannot be read or fetched, note it, and let the others be asked."""
    try:
        yield
    except (CliError, ConfigError, ExpectationError, MissingExtraError) as error:
        words = error.message if isinstance(error, CliError) else visible(str(error))
        say(words)
        answered.append(Answered(name, "", [], words))


def _hint(answered: Answered) -> None:
    """Say once what is odd about questions, whatever came of them."""
    for words, one in {one.hint: one for one in reversed(answered.judged) if one.hint}.items():
        where = f"{answered.name}, line {one.question.about.line}"
        say(f"{where}: {words}", label="hint", style="warning")


def _begin(name: str, profile: str | None) -> int:
    """Write a first expectation file beside the robots.txt of a folder."""
    path, robots = Path(name) / NAME, Path(name) / "robots.txt"
    if not robots.is_file():
        where = "here" if name == "." else f"in {quoted(name)}"
        raise CliError(f"there is no robots.txt {where}: write one first, or name its folder")
    with told():
        usual = find_config(Path(name)).test.profile
        text = render_starter(read_robots(str(robots), profile or usual or "default")[0], profile)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise CliError(f"{quoted(str(path))} is there already, and is left alone") from None
    except OSError as error:
        raise CliError(f"cannot write {quoted(str(path))}: {error.strerror}") from None
    count = plural(len(read_expectations(text).questions), "question")
    say(f"{quoted(str(path))} was written: {count}, and all pass; change them to what you want")
    return 0


def _answered(trial: ExpectationFile) -> Answered:
    judged = []
    with counting("question") as progress:
        for question in trial.questions:
            judged.append(trial.evaluate(question))
            progress(len(judged), len(trial.questions))
    return Answered(_shown(trial.path), trial.source, judged)


def _shown(path: Path) -> str:
    return visible(os.fsencode(path))


def _as_json(trial: ExpectationFile, answered: Answered) -> dict[str, Any]:
    return {
        "schema": SCHEMA_VERSION,
        "file": answered.name,
        "robots": visible(trial.source),
        "origin": trial.origin,
        "profile": trial.profile,
        "passed": len(answered.judged) - answered.failed,
        "failed": answered.failed,
        "questions": [one.as_dict() for one in answered.judged],
    }


# --- What is live ---------------------------------------------------------------------------------


class _Live:
    """Gets what is live, with the options of the command line; opened when something is."""

    def __init__(self, opening: Opening, opened: ExitStack) -> None:
        self._opening = opening
        self._pages = ClientFetcher(lambda: opened.enter_context(opening.client("default")))
        self.used = False

    def robots(self, url: str, profile: str) -> RobotsTxt:
        """Return the robots.txt of the origin of a URL."""
        from robotrules.cli.origin_lookup import fetched_robots

        self.used = True
        return fetched_robots([url], profile, self._opening)

    def page(self, url: str, crawler: tuple[str, ...], purposes: tuple[str, ...]) -> Carriers:
        """Return headers and HTML of a page."""
        from robotrules.cli.origin_lookup import hint_private, host_of

        self.used = True
        try:
            return self._pages.page(url, crawler, purposes)
        except ExpectationError as error:
            # The URL is the page's, and may have any word in it.
            if "allow_private" in str(error).removeprefix(url):
                hint_private(host_of(url))
            raise
