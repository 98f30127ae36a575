"""The crawlers that files can distinguish, each under one name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import product
from string import ascii_lowercase
from types import ModuleType

import pytest

from robotrules import DEFAULT, Profile, RobotsTxt, analysis, parse
from robotrules.analysis import Crawler
from robotrules.analysis.crawlers import displayed_crawlers, is_complete

Read = Callable[..., RobotsTxt]
# The function of that name hides the module.
MODULE: ModuleType = sys.modules["robotrules.analysis.crawlers"]
ONE, TWO = "EXAMPLE-PURPOSE-1", "EXAMPLE-PURPOSE-2"
COMMAS: Profile = DEFAULT.replace(comma_user_agents=True)


def names_of(*files: RobotsTxt) -> list[str]:
    """Return the names of all crawlers of some files."""
    return [crawler.name for crawler in analysis.crawlers(*files)]


class TestNames:
    """Product tokens that files name, as they spell them."""

    def test_all_other_crawlers_come_last(self, read: Read) -> None:
        """Also in a file that does not name a crawler."""
        assert names_of(read("")) == ["everyone else"]
        assert names_of() == ["everyone else"]
        assert names_of(read("User-agent: *\nDisallow: /")) == ["everyone else"]
        found = names_of(read("User-agent: *\nUser-agent: FooBot\nDisallow: /"))
        assert found == ["FooBot", "everyone else"]

    def test_a_star_at_the_end(self, read: Read) -> None:
        """No crawler has one in its name, so the name without it is the only one."""
        assert names_of(read("User-agent: FooBot*\nDisallow: /")) == ["FooBot", "everyone else"]
        same = read("User-agent: FooBot\nDisallow: /"), read("User-agent: FooBot*\nDisallow: /")
        assert analysis.compare(*same).equal

    def test_spelled_as_first_written(self, read: Read) -> None:
        """Crawlers do not differ by case, within a file or between files."""
        robots = read("User-agent: FooBot\nUser-agent: foobot\nAllow: /\n")
        assert names_of(robots, read("User-agent: FOOBOT")) == ["FooBot", "everyone else"]

    def test_of_several_files(self, read: Read) -> None:
        """Those of each file, in order."""
        found = names_of(read("User-agent: A"), read("User-agent: B\nUser-agent: A"))
        assert found == ["A", "B", "everyone else"]

    def test_names_outside_the_grammar(self, read: Read) -> None:
        """Profile default: the whole value is a name, and so are its leading letters."""
        assert names_of(read("User-agent: MJ12bot")) == ["MJ12bot", "MJ", "everyone else"]
        # A value that is not a valid crawler name is not a name (AMB-22).
        assert names_of(read("User-agent: Foo Bot/2.1")) == ["Foo", "everyone else"]
        assert names_of(read("User-agent: 008")) == ["008", "everyone else"]

    @pytest.mark.parametrize("profile", ["strict", "google"])
    def test_leading_letters_alone(self, read: Read, profile: str) -> None:
        """Other profiles use only the leading letters."""
        assert names_of(read("User-agent: MJ12bot", profile)) == ["MJ", "everyone else"]
        assert names_of(read("User-agent: 008", profile)) == ["everyone else"]

    def test_lines_without_a_name(self, read: Read) -> None:
        """Lines that do not name a crawler add none."""
        body = "User-agent:\nUser-agent: *bot\nUser-agent: \x01bad\nDisallow: /"
        assert "everyone else" in names_of(read(body))
        assert not [name for name in names_of(read(body)) if "bad" in name]

    def test_stars_with_text(self, read: Read) -> None:
        """A star followed by text is the star in some profiles, and never a name."""
        for profile in ("default", "google", "strict"):
            assert names_of(read("User-agent: * # all\nUser-agent: * all\n", profile))[-1:] == [
                "everyone else"
            ]

    def test_lists(self, read: Read) -> None:
        """A list is one name, unless a profile reads lists (AMB-25)."""
        body = "User-agent: Foo, Bar9, Foo\nDisallow: /"
        assert names_of(read(body, COMMAS)) == ["Foo", "Bar9", "Bar", "everyone else"]
        assert names_of(read(body)) == ["Foo", "everyone else"]

    def test_each_is_obeyed(self, read: Read) -> None:
        """All named crawlers obey a group that names them."""
        robots = read("User-agent: MJ12bot\nUser-agent: Foo Bot\nDisallow: /\nUser-agent: *\n")
        for crawler in analysis.crawlers(robots)[:-1]:
            assert not robots.check("/", crawler.product_token)
        assert robots.check("/", "*")


class TestPurposes:
    """Purposes that files name: for crawlers that no group names."""

    def test_one(self, read: Read) -> None:
        """A purpose is a separate crawler."""
        robots = read(f"User-agent: Foo\nAllow: /\nUser-agent-purpose: {ONE}\nDisallow: /")
        assert analysis.crawlers(robots) == (
            Crawler("Foo"),
            Crawler("*", (ONE,)),
            Crawler("*"),
        )
        assert names_of(robots) == ["Foo", f"purpose {ONE}", "everyone else"]

    def test_several(self, read: Read) -> None:
        """Every set of them: a crawler obeys the groups of all its purposes."""
        robots = read(f"User-agent-purpose: {TWO}\nAllow: /\nUser-agent-purpose: {ONE}\nAllow: /")
        assert names_of(robots) == [
            f"purpose {ONE}",
            f"purpose {TWO}",
            f"purposes {ONE} and {TWO}",
            "everyone else",
        ]

    def test_crawlers_of_the_other_file(self, read: Read) -> None:
        """Named in one file only, a crawler may obey its purpose's group in the other."""
        old = read("User-agent: Foo\nDisallow: /a")
        new = read(f"User-agent-purpose: {ONE}\nDisallow: /b")
        assert names_of(old, new) == [
            "Foo",
            f"purpose {ONE}",
            f"Foo with purpose {ONE}",
            "everyone else",
        ]
        assert names_of(old, old, new)[2] == f"Foo with purpose {ONE}"

    def test_stars_and_empty_purposes(self, read: Read) -> None:
        """An empty purpose, or a star, is not a crawler (AMB-97)."""
        assert names_of(read("User-agent-purpose: *\nUser-agent-purpose:\nDisallow: /")) == [
            "everyone else"
        ]

    def test_profiles_without_purposes(self, read: Read) -> None:
        """If the record opens no group, no crawler has a purpose."""
        body = f"User-agent: a\nUser-agent-purpose: {ONE}\nDisallow: /"
        assert names_of(read(body, "strict")) == ["a", "everyone else"]

    def test_many(self, read: Read) -> None:
        """Of more than five, each alone and all together; the list is not complete."""
        robots = read("\n".join(f"User-agent-purpose: P{n}" for n in range(6)))
        found = analysis.crawlers(robots)
        assert [len(crawler.purposes) for crawler in found] == [1, 1, 1, 1, 1, 1, 6, 0]
        assert not is_complete(robots)
        few = read("\n".join(f"User-agent-purpose: P{n}" for n in range(5)))
        assert len(analysis.crawlers(few)) == 2**5
        assert is_complete(few)


class TestShown:
    """Of crawlers that obey the same groups, those that people would name."""

    def test_leading_letters(self) -> None:
        """`MJ` goes without saying where `MJ12bot` is named."""
        found = displayed_crawlers(
            [Crawler("MJ12bot"), Crawler("MJ"), Crawler("Foo"), Crawler("*")]
        )
        assert [one.name for one in found] == ["MJ12bot", "Foo", "everyone else"]
        assert displayed_crawlers([Crawler("mj"), Crawler("MJ12bot")]) == (Crawler("MJ12bot"),)
        assert displayed_crawlers([Crawler("MJ")]) == (Crawler("MJ"),)

    def test_purposes(self) -> None:
        """Single purposes are named; sets of them, and names with them, are not."""
        both = Crawler("*", (ONE, TWO))
        assert displayed_crawlers([Crawler("*", (ONE,)), both]) == (Crawler("*", (ONE,)),)
        assert displayed_crawlers([both]) == (both,)
        with_purpose = Crawler("Foo", (ONE,))
        assert displayed_crawlers([with_purpose, Crawler("Foo", (TWO,))]) == (with_purpose,)
        assert displayed_crawlers([Crawler("Foo"), with_purpose]) == (Crawler("Foo"),)


class TestMany:
    """Files that name thousands: all of them, or the answer is marked as incomplete."""

    @pytest.fixture
    def many(self) -> list[str]:
        """4,000 names outside the grammar, each with different leading letters."""
        letters = product(ascii_lowercase, repeat=3)
        return [f"{''.join(name)}-bot{number}" for number, name in enumerate(letters)][:4_000]

    def test_four_thousand(
        self, native: ModuleType, many: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The last of 4,000 names is found: reading it two ways does not count twice."""
        # The engine decides whether each is named, which costs the most: here all are.
        monkeypatch.setattr(MODULE, "_is_named", lambda robots, token: True)
        robots = parse("\n".join(f"User-agent: {name}" for name in many), engine=native)
        found = analysis.crawlers(robots)
        assert is_complete(robots)
        assert len(found) == 8_001
        assert found[-3:] == (Crawler(many[-1]), Crawler(many[-1].rstrip("0123456789")), found[-1])

    def test_more(self, native: ModuleType, many: list[str]) -> None:
        """One more than that, and the answer is not complete."""
        body = "\n".join(f"User-agent: {name}" for name in many)
        more = parse(body + "\nUser-agent: more", engine=native)
        assert not is_complete(more)
        assert not is_complete(parse("", engine=native), more)
        assert is_complete(parse(body, engine=native), parse(body, engine=native))

    def test_one_line_of_many(self, native: ModuleType, many: list[str]) -> None:
        """A list in one line counts as what it lists, where lists are known."""
        body = "User-agent: more, " + ", ".join(many)
        assert not is_complete(parse(body, COMMAS, engine=native))
        assert is_complete(parse(body, engine=native))

    def test_a_group_of_many(self, many: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
        """Each name is looked at some times, and not each against all."""
        looked: list[str] = []
        letters = MODULE._letters

        def counted(name: str) -> str:
            looked.append(name)
            return str(letters(name))

        monkeypatch.setattr(MODULE, "_letters", counted)
        found = [Crawler(name) for name in many] + [Crawler(name[:7]) for name in many]
        assert len(displayed_crawlers(found)) == 4_000
        assert len(looked) <= 3 * len(found)


def test_json() -> None:
    """A crawler as plain values."""
    assert Crawler("Foo", (ONE,)).as_dict() == {
        "name": f"Foo with purpose {ONE}",
        "product_token": "Foo",
        "purposes": [ONE],
        "known": None,
    }
    assert Crawler("*", (ONE, TWO)).name == f"purposes {ONE} and {TWO}"


def test_a_value_with_a_version_is_called_by_its_name() -> None:
    """`Googlebot/2.1` names Googlebot, and `MJ12bot` is a name itself."""
    for value, name in (
        ("Googlebot/2.1", "Googlebot"),
        ("GPTBot, CCBot", "GPTBot"),
        ("MJ12bot", "MJ12bot"),
    ):
        found = displayed_crawlers(
            c
            for c in analysis.crawlers(parse(f"User-agent: {value}\nDisallow: /"))
            if c.product_token != "*"
        )
        assert [crawler.name for crawler in found] == [name]


@pytest.mark.parametrize(
    ("group", "other"),
    [
        # A capital outside ASCII is another letter when names are compared.
        (b"User-agent: \xc3\x89bot\nDisallow: /z\n\n", "ébot"),
        (b"User-agent: \xe2\x84\xaabot\nDisallow: /z\n\n", "kbot"),
        (b"", "\udcff1"),
    ],
)
def test_every_valid_name_is_compared(group: bytes, other: str) -> None:
    """Names are compared as in the engine: by octets, ignoring the case of ASCII letters."""
    name = other.encode("utf-8", "surrogateescape")
    old, new = (
        parse(group + b"User-agent: " + name + b"\nDisallow: " + path) for path in (b"/a", b"/b")
    )
    assert old.check("/a", other).allowed is not new.check("/a", other).allowed
    assert analysis.compare(old, new).equal is False
    assert b"/a" in analysis.simplify(old).body
