"""The blocks of docs/bulk/spark.md run on a cluster, and print what their comments show."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.bulk.spark.warc_files import write_warc

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = Path(__file__).parents[3] / "docs" / "bulk" / "spark.md"
BLOCKS = re.compile(r"^```py\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_blocks_print_their_comments(spark: SparkSession, tmp_path: Path) -> None:
    """Every block, with those before it."""
    text = PAGE.read_text(encoding="utf-8")
    (tmp_path / "archive").mkdir()
    write_warc(tmp_path / "archive" / "1.warc.gz", [("https://a.example/robots.txt", b"")])
    text = text.replace('"archive/', f'"{tmp_path}/archive/')
    names: dict[str, object] = {"spark": spark}
    blocks = BLOCKS.findall(text)
    assert len(blocks) >= 4
    for block in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, str(PAGE), "exec"), names)
        promised = re.findall(r"^# (.*)$", block, re.MULTILINE)
        assert printed.getvalue().splitlines() == promised
