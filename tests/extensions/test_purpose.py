"""User-Agent-Purpose: groups for what a crawler is for (draft-illyes-rep-purpose)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotrules
from robotrules import (
    STRICT,
    CrawlerError,
    GroupMatch,
    ProductTokenError,
    PurposeWarning,
    RobotsTxt,
    Role,
    crawler_notes,
)
from robotrules.extensions import purpose
from robotrules.registries import SHIPPED, Purpose, Registry

Read = Callable[..., RobotsTxt]
ONE, TWO = "EXAMPLE-PURPOSE-1", "EXAMPLE-PURPOSE-2"
HEADER = (
    "Mozilla/5.0 (compatible; ExampleBot/0.1; ExamplePurpose; https://www.example.com/bot.html)"
)


class TestChoice:
    """Which rules count: the product token's, else the purposes', else the star's (AMB-95)."""

    def test_it_opens_groups(self, read: Read) -> None:
        """`user-agent-purpose` starts groups just like `user-agent` (PUR-3-01)."""
        robots = read(f"User-agent-purpose: {ONE}\nDisallow: /x")
        assert not robots.check("/x", "foo", [ONE])
        assert robots.check("/x", "foo")
        assert robots.check("/x", "foo", [TWO])

    def test_name_and_token_ignore_case(self, read: Read) -> None:
        """Neither the record's name nor its token has a case; white space does not count."""
        robots = read(b" USER-AGENT-PURPOSE\t:  example-purpose-1 \r\nDisallow: /x")
        assert not robots.check("/x", "foo", ["Example-Purpose-1"])

    @pytest.mark.parametrize("other", ["EXAMPLE-PURPOSE-12", "EXAMPLE-PURPOSE-", "EXAMPLE", "*"])
    def test_tokens_are_compared_whole(self, read: Read, other: str) -> None:
        """Digits belong to a purpose, and no part of one is another (AMB-98)."""
        robots = read(f"User-agent-purpose: {ONE}\nDisallow: /x")
        assert robots.check("/x", "foo", [other])

    def test_the_product_token_goes_first(self, read: Read) -> None:
        """Where a group names the crawler, groups of its purposes are not consulted."""
        robots = read(f"User-agent: foo\nAllow: /\nUser-agent-purpose: {ONE}\nDisallow: /")
        assert robots.check("/x", "foo", [ONE])
        assert not robots.check("/x", "bar", [ONE])
        assert robots.explain("/x", "foo", [ONE]).matched_by is GroupMatch.TOKEN

    def test_the_star_goes_last(self, read: Read) -> None:
        """Without any match the star group counts."""
        robots = read(f"User-agent-purpose: {ONE}\nAllow: /\nUser-agent: *\nDisallow: /x")
        assert not robots.check("/x", "foo", [TWO])
        assert robots.check("/x", "foo", [ONE])
        assert not robots.check("/x", "foo")

    def test_groups_of_purposes_merge(self, read: Read) -> None:
        """Several groups that name a purpose are one, and several purposes add up."""
        text = (
            f"User-agent-purpose: {ONE}\nDisallow: /x\nUser-agent: z\nDisallow: /q\n"
            f"User-agent-purpose: {ONE}\nDisallow: /y\nUser-agent-purpose: {TWO}\nDisallow: /z"
        )
        for purposes in permutations([ONE, TWO, ONE]):
            rules = read(text).rules_for("foo", purposes)
            assert rules.allows_many(["/x", "/y", "/z", "/q"]) == [False, False, False, True]

    def test_mixed_groups(self, read: Read) -> None:
        """Agents and purposes in one head mean either (AMB-96); the draft's own example."""
        robots = read(
            f"User-Agent: FooBot\nUser-Agent-Purpose: {ONE}\nDisallow: /\n"
            f"# {TWO} crawlers are allowed.\nUser-Agent-Purpose: {TWO}\n"
        )
        assert not robots.check("/x", "FooBot")
        assert not robots.check("/x", "bar", [ONE])
        assert robots.check("/x", "bar", [TWO])
        assert [group.purposes for group in robots.groups] == [(ONE,), (TWO,)]

    @pytest.mark.parametrize("value", ["*", "", "UNKNOWN"])
    def test_an_empty_purpose_line_opens_a_group(self, read: Read, value: str) -> None:
        """Its rules are not added to the group before it (AMB-97)."""
        robots = read(f"User-agent: a\nAllow: /\nUser-agent-purpose: {value}\nDisallow: /x")
        assert robots.check("/x", "a")
        assert robots.check("/x", "b", ["*", ONE])

    def test_without_the_extension(self, read: Read) -> None:
        """Profile strict is RFC 9309 alone: the record is an OTHER record and opens no group."""
        text = f"User-agent: a\nAllow: /\nUser-agent-purpose: {ONE}\nDisallow: /x"
        assert not read(text, "strict").check("/x", "a")
        plugged = robotrules.STRICT.with_extensions(purpose.EXTENSION)
        assert read(text, plugged).check("/x", "a")
        assert not read(text, plugged).check("/x", "b", [ONE])


class TestExplanation:
    """An explanation shows whether product token, purpose or star chose the groups."""

    def test_by_purpose(self, read: Read) -> None:
        """The given purposes, the match, and the reason."""
        robots = read(f"User-agent-purpose: {ONE}\nDisallow: /x\nUser-agent: *\nAllow: /")
        told = robots.explain("/x", "foo", [TWO, ONE])
        assert (told.matched_by, told.purposes) == (GroupMatch.PURPOSE, (TWO, ONE))
        assert (told.matched_purposes, told.matched_tokens) == ((ONE,), ())
        shown = told.as_dict()
        assert (shown["matched_by"], shown["matched_purposes"]) == ("purpose", [ONE])
        assert shown["groups"][0]["purposes"] == [ONE]

    def test_by_star(self, read: Read) -> None:
        """Without a match, no purpose is named."""
        told = read("User-agent: *\nAllow: /").explain("/x", "foo", [ONE])
        assert (told.matched_by, told.matched_purposes) == (GroupMatch.STAR, ())

    def test_by_name(self, read: Read) -> None:
        """A matching name is not a purpose."""
        told = read("User-agent: foo\nAllow: /").explain("/x", "foo", [ONE])
        assert (told.matched_by, told.matched_tokens) == (GroupMatch.TOKEN, ("foo",))
        assert told.matched_purposes == ()

    def test_groups_of_other_documents(self, read: Read) -> None:
        """A purpose chooses there, too (AMB-29)."""
        body = f"User-agent-purpose: {ONE}\nContent-Usage: a=n\nUser-agent: *\nAllow: /"
        robots = read(body)
        for purposes, lines in (([ONE], (1, 2)), ([], (3, 4))):
            told = robots.explain("/x", "foo", purposes)
            assert [group.lines for group in told.groups] == [(1, 4)]
            (structure,) = told.group_structures
            assert (structure.record, [one.lines for one in structure.groups]) == (
                "Content-Usage",
                [lines],
            )


class TestAsking:
    """What may be passed, and what is remembered."""

    @pytest.mark.parametrize("purposes", ["EXAMPLE-PURPOSE-1", b"x", [b"x"], [None], [1]])
    def test_invalid_lists_of_purposes(self, read: Read, purposes: Any) -> None:
        """Anything but a list of text raises a TypeError with an example."""
        with pytest.raises(TypeError, match="EXAMPLE-PURPOSE-1"):
            read("").check("/", "a", purposes)

    def test_an_empty_purpose(self, read: Read) -> None:
        """It cannot match, so it is an error."""
        with pytest.raises(ProductTokenError, match="empty"):
            read("").check("/", "a", [""])

    def test_an_iterator_is_read_once(self, read: Read) -> None:
        """Purposes from a generator count like those of a list."""
        robots = read(f"User-agent-purpose: {ONE}\nDisallow: /")
        for ask in (robots.rules_for, robots.select_groups):
            purposes: Any = iter([ONE])
            assert ask("foo", purposes) == ask("foo", [ONE])
        purposes = iter([ONE])
        assert not robots.check("/", "foo", purposes)
        purposes = iter([ONE])
        assert robots.explain("/", "foo", purposes) == robots.explain("/", "foo", [ONE])

    def test_answers_do_not_depend_on_earlier_queries(self, read: Read) -> None:
        """Rule sets are cached by name and purposes together."""
        text = f"User-agent: a\nDisallow: /a\nUser-agent-purpose: {ONE}\nDisallow: /p"
        asked = [
            ("a", ()),
            ("b", ()),
            ("b", (ONE,)),
            ("a", (ONE,)),
            (("a", "b"), (ONE,)),
            ("b", ()),
        ]
        robots = read(text)
        for name, purposes in asked * 2:
            fresh = read(text).rules_for(name, purposes)
            assert robots.rules_for(name, list(purposes)) == fresh


class TestCrawler:
    """A crawler's configuration: product token and purposes are in the header it sends."""

    def test_a_good_one(self) -> None:
        """The draft's own header holds both."""
        assert crawler_notes(HEADER, "ExampleBot", ["ExamplePurpose"]) == ()

    @pytest.mark.parametrize(
        ("header", "token", "purposes", "code"),
        [
            (HEADER, "ExampleBot", ["Other"], "purpose-not-sent"),
            ("curl/8 (+https://example.com)", "ExampleBot", [], "product-token-not-sent"),
            ("Foo/1.0 (+https://example.com)", "Foo/1.0", [], "product-token-grammar"),
            ("ExampleBot/1.0", "ExampleBot", [], "no-contact"),
        ],
    )
    def test_what_is_wrong(self, header: str, token: str, purposes: list[str], code: str) -> None:
        """REP-2.2.1-01 to -03 and PUR-3.2-01, each with its code."""
        assert [note.code for note in crawler_notes(header, token, purposes)] == [code]

    def test_strict_refuses_what_must_not_be(self) -> None:
        """In profile strict a name or purpose that is not sent is an error."""
        with pytest.raises(CrawlerError, match=r"'Other'.*§3\.2"):
            crawler_notes(HEADER, "ExampleBot", ["Other"], profile="strict")
        with pytest.raises(CrawlerError, match=r"'Foo/1\.0'.*§2\.2\.1"):
            crawler_notes("Foo/1.0 (x)", "Foo/1.0", profile="strict")
        with pytest.raises(CrawlerError, match=r"'ExampleBot'.*User-Agent header"):
            crawler_notes("curl/8 (x)", "ExampleBot", profile="strict")
        (note,) = crawler_notes("ExampleBot/1.0", "ExampleBot", profile="strict")
        assert note.code == "no-contact"

    def test_case_does_not_matter(self) -> None:
        """Tokens have no case, so a header may spell them as it likes."""
        assert crawler_notes(HEADER.upper(), "examplebot", ["examplepurpose"]) == ()

    def test_a_registry(self) -> None:
        """Once a registry is loaded, only its purposes are known."""
        known = SHIPPED._replace(
            purposes=Registry(Purpose, [Purpose("ExamplePurpose", "Examples", "https://e.example")])
        )
        assert crawler_notes(HEADER, "ExampleBot", ["examplepurpose"], registries=known) == ()
        header = HEADER.replace("ExamplePurpose", "Other")
        (note,) = crawler_notes(header, "ExampleBot", ["Other"], registries=known)
        assert note.code == "unregistered-purpose"

    def test_misuse(self) -> None:
        """A str is not a list of purposes, and octets are not a header."""
        with pytest.raises(TypeError, match=r"pass \['x'\]"):
            crawler_notes(HEADER, "ExampleBot", "x")
        with pytest.raises(TypeError, match="user_agent must be a str"):
            crawler_notes(b"x", "ExampleBot")  # type: ignore[arg-type]

    @pytest.mark.parametrize("purposes", [[1], [None], [b"x"], [""], [" "]])
    def test_invalid_purposes(self, purposes: Any) -> None:
        """A purpose is text that is not empty."""
        with pytest.raises(TypeError, match="a purpose must be a non-empty str"):
            crawler_notes(HEADER, "ExampleBot", purposes)

    @given(st.text(), st.text(), st.lists(st.text(min_size=1).filter(str.strip)))
    def test_any_text_has_an_answer(self, header: str, token: str, purposes: list[str]) -> None:
        """Headers come from configuration files: whatever they hold, there are notes or none."""
        crawler_notes(header, token, purposes)


class TestNotes:
    """What is odd about the purpose lines of a file."""

    def test_lines_without_a_purpose(self, read: Read) -> None:
        """The star and an empty value, each with the span of its value."""
        robots = read("User-agent-purpose: *\nUser-agent-purpose:\nUser-agent-purpose: X\nAllow: /")
        found = list(purpose.notes(robots))
        assert [(note.code, note.line) for note in found] == [
            ("star-purpose", 1),
            ("empty-purpose", 2),
        ]
        assert robots.body[found[0].start : found[0].end] == b"*"
        assert found[0].message == "There is no '*' purpose: the line matches no crawler."

    def test_rules_that_leak(self, read: Read) -> None:
        """Old parsers give the rules of a purpose's group to the group before it (AMB-99)."""
        leak = "User-agent: *\nAllow: /\nUser-agent-purpose: X\nDisallow: /"
        assert [(n.code, n.line) for n in purpose.notes(read(leak))] == [("leaking-purpose", 3)]
        for safe in (
            "User-agent-purpose: X\nDisallow: /\nUser-agent: *\nAllow: /",
            "User-agent: *\nAllow: /\nUser-agent: nobody\nUser-agent-purpose: X\nDisallow: /",
            "User-agent: *\nAllow: /\nUser-agent-purpose: X",
        ):
            assert list(purpose.notes(read(safe))) == []

    def test_unregistered(self, read: Read) -> None:
        """Known only once a registry is loaded; compared without case (PUR-3.2-02, -04)."""
        known = SHIPPED._replace(
            purposes=Registry(Purpose, [Purpose(ONE, "Examples", "https://e.example")])
        )
        robots = read(f"User-agent-purpose: {ONE.lower()}\nUser-agent-purpose: foo\nAllow: /")
        assert [note.line for note in purpose.notes(robots, known)] == [2]
        assert list(purpose.notes(robots)) == []


class TestMisuse:
    """Purposes are a list of names, or None."""

    def test_invalid_lists(self, read: Read) -> None:
        """The error shows the given value."""
        for odd, shown in (("ab", "'ab'"), (5, "5"), (b"ab", "b'ab'"), ([1], r"\(1,\)")):
            with pytest.raises(TypeError, match=f"such as \\['EXAMPLE-PURPOSE-1'\\], not {shown}$"):
                read("").rules_for("a", odd)  # type: ignore[arg-type]

    def test_an_empty_one(self, read: Read) -> None:
        """Only what the parser trims is empty: other white space is a name that files have."""
        words = "^a purpose is empty: leave it out, or pass its registered token$"
        for empty in ("", " ", "\t "):
            with pytest.raises(ProductTokenError, match=words):
                read("").rules_for("a", [ONE, empty])
        robots = read("User-agent-purpose: \u00a0\nUser-agent-purpose: X\nDisallow: /")
        for purpose_ in ("\u00a0", "X"):
            assert not robots.check("/", "a", [purpose_])

    def test_none(self, read: Read) -> None:
        """Like no purposes, as for `check()`."""
        robots = read(f"User-agent-purpose: {ONE}\nDisallow: /")
        assert robots.select_groups("a", None).groups == ()  # type: ignore[arg-type]
        assert robots.explain("/", "a", None).groups == ()  # type: ignore[arg-type]
        assert [group.purposes for group in robots.select_groups("a", [ONE]).groups] == [(ONE,)]


class TestUnread:
    """Purposes with a profile that does not read the record: a warning, and no effect."""

    BODY = f"User-agent-purpose: {ONE}\nDisallow: /\n"

    @pytest.mark.parametrize("profile", ["strict", "google"])
    def test_a_warning(self, read: Read, profile: str) -> None:
        """Every method warns, once."""
        asks: list[Callable[[RobotsTxt], Any]] = [
            lambda robots: robots.check("/x", "foo", [ONE]),
            lambda robots: robots.rules_for("foo", [ONE]),
            lambda robots: robots.rules_for(["foo"], [ONE]),
            lambda robots: robots.select_groups("foo", [ONE]).groups,
            lambda robots: robots.explain("/x", "foo", [ONE]),
        ]
        for ask in asks:
            with pytest.warns(PurposeWarning) as told:
                ask(read(self.BODY, profile))
            assert [str(one.message) for one in told] == [
                f"profile {profile!r} does not read User-Agent-Purpose, so purposes= changes "
                "nothing: use profile 'default', or leave purposes out"
            ]

    def test_a_warning_for_each_file_and_name(self, read: Read) -> None:
        """Rules that are remembered are given without another one."""
        robots = read(self.BODY, "strict")
        for name in ("foo", ["foo", "bar"]):
            with pytest.warns(PurposeWarning):
                rules = robots.rules_for(name, [ONE])
            assert robots.rules_for(name, [ONE]) is rules

    def test_no_warning_without_purposes_or_where_they_count(self, read: Read) -> None:
        """Warnings are errors in these tests: none is given here."""
        read(self.BODY, "strict").check("/x", "foo")
        read(self.BODY, "strict").explain("/x", "foo", [])
        assert not read(self.BODY).check("/x", "foo", [ONE])
        knows = STRICT.with_extensions(purpose.EXTENSION)
        assert not read(self.BODY, knows).check("/x", "foo", [ONE])
        other = STRICT.with_extensions(purpose.EXTENSION._replace(role=Role.OTHER))
        with pytest.warns(PurposeWarning):
            assert read(self.BODY, other).check("/x", "foo", [ONE])

    def test_a_note_in_an_explanation(self, read: Read) -> None:
        """An explanation has it too, as the last note and without a line."""
        with pytest.warns(PurposeWarning):
            told = read("Foo\nUser-agent: *\nBar", "strict").explain("/x", "foo", [ONE])
        assert [(note.code, note.line) for note in told.notes] == [
            ("no-separator", 3),
            ("purposes-not-read", None),
        ]
        assert told.notes[-1] == ("purposes-not-read", "warning", None, 0, 0)
        assert told.as_dict()["notes"][-1]["message"].startswith("This profile does not read")
        assert "purposes-not-read" not in [
            note.code for note in read(self.BODY).explain("/x", "foo", [ONE]).notes
        ]
