"""
Mentions: what a note about a tag speaks of, in words of the page.

A note on a field has octets of a line; one on an element has a place in its content, which only the
mention of the rule remembers. Some words belong into another carrier than the one they stand in. It
does not know which notes there are.
"""

from __future__ import annotations

from robotrules.linting.check import listed, quote
from robotrules.linting.context import Page
from robotrules.tags.codes import Carrier, TagNote
from robotrules.tags.known_rules import Value
from robotrules.tags.rules import RuleStatus

# Names of records and of their statements, and where each of them is read.
ELSEWHERE = {
    **dict.fromkeys(("allow", "disallow", "user-agent", "sitemap", "crawl-delay"), "robots.txt"),
    **dict.fromkeys(("train-ai", "content-usage"), "a Content-Usage field or record"),
    **dict.fromkeys(("ai-train", "ai-input", "content-signal"), "a Content-Signal record"),
}


def said(page: Page, note: TagNote, standing: RuleStatus | None = None) -> str:
    """
    Return what a note points at, in a field or in an element; empty: the whole of it.

    With *standing*, the first rule there that has it: a member of Robots-Tag holds several.
    """
    for mention in page.usage.mentions if note.start is not None else ():
        if mention.source == note.source and mention.start == note.start:
            if standing is None and mention.source.carrier is not Carrier.META:
                break  # the octets of the line say more
            if standing in (None, mention.standing):
                return mention.text
    return page.text(note)


def elsewhere(name: str) -> str | None:
    """Return where a word is read that is no tag rule; None: in no place that is known."""
    return ELSEWHERE.get(name.lower().partition("=")[0].partition(":")[0].strip())


def in_force(page: Page, carrier: Carrier) -> dict[tuple[str, Value | None], str]:
    """Return the rules that a carrier puts in force, each with its text."""
    return {
        (one.name, one.value): one.text
        for one in page.usage.mentions
        if one.source.carrier is carrier and one.standing is RuleStatus.IN_FORCE
    }


def rules_of(page: Page, note: TagNote) -> str:
    """Return the rules in force of the element that a note is about, in words."""
    found = [
        quote(one.text)
        for one in page.usage.mentions
        if one.source == note.source and one.standing is RuleStatus.IN_FORCE
    ]
    return listed(list(dict.fromkeys(found)))
