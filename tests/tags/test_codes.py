"""The source of a tag rule, as words and as plain values."""

from __future__ import annotations

import pytest

from robotrules.tags.codes import Carrier, PageState, TagSource, note


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (TagSource(Carrier.ROBOTS_TAG, line=2), "Robots-Tag line 2"),
        (TagSource(Carrier.X_ROBOTS_TAG), "X-Robots-Tag"),
        (TagSource(Carrier.META, element=3, state=PageState.INITIAL), "meta element 3"),
        (
            TagSource(Carrier.META, element=3, state=PageState.FINAL),
            "meta element 3 of the final DOM",
        ),
    ],
)
def test_words(source: TagSource, words: str) -> None:
    """A field has a line, if that is known; an element is of one of two states."""
    assert str(source) == words


def test_plain_values() -> None:
    """Every field by its name, with JSON types only."""
    source = TagSource(Carrier.META, element=3, state=PageState.FINAL, over_tls=True)
    assert source.as_dict() == {
        "carrier": str(Carrier.META),
        "line": None,
        "element": 3,
        "state": str(PageState.FINAL),
        "over_tls": True,
    }
    assert TagSource(Carrier.ROBOTS_TAG, line=1).as_dict()["state"] is None
    assert type(source.as_dict()["state"]) is str


def test_notes_as_plain_values() -> None:
    """About a carrier, or about the page as a whole."""
    source = TagSource(Carrier.ROBOTS_TAG, line=1)
    told = note("bad-value", source, 2, 5).as_dict()
    assert (told["source"], told["start"], told["end"]) == (source.as_dict(), 2, 5)
    assert note("head-not-final").as_dict()["source"] is None
