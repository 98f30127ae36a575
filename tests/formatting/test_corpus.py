"""
Real files: formatting keeps meaning and comments, and is idempotent.

The collection is not part of the repository: see `tests/test_corpus.py`. Every fourth file is
used; with `ROBOTRULES_WHOLE_CORPUS=1` all are.
"""

from __future__ import annotations

import os
import re
from collections import Counter

import pytest

from robotrules import parse
from robotrules.analysis import compare
from robotrules.formatting import format_robots
from robotrules.profile import PROFILES
from tests.test_corpus import FOLDER, bodies, pytestmark

__all__ = ["pytestmark"]

EVERY = 1 if os.environ.get("ROBOTRULES_WHOLE_CORPUS", "") not in ("", "0") else 4


def comments(body: bytes) -> list[bytes]:
    """Return the text of comments, without whitespace at their ends."""
    return [text[1:].strip(b" \t") for text in re.findall(rb"#[^\r\n]*", body)]


def same_meaning(old: bytes, new: bytes) -> bool:
    """Return whether files mean the same under every profile: the same records, or a proof."""
    for profile in PROFILES:
        files = [parse(body, profile) for body in (old, new)]
        was, now = (
            [(one.key, one.value, one.role, one.group) for one in robots.records]
            for robots in files
        )
        if was != now and compare(*files, max_regions=1).equal is not True:
            return False
    return True


def test_real_files(capsys: pytest.CaptureFixture[str]) -> None:
    """The same records or a proof, the same comments, a final form; a reason for each refusal."""
    assert FOLDER.exists()
    found: Counter[str] = Counter()
    for number, (path, body) in enumerate(bodies()):
        if number % EVERY:
            continue
        found["files"] += 1
        formatted = format_robots(parse(body))
        if formatted.refused:
            assert formatted.body == body, path
            found[f"refused, {formatted.refused}"] += 1
            continue
        assert formatted.proved, path
        if not formatted.changed:
            found["as they were"] += 1
            continue
        found["changed"] += 1
        assert same_meaning(body, formatted.body), path
        assert comments(body) == comments(formatted.body), path
        again = format_robots(parse(formatted.body))
        assert (again.body, again.refused) == (formatted.body, ""), path
    with capsys.disabled():
        print("\n" + "; ".join(f"{count:,} {what}" for what, count in found.most_common()))
    assert found["files"] > 11_000 // EVERY
    assert not any("proved" in what for what in found)
