"""
`robotrules explain`: how a verdict is reached, as text or JSON.

A wrapper around `RobotsTxt.explain`: the selected groups, the normalized path, the rule that wins,
the rules that lose, and how the file was fetched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from robotrules import Explanation, Match, Outcome, Reason, RobotsTxt
from robotrules.cli.client import ClientOptions, with_client_options
from robotrules.cli.console import CliError, Output
from robotrules.cli.options import (
    describe_crawler,
    json_option,
    parse_crawler,
    parse_purposes,
    parse_urls,
    parsing_profile,
    purpose_option,
    read_robots_option,
    robots_options,
)
from robotrules.cli.text import Excerpt, Paint, format_range, listed, plural, truncate
from robotrules.json_results.crawlers import CrawlerChoice
from robotrules.octets import visible
from robotrules.robotstxt.values import Line, Note
from robotrules.robotstxt.verdict import GroupMatch

if TYPE_CHECKING:
    from robotrules.client.origin_state import OriginState

# How much of a long list is shown; JSON has all of it.
MOST = 20
MOST_NAMES = 6
LONGEST = 300

OUTCOMES = {
    Outcome.WINS: "the longest match",
    Outcome.FEWER_OCTETS: "shorter match",
    Outcome.ALLOW_WINS_TIE: "same length, but allow wins a tie",
    Outcome.LATER_LINE: "same rule on a later line",
    Outcome.NOT_CONSULTED: "not consulted",
}
SENTENCES = {
    Reason.NO_MATCH: "no rule matches, so the URL is allowed",
    Reason.NO_RULES: "the groups have no rule that can match, so every URL is allowed",
    Reason.NO_GROUP: "no group applies to this crawler, so every URL is allowed",
}
# Reasons for which no file, and so no group, decides.
NO_FILE = (Reason.UNAVAILABLE, Reason.UNREACHABLE, Reason.RESTRICTED)


@click.command()
@click.argument("urls", nargs=-1, metavar="URL...")
@robots_options
@purpose_option
@json_option("Print one JSON object per URL, described by docs/explain.md.")
@with_client_options()
def explain(
    urls: tuple[str, ...],
    robots: str | None,
    product_tokens: tuple[str, ...],
    literal: bool,
    profile: str,
    purposes: tuple[str, ...],
    as_json: bool,
    client_options: ClientOptions,
) -> int:
    """
    Explain how the verdict on a URL is reached.

    Shows the groups that the crawler obeys and why, the normalized path, the deciding rule, all
    other matching rules and why they lose, and notes on the file. Well-known crawlers select groups
    as their operators document it. Without --robots, the robots.txt of the URL's origin is fetched,
    and the fetch is shown, too. Lines and columns start at 1; columns count bytes. The exit code is
    that of check.

    \b
    Examples:
      robotrules explain https://example.com/a%2Fb?q=1 --as ExampleBot
      robotrules explain /a --as ExampleBot --robots robots.txt --json
      robotrules explain /a --as ExampleBot --purpose EXAMPLE-PURPOSE-1 --robots robots.txt
    """
    if not urls:
        raise CliError("missing URL: pass one, such as https://example.com/a")
    access, profile = profile, parsing_profile(profile, fetches=robots is None)
    crawler = parse_crawler(product_tokens, profile, literal=literal, hint_registry=False)
    purposes = parse_purposes(purposes, profile)
    with ExitStack() as opened:
        parsed = lookup = None
        if robots is not None:
            client_options.hint_unused()
            parsed = read_robots_option(robots, profile)
        else:
            from robotrules.cli.origin_lookup import OriginLookup, refuse_paths

            refuse_paths(urls)
            client = opened.enter_context(client_options.client(access))
            lookup = OriginLookup(client, refresh=client_options.refresh, profile=profile)
            opened.enter_context(lookup)
        output = Output()
        allowed = True
        for number, url in enumerate(parse_urls(urls, profile)):
            origin_state = None if lookup is None else lookup.look_up_url(url)
            file = origin_state.robots if origin_state else parsed
            assert file is not None
            found = (origin_state or file).explain(url, crawler.names, purposes)
            found = found._replace(known=crawler.known)
            allowed = allowed and found.verdict.allowed
            if as_json:
                output.json(found.as_dict())
            else:
                lines = list(_Page(found, file, output, crawler, origin_state).lines())
                output.lines(["", *lines] if number else lines)
        output.flush()
    return int(not allowed)


class _Page:
    """An explanation as lines of text."""

    def __init__(
        self,
        explanation: Explanation,
        robots: RobotsTxt,
        output: Output,
        crawler: CrawlerChoice,
        origin_state: OriginState | None = None,
    ) -> None:
        self._known = crawler.known
        self._explanation = explanation
        self._robots = robots
        self._origin_state = origin_state
        self._paint: Paint = output.paint
        self._room = max(output.width - 10, 40)

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        yield from self._head()
        winner, losers = self._explanation.winner, self._explanation.losers
        lines = {line.number: line for line in self._robots.lines} if winner or losers else {}
        if winner:
            yield ""
            yield self._paint("heading", "Deciding rule")
            yield from self._match(winner, lines)
        if losers:
            yield ""
            yield self._paint("heading", "Other matching rules" if winner else "Matching rules")
            for match in losers[:MOST]:
                yield from self._match(match, lines)
            yield from self._more(len(losers))
        if self._origin_state is not None:
            yield ""
            yield self._paint("heading", "How the file was fetched")
            from robotrules.cli.access_text import access_lines

            yield from (f"  {line}" for line in access_lines(self._origin_state))
        if self._explanation.notes:
            yield ""
            yield self._paint("heading", "Notes")
            yield from map(self._note, self._explanation.notes[:MOST])
            yield from self._more(len(self._explanation.notes))

    def _head(self) -> Iterator[str]:
        explanation, verdict = self._explanation, self._explanation.verdict
        word = "allowed" if verdict else "disallowed"
        yield f"{self._paint(word, word)}  {visible(explanation.url)}"
        yield ""
        yield self._fact("Because", self._because())
        purposes = "".join(f", purpose {visible(purpose)}" for purpose in explanation.purposes)
        crawler = f"{visible(explanation.product_token)}{purposes}, profile {verdict.profile}"
        yield self._fact("Crawler", crawler)
        if self._known is not None and self._known.departures:
            yield self._fact("Registry", describe_crawler(self._known))
        yield self._fact("Path", visible(explanation.path))
        if verdict.reason in NO_FILE:
            return
        yield self._fact("Groups", self._why_groups())
        for group in explanation.groups[:MOST]:
            names = listed(
                [visible(name) for name in group.user_agents]
                + [f"purpose {visible(purpose)}" for purpose in group.purposes],
                MOST_NAMES,
            )
            rules = plural(len(group.rules), "rule")
            yield self._fact("", f"{format_range(*group.lines, 'line')}: {names} ({rules})")
        yield from self._more(len(explanation.groups))
        for record, groups in explanation.group_structures:
            lines = listed([format_range(*group.lines, "line") for group in groups], MOST_NAMES)
            yield self._fact("", f"{record}, by the groups of its own specification: {lines}")

    def _fact(self, name: str, words: str) -> str:
        return f"{self._paint('heading', name)}{' ' * (10 - len(name))}{words}"

    def _because(self) -> str:
        verdict = self._explanation.verdict
        words = SENTENCES.get(verdict.reason, verdict.reason.sentence)
        if verdict.rule is not None:
            words = f"line {verdict.rule.line}: {truncate(visible(str(verdict.rule)), LONGEST)}"
        if self._origin_state is None:
            return words
        from robotrules.cli.access_text import describe_decision

        return describe_decision(words, verdict, self._origin_state)

    def _why_groups(self) -> str:
        explanation = self._explanation
        name, several = visible(explanation.product_token), len(explanation.groups) > 1
        if self._known is not None:
            name = " or ".join(self._known.names)
        if explanation.matched_by is GroupMatch.TOKEN:
            name = " or ".join(map(visible, explanation.matched_tokens))
            return f"these name {name} and are combined" if several else f"this one names {name}"
        if explanation.matched_by is GroupMatch.PURPOSE:
            purpose = " or ".join(map(visible, explanation.matched_purposes))
            chosen = f"these name {purpose}, combined" if several else f"this one names {purpose}"
            return f"none names {name}, and {chosen}"
        if explanation.matched_by is GroupMatch.NONE:
            if self._known is not None and self._known.ignores_star:
                return f"none names {name}, which ignores groups for '*'"
            return f"none names {name}, and there is none for '*'"
        star = "all groups for '*' apply, combined" if several else "the group for '*' applies"
        if explanation.purposes:
            name += f" or its purpose{'s' if len(explanation.purposes) > 1 else ''}"
        return star if name == "*" else f"none names {name}, so {star}"

    def _match(self, match: Match, lines: dict[int, Line]) -> Iterator[str]:
        rule, line = match.rule, lines[match.rule.line]
        style = "allowed" if rule.allow else "disallowed"
        columns = format_range(rule.column, rule.column + rule.end - rule.start - 1, "column")
        words = f"{plural(rule.octets, 'byte')}, {columns}: {OUTCOMES[match.outcome]}"
        excerpt = Excerpt(line.text, rule.start - line.start, rule.end - line.start, self._room)
        yield from excerpt.lines(f"{rule.line:6}", words, self._paint, style)
        if rule.form != rule.pattern:
            form = truncate(visible(rule.form), LONGEST)
            yield f"       {self._paint('faint', '|')} compared as {form}"

    def _note(self, note: Note) -> str:
        where = f"line {note.line}" if note.line else "file"
        where = "--purpose" if note.code == "purposes-not-read" else where
        return f"  {where}: {self._paint(note.level, note.level)} {note.code}: {note.message}"

    def _more(self, count: int) -> Sequence[str]:
        return [f"  and {count - MOST:,} more (see --json)"] if count > MOST else []
