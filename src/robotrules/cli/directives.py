"""
`robotrules directives`: the App-Directives of a robots.txt for an application and URLs.

A wrapper around `directives_for`: the selected groups, each app directive with its value, line and
registry status, directives that are not applied, and Content-Usage records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from robotrules.cli.client import ClientOptions, with_client_options
from robotrules.cli.console import CliError, Output, quoted
from robotrules.cli.options import (
    json_option,
    load_registry_files,
    parse_crawler,
    parse_urls,
    parsing_profile,
    read_or_fetch_robots,
    robots_options,
)
from robotrules.cli.text import cell_width, format_range, listed, truncate
from robotrules.extensions.app_directives import (
    AppDirective,
    AppDirectives,
    DirectiveSet,
    directives_for,
)
from robotrules.octets import to_text, visible
from robotrules.registries import Registries
from robotrules.robotstxt import RobotsTxt, Tokens
from robotrules.robotstxt.values import Group, Note
from robotrules.robotstxt.verdict import GroupMatch

# How much of a long list or value is shown; JSON has all of it.
MOST = 20
LONGEST = 60


@click.command()
@click.argument("urls", nargs=-1, metavar="URL...")
@click.option(
    "--app",
    "application",
    metavar="NAME",
    help="The application identifier in App-Directives, such as examplesearch; case-sensitive.",
)
@robots_options
@click.option(
    "--registry",
    "files",
    metavar="FILE",
    multiple=True,
    help="A registry of applications and their directives, .json or .csv. Repeat it for several; "
    "later ones override earlier ones.",
)
@json_option("Print one JSON object for each URL.")
@with_client_options()
def directives(
    urls: tuple[str, ...],
    application: str | None,
    robots: str | None,
    product_tokens: tuple[str, ...],
    literal: bool,
    profile: str,
    files: tuple[str, ...],
    as_json: bool,
    client_options: ClientOptions,
) -> int:
    """
    Show the App-Directives for an application.

    Reads App-Directives (draft-nottingham-plan-b).

    Shows the groups that apply to the application and why, each of its directives with value, line
    and registry status, and notes on lines that could not be read. Without --as, groups are
    selected by the product token that a registry has for the application, otherwise by '*'. The
    exit code is 0 for any file, because directives are preferences, not verdicts.

    \b
    Examples:
      robotrules directives https://example.com/a --app examplesearch
      robotrules directives https://example.com/a --app examplesearch --robots robots.txt
      robotrules directives /a /b --app examplesearch --as ExampleSearch --robots robots.txt
      robotrules directives /a --app examplesearch --registry apps.json --robots robots.txt --json
    """
    if not urls:
        raise CliError("missing URL: pass one, such as https://example.com/a")
    if not application:
        raise CliError("missing --app: pass an application identifier, such as --app examplesearch")
    parsed = read_or_fetch_robots(robots, profile, urls, client_options)
    profile = parsing_profile(profile, fetches=robots is None)
    crawler = parse_crawler(product_tokens, profile, literal=literal) if product_tokens else None
    names = crawler.names if crawler else None
    found = _asked(parsed, application, names, load_registry_files(files))
    groups = parsed.grouped_for("app-directives").select_groups(names or found.product_token).groups
    octets = parse_urls(urls, profile)
    output = Output()
    for number, (url, answer) in enumerate(zip(octets, found.for_urls(octets), strict=True)):
        if as_json:
            known = {"known": crawler.known_dict if crawler else None}
            output.json({"url": to_text(url), "profile": profile, **answer.as_dict(), **known})
        else:
            lines = list(_Page(url, answer, groups, output).lines())
            output.lines(["", *lines] if number else lines)
    output.flush()
    return 0


def _asked(
    robots: RobotsTxt, application: str, token: Tokens | None, registries: Registries
) -> DirectiveSet:
    try:
        return directives_for(robots, application, product_token=token, registries=registries)
    except ValueError:
        raise CliError(
            f"{quoted(application)} is not an application identifier: pass a Token (RFC 9651 "
            f"§3.3.4), "
            "which starts with a letter or '*' and has no spaces, such as examplesearch"
        ) from None


class _Page:
    """An answer as lines of text."""

    def __init__(
        self, url: bytes, answer: AppDirectives, groups: Sequence[Group], output: Output
    ) -> None:
        self._url, self._answer, self._groups = url, answer, groups
        self._paint = output.paint

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        answer = self._answer
        yield visible(self._url)
        yield ""
        yield self._fact("Application", visible(answer.application))
        yield self._fact("Groups", self._why_groups())
        if not answer.directives:
            yield self._fact("Directives", "none for this application")
        yield from self._table("Directives", answer.directives)
        yield from self._table("Not applied", answer.not_applied)
        if answer.overrides:
            yield from self._heading("Content-Usage, for any application")
            for record in answer.content_usage[:MOST]:
                value = truncate(visible(record.text), LONGEST)
                yield f"  line {record.line}: Content-Usage: {value}"
            yield from self._more(len(answer.content_usage))
        if answer.notes:
            yield from self._heading("Notes")
            yield from map(self._note, answer.notes[:MOST])
            yield from self._more(len(answer.notes))

    def _fact(self, name: str, words: str) -> str:
        return f"{self._paint('heading', name)}{' ' * (13 - len(name))}{words}"

    def _heading(self, words: str) -> Iterator[str]:
        yield ""
        yield self._paint("heading", words)

    def _why_groups(self) -> str:
        answer = self._answer
        token = visible(answer.product_token)
        if answer.matched_by is GroupMatch.NONE:
            return "there is none for '*'" if token == "*" else f"there is none for {token} or '*'"
        spans = [format_range(*group.lines, "line") for group in self._groups]
        where = listed(spans, MOST)
        if answer.matched_by is GroupMatch.TOKEN:
            return f"{where}, for {token.replace(', ', ' or ')}"
        return f"{where}, for '*'" + (
            "" if token == "*" else f", because there is none for {token}"
        )

    def _table(self, title: str, found: Sequence[AppDirective]) -> Iterator[str]:
        """Yield app directives in columns."""
        if not found:
            return
        yield from self._heading(title)
        cut = [self._cells(one) for one in found[:MOST]]
        widths = [max(map(cell_width, column)) for column in zip(*cut, strict=True)]
        for one in cut:
            padded = (
                text + " " * (width - cell_width(text))
                for text, width in zip(one, widths, strict=True)
            )
            yield f"  {'  '.join(padded)}".rstrip()
        yield from self._more(len(found))

    def _cells(self, one: AppDirective) -> tuple[str, ...]:
        scope = "every path" if one.path is None else truncate(visible(one.path), LONGEST)
        value = truncate(visible(str(one)), LONGEST)
        return value, one.type, str(one.status), f"line {one.record.line}", scope

    def _note(self, note: Note) -> str:
        level = self._paint(note.level, note.level)
        return f"  line {note.line}: {level} {note.code}: {note.message}"

    def _more(self, count: int) -> Sequence[str]:
        return [f"  and {count - MOST:,} more (see --json)"] if count > MOST else []
