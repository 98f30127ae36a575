"""Real files: a corpus of them gives the answers of `RobotsTxt.check`, row by row."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import robotrules
from robotrules.bulk.corpus import Corpus
from tests.test_corpus import FILES, FOLDER, bodies

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not FILES.exists(),
        reason=f"no collection of real files in {FOLDER.name}: set ROBOTRULES_CORPUS to its folder",
    ),
]


def test_real_files_have_the_answers_of_check() -> None:
    """Paths of the rules of each file, and others, for two crawlers."""
    draw = random.Random(17)
    files = {f"https://h{number}.example": body for number, (_, body) in enumerate(bodies())}
    rows: list[tuple[str, str]] = []
    for origin, body in files.items():
        rules = robotrules.parse(body).rules_for("GPTBot").rules
        paths = ["/" + rule.pattern.lstrip("/") for rule in draw.sample(rules, min(4, len(rules)))]
        rows += [(origin, path) for path in (*paths, "/", "/index.html?q=1", "/robots.txt")]
    draw.shuffle(rows)
    urls = [f"{origin}{path}" for origin, path in rows]
    corpus = Corpus.from_mapping(files, max_cache_bytes=32 * 1024 * 1024)
    checked = corpus.check(pa.table({"url": urls}), product_tokens=["GPTBot", "Googlebot"])
    parsed: dict[str, robotrules.RobotsTxt] = {}
    for token in ("GPTBot", "Googlebot"):
        columns = [f"{token}.{name}" for name in ("allowed", "reason", "line", "rule")]
        for (origin, _), url, row in zip(
            rows, urls, checked.select(columns).to_pylist(), strict=True
        ):
            if origin not in parsed:
                parsed[origin] = robotrules.parse(files[origin])
            verdict = parsed[origin].check(url, token)
            rule = str(verdict.rule) if verdict.rule else None
            answer = [verdict.allowed, str(verdict.reason), verdict.line, rule]
            assert list(row.values()) == answer, url
    assert corpus.cache_bytes <= 32 * 1024 * 1024
