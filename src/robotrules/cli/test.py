"""
`robotrules test`: test a robots.txt against expectation files.

A wrapper around `robotrules.expect.files`: finds expectation files, evaluates them against a file
or a live origin, and shows failures with their reasons.

Sections: the command · files · live files · text.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from robotrules import RobotsTxt
from robotrules.access import FailureReason
from robotrules.cli.atomic_write import refuse_overwriting, write_atomically
from robotrules.cli.client import ClientOptions, library_errors, with_client_options
from robotrules.cli.console import STDIN, CliError, Output, quoted, report
from robotrules.cli.folder_search import search_folder
from robotrules.cli.input_files import read_robots
from robotrules.cli.options import json_option, literal_option
from robotrules.cli.progress import progress_bar
from robotrules.cli.text import Paint, plural, truncate
from robotrules.config import Config, find_config
from robotrules.errors import ConfigError, ExpectationError, MissingExtraError
from robotrules.expect import read_expectations
from robotrules.expect.files import NAME, ClientFetcher, ExpectationFile, FileOptions, find_files
from robotrules.expect.scaffold import render_starter
from robotrules.expect.selection import Selector, parse_selection
from robotrules.expect.values import SCHEMA_VERSION, Carriers, ExpectationResult
from robotrules.json_results.access import LONGEST
from robotrules.junit import Case, Suite
from robotrules.junit import report as render_junit
from robotrules.octets import visible
from robotrules.profile import PROFILES

if TYPE_CHECKING:
    from robotrules.client.origin_state import OriginState

# The width in a pipe.
WIDTH = 80
FACT = 10


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE|FOLDER]...")
@click.option(
    "--robots",
    metavar="FILE",
    help="Test this robots.txt instead of the one that the expectation file names.",
)
@click.option(
    "--live",
    metavar="URL",
    help="Test the live robots.txt of this URL's origin. It is fetched and cached for a day; "
    "--refresh fetches it now, and a failure to do so is an error.",
)
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    metavar="NAME",
    help="How to parse what RFC 9309 leaves open: 'default', 'strict' or 'google'. Defaults to "
    "the expectation file, then to the settings.",
)
@click.option(
    "--max-states",
    type=click.IntRange(1),
    metavar="N",
    help="The state limit of the search for each proof; beyond it an expectation fails.",
)
@literal_option
@click.option(
    "-v", "--verbose", is_flag=True, help="Also list passed expectations and their deciding rules."
)
@click.option(
    "-k",
    "words",
    metavar="WORDS",
    help="Test only expectations with these words in crawler, URL, page, key or reason, such as "
    "'Googlebot and not /cart'.",
)
@click.option("-x", "--exitfirst", "first", is_flag=True, help="Stop after the first failure.")
@click.option(
    "--junit", "junit_file", metavar="FILE", help="Also write a JUnit report to this file."
)
@click.option(
    "--init",
    "start",
    is_flag=True,
    help="Create robots.test.toml for the robots.txt of this or the given directory; an existing "
    "file is not changed.",
)
@json_option("Print one JSON object per expectation file, described in docs/cli/test.md.")
@with_client_options(crawler=False)
def test(
    files: tuple[str, ...],
    robots: str | None,
    live: str | None,
    profile: str | None,
    max_states: int | None,
    literal: bool,
    verbose: bool,
    words: str | None,
    first: bool,
    junit_file: str | None,
    start: bool,
    as_json: bool,
    client_options: ClientOptions,
) -> int:
    """
    Test a robots.txt against expectations.

    An expectation file is TOML. It states which URLs are allowed or disallowed for which crawlers,
    optionally by which line, for single URLs or all URLs of a pattern, and which tags a page has.
    In a FOLDER, and in all folders below, files named robots.test.toml or *.robots.test.toml are
    used. Without arguments, robots.test.toml and tests/robots.test.toml of this directory are used,
    or the files of [test] in robotrules.toml. A failure shows the deciding rule and how to change
    it. Well-known crawlers select groups as their operators document it. The exit code is 0 if all
    expectations pass, 1 if any fails, 2 for a usage or I/O error in any file.

    \b
    Examples:
      robotrules test
      robotrules test --init
      robotrules test -x -k 'Googlebot and not /cart'
      robotrules test robots.test.toml --robots build/robots.txt
      robotrules test --live https://example.com/ --refresh
      robotrules test --junit report.xml
    """
    if robots is not None and live is not None:
        raise click.UsageError("--robots and --live cannot be combined")
    if start:
        if robots or live or junit_file or as_json or words or first or len(files) > 1:
            raise click.UsageError("--init takes no other options and at most one directory")
        return _begin(files[0] if files else ".", profile)
    given = FileOptions(robots, live, profile, max_states, literal)
    selected = None if words is None else _selector(words)
    output = Output()
    answered: list[FileResult] = []
    read = [*files, *([robots] if robots is not None else [])]
    with ExitStack() as opened:
        fetcher = _Live(client_options, opened)
        for path, config in _paths(files, answered):
            if first and any(one.failed or one.error for one in answered):
                report("stopped after the first failure (-x)")
                break
            read.append(str(path))
            with _told(_shown(path), answered):
                trial = ExpectationFile(path, config, fetcher, given)
                read.append(trial.source)
                found = _evaluate_file(trial, selected, first=first)
                answered.append(found)
                _hint(found)
                if as_json:
                    output.json(_as_json(trial, found))
                else:
                    width = output.width if output.terminal else None
                    page = ExpectationsPage(found, output.paint, width, passes=verbose)
                    output.lines(list(page.lines()))
                output.flush()
        if not fetcher.used:
            client_options.hint_unused()
    if len(answered) > 1 and not as_json:
        output.lines(["", total(answered)])
    output.flush()
    if words is not None and not any(one.judged or one.error for one in answered):
        raise CliError(f"no expectation has these words: -k {quoted(words)}")
    if junit_file is not None:
        refuse_overwriting(junit_file, read, "--junit")
        write_atomically(junit_file, junit(answered))
    if any(one.error for one in answered):
        return 2
    return int(any(one.failed for one in answered))


# --- Files ----------------------------------------------------------------------------------------


def _paths(files: tuple[str, ...], answered: list[FileResult]) -> Iterator[tuple[Path, Config]]:
    """Yield the expectation files, each with its settings."""
    for name in files or (".",):
        found: list[tuple[Path, Config]] = []
        with _told(visible(os.fsencode(name)), answered):
            found = _found(name, below=bool(files))
        yield from found


def _found(name: str, *, below: bool = True) -> list[tuple[Path, Config]]:
    """Return the file of an argument, or the files of a directory and, with *below*, of others."""
    if name == STDIN:
        raise CliError("'-' is not supported: an expectation file refers to files in its directory")
    config = find_config(Path(name))
    if not os.path.isdir(name):
        return [(Path(name), config)]
    found = _files_of(name, config, below=below)
    if not found:
        where = "here" if name == "." else f"in {quoted(name)}"
        raise CliError(
            f"there is no expectation file {where}: create {NAME} with --init, or pass a file"
        )
    return found


def _files_of(folder: str, config: Config, *, below: bool) -> list[tuple[Path, Config]]:
    found = [(path, config) for path in find_files(Path(folder), config)]
    if below and not config.test.files:
        known = {path for path, _ in found}
        files = map(Path, search_folder(folder, _is_expectation_file))
        found += [(path, find_config(path)) for path in files if path not in known]
    return found


def _is_expectation_file(name: str) -> bool:
    return name == NAME or name.endswith(f".{NAME}")


def _selector(words: str) -> Selector:
    try:
        return parse_selection(words)
    except ExpectationError as error:
        raise click.UsageError(f"-k {quoted(words)}: {visible(str(error))}") from None


@contextmanager
def _told(name: str, answered: list[FileResult]) -> Iterator[None]:
    """Report an error about a file, record it, and continue with the others."""
    try:
        yield
    except (CliError, ConfigError, ExpectationError, MissingExtraError) as error:
        words = error.message if isinstance(error, CliError) else visible(str(error))
        report(words)
        answered.append(FileResult(name, "", [], words))


def _hint(answered: FileResult) -> None:
    """Report hints about expectations, once each."""
    for words, one in {one.hint: one for one in reversed(answered.judged) if one.hint}.items():
        where = f"{answered.name}, line {one.question.about.line}"
        report(f"{where}: {words}", label="hint", style="warning")


def _begin(name: str, profile: str | None) -> int:
    """Create an expectation file for the robots.txt of a directory."""
    path, robots = Path(name) / NAME, Path(name) / "robots.txt"
    if not robots.is_file():
        where = "here" if name == "." else f"in {quoted(name)}"
        raise CliError(f"there is no robots.txt {where}: create one first, or pass its directory")
    with library_errors():
        usual = find_config(Path(name)).test.profile
        text = render_starter(read_robots(str(robots), profile or usual or "default")[0], profile)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise CliError(f"{quoted(str(path))} already exists") from None
    except OSError as error:
        raise CliError(f"cannot write {quoted(str(path))}: {error.strerror}") from None
    count = plural(len(read_expectations(text).questions), "expectation")
    report(f"{quoted(str(path))} written: {count}, all pass; edit them to what you expect")
    return 0


def _evaluate_file(trial: ExpectationFile, selected: Selector | None, *, first: bool) -> FileResult:
    """Evaluate the selected expectations; with *first*, up to the first failure."""
    questions = [one for one in trial.questions if selected is None or selected(one)]
    judged: list[ExpectationResult] = []
    with progress_bar("expectation") as progress:
        for question in questions:
            judged.append(trial.evaluate(question))
            progress(len(judged), len(questions))
            if first and not judged[-1].passed:
                break
    return FileResult(
        _shown(trial.path),
        trial.source,
        judged,
        deselected=len(trial.questions) - len(questions),
        not_run=len(questions) - len(judged),
    )


def _shown(path: Path) -> str:
    return visible(os.fsencode(path))


def _as_json(trial: ExpectationFile, answered: FileResult) -> dict[str, Any]:
    return {
        "schema": SCHEMA_VERSION,
        "file": answered.name,
        "robots": visible(trial.source),
        "origin": trial.origin,
        "profile": trial.profile,
        "passed": len(answered.judged) - answered.failed,
        "failed": answered.failed,
        "deselected": answered.deselected,
        "not_run": answered.not_run,
        "questions": [one.as_dict() for one in answered.judged],
    }


def evaluate_folders(
    folders: Sequence[str],
    client_options: ClientOptions,
    why_refused: Callable[[str], str | None],
) -> list[FileResult]:
    """
    Return the results of the expectation files of folders, if any; errors are reported.

    *why_refused* says why a file may not be read, or returns None.
    """
    answered: list[FileResult] = []
    files: list[tuple[Path, Config]] = []
    for folder in folders:
        with _told(visible(os.fsencode(folder)), answered):
            files += _files_of(folder, find_config(Path(folder)), below=True)
    with ExitStack() as opened:
        fetcher = _Live(client_options, opened)
        for path, config in files:
            with _told(_shown(path), answered):
                _refuse(path, path, why_refused)
                trial = ExpectationFile(path, config, fetcher)
                for file in trial.local_files:
                    _refuse(path, file, why_refused)
                found = _evaluate_file(trial, None, first=False)
                answered.append(found)
                _hint(found)
    return answered


def _refuse(path: Path, file: Path, why_refused: Callable[[str], str | None]) -> None:
    why = why_refused(str(file))
    if why is not None:
        named = "" if file == path else f"{quoted(str(path))} names "
        raise CliError(f"{named}{quoted(str(file))}, {why}: name a file of the repository")


# --- Live files -----------------------------------------------------------------------------------


class _Live:
    """Fetches live files with the options of the command line; opened on first use."""

    def __init__(self, client_options: ClientOptions, opened: ExitStack) -> None:
        self._client_options = client_options
        self._pages = ClientFetcher(lambda: opened.enter_context(client_options.client("default")))
        self.used = False

    def robots(self, url: str, profile: str) -> RobotsTxt:
        """Return the robots.txt of the origin of a URL."""
        from robotrules.cli.origin_lookup import fetched_state

        self.used = True
        origin_state = fetched_state([url], profile, self._client_options)
        _require_current(origin_state, refresh=self._client_options.refresh)
        return origin_state.robots

    def page(self, url: str, crawler: tuple[str, ...], purposes: tuple[str, ...]) -> Carriers:
        """Return headers and HTML of a page."""
        from robotrules.cli.origin_lookup import hint_private_address, host_of

        self.used = True
        try:
            return self._pages.page(url, crawler, purposes)
        except ExpectationError as error:
            # The URL itself may contain any word.
            if "allow_private" in str(error).removeprefix(url):
                hint_private_address(host_of(url))
            raise


def _require_current(origin_state: OriginState, *, refresh: bool) -> None:
    """Report that a stored copy is tested; with *refresh*, one whose refresh failed is an error."""
    from robotrules.cli.access_text import describe_failed_refresh, describe_state, format_time
    from robotrules.cli.origin_lookup import hint_private_address, host_of
    from robotrules.client.origin_state import StateSource

    name = truncate(visible(origin_state.origin), LONGEST)
    last = origin_state.entry.last_success
    at = format_time(last.at) if last else "earlier"
    failure = origin_state.entry.last_failure
    if failure is None:
        if not refresh and origin_state.source is not StateSource.FETCHED:
            words = f"{name}: the robots.txt was fetched {at}; use --refresh to fetch it now"
            report(words, label="hint")
        return
    if failure.failure_reason is FailureReason.REFUSED:
        hint_private_address(host_of(failure.url))
    why = describe_failed_refresh(origin_state) or describe_state(origin_state)
    if refresh:
        raise CliError(f"{name}: {why}; the copy fetched {at} was not tested")
    report(f"{name}: {why}; the copy fetched {at} is tested", label="warning", style="warning")


# --- Text -----------------------------------------------------------------------------------------


class FileResult(NamedTuple):
    """An expectation file with its results."""

    name: str
    source: str
    """The robots.txt that was tested."""
    judged: Sequence[ExpectationResult]
    error: str = ""
    """Why nothing was evaluated."""
    deselected: int = 0
    """The number of expectations that -k leaves out."""
    not_run: int = 0
    """The number of expectations after the failure that stopped the test."""

    @property
    def failed(self) -> int:
        """The number of failed expectations."""
        return sum(not one.passed for one in self.judged)


class ExpectationsPage:
    """The results of one file as lines of text."""

    def __init__(
        self, answered: FileResult, paint: Paint, width: int | None = None, *, passes: bool = False
    ) -> None:
        """*width* is that of the terminal; None if there is none. *passes*: list them, too."""
        self._evaluate_file = answered
        self._paint = paint
        self._passes = passes
        self._room = WIDTH if width is None else max(width, 60)

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        after = False
        for one in self._evaluate_file.judged:
            if one.passed and self._passes:
                word = self._paint("allowed", "passed")
                yield f"{word}  {self._where(one)}: {visible(one.question.title)}"
                yield f"        {visible(one.found)}"
                if one.reading:
                    yield f"        {one.reading}"
            elif not one.passed:
                yield from [""] if after else []
                yield from self._failure(one)
            after = after or not one.passed
        if after:
            yield ""
        yield self._summary()

    def _summary(self) -> str:
        answered = self._evaluate_file
        failed, count = answered.failed, len(answered.judged)
        about = f"{visible(answered.name)}: {visible(answered.source)}"
        rest = f", {answered.deselected:,} deselected" if answered.deselected else ""
        rest += f", {answered.not_run:,} not run" if answered.not_run else ""
        if not failed:
            return f"{about}: {self._paint('allowed', f'{count:,} passed')}{rest}"
        words = f"{failed:,} failed"
        return f"{about}: {self._paint('disallowed', words)}, {count - failed:,} passed{rest}"

    def _where(self, one: ExpectationResult) -> str:
        return f"{visible(self._evaluate_file.name)}:{one.question.line}"

    def _failure(self, one: ExpectationResult) -> Iterator[str]:
        word = self._paint("disallowed", "failed")
        yield f"{word}  {self._where(one)}: {visible(one.question.title)}"
        yield from self._fact("why", one.question.about.why)
        yield from self._fact("expected", one.expected)
        yield from self._fact("found", one.found)
        yield from self._fact("registry", one.reading)
        for line in one.told:
            text = visible(line.text)
            yield f"  {self._paint(line.style, text) if line.style else text}".rstrip()
        yield from self._fact("fix", one.cure)

    def _fact(self, name: str, words: str) -> Iterator[str]:
        if not words:
            return
        first, *more = textwrap.wrap(visible(words), self._room - FACT - 2) or [""]
        yield f"  {self._paint('heading', name)}{' ' * (FACT - len(name))}{first}"
        for line in more:
            yield f"  {' ' * FACT}{line}"


def junit(files: Sequence[FileResult]) -> bytes:
    """Return the results as JUnit XML: a suite per file, a case per expectation."""
    return render_junit("robotrules test", suites(files)).encode()


def suites(files: Sequence[FileResult]) -> list[Suite]:
    """Return the suites of files, for a report with other suites."""
    return [Suite(answered.name, tuple(_cases(answered))) for answered in files]


def _cases(answered: FileResult) -> Iterator[Case]:
    if answered.error:
        yield Case("expectations can be evaluated", "error", answered.error)
    for one in answered.judged:
        case = Case(one.question.title, file=answered.name, line=one.question.line)
        if not one.passed:
            message = f"expected {one.expected}, found {one.found}"
            key, text = one.question.key, str(one)
            case = case._replace(outcome="failure", message=message, kind=key, text=text)
        yield case


def total(files: Sequence[FileResult]) -> str:
    """Return the summary of several files."""
    failed = sum(answered.failed for answered in files)
    count = sum(len(answered.judged) for answered in files)
    words = f"{failed:,} failed, {count - failed:,} passed" if failed else f"{count:,} passed"
    errors = sum(bool(answered.error) for answered in files)
    left = f"; {plural(errors, 'file')} could not be evaluated" if errors else ""
    return f"{plural(len(files), 'file')}: {words}{left}"
