"""
`robotrules write`: create a robots.txt from a policy file, or compare it with an existing one.

A wrapper around `policy.read_policy` and `write`. Tag rules of a policy are checked and shown as
JSON, and not written: a robots.txt cannot contain them.
"""

from __future__ import annotations

import os
from typing import Any

import click

from robotrules import is_product_token
from robotrules.cli.atomic_write import refuse_overwriting, write_atomically
from robotrules.cli.console import STDIN, CliError, Output, quoted, report
from robotrules.cli.input_files import open_octets, read_error, read_robots
from robotrules.cli.options import json_option
from robotrules.cli.unified_diff import colourize, unified_lines
from robotrules.errors import WriteError
from robotrules.octets import visible
from robotrules.write import NewRobotsTxt, read_back
from robotrules.write import write as write_text
from robotrules.write.policy import LARGEST, read_policy, require_generated

# Increased when a JSON key changes its meaning or is removed.
SCHEMA_VERSION = 1


@click.command()
@click.argument("policy", metavar="POLICY")
@click.option("-o", "--output", "target", metavar="FILE", help="Write to FILE; '-' is stdout.")
@click.option(
    "--check",
    "existing",
    metavar="FILE",
    help="Compare with the robots.txt FILE instead of writing; exit with 1 if it differs.",
)
@json_option("Print one JSON object: the parsed policy and the text of the robots.txt.")
def write(policy: str, target: str | None, existing: str | None, as_json: bool) -> int:
    """
    Create a robots.txt from a policy, a small TOML file. '-' is stdin.

    The result has the same meaning for crawlers that do not support the newer records. [[tags]]
    are checked and not written: they are for header fields, which a server sends. With --check, a
    diff is printed instead. The exit code is 0, 1 if --check finds a difference, or 2
    for a usage or I/O error or an invalid policy.

    \b
    Examples:
      robotrules write policy.toml
      robotrules write policy.toml -o robots.txt
      robotrules write policy.toml --check robots.txt
    """
    if target is not None and existing is not None:
        raise CliError("--check and --output cannot be combined")
    if policy == STDIN and existing == STDIN:
        raise CliError("the policy and --check cannot both be stdin: pass one of them as a file")
    name = "stdin" if policy == STDIN else visible(os.fsencode(policy))
    try:
        parsed = read_policy(_read(policy), name)
        require_generated(parsed, name)
    except WriteError as error:
        raise CliError(visible(str(error))) from None
    robots = parsed.robots
    _hint_at_names(robots)
    text = write_text(robots)
    values: dict[str, Any] = {"schema": SCHEMA_VERSION, "policy": None if policy == STDIN else name}
    values |= {"robotstxt": text, **robots.as_dict()}
    values["tags"] = [table.as_dict() for table in parsed.tags]
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
    same = octets == text.encode("ascii")
    try:
        equivalent = read_back(parsed) == robots
    except WriteError:  # not expressible as a policy
        equivalent = False
    output = Output()
    where = "stdin" if existing == STDIN else quoted(existing)
    if values is not None:
        file = None if existing == STDIN else visible(os.fsencode(existing))
        check = {"file": file, "same": same, "equivalent": equivalent}
        output.json(values | {"check": check})
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
