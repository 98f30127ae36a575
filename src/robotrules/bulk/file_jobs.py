"""
Files in, files out: facts and checks of datasets, as the command line runs them.

`write_facts()` and `write_checks()` read files in any of the formats, write one file or a folder
of part files, and continue after they were killed (`jobs`). Rejects are in a file beside the
output.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from robotrules.bulk.jobs import PART_ROWS, Job, JobSummary, Progress, run_job
from robotrules.bulk.outputs import OutputFormat, output_format
from robotrules.bulk.readers.chunks import Cursor, InputChunk
from robotrules.bulk.readers.inputs import (
    STDIN,
    InputFile,
    find_inputs,
    read_robots,
    read_urls,
    remove_spooled,
)
from robotrules.bulk.readers.table_files import BATCH_ROWS
from robotrules.bulk.rejects import Reject
from robotrules.errors import InputError

# Rows of a part of `write_checks`: URLs are smaller than files.
URL_PART_ROWS = 1_000_000


class FactsWork:
    """Facts about robots.txt files; it can be pickled."""

    def __init__(
        self,
        profile: str,
        crawlers: Sequence[str] | None,
        columns: Mapping[str, str],
        threads: int,
        batch_rows: int = BATCH_ROWS,
    ) -> None:
        self._batch_rows = batch_rows
        self._options = {"profile": profile, "crawlers": crawlers, "threads": threads}
        self._columns = dict(columns)

    def read(
        self, source: InputFile, start: Cursor | None, skipped: Counter[str]
    ) -> Iterator[InputChunk]:
        """Yield the files of an input."""
        return read_robots(
            source, start, columns=self._columns, skipped=skipped, batch_rows=self._batch_rows
        )

    def transform(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield facts."""
        from robotrules.bulk import facts_batches

        return facts_batches(batches, **self._options)  # type: ignore[arg-type]


class CheckWork:
    """Verdicts about URLs by a corpus, which all of them share: for one process."""

    def __init__(
        self, corpus: Any, options: Mapping[str, Any], batch_rows: int = BATCH_ROWS
    ) -> None:
        self._corpus, self._options, self._batch_rows = corpus, dict(options), batch_rows

    def read(
        self, source: InputFile, start: Cursor | None, skipped: Counter[str]
    ) -> Iterator[InputChunk]:
        """Yield the URLs of an input."""
        return read_urls(source, start, batch_rows=self._batch_rows)

    def transform(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the batches with the columns of the verdicts."""
        for batch in batches:
            yield from self._corpus.check_batches([batch], **self._options)


def write_facts(
    files: Sequence[str],
    output: str,
    *,
    profile: str = "default",
    crawlers: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    input_format: str | None = None,
    format: str | None = None,
    prefix: str = "",
    part_rows: int = PART_ROWS,
    processes: int = 0,
    restart: bool = False,
    progress: Progress | None = None,
) -> JobSummary:
    """
    Write facts about the robots.txt files in *files* to *output*, a file or a folder.

    *files* are names, folders, globs and lists of paths, `output` ends with .parquet, .csv or
    .jsonl, or is a folder of part files in *format*. *columns* names the columns of tables.
    *processes* is the number of worker processes; 0: one per core, if there is work for them.
    """
    try:
        inputs = find_inputs(files, format=input_format, prefix=prefix)
        job = _make_job(
            "facts",
            {"profile": profile, "crawlers": crawlers and list(crawlers), "columns": columns or {}},
            inputs,
            output,
            format,
            part_rows,
        )
        count = min(processes or os.cpu_count() or 1, len(job.tasks()))
        # The engine's threads use the cores that processes do not.
        threads = 0 if count == 1 else 1
        work = FactsWork(profile, crawlers, columns or {}, threads, min(part_rows, BATCH_ROWS))
        return run_job(
            job, work, processes=count, restart=restart or STDIN in files, progress=progress
        )
    finally:
        remove_spooled()


def write_checks(
    urls: Sequence[str],
    corpus: Sequence[str],
    output: str,
    *,
    product_tokens: Sequence[str],
    purposes: Sequence[str] = (),
    profile: str = "default",
    url: str = "url",
    at: str | None = None,
    missing: str | None = None,
    max_age: float | None = None,
    columns: Mapping[str, str] | None = None,
    column_prefix: str = "",
    input_format: str | None = None,
    format: str | None = None,
    prefix: str = "",
    part_rows: int = URL_PART_ROWS,
    threads: int = 0,
    restart: bool = False,
    progress: Progress | None = None,
) -> JobSummary:
    """
    Write the tables of URLs in *urls* with verdicts to *output*, a file or a folder.

    *corpus* are files with robots.txt files, or one file that `Corpus.save()` wrote. The other
    options are those of `Corpus.check()`; *columns* names the columns of the corpus.
    """
    if STDIN in urls and STDIN in corpus:
        raise InputError("stdin cannot be both the URLs and the corpus: pass a file for one")
    try:
        files = find_inputs(corpus, prefix=prefix)
        inputs = find_inputs(urls, format=input_format)
        options = {
            "url": url,
            "product_tokens": list(product_tokens),
            "purposes": list(purposes),
            "at": at,
            "missing": missing,
            "max_age": max_age,
            "prefix": column_prefix,
        }
        kept: dict[str, Any] = {**options, "profile": profile, "columns": columns or {}}
        kept["corpus"] = [file._asdict() for file in files]
        job = _make_job("check", kept, inputs, output, format, part_rows)
        with load_corpus(files, profile, columns) as loaded:
            return run_job(
                job,
                CheckWork(loaded, {**options, "threads": threads}, min(part_rows, BATCH_ROWS)),
                restart=restart or STDIN in (*urls, *corpus),
                rejects=loaded.rejects,
                progress=progress,
            )
    finally:
        remove_spooled()


def load_corpus(
    files: Sequence[InputFile], profile: str, columns: Mapping[str, str] | None = None
) -> Any:
    """Return the `Corpus` of files."""
    from robotrules.bulk.corpus import Corpus

    if len(files) == 1 and _is_saved_corpus(files[0]):
        return Corpus.open(files[0].path, profile=profile)

    def batches() -> Iterator[tuple[Any, list[Reject]]]:
        """Yield the rows of all files."""
        for file in files:
            for chunk in read_robots(file, columns=columns):
                if chunk.batch is not None:
                    yield chunk.batch, chunk.rejects
                elif chunk.rejects:
                    yield _no_rows(), chunk.rejects

    return Corpus.from_batches(batches(), profile=profile)


def _no_rows() -> Any:
    from robotrules.bulk.arrow_support import pa
    from robotrules.bulk.robots_table import SCHEMA

    return pa.RecordBatch.from_pylist([], SCHEMA)


def _is_saved_corpus(file: InputFile) -> bool:
    if file.format != "parquet":
        return False
    import pyarrow.parquet as pq

    from robotrules.bulk.arrow_support import pa
    from robotrules.bulk.corpus_file import FORMAT

    try:
        return FORMAT in (pq.read_schema(file.path).metadata or {})
    except (OSError, pa.ArrowException):
        return False


def _make_job(
    command: str,
    options: dict[str, Any],
    inputs: list[InputFile],
    output: str,
    format: str | None,
    part_rows: int,
) -> Job:
    if part_rows < 1:
        raise ValueError(f"part_rows must be positive: {part_rows}")
    found = output_format(output, format)
    single = found is not None
    if found is None:
        found = OutputFormat(format or "parquet")
    for source in inputs:
        if os.path.exists(output) and os.path.samefile(source.path, output):
            raise InputError(f"the output {output!r} is an input: pass another file")
    return Job(command, options, inputs, output, found, single, part_rows)
