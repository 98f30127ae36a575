"""
What a robots.txt could do without, as text on a screen.

How much can go comes first, then each group with what can go from it and why, then what stays
though it seems to say nothing, then what is proved. What a stranger wrote has no control characters
left, and is cut where it is very long. It does not know what can go.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Iterator
from itertools import groupby

from robotrules import RobotsTxt
from robotrules.analysis.simplification import RetainedLine, Simplification, SimplificationStep
from robotrules.cli.streams import STDIN, Output
from robotrules.cli.text import Paint, listed, plural, shortened
from robotrules.octets import visible
from robotrules.profile import PROFILES

# What a person reads of a long list or text; JSON has all of it.
MOST_LEFT = 10
MOST_NAMES = 6
LONGEST = 200
# A pipe has no width, and what is pasted from one is read in 80 columns.
WIDTH = 80
GUTTER = 8
# What is shown of what can go: steps of a group, and groups; --all shows all.
MOST_STEPS, MOST_GROUPS = 10, 20


class SimplifyPage:
    """A simplification as lines of text."""

    def __init__(
        self,
        found: Simplification,
        robots: RobotsTxt,
        file: str,
        output: Output,
        *,
        all_steps: bool = False,
    ) -> None:
        self._found, self._all = found, all_steps
        self._groups = {group.starts[0].line: group for group in robots.groups}
        self._name = "stdin" if file == STDIN else visible(os.fsencode(file))
        self._paint: Paint = output.paint
        self._room = max(output.width, 60) if output.terminal else WIDTH

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        found = self._found
        yield from self._wrapped(f"{self._name}: {self._headline()}", "", "heading")
        by_group = groupby(_by_group(found.steps), key=lambda step: step.group)
        groups = [(group, list(steps)) for group, steps in by_group]
        for group, steps in groups if self._all else groups[:MOST_GROUPS]:
            yield ""
            yield self._heading(group)
            for step in steps if self._all else steps[:MOST_STEPS]:
                yield from self._step(step)
            if not self._all and len(steps) > MOST_STEPS:
                yield f"{' ' * (GUTTER + 1)}and {len(steps) - MOST_STEPS:,} more; --all shows them"
        if not self._all and len(groups) > MOST_GROUPS:
            yield ""
            more = plural(len(groups) - MOST_GROUPS, "more group")
            yield f"and {more} from which something can go; --all shows them"
        yield from self._optional()
        yield from self._left()
        if found.undecided:
            yield ""
            words = "Not decided within the budget, so these stay; a larger --budget asks on"
            yield from self._wrapped(words, "", "heading")
            rules = [(rule.line, visible(str(rule)), "") for rule in found.undecided]
            yield from self._few(rules)
        if found.steps:
            yield ""
            yield from self._wrapped(self._proof(), "", "allowed")

    def _headline(self) -> str:
        found = self._found
        if not found.steps:
            verb = "stays" if found.rules_before == 1 else "stay"
            return f"nothing can go; {plural(found.rules_before, 'rule')} {verb}"
        parts = []
        if (fewer := found.rules_before - found.rules_after) > 0:
            parts.append(f"{fewer:,} of {plural(found.rules_before, 'rule')} can go")
        if (fewer := found.groups_before - found.groups_after) > 0:
            groups = plural(found.groups_before, "group")
            parts.append(f"{groups} can become {found.groups_after:,}")
        parts = parts or [f"{plural(len(found.steps), 'line')} can go"]
        before, after = plural(found.octets_before, "byte"), f"{found.octets_after:,}"
        return f"{', '.join(parts)}; {before} become {after}"

    def _heading(self, line: int | None) -> str:
        if line is None:
            return self._paint("heading", "Before the first group")
        group = self._groups[line]
        names = [visible(shortened(name, LONGEST)) for name in group.user_agents if name]
        names += [f"purpose {visible(purpose)}" for purpose in group.purposes]
        return self._paint(
            "heading", f"Group of line {line}: {listed(names, MOST_NAMES) or 'nobody'}"
        )

    def _step(self, step: SimplificationStep) -> Iterator[str]:
        words = step.sentence
        if step.witness is not None:
            words += f", as on {visible(step.witness.path)}"
        return self._entry(step.lines[0], visible(step.text), f"{step.code}: {words}")

    def _entry(self, line: int, text: str, words: str) -> Iterator[str]:
        bar = self._paint("faint", "|")
        number = self._paint("faint", f"{line:>{GUTTER - 2}}")
        yield f"{number} {bar} {shortened(text, LONGEST)}"
        if words:
            room = self._room - GUTTER - 1
            # The address of a source stays whole, so that it can be copied.
            for part in textwrap.wrap(
                shortened(words, 2 * LONGEST),
                room,
                break_on_hyphens=False,
                break_long_words="https://" not in words,
            ):
                yield f"{' ' * (GUTTER - 1)}{bar} {part}"

    def _few(self, entries: Iterable[tuple[int, str, str]]) -> Iterator[str]:
        entries = list(entries)
        for entry in entries[:MOST_LEFT]:
            yield from self._entry(*entry)
        if len(entries) > MOST_LEFT:
            yield f"{' ' * (GUTTER + 1)}and {len(entries) - MOST_LEFT:,} more; --json has all"

    def _optional(self) -> Iterator[str]:
        if not self._found.optional:
            return
        yield ""
        words = (
            "These groups say what everyone is told. They stay, for a crawler that goes by several "
            "names would then obey the group of its next one; --groups takes them out"
        )
        yield from self._wrapped(words, "", "heading")
        yield from self._few(
            (step.lines[0], visible(step.text), step.sentence) for step in self._found.optional
        )

    def _left(self) -> Iterator[str]:
        needed = [left for left in self._found.left if left.crawler]
        if needed:
            yield ""
            words = (
                "These groups stay, for without them a well-known crawler would not obey the "
                "group for everyone"
            )
            yield from self._wrapped(words, "", "heading")
            yield from self._few((one.line, visible(one.text), one.sentence) for one in needed)
        for profile in dict.fromkeys(left.profile for left in self._found.left):
            of_profile = [left for left in self._found.left if left.profile == profile]
            needed = [left for left in of_profile if left.code == "other-profile"]
            if needed:
                yield ""
                words = f"These could go, but under profile {profile} a verdict would change"
                yield from self._wrapped(words, "", "heading")
                yield from self._few(map(_needed, needed))
            failed = [left for left in of_profile if left.code == "not-proved"]
            if failed:
                yield ""
                words = "These stay, for without them the proof failed"
                yield from self._wrapped(words, "", "heading")
                yield from self._few((left.line, visible(left.text), "") for left in failed)

    def _proof(self) -> str:
        *others, last = self._found.profiles
        names = f"{', '.join(others)} and {last}" if others else last
        noun = "profiles" if others else "profile"
        by_name = any(step.code == "same-as-star" for step in self._found.steps)
        # Profile google merges the groups of several names, and nobody asked about sets of names.
        merged = any(PROFILES[name].merge_tokens for name in self._found.profiles)
        who = "every crawler that goes by one name" if by_name or merged else "every crawler"
        return (
            f"Proved: without these, {who} gets the same verdict on every URL, and other records "
            f"say what they did, under {noun} {names}."
        )

    def _wrapped(self, words: str, indent: str, style: str) -> Iterator[str]:
        for line in textwrap.wrap(words, self._room, subsequent_indent=indent):
            yield self._paint(style, line)


def _needed(left: RetainedLine) -> tuple[int, str, str]:
    words = f"it decides {visible(left.witness.path)}" if left.witness else ""
    return left.line, visible(left.text), words


def _by_group(steps: Iterable[SimplificationStep]) -> list[SimplificationStep]:
    return sorted(steps, key=lambda step: (step.group or 0, step.lines[0]))
