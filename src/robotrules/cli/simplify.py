"""
`robotrules simplify`: what a robots.txt could do without, and the smaller file on request.

A few lines over `robotrules.analysis.simplify`: what can go and why, as text, as a diff or as JSON.
The smaller file is written only if it is proved to mean the same, and in one piece: whatever
happens, there is the old file or the new one. It does not decide what can go.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from robotrules.analysis.simplification import Simplification
from robotrules.analysis.simplify import simplify as simplified
from robotrules.analysis.solver import MAX_STATES
from robotrules.cli.atomic_write import save
from robotrules.cli.diffs import diff_lines, painted
from robotrules.cli.options import json_option, profile_option
from robotrules.cli.progress import counting
from robotrules.cli.simplify_text import SimplifyPage
from robotrules.cli.streams import STDIN, CliError, Output, quoted, read_robots, say
from robotrules.cli.text import plural, shortened
from robotrules.linting.intent import find_misread_lines
from robotrules.octets import visible
from robotrules.profile import PROFILES
from robotrules.robotstxt import RobotsTxt

# A file longer than this is no robots.txt that a person wants smaller.
LARGEST = 16 * 1024 * 1024
# How much of a misread line a warning repeats.
LONGEST = 80


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--write", "in_place", is_flag=True, help="Write the smaller file in place of FILE.")
@click.option(
    "-o", "--output", "target", metavar="FILE", help="Write the smaller file there; '-' is stdout."
)
@click.option("--diff", "as_diff", is_flag=True, help="Show the lines that change, as a diff.")
@click.option(
    "--groups",
    is_flag=True,
    help="Also take out groups that say what everyone is told, but for those that well-known "
    "crawlers need: AdsBot-Google ignores groups for '*'. Other crawlers with several names may "
    "notice.",
)
@profile_option
@click.option(
    "--only-this-profile",
    is_flag=True,
    help="The smaller file has to mean the same under --profile; without this, under all profiles.",
)
@click.option(
    "--budget",
    type=click.IntRange(1),
    metavar="N",
    default=MAX_STATES,
    show_default=True,
    help="How many states each question may see before it is not decided.",
)
@click.option("--all", "all_steps", is_flag=True, help="Show all that can go, however much.")
@json_option("Print one JSON object; docs/cli/simplify.md describes it.")
def simplify(
    file: str,
    in_place: bool,
    target: str | None,
    as_diff: bool,
    groups: bool,
    profile: str,
    only_this_profile: bool,
    budget: int,
    all_steps: bool,
    as_json: bool,
) -> int:
    """
    Show what a robots.txt could do without. '-' is stdin.

    Finds rules that decide nothing or say what others say, user-agent lines that repeat, and groups
    that could be one. What goes changes no verdict on any URL, for no crawler: that is proved, and
    without the proof nothing is written. Comments stay where their rules do. The exit code is 0 if
    nothing can go or the smaller file was written, 1 if something can go, 2 for usage or I/O.

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
            "stdout cannot have the smaller file and something else: name a file with -o"
        )
    if as_json and as_diff:
        raise click.UsageError("--json and --diff are two forms: leave out one")
    robots, octets = read_robots(file, profile, most=LARGEST)
    name = "stdin" if file == STDIN else quoted(file)
    limit = robots.profile.max_bytes
    if len(octets) > LARGEST:
        raise CliError(f"{name} is longer than {LARGEST:,} bytes, and is not read to its end")
    if len(octets) > limit:
        say(
            f"{name} has {len(octets):,} bytes, and crawlers need not read more than {limit:,} "
            "(RFC 9309 §2.5): the smaller file means what the whole file says",
            label="hint",
            style="warning",
        )
    misread, keep = find_misread_lines(robots)
    with counting("rule") as progress:
        profiles = () if only_this_profile else tuple(PROFILES)
        found = simplified(
            robots, profiles=profiles, groups=groups, keep=keep, budget=budget, progress=progress
        )
    if found.refused:
        raise CliError(f"{name} is left alone: {found.refused}")
    if misread:
        _warn_misread(robots, misread, name)
    output = Output()
    written = target not in (None, STDIN) and _save(found, target, octets if in_place else None)
    if target == STDIN:
        sys.stdout.buffer.write(found.body)
    elif as_json:
        output.json(_as_json(found, file, target if written else None, misread))
    elif as_diff:
        shown = "stdin" if file == STDIN else visible(os.fsencode(file))
        lines = diff_lines(octets, found.body, shown, "simplified")
        output.lines(painted(lines, output.paint))
    else:
        output.lines(list(SimplifyPage(found, robots, file, output, all_steps=all_steps).lines()))
    output.flush()
    if written:
        words = f"{found.octets_before:,} bytes became {found.octets_after:,}"
        words += ", proved to mean the same" if found.steps else ", for nothing can go"
        say(f"{quoted(str(target))} was written: {words}")
    return int(bool(found.steps) and target is None)


def _target(file: str, in_place: bool, target: str | None) -> str | None:
    """Return where the smaller file goes; None: nowhere."""
    if not in_place:
        return target
    if target is not None:
        raise click.UsageError("--write is in place of FILE, and --output elsewhere: leave out one")
    return file


# --- Forms ----------------------------------------------------------------------------------------


def _warn_misread(robots: RobotsTxt, misread: list[int], name: str) -> None:
    """Say which records are not read as they are meant, and what stays because of that."""
    first = visible(robots.lines[misread[0] - 1].text.strip())
    many = f" and {plural(len(misread) - 1, 'other line')}" if len(misread) > 1 else ""
    verb, seem, them = ("are", "they seem", "them") if many else ("is", "it seems", "it")
    say(
        f"{name}: line {misread[0]} ('{shortened(first, LONGEST)}'){many} {verb} not read as "
        f"{seem} to be meant, so what stands in the same groups stays; robotrules lint "
        f"--fix-verdicts corrects {them}",
        label="warning",
        style="warning",
    )


def _as_json(
    found: Simplification, file: str, target: str | None, misread: list[int]
) -> dict[str, Any]:
    values = found.as_dict()
    schema = values.pop("schema")
    shown, written = (
        None if name in (None, STDIN) else visible(os.fsencode(name)) for name in (file, target)
    )
    return {"schema": schema, "file": shown, "written": written, **values, "misread": misread}


# --- Writing --------------------------------------------------------------------------------------


def _save(found: Simplification, target: str, before: bytes | None) -> bool:
    """Write the smaller file in one piece; *before* is what stands there, and should still."""
    if before is not None and not found.steps:
        return False  # nothing goes, so nothing is touched
    save(target, found.body, before)
    return True
