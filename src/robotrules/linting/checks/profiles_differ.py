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
from robotrules.octets import to_octets
from robotrules.profile import PROFILES
from robotrules.robotstxt.internals import get_document
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.tokens import is_product_token
from robotrules.robotstxt.values import Rule

# Rules and classes of crawlers that are tried. This is a search by example: each reported
# difference has a URL that proves it, but other differences may exist.
MOST_RULES = 2_000
MOST_CLASSES = 50
# Parser notes, under any profile, on text that another profile reads differently.
EXPLAINED = frozenset(
    {
        *("comma-list", "control-character", "control-kept", "cut-bom", "empty-user-agent"),
        *("invalid-utf8", "missing-colon", "nul", "odd-whitespace", "prefix-key"),
        *("space-in-pattern", "star-with-text", "typo", "unusable-user-agent", "user-agent-text"),
    }
)
# The parsers that read a file as a profile does, for messages.
READERS = {
    "default": "most parsers",
    "strict": "strict RFC 9309 parsers",
    "google": "Google's parser",
}
# Characters that no request has: control characters, replaced octets that were not UTF-8, and the
# backslash, which clients convert to a slash.
_NO_URL = re.compile(r"[\x00-\x1f\x7f\ufffd\\]")
# Characters that clients escape in a path and in a query (WHATWG URL, percent-encode sets).
_ESCAPED = (re.compile(r"[^!$-;=@-\]_a-z|~]+"), re.compile(r"[^!$-;=?-~]+"))
_ESCAPE = re.compile(r"%[0-9a-fA-F]{2}")
_DOTS = re.compile(r"/(?:\.|%2e){1,2}(?:/|\Z)", re.IGNORECASE)


class ProfilesDiffer(Check):
    """
    What it finds:
        A URL on which parsers disagree: the RFC with the tolerance that most parsers have
        (`default`), the RFC to the letter (`strict`), and Google's published parser (`google`). The
        search covers the URLs that the rules of the file spell out, one for each rule, as browsers
        and crawlers send them: `/café` is sent as `/caf%C3%A9`.

    Why it matters:
        Parsers differ on misspelt names, missing colons, and spaces or escapes in patterns, so
        different crawlers read such a file differently. If they differ only on URLs with other
        escapes, the file has one note for information. If another note gives the cause, only the
        first line of a group is reported. RR103 reports a file in UTF-16.

    Example:
            User-agent: *
            Disalow: /drafts/

    Instead:
            User-agent: *
            Disallow: /drafts/

        Other notes on the line say what to change; docs/profiles.md lists the differences between
        the profiles.
    """

    code = "RR510"
    slug = "profiles-differ"
    level = "warning"
    message = "For {name}, {here} this URL, but {there} it{why}."
    reference = "docs/profiles.md; AMB-00"
    summed_up = ("info",)

    def summary(self, context: LintContext, notes: Sequence[LintNote]) -> LintNote:
        """Return the number of rules on whose other spellings parsers disagree."""
        notes = list({note.start: note for note in reversed(notes)}.values())[::-1]
        if len(notes) == 1:
            return notes[0]
        first = notes[0].message
        words = (
            f"Parsers disagree on {len(notes):,} rules for URLs with other percent-encoding. The "
            f"first: {first[:1].lower()}{first[1:]}"
        )
        return notes[0]._replace(message=words, related=relate_notes(notes[1:], "also here"))

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield for each rule the first URL on which the profiles disagree."""
        # Most parsers find no rules in a file in UTF-16, and RR103 covers every rule (AMB-08).
        if any(note.code == "not-utf8" for note in context.robots.notes):
            return
        reported: set[int] = set()
        causes, known = _Causes(context), set[tuple[int, str]]()
        left = MOST_RULES
        for crawler_class in context.crawler_classes[:MOST_CLASSES]:
            crawler = _choose_crawler(crawler_class)
            if crawler is None or left <= 0:
                continue
            here = crawler_class.rules
            there = {
                name: rules_of(context.parse_as(name), crawler)
                for name in PROFILES
                if name != context.robots.profile.name
            }
            # Lines that only another profile reads as a rule are tried as well.
            written = {rule.line: rule for rule in crawler_class.written}
            for rules in there.values():
                written |= {rule.line: rule for rule in _find_unshared(rules, crawler_class)}
            # Some paths of each rule are matched under each profile.
            most = min(left, count_affordable(list(written.values()), 4 * len(PROFILES)))
            for line, rule in islice(sorted(written.items()), most):
                left -= 1
                if line in reported or causes.find(line) in known:
                    continue
                note = self._compare(context, crawler, rule, here, there)
                if note:
                    reported.add(line)
                    cause = causes.find(note.line or line)
                    if cause in known:
                        continue
                    if cause:
                        known.add(cause)
                    yield note

    def _compare(
        self,
        context: LintContext,
        crawler: Crawler,
        rule: Rule,
        here: RuleSet,
        there: dict[str, RuleSet],
    ) -> LintNote | None:
        for url, level in _example_urls(rule):
            allowed = here.allows(url)
            others = {name: rules for name, rules in there.items() if rules.allows(url) != allowed}
            if not others:
                continue
            verdict = here.check(url)
            other = next(iter(others.values())).check(url)
            at = verdict.rule or other.rule or rule
            return self.about(
                context,
                at,
                level=level,
                url=url,
                name=crawler.name if len(context.crawler_classes) > 1 else "all crawlers",
                here=_describe_readers([context.robots.profile.name], allowed),
                there=_describe_readers(list(others), not allowed),
                why=f" (line {other.line})" if other.line else "",
                related=[relate("decides for the other parser", other.rule)]
                if other.rule and other.rule.line != at.line
                else [],
            )
        return None


class _Causes:
    """The parser notes that explain why profiles differ, by line."""

    def __init__(self, context: LintContext) -> None:
        self._noted: dict[int, str] = {}
        for profile in PROFILES:
            # From the engine directly: a file may have a note for each line, and few are causes.
            for code, line, _, _ in get_document(context.parse_as(profile)).notes():
                if line and code in EXPLAINED:
                    self._noted.setdefault(line, code)
        self._starts = [[start.line for start in group.starts] for group in context.groups]
        self._firsts = [starts[0] for starts in self._starts]

    def find(self, line: int) -> tuple[int, str] | None:
        """Return the group and the code of the note that explains a difference; None: no note."""
        group = bisect_right(self._firsts, line) - 1
        starts = self._starts[group] if group >= 0 else []
        code = next((self._noted[at] for at in (line, *starts) if at in self._noted), None)
        return (group, code) if code else None


def _choose_crawler(crawler_class: CrawlerClass) -> Crawler | None:
    """Return a crawler of a class whose product token is valid under every profile."""
    for crawler in crawler_class.crawlers:
        if crawler.product_token == EVERYONE_ELSE or is_product_token(crawler.product_token):
            return crawler
    return None


def _find_unshared(rules: RuleSet, crawler_class: CrawlerClass) -> list[Rule]:
    """Return the rules of another profile if it reads other lines as rules than this one."""
    if len(rules) == len(crawler_class.written):
        return []
    return list(rules.rules)


def _example_urls(rule: Rule) -> Iterator[tuple[str, str]]:
    """
    Yield URLs that a rule spells out, as written, in normal form and unescaped, each with a level.

    A difference on a URL that is spelled like the pattern matters more than one on a URL with other
    escapes.
    """
    seen: set[str] = set()
    for path in sample_paths(rule._replace(form=rule.pattern)):
        sent = _encode_request(path)
        if sent is not None:
            seen.add(sent)
            yield ORIGIN + sent, "warning"
    for path in sample_paths(rule):
        for spelling in (path, unquote(path, errors="replace")):
            sent = _encode_request(spelling)
            if sent is not None and sent not in seen:
                seen.add(sent)
                yield ORIGIN + sent, "info"


def _encode_request(path: str) -> str | None:
    """Return a path and query as clients send them; None if no client sends such a path."""
    if _NO_URL.search(path):
        return None
    head, mark, query = path.partition("?")
    if _DOTS.search(head):
        return None  # resolved before it is sent (AMB-46)
    parts = (
        escaped.sub(_escape, part) for escaped, part in zip(_ESCAPED, (head, query), strict=True)
    )
    # Hexadecimal digits are in upper case (RFC 3986 §2.1).
    return _ESCAPE.sub(lambda match: match[0].upper(), mark.join(parts))


def _escape(match: re.Match[str]) -> str:
    return "".join(f"%{octet:02X}" for octet in to_octets(match[0]))


def _describe_readers(names: Sequence[str], allowed: bool) -> str:
    """Return the parsers of some profiles with a verb: `Google's parser allows`."""
    readers = " and ".join(READERS.get(name, f"profile {name}") for name in names)
    is_singular = len(names) == 1 and not readers.endswith(("parsers", "RFC 9309"))
    verb = "allow" if allowed else "block"
    return f"{readers} {verb}{'s' if is_singular else ''}"
