"""
Real robots.txt files with generated URLs, or a stand-in if they are not available.

Reads the folder in the environment variable ROBOTRULES_CORPUS, by default `../shared/corpus`
relative to the root of the repository. See README.md beside this file.

The verdicts of google/robotstxt are included for comparison.
"""

from __future__ import annotations

import hashlib
import lzma
import os
import pickle
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from corpora import Case
from corpora.real.stand_in import generate_stand_in

ROOT = Path(__file__).resolve().parents[3]
URLS = 5
MANY = 30
# The default size limit. About one file in a thousand is larger; those are left out, because the
# engines would parse different amounts of them.
MAX_OCTETS = 512_000


def corpus_folder() -> Path:
    """Return the folder of the real files."""
    return Path(os.environ.get("ROBOTRULES_CORPUS") or ROOT.parent / "shared" / "corpus")


def load_cases(files: int) -> tuple[list[Case], str]:
    """Return at most *files* cases, always the same ones, and a description."""
    index = corpus_folder() / "corpus_a.index.tsv"
    if not index.exists():
        generated = list(generate_stand_in(files))
        return generated, f"STAND-IN: {len(generated)} generated files; no real corpus was found"
    wanted = _select_files(index, files)
    questions = _read_questions(corpus_folder() / "corpus_a.google.tsv.xz", wanted)
    cases = [
        case
        for path, body in _read_bodies(corpus_folder() / "corpus_a.tar.xz", wanted)
        if (case := _make_case(path, body, questions[path])) is not None
    ]
    cases.sort(key=lambda case: wanted[case.name])
    # The URLs come from a table with many more rows and are scattered over the heap; reading them
    # would take longer than a fast check. Copied, they are contiguous, for every engine.
    cases = pickle.loads(pickle.dumps(cases))
    return cases, f"{len(cases)} real files, {sum(len(c.body) for c in cases):,} octets"


def _select_files(index: Path, files: int) -> dict[str, str]:
    """Return path → sha256 of the first *files* files of kind robots in the order of sha256."""
    rows = []
    with index.open(encoding="utf-8") as lines:
        for line in lines:
            sha256, _source, _host, octets, kind, path = line.rstrip("\n").split("\t")
            if kind == "robots" and int(octets) <= MAX_OCTETS:
                rows.append((sha256, path))
    return {path: sha256 for sha256, path in sorted(rows)[:files]}


def _read_bodies(archive: Path, wanted: dict[str, str]) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(archive, "r:xz") as members:
        for member in members:
            if member.name in wanted:
                stream = members.extractfile(member)
                if stream is not None:
                    yield member.name, stream.read()


def _read_questions(table: Path, wanted: dict[str, str]) -> dict[str, list[tuple[str, str, bool]]]:
    """Return path → (token, URL, allowed by google/robotstxt), in the order of the table."""
    rows: dict[str, list[tuple[str, str, bool]]] = defaultdict(list)
    with lzma.open(table, "rt", encoding="utf-8", newline="\n") as lines:
        next(lines)
        for line in lines:
            path, rest = line.rstrip("\n").split("\t", 1)
            if path in wanted:
                token, url, verdict = rest.split("\t")[:3]
                rows[path].append((token, url, verdict == "allow"))
    return rows


def _make_case(path: str, body: bytes, rows: list[tuple[str, str, bool]]) -> Case | None:
    """
    Return a case with one token, chosen by the hash of the path among those with enough URLs, so
    that groups for named crawlers are used as well as `*`.
    """
    by_token: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    for token, url, allowed in rows:
        by_token[token].append((url, allowed))
    if not by_token:
        return None
    most = max(len(questions) for questions in by_token.values())
    tokens = sorted(t for t, questions in by_token.items() if len(questions) >= min(URLS, most))
    token = tokens[hashlib.sha256(path.encode()).digest()[0] % len(tokens)]
    # Spread over the URLs of the file: neighbours in the table come from the same rule.
    step = max(1, len(by_token[token]) // URLS)
    chosen = by_token[token][::step][:URLS]
    many = tuple(dict.fromkeys(url for _, url, _ in rows))[:MANY]
    return Case(
        name=path,
        body=body,
        token=token,
        urls=tuple(url for url, _ in chosen),
        many=many,
        oracle=tuple(allowed for _, allowed in chosen),
    )
