"""
Mentions: the text of the tag rules that a note is about.

A note on a header field has a span of a line; a note on a meta element has a position in its
content, which only the mention of the rule records. Some words belong in another carrier than the
one that holds them. This module does not know the notes.
"""

from __future__ import annotations

from robotrules.linting.check import join_names, quote
from robotrules.linting.context import PageContext
from robotrules.tags.codes import Carrier, TagNote
from robotrules.tags.known_rules import Value
from robotrules.tags.rules import RuleStatus

# Names of records and of their statements, and the carrier in which each is read.
CARRIERS = {
    **dict.fromkeys(("allow", "disallow", "user-agent", "sitemap", "crawl-delay"), "robots.txt"),
    **dict.fromkeys(("train-ai", "content-usage"), "a Content-Usage field or record"),
    **dict.fromkeys(("ai-train", "ai-input", "content-signal"), "a Content-Signal record"),
}


def find_rule_text(page: PageContext, note: TagNote, standing: RuleStatus | None = None) -> str:
    """
    Return the text that a note points at, in a field or an element; empty: all of it.

    With *standing*, the first rule there with that standing: a member of Robots-Tag holds several.
    """
    for mention in page.usage.mentions if note.start is not None else ():
        if mention.source == note.source and mention.start == note.start:
            if standing is None and mention.source.carrier is not Carrier.META:
                break  # the octets of the line are more complete
            if standing in (None, mention.standing):
                return mention.text
    return page.text(note)


def find_carrier(name: str) -> str | None:
    """Return the carrier in which a word that is not a tag rule is read; None: unknown."""
    return CARRIERS.get(name.lower().partition("=")[0].partition(":")[0].strip())


def find_rules_in_force(page: PageContext, carrier: Carrier) -> dict[tuple[str, Value | None], str]:
    """Return the rules that a carrier puts in force, each with its text."""
    return {
        (mention.name, mention.value): mention.text
        for mention in page.usage.mentions
        if mention.source.carrier is carrier and mention.standing is RuleStatus.IN_FORCE
    }


def describe_rules(page: PageContext, note: TagNote) -> str:
    """Return the rules in force of the element that a note is about, for a message."""
    texts = [
        quote(mention.text)
        for mention in page.usage.mentions
        if mention.source == note.source and mention.standing is RuleStatus.IN_FORCE
    ]
    return join_names(list(dict.fromkeys(texts)))
