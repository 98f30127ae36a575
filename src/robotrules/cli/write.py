"""
`robotrules write`: a robots.txt made from a small policy file, or compared with the one in use.

A few lines over `policy.compose` and `write`. The policy is read and the robots.txt written as
octets. It does not know what a policy may say.
"""

from __future__ import annotations

import os
from typing import Any

import click

from robotrules import is_product_token
from robotrules.cli.atomic_write import refuse_overwriting, save
from robotrules.cli.diffs import painted, unified
from robotrules.cli.options import json_option
from robotrules.cli.streams import (
    STDIN,
    CliError,
    Output,
    open_octets,
    quoted,
    read_robots,
    say,
    unreadable,
)
from robotrules.errors import WriteError
from robotrules.octets import visible
from robotrules.write import NewRobotsTxt, read_back
from robotrules.write import write as write_text
from robotrules.write.policy import LARGEST, compose

# Raised when a key of the JSON changes meaning or goes away.
SCHEMA_VERSION = 1


@click.command()
@click.argument("policy", metavar="POLICY")
@click.option("-o", "--output", "target", metavar="FILE", help="Write to FILE; '-' is stdout.")
@click.option(
    "--check",
    "existing",
    metavar="FILE",
    help="Write nothing; compare with the robots.txt FILE, and exit with 1 if it differs.",
)
@json_option("Print one JSON object: what was understood, and the text of the robots.txt.")
def write(policy: str, target: str | None, existing: str | None, as_json: bool) -> int:
    """
    Make a robots.txt from a policy: a small TOML file. '-' is stdin.

    What is written reads the same to crawlers that do not know the newer records. With --check, the
    lines that differ go to stdout. The exit code is 0, or 1 if --check found a difference, or 2 for
    usage, I/O, and a policy that cannot be understood.

    \b
    Examples:
      robotrules write policy.toml
      robotrules write policy.toml -o robots.txt
      robotrules write policy.toml --check robots.txt
    """
    if target is not None and existing is not None:
        raise CliError("--check writes nothing: use it without --output")
    if policy == STDIN and existing == STDIN:
        raise CliError("the policy and --check cannot both be stdin: pass one of them as a file")
    name = "stdin" if policy == STDIN else visible(os.fsencode(policy))
    try:
        robots = compose(_read(policy), name)
    except WriteError as error:
        raise CliError(visible(str(error))) from None
    _hint_at_names(robots)
    text = write_text(robots)
    values = {"schema": SCHEMA_VERSION, "policy": None if policy == STDIN else name}
    values |= {"robotstxt": text, **robots.as_dict()}
    if existing is not None:
        return _compare(robots, text, existing, values if as_json else None)
    if target == STDIN:
        target = None
    if target is not None:
        refuse_overwriting(target, [policy], "--output")
        save(target, text.encode("ascii"))
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
        raise unreadable(policy, "a policy", error) from None
    finally:
        if policy != STDIN:
            stream.close()
    where = "stdin" if policy == STDIN else quoted(policy)
    if len(octets) > LARGEST:
        raise CliError(f"{where} is larger than 1 MiB, which no policy is: pass a TOML file")
    try:
        return octets.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CliError(f"{where} is not UTF-8 at octet {error.start:,}: save it as UTF-8") from None


def _hint_at_names(robots: NewRobotsTxt) -> None:
    for name in dict.fromkeys(name for group in robots.groups for name in group.user_agents):
        if name != "*" and not is_product_token(name):
            say(
                f"{quoted(name)} has more than letters, '_' and '-': some crawlers read it only up "
                "to the first other character (RFC 9309 §2.2.1)",
                label="hint",
                style="warning",
            )


def _compare(robots: NewRobotsTxt, text: str, existing: str, values: dict[str, Any] | None) -> int:
    """Tell whether a robots.txt is what the policy asks for; *values* are for JSON."""
    parsed, octets = read_robots(existing, "default")
    same = octets == text.encode("ascii")
    try:
        says_the_same = read_back(parsed) == robots
    except WriteError:  # more than can be written
        says_the_same = False
    output = Output()
    where = "stdin" if existing == STDIN else quoted(existing)
    if values is not None:
        file = None if existing == STDIN else visible(os.fsencode(existing))
        check = {"file": file, "same": same, "says_the_same": says_the_same}
        output.json(values | {"check": check})
    elif not same:
        was = octets.decode("utf-8", "backslashreplace").split("\n")
        name = "stdin" if existing == STDIN else visible(os.fsencode(existing))
        lines = unified(was, text.split("\n"), name, "policy")
        output.lines(painted(map(visible, lines), output.paint))
    output.flush()
    if not same:
        but = ", but says the same" if says_the_same else ""
        say(f"{where} is not what the policy makes{but}")
    return int(not same)
