"""
Real files: profile google answers like google/robotstxt did, and both engines read all alike.

The collection is not part of the repository. `ROBOTRULES_CORPUS` names its folder; if it does
not exist, these tests are skipped with a message.
"""

from __future__ import annotations

import lzma
import os
import tarfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
from fuzz.targets.spans import check_spans
from fuzz.targets.total import check_lines_rejoin

import robotrules
from robotrules._engine import native, pure

ROOT = Path(__file__).parents[1]
FOLDER = Path(os.environ.get("ROBOTRULES_CORPUS") or ROOT.parent / "shared" / "corpus")
FILES, ANSWERS = FOLDER / "corpus_a.tar.xz", FOLDER / "corpus_a.google.tsv.xz"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (FILES.exists() and ANSWERS.exists()),
        reason=f"no collection of real files in {FOLDER.name}: set ROBOTRULES_CORPUS to its folder",
    ),
]


class Question(NamedTuple):
    """One recorded question to google/robotstxt, and its answer."""

    path: str
    token: str
    url: bytes
    allowed: bool
    line: int


def bodies() -> Iterator[tuple[str, bytes]]:
    """Yield path and octets of every file, straight from the archive."""
    with tarfile.open(FILES, "r|xz") as archive:
        for member in archive:
            stream = archive.extractfile(member)
            if stream is not None and member.name != "INDEX.tsv":
                yield member.name, stream.read()


def questions() -> Iterator[Question]:
    """Yield every recorded question, those about one file together."""
    with lzma.open(ANSWERS, "rb") as stream:
        next(stream)
        for text in stream:
            path, token, url, verdict, line, *_ = text.rstrip(b"\n").split(b"\t")
            yield Question(path.decode(), token.decode(), url, verdict == b"allow", int(line))


def test_google_gives_the_recorded_answers(
    engine: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """Profile google gives google/robotstxt's verdict and matched line for every question."""
    files = dict(bodies())
    every = 1 if engine is native else 10  # the pure engine answers each tenth file
    asked = wrong = read = 0
    shown = []
    for number, (path, about) in enumerate(groupby(questions(), lambda question: question.path)):
        if number % every:
            continue
        read += 1
        robots = robotrules.parse(files[path], "google", engine=engine)
        for question in about:
            verdict = robots.check(question.url, question.token)
            asked += 1
            if (verdict.allowed, verdict.line or 0) != (question.allowed, question.line):
                wrong += 1
                shown.append((question, str(verdict)))
    with capsys.disabled():
        print(f"\n{asked:,} questions about {read:,} files: {wrong} answered differently")
    assert asked >= 362_230 // every // 2
    assert shown[:5] == []


def test_both_engines_read_every_file_alike(capsys: pytest.CaptureFixture[str]) -> None:
    """Profile default: the same lines, records, groups and notes for every real file."""
    if native is None:
        pytest.skip("the native engine is not built here")
    read = compared = records = notes = 0
    for number, (path, body) in enumerate(bodies()):
        robots = robotrules.parse(body, engine=native)
        read += 1
        records += len(robots.records)
        notes += len(robots.notes)
        check_lines_rejoin(robots)
        check_spans(robots)
        if number % 4 and len(body) > 500:  # the pure engine takes its time
            continue
        compared += 1
        one, other = robots._document, robotrules.parse(body, engine=pure)._document
        assert one.body == other.body, path
        assert one.notes() == other.notes(), path
        assert one.lines() == other.lines(), path
        assert one.group_count() == other.group_count(), path
        assert [tuple(found) for found in one.records()] == other.records(), path
    with capsys.disabled():
        print(f"\n{read:,} files, {compared:,} by both: {records:,} records, {notes:,} notes")
    assert read > 11_000
