"""Every requirement has a vector or a stated reason, and every decision has a vector."""

from __future__ import annotations

import re

import pytest
import suite

from robotrules.extensions.codes import CODES
from robotrules.linting import find_check
from robotrules.robotstxt.values import NOTES
from robotrules.tags.codes import CODES as TAG_CODES
from robotrules.tags.tdm import CODES as TDM_CODES

VECTORS = suite.load()
STATUSES = {"linted", "not-testable", "documented"}


def cited_requirements() -> set[str]:
    """Return the ids of all requirements that some vector cites."""
    return {name for vector in VECTORS for name in vector.requirements}


def cited_decisions(*profiles: str) -> set[str]:
    """Return the decisions that vectors of these profiles cite."""
    return {
        name
        for vector in VECTORS
        if vector.profile in profiles
        for name in vector.data.get("ambiguity", ())
    }


def test_number_of_requirements() -> None:
    """The list has every requirement of every document."""

    assert len(suite.load_requirements()) == 324


def test_every_requirement_has_a_vector_or_a_reason() -> None:
    """A requirement without a vector has a reason."""

    assert [
        name
        for name in suite.load_requirements()
        if name not in cited_requirements() and name not in suite.load_reasons()
    ] == []


def test_no_requirement_has_a_vector_and_a_reason() -> None:
    """A requirement with a vector has no reason."""

    assert sorted(cited_requirements() & set(suite.load_reasons())) == []


def test_reasons_are_for_known_requirements() -> None:
    """A reason is for a requirement of the list, with a known status and a text."""

    for name, entry in suite.load_reasons().items():
        assert name in suite.load_requirements()
        assert entry["status"] in STATUSES
        assert len(entry["reason"].split()) > 3


def test_linted_requirements_name_their_checks(capsys: pytest.CaptureFixture[str]) -> None:
    """A requirement for sites and not for crawlers is covered by checks of lint."""

    everything = list(suite.load_requirements())
    without_vector = [name for name in everything if name not in cited_requirements()]
    with capsys.disabled():
        covered = len(everything) - len(without_vector)
        print(f"\n{covered} of {len(everything)} requirements have vectors")
        for name in without_vector:
            print(f"  {name}: {suite.load_reasons()[name]['reason']}")

    for name in without_vector:
        entry = suite.load_reasons()[name]
        if entry["status"] == "linted":
            codes = re.findall(r"\bRR\d{3}\b", entry["reason"])
            assert codes, name
            assert all(find_check(code) for code in codes), name


def test_every_decision_has_a_vector() -> None:
    """Each decision on an ambiguity has a vector, or a reason why it has none."""

    cited = cited_decisions(*suite.PROFILES)

    for name, entry in suite.load_decisions().items():
        assert (name in cited) != ("status" in entry), name
        if "status" in entry:
            assert entry["status"] in STATUSES
            assert len(entry["reason"].split()) > 3


def test_no_decision_is_missing() -> None:
    """Every decision on an ambiguity is in the list, in the order of its number."""

    assert [f"AMB-{number:02}" for number in range(122)] == list(suite.load_decisions())


@pytest.mark.parametrize("profile", ["strict", "google"])
def test_decisions_of_a_profile_are_tested_with_default_too(profile: str) -> None:
    """A decision that a profile's vectors cite is cited by vectors of default too."""

    assert {"AMB-00"} >= cited_decisions(profile) - cited_decisions("default")


def test_every_note_has_a_vector() -> None:
    """Some vector produces each note of the parser."""

    produced = {code for vector in VECTORS for code in vector.data.get("notes", ())}

    assert sorted(set(NOTES) - produced) == []
    assert sorted(produced - set(NOTES)) == []


def test_every_note_of_an_extension_has_a_vector() -> None:
    """Some vector produces each note of the readers of extensions."""

    produced = {code for vector in VECTORS for code in vector.data.get("extension_notes", ())}
    for vector in VECTORS:
        for part in ("crawler", "app_directives"):
            produced |= {
                code for item in vector.data.get(part, ()) for code in item.get("codes", ())
            }

    assert sorted(set(CODES) - produced) == []
    assert sorted(produced - set(CODES)) == []


def expected_codes(*parts: str) -> set[str]:
    """Return the codes of notes that items of these parts expect."""
    items = [item for vector in VECTORS for part in parts for item in vector.data.get(part, ())]
    return {code for item in items for code in item.get("notes", ())}


def test_every_note_about_tags_has_a_vector() -> None:
    """Some vector produces each note of the readers of tags."""

    produced = expected_codes("usage", "guidance")

    # Text that is passed as headers and contains none.
    produced.add("no-field-line")

    assert sorted(set(TAG_CODES) - produced) == []
    assert sorted(produced - set(TAG_CODES)) == []


def test_every_note_about_reservations_has_a_vector() -> None:
    """Some vector produces each note about the carriers of a TDM reservation."""

    produced = expected_codes("tdm")

    assert sorted(set(TDM_CODES) - produced) == []
    assert sorted(produced - set(TDM_CODES)) == []
