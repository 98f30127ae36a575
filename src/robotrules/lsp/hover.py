"""
Hover: what stands under the cursor, in words.

A rule: what its path pattern matches and misses, how specific it is, and whether it decides
anything. A user-agent line: who that is, and which groups it obeys. Other records: what they mean
and what this one says. Every URL that is shown was put to the matcher. Exact questions have a small
budget: what they do not decide is not claimed. It does not know the protocol's requests.
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
from robotrules.errors import RobotrulesError
from robotrules.extensions.crawl_delay import crawl_delay
from robotrules.linting.note import LintNote
from robotrules.lsp.diagnostics import teaching
from robotrules.lsp.document import OpenDocument
from robotrules.lsp.markup import bulleted, code, linked, many, named, plain
from robotrules.lsp.meanings import meaning
from robotrules.lsp.records import find, spelled
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS, KnownCrawler
from robotrules.robotstxt import Tokens
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.tokens import can_be_name, leading_name
from robotrules.robotstxt.values import Group, Record, Rule

__all__ = ["Words", "hover"]

# States that the question of one hover may see, and rules of a set that it is asked of: an answer
# that comes after the cursor left is none.
BUDGET = 5_000
MOST_RULES = 3_000
MOST_NAMES_ASKED = 4
MOST_URLS = 3
# A pattern longer than this is no pattern that a person reads.
LONGEST_PATTERN = 2_000


class Words(NamedTuple):
    """What to show, and the span of octets that it is about."""

    markdown: str
    start: int
    end: int


def hover(document: OpenDocument, offset: int, notes: Sequence[LintNote] = ()) -> Words | None:
    """Return what stands at an octet, in words; None: nothing to say. *notes* are those of lint."""
    record = document.record_at(offset)
    here = [note for note in notes if note.line and note.start <= offset <= note.end]
    taught = list(_taught(here))
    if record is None:
        if not here:
            return None
        return Words("\n\n".join(taught), here[0].start, here[0].end)
    parts = [*_record(document, record, offset), *taught]
    return Words("\n\n".join(parts), record.key_start, max(record.end, record.key_end))


def _taught(notes: Sequence[LintNote]) -> Iterator[str]:
    for note in {note.code: note for note in notes[:5]}.values():
        words = teaching(note)
        yield f"---\n\n**{note.code} {note.slug}**{f': {words}' if words else ''}"


def _record(document: OpenDocument, record: Record, offset: int) -> Iterator[str]:
    if record.is_rule:
        yield from _rule(document, record)
    elif record.key == "user-agent":
        yield from _user_agent(document, record)
    else:
        yield from _other(document, record)
    about = find(record.key)
    # The name of a record asks what such records are; its value what this one says.
    if about and offset < record.key_end and (record.is_rule or record.key == "user-agent"):
        yield about.words
    if about:
        yield f"Reference: {linked(about.reference)}"


# --- Rules ----------------------------------------------------------------------------------------


def _rule(document: OpenDocument, record: Record) -> Iterator[str]:
    group, rule = document.group_of(record), document.rule_of(record)
    for_whom = f" for {_names(group)}" if group else ""
    yield f"**{spelled(record.key)}** {code(record.value)}{for_whom}"
    if group is None:
        yield "It stands before the first user-agent line, so it is for nobody."
    if not record.value:
        asks = "allows everything" if record.key == "disallow" else "says nothing"
        yield f"An empty rule {asks}: it matches no URL."
        return
    if rule is None or len(record.value) > LONGEST_PATTERN:
        return
    found = describe(document.robots.body[rule.start : rule.end], document.profile)
    # The sentence quotes the pattern, which may hold anything.
    yield plain(found.sentence)
    if group:
        yield from _deciding(document, group, rule)
    yield from _urls(found)
    yield (
        f"**{many(rule.octets, 'octet')}**: of the rules that match a URL the one with most "
        "octets decides, and of equal ones Allow."
    )
    for hint in found.notes[:2]:
        yield plain(hint.message)


def _names(group: Group) -> str:
    names = [record.text or "(nobody)" for record in group.starts]
    if names == ["*"]:
        return "everyone that no other group names"
    return named(names)


def _urls(found: Description) -> Iterator[str]:
    if found.matches:
        yield "Matches:\n\n" + bulleted(code(one.url) for one in found.matches[:MOST_URLS])
    if found.misses:
        misses = [f"{code(one.url)}: {plain(one.reason)}" for one in found.misses[:MOST_URLS]]
        yield "Misses:\n\n" + bulleted(misses)


def _deciding(document: OpenDocument, group: Group, rule: Rule) -> Iterator[str]:
    """Say whether a rule decides anything for anyone it is for."""
    dead: list[DeadRuleFinding] = []
    for rules in _rule_sets(document, group):
        if len(rules) > MOST_RULES:
            yield f"There are {len(rules):,} rules: lint says which of them decide nothing."
            return
        found = witness(rules, rule, budget=BUDGET) if rule in rules.rules else None
        if isinstance(found, Undecided):
            yield "Whether it decides any URL was not decided in a moment; lint asks for longer."
            return
        if found is not None:
            yield f"It decides {code(found.url)}, for example."
            return
        if rule in rules.rules:
            number = rules.rules.index(rule)
            dead += dead_rules(rules, among=[number], budget=BUDGET).rules
    if dead:
        yield _why_dead(dead[0])


def _rule_sets(document: OpenDocument, group: Group) -> Iterator[RuleSet]:
    """Yield the rules of the first few crawlers that obey a group."""
    seen: set[tuple[int, ...]] = set()
    asked = [(name, ()) for name in group.user_agents] + [("*", (p,)) for p in group.purposes]
    for name, purposes in asked[: 4 * MOST_NAMES_ASKED]:
        try:
            numbers = document.robots.select_groups(name, purposes).indices
        except (RobotrulesError, ValueError):
            continue  # a name that this profile does not let anybody have
        if group.index in numbers and numbers not in seen and len(seen) < MOST_NAMES_ASKED:
            seen.add(numbers)
            yield document.robots.rules_for(name, purposes)


def _why_dead(dead: DeadRuleFinding) -> str:
    if dead.matches_nothing:
        return "**It decides nothing**: no URL matches its pattern."
    covers = [f"line {rule.line}, {code(str(rule))}" for rule in dead.covers[:MOST_URLS]]
    rest = len(dead.covers) - len(covers)
    more = f" and {rest:,} more" if rest > 0 else ""
    rules = " or ".join(covers) + more
    return f"**It decides nothing**: every URL it matches is decided by {rules}."


# --- Crawlers -------------------------------------------------------------------------------------


def _user_agent(document: OpenDocument, record: Record) -> Iterator[str]:
    name = record.text.strip()
    if not name:
        yield "A user-agent line without a name: its group is for nobody."
        return
    if name.startswith("*"):
        yield "**Everyone** that no other group names."
        yield from _obeyed(document, "*")
        return
    # Behind the product token people write versions and more, which nobody compares (§2.2.1).
    known = KNOWN_CRAWLERS.get(name) or KNOWN_CRAWLERS.get(leading_name(name))
    if known is None:
        yield f"**{code(name)}**"
        yield "It is not among the crawlers that robotrules knows, which matters to no crawler."
        if closest := KNOWN_CRAWLERS.closest(name):
            yield f"Was {code(closest.product_token)} of {plain(closest.operator)} meant?"
        yield from _obeyed(document, name if can_be_name(name) else leading_name(name))
        return
    yield from crawler(known)
    yield from _obeyed(document, known.names)


def crawler(known: KnownCrawler) -> Iterator[str]:
    """Yield who a crawler is, as its operator documents it."""
    gone = ", retired: nobody comes by this name any more" if known.status == "retired" else ""
    yield f"**{code(known.product_token)}** of {plain(known.operator)}{gone}"
    yield bulleted(f"{one}: {CRAWLER_PURPOSES.get(one, '')}".rstrip(": ") for one in known.purposes)
    if known.is_control:
        yield "It fetches nothing: it says what may be done with what others fetched."
    if known.also:
        yield f"Where no group names it, it obeys those of {named(known.also)}."
    if known.remarks:
        yield plain(known.remarks)
    yield f"Its operator says that it obeys robots.txt: {known.obeys}."
    yield f"{f'<{known.documentation}>, ' if known.documentation else ''}checked {known.checked}"


def _obeyed(document: OpenDocument, names: Tokens) -> Iterator[str]:
    try:
        groups = document.robots.select_groups(names).groups
    except (RobotrulesError, ValueError) as error:
        yield plain(str(error))
        return
    if not groups:
        yield "It obeys no group of this file, so it may fetch everything."
        return
    lines = [_lines(*group.lines) for group in groups]
    rules = sum(len(group.rules) for group in groups)
    shown = " and ".join(lines[:4]) + (f" and {len(lines) - 4:,} more" if len(lines) > 4 else "")
    noun = "the group at" if len(groups) == 1 else f"{len(groups)} groups, which count as one, at"
    yield f"It obeys {noun} {shown}: {many(rules, 'rule')}."
    if delay := crawl_delay(document.robots, names):
        yield f"It is asked to wait {delay.seconds:g} seconds between requests (line {delay.line})."


def _lines(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first}-{last}"


# --- Other records --------------------------------------------------------------------------------


def _other(document: OpenDocument, record: Record) -> Iterator[str]:
    about = find(record.key)
    yield f"**{about.name if about else code(record.key)}**"
    if about is None:
        yield (
            "No document that robotrules knows defines this record. Crawlers that do not know it "
            "pass over it (RFC 9309 §2.2.4)."
        )
        return
    yield about.words
    yield from meaning(document, record)
    if record.key == "user-agent-purpose":
        yield from _purpose(document, record.text)
    elif not about.of_file:
        group = document.group_of(record)
        if group is None:
            yield "It stands before the first user-agent line, so it is for nobody."
        else:
            yield f"It is for {_names(group)}."


def _purpose(document: OpenDocument, text: str) -> Iterator[str]:
    entry = document.registries.purposes.get(text) if text else None
    if entry:
        yield f"{code(entry.token)}: {plain(entry.description)} ({linked(entry.reference)})"
    elif text:
        yield f"No registry that was loaded knows the purpose {code(text)}."
