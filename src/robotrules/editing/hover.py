"""
Hover: the Markdown text for the record under the cursor.

For a rule: what its path pattern matches and misses, how specific it is, and whether it has any
effect. For a user-agent line: which crawler that is, and which groups it obeys. For other records:
their meaning and their value. The matcher has checked every URL that is shown. Exact analyses run
with a small budget; an undecided question is reported as such.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from robotrules.analysis import (
    DeadRuleFinding,
    Description,
    Undecided,
    dead_rules,
    describe,
    witness,
)
from robotrules.editing.diagnostics import summarize_check
from robotrules.editing.document import OpenDocument
from robotrules.editing.extension_hover import describe_value
from robotrules.editing.markdown import (
    bullet_list,
    code_list,
    code_span,
    escape,
    link_reference,
    pluralize,
)
from robotrules.editing.record_info import canonical_name, find_record_info
from robotrules.errors import RobotrulesError
from robotrules.extensions.crawl_delay import crawl_delay
from robotrules.linting.note import LintNote
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS, KnownCrawler
from robotrules.robotstxt import Tokens
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.tokens import can_be_name, leading_name
from robotrules.robotstxt.values import Group, Record, Rule

__all__ = ["HoverText", "render_hover"]

# Limits of the analysis for one hover: the answer must arrive before the cursor moves on.
MAX_STATES = 5_000
MAX_RULES = 3_000
MAX_RULE_SETS = 4
MAX_URLS = 3
# Longer patterns are not described.
MAX_PATTERN_LENGTH = 2_000
OUTSIDE_GROUP = "It is before the first user-agent line, so it applies to no crawler."


class HoverText(NamedTuple):
    """The text of a hover, and the span of bytes that it is about."""

    markdown: str
    start: int
    end: int


def render_hover(
    document: OpenDocument, offset: int, notes: Sequence[LintNote] = ()
) -> HoverText | None:
    """Return the hover at an offset; None if there is nothing to show. *notes* are from lint."""
    record = document.record_at(offset)
    notes_here = [note for note in notes if note.line and note.start <= offset <= note.end]
    summaries = list(_summarize_checks(notes_here))
    if record is None:
        if not notes_here:
            return None
        return HoverText("\n\n".join(summaries), notes_here[0].start, notes_here[0].end)
    paragraphs = [*_describe_record(document, record, offset), *summaries]
    end = max(record.end, record.key_end)
    return HoverText("\n\n".join(paragraphs), record.key_start, end)


def _summarize_checks(notes: Sequence[LintNote]) -> Iterator[str]:
    for note in {note.code: note for note in notes[:5]}.values():
        summary = summarize_check(note)
        yield f"---\n\n**{note.code} {note.slug}**{f': {summary}' if summary else ''}"


def _describe_record(document: OpenDocument, record: Record, offset: int) -> Iterator[str]:
    if record.is_rule:
        yield from _describe_rule(document, record)
    elif record.key == "user-agent":
        yield from _describe_user_agent(document, record)
    else:
        yield from _describe_extension(document, record)
    info = find_record_info(record.key)
    # On the name of a record: the meaning of all such records. On its value: this one only.
    if info and offset < record.key_end and (record.is_rule or record.key == "user-agent"):
        yield info.description
    if info:
        yield f"Reference: {link_reference(info.reference)}"


# --- Rules ----------------------------------------------------------------------------------------


def _describe_rule(document: OpenDocument, record: Record) -> Iterator[str]:
    group, rule = document.group_for(record), document.rule_for(record)
    crawlers = f" for {_list_names(group)}" if group else ""
    yield f"**{canonical_name(record.key)}** {code_span(record.value)}{crawlers}"
    if group is None:
        yield OUTSIDE_GROUP
    if not record.value:
        effect = "blocks nothing" if record.key == "disallow" else "has no effect"
        yield f"An empty {canonical_name(record.key)} {effect}: it matches no URL."
        return
    if rule is None or len(record.value) > MAX_PATTERN_LENGTH:
        return
    description = describe(document.robots.body[rule.start : rule.end], document.profile)
    # The sentence quotes the pattern, which is untrusted.
    yield escape(description.sentence)
    if group:
        yield from _describe_effect(document, group, rule)
    yield from _list_examples(description)
    yield (
        f"**{pluralize(rule.octets, 'byte')}**: of all rules that match a URL, the longest "
        "decides; if an Allow and a Disallow rule are equally long, Allow decides."
    )
    for hint in description.notes[:2]:
        yield escape(hint.message)


def _list_names(group: Group) -> str:
    names = [record.text or "(no crawler)" for record in group.starts]
    if names == ["*"]:
        return "all crawlers that no other group names"
    return code_list(names)


def _list_examples(description: Description) -> Iterator[str]:
    if description.matches:
        urls = [code_span(example.url) for example in description.matches[:MAX_URLS]]
        yield "Matches:\n\n" + bullet_list(urls)
    if description.misses:
        misses = [
            f"{code_span(miss.url)}: {escape(miss.reason)}"
            for miss in description.misses[:MAX_URLS]
        ]
        yield "Does not match:\n\n" + bullet_list(misses)


def _describe_effect(document: OpenDocument, group: Group, rule: Rule) -> Iterator[str]:
    """Say whether a rule decides any URL, for any crawler that obeys its group."""
    dead: list[DeadRuleFinding] = []
    for rules in _find_rule_sets(document, group):
        if len(rules) > MAX_RULES:
            yield (
                f"There are {len(rules):,} rules: run robotrules lint to see which have no effect."
            )
            return
        example = witness(rules, rule, max_states=MAX_STATES) if rule in rules.rules else None
        if isinstance(example, Undecided):
            yield (
                "Whether it has any effect was not decided in the time for a hover; "
                "robotrules lint searches for longer."
            )
            return
        if example is not None:
            yield f"It decides {code_span(example.url)}, for example."
            return
        if rule in rules.rules:
            number = rules.rules.index(rule)
            dead += dead_rules(rules, among=[number], max_states=MAX_STATES).rules
    if dead:
        yield _describe_dead_rule(dead[0])


def _find_rule_sets(document: OpenDocument, group: Group) -> Iterator[RuleSet]:
    """Yield the rule sets of the first few crawlers that obey a group."""
    seen: set[tuple[int, ...]] = set()
    crawlers = [(name, ()) for name in group.user_agents] + [("*", (p,)) for p in group.purposes]
    for name, purposes in crawlers[: 4 * MAX_RULE_SETS]:
        try:
            numbers = document.robots.select_groups(name, purposes).indices
        except (RobotrulesError, ValueError):
            continue  # not a valid product token in this profile
        if group.index in numbers and numbers not in seen and len(seen) < MAX_RULE_SETS:
            seen.add(numbers)
            yield document.robots.rules_for(name, purposes)


def _describe_dead_rule(dead: DeadRuleFinding) -> str:
    if dead.matches_nothing:
        return "**It has no effect**: no URL matches its pattern."
    covers = [f"line {rule.line}, {code_span(str(rule))}" for rule in dead.covers[:MAX_URLS]]
    rest = len(dead.covers) - len(covers)
    more = f" and {rest:,} more" if rest > 0 else ""
    rules = " or ".join(covers) + more
    return f"**It has no effect**: every URL that it matches is decided by {rules}."


# --- Crawlers -------------------------------------------------------------------------------------


def _describe_user_agent(document: OpenDocument, record: Record) -> Iterator[str]:
    name = record.text.strip()
    if not name:
        yield "This user-agent line has no name: its group applies to no crawler."
        return
    if name.startswith("*"):
        yield "**All crawlers** that no other group names."
        yield from _describe_groups(document, "*")
        return
    # Authors write versions and more after the product token; crawlers ignore that (§2.2.1).
    known = KNOWN_CRAWLERS.get(name) or KNOWN_CRAWLERS.get(leading_name(name))
    if known is None:
        yield f"**{code_span(name)}**"
        yield "robotrules does not know a crawler of this name. The group is valid all the same."
        if closest := KNOWN_CRAWLERS.closest(name):
            token, operator = code_span(closest.product_token), escape(closest.operator)
            yield f"Did you mean {token} ({operator})?"
        yield from _describe_groups(document, name if can_be_name(name) else leading_name(name))
        return
    yield from describe_crawler(known)
    yield from _describe_groups(document, known.names)


def describe_crawler(known: KnownCrawler) -> Iterator[str]:
    """Yield paragraphs about a known crawler, from the documentation of its operator."""
    retired = ", retired: no crawler uses this name now" if known.status == "retired" else ""
    yield f"**{code_span(known.product_token)}** ({escape(known.operator)}){retired}"
    yield bullet_list(
        f"{purpose}: {CRAWLER_PURPOSES.get(purpose, '')}".rstrip(": ") for purpose in known.purposes
    )
    if known.is_control:
        yield "It fetches nothing: it controls the use of pages that other crawlers fetched."
    if known.also:
        yield f"If no group names it, it obeys the groups for {code_list(known.also)}."
    if known.remarks:
        yield escape(known.remarks)
    yield f"Obeys robots.txt, according to its operator: {known.obeys}."
    page = f"<{known.documentation}>, " if known.documentation else ""
    yield f"{page}checked {known.checked}"


def _describe_groups(document: OpenDocument, names: Tokens) -> Iterator[str]:
    """Yield which groups of the document a crawler obeys."""
    try:
        groups = document.robots.select_groups(names).groups
    except (RobotrulesError, ValueError) as error:
        yield escape(str(error))
        return
    if not groups:
        yield "It obeys no group of this file, so every URL is allowed."
        return
    lines = [_format_lines(*group.lines) for group in groups]
    rules = sum(len(group.rules) for group in groups)
    shown = " and ".join(lines[:4]) + (f" and {len(lines) - 4:,} more" if len(lines) > 4 else "")
    noun = "the group at" if len(groups) == 1 else f"{len(groups)} groups, combined into one, at"
    yield f"It obeys {noun} {shown}: {pluralize(rules, 'rule')}."
    if delay := crawl_delay(document.robots, names):
        yield f"Crawl-delay: {delay.seconds:g} seconds between requests (line {delay.line})."


def _format_lines(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first}-{last}"


# --- Extensions -----------------------------------------------------------------------------------


def _describe_extension(document: OpenDocument, record: Record) -> Iterator[str]:
    info = find_record_info(record.key)
    yield f"**{info.name if info else code_span(record.key)}**"
    if info is None:
        yield (
            "No specification that robotrules supports defines this record. Crawlers ignore "
            "records that they do not support (RFC 9309 §2.2.4)."
        )
        return
    yield info.description
    yield from describe_value(document, record)
    if record.key == "user-agent-purpose":
        yield from _describe_purpose(document, record.text)
    elif not info.is_file_wide:
        group = document.group_for(record)
        if group is None:
            yield OUTSIDE_GROUP
        else:
            yield f"It applies to {_list_names(group)}."


def _describe_purpose(document: OpenDocument, text: str) -> Iterator[str]:
    entry = document.registries.purposes.get(text) if text else None
    if entry:
        token, description = code_span(entry.token), escape(entry.description)
        yield f"{token}: {description} ({link_reference(entry.reference)})"
    elif text:
        yield f"No loaded registry has the purpose {code_span(text)}."
