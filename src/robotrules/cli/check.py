"""
`robotrules check`: verdicts on URLs, one a line, a million of them if need be.

A few lines over `RuleSet.check_many`. URLs go through in chunks, so memory does not grow with
their number. It does not fetch: the robots.txt is a file or stdin.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from json.encoder import encode_basestring_ascii as json_string

import click

import robotrules
from robotrules.cli.options import (
    given_robots,
    given_tokens,
    given_urls,
    json_option,
    robots_options,
    say_notes,
    single_or_many,
)
from robotrules.cli.progress import Progress
from robotrules.cli.streams import (
    STDIN,
    Chunk,
    Output,
    Trouble,
    open_octets,
    say,
    size_of,
    url_chunks,
)
from robotrules.cli.text import is_terminal, plural, shortened, visible

# What one write holds, more or less. A path pattern can be as long as a file, and many URLs can
# have it in their line.
WRITE = 1024 * 1024
# On a terminal a rule longer than this is cut; a pipe gets all of it.
LONGEST_RULE = 200


@click.command()
@click.argument("urls", nargs=-1, metavar="[URL]...")
@robots_options
@click.option("--urls", "file", metavar="FILE", help="Read URLs from FILE too, one a line; '-' is stdin.")
@json_option("Print one JSON object a line, for each URL.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing; stop at the first disallowed URL.")
def check(
    urls: tuple[str, ...],
    robots: str | None,
    product_tokens: tuple[str, ...],
    profile: str,
    file: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """
    Tell whether the rules of a robots.txt allow URLs.

    A URL is absolute, or just a path that starts with '/'. Each gets one line: the verdict, the URL
    and what decided; in a pipe, tabs are between them. The exit code is 0 if all are allowed, 1 if
    any is disallowed, 2 for usage or I/O.

    \b
    Examples:
      robotrules check https://example.com/a --as ExampleBot --robots robots.txt
      robotrules check /a /b?q=1 --as ExampleBot-News --as ExampleBot --robots robots.txt
      curl -s https://example.com/robots.txt | robotrules check /a --as ExampleBot --robots -
      zcat urls.gz | robotrules check --urls - --as ExampleBot --robots robots.txt --json
    """
    _one_stdin(robots, file)
    if not urls and file is None:
        raise Trouble(_no_urls())
    parsed = given_robots(robots, profile)
    tokens = given_tokens(product_tokens, profile)
    first = given_urls(urls, profile)
    rules = parsed.rules_for(single_or_many(tokens))
    if quiet:
        return int(not all(_all_allowed(rules, chunk) for chunk in _chunks(first, file)))
    say_notes(parsed.notes, robots or "")
    return _report(rules, first, file, tokens, as_json)


def _one_stdin(robots: str | None, file: str | None) -> None:
    if robots == STDIN and file == STDIN:
        raise Trouble(
            "--robots and --urls cannot both be stdin: pass one of them as a file, as in "
            "--robots robots.txt --urls -"
        )


def _no_urls() -> str:
    if sys.stdin is not None and not is_terminal(sys.stdin):
        return "no URL was given: to read them from stdin, one a line, add --urls -"
    return "no URL was given: pass URLs, or --urls FILE with one a line"


def _chunks(first: list[bytes], file: str | None, stream: object = None) -> Iterator[Chunk]:
    """Yield the URLs of the command line, then those of the file."""
    if first:
        yield Chunk(first, 0)
    if file is not None:
        opened = open_octets(file, "URLs")
        try:
            yield from url_chunks(opened, file)
        finally:
            if file != STDIN:
                opened.close()


def _all_allowed(rules: robotrules.RuleSet, chunk: Chunk) -> bool:
    return all(rules.allows_many(chunk.urls))
