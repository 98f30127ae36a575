"""
`robotrules fmt`: robots.txt files in canonical form, in place.

A few lines over `robotrules.formatting.format_robots`: which files change, as text, as a diff or as
JSON. A file is written only if it changes and is proved to mean the same, and in one piece. Trouble
with one file is told, and the others are done. It does not decide how a file should look.
"""

from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple

import click

from robotrules.cli.atomic_write import save
from robotrules.cli.diffs import diff_lines, painted
from robotrules.cli.options import json_option
from robotrules.cli.robots_file import usual_file
from robotrules.cli.streams import STDIN, CliError, Output, quoted, read_robots, say
from robotrules.cli.text import plural
from robotrules.config import find_config
from robotrules.errors import ConfigError
from robotrules.formatting import MAX_STATES, format_robots
from robotrules.octets import visible

# Raised when a key of the JSON changes meaning or goes away.
SCHEMA_VERSION = 1


class _Done(NamedTuple):
    """One file, and what became of it."""

    file: str
    old: bytes = b""
    new: bytes = b""
    trouble: str = ""
    written: bool = False

    @property
    def changed(self) -> bool:
        """Whether its canonical form is another."""
        return self.old != self.new

    @property
    def name(self) -> str:
        """What it is called."""
        return "stdin" if self.file == STDIN else visible(os.fsencode(self.file))

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        octets = {"before": len(self.old), "after": len(self.new)}
        return {
            "file": None if self.file == STDIN else self.name,
            "changed": self.changed,
            "written": self.written,
            "octets": None if self.trouble else octets,
            "error": self.trouble or None,
        }


@click.command()
@click.argument("files", metavar="[FILE]...", nargs=-1)
@click.option("--check", is_flag=True, help="Write nothing; name the files that would change.")
@click.option("--diff", "as_diff", is_flag=True, help="Write nothing; show what would change.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors; a diff is still shown.")
@click.option(
    "--budget",
    type=click.IntRange(1),
    metavar="N",
    help="How many states each exact question may see; there are such questions only where names "
    f"of records are misspelled.  [default: {MAX_STATES}, or that of robotrules.toml]",
)
@json_option("Print one JSON object; docs/cli/fmt.md describes it.")
def fmt(
    files: tuple[str, ...],
    check: bool,
    as_diff: bool,
    quiet: bool,
    budget: int | None,
    as_json: bool,
) -> int:
    """
    Bring robots.txt files into canonical form. '-' is stdin, and goes to stdout.

    Without FILE, the robots.txt of this folder.
    One form for all: `Key: value`, LF, a blank line before each group and none inside. Comments
    stay, the order of lines stays, paths stay as they are spelled. That the file means the same to
    every crawler under every profile is proved, and without the proof nothing is written. The exit
    code is 0 if all is done, 1 if --check or --diff found something to change, 2 for usage or I/O,
    or if a file had to be left alone.

    \b
    Examples:
      robotrules fmt robots.txt
      robotrules fmt --check robots.txt staging/robots.txt
      robotrules fmt --diff robots.txt
      curl -s https://example.com/robots.txt | robotrules fmt -
    """
    if as_json and as_diff:
        raise click.UsageError("--json and --diff are two forms: leave out one")
    files = files or (usual_file(or_url=False),)
    if files.count(STDIN) > 1:
        raise click.UsageError("stdin can be read once: pass '-' once")
    writes = not (check or as_diff)
    if as_json and writes and STDIN in files:
        raise CliError(
            "stdout cannot have the formatted file and JSON: add --check, or name a file"
        )
    output = Output()
    done = []
    for file in files:
        one = _formatted(file, budget, writes)
        done.append(one)
        if one.trouble:
            say(one.trouble)
        elif as_diff:
            lines = diff_lines(one.old, one.new, one.name, "formatted")
            output.lines(painted(lines, output.paint))
            if not quiet and b"\r" in one.old:
                say(f"{_named(one)}: its line ends would become LF")
        elif check and one.changed and not (as_json or quiet):
            output.lines([one.name])
        elif file == STDIN and writes:
            sys.stdout.buffer.write(one.new)
        output.flush()
    if as_json:
        output.json(_as_json(done))
        output.flush()
    elif not quiet:
        _tell(done, writes, hint=check and not as_diff)
    if any(one.trouble for one in done):
        return 2
    return int(not writes and any(one.changed for one in done))


def _formatted(file: str, budget: int | None, writes: bool) -> _Done:
    """Format one file, and write it if it is to be; what goes wrong is told by the value."""
    name = "stdin" if file == STDIN else quoted(file)
    try:
        if "://" in file and not os.path.exists(file):
            raise CliError(f"{name} is no file: save it, or pipe it in with curl -s and pass '-'")
        robots, octets = read_robots(file, "default")
        folder = "." if file == STDIN else os.path.dirname(file) or "."
        found = format_robots(robots, budget=budget or _budget(folder))
        if found.refused:
            raise CliError(f"{name} is left alone: {found.refused}")
        written = writes and found.changed and file != STDIN
        if written and not os.path.isfile(file):
            raise CliError(f"{name} is no regular file: pipe it in, and pass '-'")
        if written:
            save(file, found.body, octets)
    except CliError as trouble:
        return _Done(file, trouble=" ".join(trouble.message.split()))
    return _Done(file, octets, found.body, written=written)


def _budget(folder: str) -> int:
    """Return the budget that the settings nearest to a folder name."""
    try:
        return find_config(folder).fmt.budget or MAX_STATES
    except ConfigError as error:
        raise CliError(visible(str(error))) from None


# --- Telling --------------------------------------------------------------------------------------


def _named(one: _Done) -> str:
    return "stdin" if one.file == STDIN else quoted(one.file)


def _tell(done: list[_Done], writes: bool, *, hint: bool) -> None:
    """Say what became of the files; what went wrong was said. *hint*: also what to do now."""
    changed = [one for one in done if one.changed]
    if not changed:
        if writes and STDIN in (one.file for one in done):
            return
        good = sum(not one.trouble for one in done)
        where = f" in {plural(good, 'file')}" if len(done) > 1 else ""
        if good:
            say(f"nothing to change{where}")
    elif not writes:
        if len(done) > 1 or hint:
            them = "it" if len(changed) == 1 else "them"
            files = hint and all(one.file != STDIN for one in changed)
            cure = f"; robotrules fmt writes {them}, --diff shows {them}" if files else ""
            say(f"{len(changed):,} of {plural(len(done), 'file')} would change{cure}")
    for one in changed:
        if one.written:
            say(f"{_named(one)} was formatted, and is proved to mean the same")


def _as_json(done: list[_Done]) -> dict[str, Any]:
    failed = sum(bool(one.trouble) for one in done)
    changed = sum(one.changed for one in done)
    counts = {"changed": changed, "same": len(done) - changed - failed, "left_alone": failed}
    return {"schema": SCHEMA_VERSION, **counts, "files": [one.as_dict() for one in done]}
