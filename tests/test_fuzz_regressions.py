"""Every fuzzing regression, and two thousand generated cases."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from fuzz import generator, run
from fuzz.generator import Case
from fuzz.targets import TARGETS

REGRESSIONS = sorted((Path(run.__file__).parent / "regressions").glob("*.json"))
FILES = run.seeds()


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_a_regression(path: Path) -> None:
    """The invariant that the case broke holds now, and so do all other invariants."""
    text = path.read_text(encoding="utf-8")
    case = Case.load(text)
    TARGETS[json.loads(text)["target"]](case)
    for check in TARGETS.values():
        check(case)


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_a_regression_has_a_comment(path: Path) -> None:
    """A regression has a target and a comment, and survives a round trip."""
    text = path.read_text(encoding="utf-8")
    values = json.loads(text)
    target, comment = values["target"], values["comment"]
    assert target in TARGETS
    assert comment.endswith(".")
    assert json.loads(Case.load(text).dump(target=target, comment=comment)) == values


# Two thousand in all; a case of `index` decides many URLs.
CASES = dict.fromkeys(("agree", "spans", "total"), 500) | dict.fromkeys(("index", "tags"), 100)
CASES |= {"columns": 100, "extensions": 200, "pickles": 300}
# Slow targets get fewer cases; `make fuzz` runs longer.
CASES |= dict.fromkeys(("fix", "lint", "lsp"), 25)
CASES |= dict.fromkeys(("compare", "fmt", "matrix", "simplify"), 50)


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_generated_cases(name: str) -> None:
    """Some hundred cases of each target, the same in every run, break no invariant."""
    for number in range(CASES[name]):
        case = generator.generate_case(Random(f"{name}/{number}"), FILES)
        broken = run.find_failure(TARGETS[name], case)
        assert broken is None, f"{case}\n{broken}"


def test_the_first_line_of_a_target_is_its_invariant() -> None:
    """The first line of a target is one sentence: its invariant."""
    for path in (Path(run.__file__).parent / "targets").glob("[!_]*.py"):
        first = path.read_text(encoding="utf-8").splitlines()[0]
        assert first.startswith('"""'), path.name
        assert first.endswith('."""'), path.name
        assert path.stem in TARGETS


def test_a_seed_always_produces_the_same_case() -> None:
    """The generator depends only on its seed."""
    one, other = (generator.generate_case(Random("7/1"), FILES) for _ in range(2))
    assert one == other
    assert generator.mutate(Random(1), one.body) == generator.mutate(Random(1), one.body)


def test_a_failing_case_is_shrunk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The runner finds a case that breaks a target, shrinks it, and writes it to a file."""

    def no_star(case: Case) -> None:
        assert b"*" not in case.body

    monkeypatch.setitem(TARGETS, "star", no_star)
    monkeypatch.setattr(run, "HERE", tmp_path)
    (tmp_path / "regressions").mkdir()
    (tmp_path / "seeds").mkdir()
    assert run.run(["star"], seed=1, cases=30, seconds=60) > 0
    for path in (tmp_path / "regressions").iterdir():
        assert Case.load(path.read_text(encoding="utf-8")).body == b"*"
