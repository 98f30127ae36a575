"""Selection: checks by code, code prefix, and slug."""

from __future__ import annotations

import pytest

from robotrules.errors import CheckError
from robotrules.linting import CHECKS, find_check, lint, select_checks


def codes(select: tuple[str, ...] = (), ignore: tuple[str, ...] = ()) -> list[str]:
    """Return the codes of the selected checks."""
    return [check.code for check in select_checks(select, ignore)]


def test_without_a_selection_all_run() -> None:
    """An empty selection means all checks, and so does `ALL`."""
    every = [check.code for check in CHECKS]
    assert codes() == every
    assert codes(("ALL",)) == every
    assert codes(("all",), ("all",)) == []


def test_by_code_slug_and_prefix() -> None:
    """Case and whitespace are ignored; the order is that of codes."""
    assert codes(("RR505", "bom")) == ["RR101", "RR505"]
    assert codes((" rr505 ", "Pattern-Start")) == ["RR505"]
    assert codes(("RR9",)) == [check.code for check in CHECKS if check.code.startswith("RR9")]
    assert codes(("RR",)) == codes()


def test_ignored_checks_do_not_run() -> None:
    """`ignore` wins over `select`."""
    assert codes(("RR1",), ("bom",)) == [code for code in codes(("RR1",)) if code != "RR101"]
    assert "RR505" not in codes((), ("RR505",))
    assert codes(("bom",), ("RR1",)) == []


@pytest.mark.parametrize("name", ["RR999", "dead", "no-such-check", "", " ", "X"])
def test_an_unknown_name_raises(name: str) -> None:
    """The error names the option and the value, and how to find the right one."""
    with pytest.raises(CheckError, match=r"select names .* which is not a check"):
        select_checks([name])
    with pytest.raises(CheckError, match="ignore names"):
        select_checks((), [name])


def test_the_error_suggests_a_name() -> None:
    """It suggests a similar name, or the list of all checks."""
    with pytest.raises(CheckError, match=r"did you mean RR505 \(pattern-start\)\?"):
        select_checks(["patern-start"])
    with pytest.raises(CheckError, match="robotrules rule --all"):
        select_checks(["zzzzzzzz"])


def test_a_string_is_not_a_list() -> None:
    """A single string instead of a list of names raises TypeError."""
    with pytest.raises(TypeError, match=r"pass \['bom'\]"):
        select_checks("bom")
    with pytest.raises(TypeError, match="ignore is a list"):
        lint(b"", ignore="bom")


def test_find() -> None:
    """By code or slug; a code prefix is not a check."""
    check = find_check("bom")
    assert check is not None
    assert find_check(" rr101 ") is check
    assert find_check("BOM") is check
    assert find_check("RR1") is None
    assert find_check("") is None


def test_only_selected_checks_report() -> None:
    """Lint runs only the selected checks."""
    body = b"\xef\xbb\xbfUser-agent: *\nDisallow: a\n"
    assert {note.slug for note in lint(body, select=["bom"])} == {"bom"}
    assert {note.slug for note in lint(body, select=["bom", "RR505"], ignore=["RR1"])} == {
        "pattern-start"
    }
