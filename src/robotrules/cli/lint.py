"""
`robotrules lint`: problems in robots.txt files and in the robots tags of pages.

A wrapper around `robotrules.lint`: reads files and URLs, prints notes as text, JSON, SARIF,
workflow commands or JUnit. A file that cannot be linted is reported in one line, and the others are
linted. `lint_run` does the work.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import click

import robotrules
from robotrules.cli.atomic_write import refuse_overwriting, write_atomically
from robotrules.cli.client import ClientOptions, with_client_options
from robotrules.cli.console import STDIN, Output, quoted, report
from robotrules.cli.folder_search import expand_folders
from robotrules.cli.input_files import default_robots_file
from robotrules.cli.lint_baseline import BaselineFile
from robotrules.cli.lint_inputs import LintOptions, LintSettingsReader, is_url
from robotrules.cli.lint_run import LintRun
from robotrules.cli.lint_text import CHANGED, LintPage
from robotrules.cli.options import json_option
from robotrules.cli.progress import Progress
from robotrules.cli.text import Paint, is_terminal, plural
from robotrules.cli.unified_diff import colourize
from robotrules.linting import LEVELS, MAX_STATES
from robotrules.linting.render import NEVER, LintedFile
from robotrules.profile import PROFILES

FORMS = ("text", "concise", "json", "sarif", "github", "junit")


@click.command()
@click.argument("files", metavar="[FILE|FOLDER|URL]...", nargs=-1)
@click.option(
    "--select",
    metavar="CHECKS",
    multiple=True,
    help="Run only these checks: codes, prefixes of codes, or names, separated by commas, such as "
    "RR5,bom. Can be repeated.",
)
@click.option(
    "--ignore", metavar="CHECKS", multiple=True, help="Skip these checks, named likewise."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    metavar="FORMAT",
    help="The output format: text, concise (one line per note), json, sarif, github (workflow "
    "commands) or junit.  [default: text]",
)
@click.option(
    "--all", "show_all", is_flag=True, help="Show all notes of a check, not only the first three."
)
@json_option("Same as --format json: one JSON object, described by docs/cli/lint.md.")
@click.option("-o", "--output", "target", metavar="FILE", help="Write the notes to this file.")
@click.option(
    "--fix",
    "in_place",
    is_flag=True,
    help="Fix files in place; only fixes proved to change no verdict.",
)
@click.option(
    "--unsafe-fixes",
    is_flag=True,
    help="Also apply fixes that change verdicts, and list the changes; implies --fix.",
)
@click.option(
    "--diff", "as_diff", is_flag=True, help="Print a diff of the fixes instead of writing files."
)
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    metavar="NAME",
    help="How to parse what RFC 9309 leaves open: default, strict or google.",
)
@click.option(
    "--url", metavar="URL", help="The URL at which a local file is served, for checks that need it."
)
@click.option(
    "--max-states",
    type=click.IntRange(1),
    metavar="N",
    help="The state limit of the search for each proof; beyond it a rule is not checked.  "
    f"[default: {MAX_STATES}]",
)
@click.option(
    "--fail-on",
    type=click.Choice([*LEVELS, NEVER]),
    metavar="LEVEL",
    help="Exit with 1 if there is a note of this level or worse: error, warning, info or never.  "
    "[default: warning]",
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are notes.")
@click.option(
    "--min-level",
    type=click.Choice(LEVELS),
    metavar="LEVEL",
    help="Ignore notes below this level: error, warning or info.  [default: info]",
)
@click.option(
    "--statistics", is_flag=True, help="Print the number of notes per check instead of the notes."
)
@click.option(
    "--exclude",
    metavar="PATTERN",
    multiple=True,
    help="Leave out files and folders below a FOLDER: names such as drafts, or paths such as "
    "'tests/*'. Can be repeated.",
)
@click.option(
    "--baseline",
    metavar="FILE",
    help="Report only notes that this file does not have; it has the known notes of a project.",
)
@click.option(
    "--write-baseline",
    metavar="FILE",
    help="Write all notes to this file instead of reporting them; entries without a note are "
    "removed.",
)
@click.option("--no-baseline", is_flag=True, help="Report known notes, too.")
@click.option("--config", metavar="FILE", help="Read settings from this file.")
@click.option("--no-config", is_flag=True, help="Ignore robotrules.toml and pyproject.toml.")
@with_client_options(crawler=False)
def lint(
    files: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    form: str | None,
    show_all: bool,
    as_json: bool,
    target: str | None,
    in_place: bool,
    unsafe_fixes: bool,
    as_diff: bool,
    profile: str | None,
    url: str | None,
    max_states: int | None,
    fail_on: str | None,
    exit_zero: bool,
    min_level: str | None,
    statistics: bool,
    exclude: tuple[str, ...],
    baseline: str | None,
    write_baseline: str | None,
    no_baseline: bool,
    config: str | None,
    no_config: bool,
    client_options: ClientOptions,
) -> int:
    """
    Find problems in robots.txt files and in the robots tags of pages.

    FILE is a robots.txt, '-' for stdin, or a saved page that ends with .html. In a FOLDER, and in
    all folders below, files named robots.txt or *.robots.txt are linted. For a URL, the robots.txt
    of its origin is fetched, and the page if the URL has a path and the rules allow it. Without
    arguments, robots.txt in this directory is linted. 'robotrules rule CODE' explains a note; a
    comment '# robotrules: ignore[CODE]' suppresses it, and a baseline has all known notes of a
    project. Settings are read from the nearest robotrules.toml or pyproject.toml. The exit code is
    0 if there is no note of --fail-on or worse, 1 if there is one or if --diff prints something, 2
    for a usage or I/O error.

    \b
    Examples:
      robotrules lint
      robotrules lint sites/ --write-baseline robots-baseline.json
      robotrules lint sites/ --baseline robots-baseline.json
      robotrules lint robots.txt --select RR5 --fix
      robotrules lint https://example.com/prices --min-level warning
      robotrules lint public/robots.txt --format sarif --output robots.sarif
    """
    given_options = (_selected(select), _names(ignore), profile, max_states, fail_on, url)
    choices = LintOptions(
        *given_options,
        config=config,
        no_config=no_config,
        min_level=min_level,
        exclude=exclude,
        baseline=baseline,
        no_baseline=no_baseline,
    )
    if config is not None and no_config:
        raise click.UsageError("--config and --no-config cannot be combined")
    given: Sequence[str] = files or (default_robots_file(or_url=True),)
    fixing = in_place or unsafe_fixes
    _refuse_fixing(given, fixing, as_diff)
    _refuse_baselines(baseline, write_baseline, no_baseline)
    if write_baseline is not None and (fixing or as_diff or target is not None):
        raise click.UsageError(
            "--write-baseline cannot be combined with --fix, --unsafe-fixes, --diff or --output"
        )
    settings = LintSettingsReader(choices)
    given = expand_folders(given, settings.excluded)
    for name, option in ((target, "--output"), (write_baseline, "--write-baseline")):
        if name is not None and name != STDIN:
            refuse_overwriting(name, given, option)
    written = None if write_baseline is None else BaselineFile(write_baseline, writing=True)
    form = _form(form, as_json, statistics, as_diff, target, settings)
    work = LintRun(
        settings,
        client_options,
        as_diff=as_diff,
        fixing=fixing,
        unsafe=unsafe_fixes,
        written=written,
    )
    if not any(map(is_url, given)):
        client_options.hint_unused()
    with ExitStack() as opened:
        bar = sys.stderr if is_terminal(sys.stderr) else None
        progress = opened.enter_context(Progress(bar, len(given), "file"))
        found = work.run(given, progress)
        if written is not None:
            for _ in found:
                pass
        elif as_diff:
            output = Output()
            for _ in found:
                output.lines(colourize(work.diff, output.paint))
            output.flush()
            if not (work.changed or work.errors):
                where = f" in {plural(len(given), 'file')}" if len(given) > 1 else ""
                more = (
                    f"; --unsafe-fixes applies fixes that change {CHANGED}"
                    if work.has_unsafe_fixes
                    else ""
                )
                report(f"nothing to change{where}{more}")
        else:
            made = _rendered(form, found, statistics, target, show_all)
            _write_output(made, target, plural(work.notes, "note"))
            if statistics and not made and not work.errors:
                report(f"no notes in {plural(len(given), 'file')}")
    for known in work.baselines:
        known.report_use(counted=form in ("text", "concise") and not (statistics or as_diff))
    if written is not None and written.has_updates:
        written.write()
    if work.errors:
        return 2
    if as_diff:
        return int(work.changed)
    return int(work.failed and not exit_zero)


# --- Options --------------------------------------------------------------------------------------


def _form(
    form: str | None,
    as_json: bool,
    statistics: bool,
    as_diff: bool,
    target: str | None,
    settings: LintSettingsReader,
) -> str:
    """Return the output format; conflicting options are a usage error."""
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} cannot be combined")
    chosen = "json" if as_json else form or "text"
    if not (as_json or form or as_diff or statistics):
        # Options take precedence over settings.
        chosen = settings.format or chosen
    if as_diff and (chosen != "text" or statistics or target):
        raise click.UsageError("--diff cannot be combined with --format, --statistics or --output")
    if statistics and chosen not in ("text", "json"):
        raise click.UsageError(f"--statistics does not support --format {chosen}: use text or json")
    return chosen


def _names(given: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip() for one in given for name in one.split(",") if name.strip())


def _selected(given: Sequence[str]) -> tuple[str, ...]:
    """Return the selected checks; an empty value, such as an unset variable, is an error."""
    if not all(_names([one]) for one in given):
        raise click.UsageError("--select is empty: pass checks such as RR5, or remove the option")
    return _names(given)


def _refuse_baselines(baseline: str | None, write_baseline: str | None, none: bool) -> None:
    given = {"--baseline": baseline, "--write-baseline": write_baseline, "--no-baseline": none}
    names = [name for name, value in given.items() if value]
    if len(names) > 1:
        raise click.UsageError(f"{names[0]} and {names[1]} cannot be combined")


def _refuse_fixing(given: Sequence[str], fixing: bool, as_diff: bool) -> None:
    if given.count(STDIN) > 1:
        raise click.UsageError("stdin can be read only once: pass '-' once")
    if fixing and not as_diff and STDIN in given:
        raise click.UsageError("stdin cannot be fixed in place: pass a file, or use --diff")
    url = next(filter(is_url, given), None)
    if (fixing or as_diff) and url is not None:
        raise click.UsageError(f"{quoted(url)} cannot be fixed: save the file and pass its name")


# --- Output ---------------------------------------------------------------------------------------


def _rendered(
    form: str, found: Iterator[LintedFile], statistics: bool, target: str | None, show_all: bool
) -> Any:
    """Return text, or a value for JSON."""
    if form in ("text", "concise"):
        output = None if target else Output()
        paint = Paint(False) if output is None else output.paint
        width = output.width if output is not None and output.terminal else None
        page = LintPage(paint, width, show_all=show_all, concise=form == "concise")
        if statistics:
            from robotrules.linting.render.json_form import statistics as count_notes

            return "".join(f"{line}\n" for line in page.statistics(count_notes(found)))
        lines = [line for one in found for line in page.lines(one)]
        return "".join(f"{line}\n" for line in (*lines, *page.end()))
    if form == "json":
        from robotrules.linting.render.json_form import as_json

        return as_json(found)
    if form == "sarif":
        from robotrules.linting.render.sarif import sarif

        return sarif(found, version=robotrules.__version__)
    if form == "github":
        from robotrules.linting.render.github import github

        return "".join(f"{line}\n" for line in github(found))
    from robotrules.linting.render.junit import junit

    return junit(found)


def write_sarif(target: str, found: Iterable[LintedFile]) -> None:
    """Write results as SARIF."""
    from robotrules.linting.render.sarif import sarif

    made = sarif(found, version=robotrules.__version__)
    write_atomically(target, (json.dumps(made, indent=2) + "\n").encode())


def _write_output(made: Any, target: str | None, content: str) -> None:
    if target is None or target == STDIN:
        output = Output()
        if isinstance(made, str):
            output.write(made)
        else:
            output.json(made)
        output.flush()
        return
    text = made if isinstance(made, str) else json.dumps(made, indent=2) + "\n"
    write_atomically(target, text.encode("utf-8", "backslashreplace"))
    report(f"{quoted(target)} written: {content}")
