"""
The value that `survey()` returns: tables, remarks, and their forms for files and pages.

The tables are Arrow tables by name; text, pages and charts are made from them on request. The
module counts nothing.
"""

from __future__ import annotations

import datetime as dt
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Survey:
    """The tables of a study of robots.txt files."""

    tables: dict[str, Any]
    """Arrow tables by name; every share has the number of sites that it is a share of."""
    remarks: tuple[str, ...]
    """What the numbers are, which interval they have, and what is odd about the data."""
    by: str | None = None
    """What the strata are: `month`, `rank`, a column; None if there are none."""
    strata: tuple[str, ...] = ()
    """The labels of the strata in display order."""
    denominator: str = "answered"
    """Which sites shares of crawlers are of: `answered` or `file`."""
    confidence: float = 0.95
    title: str = "Survey of robots.txt files"
    counts: dict[str, int] = field(default_factory=dict)
    """Rows and sites of the input: rows, rows_without_origin, sites, counted, files."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON: remarks, and each table as a list of rows."""
        return {
            "title": self.title,
            "by": self.by,
            "strata": list(self.strata),
            "denominator": self.denominator,
            "confidence": self.confidence,
            "counts": dict(self.counts),
            "remarks": list(self.remarks),
            "tables": {
                name: [
                    {key: _plain(value) for key, value in row.items()} for row in table.to_pylist()
                ]
                for name, table in self.tables.items()
            },
        }

    def to_markdown(self) -> str:
        """Return the tables as a Markdown page, shares as per cent; long ones are cut."""
        from robotrules.bulk.surveys.report import make_markdown

        return make_markdown(self)

    def to_html(self) -> str:
        """Return one page with the charts and tables, without references to other files."""
        from robotrules.bulk.surveys.report import make_html

        return make_html(self)

    def charts(self) -> dict[str, str]:
        """Return the charts as SVG text by name; a chart without data is left out."""
        from robotrules.bulk.surveys.charts import make_charts

        return make_charts(self)

    def save(self, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
        """
        Write survey.md, survey.html, survey.json, and a CSV file a table and an SVG file a chart.

        Makes the folder if it does not exist; files of the same names are replaced. Returns the
        paths of the files.
        """
        from pyarrow import csv

        target = Path(folder)
        if target.exists() and not target.is_dir():
            raise NotADirectoryError(f"{target} is a file: pass a folder")
        target.mkdir(parents=True, exist_ok=True)
        texts = {
            "survey.md": self.to_markdown(),
            "survey.html": self.to_html(),
            "survey.json": json.dumps(self.as_dict(), indent=1, ensure_ascii=False) + "\n",
            **{f"{name}.svg": text for name, text in self.charts().items()},
        }
        paths = []
        for name, text in texts.items():
            path = target / name
            path.write_text(text, encoding="utf-8", errors="backslashreplace")
            paths.append(path)
        for name, table in self.tables.items():
            path = target / f"{name}.csv"
            csv.write_csv(table, path)
            paths.append(path)
        return tuple(paths)


def _plain(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        return value.isoformat().replace("+00:00", "Z")
    return value
