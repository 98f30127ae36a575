"""
`robotrules review`: lint, fmt, test and diff of a change in one report, for pull requests.

The checks are those of the commands of the same names; this module runs them over the files of a
repository, and `review_markdown` writes the report. In GitHub Actions and GitLab CI the base of a
change is known, and `--comment` keeps one comment on the pull request up to date.

Sections: the command · the checks · the change · output.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import click

import robotrules
from robotrules.analysis import MAX_STATES
from robotrules.cli.atomic_write import refuse_overwriting, write_atomically
from robotrules.cli.client import ClientOptions
from robotrules.cli.console import STDIN, CliError, Output, quoted, report
from robotrules.cli.fmt import check_format
from robotrules.cli.folder_search import expand_folders, is_in_search, is_robots_name
from robotrules.cli.lint_inputs import LintOptions, LintSettingsReader, is_url
from robotrules.cli.lint_run import LintRun
from robotrules.cli.options import json_option
from robotrules.cli.progress import Progress, progress_bar
from robotrules.cli.review_markdown import ReviewedChange, ReviewPage, ReviewResult
from robotrules.cli.test import evaluate_folders
from robotrules.cli.test import suites as test_suites
from robotrules.json_results.diff_sections import MAX_REGIONS
from robotrules.junit import report as render_junit
from robotrules.linting import LEVELS
from robotrules.linting.render import NEVER, LintedFile
from robotrules.octets import visible
from robotrules.operations.git_history import GitError
from robotrules.operations.pull_requests.changed_files import (
    ChangedFile,
    changed_files,
    repository_root,
    resolve_base,
    start_of_change,
)
from robotrules.operations.pull_requests.ci_environment import CiEnvironment, read_environment
from robotrules.operations.pull_requests.comments import CommentError, publish_comment

CHECKS = ("lint", "fmt", "test", "diff")
DEFAULT_CHECKS = "lint,test,diff"
# The variables with the token for a comment, by forge.
TOKENS = {"github": ("GITHUB_TOKEN", "GH_TOKEN"), "gitlab": ("ROBOTRULES_GITLAB_TOKEN",)}


# --- The command ----------------------------------------------------------------------------------


@click.command()
@click.argument("files", metavar="[FILE|FOLDER]...", nargs=-1)
@click.option(
    "--base",
    metavar="REV",
    help="Compare with this branch, tag or commit. Defaults to the base of the pull request in "
    "GitHub Actions and GitLab CI.",
)
@click.option(
    "--checks",
    metavar="CHECKS",
    default=DEFAULT_CHECKS,
    show_default=True,
    help="The checks to run, separated by commas: lint, fmt, test, diff.",
)
@click.option(
    "--fail-on",
    type=click.Choice([*LEVELS, NEVER]),
    metavar="LEVEL",
    help="As for lint: exit with 1 if there is a note of this level or worse.",
)
@click.option("--baseline", metavar="FILE", help="As for lint: a file with known notes.")
@click.option("--sarif", metavar="FILE", help="Also write the notes of lint as SARIF.")
@click.option("--junit", "junit_file", metavar="FILE", help="Also write lint and test as JUnit.")
@click.option(
    "--comment",
    is_flag=True,
    help="Write the report as a comment on the pull request, or update it. Needs GITHUB_TOKEN on "
    "GitHub, ROBOTRULES_GITLAB_TOKEN on GitLab.",
)
@json_option("Print one JSON object, described in docs/cli/review.md.")
def review(
    files: tuple[str, ...],
    base: str | None,
    checks: str,
    fail_on: str | None,
    baseline: str | None,
    sarif: str | None,
    junit_file: str | None,
    comment: bool,
    as_json: bool,
) -> int:
    """
    Check a change of robots.txt files: lint, test and diff in one report.

    In a FOLDER, and in all folders below, files named robots.txt or *.robots.txt are checked;
    without arguments, those of this directory. Each file that differs from --base is compared with
    it by meaning. The report is Markdown. In GitHub Actions the notes are also annotations, and the
    report is the summary of the job. The exit code is 0 if all checks pass, 1 if lint, fmt or test
    finds something, 2 for a usage or I/O error. A change of meaning alone does not fail.

    \b
    Examples:
      robotrules review --base main
      robotrules review sites/ --base origin/main --checks lint,fmt,test,diff
      robotrules review public/robots.txt --base HEAD~1 --json
      robotrules review --comment
    """
    names = _checks(checks)
    given = files or (".",)
    for name in given:
        if name == STDIN or is_url(name):
            raise click.UsageError(f"{quoted(name)} is not a file of a repository: pass a file")
    environment = read_environment(os.environ)
    if environment.has_secrets:
        raise CliError(
            "the event pull_request_target gives a stranger's change the token of the repository: "
            "use pull_request"
        )
    result = ReviewResult(names)
    result.root = _top_folder()
    changes = _changes(given, base, environment, result) if "diff" in names else []
    linted = _lint(given, fail_on, baseline, result) if {"lint", "fmt"} & set(names) else []
    if "test" in names:
        folders = [name for name in given if os.path.isdir(name)] or ["."]
        result.tested = evaluate_folders(
            folders, ClientOptions(no_store=True), _Repository(result).why_refused
        )
    result.compared, result.more = _compare(changes, result)
    page = ReviewPage(result)
    body = "".join(f"{line}\n" for line in page.lines())
    output = Output()
    if as_json:
        output.json(result.as_dict())
    else:
        _print(output, body, linted, environment, result)
    output.flush()
    _write_reports(result, linted, sarif, junit_file)
    _write_github_files(environment, body, result)
    if comment:
        _comment(environment, given, body, result)
    if result.has_errors:
        return 2
    return int(result.failed)


def _checks(text: str) -> tuple[str, ...]:
    names = tuple(name for name in (part.strip() for part in text.split(",")) if name)
    for name in names:
        if name not in CHECKS:
            raise click.UsageError(f"--checks: there is no {quoted(name)}: use {', '.join(CHECKS)}")
    if not names:
        raise click.UsageError(f"--checks is empty: pass some of {', '.join(CHECKS)}")
    return names


# --- The checks -----------------------------------------------------------------------------------


def _lint(
    given: Sequence[str], fail_on: str | None, baseline: str | None, result: ReviewResult
) -> list[LintedFile]:
    """Lint all files, and check their format if that is asked for; return the notes."""
    settings = LintSettingsReader(LintOptions(fail_on=fail_on, baseline=baseline))
    files = [
        file for file in expand_folders(given, settings.excluded) if not _is_left_out(file, result)
    ]
    if result.changed_files:
        # A pull request may delete the last robots.txt of a folder.
        files = [file for file in files if os.path.exists(file) and not os.path.isdir(file)]
    if "fmt" in result.checks:
        for file in files:
            if os.path.isdir(file):
                continue
            formatted = check_format(file)
            result.formatted.append(formatted)
            if formatted.error:
                report(formatted.error)
    if "lint" not in result.checks:
        return []
    work = LintRun(settings, ClientOptions())
    with progress_bar("file") as progress:
        found = []
        for one in work.run(files, Progress(None, None, "file")):
            found.append(one)
            progress(len(found), max(len(files), len(found)))
    for known in work.baselines:
        known.report_use(counted=False)
    result.linted, result.lint_failed = found, work.failed
    return found


def _is_left_out(file: str, result: ReviewResult) -> bool:
    """Tell whether a file is, or is reached by, a symbolic link; such a file is not shown."""
    if not _Repository(result).is_linked(file):
        return False
    name = visible(os.fsencode(file))
    _say(result, f"{name} is a symbolic link, or in a folder that is one, and is not read")
    return True


def _top_folder() -> str:
    """Return the top folder of the repository, or the current folder without one."""
    try:
        return os.path.realpath(repository_root("."))
    except GitError:
        return os.path.realpath(".")


class _Repository:
    """
    Tells which files of the working tree are read.

    In a pull request a link could name any file of the machine, also one in the folder of the
    repository: a file that git does not track, or its settings, which may have a token.
    """

    def __init__(self, result: ReviewResult) -> None:
        self._top = result.root or _top_folder()

    def is_linked(self, file: str) -> bool:
        """Return whether a link of the repository is in the path of a file, or is the file."""
        inner = self._inner(file)
        if inner is None:
            return os.path.islink(file)
        return os.path.realpath(file) != os.path.normpath(os.path.join(self._top, inner))

    def why_refused(self, file: str) -> str | None:
        """Return why a file that the change names may not be read; None if it may."""
        inner = self._inner(file)
        if inner is None:
            return "which is not in the repository"
        if self.is_linked(file):
            return "which is read through a symbolic link"
        if any(part.lower() == ".git" for part in inner.split(os.sep)):
            return "which is a file of git itself"
        return None

    def _inner(self, file: str) -> str | None:
        """Return the path of a file in the repository, as it is written; None: it is not there."""
        path = os.path.abspath(file)
        if path.startswith(os.path.join(self._top, "")):
            return os.path.relpath(path, self._top)
        parts = path.split(os.sep)
        for end in range(1, len(parts) + 1):
            # The repository itself may be reached by a link.
            if os.path.realpath(os.sep.join(parts[:end]) or os.sep) == self._top:
                return os.sep.join(parts[end:])
        return None


# --- The change -----------------------------------------------------------------------------------


def _changes(
    given: Sequence[str], base: str | None, environment: CiEnvironment, result: ReviewResult
) -> list[ChangedFile]:
    """Return the changed files below the arguments; the result gets the base."""
    if base is None and environment.base is None:
        if environment.forge:
            _say(result, "there is nothing to compare with in this run, so there is no diff")
            return []
        raise click.UsageError("missing --base: pass a branch or commit such as main")
    try:
        root = repository_root(".")
        if base is not None:
            result.base = start_of_change(root, base)
        else:
            result.base = _base_of_run(root, environment, result)
        if result.base is None:
            return []
        result.base_name = base or result.base[:10]
        wanted = _wanted(root, given)
        found, result.uncompared = changed_files(root, result.base, wanted)
    except GitError as error:
        raise CliError(visible(str(error))) from None
    result.changed_files = len(found) + result.uncompared
    return found


def _base_of_run(root: Path, environment: CiEnvironment, result: ReviewResult) -> str | None:
    try:
        return resolve_base(root, environment)
    except GitError as error:
        if environment.number is not None:
            raise
        # After a forced push the old commit may be gone.
        _say(result, f"no diff: {visible(str(error))}")
        return None


def _wanted(root: Path, given: Sequence[str]) -> Callable[[str], bool]:
    """Return the test of a name in the repository: whether it is one of the arguments or below."""
    top = os.path.realpath(root)
    places = [os.path.relpath(os.path.realpath(name), top).replace(os.sep, "/") for name in given]
    folders = [place for name, place in zip(given, places, strict=True) if os.path.isdir(name)]
    settings = LintSettingsReader(LintOptions())
    exclude = [settings.excluded(name) for name in given]
    # A deleted file that is named explicitly is none of the folders.
    files = {place for place in places if place not in folders}

    def is_wanted(path: str) -> bool:
        """Return whether a file is reviewed."""
        if path in files:
            return True
        is_found = is_robots_name(path.rpartition("/")[2]) and any(
            is_in_search(path, folder) for folder in folders
        )
        return is_found and not any(one.covers(os.path.join(root, path)) for one in exclude)

    return is_wanted


def _compare(
    changes: Sequence[ChangedFile], result: ReviewResult
) -> tuple[list[ReviewedChange], int]:
    """Compare both contents of each file."""
    from robotrules.json_results.diff import compare_files

    compared = []
    with progress_bar("file") as progress:
        for number, change in enumerate(changes, 1):
            if change.is_link:
                _say(result, f"{visible(change.path)} is a symbolic link, which is not compared")
                continue
            # Without a robots.txt everything is allowed (RFC 9309 §2.3.1.3), as with an empty one.
            old, new = (robotrules.parse(octets or b"") for octets in (change.old, change.new))
            _, parts = compare_files(
                old, new, [], literal=False, max_regions=MAX_REGIONS, max_states=MAX_STATES
            )
            compared.append(ReviewedChange(change.path, change.status, change.old_path, parts))
            progress(number, len(changes))
    return compared, result.uncompared


# --- Output ---------------------------------------------------------------------------------------


def _say(result: ReviewResult, words: str) -> None:
    """Report a hint, which is also in the report."""
    result.hints.append(words)
    report(words, label="hint", style="warning")


def _print(
    output: Output,
    body: str,
    linted: Sequence[LintedFile],
    environment: CiEnvironment,
    result: ReviewResult,
) -> None:
    if not environment.is_github:
        output.write(body)
        return
    from robotrules.linting.render.github import github

    output.lines(list(github(linted)))
    with _commands_off(output):
        output.write(body)


@contextmanager
def _commands_off(output: Output) -> Iterator[None]:
    """Have GitHub take no line as a workflow command: the report quotes files and their names."""
    token = secrets.token_hex(16)
    output.lines([f"::stop-commands::{token}"])
    yield
    output.lines([f"::{token}::"])


def _write_reports(
    result: ReviewResult,
    linted: Sequence[LintedFile],
    sarif_file: str | None,
    junit_file: str | None,
) -> None:
    inputs = [os.fsdecode(one.where) for one in linted if one.is_file]
    if sarif_file is not None:
        from robotrules.cli.lint import write_sarif

        refuse_overwriting(sarif_file, inputs, "--sarif")
        write_sarif(sarif_file, linted)
    if junit_file is not None:
        from robotrules.linting.render.junit import suites as lint_suites

        refuse_overwriting(junit_file, inputs, "--junit")
        made = [*lint_suites(linted), *test_suites(result.tested)]
        write_atomically(junit_file, render_junit("robotrules review", made).encode())


def _write_github_files(environment: CiEnvironment, body: str, result: ReviewResult) -> None:
    """Add the summary of the job, and the outputs of the step."""
    different = any(one.parts.equal is not True for one in result.compared)
    outputs = f"changed={str(different).lower()}\npassed={str(not result.failed).lower()}\n"
    for path, text in ((environment.summary, body), (environment.outputs, outputs)):
        if path is None:
            continue
        try:
            with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError as error:
            why = error.strerror or type(error).__name__
            report(f"cannot write {quoted(path)}: {why}", label="warning", style="warning")


def _comment(
    environment: CiEnvironment, given: Sequence[str], body: str, result: ReviewResult
) -> None:
    """Write or update the comment; why there is none is a hint."""
    if environment.number is None or not environment.repository:
        report("no comment: this is not a run for a pull request", label="hint")
        return
    where = "; the report is the summary of this job" if environment.summary else ""
    if environment.is_fork:
        _warn(
            environment,
            f"no comment: a pull request from a fork has a token that may not write one{where}",
        )
        return
    names = TOKENS[environment.forge]
    token = next(filter(None, map(os.environ.get, names)), None)
    if not token:
        _warn(environment, f"no comment: the variable {names[0]} is not set{where}")
        return
    try:
        done = publish_comment(
            environment, token, _marker(given), body, create=bool(result.changed_files)
        )
    except CommentError as error:
        _warn(environment, f"no comment: {visible(str(error))}{where}")
        return
    if done.action == "none":
        report("no comment: no robots.txt changed")
    else:
        report(f"comment {done.action}{f': {visible(done.url)}' if done.url else ''}")


def _marker(given: Sequence[str]) -> str:
    """Return the marker of the comment: one for each choice of files."""
    key = "" if given == (".",) else sha256("\0".join(given).encode("utf-8", "replace")).hexdigest()
    return f"<!-- robotrules review {key[:12]}".rstrip() + " -->"


def _warn(environment: CiEnvironment, words: str) -> None:
    report(words, label="warning", style="warning")
    if environment.is_github:
        from robotrules.linting.render.github import command

        output = Output()
        output.lines([command("warning", {"title": "robotrules review"}, words)])
        output.flush()
