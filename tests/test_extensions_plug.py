"""
The drafts plug in later without touching the parser: two records registered from outside.

A START record in the manner of User-Agent-Purpose and a path-scoped record in the manner of
Content-Usage are declared, read and matched here with public names only.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from robotrules import DEFAULT, GOOGLE, Extension, Group, Profile, RobotsTxt, Role, RuleSet

Read = Callable[..., RobotsTxt]

PURPOSE = Extension(
    "Example-Purpose", ("purpose",), Role.START, "group", "a draft that defines START records"
)
USAGE = Extension("Example-Usage", (), Role.OTHER, "group", "a draft with path-scoped records")
PROFILE = DEFAULT.with_extensions(PURPOSE, USAGE)

BODY = """\
Example-Purpose: EXAMPLE-TRAINING
Disallow: /papers/
User-agent: other
Example-Purpose: EXAMPLE-SEARCH
Allow: /
User-agent: ExampleBot
X-Later: unknown to everybody
Disallow: /private/
Example-Usage: /papers/ usage=n
Example-Usage: /papers/open*$ usage=y
Example-Usage: /papers/ok?n* usage=maybe
EXAMPLE-USAGE: /*.pdf usage=z
"""


# --- A START record: the reader decides which crawlers it is for ----------------------------------


def groups_for(robots: RobotsTxt, purpose: str) -> tuple[Group, ...]:
    """Return the groups that a record in the manner of User-Agent-Purpose opens for a purpose."""
    return tuple(
        group
        for group in robots.groups
        if any(
            record.key == "example-purpose" and record.text.casefold() == purpose.casefold()
            for record in group.starts
        )
    )


class TestStart:
    """A START record from outside opens groups and joins user-agent lines (§2.1)."""

    def test_it_groups(self, read: Read) -> None:
        """Groups begin at the record, alone or among user-agent lines."""
        robots = read(BODY, PROFILE)
        starts = [[(r.key, r.text) for r in group.starts] for group in robots.groups]
        assert starts == [
            [("example-purpose", "EXAMPLE-TRAINING")],
            [("user-agent", "other"), ("example-purpose", "EXAMPLE-SEARCH")],
            [("user-agent", "ExampleBot")],
        ]
        assert [record.role for record in robots.groups[0].starts] == [Role.START]

    def test_it_does_not_name_a_crawler(self, read: Read) -> None:
        """Its value is not a product token: crawler names are not compared with it."""
        robots = read(BODY, PROFILE)
        assert robots.select_groups("EXAMPLE-TRAINING").groups == ()
        assert robots.groups[0].user_agents == ()

    def test_a_reader_chooses_its_groups(self, read: Read) -> None:
        """Rules of the groups a reader chose are matched like any others."""
        (group,) = groups_for(read(BODY, PROFILE), "example-training")
        assert [str(rule) for rule in group.rules] == ["Disallow: /papers/"]
        (shared,) = groups_for(read(BODY, PROFILE), "example-search")
        assert shared.user_agents == ("other",)

    def test_without_it_the_same_file_has_other_groups(self, read: Read) -> None:
        """Undeclared, the record is kept, is OTHER and has no effect on grouping (§2.2.4)."""
        robots = read(BODY)
        assert [group.user_agents for group in robots.groups] == [("other",), ("ExampleBot",)]
        assert [r.role for r in robots.records if r.key == "example-purpose"] == [Role.OTHER] * 2
        assert [r.group for r in robots.records if r.key == "example-purpose"] == [None, 0]

    def test_a_spelling_of_it(self, read: Read) -> None:
        """A declared spelling opens the same groups, with a note."""
        robots = read(BODY.replace("Example-Purpose", "Purpose"), PROFILE)
        assert len(groups_for(robots, "example-search")) == 1
        assert [note.code for note in robots.notes].count("typo") == 2

    def test_the_engine_selects_by_its_key(self, engine: ModuleType) -> None:
        """The engine selects groups by the given key, so no other selector is needed."""
        document = engine.parse(BODY.encode(), PROFILE.settings(engine), True)
        assert document.select(b"example-purpose", b"example-search") == [1]
        assert document.select(b"user-agent", b"example-search") == []


# --- A path-scoped record: the same matcher, the reader's ties ------------------------------------


def usage(robots: RobotsTxt, url: str, token: str, engine: ModuleType) -> list[str]:
    """Return the values of records like Content-Usage for a URL: all that tie apply."""
    patterns, values = [], []
    for group in robots.select_groups(token).groups:
        for record in group.records:
            if record.key == "example-usage":
                path, _, value = record.text.partition(" ")
                patterns.append(path)
                values.append(value)
    rules = RuleSet.from_patterns(patterns, robots.profile, engine=engine)
    return [values[position] for position in rules.tied_rules(url)]


class TestPathScoped:
    """A path-scoped record from outside is matched by a rule set, and its reader decides ties."""

    @pytest.mark.parametrize(
        ("url", "found"),
        [
            ("/papers/a", ["usage=n"]),
            ("/papers/open-access", ["usage=y"]),
            ("/papers/ok?n=1", ["usage=maybe"]),
            ("/a.pdf", ["usage=z"]),
            ("https://e.example/p%61pers/a", ["usage=n"]),
            ("/elsewhere", []),
        ],
    )
    def test_the_longest_pattern(
        self, read: Read, engine: ModuleType, url: str, found: list[str]
    ) -> None:
        """The record whose pattern has the most octets applies, in normal form, with wildcards."""
        assert usage(read(BODY, PROFILE), url, "ExampleBot", engine) == found

    def test_ties(self, read: Read, engine: ModuleType) -> None:
        """All records that tie are reported, in the order of the file."""
        text = "User-agent: a\nExample-Usage: /a* x\nExample-Usage: /*a y\nExample-Usage: /a z"
        assert usage(read(text, PROFILE), "/aa", "a", engine) == ["x", "y"]

    def test_it_never_touches_the_verdict(self, read: Read) -> None:
        """Allow and disallow are decided as if the record were not there (§2.2.4)."""
        without = "\n".join(line for line in BODY.splitlines() if "usage" not in line.lower())
        for url in ("/papers/a", "/private/x", "/a.pdf"):
            for token in ("ExampleBot", "other", "nobody"):
                one, other = read(BODY, PROFILE), read(without, PROFILE)
                assert one.check(url, token).allowed == other.check(url, token).allowed

    def test_it_needs_no_declaration(self, read: Read, engine: ModuleType) -> None:
        """An OTHER record is kept whether or not a profile declares it."""
        assert usage(read(BODY), "/papers/a", "ExampleBot", engine) == ["usage=n"]


# --- Undeclared records ---------------------------------------------------------------------------


class TestUnknown:
    """An unknown record is kept with its span and its group (§2.2.4)."""

    @pytest.mark.parametrize("profile", [DEFAULT, PROFILE, GOOGLE])
    def test_it_is_kept(self, read: Read, profile: Profile) -> None:
        """Key, value, positions and group are there for whoever comes later."""
        robots = read(BODY, profile)
        (record,) = [record for record in robots.records if record.key == "x-later"]
        assert record.role is Role.OTHER
        assert record.text == "unknown to everybody"
        assert robots.body[record.start : record.end] == record.value
        assert robots.body[record.key_start : record.key_end] == b"X-Later"
        assert record.group == robots.select_groups("ExampleBot").groups[0].index
        assert record in robots.groups[record.group].records
        assert (record.line, record.column) == (7, 10)

    def test_before_any_group(self, read: Read) -> None:
        """Before the first group it belongs to the file."""
        (record,) = read("X-Later: 1", PROFILE).records
        assert (record.key, record.group) == ("x-later", None)


class TestRule:
    """An external RULE record ends the list of user-agent lines, and has no effect on verdicts."""

    def test_it_closes_the_list(self, read: Read) -> None:
        """A user-agent line after it opens a new group."""
        profile = DEFAULT.with_extensions(Extension("Example-Rule", role=Role.RULE))
        robots = read("User-agent: a\nExample-Rule: /\nUser-agent: b\nDisallow: /", profile)
        assert [group.user_agents for group in robots.groups] == [("a",), ("b",)]
        assert robots.groups[0].rules == ()
        assert robots.check("/", "a").reason == "no-rules"

    def test_outside_a_group(self, read: Read) -> None:
        """Before the first user-agent line it applies to no crawler, and is noted."""
        profile = DEFAULT.with_extensions(Extension("Example-Rule", role=Role.RULE))
        assert [note.code for note in read("Example-Rule: x", profile).notes] == [
            "rule-outside-group"
        ]
