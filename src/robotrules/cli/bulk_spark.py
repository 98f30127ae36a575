"""
`robotrules bulk … --engine spark`: a run on a Spark cluster instead of this machine.

The driver is this process; `--master` says where the executors are. The output is a folder that
Spark writes: `kind=checks` or `kind=facts`, and `kind=rejects`. `robotrules.bulk.spark.runs` does
the work; with `spark-submit`, use `robotrules.bulk.spark.job`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from robotrules.cli.client import library_errors
from robotrules.cli.console import CliError, Output, quoted, report
from robotrules.cli.options import Command
from robotrules.cli.text import plural

if TYPE_CHECKING:
    from robotrules.bulk.spark.runs import RunCounts

_FILE_FORMATS = {None: "parquet", "parquet": "parquet", "jsonl": "json"}
# Options of a run on this machine, and what they would be on a cluster.
_LOCAL_OPTIONS = {
    "input_format": "--input-format has no effect with --engine spark: the file name tells",
    "part_rows": "--part-rows has no effect with --engine spark: partitions become part files",
}


def engine_options(command: Command) -> Command:
    """Add the options that choose an engine."""
    options: tuple[Callable[[Command], Command], ...] = (
        click.option(
            "--engine",
            type=click.Choice(("local", "spark")),
            default="local",
            show_default=True,
            metavar="NAME",
            help="Where to compute: on this machine, or on a 'spark' cluster.",
        ),
        click.option(
            "--master",
            metavar="URL",
            help="With --engine spark: the cluster, such as spark://HOST:7077, yarn or local[4]. "
            "Defaults to Spark's own settings.",
        ),
        click.option(
            "--spark-conf",
            "spark_settings",
            multiple=True,
            metavar="NAME=VALUE",
            help="With --engine spark: a setting, such as spark.executor.memory=4g. Repeat it for "
            "several.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def take_engine(options: dict[str, Any]) -> dict[str, Any] | None:
    """Remove the options of engines; return those of Spark, None: this machine computes."""
    engine = options.pop("engine")
    found = {"master": options.pop("master"), "settings": options.pop("spark_settings")}
    if engine == "spark":
        return found
    if found["master"] or found["settings"]:
        name = "--master" if found["master"] else "--spark-conf"
        raise CliError(f"{name} needs --engine spark")
    return None


def run_on_spark(
    run: Callable[..., RunCounts], engine: dict[str, Any], options: dict[str, Any], noun: str
) -> int:
    """Call *run* with a session and the options of its output; print a summary, return the code."""
    started = time.monotonic()
    output = options["output"]
    for name, message in _LOCAL_OPTIONS.items():
        if options.get(name):
            raise CliError(message)
    if output == "-" or options["output_format"] not in _FILE_FORMATS:
        raise CliError(
            "--engine spark writes a folder of Parquet or JSON lines: pass a folder with -o, and "
            "--output-format parquet or jsonl"
        )
    settings = _parse_settings(engine["settings"])
    with library_errors(), _open_session(engine["master"], settings) as spark:
        counts = run(
            spark,
            output=output,
            path_prefix=options["prefix"],
            file_format=_FILE_FORMATS[options["output_format"]],
            overwrite=options["restart"],
        )
    seconds = time.monotonic() - started
    if options["as_json"]:
        out = Output()
        out.json({**counts._asdict(), "output": output, "seconds": round(seconds, 3)})
        out.flush()
    elif not options["quiet"]:
        rejects = f", {plural(counts.rejects, 'reject')}" if counts.rejects else ""
        report(f"{plural(counts.rows, noun)}{rejects} in {quoted(output)}, in {seconds:.1f} s")
    return 1 if options["strict"] and counts.rejects else 0


def _open_session(master: str | None, settings: dict[str, str]) -> AbstractContextManager[Any]:
    import_module("robotrules.bulk.spark.pyspark_support")
    from robotrules.bulk.spark.sessions import open_session

    return open_session(master, settings)


def _parse_settings(pairs: Sequence[str]) -> dict[str, str]:
    settings = {}
    for pair in pairs:
        name, found, value = pair.partition("=")
        if not found or not name:
            raise CliError(
                f"--spark-conf {quoted(pair)} is not a pair: pass one such as "
                "spark.executor.memory=4g"
            )
        settings[name] = value
    return settings
