"""
The output formats of `robotrules check`: which one is meant, and where it is written.

A file gets its name when it is complete, so a killed run leaves the old file or none.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import click

from robotrules.cli import client
from robotrules.cli.atomic_write import atomic_file, refuse_overwriting
from robotrules.cli.check_output import (
    CsvLines,
    JSONDocument,
    JSONLines,
    TextLines,
    VerdictWriter,
    WideCsvLines,
)
from robotrules.cli.console import STDIN, CliError, Output, quoted
from robotrules.cli.record_output import STDOUT, parquet_table
from robotrules.cli.url_files import UrlFiles
from robotrules.json_results.crawlers import CrawlerChoice

FORMATS = ("text", "csv", "jsonl", "json", "parquet", "html")
WIDE = "wide csv"
_EXTENSIONS = {
    **{f".{name}": name for name in FORMATS[1:]},
    ".txt": "text",
    ".ndjson": "jsonl",
    ".htm": "html",
}


def choose_format(
    name: str | None, output: str | None, *, as_json: bool, wide: bool, quiet: bool
) -> str:
    """Return the format: as named, or by the extension of the output file."""
    if as_json and name not in (None, "jsonl"):
        raise click.UsageError(f"--json and --format {name} cannot be combined")
    if quiet and (name is not None or output is not None):
        raise click.UsageError("--quiet prints nothing: leave out --format and -o")
    found = "jsonl" if as_json else name
    if found is None and output not in (None, STDOUT):
        found = _EXTENSIONS.get(os.path.splitext(output)[1].lower())
        if found is None:
            raise CliError(
                f"{quoted(output)} has no known extension: pass --format, or a name that ends in "
                f"{', '.join(_EXTENSIONS)}"
            )
    found = found or "text"
    if wide and found != "csv":
        raise click.UsageError("--wide is for --format csv")
    if found == "parquet" and output in (None, STDOUT):
        raise CliError("Parquet cannot be written to stdout: pass a file with -o FILE")
    return WIDE if wide else found


class CheckOutput:
    """Opens the output of one run."""

    def __init__(
        self,
        kind: str,
        path: str | None,
        crawlers: Sequence[CrawlerChoice],
        purposes: tuple[str, ...],
        robots: str | None,
        *,
        inputs: Sequence[str],
    ) -> None:
        """*robots* is the file with the rules; None: it is fetched for each origin."""
        self._kind = kind
        self._path = None if path == STDOUT else path
        self._crawlers, self._purposes = crawlers, purposes
        self._robots = robots
        if self._path is not None:
            refuse_overwriting(self._path, inputs, "-o")

    @contextmanager
    def writer(self, known: Sequence[bytes]) -> Iterator[VerdictWriter[Any]]:
        """Open the output; *known* are all URLs, if known in advance."""
        with ExitStack() as opened:
            if self._kind == "parquet":
                yield self._parquet(opened)
                return
            self._output = Output()
            if self._path is not None:
                self._output = Output.to_file(opened.enter_context(atomic_file(self._path)))
            yield self._text_writer(self._output, known)

    def _text_writer(self, output: Output, known: Sequence[bytes]) -> VerdictWriter[Any]:
        crawlers, fetched = self._crawlers, self._robots is None
        if self._kind == "csv":
            return CsvLines(output, crawlers)
        if self._kind == WIDE:
            return WideCsvLines(output, crawlers)
        if self._kind == "jsonl":
            return JSONLines(output, crawlers, self._purposes, fetched=fetched)
        if self._kind == "json":
            return JSONDocument(output, crawlers, self._purposes, fetched=fetched)
        if self._kind == "html":
            from robotrules.cli.check_page import CountedUrls

            return CountedUrls(crawlers)
        return TextLines(output, crawlers, known)

    def _parquet(self, opened: ExitStack) -> VerdictWriter[Any]:
        assert self._path is not None
        table = opened.enter_context(parquet_table(self._path))
        from robotrules.cli.check_tables import ParquetRows

        return ParquetRows(table, self._crawlers)

    def finish(
        self, writer: VerdictWriter[Any], given: UrlFiles, remarks: Sequence[str] = ()
    ) -> None:
        """Write what follows the last URL; a page has further *remarks*."""
        if self._kind != "html":
            writer.finish()
            return
        from robotrules.cli.check_page import CountedUrls, PageFacts, write_page

        assert isinstance(writer, CountedUrls)
        names = ("stdin" if name == STDIN else name for name in given.names)
        robots = "stdin" if self._robots == STDIN else self._robots
        date = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(client.now()))
        facts = PageFacts(
            tuple(names) or ("the command line",),
            robots,
            given.noun,
            date,
            (*map(_as_remark, remarks), *given.remarks()),
        )
        write_page(self._output, writer, facts)


def _as_remark(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
