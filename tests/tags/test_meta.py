"""Robots meta elements: rules in their contents, their crawlers, and how many are read."""

from __future__ import annotations

from typing import Any

import pytest

from robotrules.tags import DEFAULT, GOOGLE, STRICT
from robotrules.tags import meta as reading
from robotrules.tags.codes import Carrier, PageState, TagSource, note
from robotrules.tags.header import CUT, MAX_CACHED_LENGTH, TagStatement
from robotrules.tags.html import ElementPosition, Meta, Page
from robotrules.tags.meta import (
    MAX_CONTENTS,
    MAX_NOTES,
    MAX_OTHERS,
    MetaRule,
    PageRules,
    parse_content,
    read_page_rules,
)
from robotrules.tags.profile import TagProfile

LIMIT = 8192
SMALL = DEFAULT.replace(max_field_bytes=LIMIT)
NO_BREAK = "\u00a0"  # white space to Python, and none to HTML


def element(name: str | None, content: str | None, number: int = 1, **given: Any) -> Meta:
    """Return a meta element of the head."""
    return Meta(name, content, None, None, None, ElementPosition.HEAD, number)._replace(**given)


def says(*metas: Meta, profile: TagProfile = DEFAULT, **given: Any) -> PageRules:
    """Return the rules of elements for ExampleBot."""
    page = Page(metas, None, True, 0)
    return read_page_rules(page, PageState.INITIAL, ["examplebot", "kbot"], profile, **given)


def source(number: int = 1) -> TagSource:
    """Return where an element is."""
    return TagSource(Carrier.META, None, number, PageState.INITIAL)


class TestContents:
    """Words with commas between; with tolerance, with spaces."""

    def test_words(self) -> None:
        """Each has its value, its text and its place."""
        assert parse_content("NoIndex, max-snippet: 5", DEFAULT) == (
            (
                MetaRule("noindex", True, "NoIndex", 0, 7),
                MetaRule("max-snippet", 5, "max-snippet: 5", 9, 23),
            ),
            (),
        )

    def test_spaces(self) -> None:
        """They separate words if the profile has that switch, and it is noted."""
        content = "noindex max-snippet:x"
        assert parse_content(content, DEFAULT) == (
            (
                MetaRule("noindex", True, "noindex", 0, 7),
                MetaRule("max-snippet", None, "max-snippet:x", 8, 21),
            ),
            (("space-separated", 8, 21), ("bad-value", 8, 21)),
        )
        (rule,), odd = parse_content("noindex nofollow", STRICT)
        assert (rule.name, odd) == ("noindex nofollow", ())

    def test_a_colon_does_not_set_a_scope(self) -> None:
        """In an element it separates a word from its value; unknown words have no noted value."""
        (rule,), odd = parse_content("googlebot: noindex", DEFAULT)
        assert (rule.name, rule.value, odd) == ("googlebot", True, ())

    def test_none(self) -> None:
        """It means several other rules."""
        rules, _ = parse_content("none", DEFAULT)
        assert [rule.name for rule in rules] == ["noindex", "nofollow"]

    def test_the_limit(self) -> None:
        """What is longer is cut at the last comma before the limit."""
        fits = "noindex,nofollow".ljust(LIMIT)
        assert parse_content(fits, SMALL)[1] == ()
        rules, odd = parse_content("noindex, nofollow, nosnippet".ljust(LIMIT) + ",noai", SMALL)
        assert [rule.name for rule in rules] == ["noindex", "nofollow"]
        assert odd == ((CUT, LIMIT, LIMIT + 5),)
        rules, odd = parse_content("x" * (LIMIT + 1), SMALL)
        assert (rules, odd) == ((), ((CUT, LIMIT, LIMIT + 1),))

    def test_what_is_long_is_not_remembered(self) -> None:
        """Strangers must not fill the memory."""
        parse_content("noindex", DEFAULT)
        before = reading._parse_content_cached.cache_info()
        parse_content("noindex".ljust(MAX_CACHED_LENGTH + 1), DEFAULT)
        assert reading._parse_content_cached.cache_info() == before


class TestWhatPermits:
    """A rule that permits counts where the grammar has it, and not by tolerance (AMB-67)."""

    @pytest.mark.parametrize(
        ("content", "recovered"),
        [
            ("index", {"index": False}),
            ("noindex nofollow, index", {"noindex": False, "nofollow": False, "index": False}),
            ("noindex index", {"noindex": False, "index": True}),
            (
                "a b, none, index",
                {"a": False, "b": False, "noindex": False, "nofollow": False, "index": False},
            ),
            ("noindex nocache", {"noindex": False, "nocache": True}),
            ("a max-image-preview:large", {"a": False, "max-image-preview": True}),
            ("a b, max-image-preview:large", {"a": False, "b": False, "max-image-preview": False}),
            # A colon does not set a scope, so no word is `index` if only commas separate them.
            ("foo: index, x index", {"foo": False, "x": False, "index": True}),
        ],
    )
    def test_recovered(self, content: str, recovered: dict[str, bool]) -> None:
        """What only spaces part is recovered."""
        rules, _ = parse_content(content, DEFAULT)
        found = {rule.name: rule.recovered for rule in rules}
        assert list(found.items()) == list(recovered.items())
        assert all(type(value) is bool for value in found.values())

    def test_a_cut_content(self) -> None:
        """Words of an incomplete content are uncertain, if spaces separate words."""
        for length, is_sure in ((LIMIT, True), (LIMIT + 1, False)):
            content = "a b, index,".ljust(length)
            (*_, rule), _ = parse_content(content, SMALL)
            assert (rule.name, rule.recovered) == ("index", not is_sure)
        (rule, *_), _ = parse_content(
            "index,".ljust(LIMIT + 1), STRICT.replace(max_field_bytes=LIMIT)
        )
        assert (rule.name, rule.recovered) == ("index", False)


class TestCrawlers:
    """`robots` is for all crawlers; another name is a product token."""

    @pytest.mark.parametrize(
        ("name", "token"),
        [
            ("robots", "*"),
            (" Robots\n", "*"),
            ("ExampleBot", "examplebot"),
            ("*", None),
            (None, None),
            ("robot", None),
            (f"{NO_BREAK}robots", None),
            ("\u212abot", None),  # a Kelvin sign
        ],
    )
    def test_names(self, name: str | None, token: str | None) -> None:
        """Compared without the case of ASCII letters."""
        said = says(element(name, "noindex")).statements
        expected = TagStatement(token or "", "noindex", True, "noindex", 0, 0, 7), source()
        assert [one for one in said if one[0].token in ("*", "examplebot", "kbot")] == (
            [expected] if token else []
        )

    def test_names_of_google(self) -> None:
        """`robot` is for all crawlers, and only Google's own names are read."""
        said = says(
            element("robot", "noindex"), element("kbot", "nofollow"), profile=GOOGLE
        ).statements
        assert [one.token for one, _ in said] == ["*"]

    def test_rules_of_an_element(self) -> None:
        """With the text and the place of each."""
        found = says(element("robots", "noindex, noindex index", 7), over_tls=True)
        where = TagSource(Carrier.META, None, 7, PageState.INITIAL, True)
        assert found.statements == (
            (TagStatement("*", "noindex", True, "noindex", 0, 0, 7), where),
            (TagStatement("*", "noindex", True, "noindex", 0, 9, 16), where),
            (TagStatement("*", "index", True, "index", 0, 17, 22, True), where),
        )
        assert found.notes == (note("space-separated", where, 17, 22),)

    def test_rules_for_others(self) -> None:
        """Of an element for another crawler one rule is enough."""
        found = says(element(f" {NO_BREAK}OtherBot ", "x max-snippet:5, noindex", 2)).statements
        assert found == (
            (
                TagStatement(f"{NO_BREAK}OtherBot", "max-snippet", 5, "max-snippet:5", 0, 2, 15),
                source(2),
            ),
        )
        ascii_name = says(element("OtherBot", "noindex")).statements
        assert [one.token for one, _ in ascii_name] == ["otherbot"]

    @pytest.mark.parametrize(
        "meta",
        [
            element("OtherBot", "a: noindex"),
            element("OtherBot", "max-snippet: x"),
            element("OtherBot", ""),
            element("OtherBot", "words"),
            element("OtherBot", "x" * MAX_CACHED_LENGTH + ", noindex"),
            element("O" * (MAX_CACHED_LENGTH + 1), "noindex"),
            element("OtherBot", "noindex", place=ElementPosition.BODY),
            element("*", "noindex"),
        ],
    )
    def test_elements_without_rules_for_others(self, meta: Meta) -> None:
        """Descriptions, bodies, and names that are too long."""
        assert says(meta).statements == ()

    def test_the_longest_name_of_another(self) -> None:
        """So many characters, and no more."""
        assert says(element("O" * MAX_CACHED_LENGTH, "noindex")).statements

    def test_rules_that_a_registry_adds(self) -> None:
        """They are rules for others, too."""
        meta = element("OtherBot", "words")
        assert [one.name for one, _ in says(meta, more=frozenset({"words"})).statements] == [
            "words"
        ]


class TestNotes:
    """Odd parts of a page are noted, up to a limit."""

    @pytest.mark.parametrize(
        ("given", "is_odd"),
        [
            ({"http_equiv": "Robots-Tag"}, True),
            ({"http_equiv": " X-Robots-Tag "}, True),
            ({"http_equiv": f"{NO_BREAK}Robots-Tag"}, False),
            ({"http_equiv": "refresh"}, False),
            ({"property": "Robots"}, True),
            ({"itemprop": " robots"}, True),
            ({"property": f"{NO_BREAK}robots"}, False),
            ({}, False),
        ],
    )
    def test_similar_elements(self, given: dict[str, Any], is_odd: bool) -> None:
        """An element with another attribute is not a robots meta element (AMB-91)."""
        found = says(element(None, "noindex", **given))
        assert (found.statements, found.notes) == (
            (),
            (note("not-a-carrier", source()),) if is_odd else (),
        )

    def test_places(self) -> None:
        """The body does not count, but for google; without scripting it does, with a note."""
        body = element("robots", "noindex", place=ElementPosition.BODY)
        assert says(body) == PageRules((), (note("meta-outside-head", source()),))
        assert len(says(body, profile=GOOGLE).statements) == 1
        noscript = element("robots", "noindex", place=ElementPosition.NOSCRIPT)
        found = says(noscript)
        assert len(found.statements) == 1
        assert found.notes == (note("only-without-scripting", source()),)

    @pytest.mark.parametrize(
        "meta",
        [
            element(None, "x", http_equiv="robots-tag"),
            element("robots", "noindex", place=ElementPosition.BODY),
            element("robots", "noindex", place=ElementPosition.NOSCRIPT),
            element("robots", "a b"),
        ],
    )
    def test_their_number(self, meta: Meta) -> None:
        """At most a hundred of them are noted."""
        for count, kept in ((MAX_NOTES - 1, MAX_NOTES - 1), (MAX_NOTES + 1, MAX_NOTES)):
            assert len(says(*[meta] * count).notes) == kept

    def test_notes_of_one_content(self) -> None:
        """They count as those of several."""
        assert len(says(element("robots", "a " * 200)).notes) == MAX_NOTES
        few = element("robots", "a b")
        assert len(says(*[few] * 50, element("robots", "a " * 200)).notes) == MAX_NOTES

    @pytest.mark.parametrize(
        ("is_cut", "code"), [(True, "head-not-final"), (False, "page-too-complex")]
    )
    def test_a_page_that_is_not_final(self, is_cut: bool, code: str) -> None:
        """It was cut, or was more than is parsed."""
        page = Page((), None, False, 0, is_cut)
        found = read_page_rules(page, PageState.FINAL, ["examplebot"], DEFAULT)
        assert found == PageRules((), (note(code),))


class TestAmount:
    """A page may have many elements; what is read of them has an end."""

    def test_contents(self) -> None:
        """Eight of the longest; then no more, and a note."""
        long = element("robots", "x" * LIMIT)
        last = element("robots", "noindex", 9)
        found = says(*[long] * MAX_CONTENTS, last, profile=SMALL)
        assert found.notes == (note(CUT, source(9)),)
        assert len(found.statements) == MAX_CONTENTS
        # An element without content has no cost, and a cut one the cost of the part that is read.
        longer = element("robots", "x" * (2 * LIMIT))
        empty = element("robots", None)
        found = says(*[longer] * MAX_CONTENTS, empty, profile=SMALL)
        assert [one.end for one in found.notes] == [2 * LIMIT] * MAX_CONTENTS

    def test_elements_for_others(self) -> None:
        """Five hundred are looked at."""
        for count, kept in ((MAX_OTHERS, MAX_OTHERS), (MAX_OTHERS + 1, MAX_OTHERS)):
            assert len(says(*[element("OtherBot", "noindex")] * count).statements) == kept
