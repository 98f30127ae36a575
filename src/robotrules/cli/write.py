"""
`robotrules write`: create a robots.txt from a policy or a preset, compare it, or check the policy.

A wrapper around `policy.read_policy`, `presets` and `write`. After a preset, the matrix of the file
is printed as proof: to stderr, or to stdout if the file has another target. Tag rules of a policy
are checked and shown as JSON, and not written: a robots.txt cannot contain them.
"""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import click

from robotrules import is_product_token, parse
from robotrules.cli.atomic_write import refuse_overwriting, write_atomically
from robotrules.cli.console import STDIN, CliError, Output, quoted, report
from robotrules.cli.input_files import open_octets, read_error, read_robots
from robotrules.cli.options import json_option
from robotrules.cli.unified_diff import colourize, unified_lines
from robotrules.errors import WriteError, WrongWitnessError
from robotrules.json_results.write import (
    SCHEMA_VERSION,
    compare_with_policy,
    policy_values,
    preset_values,
    unnamed_purposes,
)
from robotrules.octets import visible
from robotrules.profile import PROFILES
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.write import NewRobotsTxt
from robotrules.write import write as write_text
from robotrules.write.policy import LARGEST, read_policy, require_generated
from robotrules.write.presets import PRESETS, Preset


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

    \b
    Examples:
      robotrules write --preset block-ai-training -o robots.txt
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
        return _write_preset(PRESETS[preset], target, existing, quiet, as_json)
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
    preset: Preset, target: str | None, existing: str | None, quiet: bool, as_json: bool
) -> int:
    """Write the file of a preset, and the matrix as proof."""
    try:
        robots = preset.robots()
    except WrongWitnessError as error:
        raise CliError(str(error)) from None
    text = write_text(robots)
    values = preset_values(preset, robots, text) if as_json else None
    if existing is not None:
        return _compare(robots, text, existing, "preset", values)
    _write_text(text, target, values)
    if target not in (None, STDIN) and not as_json:
        report(f"{quoted(target or '')} written")
    if not quiet and not as_json:
        _prove_preset(preset, text, target)
    return 0


def _prove_preset(preset: Preset, text: str, target: str | None) -> None:
    """Print the matrix of the main crawlers: to stderr if the file itself is on stdout."""
    from robotrules.cli.matrix import MatrixPage  # the analysis, needed only here
    from robotrules.matrix import matrix

    on_stdout = target in (None, STDIN)
    if on_stdout and sys.stderr is None:
        return
    main = [crawler.product_token for crawler in KNOWN_CRAWLERS if crawler.is_main]
    name = preset.name if on_stdout else visible(os.fsencode(os.path.basename(target or "")))
    blocked, known = sum(map(preset.blocks, KNOWN_CRAWLERS)), len(KNOWN_CRAWLERS)
    checked = (
        f"Checked for all {known} well-known crawlers, under profiles {', '.join(PROFILES)}: "
        f"{blocked} may fetch nothing, {known - blocked} everything."
    )
    # A reader of stderr that is gone does not matter: the file was written.
    with suppress(OSError) if on_stdout else nullcontext():
        output = Output(sys.stderr if on_stdout else None)
        page = MatrixPage(matrix(parse(text), crawlers=[*main, "*"], url=name), output)
        output.lines([*([""] if on_stdout else []), *page.lines(), checked])
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
    robots: NewRobotsTxt, text: str, existing: str, origin: str, values: dict[str, Any] | None
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
    return int(not same)
