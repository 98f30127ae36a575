"""
`robotrules fmt`: format robots.txt files in place.

A wrapper around `robotrules.formatting.format_robots`. A file is written atomically, and only if it
changes and the result is proved equivalent. A file that fails is reported, and the others are
formatted.
"""

from __future__ import annotations

import os
import sys

import click

from robotrules.cli.atomic_write import write_atomically
from robotrules.cli.console import STDIN, CliError, Output, quoted, report
from robotrules.cli.input_files import default_robots_file, read_robots
from robotrules.cli.options import json_option
from robotrules.cli.text import plural
from robotrules.cli.unified_diff import colourize, diff_lines
from robotrules.config import find_config
from robotrules.errors import ConfigError
from robotrules.formatting import MAX_STATES, format_robots
from robotrules.json_results.fmt import FormattedFile, formatting_values
from robotrules.octets import visible


@click.command()
@click.argument("files", metavar="[FILE]...", nargs=-1)
@click.option("--check", is_flag=True, help="Write nothing; name the files that would change.")
@click.option("--diff", "as_diff", is_flag=True, help="Write nothing; show what would change.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors; a diff is still shown.")
@click.option(
    "--max-states",
    type=click.IntRange(1),
    metavar="N",
    help="How many states each exact question may see; there are such questions only where names "
    f"of records are misspelled.  [default: {MAX_STATES}, or that of robotrules.toml]",
)
@json_option("Print one JSON object, described in docs/cli/fmt.md.")
def fmt(
    files: tuple[str, ...],
    check: bool,
    as_diff: bool,
    quiet: bool,
    max_states: int | None,
    as_json: bool,
) -> int:
    """
    Format robots.txt files. '-' reads stdin and writes stdout.

    Without FILE, robots.txt in this directory is formatted. The format: `Key: value`, LF line ends,
    a blank line before each group and none inside. Comments, the order of lines and the spelling of
    paths are kept. It is proved that the result is equivalent for every crawler under every
    profile; without the proof nothing is written. The exit code is 0 on success, 1 if --check or
    --diff found something to change, 2 for a usage or I/O error or a file that could not be
    formatted.

    \b
    Examples:
      robotrules fmt robots.txt
      robotrules fmt --check robots.txt staging/robots.txt
      robotrules fmt --diff robots.txt
      curl -s https://example.com/robots.txt | robotrules fmt -
    """
    if as_json and as_diff:
        raise click.UsageError("--json and --diff cannot be combined")
    files = files or (default_robots_file(or_url=False),)
    if files.count(STDIN) > 1:
        raise click.UsageError("stdin can be read only once: pass '-' once")
    writes = not (check or as_diff)
    if as_json and writes and STDIN in files:
        raise CliError(
            "--json cannot be combined with formatting stdin: add --check, or pass a file"
        )
    output = Output()
    done = []
    for file in files:
        one = _formatted(file, max_states, writes)
        done.append(one)
        if one.error:
            report(one.error)
        elif as_diff:
            lines = diff_lines(one.old, one.new, one.file or "stdin", "formatted")
            output.lines(colourize(lines, output.paint))
            if not quiet and b"\r" in one.old:
                report(f"{_named(one)}: line ends would change to LF")
        elif check and one.changed and not (as_json or quiet):
            output.lines([one.file or "stdin"])
        elif file == STDIN and writes:
            sys.stdout.buffer.write(one.new)
        output.flush()
    if as_json:
        output.json(formatting_values(done))
        output.flush()
    elif not quiet:
        _summarise(done, writes, hint=check and not as_diff)
    if any(one.error for one in done):
        return 2
    return int(not writes and any(one.changed for one in done))


def check_format(file: str) -> FormattedFile:
    """Return the canonical form of a file, which is not written."""
    return _formatted(file, None, False)


def _formatted(file: str, max_states: int | None, writes: bool) -> FormattedFile:
    """Format and write one file; an error is part of the result."""
    name = "stdin" if file == STDIN else quoted(file)
    try:
        if "://" in file and not os.path.exists(file):
            raise CliError(
                f"{name} is not a file: save it, or pipe it in with curl -s and pass '-'"
            )
        robots, octets = read_robots(file, "default")
        folder = "." if file == STDIN else os.path.dirname(file) or "."
        found = format_robots(robots, max_states=max_states or _max_states(folder))
        if found.refused:
            raise CliError(f"{name} was not changed: {found.refused}")
        written = writes and found.changed and file != STDIN
        if written and not os.path.isfile(file):
            raise CliError(f"{name} is not a regular file: pipe it in and pass '-'")
        if written:
            write_atomically(file, found.body, octets)
    except CliError as error:
        return FormattedFile(_shown_name(file), error=" ".join(error.message.split()))
    return FormattedFile(_shown_name(file), octets, found.body, written=written)


def _shown_name(file: str) -> str | None:
    return None if file == STDIN else visible(os.fsencode(file))


def _max_states(folder: str) -> int:
    """Return the state limit of the settings nearest to a directory."""
    try:
        return find_config(folder).fmt.max_states or MAX_STATES
    except ConfigError as error:
        raise CliError(visible(str(error))) from None


# --- Output ---------------------------------------------------------------------------------------


def _named(one: FormattedFile) -> str:
    return "stdin" if one.file is None else quoted(one.file)


def _summarise(done: list[FormattedFile], writes: bool, *, hint: bool) -> None:
    """Report the results; errors were reported before. *hint*: also say what to do."""
    changed = [one for one in done if one.changed]
    if not changed:
        if writes and None in (one.file for one in done):
            return
        good = sum(not one.error for one in done)
        where = f" in {plural(good, 'file')}" if len(done) > 1 else ""
        if good:
            report(f"nothing to change{where}")
    elif not writes:
        if len(done) > 1 or hint:
            them = "it" if len(changed) == 1 else "them"
            files = hint and all(one.file is not None for one in changed)
            advice = f"; format {them} with robotrules fmt, see --diff" if files else ""
            report(f"{len(changed):,} of {plural(len(done), 'file')} would change{advice}")
    for one in changed:
        if one.written:
            report(f"{_named(one)} formatted, proved equivalent")
