"""
`robotrules simplify`: what a robots.txt could do without, and the smaller file on request.

A few lines over `robotrules.analysis.simplify`: what can go and why, as text, as a diff or as JSON.
The smaller file is written only if it is proved to mean the same, and in one piece: whatever
region_change, there is the old file or the new one. It does not decide what can go.
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterable, Iterator
from itertools import groupby

import click

from robotrules import RobotsTxt
from robotrules.analysis.simplification import RetainedLine, Simplification, SimplificationStep
from robotrules.analysis.simplify import simplify as simplified
from robotrules.analysis.solver import MAX_STATES
from robotrules.cli.atomic_write import write_atomically
from robotrules.cli.console import STDIN, CliError, Output, quoted, report
from robotrules.cli.input_files import read_robots
from robotrules.cli.options import json_option, profile_option
from robotrules.cli.progress import progress_bar
from robotrules.cli.text import Paint, listed, plural, truncate
from robotrules.cli.unified_diff import colourize, diff_lines
from robotrules.json_results.simplify import simplification_values
from robotrules.linting.intent import find_misread_lines
from robotrules.octets import visible
from robotrules.profile import PROFILES

# A file longer than this is no robots.txt that a person wants smaller.
LARGEST = 16 * 1024 * 1024
# How much of a misread line a warning repeats.
LONGEST = 80
# What a person reads of a long list or text; JSON has all of it.
MOST_LEFT = 10
MOST_NAMES = 6
LONGEST_TEXT = 200
# A pipe has no width, and what is pasted from one is read in 80 columns.
WIDTH = 80
GUTTER = 8
# What is shown of what can go: steps of a group, and groups; --all shows all.
MOST_STEPS, MOST_GROUPS = 10, 20


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--write", "in_place", is_flag=True, help="Write the smaller file in place of FILE.")
@click.option(
    "-o", "--output", "target", metavar="FILE", help="Write the smaller file there; '-' is stdout."
)
@click.option("--diff", "as_diff", is_flag=True, help="Show the lines that change, as a diff.")
@click.option(
    "--remove-groups",
    is_flag=True,
    help="Also remove groups with the same rules as the group for '*', unless a well-known crawler "
    "needs them (AdsBot-Google ignores groups for '*'). Unknown crawlers with several product "
    "tokens may be affected.",
)
@profile_option
@click.option(
    "--single-profile",
    is_flag=True,
    help="Prove equivalence under --profile only, not under all profiles.",
)
@click.option(
    "--max-states",
    type=click.IntRange(1),
    metavar="N",
    default=MAX_STATES,
    show_default=True,
    help="The state limit of the search for each proof; beyond it a rule is kept.",
)
@click.option("--all", "all_steps", is_flag=True, help="Show all removable lines.")
@json_option("Print one JSON object, described in docs/cli/simplify.md.")
def simplify(
    file: str,
    in_place: bool,
    target: str | None,
    as_diff: bool,
    remove_groups: bool,
    profile: str,
    single_profile: bool,
    max_states: int,
    all_steps: bool,
    as_json: bool,
) -> int:
    """
    Find lines of a robots.txt that can be removed. '-' is stdin.

    Finds rules that never decide or repeat others, repeated user-agent lines, and groups that can
    be merged. It is proved that removing them changes no verdict on any URL for any crawler;
    without the proof nothing is written. Comments stay with their rules. The exit code is 0 if
    nothing can be removed or the file was written, 1 if something can be removed, 2 for a usage or
    I/O error.

    \b
    Examples:
      robotrules simplify robots.txt
      robotrules simplify robots.txt --diff
      robotrules simplify robots.txt --write
      curl -s https://example.com/robots.txt | robotrules simplify - --output smaller.txt
    """
    target = _target(file, in_place, target)
    if target == STDIN and (as_json or as_diff):
        raise CliError(
            "--output - cannot be combined with --json or --diff: pass a file to --output"
        )
    if as_json and as_diff:
        raise click.UsageError("--json and --diff cannot be combined")
    robots, octets = read_robots(file, profile, most=LARGEST)
    name = "stdin" if file == STDIN else quoted(file)
    limit = robots.profile.max_bytes
    if len(octets) > LARGEST:
        raise CliError(f"{name} is longer than {LARGEST:,} bytes")
    if len(octets) > limit:
        report(
            f"{name} has {len(octets):,} bytes; crawlers may ignore everything after {limit:,} "
            "bytes (RFC 9309 §2.5), but the whole file is simplified",
            label="hint",
            style="warning",
        )
    misread, keep = find_misread_lines(robots)
    with progress_bar("rule") as progress:
        profiles = () if single_profile else tuple(PROFILES)
        found = simplified(
            robots,
            profiles=profiles,
            groups=remove_groups,
            keep=keep,
            max_states=max_states,
            progress=progress,
        )
    if found.refused:
        raise CliError(f"{name} was not changed: {found.refused}")
    if misread:
        _warn_misread(robots, misread, name)
    output = Output()
    written = target not in (None, STDIN) and _save(found, target, octets if in_place else None)
    if target == STDIN:
        sys.stdout.buffer.write(found.body)
    elif as_json:
        names = (file, target if written else None)
        shown_names = (None if one in (None, STDIN) else visible(os.fsencode(one)) for one in names)
        output.json(simplification_values(found, misread, *shown_names))
    elif as_diff:
        shown = "stdin" if file == STDIN else visible(os.fsencode(file))
        lines = diff_lines(octets, found.body, shown, "simplified")
        output.lines(colourize(lines, output.paint))
    else:
        output.lines(list(SimplifyPage(found, robots, file, output, all_steps=all_steps).lines()))
    output.flush()
    if written:
        words = f"{found.octets_before:,} bytes became {found.octets_after:,}"
        words += ", proved equivalent" if found.steps else ", nothing was removable"
        report(f"{quoted(str(target))} written: {words}")
    return int(bool(found.steps) and target is None)


def _target(file: str, in_place: bool, target: str | None) -> str | None:
    """Return the output file; None if nothing is written."""
    if not in_place:
        return target
    if target is not None:
        raise click.UsageError("--write and --output cannot be combined")
    return file


# --- Output ---------------------------------------------------------------------------------------


def _warn_misread(robots: RobotsTxt, misread: list[int], name: str) -> None:
    """Warn about records that are probably misspelt, which keep their groups unchanged."""
    first = visible(robots.lines[misread[0] - 1].text.strip())
    many = f" and {plural(len(misread) - 1, 'other line')}" if len(misread) > 1 else ""
    verb, seem, them = ("are", "they seem", "them") if many else ("is", "it seems", "it")
    report(
        f"{name}: line {misread[0]} ('{truncate(first, LONGEST)}'){many} {verb} not read as "
        f"{seem} to be meant, so their groups are kept; fix {them} with robotrules lint "
        f"--unsafe-fixes",
        label="warning",
        style="warning",
    )


# --- Writing --------------------------------------------------------------------------------------


def _save(found: Simplification, target: str, before: bytes | None) -> bool:
    """Write the file atomically; *before* is the content that it must still have."""
    if before is not None and not found.steps:
        return False  # nothing to remove
    write_atomically(target, found.body, before)
    return True


# --- Text -----------------------------------------------------------------------------------------


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
                yield f"{' ' * (GUTTER + 1)}and {len(steps) - MOST_STEPS:,} more (see --all)"
        if not self._all and len(groups) > MOST_GROUPS:
            yield ""
            more = plural(len(groups) - MOST_GROUPS, "more group")
            yield f"and {more} with removable lines (see --all)"
        yield from self._optional()
        yield from self._left()
        if found.undecided:
            yield ""
            words = "Kept because they were not decided; try a larger --max-states"
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
            return f"nothing can be removed; {plural(found.rules_before, 'rule')} {verb}"
        parts = []
        if (fewer := found.rules_before - found.rules_after) > 0:
            parts.append(f"{fewer:,} of {plural(found.rules_before, 'rule')} can be removed")
        if (fewer := found.groups_before - found.groups_after) > 0:
            groups = plural(found.groups_before, "group")
            parts.append(f"{groups} can become {found.groups_after:,}")
        parts = parts or [f"{plural(len(found.steps), 'line')} can be removed"]
        before, after = plural(found.octets_before, "byte"), f"{found.octets_after:,}"
        return f"{', '.join(parts)}; {before} become {after}"

    def _heading(self, line: int | None) -> str:
        if line is None:
            return self._paint("heading", "Before the first group")
        group = self._groups[line]
        names = [visible(truncate(name, LONGEST_TEXT)) for name in group.user_agents if name]
        names += [f"purpose {visible(purpose)}" for purpose in group.purposes]
        return self._paint(
            "heading", f"Group of line {line}: {listed(names, MOST_NAMES) or 'no crawler'}"
        )

    def _step(self, step: SimplificationStep) -> Iterator[str]:
        words = step.sentence
        if step.witness is not None:
            words += f", as on {visible(step.witness.path)}"
        return self._entry(step.lines[0], visible(step.text), f"{step.code}: {words}")

    def _entry(self, line: int, text: str, words: str) -> Iterator[str]:
        bar = self._paint("faint", "|")
        number = self._paint("faint", f"{line:>{GUTTER - 2}}")
        yield f"{number} {bar} {truncate(text, LONGEST_TEXT)}"
        if words:
            room = self._room - GUTTER - 1
            # URLs are not broken, so that they can be copied.
            for part in textwrap.wrap(
                truncate(words, 2 * LONGEST_TEXT),
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
            yield f"{' ' * (GUTTER + 1)}and {len(entries) - MOST_LEFT:,} more (see --json)"

    def _optional(self) -> Iterator[str]:
        if not self._found.optional:
            return
        yield ""
        words = (
            "These groups have the same rules as the group for '*'. They are kept, because a "
            "crawler "
            "with several product tokens would otherwise obey the group of its next token; "
            "--remove-groups removes them"
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
                "These groups are kept, because without them a well-known crawler would not obey "
                "the "
                "group for '*'"
            )
            yield from self._wrapped(words, "", "heading")
            yield from self._few((one.line, visible(one.text), one.sentence) for one in needed)
        for profile in dict.fromkeys(left.profile for left in self._found.left):
            of_profile = [left for left in self._found.left if left.profile == profile]
            needed = [left for left in of_profile if left.code == "other-profile"]
            if needed:
                yield ""
                words = f"Kept because a verdict would change under profile {profile}"
                yield from self._wrapped(words, "", "heading")
                yield from self._few(map(_needed, needed))
            failed = [left for left in of_profile if left.code == "not-proved"]
            if failed:
                yield ""
                words = "Kept because the proof failed without them"
                yield from self._wrapped(words, "", "heading")
                yield from self._few((left.line, visible(left.text), "") for left in failed)

    def _proof(self) -> str:
        *others, last = self._found.profiles
        names = f"{', '.join(others)} and {last}" if others else last
        noun = "profiles" if others else "profile"
        by_name = any(step.code == "same-as-star" for step in self._found.steps)
        # Profile google merges the groups of several tokens; sets of tokens were not compared.
        merged = any(PROFILES[name].merge_tokens for name in self._found.profiles)
        who = "every crawler with one product token" if by_name or merged else "every crawler"
        return (
            f"Proved: without these lines {who} gets the same verdict on every URL, and other "
            f"records are unchanged, under {noun} {names}."
        )

    def _wrapped(self, words: str, indent: str, style: str) -> Iterator[str]:
        for line in textwrap.wrap(words, self._room, subsequent_indent=indent):
            yield self._paint(style, line)


def _needed(left: RetainedLine) -> tuple[int, str, str]:
    words = f"it decides {visible(left.witness.path)}" if left.witness else ""
    return left.line, visible(left.text), words


def _by_group(steps: Iterable[SimplificationStep]) -> list[SimplificationStep]:
    return sorted(steps, key=lambda step: (step.group or 0, step.lines[0]))
