"""What fuzzing found once stays found: every regression, and two thousand cases more."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from fuzz import nasty, run
from fuzz.nasty import Case
from fuzz.targets import TARGETS

REGRESSIONS = sorted((Path(run.__file__).parent / "regressions").glob("*.json"))
FILES = run.seeds()


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_a_regression(path: Path) -> None:
    """An invariant that was broken once holds now, and so do the others on that case."""
    text = path.read_text(encoding="utf-8")
    case = Case.load(text)
    TARGETS[json.loads(text)["target"]](case)
    for check in TARGETS.values():
        check(case)


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_a_regression_says_what_was_wrong(path: Path) -> None:
    """A regression names its target and tells its story; writing it again changes nothing."""
    text = path.read_text(encoding="utf-8")
    told = json.loads(text)
    assert told["target"] in TARGETS
    assert told["comment"].endswith(".")
    assert json.loads(Case.load(text).dump(target=told["target"], comment=told["comment"])) == told


# Two thousand in all; a case of `index` is many questions.
CASES = dict.fromkeys(("agree", "spans", "total"), 500) | dict.fromkeys(("index", "tags"), 100)
CASES |= {"extensions": 200, "pickles": 300}
# What looks at a whole file many times is given fewer; the long runs are for `make fuzz`.
CASES |= dict.fromkeys(("fix", "lint", "lsp"), 25)
CASES |= dict.fromkeys(("compare", "fmt", "matrix", "simplify"), 50)


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_generated_cases(name: str) -> None:
    """Some hundred cases of each target, the same every time, break nothing."""
    for number in range(CASES[name]):
        case = nasty.case(Random(f"{name}/{number}"), FILES)
        broken = run.failure(TARGETS[name], case)
        assert broken is None, f"{case}\n{broken}"


def test_a_target_says_its_invariant_in_its_first_line() -> None:
    """The first line of a target is one sentence: its invariant."""
    for path in (Path(run.__file__).parent / "targets").glob("[!_]*.py"):
        first = path.read_text(encoding="utf-8").splitlines()[0]
        assert first.startswith('"""'), path.name
        assert first.endswith('."""'), path.name
        assert path.stem in TARGETS


def test_a_seed_names_a_case_for_ever() -> None:
    """The generator depends on its seed and on nothing else."""
    one, other = (nasty.case(Random("7/1"), FILES) for _ in range(2))
    assert one == other
    assert nasty.mutate(Random(1), one.body) == nasty.mutate(Random(1), one.body)


def test_a_broken_case_is_made_smaller(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The runner finds what breaks a target, makes it small, and writes it down."""

    def no_star(case: Case) -> None:
        assert b"*" not in case.body

    monkeypatch.setitem(TARGETS, "star", no_star)
    monkeypatch.setattr(run, "HERE", tmp_path)
    (tmp_path / "regressions").mkdir()
    (tmp_path / "seeds").mkdir()
    assert run.run(["star"], seed=1, cases=30, seconds=60) > 0
    for path in (tmp_path / "regressions").iterdir():
        assert Case.load(path.read_text(encoding="utf-8")).body == b"*"
