"""
Real robots.txt files with generated questions, or a stand-in where they are not at hand.

Reads the folder that the environment variable ROBOTRULES_CORPUS names, by default
`../shared/corpus` seen from the root of the repository. See README.md beside this file.

Does not know: what the answers are; google/robotstxt's are carried along for counting.
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
from corpora.real.stand_in import stand_in

ROOT = Path(__file__).resolve().parents[3]
URLS = 5
MANY = 30
# Our default size limit. About one file in a thousand is over it; they are left out, for on them
# the engines would be timed on different amounts of reading.
MOST_OCTETS = 512_000


def folder() -> Path:
    """Where the real files are looked for."""
    return Path(os.environ.get("ROBOTRULES_CORPUS") or ROOT.parent / "shared" / "corpus")


def cases(files: int) -> tuple[list[Case], str]:
    """At most *files* cases, always the same ones, and a sentence that says what they are."""
    index = folder() / "corpus_a.index.tsv"
    if not index.exists():
        made = list(stand_in(files))
        return made, f"STAND-IN: {len(made)} generated files; no real corpus was found"
    wanted = _sample(index, files)
    questions = _questions(folder() / "corpus_a.google.tsv.xz", wanted)
    found = [
        case
        for path, body in _bodies(folder() / "corpus_a.tar.xz", wanted)
        if (case := _case(path, body, questions[path])) is not None
    ]
    found.sort(key=lambda case: wanted[case.name])
    # Read from a table of many more rows, the URLs lie scattered over the heap, and fetching them
    # would cost more than a fast check of them. Copied, they lie side by side, for every engine.
    found = pickle.loads(pickle.dumps(found))
    return found, f"{len(found)} real files, {sum(len(c.body) for c in found):,} octets"


def _sample(index: Path, files: int) -> dict[str, str]:
    """path → sha256 of the first *files* files of kind robots in the order of their sha256."""
    rows = []
    with index.open(encoding="utf-8") as lines:
        for line in lines:
            sha256, _source, _host, octets, kind, path = line.rstrip("\n").split("\t")
            if kind == "robots" and int(octets) <= MOST_OCTETS:
                rows.append((sha256, path))
    return {path: sha256 for sha256, path in sorted(rows)[:files]}


def _bodies(archive: Path, wanted: dict[str, str]) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(archive, "r:xz") as members:
        for member in members:
            if member.name in wanted:
                stream = members.extractfile(member)
                if stream is not None:
                    yield member.name, stream.read()


def _questions(table: Path, wanted: dict[str, str]) -> dict[str, list[tuple[str, str, bool]]]:
    """path → (token, URL, allowed by google/robotstxt), in the table's order."""
    rows: dict[str, list[tuple[str, str, bool]]] = defaultdict(list)
    with lzma.open(table, "rt", encoding="utf-8", newline="\n") as lines:
        next(lines)
        for line in lines:
            path, rest = line.rstrip("\n").split("\t", 1)
            if path in wanted:
                token, url, verdict = rest.split("\t")[:3]
                rows[path].append((token, url, verdict == "allow"))
    return rows


def _case(path: str, body: bytes, rows: list[tuple[str, str, bool]]) -> Case | None:
    """
    One token for each file, as a crawler has one; which one is decided by the path's hash among
    those with enough questions, so that groups for named crawlers are asked for as well as `*`.
    """
    asked: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    for token, url, allowed in rows:
        asked[token].append((url, allowed))
    if not asked:
        return None
    most = max(len(questions) for questions in asked.values())
    tokens = sorted(t for t, questions in asked.items() if len(questions) >= min(URLS, most))
    token = tokens[hashlib.sha256(path.encode()).digest()[0] % len(tokens)]
    # Spread over the file's questions: neighbours in the table come from the same rule.
    step = max(1, len(asked[token]) // URLS)
    chosen = asked[token][::step][:URLS]
    many = tuple(dict.fromkeys(url for _, url, _ in rows))[:MANY]
    return Case(
        name=path,
        body=body,
        token=token,
        urls=tuple(url for url, _ in chosen),
        many=many,
        oracle=tuple(allowed for _, allowed in chosen),
    )
