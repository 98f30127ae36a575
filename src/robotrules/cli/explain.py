"""
`robotrules explain`: how a verdict is reached, for a person or as JSON.

A few lines over `RobotsTxt.explain`, or over a client that fetches the file first: the groups that
count and why, the path in the form it is compared in, the rule that wins and those that lose, each
where it stands, and how the file was got. It does not decide anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from robotrules import Explanation, Match, Outcome, Reason, RobotsTxt
from robotrules.cli.client import Opening, client_options
from robotrules.cli.options import (
    GivenCrawler,
    given_crawler,
    given_purposes,
    given_robots,
    given_urls,
    json_option,
    known_words,
    parsing_profile,
    purpose_option,
    robots_options,
)
from robotrules.cli.streams import CliError, Output
from robotrules.cli.text import Excerpt, Paint, between, listed, plural, shortened
from robotrules.octets import visible
from robotrules.robotstxt.values import Line, Note
from robotrules.robotstxt.verdict import GroupMatch

if TYPE_CHECKING:
    from robotrules.client.origin_state import OriginState

# What a person reads of a long list; JSON has all of it.
MOST = 20
MOST_NAMES = 6
LONGEST = 300

OUTCOMES = {
    Outcome.WINS: "the most octets",
    Outcome.FEWER_OCTETS: "fewer octets",
    Outcome.ALLOW_WINS_TIE: "as many octets, but allow wins a tie",
    Outcome.LATER_LINE: "says the same on a later line",
    Outcome.NOT_CONSULTED: "not consulted",
}
SENTENCES = {
    Reason.NO_MATCH: "no rule matches, and what no rule matches is allowed",
    Reason.NO_RULES: "the groups have no rule that can match, so all is allowed",
    Reason.NO_GROUP: "no group is for this crawler, so all is allowed",
}
# Where no file decides, no groups do.
NO_FILE = (Reason.UNAVAILABLE, Reason.UNREACHABLE, Reason.RESTRICTED)


@click.command()
@click.argument("urls", nargs=-1, metavar="URL...")
@robots_options
@purpose_option
@json_option("Print one JSON object for each URL; docs/explain.schema.json describes it.")
@client_options()
def explain(
    urls: tuple[str, ...],
    robots: str | None,
    product_tokens: tuple[str, ...],
    literal: bool,
    profile: str,
    purposes: tuple[str, ...],
    as_json: bool,
    opening: Opening,
) -> int:
    """
    Explain how the verdict on a URL is reached.

    Shows the groups that the crawler obeys and why, the path in the form that rules are compared
    with, the rule that decides, every other rule that matches and why it loses, and notes on what
    was read. A well-known crawler chooses groups as its operator documents it, which is shown.
    Without --robots, the robots.txt of the URL's origin is fetched, and how it was got is shown
    too. Lines and columns count from 1, columns in octets. The exit code is that of check.

    \b
    Examples:
      robotrules explain https://example.com/a%2Fb?q=1 --as ExampleBot
      robotrules explain /a --as ExampleBot --robots robots.txt --json
      robotrules explain /a --as ExampleBot --purpose EXAMPLE-PURPOSE-1 --robots robots.txt
    """
    if not urls:
        raise CliError("no URL was given: pass one, such as https://example.com/a")
    access, profile = profile, parsing_profile(profile, fetches=robots is None)
    crawler = given_crawler(product_tokens, profile, literal=literal, says_known=False)
    purposes = given_purposes(purposes, profile)
    with ExitStack() as opened:
        parsed = looker = None
        if robots is not None:
            opening.hint_unused()
            parsed = given_robots(robots, profile)
        else:
            from robotrules.cli.origin_lookup import Looker, refuse_paths

            refuse_paths(urls)
            client = opened.enter_context(opening.client(access))
            looker = Looker(client, fresh=opening.fresh, profile=profile)
            opened.enter_context(looker)
        output = Output()
        allowed = True
        for number, url in enumerate(given_urls(urls, profile)):
            held = None if looker is None else looker.held_of(url)
            file = held.robots if held else parsed
            assert file is not None
            found = (held or file).explain(url, crawler.names, purposes)
            found = found._replace(known=crawler.known)
            allowed = allowed and found.verdict.allowed
            if as_json:
                output.json(found.as_dict())
            else:
                lines = list(_Page(found, file, output, crawler, held).lines())
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
        crawler: GivenCrawler,
        held: OriginState | None = None,
    ) -> None:
        self._known = crawler.known
        self._explanation = explanation
        self._robots = robots
        self._held = held
        self._paint: Paint = output.paint
        self._room = max(output.width - 10, 40)

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        yield from self._head()
        winner, losers = self._explanation.winner, self._explanation.losers
        lines = {line.number: line for line in self._robots.lines} if winner or losers else {}
        if winner:
            yield ""
            yield self._paint("heading", "The rule that decides")
            yield from self._match(winner, lines)
        if losers:
            yield ""
            yield self._paint("heading", "Other rules that match" if winner else "Rules that match")
            for match in losers[:MOST]:
                yield from self._match(match, lines)
            yield from self._more(len(losers))
        if self._held is not None:
            yield ""
            yield self._paint("heading", "How the file was got")
            from robotrules.cli.access_text import access_lines

            yield from (f"  {line}" for line in access_lines(self._held))
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
            yield self._fact("Registry", known_words(self._known))
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
            yield self._fact("", f"{between(*group.lines, 'line')}: {names} ({rules})")
        yield from self._more(len(explanation.groups))
        for record, groups in explanation.group_structures:
            lines = listed([between(*group.lines, "line") for group in groups], MOST_NAMES)
            yield self._fact("", f"{record}, by its own document: {lines}")

    def _fact(self, name: str, words: str) -> str:
        return f"{self._paint('heading', name)}{' ' * (10 - len(name))}{words}"

    def _because(self) -> str:
        verdict = self._explanation.verdict
        words = SENTENCES.get(verdict.reason, verdict.reason.sentence)
        if verdict.rule is not None:
            words = f"line {verdict.rule.line}: {shortened(visible(str(verdict.rule)), LONGEST)}"
        if self._held is None:
            return words
        from robotrules.cli.access_text import because_words

        return because_words(words, verdict, self._held)

    def _why_groups(self) -> str:
        explanation = self._explanation
        name, several = visible(explanation.product_token), len(explanation.groups) > 1
        if self._known is not None:
            name = " or ".join(self._known.names)
        if explanation.matched_by is GroupMatch.TOKEN:
            name = " or ".join(map(visible, explanation.matched_tokens))
            return f"these name {name} and are merged" if several else f"this one names {name}"
        if explanation.matched_by is GroupMatch.PURPOSE:
            purpose = " or ".join(map(visible, explanation.matched_purposes))
            chosen = f"these name {purpose}, merged" if several else f"this one names {purpose}"
            return f"none names {name}, and {chosen}"
        if explanation.matched_by is GroupMatch.NONE:
            if self._known is not None and self._known.ignores_star:
                return f"none names {name}, which ignores groups for '*'"
            return f"none names {name}, and none is for '*'"
        star = "all groups for '*' count, merged" if several else "the one for '*' counts"
        if explanation.purposes:
            name += f" or its purpose{'s' if len(explanation.purposes) > 1 else ''}"
        return star if name == "*" else f"none names {name}, so {star}"

    def _match(self, match: Match, lines: dict[int, Line]) -> Iterator[str]:
        rule, line = match.rule, lines[match.rule.line]
        style = "allowed" if rule.allow else "disallowed"
        columns = between(rule.column, rule.column + rule.end - rule.start - 1, "column")
        words = f"{plural(rule.octets, 'octet')}, {columns}: {OUTCOMES[match.outcome]}"
        excerpt = Excerpt(line.text, rule.start - line.start, rule.end - line.start, self._room)
        yield from excerpt.lines(f"{rule.line:6}", words, self._paint, style)
        if rule.form != rule.pattern:
            form = shortened(visible(rule.form), LONGEST)
            yield f"       {self._paint('faint', '|')} compared as {form}"

    def _note(self, note: Note) -> str:
        where = f"line {note.line}" if note.line else "file"
        where = "--purpose" if note.code == "purposes-not-read" else where
        return f"  {where}: {self._paint(note.level, note.level)} {note.code}: {note.message}"

    def _more(self, count: int) -> Sequence[str]:
        return [f"  and {count - MOST:,} more, which --json shows"] if count > MOST else []
