"""
`robotrules tags`: the tag rules in force for a crawler, from saved pages and headers.

A wrapper around `usage_rules`: the combined rules with their sources, rules without effect, other
crawlers that are addressed, and notes. Nothing is fetched.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime

import click

from robotrules.cli.console import STDIN, CliError, Output, quoted
from robotrules.cli.options import (
    json_option,
    parse_tokens,
    parse_urls,
    token_option,
    tokens_of_crawler,
)
from robotrules.cli.page_inputs import (
    carrier_options,
    describe_sources,
    html_libraries,
    note_line,
    parse_headers,
    read_page,
    read_saved_response,
    refuse_repeated_stdin,
    tag_profile_option,
)
from robotrules.cli.text import Paint, cell_width, listed, truncate
from robotrules.json_results.crawlers import single_or_many
from robotrules.json_results.tags import join_fields, robots_profile, tags_values, with_saved_notes
from robotrules.octets import to_text, visible
from robotrules.tags import Mention, ResponseFreshness, RuleStatus, UsageRules, usage_rules
from robotrules.tags.known_rules import EVERYONE, KNOWN, to_json_value
from robotrules.tags.rules import format_rule

# How much of a long list or text is shown; JSON has all of it.
MOST = 20
MOST_SOURCES = 6
LONGEST = 200

STANDINGS = {
    RuleStatus.NO_EFFECT: "no effect",
    RuleStatus.NOT_USED: "not used",
    RuleStatus.UNKNOWN: "unknown",
}


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE]...")
@carrier_options
@token_option
@click.option(
    "--url",
    metavar="URL",
    help="The URL of the response; with https it counts as received over TLS.",
)
@tag_profile_option
@json_option("Print one JSON object per FILE.")
def tags(
    files: tuple[str, ...],
    headers: tuple[str, ...],
    response: str | None,
    dom: str | None,
    product_tokens: tuple[str, ...],
    url: str | None,
    profile: str,
    as_json: bool,
) -> int:
    """
    Show the tag rules of pages and headers.

    Reads Robots-Tag (draft-illyes-repext), X-Robots-Tag and robots meta elements.

    FILE is a saved page; '-' is stdin. All inputs are combined: every rule restricts, and none
    removes the restriction of another. Without --as, the rules for all crawlers are shown. A tag
    rule is a request about the use of a page, not a form of access authorization. The exit code is
    0.

    \b
    Examples:
      robotrules tags page.html --as ExampleBot
      robotrules tags --header 'Robots-Tag: *;noindex, ExampleBot;nosnippet' --as ExampleBot
      robotrules tags --response saved.http --dom rendered.html --as ExampleBot
      curl -s https://example.com/ | robotrules tags - --as ExampleBot --json
    """
    _refuse_combinations(files, headers, response, dom)
    names = tokens_of_crawler(product_tokens)
    tokens = parse_tokens(names, robots_profile(profile)) if names else ()
    crawler = single_or_many(tokens) if tokens else EVERYONE
    address = parse_urls([url], robots_profile(profile), hints=False)[0] if url else None
    typed = parse_headers(headers)
    output = Output()
    for number, name in enumerate(files or (None,)):
        saved = read_saved_response(response) if response is not None else None
        with ExitStack() as opened, html_libraries():
            html = read_page(name, opened) if name is not None else saved.body if saved else None
            rules = usage_rules(
                headers=join_fields((saved.fields if saved else None, typed)),
                html=html,
                complete=saved is None or html is not saved.body or saved.complete,
                dom=None if dom is None else read_page(dom, opened, "the DOM"),
                product_token=crawler,
                url=address,
                profile=profile,
            )
        rules = with_saved_notes(rules, saved)
        file = name if name is not None else response if response is not None else dom
        if as_json:
            output.json(
                tags_values(
                    rules,
                    url=address,
                    profile=profile,
                    status=saved.status if saved else None,
                    file=None if file is None else to_text(os.fsencode(file)),
                )
            )
        else:
            lines = list(_Page(file, rules, tokens, profile, output).lines())
            output.lines(["", *lines] if number else lines)
    output.flush()
    return 0


def _refuse_combinations(
    files: Sequence[str], headers: Sequence[str], response: str | None, dom: str | None
) -> None:
    if not (files or headers or response or dom):
        raise CliError(
            "missing input: pass a page, --response FILE, --dom FILE, or a header line such "
            "as --header 'Robots-Tag: *;noindex'"
        )
    if files and response:
        raise CliError(
            "--response includes the page: remove FILE, or pass the headers with --header"
        )
    if dom and len(files) > 1:
        raise CliError("--dom belongs to one page: pass one FILE")
    for name in files:
        if "://" in name:
            raise CliError(
                f"{quoted(name)} is not a file: save the page or pipe it in, for example from "
                f"curl; "
                "'robotrules guidance' fetches pages"
            )
    refuse_repeated_stdin(*files, response, dom)


class _Page:
    """Usage rules as lines of text."""

    def __init__(
        self,
        file: str | None,
        rules: UsageRules,
        tokens: Sequence[str],
        profile: str,
        output: Output,
    ) -> None:
        self._file, self._rules, self._tokens = file, rules, tokens
        self._profile = profile
        self._paint: Paint = output.paint

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        rules = self._rules
        if self._file is not None:
            name = "stdin" if self._file == STDIN else quoted(self._file)[1:-1]
            yield self._paint("heading", name)
            yield ""
        yield from (self._fact(name, words) for name, words in self._facts())
        if rules.values:
            yield from self._heading("Rules in force")
            yield from self._in_force()
        other = [one for one in rules.mentions if one.standing is not RuleStatus.IN_FORCE]
        if other:
            yield from self._heading("Without effect")
            yield from self._table([self._without_effect(one) for one in other[:MOST]])
            yield from self._more(len(other))
        if rules.notes:
            yield from self._heading("Notes")
            lines = [note_line(note, note.source, self._paint) for note in rules.notes]
            # Several unknown rules of one element give one line; the section above names them.
            notes = list(dict.fromkeys(lines))
            yield from notes[:MOST]
            yield from self._more(len(notes))

    def _facts(self) -> Iterator[tuple[str, str]]:
        rules = self._rules
        yield "Crawler", f"{self._who()}, profile {self._profile}"
        yield "Read", describe_sources(rules)
        yield "Index", self._index()
        yield "Snippet", self._may(rules.may_snippet) + _at_most(rules.max_snippet, "character")
        yield "Follow links", self._may(rules.may_follow)
        yield "Stored copy", self._may(rules.may_archive)
        if rules.others:
            names = listed([truncate(visible(name), LONGEST) for name in rules.others], MOST)
            yield "Others", f"{names} (see --as)"
        if words := _describe_freshness(rules.freshness):
            yield "Fresh", words

    def _who(self) -> str:
        if not self._tokens:
            return "every crawler (select one with --as TOKEN)"
        return " or ".join(map(visible, self._tokens))

    def _may(self, may: bool | None) -> str:
        if may is None:
            return self._paint("faint", "unknown")
        return self._paint("allowed", "yes") if may else self._paint("disallowed", "no")

    def _index(self) -> str:
        rules, now = self._rules, datetime.now(UTC)
        may = self._may(rules.may_index_at(now))
        if rules.may_index is False:
            embedded = ", except where it is embedded in another page"
            return may + (embedded if rules.may_index_embedded else "")
        if (until := rules.unavailable_after) is not None:
            return f"{may}, {'until' if until >= now else 'since'} {to_json_value(until)}"
        return may if rules.complete else f"{may}, because not all of the page was read"

    def _in_force(self) -> Iterator[str]:
        shown_rules = [visible(format_rule(name, value)) for name, value in self._rules.values]
        width = max(map(cell_width, shown_rules))
        for rule, (name, _) in zip(shown_rules, self._rules.values, strict=True):
            words = KNOWN[name].words if name in KNOWN else ""
            yield f"  {rule}{' ' * (width - cell_width(rule))}  {words}".rstrip()
            because = self._rules.mentions_of(name)
            yield from (f"    {self._describe_mention(one)}" for one in because[:MOST_SOURCES])
            if len(because) > MOST_SOURCES:
                yield f"    and {len(because) - MOST_SOURCES:,} more (see --json)"

    def _without_effect(self, one: Mention) -> tuple[str, str, str]:
        return truncate(visible(one.name), 40), STANDINGS[one.standing], self._describe_mention(one)

    def _describe_mention(self, one: Mention) -> str:
        """Return the source and text of a rule, and the crawler if it names one."""
        whom = "" if one.token == EVERYONE else f" for {truncate(visible(one.token), 40)}"
        return f"{one.source}{whom}: {truncate(visible(one.text), LONGEST)}"

    def _fact(self, name: str, words: str) -> str:
        return f"{self._paint('heading', name)}{' ' * (14 - len(name))}{words}"

    def _heading(self, words: str) -> Iterator[str]:
        yield ""
        yield self._paint("heading", words)

    def _table(self, parts: Iterable[tuple[str, ...]]) -> Iterator[str]:
        rows = list(parts)
        widths = [max(map(cell_width, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            padded = (
                text + " " * (width - cell_width(text))
                for text, width in zip(row, widths, strict=True)
            )
            yield f"  {'  '.join(padded)}".rstrip()

    def _more(self, count: int) -> Sequence[str]:
        return [f"  and {count - MOST:,} more (see --json)"] if count > MOST else []


def _at_most(count: int | None, noun: str) -> str:
    if not count:
        return ""
    return f", at most {count:,} {noun}{'' if count == 1 else 's'}"


def _describe_freshness(found: ResponseFreshness) -> str:
    """Return how long the response is fresh; empty if it does not say."""
    words = []
    if found.lifetime is not None:
        spent = f", {found.age:,.0f} elapsed" if found.age else ""
        words.append(f"{found.lifetime:,.0f} seconds ({found.reason}){spent}")
    if found.must_validate:
        words.append("must be revalidated each time (no-cache)")
    if not found.may_store:
        words.append("must not be stored (no-store)")
    return "; ".join(words)
