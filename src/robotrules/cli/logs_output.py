"""The outputs of `robotrules logs`: text, JSON, CSV and pages, to files or stdout, and messages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from robotrules.cli.atomic_write import write_atomically
from robotrules.cli.console import STDIN, CliError, Output, quoted, report
from robotrules.cli.text import plural

if TYPE_CHECKING:
    from robotrules.operations.logs import LogReport

OUTPUT_FORMATS = ("text", "json", "csv", "html")
_EXTENSIONS = {".txt": "text", ".json": "json", ".csv": "csv", ".html": "html", ".htm": "html"}
TABLES = ("days", "crawlers", "violations", "missing")
# URLs of a rule that are counted, and so the largest number for --top; in JSON by default.
MOST_TOP, JSON_TOP = 10_000, 10
# Files of which messages are printed.
MOST_REPORTED = 5


class OutputTarget(NamedTuple):
    """Where a report is written, and how."""

    file: str | None
    """None for stdout."""
    form: str
    """One of `OUTPUT_FORMATS`."""
    table: str
    """One of `TABLES`, for CSV."""
    title: str
    """For a page; empty for the usual one."""


def output_targets(
    files: Sequence[str], form: str | None, table: str | None, title: str | None
) -> list[OutputTarget]:
    """Return the outputs of `-o`, in the format of `--format` or by their extensions."""
    if form and len(files) > 1:
        raise click.UsageError("--format is for one -o: the extensions choose the formats")
    targets = []
    for name in files or (STDIN,):
        file = None if name == STDIN else name
        found = form or (_form_of(file) if file else "csv" if table else "text")
        targets.append(OutputTarget(file, found, table or TABLES[0], title or ""))
    paths = [os.path.abspath(one.file) if one.file else STDIN for one in targets]
    if len(set(paths)) < len(paths):
        raise CliError("-o has the same file twice: pass a name for each format")
    if table and not any(one.form == "csv" for one in targets):
        raise click.UsageError("--table is for --format csv")
    if title is not None and not any(one.form == "html" for one in targets):
        raise click.UsageError("--title is for --format html")
    return targets


def _form_of(name: str) -> str:
    """Return the output format by the extension of a file."""
    form = _EXTENSIONS.get(os.path.splitext(name)[1].lower())
    if form is None:
        raise CliError(
            f"{quoted(name)} has no known extension: pass --format, or a name that ends in "
            f"{', '.join(_EXTENSIONS)}"
        )
    return form


def write_report(found: LogReport, target: OutputTarget, top: int | None) -> None:
    """Write a report to a file or to stdout; *top* limits lists, None for the usual numbers."""
    if target.form == "csv" and target.table == "violations":
        _report_left_out(found, top or MOST_TOP)
    if target.file is not None:
        write_atomically(target.file, _rendered(found, target, top, None).encode())
        report(f"{quoted(target.file)} written")
        return
    output = Output()
    if target.form == "json":
        output.json(found.limited(top or JSON_TOP).as_dict())
    else:
        output.write(_rendered(found, target, top, output))
    output.flush()


def _rendered(
    found: LogReport, target: OutputTarget, top: int | None, output: Output | None
) -> str:
    if target.form == "html":
        from robotrules.operations.logs.pages import log_page

        return log_page(found, target.title, top)
    if target.form == "csv":
        from robotrules.cli.logs_csv import csv_text

        return csv_text(found.limited(top or MOST_TOP), target.table)
    if target.form == "json":
        import json

        return json.dumps(found.limited(top or JSON_TOP).as_dict(), indent=2) + "\n"
    from io import BytesIO

    from robotrules.cli.logs_text import LogText

    lines = LogText(found, output or Output.to_file(BytesIO()), top).lines()
    return "".join(f"{line}\n" for line in lines)


def _report_left_out(found: LogReport, top: int) -> None:
    """Report how many requests the table of violations has without their URLs."""
    crawlers = found.limited(top).crawlers
    count = sum(one.not_listed + sum(rule.not_listed for rule in one.rules) for one in crawlers)
    if count:
        report(
            f"{plural(count, 'request')} are in rows without a URL: --top or the number of URLs "
            "that are kept is reached",
            label="note",
        )


def report_problems(found: LogReport, log_format: str) -> None:
    """Report what was not read."""
    for file in found.files[:MOST_REPORTED]:
        if file.error:
            words = f"'{file.name}' was not read completely: {file.error}"
            report(words, label="error", style="error")
        if not file.form and not file.error:
            report(f"'{file.name}' is empty", label="warning", style="warning")
        if not file.unread:
            continue
        first = file.examples[0] if file.examples else None
        shown = f"; the first is line {first.line}: '{first.text}'" if first else ""
        words = (
            f"{plural(file.unread, 'line')} of '{file.name}' could not be read as format "
            f"{file.form}{shown}"
        )
        if file.unread > file.requests:
            words += (
                "; without --log-format, the format is detected"
                if log_format
                else "; if the format is another one, pass --log-format"
            )
        report(words, label="warning", style="warning")


def host_in_logs(origin: str) -> str:
    """Return the host of an origin as logs have it: without its port, an address in brackets."""
    authority = origin.partition("://")[2]
    if authority.startswith("["):
        return authority.partition("]")[0] + "]"
    return authority.partition(":")[0]


def report_notes(found: LogReport) -> None:
    """Report what limits the numbers, and what to pass for better ones."""
    if len(found.hosts) > 1:
        shown = ", ".join(found.hosts[:3]) + (" and more" if len(found.hosts) > 3 else "")
        if not found.site:
            report(
                f"the log has several hosts ({shown}), which are judged by the same rules: pass "
                "--origin to read one of them",
                label="hint",
            )
    if found.crawlers and not found.rules:
        report(
            "requests are counted, and not judged: pass --robots, --git or --origin to see what "
            "crawlers fetched although they are asked not to",
            label="hint",
        )
    for note in found.notes:
        report(note, label="note")
