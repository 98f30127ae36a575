"""
`robotrules directives`: what a robots.txt says to an application about URLs.

A few lines over `directives_for`: the groups that count and why, each app directive with its value,
its line and what the registries say of it, what was not applied, and what stands beside it. It does
not decide anything, and its exit code is no verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from robotrules.cli.client import Opening, client_options
from robotrules.cli.options import (
    given_crawler,
    given_or_fetched,
    given_urls,
    json_option,
    parsing_profile,
    robots_options,
)
from robotrules.cli.registry_files import given_registries
from robotrules.cli.streams import CliError, Output, quoted
from robotrules.cli.text import between, cells, listed, shortened
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

# What a person reads of a long list or value; JSON has all of it.
MOST = 20
LONGEST = 60


@click.command()
@click.argument("urls", nargs=-1, metavar="URL...")
@click.option(
    "--app",
    "application",
    metavar="NAME",
    help="The application, as App-Directives names it, such as examplesearch; case matters.",
)
@robots_options
@click.option(
    "--registry",
    "files",
    metavar="FILE",
    multiple=True,
    help="A registry of applications and their directives, .json or .csv. Repeat it for several; "
    "a later one counts where two say different things.",
)
@json_option("Print one JSON object for each URL.")
@client_options()
def directives(
    urls: tuple[str, ...],
    application: str | None,
    robots: str | None,
    product_tokens: tuple[str, ...],
    literal: bool,
    profile: str,
    files: tuple[str, ...],
    as_json: bool,
    opening: Opening,
) -> int:
    """
    Show what is said to an application.

    Reads App-Directives (draft-nottingham-plan-b).

    Shows the groups that count for the application and why, each of its directives with value,
    line and what the registries say of it, and notes on lines that could not be read. Without
    --as, groups are chosen by the product token that a registry has for the application, else '*'.
    The exit code is 0 whatever the file says: directives are preferences, not verdicts.

    \b
    Examples:
      robotrules directives https://example.com/a --app examplesearch
      robotrules directives https://example.com/a --app examplesearch --robots robots.txt
      robotrules directives /a /b --app examplesearch --as ExampleSearch --robots robots.txt
      robotrules directives /a --app examplesearch --registry apps.json --robots robots.txt --json
    """
    if not urls:
        raise CliError("no URL was given: pass one, such as https://example.com/a")
    if not application:
        raise CliError("for which application? Pass its identifier, such as --app examplesearch")
    parsed = given_or_fetched(robots, profile, urls, opening)
    profile = parsing_profile(profile, fetches=robots is None)
    crawler = given_crawler(product_tokens, profile, literal=literal) if product_tokens else None
    names = crawler.names if crawler else None
    found = _asked(parsed, application, names, given_registries(files))
    groups = parsed.grouped_for("app-directives").select_groups(names or found.product_token).groups
    octets = given_urls(urls, profile)
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
            f"{quoted(application)} is no application identifier: pass a Token (RFC 9651 §3.3.4), "
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
            yield self._fact("Directives", "none here for this application")
        yield from self._table("Directives", answer.directives)
        yield from self._table("Not applied", answer.not_applied)
        if answer.overrides:
            yield from self._heading("Beside them, for any application")
            for record in answer.content_usage[:MOST]:
                value = shortened(visible(record.text), LONGEST)
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
            return "none is for '*'" if token == "*" else f"none is for {token}, and none for '*'"
        spans = [between(*group.lines, "line") for group in self._groups]
        where = listed(spans, MOST)
        if answer.matched_by is GroupMatch.TOKEN:
            return f"{where}, for {token.replace(', ', ' or ')}"
        return f"{where}, for '*'" + ("" if token == "*" else f", because none is for {token}")

    def _table(self, title: str, found: Sequence[AppDirective]) -> Iterator[str]:
        """Yield app directives in columns."""
        if not found:
            return
        yield from self._heading(title)
        cut = [self._cells(one) for one in found[:MOST]]
        widths = [max(map(cells, column)) for column in zip(*cut, strict=True)]
        for one in cut:
            padded = (
                text + " " * (width - cells(text)) for text, width in zip(one, widths, strict=True)
            )
            yield f"  {'  '.join(padded)}".rstrip()
        yield from self._more(len(found))

    def _cells(self, one: AppDirective) -> tuple[str, ...]:
        scope = "every path" if one.path is None else shortened(visible(one.path), LONGEST)
        value = shortened(visible(str(one)), LONGEST)
        return value, one.type, str(one.status), f"line {one.record.line}", scope

    def _note(self, note: Note) -> str:
        level = self._paint(note.level, note.level)
        return f"  line {note.line}: {level} {note.code}: {note.message}"

    def _more(self, count: int) -> Sequence[str]:
        return [f"  and {count - MOST:,} more, which --json shows"] if count > MOST else []
