"""
Group structures: verdicts by RFC 9309, other documents' records by their own groups (AMB-29).

The oracle splits a file by hand: a structure is the groups that a plain reading of one grammar has.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import product

import pytest

from robotrules import DEFAULT, Extension, RobotsTxt, Role
from robotrules.analysis import compare, simplify
from robotrules.extensions.app_directives import app_directives
from robotrules.extensions.content_usage import preferences
from robotrules.formatting import format_robots
from robotrules.profile import DOCUMENT_RULES
from robotrules.write import read_back, write

Read = Callable[..., RobotsTxt]
PARTED = """\
User-agent: a
App-Directives: x;a
User-agent: b
Content-Usage: train-ai=n
User-agent: c
Crawl-delay: 3
Disallow: /p
User-agent: d
Content-Usage: train-ai=y
Allow: /
"""


def spans(robots: RobotsTxt) -> list[tuple[tuple[str, ...], tuple[int, int]]]:
    """Return the groups of a file: whom each names, and its first and last line."""
    return [(group.user_agents, group.lines) for group in robots.groups]


class TestGroupedFor:
    """`grouped_for` is the file with the groups of the document that defines a record."""

    def test_the_groups_of_each_document(self, read: Read) -> None:
        """Allow, Disallow and the document's own record end a list of user-agent lines."""
        robots = read(PARTED)
        assert spans(robots) == [(("a", "b", "c"), (1, 7)), (("d",), (8, 10))]
        assert spans(robots.grouped_for("App-Directives")) == [
            (("a",), (1, 2)),
            (("b", "c"), (3, 7)),
            (("d",), (8, 10)),
        ]
        assert spans(robots.grouped_for("content-usage")) == [
            (("a", "b"), (1, 4)),
            (("c",), (5, 7)),
            (("d",), (8, 10)),
        ]
        assert robots.grouped_for("app-directive") is robots.grouped_for("APP-DIRECTIVES")
        assert robots.grouped_for("content-usage")._engine is robots._engine

    @pytest.mark.parametrize("record", ["Content-Signal", "Crawl-delay", "Sitemap", "Allow", "x"])
    def test_other_records_go_by_the_rfc(self, read: Read, record: str) -> None:
        """A record that no document makes a rule is read over the groups of RFC 9309."""
        robots = read(f"User-agent: a\n{record}: x\nUser-agent: b\nDisallow: /p\n")
        assert robots.grouped_for(record) is robots
        assert robots.group_structures == ()

    @pytest.mark.parametrize(
        "body",
        [
            "",
            "Content-Usage: train-ai=n\nUser-agent: a\nDisallow: /\n",
            "User-agent: a\nDisallow: /\nContent-Usage: train-ai=n\nUser-agent: b\nDisallow: /\n",
            "User-agent: a\nUser-agent: b\nContent-Usage: train-ai=n\n",
            "User-agent: a\nContent-Usage: train-ai=n\nDisallow: /\nUser-agent: b\n",
        ],
        ids=["empty", "before groups", "after a rule", "at the end", "before a rule"],
    )
    def test_where_they_agree_it_is_the_file(self, read: Read, body: str) -> None:
        """Nothing is read twice where no user-agent line follows such a record in its list."""
        robots = read(body)
        assert robots.grouped_for("Content-Usage") is robots
        assert (robots.group_structures, robots.explain("/", "a").group_structures) == ((), ())

    def test_a_name_is_text(self, read: Read) -> None:
        """Anything else is misuse."""
        with pytest.raises(TypeError, match="a record's name is a str, not int"):
            read("").grouped_for(1)  # type: ignore[arg-type]

    def test_only_roles_and_groups_differ(self, read: Read) -> None:
        """Both readings have the same records, and the same octets."""
        robots = read(PARTED.encode("utf-16"))
        other = robots.grouped_for("content-usage")
        assert other.body == robots.body
        pairs = zip(robots.records, other.records, strict=True)
        for one, found in pairs:
            assert one == found._replace(role=one.role, group=one.group)
            assert (found.role is Role.RULE) == (one.key in ("content-usage", "allow", "disallow"))

    def test_a_file_that_was_cut(self, read: Read) -> None:
        """An unfinished last line is not used in either reading."""
        robots = read("User-agent: a\nContent-Usage: train-ai=n\nUser-agent: b", complete=False)
        assert robots.grouped_for("content-usage") is robots
        robots = read("User-agent: a\nContent-Usage: x=y\nUser-agent: b\nDis", complete=False)
        assert [len(robots.grouped_for("content-usage").groups), len(robots.groups)] == [2, 1]
        assert len(robots.grouped_for("content-usage").records) == 3

    def test_a_profile_that_knows_the_record(self, read: Read) -> None:
        """Its spellings stay; where it is a rule for verdicts already, there is one structure."""
        mine = Extension("Content-Usage", ("content-use",), Role.OTHER)
        body = "User-agent: a\nContent-use: train-ai=n\nUser-agent: b\nDisallow: /p\n"
        robots = read(body, DEFAULT.with_extensions(mine))
        assert len(robots.grouped_for("content-usage").groups) == 2
        robots = read(body, DEFAULT.with_extensions(mine._replace(role=Role.RULE)))
        assert robots.grouped_for("content-usage") is robots
        assert len(robots.groups) == 2


def bodies() -> Iterator[str]:
    """Yield every file of four records of these kinds after a first user-agent line."""
    kinds = (
        "User-agent: b",
        "User-agent: c",
        "App-Directives: x;{}",
        "Content-Usage: {}=n",
        "Allow: /{}",
    )
    for lines in product(kinds, repeat=4):
        numbered = (line.format(f"k{number}") for number, line in enumerate(lines))
        yield "\n".join(["User-agent: a", *numbered]) + "\n"


def read_by_hand(body: str, keys: tuple[str, ...]) -> dict[str, set[str]]:
    """Return what each crawler reads of a document's record, by the grammar of that document."""
    told: dict[str, set[str]] = {}
    names: list[str] = []
    listing = False
    for line in body.splitlines():
        key, value = line.split(": ")
        if key == "User-agent":
            names = [*names, value] if listing else [value]
            listing = True
            told.setdefault(value, set())
        elif key.lower() in (*keys, "allow", "disallow"):
            listing = False
            if key.lower() in keys:
                for name in names:
                    told[name].add(value)
    return told


def test_every_short_file_is_read_as_by_hand(read: Read) -> None:
    """Whoever reads a record is whoever its own document's grammar puts in its group."""
    for body in bodies():
        robots = read(body)
        for keys in DOCUMENT_RULES.values():
            expected = read_by_hand(body, keys)
            other = robots.grouped_for(keys[0])
            for name, told in expected.items():
                groups = other.select_groups(name).groups
                found = {r.text for group in groups for r in group.records if r.key in keys}
                assert found == told, body


class TestShown:
    """Structures that differ are shown, for a file and for one crawler."""

    def test_of_a_file(self, read: Read) -> None:
        """Those that differ, by the record that is read over them."""
        found = read(PARTED).group_structures
        assert [(one.record, len(one.groups)) for one in found] == [
            ("App-Directives", 3),
            ("Content-Usage", 3),
        ]
        shown = json.loads(json.dumps(found[1].as_dict()))
        assert shown["record"] == "Content-Usage"
        assert shown["groups"][0] == {
            "index": 0,
            "user_agents": ["a", "b"],
            "purposes": [],
            "first_line": 1,
            "last_line": 4,
        }

    def test_of_a_crawler(self, read: Read) -> None:
        """An explanation has those that differ for this crawler, and no other."""
        robots = read(PARTED)
        told = robots.explain("/p", "b")
        assert [(one.record, [g.lines for g in one.groups]) for one in told.group_structures] == [
            ("App-Directives", [(3, 7)]),
            ("Content-Usage", [(1, 4)]),
        ]
        assert [one["record"] for one in told.as_dict()["group_structures"]] == [
            "App-Directives",
            "Content-Usage",
        ]
        assert robots.explain("/p", "d").group_structures == ()
        assert robots.explain("/p", "nobody").group_structures == ()


class TestWriting:
    """What is written has one structure, and says what the file said."""

    def test_read_back(self, read: Read) -> None:
        """Names that a record parts become groups of their own, with the same rules."""
        robots = read(PARTED)
        new = read(write(read_back(robots)))
        assert new.group_structures == ()
        for name in "abcd":
            assert new.check("/p", name).allowed == robots.check("/p", name).allowed
            told = [app_directives(one, "/", "x", product_token=name) for one in (robots, new)]
            assert told[0].get("a") == told[1].get("a")
            used = [preferences("/", name, robots=one).get("train-ai") for one in (robots, new)]
            assert used[0] == used[1]

    def test_every_short_file(self, read: Read) -> None:
        """Whatever is read back and written has one structure."""
        for body in bodies():
            assert read(write(read_back(read(body)))).group_structures == (), body


class TestAnalysis:
    """Files are compared, formatted and simplified by what each crawler is told."""

    def test_crawlers_with_the_same_rules_are_told_apart(self, read: Read) -> None:
        """A change for the names before a record is no change for those after it."""
        old = "User-agent: a\nContent-Usage: train-ai=n\nUser-agent: b\nDisallow: /p\n"
        (found,) = compare(read(old), read(old.replace("=n", "=y"))).statements
        assert [crawler.name for crawler in found.crawlers] == ["a"]
        # Moved behind the last name, the record is for both: a change for the second alone.
        moved = "User-agent: a\nUser-agent: b\nContent-Usage: train-ai=n\nDisallow: /p\n"
        (found,) = compare(read(old), read(moved)).statements
        assert [crawler.name for crawler in found.crawlers] == ["b"]
        assert not compare(read(old), read(moved)).equal

    def test_groups_that_a_record_parts_stay(self, read: Read) -> None:
        """Groups are only merged where no crawler is told anything else."""
        body = (
            "User-agent: a\nContent-Usage: train-ai=n\nUser-agent: b\nDisallow: /p\n\n"
            "User-agent: c\nContent-Usage: train-ai=n\nUser-agent: d\nDisallow: /p\n"
        )
        new = read(simplify(read(body)).body)
        for name in "abcd":
            said = [preferences("/", name, robots=one).get("train-ai") for one in (read(body), new)]
            assert said[0] == said[1], name

    def test_formatting_keeps_them(self, read: Read) -> None:
        """A file in canonical form has the same structures."""
        formatted = format_robots(read(PARTED))
        assert formatted.proved
        for name in DOCUMENT_RULES:
            before, after = (
                [group.user_agents for group in read(body).grouped_for(name).groups]
                for body in (PARTED, formatted.body)
            )
            assert before == after
