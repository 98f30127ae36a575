"""Parquet output of `robotrules check`: one row for each URL and crawler, in row groups."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from robotrules import Verdict
from robotrules.bulk.arrow_support import pa
from robotrules.bulk.outputs import TableWriter
from robotrules.cli.check_output import COLUMNS, VerdictWriter, decision_cells
from robotrules.json_results.crawlers import CrawlerChoice
from robotrules.json_results.url_counts import DecidedColumn
from robotrules.octets import to_text

if TYPE_CHECKING:
    from robotrules.client.origin_state import OriginState

Cells = tuple[str, bool, str, int | None, str | None, str | None]
SCHEMA = pa.schema(
    [
        pa.field("url", pa.large_string(), nullable=False),
        pa.field("crawler", pa.string(), nullable=False),
        pa.field("allowed", pa.bool_(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("line", pa.int64()),
        pa.field("rule", pa.string()),
        pa.field("robots_url", pa.string()),
    ]
)
assert tuple(SCHEMA.names) == COLUMNS


class ParquetRows(VerdictWriter[Cells]):
    """Writes rows to a table, whose file gets its name when it is complete."""

    def __init__(self, table: TableWriter, crawlers: Sequence[CrawlerChoice]) -> None:
        super().__init__(crawlers)
        self.table = table
        self.table.write(self._batch([], [()] * len(SCHEMA.names[1:])))

    def part(self, crawler: int, verdict: Verdict, origin_state: OriginState | None) -> Cells:
        """Return the cells of a row, without the URL."""
        return (self.crawlers[crawler].name, *decision_cells(verdict, origin_state))

    def _write(self, urls: Sequence[bytes], columns: Sequence[DecidedColumn]) -> None:
        rows = chain.from_iterable(
            zip(
                *(
                    map(self._parts[crawler].__getitem__, column.keys)
                    for crawler, column in enumerate(columns)
                ),
                strict=True,
            )
        )
        texts = [text for text in map(to_text, urls) for _ in columns]
        self.table.write(self._batch(texts, list(zip(*rows, strict=True))))

    @staticmethod
    def _batch(urls: list[str], cells: Sequence[Sequence[object]]) -> object:
        arrays = [
            pa.array(values, field.type)
            for values, field in zip((urls, *cells), SCHEMA, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)

    def finish(self) -> None:
        """Complete the file."""
        self.table.finish()
