"""RR510: a URL on which the profiles default, strict and google disagree."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice
from urllib.parse import unquote

from robotrules.analysis.crawlers import EVERYONE_ELSE, Crawler, rules_of
from robotrules.analysis.values import ORIGIN
from robotrules.linting.check import Check, relate, relate_notes
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.rule_proofs import CrawlerClass, count_affordable, sample_paths
from robotrules.profile import PROFILES
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.tokens import is_product_token
from robotrules.robotstxt.values import Rule, octets_of

# How many rules are tried, and for how many kinds of crawlers. It is a search by example: each
# difference that is told is shown, and that there are no others is not claimed.
MOST_RULES = 2_000
MOST_KINDS = 50
# Notes of the parser, for whatever profile, on what another reads otherwise.
EXPLAINED = frozenset(
    {
        *("comma-list", "control-character", "control-kept", "cut-bom", "empty-user-agent"),
        *("invalid-utf8", "missing-colon", "nul", "odd-whitespace", "prefix-key"),
        *("space-in-pattern", "star-with-text", "typo", "unusable-user-agent", "user-agent-text"),
    }
)
# Who reads as a profile does, for people.
READERS = {
    "default": "most parsers",
    "strict": "strict RFC 9309 parsers",
    "google": "Google's parser",
}
# What no request has: control characters, what was not UTF-8, and a backslash, which clients take
# for a slash.
_NO_URL = re.compile(r"[\x00-\x1f\x7f\ufffd\\]")
# What clients escape in a path and in a query (WHATWG URL, percent-encode sets).
_ESCAPED = (re.compile(r"[^!$-;=@-\]_a-z|~]+"), re.compile(r"[^!$-;=?-~]+"))
_ESCAPE = re.compile(r"%[0-9a-fA-F]{2}")
_DOTS = re.compile(r"/(?:\.|%2e){1,2}(?:/|\Z)", re.IGNORECASE)


class ProfilesDiffer(Check):
    """
    What it finds:
        A URL on which readers of robots.txt disagree: the RFC with the tolerance most parsers have
        (`default`), the RFC to the letter (`strict`), and Google's published parser (`google`). It
        is looked for among the URLs that the rules of the file spell out, one for each rule, as
        browsers and crawlers send them: `/café` is sent as `/caf%C3%A9`.

    Why it matters:
        A misspelt name, a missing colon, a space or an escape in a pattern is read by one parser
        and not by the next. Then what you ask of crawlers depends on who reads it. Where they
        differ only about another spelling of the URL, one note for the file says so, for
        information. Where another note says why, it is shown for the first line of a group. A file
        in UTF-16 has a note of its own (RR103).

    Example:
            User-agent: *
            Disalow: /drafts/

    Instead:
            User-agent: *
            Disallow: /drafts/

        Other notes on the line say what to change; docs/profiles.md lists how the profiles differ.
    """

    code = "RR510"
    slug = "profiles-differ"
    level = "warning"
    message = "For {name}, {here} this URL, but {there} it{why}."
    reference = "docs/profiles.md; AMB-00"
    summed_up = ("info",)

    def summary(self, context: LintContext, notes: Sequence[LintNote]) -> LintNote:
        """Say for how many rules parsers disagree about another spelling."""
        notes = list({note.start: note for note in reversed(notes)}.values())[::-1]
        if len(notes) == 1:
            return notes[0]
        first = notes[0].message
        words = (
            f"For {len(notes):,} rules, parsers disagree about URLs that are escaped in another "
            f"way. The first one: {first[:1].lower()}{first[1:]}"
        )
        return notes[0]._replace(message=words, related=relate_notes(notes[1:], "here, too"))

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield for each rule the first URL on which the profiles disagree."""
        # Most parsers read nothing of a file in UTF-16, and that note is about every rule (AMB-08).
        if any(note.code == "not-utf8" for note in context.robots.notes):
            return
        told: set[int] = set()
        causes, known = _Causes(context), set[tuple[int, str]]()
        left = MOST_RULES
        for kind in context.crawler_classes[:MOST_KINDS]:
            crawler = _asked(kind)
            if crawler is None or left <= 0:
                continue
            here = kind.rules
            there = {
                name: rules_of(context.parse_as(name), crawler)
                for name in PROFILES
                if name != context.robots.profile.name
            }
            # What only another profile reads as a rule is tried as well.
            written = {rule.line: rule for rule in kind.written}
            for rules in there.values():
                written |= {rule.line: rule for rule in _unshared(rules, kind)}
            # Some paths of each rule are asked under each profile.
            most = min(left, count_affordable(list(written.values()), 4 * len(PROFILES)))
            for line, rule in islice(sorted(written.items()), most):
                left -= 1
                if line in told or causes.of(line) in known:
                    continue
                note = self._compared(context, crawler, rule, here, there)
                if note:
                    told.add(line)
                    cause = causes.of(note.line or line)
                    if cause in known:
                        continue
                    if cause:
                        known.add(cause)
                    yield note

    def _compared(
        self,
        context: LintContext,
        crawler: Crawler,
        rule: Rule,
        here: RuleSet,
        there: dict[str, RuleSet],
    ) -> LintNote | None:
        for url, level in _urls(rule):
            allowed = here.allows(url)
            others = {name: one for name, one in there.items() if one.allows(url) != allowed}
            if not others:
                continue
            verdict = here.check(url)
            other = next(iter(others.values())).check(url)
            at = next((one.rule for one in (verdict, other) if one.rule), rule)
            return self.about(
                context,
                at,
                level=level,
                url=url,
                name=crawler.name if len(context.crawler_classes) > 1 else "everyone",
                here=_readers([context.robots.profile.name], allowed),
                there=_readers(list(others), not allowed),
                why=f" (line {other.line})" if other.line else "",
                related=[relate("decides there", other.rule)]
                if other.rule and other.rule.line != at.line
                else [],
            )
        return None


class _Causes:
    """What parsers noted that makes profiles differ, by line."""

    def __init__(self, context: LintContext) -> None:
        self._noted: dict[int, str] = {}
        for profile in PROFILES:
            # As the engine has them: a file may have a note for each line, and few explain.
            for code, line, _, _ in context.parse_as(profile)._document.notes():
                if line and code in EXPLAINED:
                    self._noted.setdefault(line, code)
        self._starts = [[one.line for one in group.starts] for group in context.groups]
        self._firsts = [starts[0] for starts in self._starts]

    def of(self, line: int) -> tuple[int, str] | None:
        """Return group and code of what makes the difference; None: nothing that was noted."""
        group = bisect_right(self._firsts, line) - 1
        starts = self._starts[group] if group >= 0 else []
        code = next((self._noted[one] for one in (line, *starts) if one in self._noted), None)
        return (group, code) if code else None


def _asked(kind: CrawlerClass) -> Crawler | None:
    """Return a crawler of a kind that every profile can be asked about."""
    for crawler in kind.crawlers:
        if crawler.product_token == EVERYONE_ELSE or is_product_token(crawler.product_token):
            return crawler
    return None


def _unshared(rules: RuleSet, kind: CrawlerClass) -> list[Rule]:
    """Return the rules that another profile reads and this one does not."""
    if len(rules) == len(kind.written):
        return []
    return list(rules.rules)


def _urls(rule: Rule) -> Iterator[tuple[str, str]]:
    """
    Yield URLs that a rule spells out, as written, in normal form and unescaped, each with a level.

    That profiles disagree about a URL which is spelled as the pattern matters more than about one
    that has other escapes.
    """
    seen: set[str] = set()
    for path in sample_paths(rule._replace(form=rule.pattern)):
        sent = _sent(path)
        if sent is not None:
            seen.add(sent)
            yield ORIGIN + sent, "warning"
    for path in sample_paths(rule):
        for one in (path, unquote(path, errors="replace")):
            sent = _sent(one)
            if sent is not None and sent not in seen:
                seen.add(sent)
                yield ORIGIN + sent, "info"


def _sent(path: str) -> str | None:
    """Return a path and query as browsers and crawlers send them; None: they send another one."""
    if _NO_URL.search(path):
        return None
    head, mark, query = path.partition("?")
    if _DOTS.search(head):
        return None  # resolved before it is sent (AMB-46)
    parts = (
        escaped.sub(_octets, one) for escaped, one in zip(_ESCAPED, (head, query), strict=True)
    )
    # Hexadecimal digits are in upper case (RFC 3986 §2.1).
    return _ESCAPE.sub(lambda found: found[0].upper(), mark.join(parts))


def _octets(found: re.Match[str]) -> str:
    return "".join(f"%{octet:02X}" for octet in octets_of(found[0]))


def _readers(names: Sequence[str], allowed: bool) -> str:
    """Return who reads it so, with a verb: `Google's parser allows`."""
    said = " and ".join(READERS.get(name, f"profile {name}") for name in names)
    one = len(names) == 1 and not said.endswith(("parsers", "RFC 9309"))
    verb = "allow" if allowed else "block"
    return f"{said} {verb}{'s' if one else ''}"
