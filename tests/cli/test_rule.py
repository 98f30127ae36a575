"""`robotrules rule`: the layout of a check's text; the transcript shows the output."""

from __future__ import annotations

import json
from unittest import mock

import pytest

from robotrules.linting import CHECKS, Check
from robotrules.linting.check_docs import LAYERS, PARTS, parts
from tests.cli.shell import Ran, robotrules


def rule(*arguments: str, terminals: tuple[str, ...] = ()) -> Ran:
    """Run the command."""
    return robotrules("rule", *arguments, terminals=terminals)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.slug)
def test_every_check_can_be_read(check: Check) -> None:
    """Its text is complete, and no line is too long unless it cannot be wrapped."""
    ran = rule(check.code)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"{check.code} {check.slug}\n{check.level}: ")
    lines = ran.out.split("\n")
    assert all(heading in lines for heading in PARTS)
    said = [" ".join(text.split()) for text in parts(check).values()]
    flat = " ".join(ran.out.split())
    assert all(text in flat for text in said)
    for line in lines:
        assert len(line) <= 100 or line.startswith("      ") or " " not in line.strip()


def test_by_slug_in_any_case_and_once() -> None:
    """A check that is named twice is shown once."""
    assert rule("rr505", "Pattern-Start").out == rule("RR505").out


def test_samples_are_not_wrapped() -> None:
    """They are indented, line by line as in a file."""
    assert "Example\n      User-agent: *\n      Disallow: private/\n" in rule("RR505").out


def test_a_list_stays_one() -> None:
    """Items begin on lines of their own."""
    said = {"What it finds": "One of:\n\n- a thing that\n  goes on\n- another\n\n    Sample: x"}
    with mock.patch("robotrules.cli.rule.parts", return_value=said):
        out = rule("RR505").out
    assert "  One of:\n\n  - a thing that goes on\n  - another\n\n      Sample: x\n" in out


def test_all() -> None:
    """By layer, each with its code, name and level."""
    ran = rule("--all")
    assert ran.code == 0
    lines = [line for line in ran.out.split("\n") if line.startswith("  ")]
    assert [line.split() for line in lines] == [
        [check.code, check.slug, check.level] for check in CHECKS
    ]
    headings = [line for line in ran.out.split("\n") if line and not line.startswith(" ")]
    assert headings == [
        name for digit, name in LAYERS.items() if any(one.code[2] == digit for one in CHECKS)
    ]


def test_json() -> None:
    """The same for programs; all of them with --all."""
    [check] = json.loads(rule("RR505", "--json").out)["checks"]
    assert check["code"] == "RR505"
    assert check["layer"] == "rules"
    assert tuple(check["teaching"]) == PARTS
    everything = json.loads(rule("--all", "--json").out)
    assert everything["schema"] == 1
    assert [one["slug"] for one in everything["checks"]] == [one.slug for one in CHECKS]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("dead-rul", "did you mean RR501 (dead-rule)?"),
        ("rr5011", "did you mean RR501 (dead-rule)?"),
        ("RR50l", "'RR50l' is not a check: see robotrules rule --all"),
        ("\x1b[31mnonsense", "'\\x1b[31mnonsense' is not a check: see robotrules rule --all"),
        ("", "'' is not a check: see robotrules rule --all"),
    ],
)
def test_a_name_that_no_check_has(name: str, hint: str) -> None:
    """A one-line error with similar names."""
    ran = rule("RR505", name)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert hint in ran.err


def test_the_beginning_of_codes_lists_those() -> None:
    """As `--all` does; in JSON they are the same values as always."""
    ran = rule("RR9")
    assert (ran.code, ran.err) == (0, "")
    assert [line.split()[0] for line in ran.out.splitlines()[1:]] == ["RR901", "RR902", "RR903"]
    assert rule("rr").out == rule("--all").out
    assert rule("RR9", "--json").out == rule("RR901", "RR902", "RR903", "--json").out
    assert rule("RR9", "RR901").out == rule("RR901", "RR902", "RR903").out


@pytest.mark.parametrize("arguments", [(), ("--all", "RR505")])
def test_usage(arguments: tuple[str, ...]) -> None:
    """Names, or all of them."""
    ran = rule(*arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


def test_headings_are_bold_on_a_terminal() -> None:
    """And nowhere else."""
    assert "\x1b[1mWhy it matters\x1b[0m" in rule("RR505", terminals=("stdout",)).out
    assert "\x1b" not in rule("RR505").out
