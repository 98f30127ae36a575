"""Two files: for every crawler with different rules, what changes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from robotrules import DEFAULT, GroupMatch, RobotsTxt, analysis, parse
from robotrules.analysis import Crawler, FileDifference, RecordDifference, files, solver
from robotrules.analysis.record_diff import diff_records
from robotrules.errors import ProfileMismatchError
from robotrules.registries.crawlers import KNOWN_CRAWLERS

Read = Callable[..., RobotsTxt]
ONE, TWO = "EXAMPLE-PURPOSE-1", "EXAMPLE-PURPOSE-2"
TANGLE = "".join(f"Allow: /*{a}*{b}*\n" for a in "abc" for b in "hij")


def compared(read: Read, old: str, new: str, **options: Any) -> FileDifference:
    """Compare two texts."""
    return analysis.compare(read(old), read(new), **options)


def told(found: FileDifference) -> dict[str, tuple[bool | None, list[str]]]:
    """Return for each crawler whether it is the same, and the witnesses if not."""
    return {
        crawler.name: (
            change.difference.equal,
            [region.witness.path for region in change.difference.regions],
        )
        for change in found.changes
        for crawler in change.crawlers
    }


class TestCrawlers:
    """All crawlers are compared; those that obey the same groups in both files, together."""

    def test_by_name(self, read: Read) -> None:
        """A group changes for the crawlers it names, and for no others."""
        found = compared(
            read,
            "User-agent: *\nDisallow: /a\n\nUser-agent: Foo\nDisallow: /b\n",
            "User-agent: *\nDisallow: /a\n\nUser-agent: Foo\nDisallow: /c\n",
        )
        assert told(found) == {"Foo": (False, ["/b", "/c"]), "everyone else": (True, [])}
        assert found.equal is False
        assert found.profile == "default"

    def test_a_group_of_ones_own(self, read: Read) -> None:
        """A crawler that gets a group no longer obeys that of `*`."""
        found = compared(
            read,
            "User-agent: *\nDisallow: /a\n",
            "User-agent: *\nDisallow: /a\n\nUser-agent: Foo\nDisallow: /b\n",
        )
        assert told(found) == {"Foo": (False, ["/a", "/b"]), "everyone else": (True, [])}
        change = found.changes[0]
        assert (change.old.matched_by, change.old.lines) == (GroupMatch.STAR, (1,))
        assert (change.new.matched_by, change.new.lines) == (GroupMatch.TOKEN, (4,))

    def test_together(self, read: Read) -> None:
        """Crawlers with the same groups before and after are one change."""
        old = "User-agent: A\nUser-agent: B\nDisallow: /x\n"
        found = compared(read, old, "User-agent: B\nDisallow: /x\nUser-agent: A\nAllow: /\n")
        assert [[one.name for one in change.crawlers] for change in found.changes] == [
            ["A"],
            ["B"],
            ["everyone else"],
        ]
        found = compared(read, old, old.replace("/x", "/y"))
        assert [[one.name for one in change.crawlers] for change in found.changes] == [
            ["A", "B"],
            ["everyone else"],
        ]

    def test_groups_merged(self, read: Read) -> None:
        """Two groups for one crawler are one rule set (RFC 9309 §2.2.1)."""
        found = compared(
            read,
            "User-agent: A\nDisallow: /x\n\nUser-agent: A\nDisallow: /y\n",
            "User-agent: a\nDisallow: /y\nDisallow: /x\n",
        )
        assert found.equal is True
        assert found.changes[0].old.lines == (1, 4)

    def test_names_outside_the_grammar(self, read: Read) -> None:
        """`MJ12bot` is reported under that name, and `MJ` is omitted."""
        found = compared(read, "User-agent: MJ12bot\nDisallow: /", "")
        assert told(found) == {"MJ12bot": (False, ["/"]), "everyone else": (True, [])}

    def test_leading_letters_that_obey_another(self, read: Read) -> None:
        """If `MJ` has its own group, both are reported."""
        found = compared(
            read, "User-agent: MJ12bot\nDisallow: /a\n\nUser-agent: MJ\nDisallow: /b\n", ""
        )
        assert set(told(found)) == {"MJ12bot", "MJ", "everyone else"}

    def test_purposes(self, read: Read) -> None:
        """The group of a purpose changes for crawlers that no group names."""
        found = compared(
            read,
            f"User-agent: Foo\nAllow: /\n\nUser-agent-purpose: {ONE}\nDisallow: /a\n",
            f"User-agent: Foo\nAllow: /\n\nUser-agent-purpose: {ONE}\nDisallow: /\n",
        )
        assert told(found) == {
            "Foo": (True, []),
            f"purpose {ONE}": (False, ["/"]),
            "everyone else": (True, []),
        }

    def test_two_purposes(self, read: Read) -> None:
        """A crawler with both purposes obeys both groups: a change that needs both is found."""
        old = f"User-agent-purpose: {ONE}\nDisallow: /a\n\nUser-agent-purpose: {TWO}\nAllow: /a\n"
        new = f"User-agent-purpose: {ONE}\nDisallow: /a\n\nUser-agent-purpose: {TWO}\nAllow: /b\n"
        found = compared(read, old, new)
        assert told(found)[f"purpose {ONE}"] == (True, [])
        assert told(found)[f"purpose {TWO}"] == (True, [])
        assert told(found)[f"purposes {ONE} and {TWO}"] == (False, ["/a"])
        assert found.equal is False

    def test_named_here_and_by_purpose_there(self, read: Read) -> None:
        """A crawler named in the old file may obey its purpose's group in the new one."""
        found = compared(
            read,
            "User-agent: Foo\nDisallow: /a\n",
            f"User-agent-purpose: {ONE}\nDisallow: /b\n",
        )
        assert told(found)[f"Foo with purpose {ONE}"] == (False, ["/a", "/b"])


class TestSame:
    """Files that only look different are proved equal."""

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("", "# nothing\n"),
            ("", "User-agent: *\nAllow: /\n"),
            ("User-agent: *\nDisallow:\n", "User-agent: Foo\nDisallow:\n"),
            ("User-agent: *\nDisallow: /a\n", "\ufeffUSER-AGENT:*\r\ndisallow:/a*#x\r\n"),
            (
                "User-agent: A\nDisallow: /\n\nUser-agent: B\nDisallow: /\n",
                "User-agent: B\nUser-agent: A\nDisallow: *\n",
            ),
            ("Sitemap: https://example.com/a", "User-agent: *\nSitemap: https://example.com/a"),
        ],
    )
    def test_equal(self, read: Read, old: str, new: str) -> None:
        """True, for all crawlers, and no other records."""
        found = compared(read, old, new)
        assert found.equal is True
        assert found.statements == ()
        assert found.complete

    def test_itself(self, read: Read) -> None:
        """A file is equal to itself under each profile."""
        body = "User-agent: a\nDisallow: /*x\nCrawl-delay: 3\nContent-Usage: /a train-ai=n\n"
        for profile in ("default", "strict", "google"):
            robots = read(body, profile)
            found = analysis.compare(robots, robots)
            assert (found.equal, found.profile) == (True, profile)


class TestStatements:
    """Differences of other records, each once."""

    def test_of_the_file_first(self, read: Read) -> None:
        """Records of the file have no crawlers."""
        found = compared(
            read,
            "User-agent: *\nCrawl-delay: 1\nSitemap: https://example.com/a\n",
            "User-agent: *\nCrawl-delay: 2\nSitemap: https://example.com/b\n",
        )
        assert [(one.record, one.crawlers) for one in found.statements] == [
            ("Sitemap", ()),
            ("Crawl-delay", (Crawler("*"),)),
        ]
        assert found.equal is False
        assert told(found) == {"everyone else": (True, [])}

    def test_the_same_to_several(self, read: Read) -> None:
        """The same difference for several classes of crawlers is reported once."""
        old = "User-agent: A\nUser-agent: *\nCrawl-delay: 1\n\nUser-agent: A\nDisallow: /x\n"
        (found,) = compared(read, old, old.replace("Crawl-delay: 1", "Crawl-delay: 9")).statements
        assert [crawler.name for crawler in found.crawlers] == ["A", "everyone else"]

    def test_undecided_is_not_a_difference(self, read: Read) -> None:
        """If a difference of records is undecided, so is that of the files."""
        lines = "Content-Usage: /a*c train-ai=n\n", "Content-Usage: /*bc search=y\n"
        old, new = ("User-agent: *\n" + "".join(order) for order in (lines, lines[::-1]))
        found = compared(read, old, new)
        assert found.equal is None
        assert [one.is_decided for one in found.statements] == [False]
        found = compared(read, old + "Disallow: /", new)
        assert found.equal is False


class TestLimits:
    """An undecided or incomplete result is never equal."""

    def test_budget(self, read: Read) -> None:
        """None: no difference was found, and not everything decided."""
        old, new = (
            f"User-agent: *\n{TANGLE}{more}" for more in ("Disallow: /*abc*def", "Allow: /*q")
        )
        found = compared(read, old, new, max_states=2)
        assert found.equal is None
        assert found.changes[0].difference.complete is False
        assert compared(read, old, new).equal is False

    def test_most(self, read: Read) -> None:
        """The bound on regions is for each crawler."""
        old = "User-agent: *\nDisallow: /a\nDisallow: /b\nDisallow: /c\n"
        found = compared(read, old, "", max_regions=2)
        assert len(found.changes[0].difference.regions) == 2

    def test_too_many_purposes(self, read: Read) -> None:
        """A file that names too many is never equal, not even to itself."""
        body = "".join(f"User-agent-purpose: P{n}\nDisallow: /{n}\n" for n in range(6))
        found = compared(read, body, body)
        assert (found.equal, found.complete) == (None, False)

    def test_many_names(self, native: ModuleType) -> None:
        """A change in the last of very many names is found."""
        names = [f"bot-{'x' * (n % 50)}-{'y' * (n // 50)}" for n in range(1_200)]
        old = "".join(f"User-agent: {name}\n" for name in names) + "Disallow: /\n"
        new = old.replace(f"User-agent: {names[-1]}\n", "")
        found = analysis.compare(*(parse(body, engine=native) for body in (old, new)))
        assert found.equal is False
        assert told(found)[names[-1]] == (False, ["/"])
        assert len(found.changes) == 3

    def test_progress(self, read: Read) -> None:
        """It is called with the progress, from none to all."""
        steps: list[tuple[int, int]] = []
        old = "User-agent: A\nDisallow: /\n\nUser-agent: B\nAllow: /\n"
        compared(read, old, "", progress=lambda done, of: steps.append((done, of)))
        assert steps == [(0, 3), (1, 3), (2, 3), (3, 3)]


class TestMisuse:
    """Values that cannot be compared are refused, with how to fix it."""

    def test_not_files(self, read: Read) -> None:
        """Text and rule sets are not files."""
        with pytest.raises(TypeError, match=r"RobotsTxt, not str: pass robotrules\.parse\(body\)"):
            analysis.compare("User-agent: *", read(""))  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="a file is a RobotsTxt"):
            analysis.compare(read(""), read("").rules_for("a"))  # type: ignore[arg-type]

    def test_other_profiles(self, read: Read) -> None:
        """Two profiles read files differently."""
        with pytest.raises(ProfileMismatchError, match="'strict' and 'google'"):
            analysis.compare(read("", "strict"), read("", "google"))
        changed = DEFAULT.replace(match_robots_txt=True)
        with pytest.raises(ProfileMismatchError, match="parse both with the same one"):
            analysis.compare(read(""), read("", changed))

    def test_budgets(self, read: Read) -> None:
        """A budget is a number of states."""
        with pytest.raises(ValueError, match="pass how many states"):
            compared(read, "User-agent: a", "", max_states=0)


def test_json(read: Read) -> None:
    """All of it as plain values, with the crawlers and the groups they obey."""
    found = compared(
        read,
        f"User-agent: A\nDisallow: /x\nCrawl-delay: 1\nUser-agent-purpose: {ONE}\nAllow: /\n",
        "User-agent: *\nDisallow: /y\n",
    )
    plain = found.as_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert (plain["schema"], plain["equal"], plain["complete"]) == (1, False, True)
    first = plain["changes"][0]
    assert first["crawlers"][0]["name"] == "A"
    assert first["old"] == {"matched_by": str(GroupMatch.TOKEN), "lines": [1], "by": None}
    assert first["regions"][0]["witness"]["path"] in ("/x", "/y")
    assert plain["statements"][0]["record"] == "Crawl-delay"
    assert all(isinstance(one, RecordDifference) for one in found.statements)
    assert solver.MAX_STATES == analysis.MAX_STATES


@pytest.mark.parametrize("seed", range(30))
def test_well_known_crawlers(seed: int) -> None:
    """Files proved equal by the registry are equal for each of its crawlers, and vice versa."""
    choose = random.Random(seed)
    names = ["Googlebot", "Googlebot-News", "AdsBot-Google", "Yandex", "YandexMobileBot"]
    texts = [
        "\n\n".join(
            # By their names alone nearly all have the same rules.
            f"User-agent: {name}\nDisallow: {'/b' if choose.random() < 0.1 else '/a'}"
            for name in ["*", *choose.sample(names, choose.randint(0, 2))]
        )
        for _ in range(2)
    ]
    old, new = map(parse, texts)
    found = analysis.compare(old, new, literal=False)
    everybody = [one.names for one in KNOWN_CRAWLERS]
    changed = any(
        old.check(path, who).allowed != new.check(path, who).allowed
        for path in ("/a", "/b")
        for who in [*everybody, "*"]
    )
    assert found.equal is not changed
    for change in found.changes:
        for crawler in change.crawlers:
            lines = [group.starts[0].line for group in old.select_groups(crawler.names).groups]
            assert tuple(lines) == change.old.lines


def parted(names: int, shift: int = 0) -> RobotsTxt:
    """Return a file whose user-agent lines Content-Usage separates, each with another value."""
    starts = "".join(
        f"User-agent: a{n}\nContent-Usage: /{n + shift} train-ai=n\n" for n in range(names)
    )
    return parse(f"{starts}Disallow: /x\n".encode())


class TestPartedNames:
    """Many names that obey one group and read different records (AMB-29)."""

    @pytest.fixture
    def asked(self, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
        """The crawlers for which records are compared."""
        found: list[Any] = []
        compared: Callable[..., Any] = diff_records

        def count(old: Any, new: Any, crawler: Any, *rest: Any, **options: Any) -> Any:
            found.extend([crawler] if crawler else [])
            return compared(old, new, crawler, *rest, **options)

        monkeypatch.setattr(files, "diff_records", count)
        return found

    def test_the_same_octets(self, asked: list[Any]) -> None:
        """They are equal, and no record is read for that."""
        found = files.compare(parted(50), parted(50))
        assert (found.equal, found.complete, found.statements, asked) == (True, True, (), [])

    def test_records_count(self, asked: list[Any]) -> None:
        """Comparing records counts states, and a crawler that was not compared is not equal."""
        found = files.compare(parted(50), parted(50, 1), max_states=1)
        assert 0 < len(asked) < 50
        assert not found.complete
        assert len(files.compare(parted(50), parted(50, 1)).statements) == 51

    def test_undecided(self) -> None:
        """A file with too many different crawlers is not proved equal."""
        old, new = parted(50), parse(parted(50).body + b"# the same\n")
        assert files.compare(old, new).equal is True
        assert files.compare(old, new, max_states=1).equal is None

    def test_records_are_read_once(self) -> None:
        """A file keeps which records are of which group."""
        robots = parted(3)
        keys = ("content-usage",)
        assert robots._document_records(keys) is robots._document_records(keys)
        assert [len(found) for found in robots._document_records(keys).by_group.values()] == [1] * 3
