"""
`robotrules preferences`: the stated preferences about the use of content.

A wrapper around `preferences` and `content_signals`: the preference for each category of use, and
the line or header field that states it. The robots.txt is fetched or read from a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from robotrules import Verdict
from robotrules.cli.client import ClientOptions, with_client_options
from robotrules.cli.console import CliError, Output
from robotrules.cli.options import (
    json_option,
    parse_crawler,
    parse_purposes,
    parse_urls,
    parsing_profile,
    purpose_option,
    read_or_fetch_robots,
    robots_options,
)
from robotrules.cli.text import listed, truncate
from robotrules.extensions.content_signal import (
    ContentSignals,
    Signal,
    content_signals,
    to_content_usage,
)
from robotrules.extensions.content_usage import preferences as find_preferences
from robotrules.extensions.vocabulary import Preference, Preferences, Statement, StatementSource
from robotrules.json_results.crawlers import CrawlerChoice
from robotrules.octets import visible
from robotrules.robotstxt.values import Note

# How much of a long list or statement is shown; JSON has all of it.
MOST = 20
MOST_LINES = 6
LONGEST = 300

STYLES = {Preference.ALLOWED: "allowed", Preference.DISALLOWED: "disallowed"}


@click.command()
@click.argument("urls", nargs=-1, metavar="URL...")
@robots_options
@purpose_option
@click.option(
    "--content-usage",
    "fields",
    metavar="VALUE",
    multiple=True,
    help="The value of a Content-Usage header field of the response, such as 'train-ai=n'. Repeat "
    "it for several lines of one response.",
)
@click.option(
    "--signals",
    is_flag=True,
    help="Also show Content-Signal records; they do not change preferences.",
)
@json_option("Print one JSON object for each URL.")
@with_client_options()
def preferences(
    urls: tuple[str, ...],
    robots: str | None,
    product_tokens: tuple[str, ...],
    literal: bool,
    profile: str,
    purposes: tuple[str, ...],
    fields: tuple[str, ...],
    signals: bool,
    as_json: bool,
    client_options: ClientOptions,
) -> int:
    """
    Show how content may be used.

    Reads Content-Usage (draft-ietf-aipref-attach).

    Prints for each category of use allowed, disallowed or unknown, and the statement in the
    robots.txt or header field. How to treat unknown is up to you. A preference is a statement of
    the site, not a form of access authorization. The exit code is 0.

    \b
    Examples:
      robotrules preferences https://example.com/a --as ExampleBot
      robotrules preferences https://example.com/a --as ExampleBot --robots robots.txt
      robotrules preferences /a --as ExampleBot --robots robots.txt --content-usage 'train-ai=n'
      robotrules preferences /a --as ExampleBot --robots robots.txt --signals --json
    """
    if not urls:
        raise CliError("missing URL: pass one, such as https://example.com/a")
    if fields and len(urls) > 1:
        raise CliError("--content-usage applies to one URL: pass one URL, or remove the option")
    alone = robots is None and bool(fields) and not signals
    access, profile = profile, parsing_profile(profile, fetches=robots is None and not alone)
    if alone:
        parsed, who = None, CrawlerChoice(product_tokens or "*", "")
    else:
        parsed = read_or_fetch_robots(robots, access, urls, client_options)
        who = parse_crawler(product_tokens, profile, literal=literal)
    crawler, chosen = who.names, parse_purposes(purposes, profile)
    output = Output()
    for number, url in enumerate(parse_urls(urls, profile)):
        found = find_preferences(url, crawler, robots=parsed, purposes=chosen, field=fields or None)
        signalled = content_signals(parsed, url, crawler, chosen) if parsed and signals else None
        if as_json:
            answer: dict[str, Any] = {
                "url": url.decode("utf-8", "backslashreplace"),
                "profile": profile,
                "product_token": who.name if parsed else None,
                "known": who.known_dict,
                "purposes": list(chosen),
                **found.as_dict(),
            }
            if signalled is not None:
                answer["content_signals"] = signalled.as_dict()
            output.json(answer)
            continue
        verdict = parsed.check(url, crawler, chosen) if parsed else None
        lines = list(_Page(found, signalled, verdict, output).lines(url))
        output.lines(["", *lines] if number else lines)
    output.flush()
    return 0


class _Page:
    """Preferences as lines of text."""

    def __init__(
        self,
        found: Preferences,
        signalled: ContentSignals | None,
        verdict: Verdict | None,
        output: Output,
    ) -> None:
        self._found = found
        self._signalled = signalled
        self._verdict = verdict
        self._paint = output.paint

    def lines(self, url: bytes) -> Iterator[str]:
        """Yield the lines."""
        yield self._paint("heading", visible(url))
        if not self._found.applicable:
            yield f"  {self._why_not()}"
        if self._found.applicable or self._found.statements:
            for category, value in self._found.values:
                first, *more = self._why(category)
                yield self._fact(category, value, STYLES.get(value, "faint"), first)
                yield from (self._fact("", "", "faint", words) for words in more)
        for statement in self._found.statements:
            if statement.error:
                label = self._paint("error", "error")
                yield f"  field: {label}: {truncate(visible(statement.error), LONGEST)}"
        yield from self._signals()
        notes = self._found.notes + (self._signalled.notes if self._signalled else ())
        if notes:
            yield ""
            yield self._paint("heading", "Notes")
            yield from map(self._note, notes[:MOST])
        if len(notes) > MOST:
            yield f"  and {len(notes) - MOST:,} more (see --json)"

    def _fact(self, name: str, value: str, style: str, words: str) -> str:
        name = f"{name}{' ' * (10 - len(name))}"
        return f"  {name}{self._paint(style, value)}{' ' * (10 - len(value))}  {words}".rstrip()

    def _why_not(self) -> str:
        rule = self._verdict.rule if self._verdict is not None else None
        which = f", line {rule.line}: {truncate(visible(str(rule)), LONGEST)}" if rule else ""
        return f"not applicable: the URL is disallowed{which}"

    def _why(self, category: str) -> list[str]:
        because = self._found.statements_for(category)
        if not because:
            return ["no statement"]
        where = [self._where(statement) for statement in because[:MOST_LINES]]
        rest = len(because) - MOST_LINES
        return [*where, f"and {rest:,} more"] if rest > 0 else where

    def _where(self, statement: Statement) -> str:
        text = truncate(visible(statement.text), LONGEST)
        if statement.source is StatementSource.FIELD:
            return f"field: {text}"
        path = f"{visible(statement.path)} " if statement.path is not None else ""
        return f"line {statement.line}: {truncate(f'Content-Usage: {path}{text}', LONGEST)}"

    def _signals(self) -> Iterator[str]:
        if self._signalled is None:
            return
        values = self._signalled.values()
        yield ""
        yield self._paint("heading", "Content-Signal") + ", which does not change preferences"
        if not values:
            yield "  none"
            return
        for key, value in list(values.items())[:MOST]:
            where = [one for one in self._signalled.signals if (one.key, one.value) == (key, value)]
            yield self._fact(visible(key), visible(value), "faint", _signal_lines(where))
        if len(values) > MOST:
            yield f"  and {len(values) - MOST:,} more (see --json)"
        usage = to_content_usage(self._signalled)
        yield f"  as Content-Usage: {usage or 'nothing'}"

    def _note(self, note: Note) -> str:
        label = self._paint(note.level, note.level)
        return f"  line {note.line}: {label} {note.code}: {note.message}"


def _signal_lines(signals: list[Signal]) -> str:
    paths = (f" ({visible(one.path)})" if one.path is not None else "" for one in signals)
    lines = [f"line {one.line}{path}" for one, path in zip(signals, paths, strict=True)]
    return listed(list(dict.fromkeys(lines)), MOST_LINES)
