"""
An audit as text: what was asked and answered, part by part, then what was found.

It puts an `Audit` into lines, and makes every control character of what a stranger wrote a plain
one. It does not look for anything itself.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from robotrules import Verdict
from robotrules.cache import EffectivePolicy
from robotrules.cli.access_text import access_lines, page_words, reason_words, state_words
from robotrules.cli.guidance_text import STYLES, GuidanceReport, shown_answers, unseen_mentions
from robotrules.cli.streams import Output
from robotrules.cli.text import Paint, plural, shortened
from robotrules.client.auditing.findings import LEVELS
from robotrules.http.media_types import parse_media_type
from robotrules.octets import visible

if TYPE_CHECKING:
    from robotrules.client.auditing import Audit, SitemapListing
    from robotrules.client.origin_state import OriginState

# What a person reads of a long list or text; JSON has all of it.
MOST = 40
LONGEST = 200


class AuditPage:
    """An audit as lines of text."""

    def __init__(self, audit: Audit, profile: str, output: Output) -> None:
        self._audit = audit
        self._profile = profile
        self._paint: Paint = output.paint
        self._room = max(output.width - 2, 40)

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        audit = self._audit
        yield self._paint("heading", _cut(audit.url))
        names = " or ".join(map(visible, audit.product_tokens))
        who = "every crawler that no group names ('*')" if names == "*" else names
        purposes = "".join(f", purpose {visible(one)}" for one in audit.purposes)
        yield f"  for {who}{purposes}, profile {self._profile}"
        yield f"  asked as {visible(audit.user_agent)}"
        yield from self._part("robots.txt", self._robots())
        yield from self._part("Page", self._page())
        if audit.sitemaps:
            yield from self._part("Sitemaps", self._sitemaps())
        yield from self._part("Findings", self._findings())
        yield ""
        yield ", ".join(plural(audit.count(level), level) for level in LEVELS[:2]) + (
            f", {audit.count('info'):,} for information"
        )

    def _part(self, name: str, lines: Iterator[str]) -> Iterator[str]:
        yield ""
        yield self._paint("heading", name)
        yield from lines

    def _robots(self) -> Iterator[str]:
        audit = self._audit
        yield from (f"  {line}" for line in access_lines(audit.origin_state))
        if audit.origin_state.policy is EffectivePolicy.RULES:
            robots = audit.origin_state.robots
            rules = sum(len(group.rules) for group in robots.groups)
            yield f"  {plural(len(robots.groups), 'group')}, {plural(rules, 'rule')}"
        if audit.other_scheme is not None:
            yield f"  {audit.other_scheme.origin}: {self._other(audit.other_scheme)}"

    def _other(self, other: OriginState) -> str:
        ours, theirs = self._audit.origin_state.fetch_record, other.fetch_record
        if ours and theirs and ours.digest and ours.digest == theirs.digest:
            return "the same robots.txt"
        return "another robots.txt" if other.policy is EffectivePolicy.RULES else state_words(other)

    def _verdict(self, verdict: Verdict, held: OriginState | None) -> str:
        word = "allowed" if verdict else "disallowed"
        why = reason_words(verdict, held)
        if verdict.rule is not None:
            why = f"line {verdict.rule.line}: {_cut(str(verdict.rule))}"
        return f"{self._paint(word, word)}, {why}"

    def _page(self) -> Iterator[str]:
        audit, page = self._audit, self._audit.page
        for number, step in enumerate(audit.steps[:MOST]):
            held = audit.origin_state if number == 0 else page.origin_state
            last = number == len(audit.steps) - 1
            status = "" if last or step.status is None else f"status {step.status}; "
            yield f"  {_cut(step.url)}: {status}{self._verdict(step.verdict, held)}"
        yield from self._more(len(audit.steps))
        # A trouble may be that of a robots.txt that is unreachable, and then nobody asked.
        if page.status is None and (page.failure_reason is None or not page.verdict):
            yield "  not asked for, so it is unknown what it says; --own reads it, if it is yours"
            return
        named = parse_media_type(page.fields)
        yield f"  {page_words(page)}{f', {_cut(named)}' if named else ''}"
        for link in audit.canonicals[:MOST]:
            yield f"  canonical in a {link.carrier}: {_cut(link.url)}"
        yield from self._answers()

    def _answers(self) -> Iterator[str]:
        audit = self._audit
        found = GuidanceReport(audit.guidance, self._profile, None, None, audit.page)
        answers = [one for one in shown_answers(found) if one.subject != "crawl"]
        width = max(len(one.subject) for one in answers)
        for subject, answer, because in answers[:MOST]:
            said = self._paint(STYLES[answer], answer) if answer in STYLES else answer
            gap, first = " " * (12 - len(answer)), "".join(because[:1])
            yield f"  {subject}{' ' * (width - len(subject))}  {said}{gap}  {first}".rstrip()
        yield from self._more(len(answers))
        for one in unseen_mentions(audit.guidance)[:MOST]:
            yield f"  {self._paint('faint', 'not seen:')} {one.source}: {_cut(one.text)}"

    def _sitemaps(self) -> Iterator[str]:
        for one in self._audit.sitemaps[:MOST]:
            yield f"  {_cut(one.url)}"
            yield f"    {'; '.join(_about(one))}"
        yield from self._more(len(self._audit.sitemaps))

    def _findings(self) -> Iterator[str]:
        findings = self._audit.findings
        if not findings:
            yield "  none"
        for one in findings[:MOST]:
            level = self._paint(one.level, one.level)
            line = f"  {level} {one.code}, {_cut(one.where)}: {visible(one.message)}"
            yield from textwrap.wrap(line, self._room, subsequent_indent="    ")
        yield from self._more(len(findings))

    def _more(self, count: int) -> Sequence[str]:
        return [f"  and {count - MOST:,} more, which --json shows"] if count > MOST else []


def _about(one: SitemapListing) -> Iterator[str]:
    """Yield what is known of a sitemap."""
    yield f"named by {_cut(one.named_by)}"
    if not one.page.verdict:
        yield "disallowed, so not asked for"
        return
    yield page_words(one.page)
    if one.file is None:
        return
    form = f"{one.file.form}, gzipped" if one.file.gzipped else str(one.file.form)
    yield f"{form}, {plural(len(one.file.urls), 'URL')}{'' if one.file.complete else ' and more'}"
    if one.lists_page is not None:
        yield "lists the page" if one.lists_page else "does not list the page"


def _cut(text: str) -> str:
    return shortened(visible(text), LONGEST)
