"""
`robotrules lint`: what is wrong, odd or misunderstood in robots.txt files and in tags of pages.

A few lines over `robotrules.lint`: files and URLs go in, notes come out as text, JSON, SARIF,
workflow commands or JUnit. What cannot be linted is told in one line, and the others are done. It
decides nothing itself: `lint_work` does one thing after the other.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import click

import robotrules
from robotrules.cli.atomic_write import refuse_overwriting, save
from robotrules.cli.client import Opening, client_options
from robotrules.cli.diffs import painted
from robotrules.cli.lint_given import Choices, LintInputReader, is_url
from robotrules.cli.lint_text import CHANGED, LintPage
from robotrules.cli.lint_work import Work
from robotrules.cli.options import json_option
from robotrules.cli.progress import Progress
from robotrules.cli.robots_file import usual_file
from robotrules.cli.streams import STDIN, Output, quoted, say
from robotrules.cli.text import Paint, is_terminal, plural
from robotrules.linting import BUDGET, LEVELS
from robotrules.linting.render import NEVER, LintedFile
from robotrules.profile import PROFILES

FORMS = ("text", "concise", "json", "sarif", "github", "junit")


@click.command()
@click.argument("files", metavar="[FILE|URL]...", nargs=-1)
@click.option(
    "--select",
    metavar="CHECKS",
    multiple=True,
    help="Run these checks only: codes, beginnings of codes, or names, with commas; such as "
    "RR5,bom. Repeat it for several.",
)
@click.option(
    "--ignore", metavar="CHECKS", multiple=True, help="Leave these checks out, named alike."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    metavar="FORM",
    help="How notes are written: text, concise (a line each), json, sarif, github (workflow "
    "commands) or junit.  [default: text]",
)
@click.option("--all", "show_all", is_flag=True, help="Show all notes of a check, not only three.")
@json_option("As --format json: one JSON object; docs/lint.schema.json describes it.")
@click.option("-o", "--output", "target", metavar="FILE", help="Write the notes there.")
@click.option("--fix", "in_place", is_flag=True, help="Fix files in place; no verdict changes.")
@click.option(
    "--fix-verdicts",
    is_flag=True,
    help="Fix files in place, also what changes verdicts, and tell which.",
)
@click.option("--diff", "as_diff", is_flag=True, help="Show what --fix would do; write nothing.")
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    metavar="NAME",
    help="How to read what RFC 9309 leaves open: default, strict or google.",
)
@click.option("--url", metavar="URL", help="Where a local file is or will be, for what needs it.")
@click.option(
    "--budget",
    type=click.IntRange(1),
    metavar="N",
    help="How many states each exact question may see before it is not decided.  "
    f"[default: {BUDGET}]",
)
@click.option(
    "--fail-on",
    type=click.Choice([*LEVELS, NEVER]),
    metavar="LEVEL",
    help="The least level that makes the exit code 1: error, warning, info or never.  "
    "[default: warning]",
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever is found.")
@click.option(
    "--level",
    type=click.Choice(LEVELS),
    metavar="LEVEL",
    help="Leave out notes below this level; they do not count.  [default: info]",
)
@click.option("--statistics", is_flag=True, help="Count the notes of each check instead.")
@click.option("--config", metavar="FILE", help="Take settings from this file.")
@click.option("--no-config", is_flag=True, help="Look for no settings.")
@client_options(crawler=False)
def lint(
    files: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    form: str | None,
    show_all: bool,
    as_json: bool,
    target: str | None,
    in_place: bool,
    fix_verdicts: bool,
    as_diff: bool,
    profile: str | None,
    url: str | None,
    budget: int | None,
    fail_on: str | None,
    exit_zero: bool,
    level: str | None,
    statistics: bool,
    config: str | None,
    no_config: bool,
    opening: Opening,
) -> int:
    """
    Check robots.txt files, and the tags of pages.

    FILE is a robots.txt, or '-' for stdin; one that ends with .html is a page. Of a URL the
    robots.txt of its origin is fetched, and the page too if it names one and the rules allow it.
    Without any, the robots.txt of this folder. 'robotrules rule CODE' explains a note, and a
    comment '# robotrules: ignore[CODE]' says that it is meant. Settings are those of the nearest
    robotrules.toml or pyproject.toml. The exit code is 0 if nothing of --fail-on or worse was
    found, 1 if something was, or if --diff shows something; 2 for usage or I/O.

    \b
    Examples:
      robotrules lint
      robotrules lint robots.txt --select RR5 --fix
      robotrules lint https://example.com/prices --level warning
      robotrules lint public/robots.txt --format sarif --output robots.sarif
    """
    said = (_selected(select), _names(ignore), profile, budget, fail_on, url)
    choices = Choices(*said, config=config, no_config=no_config, level=level)
    if config is not None and no_config:
        raise click.UsageError("--config names settings and --no-config wants none: leave out one")
    given = files or (usual_file(or_url=True),)
    fixing = in_place or fix_verdicts
    _refuse_fixing(given, fixing, as_diff)
    if target is not None and target != STDIN:
        refuse_overwriting(target, given, "--output")
    settings = LintInputReader(choices)
    form = _form(form, as_json, statistics, as_diff, target, settings)
    work = Work(settings, opening, as_diff=as_diff, fixing=fixing, verdicts=fix_verdicts)
    if not any(map(is_url, given)):
        opening.hint_unused()
    with ExitStack() as opened:
        bar = sys.stderr if is_terminal(sys.stderr) else None
        progress = opened.enter_context(Progress(bar, len(given), "file"))
        found = work.done(given, progress)
        if as_diff:
            output = Output()
            for _ in found:
                output.lines(painted(work.diff, output.paint))
            output.flush()
            if not (work.changed or work.troubles):
                where = f" in {plural(len(given), 'file')}" if len(given) > 1 else ""
                more = f"; --fix-verdicts has fixes that change {CHANGED}" if work.waiting else ""
                say(f"nothing to change{where}{more}")
        else:
            made = _rendered(form, found, statistics, target, show_all)
            _hand_out(made, target, plural(work.notes, "note"))
            if statistics and not made and not work.troubles:
                say(f"no notes in {plural(len(given), 'file')}")
    if work.troubles:
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
    settings: LintInputReader,
) -> str:
    """Return the form; options that do not go together are a usage error."""
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} are two forms: leave out one")
    chosen = "json" if as_json else form or "text"
    if not (as_json or form or as_diff or statistics):
        # What was typed has a form of its own, whatever settings say.
        chosen = settings.format or chosen
    if as_diff and (chosen != "text" or statistics or target):
        raise click.UsageError("--diff is a form of its own: leave out the other, and --output")
    if statistics and chosen not in ("text", "json"):
        raise click.UsageError(f"--statistics has no form {chosen}: use text or json")
    return chosen


def _names(given: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip() for one in given for name in one.split(",") if name.strip())


def _selected(given: Sequence[str]) -> tuple[str, ...]:
    """Return the checks to run; an empty name, such as that of an unset variable, runs none."""
    if not all(_names([one]) for one in given):
        raise click.UsageError("--select names no check: name some, such as RR5, or leave it out")
    return _names(given)


def _refuse_fixing(given: Sequence[str], fixing: bool, as_diff: bool) -> None:
    if given.count(STDIN) > 1:
        raise click.UsageError("stdin can be read once: pass '-' once")
    if fixing and not as_diff and STDIN in given:
        raise click.UsageError("stdin cannot be fixed in place: name a file, or use --diff")
    url = next(filter(is_url, given), None)
    if (fixing or as_diff) and url is not None:
        raise click.UsageError(f"{quoted(url)} cannot be fixed from here: save it, name the file")


# --- Forms ----------------------------------------------------------------------------------------


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
            from robotrules.linting.render.json_form import statistics as counted

            return "".join(f"{line}\n" for line in page.statistics(counted(found)))
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


def _hand_out(made: Any, target: str | None, content: str) -> None:
    if target is None or target == STDIN:
        output = Output()
        if isinstance(made, str):
            output.write(made)
        else:
            output.json(made)
        output.flush()
        return
    text = made if isinstance(made, str) else json.dumps(made, indent=2) + "\n"
    save(target, text.encode("utf-8", "backslashreplace"))
    say(f"{quoted(target)} was written: {content}")
