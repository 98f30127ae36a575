"""Every requirement has a vector or a stated reason, and every decision is shown."""

from __future__ import annotations

import re

import pytest
import suite

from robotrules.extensions.codes import CODES
from robotrules.linting import find
from robotrules.robotstxt.values import NOTES
from robotrules.tags.codes import CODES as TAG_CODES
from robotrules.tags.tdm import CODES as TDM_CODES

VECTORS = suite.load()
STATUSES = {"linted", "not-testable", "documented"}


def cited() -> set[str]:
    """Return the ids of all requirements that some vector decides."""
    return {name for vector in VECTORS for name in vector.requirements}


def decided(*profiles: str) -> set[str]:
    """Return the decisions that vectors of these profiles show."""
    return {
        name
        for vector in VECTORS
        if vector.profile in profiles
        for name in vector.data.get("ambiguity", ())
    }


def test_the_list_is_whole() -> None:
    """The list has every requirement of every document."""

    assert len(suite.load_requirements()) == 324


def test_every_requirement_has_a_vector_or_a_reason() -> None:
    """A requirement without a vector says why."""

    assert [
        name
        for name in suite.load_requirements()
        if name not in cited() and name not in suite.load_reasons()
    ] == []


def test_no_requirement_has_both() -> None:
    """A reason goes when its vector comes."""

    assert sorted(cited() & set(suite.load_reasons())) == []


def test_reasons_are_for_known_requirements() -> None:
    """A reason names a requirement of the list, a status we know, and says something."""

    for name, entry in suite.load_reasons().items():
        assert name in suite.load_requirements()
        assert entry["status"] in STATUSES
        assert len(entry["reason"].split()) > 3


def test_what_is_built_is_covered(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing waits for later; what binds sites and not crawlers is reported by lint."""

    everything = list(suite.load_requirements())
    open_ones = [name for name in everything if name not in cited()]
    with capsys.disabled():
        covered = len(everything) - len(open_ones)
        print(f"\n{covered} of {len(everything)} requirements have vectors")
        for name in open_ones:
            print(f"  {name}: {suite.load_reasons()[name]['reason']}")

    for name in open_ones:
        entry = suite.load_reasons()[name]
        if entry["status"] == "linted":
            codes = re.findall(r"\bRR\d{3}\b", entry["reason"])
            assert codes, name
            assert all(find(code) for code in codes), name


def test_every_decision_has_a_vector() -> None:
    """Each decision on an open reading can be seen in some vector, or says why not."""

    shown = decided(*suite.PROFILES)

    for name, entry in suite.load_decisions().items():
        assert (name in shown) != ("status" in entry), name
        if "status" in entry:
            assert entry["status"] in STATUSES
            assert len(entry["reason"].split()) > 3


def test_no_decision_is_missing() -> None:
    """Every decision on an open reading is in the list, in the order of its number."""

    assert [f"AMB-{number:02}" for number in range(122)] == list(suite.load_decisions())


@pytest.mark.parametrize("profile", ["strict", "google"])
def test_profiles_are_tested_both_ways(profile: str) -> None:
    """What a profile's vectors show about a decision, default's vectors show too."""

    assert {"AMB-00"} >= decided(profile) - decided("default")


def test_every_note_has_a_vector() -> None:
    """A note that no vector produces is a note nobody has seen."""

    produced = {code for vector in VECTORS for code in vector.data.get("notes", ())}

    assert sorted(set(NOTES) - produced) == []
    assert sorted(produced - set(NOTES)) == []


def test_every_note_of_an_extension_has_a_vector() -> None:
    """The same holds for what the readers of extensions say, about a file or a crawler."""

    produced = {code for vector in VECTORS for code in vector.data.get("extension_notes", ())}
    for vector in VECTORS:
        for part in ("crawler", "app_directives"):
            produced |= {
                code for item in vector.data.get(part, ()) for code in item.get("codes", ())
            }

    assert sorted(set(CODES) - produced) == []
    assert sorted(produced - set(CODES)) == []


def noted(*parts: str) -> set[str]:
    """Return the codes of notes that items of these parts expect."""
    items = [item for vector in VECTORS for part in parts for item in vector.data.get(part, ())]
    return {code for item in items for code in item.get("notes", ())}


def test_every_note_about_tags_has_a_vector() -> None:
    """So it does for what the readers of tags say, about fields, elements and all carriers."""

    produced = noted("usage", "guidance")

    # What the library says about text that was handed to it as headers and is none.
    produced.add("no-field-line")

    assert sorted(set(TAG_CODES) - produced) == []
    assert sorted(produced - set(TAG_CODES)) == []


def test_every_note_about_reservations_has_a_vector() -> None:
    """And for what is said about the carriers of a TDM reservation."""

    produced = noted("tdm")

    assert sorted(set(TDM_CODES) - produced) == []
    assert sorted(produced - set(TDM_CODES)) == []
