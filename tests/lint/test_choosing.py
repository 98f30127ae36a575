"""Choosing: which checks run, by code, by the beginning of codes, and by slug."""

from __future__ import annotations

import pytest

from robotrules.errors import CheckError
from robotrules.linting import CHECKS, chosen, find, lint


def codes(select: tuple[str, ...] = (), ignore: tuple[str, ...] = ()) -> list[str]:
    """Return the codes of the checks that are chosen."""
    return [check.code for check in chosen(select, ignore)]


def test_without_a_choice_all_run() -> None:
    """Nothing selected is everything, and so is `ALL`."""
    every = [check.code for check in CHECKS]
    assert codes() == every
    assert codes(("ALL",)) == every
    assert codes(("all",), ("all",)) == []


def test_by_code_slug_and_beginning() -> None:
    """Case and whitespace do not matter; the order is that of codes."""
    assert codes(("RR505", "bom")) == ["RR101", "RR505"]
    assert codes((" rr505 ", "Pattern-Start")) == ["RR505"]
    assert codes(("RR9",)) == [check.code for check in CHECKS if check.code.startswith("RR9")]
    assert codes(("RR",)) == codes()


def test_what_is_ignored_does_not_run() -> None:
    """Ignoring wins over selecting."""
    assert codes(("RR1",), ("bom",)) == [code for code in codes(("RR1",)) if code != "RR101"]
    assert "RR505" not in codes((), ("RR505",))
    assert codes(("bom",), ("RR1",)) == []


@pytest.mark.parametrize("name", ["RR999", "dead", "no-such-check", "", " ", "X"])
def test_a_name_that_is_nobodys(name: str) -> None:
    """The error says which list names what, and how to find the right one."""
    with pytest.raises(CheckError, match=r"select names .* which is not a check"):
        chosen([name])
    with pytest.raises(CheckError, match="ignore names"):
        chosen((), [name])


def test_the_error_has_a_cure() -> None:
    """A near name is offered; where there is none, the list of all."""
    with pytest.raises(CheckError, match=r"did you mean RR505 \(pattern-start\)\?"):
        chosen(["patern-start"])
    with pytest.raises(CheckError, match="robotrules rule --all"):
        chosen(["zzzzzzzz"])


def test_a_string_is_no_list() -> None:
    """The usual slip: a name where a list of names belongs."""
    with pytest.raises(TypeError, match=r"pass \['bom'\]"):
        chosen("bom")
    with pytest.raises(TypeError, match="ignore is a list"):
        lint(b"", ignore="bom")


def test_finding_one() -> None:
    """By code or slug; the beginning of a code is no check."""
    check = find("bom")
    assert check is not None
    assert find(" rr101 ") is check
    assert find("BOM") is check
    assert find("RR1") is None
    assert find("") is None


def test_only_what_is_chosen_reports() -> None:
    """Lint runs what it is told to."""
    body = b"\xef\xbb\xbfUser-agent: *\nDisallow: a\n"
    assert {note.slug for note in lint(body, select=["bom"])} == {"bom"}
    assert {note.slug for note in lint(body, select=["bom", "RR505"], ignore=["RR1"])} == {
        "pattern-start"
    }
