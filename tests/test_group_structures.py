"""
Group structures: RFC 9309 for verdicts, other documents for their records (AMB-29).

The oracle splits a file into groups by hand, following the grammar of one document.
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
SEPARATED = """\
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
    """Return the groups of a file: the names, and the first and last line of each."""
    return [(group.user_agents, group.lines) for group in robots.groups]


class TestGroupedFor:
    """`grouped_for` returns the file with the groups of the document that defines a record."""

    def test_the_groups_of_each_document(self, read: Read) -> None:
        """Allow, Disallow and the document's record end the user-agent lines of a group."""
        robots = read(SEPARATED)
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
    def test_other_records_use_the_groups_of_the_rfc(self, read: Read, record: str) -> None:
        """A record that no document makes a rule is read in the groups of RFC 9309."""
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
    def test_equal_groups_give_the_same_file(self, read: Read, body: str) -> None:
        """The file is not parsed again if no user-agent line follows such a record in its group."""
        robots = read(body)
        assert robots.grouped_for("Content-Usage") is robots
        assert (robots.group_structures, robots.explain("/", "a").group_structures) == ((), ())

    def test_a_name_is_text(self, read: Read) -> None:
        """Any other type raises a TypeError."""
        with pytest.raises(TypeError, match="a record's name is a str, not int"):
            read("").grouped_for(1)  # type: ignore[arg-type]

    def test_only_roles_and_groups_differ(self, read: Read) -> None:
        """Both structures have the same records and the same octets."""
        robots = read(SEPARATED.encode("utf-16"))
        other = robots.grouped_for("content-usage")
        assert other.body == robots.body
        pairs = zip(robots.records, other.records, strict=True)
        for record, regrouped in pairs:
            assert record == regrouped._replace(role=record.role, group=record.group)
            is_rule = record.key in ("content-usage", "allow", "disallow")
            assert (regrouped.role is Role.RULE) == is_rule

    def test_a_truncated_file(self, read: Read) -> None:
        """An unfinished last line is ignored in either structure."""
        robots = read("User-agent: a\nContent-Usage: train-ai=n\nUser-agent: b", complete=False)
        assert robots.grouped_for("content-usage") is robots
        robots = read("User-agent: a\nContent-Usage: x=y\nUser-agent: b\nDis", complete=False)
        assert [len(robots.grouped_for("content-usage").groups), len(robots.groups)] == [2, 1]
        assert len(robots.grouped_for("content-usage").records) == 3

    def test_a_profile_that_declares_the_record(self, read: Read) -> None:
        """Spellings are kept; if the record already is a rule, there is only one structure."""
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
    """Return the values that each crawler reads, by the grammar of the record's document."""
    values: dict[str, set[str]] = {}
    names: list[str] = []
    listing = False
    for line in body.splitlines():
        key, value = line.split(": ")
        if key == "User-agent":
            names = [*names, value] if listing else [value]
            listing = True
            values.setdefault(value, set())
        elif key.lower() in (*keys, "allow", "disallow"):
            listing = False
            if key.lower() in keys:
                for name in names:
                    values[name].add(value)
    return values


def test_every_short_file_is_read_as_by_hand(read: Read) -> None:
    """A crawler reads a record if the grammar of the record's document puts it in the group."""
    for body in bodies():
        robots = read(body)
        for keys in DOCUMENT_RULES.values():
            expected = read_by_hand(body, keys)
            other = robots.grouped_for(keys[0])
            for name, values in expected.items():
                groups = other.select_groups(name).groups
                texts = {r.text for group in groups for r in group.records if r.key in keys}
                assert texts == values, body


class TestReported:
    """Structures that differ are reported, for a file and for a crawler."""

    def test_of_a_file(self, read: Read) -> None:
        """Structures that differ, each with the record that uses it."""
        structures = read(SEPARATED).group_structures
        assert [(structure.record, len(structure.groups)) for structure in structures] == [
            ("App-Directives", 3),
            ("Content-Usage", 3),
        ]
        shown = json.loads(json.dumps(structures[1].as_dict()))
        assert shown["record"] == "Content-Usage"
        assert shown["groups"][0] == {
            "index": 0,
            "user_agents": ["a", "b"],
            "purposes": [],
            "first_line": 1,
            "last_line": 4,
        }

    def test_of_a_crawler(self, read: Read) -> None:
        """An explanation has only the structures that differ for this crawler."""
        robots = read(SEPARATED)
        explanation = robots.explain("/p", "b")
        structures = explanation.group_structures
        assert [(name, [group.lines for group in groups]) for name, groups in structures] == [
            ("App-Directives", [(3, 7)]),
            ("Content-Usage", [(1, 4)]),
        ]
        assert [shown["record"] for shown in explanation.as_dict()["group_structures"]] == [
            "App-Directives",
            "Content-Usage",
        ]
        assert robots.explain("/p", "d").group_structures == ()
        assert robots.explain("/p", "other").group_structures == ()


class TestWriting:
    """A written file has one structure and the same meaning."""

    def test_read_back(self, read: Read) -> None:
        """Names that a record separates become separate groups with the same rules."""
        robots = read(SEPARATED)
        new = read(write(read_back(robots)))
        assert new.group_structures == ()
        for name in "abcd":
            assert new.check("/p", name).allowed == robots.check("/p", name).allowed
            before, after = (
                app_directives(file, "/", "x", product_token=name) for file in (robots, new)
            )
            assert before.get("a") == after.get("a")
            used = [preferences("/", name, robots=file).get("train-ai") for file in (robots, new)]
            assert used[0] == used[1]

    def test_every_short_file(self, read: Read) -> None:
        """A file that is read back and written has one structure."""
        for body in bodies():
            assert read(write(read_back(read(body)))).group_structures == (), body


class TestAnalysis:
    """Compare, format and simplify use the structure of each record."""

    def test_crawlers_with_the_same_rules_are_distinguished(self, read: Read) -> None:
        """A change for the names before a record is not a change for the names after it."""
        old = "User-agent: a\nContent-Usage: train-ai=n\nUser-agent: b\nDisallow: /p\n"
        (changed,) = compare(read(old), read(old.replace("=n", "=y"))).statements
        assert [crawler.name for crawler in changed.crawlers] == ["a"]
        # After the last name, the record applies to both: only the second crawler changes.
        moved = "User-agent: a\nUser-agent: b\nContent-Usage: train-ai=n\nDisallow: /p\n"
        (changed,) = compare(read(old), read(moved)).statements
        assert [crawler.name for crawler in changed.crawlers] == ["b"]
        assert not compare(read(old), read(moved)).equal

    def test_groups_separated_by_a_record_stay(self, read: Read) -> None:
        """Groups are merged only if nothing changes for any crawler."""
        body = (
            "User-agent: a\nContent-Usage: train-ai=n\nUser-agent: b\nDisallow: /p\n\n"
            "User-agent: c\nContent-Usage: train-ai=n\nUser-agent: d\nDisallow: /p\n"
        )
        new = read(simplify(read(body)).body)
        for name in "abcd":
            before, after = (preferences("/", name, robots=file) for file in (read(body), new))
            assert before.get("train-ai") == after.get("train-ai"), name

    def test_formatting_keeps_structures(self, read: Read) -> None:
        """A file in canonical form has the same structures."""
        formatted = format_robots(read(SEPARATED))
        assert formatted.proved
        for name in DOCUMENT_RULES:
            before, after = (
                [group.user_agents for group in read(body).grouped_for(name).groups]
                for body in (SEPARATED, formatted.body)
            )
            assert before == after
