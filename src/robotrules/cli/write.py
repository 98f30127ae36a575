"""
`robotrules write`: create a robots.txt from a policy, compare it with one, or check the policy.

A wrapper around `policy.read_policy` and `write`. Tag rules of a policy are checked and shown as
JSON, and not written: a robots.txt cannot contain them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from robotrules import is_product_token
from robotrules.cli.atomic_write import refuse_overwriting, write_atomically
from robotrules.cli.console import STDIN, CliError, Output, quoted, report
from robotrules.cli.input_files import open_octets, read_error, read_robots
from robotrules.cli.options import json_option
from robotrules.cli.unified_diff import colourize, unified_lines
from robotrules.errors import WriteError
from robotrules.json_results.write import SCHEMA_VERSION, compare_with_policy, policy_values
from robotrules.octets import visible
from robotrules.write import NewRobotsTxt
from robotrules.write import write as write_text
from robotrules.write.policy import LARGEST, read_policy, require_generated


@click.command()
@click.argument("policy", metavar="POLICY")
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
@json_option("Print one JSON object: the parsed policy and the text of the robots.txt.")
def write(
    policy: str,
    target: str | None,
    existing: str | None,
    is_check: bool,
    ignore: tuple[str, ...],
    as_json: bool,
) -> int:
    """
    Create a robots.txt from a policy, a small TOML file. '-' is stdin.

    The result has the same meaning for crawlers that do not support the newer records. [[tags]]
    are validated and not written: they are for header fields, which a server sends. With --compare,
    a diff is printed instead, and with --check the notes of lint, also on [[tags]]. The exit code
    is 0, 1 if --compare finds a difference or --check a warning or an error, or 2 for a usage or
    I/O error or an invalid policy.

    \b
    Examples:
      robotrules write policy.toml
      robotrules write policy.toml -o robots.txt
      robotrules write policy.toml --compare robots.txt
      robotrules write policy.toml --check
    """
    _refuse_combinations(target, existing, is_check, ignore)
    if policy == STDIN and existing == STDIN:
        raise CliError("the policy and --compare cannot both be stdin: pass one of them as a file")
    if is_check:
        return _check(policy, ignore, as_json)
    name = "stdin" if policy == STDIN else visible(os.fsencode(policy))
    try:
        parsed = read_policy(_read(policy), name)
        require_generated(parsed, name)
    except WriteError as error:
        raise CliError(visible(str(error))) from None
    robots = parsed.robots
    _hint_at_names(robots)
    text = write_text(robots)
    values = policy_values(parsed, text, None if policy == STDIN else name)
    if existing is not None:
        return _compare(robots, text, existing, values if as_json else None)
    if target == STDIN:
        target = None
    if target is not None:
        refuse_overwriting(target, [policy], "--output")
        write_atomically(target, text.encode("ascii"))
    output = Output()
    if as_json:
        output.json(values)
    elif target is None:
        output.write(text)
    output.flush()
    return 0


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


def _hint_at_names(robots: NewRobotsTxt) -> None:
    for name in dict.fromkeys(name for group in robots.groups for name in group.user_agents):
        if name != "*" and not is_product_token(name):
            report(
                f"{quoted(name)} contains characters other than letters, '_' and '-': some "
                f"crawlers "
                "ignore them and the rest (RFC 9309 §2.2.1)",
                label="hint",
                style="warning",
            )


def _compare(robots: NewRobotsTxt, text: str, existing: str, values: dict[str, Any] | None) -> int:
    """Compare a robots.txt with the policy; *values* are for JSON."""
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
        lines = unified_lines(was, text.split("\n"), name, "policy")
        output.lines(colourize(map(visible, lines), output.paint))
    output.flush()
    if not same:
        but = ", but is equivalent" if equivalent else ""
        report(f"{where} differs from the policy{but}")
    return int(not same)
