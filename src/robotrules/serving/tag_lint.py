"""
Lint of `[[tags]]` tables: their path patterns, their crawlers, and rules that no crawler reads.

Patterns and names mean the same as in a robots.txt, so the checks of lint that concern them run on
a small robots.txt with those of a table. A note has the line of its table in the policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robotrules.analysis.pattern_examples import find_examples
from robotrules.analysis.pattern_trace import ParsedPattern
from robotrules.linting import LintNote, lint, lint_page
from robotrules.robotstxt import RobotsTxt
from robotrules.tags.known_rules import EVERYONE
from robotrules.write import robots_tag_fields
from robotrules.write.tag_policy import PathTags

# The checks of a page that concern a policy: tags of a page that crawlers may not fetch.
NOT_SEEN = ("RR861", "RR862")
DOLLAR_INSIDE = "RR517"
# Checks of single patterns: what they match. Others compare rules, or parsers of crawlers.
PATTERN_CHECKS = (DOLLAR_INSIDE, "RR516", "RR519", "RR521", "RR523")
NAME_CHECKS = ("RR412", "RR414")
# The server matches the patterns of tags, so crawlers do not differ about them.
_WORDS = (
    ("in Google's parser only URLs", "only URLs"),
    ("all crawlers read it literally", "it is matched literally"),
)


def lint_tags(robots: RobotsTxt, table: PathTags, ignore: Sequence[str]) -> Iterator[LintNote]:
    """Yield the notes on a table of a policy with this robots.txt."""
    yield from _lint_names(table, ignore)
    yield from _lint_patterns(table, ignore)
    for pattern in table.patterns:
        yield from _lint_reach(robots, table, pattern, ignore)


def _lint_names(table: PathTags, ignore: Sequence[str]) -> Iterator[LintNote]:
    names = [name for name in table.crawlers if name != EVERYONE]
    lines = [f"User-agent: {name}\n" for name in names]
    for note in lint("".join([*lines, "Disallow: /x\n"]), select=NAME_CHECKS, ignore=ignore):
        if note.line and note.line <= len(names):
            yield _place(note, f"tags, crawler {names[note.line - 1]!r}", table)


def _lint_patterns(table: PathTags, ignore: Sequence[str]) -> Iterator[LintNote]:
    lines = ["User-agent: *\n", *(f"Disallow: {pattern}\n" for pattern in table.patterns)]
    for note in lint("".join(lines), select=PATTERN_CHECKS, ignore=ignore):
        if note.line is None or not 1 < note.line <= len(lines):
            continue
        pattern = table.patterns[note.line - 2]
        # In a robots.txt, parsers that drop the rule keep the site open; here nothing is sent.
        level = "warning" if note.code == DOLLAR_INSIDE else note.level
        message = note.message
        for crawlers, server in _WORDS:
            message = message.replace(crawlers, server)
        note = note._replace(level=level, message=message)
        yield _place(note, f"tags for {pattern!r}", table)


def _lint_reach(
    robots: RobotsTxt, table: PathTags, pattern: str, ignore: Sequence[str]
) -> Iterator[LintNote]:
    """Yield a note if all examples of a pattern are URLs that crawlers may not fetch."""
    examples = find_examples(ParsedPattern(pattern, robots.profile)).matches
    fields = robots_tag_fields(table.by_token(), legacy=True)
    for token in table.crawlers:
        rules = robots.rules_for(token)
        # Most patterns have an example that can be fetched, which is quick to see.
        if not examples or any(rules.allows(example.url) for example in examples):
            continue
        found = lint_page(
            examples[0].url,
            headers=fields,
            robots=robots,
            product_token=token,
            select=NOT_SEEN,
            ignore=ignore,
        )
        if found:
            # The note is about the field of one URL; its line is that of the table.
            where = f"tags for {pattern!r}" + (f" and {token}" if token != EVERYONE else "")
            yield _place(found[0], where, table)


def _place(note: LintNote, where: str, table: PathTags) -> LintNote:
    """Return a note at the line of its table; spans and fixes are those of another text."""
    return note._replace(
        part=where, line=table.line, column=1, end_column=1, start=0, end=0, related=(), fix=None
    )
