"""
`robotrules write`: create a robots.txt from a policy or a preset, compare it, or check the policy.

A wrapper around `policy.read_policy`, `presets` and `write`. After a preset, the matrix of the file
is printed as proof: to stderr, or to stdout if the file has another target. Tag rules of a policy
are checked and shown as JSON, and not written: a robots.txt cannot contain them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robotrules import is_product_token, parse
from robotrules.cli.atomic_write import refuse_overwriting, write_atomically
from robotrules.cli.console import STDIN, CliError, Output, quoted, report
from robotrules.cli.input_files import open_octets, read_error, read_robots
from robotrules.cli.options import json_option
from robotrules.cli.text import plural
from robotrules.cli.unified_diff import colourize, diff_lines, unified_lines
from robotrules.errors import WriteError, WrongWitnessError
from robotrules.json_results.write import (
    SCHEMA_VERSION,
    added_values,
    compare_with_policy,
    policy_values,
    preset_values,
    unnamed_purposes,
)
from robotrules.octets import visible
from robotrules.operations.crawler_lists import count_crawlers
from robotrules.profile import PROFILES, Role
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt import RobotsTxt
from robotrules.write import NewRobotsTxt
from robotrules.write import write as write_text
from robotrules.write.policy import LARGEST, read_policy, require_generated
from robotrules.write.presets import PRESETS, Preset

if TYPE_CHECKING:
    from robotrules.operations.preset_addition import PresetAddition


@click.command()
@click.argument("policy", metavar="[POLICY]", required=False)
@click.option(
    "--preset",
    type=click.Choice(list(PRESETS)),
    help="Write a complete robots.txt for a common wish, in place of a policy.",
)
@click.option("-o", "--output", "target", metavar="FILE", help="Write to FILE; '-' is stdout.")
@click.option(
    "--compare",
    "existing",
    metavar="FILE",
    help="Compare with the robots.txt FILE instead of writing; exit with 1 if it differs.",
)
@click.option(
    "--add-to",
    "added_to",
    metavar="FILE",
    help="With a --preset that blocks by purpose: keep the robots.txt FILE, and add the crawlers.",
)
@click.option(
    "--sitemap",
    "sitemaps",
    metavar="URL",
    multiple=True,
    help="With --preset: write a Sitemap line. Repeat it for several.",
)
@click.option(
    "--check",
    "is_check",
    is_flag=True,
    help="Lint the policy as a server does at its start; exit with 1 if it would not start.",
)
@click.option(
    "--ignore", metavar="CHECKS", multiple=True, help="With --check: skip these checks of lint."
)
@click.option(
    "-q", "--quiet", is_flag=True, help="With --preset: do not print the matrix after the file."
)
@json_option("Print one JSON object: the parsed policy and the text of the robots.txt.")
def write(
    policy: str | None,
    preset: str | None,
    target: str | None,
    existing: str | None,
    added_to: str | None,
    sitemaps: tuple[str, ...],
    is_check: bool,
    ignore: tuple[str, ...],
    quiet: bool,
    as_json: bool,
) -> int:
    """
    Create a robots.txt from a policy, a small TOML file ('-' is stdin), or from a preset.

    \b
    Presets (names of crawlers from a dated list: robotrules crawlers):
      block-ai-training  AI-training crawlers may fetch nothing; all others everything
      block-ai-all       the same, also for crawlers of AI search and AI assistants
      search-only        search engines may fetch everything; all others nothing
      archive-only       web archives may fetch everything; all others nothing
      allow-all          every crawler may fetch everything
      block-all          no crawler may fetch anything

    The result has the same meaning for crawlers that do not support the newer records. [[tags]]
    are validated and not written: they are for header fields, which a server sends. With --compare,
    a diff is printed instead, and with --check the notes of lint, also on [[tags]]. The exit code
    is 0, 1 if --compare finds a difference or --check a warning or an error, or 2 for a usage or
    I/O error or an invalid policy.

    A preset is compared with what it says, for every well-known crawler and under every profile;
    the matrix of the main crawlers is printed after the file: to stderr, or with -o to stdout.

    With --add-to, an existing robots.txt keeps its rules, and block-ai-training or block-ai-all
    adds the crawlers that it blocks. It is proved that nothing changes for other crawlers;
    otherwise nothing is written.

    \b
    Examples:
      robotrules write --preset block-ai-training -o robots.txt
      robotrules write --preset block-ai-training --add-to robots.txt -o robots.txt
      robotrules write --preset search-only --compare robots.txt
      robotrules write policy.toml
      robotrules write policy.toml -o robots.txt
      robotrules write policy.toml --compare robots.txt
      robotrules write policy.toml --check
    """
    _refuse_combinations(target, existing, is_check, ignore)
    if preset is not None:
        if policy is not None or is_check:
            other = "--check" if policy is None else f"the policy {quoted(policy)}"
            raise CliError(
                f"--preset and {other} cannot be combined: to change a preset, write a policy "
                "with for-purpose (docs/cli/write.md)"
            )
        chosen = PRESETS[preset]
        if added_to is not None:
            if existing is not None:
                raise CliError("--add-to and --compare cannot be combined")
            if sitemaps:
                raise CliError(
                    "--add-to and --sitemap cannot be combined: write the Sitemap line into the "
                    "file"
                )
            return _add_preset(chosen, added_to, target, quiet, as_json)
        return _write_preset(chosen, sitemaps, target, existing, quiet, as_json)
    if added_to is not None or sitemaps:
        option = "--sitemap" if added_to is None else "--add-to"
        fix = ', or write sitemaps = ["..."] in the policy' if added_to is None else ""
        raise CliError(f"{option} is for a preset: pass --preset{fix}")
    if quiet:
        raise CliError("--quiet is about the matrix of a preset: pass --preset, or remove it")
    if policy is None:
        raise click.UsageError("pass a POLICY, or --preset")
    if policy == STDIN and existing == STDIN:
        raise CliError("the policy and --compare cannot both be stdin: pass one of them as a file")
    if is_check:
        return _check(policy, ignore, as_json)
    name = "stdin" if policy == STDIN else visible(os.fsencode(policy))
    try:
        source = _read(policy)
        parsed = read_policy(source, name)
        require_generated(parsed, name)
    except WriteError as error:
        raise CliError(visible(str(error))) from None
    robots = parsed.robots
    _hint_at_names(robots, source)
    _hint_at_purposes(robots)
    text = write_text(robots)
    values = policy_values(parsed, text, None if policy == STDIN else name)
    if existing is not None:
        return _compare(robots, text, existing, "policy", values if as_json else None)
    if target not in (None, STDIN):
        refuse_overwriting(target, [policy], "--output")
    _write_text(text, target, values if as_json else None)
    return 0


def _write_text(text: str, target: str | None, values: dict[str, Any] | None) -> None:
    """Write a robots.txt to a file or to stdout; *values* are for JSON, on stdout."""
    output = Output()
    if target not in (None, STDIN):
        write_atomically(target, text.encode("ascii"))
    elif values is None:
        output.write(text)
    if values is not None:
        output.json(values)
    output.flush()


def _write_preset(
    preset: Preset,
    sitemaps: tuple[str, ...],
    target: str | None,
    existing: str | None,
    quiet: bool,
    as_json: bool,
) -> int:
    """Write the file of a preset, and the matrix as proof."""
    try:
        robots = preset.robots(sitemaps)
    except (WriteError, WrongWitnessError) as error:
        raise CliError(visible(str(error))) from None
    text = write_text(robots)
    values = preset_values(preset, robots, text) if as_json else None
    if existing is not None:
        return _compare(robots, text, existing, "preset", values, preset)
    _write_text(text, target, values)
    if target not in (None, STDIN) and not as_json:
        report(f"{quoted(target or '')} written")
    if not quiet and not as_json:
        _prove_preset(preset, text, target)
    return 0


def _add_preset(preset: Preset, file: str, target: str | None, quiet: bool, as_json: bool) -> int:
    """Write an existing file with the crawlers of a preset, and say what changed."""
    # The analysis is needed only here.
    from robotrules.operations.preset_addition import add_preset

    _, octets = read_robots(file, "default")
    where = "stdin" if file == STDIN else quoted(file)
    try:
        found = add_preset(octets, preset)
    except WriteError as error:
        raise CliError(f"{where}: {visible(str(error))}") from None
    on_stdout = target in (None, STDIN)
    is_same = False
    if target is not None and not on_stdout:
        is_same = file != STDIN and os.path.exists(target) and os.path.samefile(target, file)
        if not is_same or found.body != octets:
            write_atomically(target, found.body, octets if is_same else None)
    if as_json:
        name = None if file == STDIN else visible(os.fsencode(file))
        output = Output()
        output.json(added_values(preset, found.body, found.as_dict(), name))
        output.flush()
        return 0
    if on_stdout:
        sys.stdout.buffer.write(found.body)
        sys.stdout.buffer.flush()
    for line in _addition_words(preset, found):
        report(line)
    if not on_stdout:
        is_new = not is_same or found.body != octets
        report(f"{quoted(target or '')} {'written' if is_new else 'is unchanged'}")
    if not quiet and (not on_stdout or sys.stderr is not None):
        with suppress(OSError) if on_stdout else nullcontext():
            output = Output(sys.stderr if on_stdout else None)
            name = "stdin" if file == STDIN else visible(os.fsencode(file))
            lines = diff_lines(octets, found.body, name, f"{name} with {preset.name}")
            output.lines(colourize(lines, output.paint))
            output.flush()
    return 0


def _addition_words(preset: Preset, found: PresetAddition) -> Iterator[str]:
    """Yield what was added, what was replaced, and what is proved."""
    blocked = list(filter(preset.blocks, KNOWN_CRAWLERS))
    added = f"{len(found.added)} added" if found.added or found.purposes else "nothing to add"
    yield (
        f"{preset.name} blocks {count_crawlers(blocked)}. The file blocked {len(found.kept)} of "
        f"them by name already; {added}"
    )
    for replaced in found.replaced:
        lines = ", ".join(map(str, replaced.lines))
        words = f"{replaced.name} had rules of its own (line {lines}), which are replaced"
        if replaced.removed_lines:
            first, *rest = replaced.removed_lines
            what = f"line {first}" if not rest else f"{len(rest) + 1} lines from line {first}"
            words += f"; {what} removed too, because the group names no one else"
        yield words
    if found.is_ended:
        yield (
            "the last group of the file had no rules: 'Disallow:' without a path, which blocks "
            "nothing, ends it"
        )
    yield (
        f"proved under profiles {', '.join(found.profiles)}: these {len(blocked)} may fetch "
        "nothing, and nothing changes for all other crawlers"
    )


def _prove_preset(preset: Preset, text: str, target: str | None) -> None:
    """Print the matrix of the main crawlers: to stderr if the file itself is on stdout."""
    from robotrules.cli.matrix import MatrixPage  # the analysis, needed only here
    from robotrules.matrix import matrix

    on_stdout = target in (None, STDIN)
    if on_stdout and sys.stderr is None:
        return
    main = [crawler.product_token for crawler in KNOWN_CRAWLERS if crawler.is_main]
    name = preset.name if on_stdout else visible(os.fsencode(os.path.basename(target or "")))
    blocked, known = list(filter(preset.blocks, KNOWN_CRAWLERS)), len(KNOWN_CRAWLERS)
    checked = [
        f"The table shows {len(main)} main crawlers and everyone else.",
        f"Checked for all {known} well-known crawlers, under profiles {', '.join(PROFILES)}: "
        f"{len(blocked)} may fetch nothing, {known - len(blocked)} everything.",
    ]
    if blocked:
        checked.append(f"May fetch nothing: {count_crawlers(blocked)}.")
    # A reader of stderr that is gone does not matter: the file was written.
    with suppress(OSError) if on_stdout else nullcontext():
        output = Output(sys.stderr if on_stdout else None)
        page = MatrixPage(matrix(parse(text), crawlers=[*main, "*"], url=name), output)
        output.lines([*([""] if on_stdout else []), *page.lines(), *checked])
        output.flush()


def _refuse_combinations(
    target: str | None, existing: str | None, is_check: bool, ignore: tuple[str, ...]
) -> None:
    options = {
        "--check": is_check,
        "--compare": existing is not None,
        "--output": target is not None,
    }
    given = [option for option, is_given in options.items() if is_given]
    if len(given) > 1:
        raise CliError(f"{given[0]} and {given[1]} cannot be combined")
    if ignore and not is_check:
        raise CliError("--ignore names checks of lint: pass --check too, or remove it")


def _check(policy: str, ignore: tuple[str, ...], as_json: bool) -> int:
    from robotrules.cli.policy_check import check_policy  # the server side and all of lint

    # A text without a line end would be the name of a file.
    source = _read(policy) + "\n" if policy == STDIN else Path(policy)
    name = "the policy" if policy == STDIN else quoted(policy)
    file = None if policy == STDIN else visible(os.fsencode(policy))
    checks = [part.strip() for text in ignore for part in text.split(",") if part.strip()]
    return check_policy(
        source, name, checks, {"schema": SCHEMA_VERSION, "policy": file} if as_json else None
    )


def _read(policy: str) -> str:
    """Return the text of a policy."""
    stream = open_octets(policy, "a policy")
    octets = bytearray()
    try:
        while len(octets) <= LARGEST and (block := stream.read(LARGEST)):
            octets += block
    except OSError as error:
        raise read_error(policy, "a policy", error) from None
    finally:
        if policy != STDIN:
            stream.close()
    where = "stdin" if policy == STDIN else quoted(policy)
    if len(octets) > LARGEST:
        raise CliError(f"{where} is larger than 1 MiB: pass a policy in TOML")
    try:
        return octets.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CliError(f"{where} is not UTF-8 at byte {error.start:,}: save it as UTF-8") from None


def _hint_at_names(robots: NewRobotsTxt, source: str) -> None:
    """Tell about names that parsers read differently; of for-purpose the author wrote none."""
    for name in dict.fromkeys(name for group in robots.groups for name in group.user_agents):
        if name != "*" and not is_product_token(name) and name in source:
            report(
                f"{quoted(name)} contains characters other than letters, '_' and '-': some "
                f"crawlers "
                "ignore them and the rest (RFC 9309 §2.2.1)",
                label="hint",
                style="warning",
            )


def _hint_at_purposes(robots: NewRobotsTxt) -> None:
    for purpose in unnamed_purposes(robots):
        report(
            f"purposes = [{quoted(purpose)}] has no effect on today's crawlers: none is known to "
            f'read User-Agent-Purpose; for-purpose = ["{visible(purpose)}"] names them too',
            label="hint",
            style="warning",
        )


def _compare(
    robots: NewRobotsTxt,
    text: str,
    existing: str,
    origin: str,
    values: dict[str, Any] | None,
    preset: Preset | None = None,
) -> int:
    """Compare a robots.txt with the text of a policy or preset; *values* are for JSON."""
    parsed, octets = read_robots(existing, "default")
    same, equivalent = compare_with_policy(robots, text, parsed, octets)
    output = Output()
    where = "stdin" if existing == STDIN else quoted(existing)
    if values is not None:
        file = None if existing == STDIN else visible(os.fsencode(existing))
        compared = {"file": file, "same": same, "equivalent": equivalent}
        output.json(values | {"compare": compared})
    elif not same:
        was = octets.decode("utf-8", "backslashreplace").split("\n")
        name = "stdin" if existing == STDIN else visible(os.fsencode(existing))
        lines = unified_lines(was, text.split("\n"), name, origin)
        output.lines(colourize(map(visible, lines), output.paint))
    output.flush()
    if not same:
        but = ", but is equivalent" if equivalent else ""
        report(f"{where} differs from the {origin}{but}")
        if preset is not None and not equivalent:
            _say_what_is_compared(preset, parsed, existing)
    return int(not same)


def _say_what_is_compared(preset: Preset, parsed: RobotsTxt, existing: str) -> None:
    """Say that a preset is a whole file, which would replace all lines of the existing one."""
    rules = sum(record.role is Role.RULE for record in parsed.records)
    sitemaps = [record.key == "sitemap" for record in parsed.records].count(True)
    counts = [plural(rules, "rule")] + ([plural(sitemaps, "sitemap")] if sitemaps else [])
    words = (
        "a preset is a whole file: written in place of this one, it would replace its "
        f"{' and '.join(counts)}; lines with '-' would be gone"
    )
    if preset.purposes:
        file = "FILE" if existing == STDIN else quoted(existing)
        words += f". To keep them and add the crawlers, pass --add-to {file} and no --compare"
    report(words, label="hint")
