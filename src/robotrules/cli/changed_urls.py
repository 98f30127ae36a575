"""
The URLs of a file that change, for `robotrules diff --changed-urls`: all of them, each once.

The URLs are counted while the impact is measured, and their verdicts are computed once more for
each distinct URL when the list is written. Memory does not grow with their number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import click

from robotrules import RuleSet, Verdict
from robotrules.cli.atomic_write import refuse_overwriting
from robotrules.cli.console import CliError, quoted, report
from robotrules.cli.impact import measure_impact
from robotrules.cli.record_output import STDOUT, Columns, Value, record_format, record_writer
from robotrules.cli.text import plural
from robotrules.json_results.impact import Compared, Impact
from robotrules.octets import to_text
from robotrules.operations.distinct_urls import CountedUrl, DistinctUrls

COLUMNS: Columns = {
    "url": str,
    "requests": int,
    "crawlers": str,
    "was": str,
    "is": str,
    "old_reason": str,
    "old_line": int,
    "old_rule": str,
    "new_reason": str,
    "new_line": int,
    "new_rule": str,
}

changed_urls_option = click.option(
    "--changed-urls",
    "changed_urls",
    metavar="FILE",
    help="With --urls: write every URL that changes to FILE (.csv, .jsonl or .parquet), each once "
    "with its number of requests; '-' is stdout, as CSV or with --json as JSON lines, and replaces "
    "the report.",
)


class ChangedUrlsOutput:
    """Where the list is written, and how."""

    def __init__(
        self,
        path: str,
        *,
        urls: Sequence[str],
        others: Sequence[str],
        as_json: bool,
        markdown: bool,
    ) -> None:
        """*urls* are the files of URLs, *others* further input files; refuses misuse."""
        if not urls:
            raise click.UsageError("--changed-urls needs --urls FILE, the URLs to look at")
        if path == STDOUT and markdown:
            raise click.UsageError("--changed-urls - and --markdown cannot be combined")
        self.path = path
        self.is_stdout = path == STDOUT
        self._format = "jsonl" if self.is_stdout and as_json else record_format(path)
        if not self.is_stdout:
            refuse_overwriting(path, [*urls, *others], "--changed-urls")

    def measure(self, files: Sequence[str], compared: Sequence[Compared]) -> Impact:
        """Return the impact on the URLs of files, and write those that change."""
        records = urls = 0
        directions: Counter[str] = Counter()
        try:
            with DistinctUrls() as distinct:
                impact = measure_impact(files, compared, keep=distinct.add)
                with record_writer(self.path, self._format, COLUMNS) as writer:
                    for batch in distinct.batches():
                        some = list(_records(batch, compared))
                        writer.write(some)
                        urls, records = urls + len(batch), records + len(some)
                        # A URL may change in both directions, for different crawlers.
                        directions.update(
                            str(word) for _, word in {(row[0], row[4]) for row in some}
                        )
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            raise CliError(f"cannot list the URLs that change: {error}") from None
        self._report(impact, urls, records, directions)
        return impact

    def _report(
        self, impact: Impact, urls: int, records: int, directions: Mapping[str, int]
    ) -> None:
        counted = plural(impact.urls, impact.noun)
        words = f"{counted}: {impact.changed:,} change, with {plural(urls, 'distinct URL')}"
        moved = [
            f"{count:,} newly {word}"
            for word in ("disallowed", "allowed")
            if (count := directions.get(word, 0))
        ]
        if moved:
            words += f" ({', '.join(moved)})"
        if not self.is_stdout:
            words += f"; {plural(records, 'row')} written to {quoted(self.path)}"
        else:
            for source in impact.sources:
                if source.error:
                    report(
                        f"{quoted(source.file or 'stdin')} was not read completely: {source.error}",
                        label="error",
                        style="error",
                    )
        report(words)


def _records(batch: list[CountedUrl], compared: Sequence[Compared]) -> Iterator[tuple[Value, ...]]:
    """Yield a record for each URL and each kind of crawlers for which it changes."""
    urls = [one.url for one in batch]
    verdicts: dict[RuleSet, list[Verdict]] = {}
    for rules in dict.fromkeys(rules for one in compared for rules in (one.old, one.new)):
        verdicts[rules] = rules.check_many(urls)
    pairs = [(one.names or one.name, verdicts[one.old], verdicts[one.new]) for one in compared]
    ends: dict[tuple[str, int, int], tuple[Value, ...]] = {}
    for at, (url, count) in enumerate(batch):
        for name, old, new in pairs:
            was, now = old[at], new[at]
            if was.allowed != now.allowed:
                key = name, id(was), id(now)
                if key not in ends:
                    ends[key] = (name, _word(was), _word(now), *_decided(was), *_decided(now))
                yield to_text(url), count, *ends[key]


def _word(verdict: Verdict) -> str:
    return "allowed" if verdict else "disallowed"


def _decided(verdict: Verdict) -> tuple[Value, Value, Value]:
    if verdict.rule is None:
        return verdict.reason.sentence, verdict.line, None
    word = "allow rule" if verdict.rule.allow else "disallow rule"
    return word, verdict.line, str(verdict.rule)
