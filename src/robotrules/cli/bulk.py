"""
`robotrules bulk`: whole datasets of URLs and robots.txt files.

`check` adds verdicts to tables of URLs, `facts` describes robots.txt files as a table, `survey`
makes the tables and charts of a study. Wrappers around `robotrules.bulk`; nothing is fetched.

Sections: shared options · check · facts · survey · output.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from robotrules.cli.bulk_spark import engine_options, run_on_spark, take_engine
from robotrules.cli.client import library_errors
from robotrules.cli.console import CliError, Output, quoted, report
from robotrules.cli.datetimes import parse_duration
from robotrules.cli.options import (
    Command,
    json_option,
    parse_purposes,
    parse_tokens,
    profile_option,
    purpose_option,
)
from robotrules.cli.progress import Progress
from robotrules.cli.text import is_terminal, plural

if TYPE_CHECKING:
    from robotrules.bulk.jobs import JobSummary
    from robotrules.bulk.spark.runs import RunCounts

USAGE_OR_IO = 2
STDOUT = "-"
FORMATS = ("parquet", "csv", "jsonl")
# In a pipe there is a line of progress this often, in seconds.
PLAIN_EVERY = 10.0


@click.group(invoke_without_command=True)
@click.pass_context
def bulk(ctx: click.Context) -> int | None:
    """
    Process whole datasets: Parquet, CSV, JSON lines, WARC files.

    \b
    Examples:
      robotrules bulk check urls.parquet --corpus robots.warc.gz --as ExampleBot -o checked.parquet
      robotrules bulk facts 'CC-MAIN-*.warc.gz' -o facts/ --json
      robotrules bulk survey facts/ -o survey/
    """
    if ctx.invoked_subcommand is not None:
        with _errors():
            import robotrules.bulk.arrow_support  # noqa: F401  (says what to install)
        return None
    click.echo(ctx.get_help(), err=True)
    return USAGE_OR_IO


# --- Shared options -------------------------------------------------------------------------------


def job_options(command: Command) -> Command:
    """Add the options of commands that write part files."""
    options: tuple[Callable[[Command], Command], ...] = (
        click.option(
            "-o",
            "--output",
            required=True,
            metavar="PATH",
            help="The output: a file that ends with .parquet, .csv, .jsonl, .csv.gz or .jsonl.gz, "
            "or a folder of part files; '-' is stdout.",
        ),
        click.option(
            "--output-format",
            type=click.Choice(FORMATS),
            metavar="NAME",
            help="The format of part files (parquet by default) and of stdout (jsonl by default).",
        ),
        click.option(
            "--input-format",
            type=click.Choice((*FORMATS, "warc", "folder", "txt")),
            metavar="NAME",
            help="The format of inputs whose name does not tell; by default, their content does.",
        ),
        click.option(
            "--prefix",
            default="",
            metavar="PATH",
            help="What paths in a list such as robotstxt.paths.gz are relative to.",
        ),
        click.option(
            "--columns",
            multiple=True,
            metavar="NAME=COLUMN",
            help="The column of a table of robots.txt files that has the origin, url, status, body "
            "or fetched_at, if it is called differently. Repeat it for several.",
        ),
        click.option(
            "--part-rows",
            type=click.IntRange(1),
            metavar="N",
            help="Rows of a part: a killed run loses at most the parts it was at.",
        ),
        click.option(
            "--restart",
            is_flag=True,
            help="Begin anew, even if an earlier run can be continued or was a different one.",
        ),
        click.option(
            "--strict", is_flag=True, help="Exit with 1 if there are rejects; by default with 0."
        ),
        json_option("Print the summary as JSON on stdout."),
        click.option("-q", "--quiet", is_flag=True, help="Show no progress and no summary."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _parse_columns(pairs: Sequence[str]) -> dict[str, str]:
    columns = {}
    for pair in pairs:
        name, found, column = pair.partition("=")
        if not found or not name or not column:
            raise CliError(f"--columns {quoted(pair)} is not a pair: pass one such as body=content")
        columns[name] = column
    return columns


# --- check ----------------------------------------------------------------------------------------


@bulk.command()
@click.argument("urls", nargs=-1, required=True, metavar="URLS...")
@click.option(
    "--corpus",
    multiple=True,
    required=True,
    metavar="FILES",
    help="robots.txt files: WARC files, tables, a folder, or a saved corpus. Repeat it for more.",
)
@click.option(
    "--as",
    "product_tokens",
    metavar="TOKEN",
    multiple=True,
    help="The crawler's product token, such as ExampleBot. Repeat it for several crawlers: each "
    "gets its own columns.",
)
@purpose_option
@click.option(
    "--url",
    "url_column",
    default="url",
    show_default=True,
    metavar="COLUMN",
    help="The column that has the URLs.",
)
@click.option(
    "--at",
    metavar="COLUMN",
    help="Decide by the robots.txt that was in force at the time in this column. Defaults to the "
    "last fetch.",
)
@click.option(
    "--missing",
    type=click.Choice(("allow", "disallow")),
    metavar="NAME",
    help="What an origin without a robots.txt in the corpus means: 'allow' or 'disallow'. By "
    "default it has no verdict.",
)
@click.option(
    "--max-age",
    metavar="DURATION",
    help="Treat fetches that were older than this as missing, such as 30d.",
)
@click.option(
    "--column-prefix",
    default="",
    metavar="TEXT",
    help="Put this before the names of new columns, if the table has such names already.",
)
@click.option(
    "--threads",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Threads of the engine. Defaults to one per core.",
)
@profile_option
@engine_options
@job_options
def check(
    urls: tuple[str, ...],
    corpus: tuple[str, ...],
    product_tokens: tuple[str, ...],
    purposes: tuple[str, ...],
    url_column: str,
    at: str | None,
    missing: str | None,
    max_age: str | None,
    column_prefix: str,
    threads: int,
    profile: str,
    **options: Any,
) -> int:
    """
    Add verdicts to tables of URLs.

    Adds the columns allowed, reason, line, rule and access, and with --at also fetched_at and
    in_force. All other columns are kept. Inputs are Parquet, CSV and JSON lines (also .gz), text
    files with one URL a line (--input-format txt), folders of them, globs, and '-' for stdin.

    A killed run continues where it was when the command is repeated. Rows that cannot be used are
    in a rejects file beside the output. The exit code is 0 if all inputs were processed (1 with
    --strict if there are rejects), 2 for a usage or I/O error.

    \b
    Examples:
      robotrules bulk check urls.parquet --corpus robots.parquet --as ExampleBot -o out.parquet
      robotrules bulk check 'urls-*.csv.gz' --corpus 'CC-*.warc.gz' --as GPTBot --as CCBot -o out/
      robotrules bulk check docs.parquet --corpus robots/ --as CCBot --at crawled_at -o out.parquet
    """
    from robotrules.bulk.file_jobs import URL_PART_ROWS, write_checks

    engine = take_engine(options)
    tokens = parse_tokens(product_tokens, profile)
    age = None if max_age is None else parse_duration(max_age, "--max-age")
    arguments: dict[str, Any] = {
        "product_tokens": tokens,
        "purposes": parse_purposes(purposes, profile),
        "profile": profile,
        "url": url_column,
        "at": at,
        "missing": missing,
        "max_age": age,
    }
    if engine is not None:

        def run_check(spark: Any, output: str, **shared: Any) -> RunCounts:
            """Run the job on a cluster."""
            from robotrules.bulk.spark import runs

            shared["columns"] = _parse_columns(options["columns"])
            return runs.run_check(
                spark, urls, corpus, output, prefix=column_prefix, **arguments, **shared
            )

        return run_on_spark(run_check, engine, options, "row")

    arguments |= {"column_prefix": column_prefix, "threads": threads}

    def write(output: str, **shared: Any) -> JobSummary:
        """Run the job."""
        return write_checks(urls, corpus, output, **arguments, **shared)

    return _run(write, urls, options, URL_PART_ROWS, "row")


# --- facts ----------------------------------------------------------------------------------------


@bulk.command()
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@click.option(
    "--crawlers",
    multiple=True,
    metavar="TOKEN",
    help="The crawlers of the column `crawlers`. Repeat it for several; defaults to the well-known "
    "ones.",
)
@click.option(
    "--jobs",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Worker processes; files are distributed to them. Defaults to one per core.",
)
@profile_option
@engine_options
@job_options
def facts(
    files: tuple[str, ...], crawlers: tuple[str, ...], jobs: int, profile: str, **options: Any
) -> int:
    """
    Describe robots.txt files as a table: one row a fetch.

    Inputs are WARC files (.warc, .warc.gz, .warc.zst), tables of robots.txt files in Parquet, CSV
    or JSON lines (also .gz), folders with one file per host, globs, lists of paths such as
    robotstxt.paths.gz, and '-' for stdin.

    A killed run continues where it was when the command is repeated. Records that cannot be used
    are in a rejects file beside the output. The exit code is 0 if all inputs were processed (1 with
    --strict if there are rejects), 2 for a usage or I/O error.

    \b
    Examples:
      robotrules bulk facts robots.warc.gz -o facts.parquet
      robotrules bulk facts robotstxt.paths.gz --prefix /data/cc/ --jobs 8 -o facts/
      robotrules bulk facts robots/ --crawlers GPTBot --crawlers CCBot -o facts.csv
    """
    from robotrules.bulk.file_jobs import write_facts
    from robotrules.bulk.jobs import PART_ROWS

    engine = take_engine(options)
    if engine is not None:

        def run_facts(spark: Any, output: str, **shared: Any) -> RunCounts:
            """Run the job on a cluster."""
            from robotrules.bulk.spark import runs

            shared["columns"] = _parse_columns(options["columns"])
            return runs.run_facts(
                spark, files, output, profile=profile, crawlers=crawlers or None, **shared
            )

        return run_on_spark(run_facts, engine, options, "file")

    def write(output: str, **shared: Any) -> JobSummary:
        """Run the job."""
        return write_facts(
            files, output, profile=profile, crawlers=crawlers or None, processes=jobs, **shared
        )

    return _run(write, files, options, PART_ROWS, "file")


# --- survey ---------------------------------------------------------------------------------------


@bulk.command()
@click.argument("facts", nargs=-1, required=True, metavar="FACTS...")
@click.option("-o", "--output", required=True, metavar="FOLDER", help="The folder to write to.")
@click.option(
    "--by",
    metavar="NAME",
    help="Compare strata: month, quarter or year of the fetch, rank, or a column of the facts.",
)
@click.option(
    "--ranks", metavar="FILE", help="With --by rank: a CSV file of ranks and domains or origins."
)
@click.option(
    "--crawlers", multiple=True, metavar="TOKEN", help="Only these crawlers. Repeat it for several."
)
@click.option(
    "--denominator",
    type=click.Choice(("answered", "file")),
    default="answered",
    show_default=True,
    metavar="NAME",
    help="What shares are of: sites that 'answered', or sites that have a 'file'.",
)
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, True, True),
    default=0.95,
    show_default=True,
    metavar="P",
    help="The level of the confidence intervals.",
)
@click.option("--title", metavar="TEXT", help="The title of the report.")
@json_option("Print the tables as JSON on stdout too.")
@click.option("-q", "--quiet", is_flag=True, help="Show no summary.")
def survey(
    facts: tuple[str, ...],
    output: str,
    by: str | None,
    ranks: str | None,
    crawlers: tuple[str, ...],
    denominator: str,
    confidence: float,
    title: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """
    Make the tables and charts of a study from facts.

    FACTS are Parquet files or folders that `robotrules bulk facts` wrote. Writes survey.md,
    survey.html and survey.json, a CSV file for each table and an SVG file for each chart.

    \b
    Examples:
      robotrules bulk survey facts.parquet -o survey/
      robotrules bulk survey facts/ --by rank --ranks tranco.csv -o survey/
      robotrules bulk survey facts/ --by year --crawlers GPTBot --crawlers CCBot -o survey/
    """
    from robotrules.bulk.readers.inputs import find_inputs
    from robotrules.bulk.surveys import survey as make_survey

    started = time.monotonic()
    more = {} if title is None else {"title": title}
    with _errors():
        paths = []
        for file in find_inputs(facts, format="parquet"):
            if file.format != "parquet":
                raise CliError(
                    f"facts are Parquet files, and {quoted(file.path)} is a {file.format} file: "
                    "pass files that `robotrules bulk facts -o FILE.parquet` wrote"
                )
            paths.append(file.path)
        result = make_survey(
            paths,
            by=by,
            ranks=ranks,
            crawlers=list(crawlers) or None,
            denominator=denominator,
            confidence=confidence,
            **more,  # type: ignore[arg-type]
        )
        try:
            written = result.save(output)
        except OSError as error:
            why = error.strerror or str(error)
            raise CliError(
                f"cannot write to {quoted(output)}: {why}; pass another folder"
            ) from None
    if as_json:
        out = Output()
        out.json(result.as_dict())
        out.flush()
    if not quiet:
        seconds = time.monotonic() - started
        sites = plural(result.counts["sites"], "site")
        files = plural(len(written), "file")
        report(f"{sites}, {files} written to {quoted(output)}, in {seconds:.1f} s")
    return 0


# --- Output ---------------------------------------------------------------------------------------


def _run(
    write: Callable[..., JobSummary],
    inputs: Sequence[str],
    options: dict[str, Any],
    part_rows: int,
    noun: str,
) -> int:
    """Run a job with a progress bar and print its summary; return the exit code."""
    started = time.monotonic()
    output, quiet = options["output"], options["quiet"]
    to_stdout = output == STDOUT
    if to_stdout and options["as_json"]:
        raise CliError("--json and -o - cannot be combined: both write to stdout")
    shared = {
        "columns": _parse_columns(options["columns"]),
        "input_format": options["input_format"],
        "format": options["output_format"],
        "prefix": options["prefix"],
        "part_rows": options["part_rows"] or part_rows,
        "restart": options["restart"],
    }
    stream = None if quiet else sys.stderr
    size = _size(inputs, options["input_format"], options["prefix"]) if stream else None
    with (
        _stdout_folder(to_stdout) as folder,
        Progress(
            stream, size, noun, plain_every=None if is_terminal(sys.stderr) else PLAIN_EVERY
        ) as progress,
    ):
        target = output
        if to_stdout:
            target = os.path.join(folder, f"out.{options['output_format'] or 'jsonl'}")
        with _errors():
            summary = write(target, progress=progress.add, **shared)
        if to_stdout:
            progress.clear()
            _copy_to_stdout(target)
    seconds = time.monotonic() - started
    rejects = _rejects_file(output)
    if options["as_json"]:
        out = Output()
        out.json(
            {
                **summary._asdict(),
                "output": output,
                "rejects_file": rejects if summary.rejects else None,
                "seconds": round(seconds, 3),
            }
        )
        out.flush()
    elif not quiet:
        report(_describe(summary, noun, None if to_stdout else rejects, seconds))
    return 1 if options["strict"] and summary.rejects else 0


def _describe(summary: JobSummary, noun: str, rejects: str | None, seconds: float) -> str:
    words = [plural(summary.rows, noun)]
    if summary.rejects:
        where = f" in {quoted(rejects)}" if rejects else ""
        words.append(plural(summary.rejects, "reject") + where)
    if summary.skipped:
        words.append(f"{plural(sum(summary.skipped.values()), 'other record')} skipped")
    if summary.continued:
        words.append(f"{plural(summary.continued, 'part')} from an earlier run")
    return f"{', '.join(words)}, in {seconds:.1f} s"


def _rejects_file(output: str) -> str:
    from robotrules.bulk.jobs import REJECTS

    if os.path.isdir(output):
        return os.path.join(output, REJECTS)
    return f"{output}.{REJECTS}"


def _size(inputs: Sequence[str], format: str | None, prefix: str) -> int | None:
    """Return the bytes of the inputs, for the progress bar; None: unknown."""
    from robotrules.bulk.readers.inputs import find_inputs

    if STDOUT in inputs:
        return None
    with _errors():
        return sum(file.size for file in find_inputs(inputs, format=format, prefix=prefix))


@contextmanager
def _stdout_folder(is_needed: bool) -> Iterator[str]:
    """Yield a temporary folder for what goes to stdout: it is written when it is complete."""
    if not is_needed:
        yield ""
        return
    folder = tempfile.mkdtemp(prefix="robotrules-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy_to_stdout(path: str) -> None:
    if sys.stdout is None:
        raise CliError("cannot write: stdout is closed; redirect it to a file or a pipe")
    with open(path, "rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()


@contextmanager
def _errors() -> Iterator[None]:
    """Convert errors of the library to `CliError`; misuse names options."""
    try:
        with library_errors():
            try:
                yield
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
                raise CliError(str(error.strerror or error)) from None
            except TypeError as error:
                raise CliError(str(error)) from None
    except CliError as error:
        raise CliError(_PARAMETER.sub(_name_option, error.message)) from None


# Parameters of the library in its messages; the command line has options of these names.
_PARAMETER = re.compile(r"\b(url|at|missing|prefix|by)=|\bmax_age\b")


def _name_option(found: re.Match[str]) -> str:
    return f"--{found[1]}" if found[1] else "--max-age"
