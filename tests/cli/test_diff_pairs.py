"""
Twenty pairs of files in `examples/diffs`: ten only look different, ten only look alike.

Each pair has `old.txt`, `new.txt`, a sentence on the trap in `why.txt`, and in `expected.txt` what
the command prints in a pipe. What is claimed is checked with the matcher, which knows nothing of
automata.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import robotrules as library
from robotrules.analysis import compare
from tests.cli.shell import robotrules

PAIRS = Path(__file__).parent.parent.parent / "examples" / "diffs"
SAME = sorted((PAIRS / "same").iterdir())
DIFFERENT = sorted((PAIRS / "different").iterdir())
# The output fits on one screen without scrolling.
SCREEN = 40


def name(pair: Path) -> str:
    """Return the test id of a pair."""
    return f"{pair.parent.name}-{pair.name}"


def files(pair: Path) -> list[str]:
    """Return the paths of both files."""
    return [str(pair / "old.txt"), str(pair / "new.txt")]


@pytest.mark.parametrize("pair", [*SAME, *DIFFERENT], ids=name)
def test_a_pair_matches_its_transcript(pair: Path) -> None:
    """The transcript of a pair is the output of the command, within a screen of 80 columns."""
    ran = robotrules("diff", *files(pair))
    shown = f"$ robotrules diff old.txt new.txt\n{ran.out}exit {ran.code}\n"
    assert shown == (pair / "expected.txt").read_text(encoding="utf-8")
    assert ran.err == ""
    assert ran.out.count("\n") <= SCREEN
    assert max(map(len, ran.out.splitlines())) <= 80


@pytest.mark.parametrize("pair", SAME, ids=name)
def test_texts_differ_and_meanings_agree(pair: Path) -> None:
    """It is proved that both mean the same: exit code 0, in every form."""
    old, new = files(pair)
    assert Path(old).read_bytes() != Path(new).read_bytes()
    ran = robotrules("diff", old, new)
    assert ran.code == 0
    assert ran.out.startswith("Same meaning: proved for ")
    assert robotrules("diff", new, old).code == 0
    values = json.loads(robotrules("diff", old, new, "--json").out)
    assert values["equal"] is True
    assert values["complete"] is True
    assert all(change["complete"] and not change["regions"] for change in values["changes"])
    assert robotrules("diff", old, new, "--markdown").out.startswith("### ✅ robots.txt: same m")


@pytest.mark.parametrize("pair", DIFFERENT, ids=name)
def test_meanings_differ_and_a_url_shows_it(pair: Path) -> None:
    """Each witness gets another verdict, from the lines that are claimed: exit code 1."""
    old, new = files(pair)
    ran = robotrules("diff", old, new, "--json")
    assert ran.code == 1
    values = json.loads(ran.out)
    assert values["equal"] is False
    parsed = [library.parse(Path(file).read_bytes()) for file in (old, new)]
    regions = 0
    for change in values["changes"]:
        for crawler in change["crawlers"]:
            who = crawler["product_token"], crawler["purposes"]
            for region in change["regions"]:
                regions += 1
                url = region["witness"]["url"]
                for robots, said in zip(parsed, ("old", "new"), strict=True):
                    verdict = robots.check(url, who[0], purposes=who[1])
                    assert verdict.as_dict() == region[said]
                assert region["old"]["allowed"] is not region["new"]["allowed"]
    assert regions or values["statements"]
    assert robotrules("diff", new, old).code == 1
    assert robotrules("diff", old, new, "--markdown").out.startswith("### ⚠️ robots.txt: different")


@pytest.mark.parametrize("pair", [*SAME, *DIFFERENT], ids=name)
def test_engines_agree(pair: Path, engine: ModuleType) -> None:
    """Both engines give the same answer."""
    parsed = [library.parse(Path(file).read_bytes(), engine=engine) for file in files(pair)]
    found: dict[str, Any] = compare(*parsed).as_dict()
    shown = json.loads(robotrules("diff", *files(pair), "--json").out)
    for change in (*shown["changes"], *found["changes"]):
        change.pop("states")
        for region in change["regions"]:
            region.pop("unchanged", None)
            region.pop("unchanged_complete", None)
    assert shown["changes"] == found["changes"]
    assert shown["statements"] == found["statements"]


def test_there_are_ten_of_each() -> None:
    """Ten and ten, each with a different trap that is described in one line."""
    assert len(SAME) == len(DIFFERENT) == 10
    traps = [(pair / "why.txt").read_text(encoding="utf-8") for pair in (*SAME, *DIFFERENT)]
    assert all(trap.count("\n") == 1 and trap.endswith(".\n") for trap in traps)
    assert len(set(traps)) == 20


@pytest.mark.parametrize("pair", [SAME[6], DIFFERENT[6]], ids=name)
def test_the_tour_shows_a_pair(pair: Path) -> None:
    """The tour shows the output of the command for these two, with or without joined lines."""
    page = (PAIRS.parent.parent / "docs" / "tour.md").read_text(encoding="utf-8")
    shown = (pair / "expected.txt").read_text(encoding="utf-8").rpartition("exit")[0]
    assert f"examples/diffs/{pair.parent.name}/{pair.name}" in page
    assert " ".join(shown.split()) in " ".join(page.split())
