"""The union of all carriers: standings, which rules lift others, and how much is kept."""

from __future__ import annotations

from typing import Any

import pytest

from robotrules.tags import BING, DEFAULT, GOOGLE, YANDEX, read_robots_tag, usage_rules
from robotrules.tags.codes import Carrier, PageState, TagSource, note
from robotrules.tags.header import TagStatement
from robotrules.tags.known_rules import Value
from robotrules.tags.profile import TagProfile
from robotrules.tags.rules import MAX_COMPARED, MAX_MENTIONS, RuleStatus, UnitedRules, unite

FIELD = TagSource(Carrier.X_ROBOTS_TAG, line=1)
META = TagSource(Carrier.META, element=1, state=PageState.INITIAL)
Told = tuple[TagStatement, TagSource]


def rule(name: str, value: Value | None = True, **given: Any) -> Told:
    """Return a rule of an element for all crawlers."""
    source = given.pop("source", META)
    return TagStatement("*", name, value, name, 0, 3, 9)._replace(**given), source


def united(*said: Told, profile: TagProfile = DEFAULT, **given: Any) -> UnitedRules:
    """Return the rules for ExampleBot."""
    return unite(said, ["examplebot"], profile, **given)


def standings(found: UnitedRules) -> dict[str, str]:
    """Return what became of each mention."""
    return {one.name: str(one.standing) for one in found.mentions}


@pytest.mark.parametrize(
    ("told", "name", "standing"),
    [
        (rule("noindex"), "noindex", RuleStatus.IN_FORCE),
        (rule("noindex", None), "noindex", RuleStatus.NOT_USED),
        (rule("noindex", recovered=True), "noindex", RuleStatus.IN_FORCE),
        (rule("shiny"), "shiny", RuleStatus.UNKNOWN),
        (rule("index"), "index", RuleStatus.NO_EFFECT),
        (rule("index", recovered=True), "index", RuleStatus.NOT_USED),
        (rule("max-snippet", -1), "max-snippet", RuleStatus.NO_EFFECT),
        (rule("max-snippet", 5), "max-snippet", RuleStatus.IN_FORCE),
        (rule("max-snippet", 0), "nosnippet", RuleStatus.IN_FORCE),
        (rule("max-video-preview", 0), "max-video-preview", RuleStatus.IN_FORCE),
        (rule("max-image-preview", "large"), "max-image-preview", RuleStatus.IN_FORCE),
        (
            rule("max-image-preview", "large", recovered=True),
            "max-image-preview",
            RuleStatus.NOT_USED,
        ),
    ],
)
def test_standings(told: Told, name: str, standing: RuleStatus) -> None:
    """What becomes of one rule."""
    found = united(told)
    assert standings(found) == {name: standing}
    assert [one for one, _ in found.values] == ([name] if standing is RuleStatus.IN_FORCE else [])


def test_a_mention_has_its_place() -> None:
    """Its crawler, as written, and its position."""
    found = united(rule("noindex", token="examplebot", text="NoIndex"))
    (mention,) = found.mentions
    assert mention == (*("noindex", True, "in-force", "examplebot", "NoIndex", META), 3, 9)


def test_rules_that_a_registry_adds() -> None:
    """They are plain rules."""
    found = united(rule("shiny"), more=frozenset({"shiny"}))
    assert (found.values, found.notes) == ((("shiny", True),), ())


def test_what_a_profile_does_not_act_on() -> None:
    """It is known, and has no effect."""
    assert standings(united(rule("noarchive"), profile=GOOGLE)) == {"noarchive": "no-effect"}


def test_the_stricter_value_counts() -> None:
    """Whichever comes first."""
    for order in ((5, 3), (3, 5), (3, 3)):
        found = united(*(rule("max-snippet", value) for value in order))
        assert found.values == (("max-snippet", 3),)
        assert len(found.mentions) == 2


def test_others() -> None:
    """Each is named once, without its rules."""
    said = [rule("noindex", token=name) for name in ("b", "a", "b")]
    assert united(*said) == UnitedRules((), (), ("b", "a"), ())
    many = (rule("noindex", token=f"bot{number}") for number in range(MAX_MENTIONS + 5))
    assert len(united(*many).others) == MAX_MENTIONS


class TestUnknown:
    """Unknown rules are noted once each."""

    def test_notes(self) -> None:
        """A slip looks like a known one."""
        found = united(rule("no-index"), rule("shiny"), rule("shiny", start=20, end=25))
        assert found.notes == (
            note("misspelt-rule", META, 3, 9),
            note("unknown-rule", META, 3, 9),
        )
        assert len(found.mentions) == 3

    def test_their_number(self) -> None:
        """So many are compared, and so many are kept."""
        said = [rule(f"{'q' * number}") for number in range(1, MAX_COMPARED)]
        for extra, code in ((0, "misspelt-rule"), (1, "unknown-rule")):
            more = [rule("q-q")] * extra
            found = united(*said, *more, rule("no-index"))
            assert found.notes[-1].code == code
        many = [rule(f"q{number}") for number in range(MAX_MENTIONS + 5)]
        found = united(*many)
        assert (len(found.notes), len(found.mentions)) == (MAX_MENTIONS, MAX_MENTIONS)


def test_of_many_mentions_those_that_change_something_are_kept() -> None:
    """A rule in force has at least one."""
    many = [rule("noindex")] * MAX_MENTIONS
    found = united(*many, rule("noindex"), rule("max-snippet", 5), rule("max-snippet", 5))
    assert [one.name for one in found.mentions[MAX_MENTIONS:]] == ["max-snippet"]
    assert found.values == (("noindex", True), ("max-snippet", 5))
    found = united(*many, rule("max-snippet", 5), rule("max-snippet", 3))
    assert [one.value for one in found.mentions[MAX_MENTIONS:]] == [5, 3]


class TestLifted:
    """What has no effect beside others, in some profiles."""

    def test_embedding(self) -> None:
        """`indexifembedded` has an effect only together with `noindex` (XRT-14)."""
        assert standings(united(rule("indexifembedded"))) == {"indexifembedded": "no-effect"}
        assert united(rule("indexifembedded")).values == ()
        both = united(rule("noindex"), rule("indexifembedded"))
        assert dict(both.values) == {"noindex": True, "indexifembedded": True}
        assert dict(united(rule("nofollow")).values) == {"nofollow": True}

    def test_nocache(self) -> None:
        """Beside `noarchive` it leaves `nocache` to Bing (VEN-05), if that is sure."""
        said = rule("noarchive"), rule("nocache")
        assert dict(united(*said, profile=BING).values) == {"nocache": True}
        assert standings(united(*said, profile=BING)) == {
            "noarchive": "no-effect",
            "nocache": "in-force",
        }
        assert len(united(*said).values) == 2
        assert dict(united(rule("nocache"), profile=BING).values) == {"nocache": True}
        assert dict(united(rule("noarchive"), profile=BING).values) == {"noarchive": True}
        unsure = rule("noarchive"), rule("nocache", recovered=True)
        assert len(united(*unsure, profile=BING).values) == 2

    def test_what_permits(self) -> None:
        """For Yandex an element lifts what another forbids; a field stays (VEN-09)."""
        said = rule("noindex"), rule("nofollow"), rule("index")
        assert dict(united(*said, profile=YANDEX).values) == {"nofollow": True}
        assert len(united(*said).values) == 2
        field = rule("noindex", source=FIELD)
        assert dict(united(field, rule("index"), profile=YANDEX).values) == {"noindex": True}
        in_field = rule("index", source=FIELD)
        assert dict(united(rule("noindex"), in_field, profile=YANDEX).values) == {"noindex": True}
        unused = rule("index", recovered=True)
        assert dict(united(rule("noindex"), unused, profile=YANDEX).values) == {"noindex": True}
        assert united(rule("noarchive"), rule("all"), profile=YANDEX).values == ()

    def test_two_reasons(self) -> None:
        """Each lifts its own."""
        profile = YANDEX.replace(nocache_over_noarchive=True)
        said = rule("noarchive"), rule("nocache"), rule("nofollow"), rule("follow")
        assert dict(united(*said, profile=profile).values) == {"nocache": True}


def test_rules_of_one_state_of_a_page() -> None:
    """A note has the position of an element that only the initial HTML, or the final DOM, has."""
    found = usage_rules(
        html="<meta name=robots content=noindex>",
        dom="<meta name=a><meta name=robots content=noai>",
    )
    notes = {one.code: one.source for one in found.notes if one.code.startswith("only-in")}
    assert notes == {
        "only-in-initial-html": TagSource(Carrier.META, element=1, state=PageState.INITIAL),
        "only-in-final-dom": TagSource(Carrier.META, element=2, state=PageState.FINAL),
    }


def test_a_field_of_another_type() -> None:
    """The error describes what a field is."""
    wrong: Any = 5
    with pytest.raises(TypeError) as told:
        read_robots_tag(wrong)
    assert str(told.value) == "Robots-Tag is str or bytes, or a list of its lines; not 5"
