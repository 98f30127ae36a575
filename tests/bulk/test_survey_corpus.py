"""
Surveys of real files: the tables agree with plain counts of the same facts.

The collection is not part of the repository. `ROBOTRULES_CORPUS` names its folder; if it does not
exist, these tests are skipped with a message.
"""

from __future__ import annotations

import os
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from robotrules.bulk import facts, survey
from robotrules.registries.crawlers import KNOWN_CRAWLERS

ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("ROBOTRULES_CORPUS") or ROOT.parent / "shared" / "corpus")
FILES = FOLDER / "corpus_a.tar.xz"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not FILES.exists(),
        reason=f"no collection of real files in {FOLDER.name}: set ROBOTRULES_CORPUS to its folder",
    ),
]


@pytest.fixture(scope="module")
def table() -> Any:
    """Facts about all files, each as a site of its own."""
    files = {}
    with tarfile.open(FILES, "r|xz") as archive:
        for number, member in enumerate(archive):
            stream = archive.extractfile(member)
            if stream is not None and member.name != "INDEX.tsv":
                files[f"https://site{number}.example"] = stream.read()
    return facts(files)


def test_tables_agree_with_plain_counts(table: Any) -> None:
    """Crawlers, purposes, user agents, notes, sitemaps and sizes, counted row by row in Python."""
    rows = table.to_pylist()
    found = survey(table)
    assert found.counts["sites"] == found.counts["files"] == len(rows) > 10_000
    states = {name: Counter(row["crawlers"][name] for row in rows) for name in rows[0]["crawlers"]}
    named = Counter(name for row in rows for name in row["named_crawlers"])
    for row in found.tables["crawlers"].to_pylist():
        plain = states[row["crawler"]]
        assert [row[state] for state in ("none", "some", "all")] == [
            plain[state] for state in ("none", "some", "all")
        ]
        assert row["undecided"] == plain[None]
        assert row["named"] == named[row["crawler"]]
    training = [
        crawler.product_token
        for crawler in KNOWN_CRAWLERS
        if crawler.purposes[0] == "ai-training" and crawler.status == "active"
    ]
    disallowed = [[row["crawlers"][name] == "none" for name in training] for row in rows]
    counts = {
        row["disallows"]: row["sites"]
        for row in found.tables["purposes"].to_pylist()
        if row["purpose"] == "ai-training"
    }
    assert counts["at least one"] == sum(map(any, disallowed))
    assert counts["all"] == sum(map(all, disallowed))
    assert counts["at least one by name"] == sum(
        any(row["crawlers"][name] == "none" for name in training if name in row["named_crawlers"])
        for row in rows
    )
    agents = Counter(
        name for row in rows for name in {agent[:80].lower() for agent in row["user_agents"]}
    )
    for row in found.tables["user_agents"].to_pylist():
        assert row["sites"] == agents[row["user_agent"].lower()]
    notes = Counter(code for row in rows for code, _ in row["notes"])
    table_of_notes = {r["note"]: r["sites"] for r in found.tables["notes"].to_pylist()}
    assert table_of_notes == dict(notes)
    features = {r["feature"]: r["sites"] for r in found.tables["features"].to_pylist()}
    assert features["sitemap"] == sum(bool(row["sitemaps"]) for row in rows)
    assert features["crawl-delay"] == sum(row["crawl_delay"] is not None for row in rows)
    sizes = sorted(row["size"] for row in rows)
    (measured,) = [r for r in found.tables["files"].to_pylist() if r["measure"] == "size"]
    assert measured["median"] == pytest.approx(sizes[(len(sizes) + 1) // 2 - 1], rel=0.005)
    assert measured["mean"] == pytest.approx(sum(sizes) / len(sizes))
    assert measured["largest"] == sizes[-1]
