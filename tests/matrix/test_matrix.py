"""
The matrix: every cell is the engine's verdict, every summary is proved.

How it looks is tested in `test_page.py` and `test_picture.py`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules import GroupMatch, Reason, RobotsTxt, RuleSet, parse
from robotrules.analysis import Witness, describe, equivalent
from robotrules.errors import WrongWitnessError
from robotrules.matrix import SUMMARIES, Matrix, MatrixRow, matrix
from robotrules.matrix.crawler_selection import MAX_NAMED, MAX_PURPOSES
from robotrules.matrix.paths import MAX_LENGTH, MAX_PATHS, MAX_SEARCHES
from robotrules.profile import PROFILES
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS
from robotrules.robotstxt.tokens import leading_name
from tests.property import strategies

NAMES = ("*", "Googlebot", "bingbot", "msnbot", "MJ12bot", "archive.org_bot", "Own", "360Spider")
KEYS = ("Allow", "Disallow")
SEARCH = """\
User-agent: *
Disallow: /search
Allow: /search/help
Disallow: /*?sort=

User-agent: GPTBot
User-agent: Own
Disallow: /

User-agent: Twitterbot
Disallow:
"""


def asked(found: Matrix, name: str) -> MatrixRow:
    """Return the row of a crawler."""
    (one,) = (asked for asked in found.rows if asked.name == name)
    return one


def names(found: Matrix) -> list[str]:
    """Return the names of the rows."""
    return [one.name for one in found.rows]


rules = st.tuples(st.sampled_from(KEYS), strategies.patterns).map(
    lambda rule: rule[0].encode() + b": " + rule[1].replace(b"\n", b"") + b"\n"
)
agents = st.lists(st.sampled_from(NAMES), min_size=1, max_size=2).map(
    lambda found: b"".join(f"User-agent: {name}\n".encode() for name in found)
)
groups = st.tuples(agents, st.lists(rules, max_size=4).map(b"".join)).map(b"".join)
files = st.lists(groups, max_size=4).map(b"".join)


def expected_rules(robots: RobotsTxt, one: MatrixRow) -> RuleSet:
    """Return the rules of a crawler: those of the first name that a group has, else the star's."""
    wanted = tuple(one.known.names) if one.known else (one.product_token,)
    if not robots.profile.any_product_token:
        wanted = tuple(map(leading_name, wanted))
    for name in filter(None, wanted):
        if name != "*" and robots.explain("/", name).matched_by is GroupMatch.TOKEN:
            return robots.rules_for(name)
    ignores_star = one.known is not None and one.known.ignores_star
    return (parse(b"", robots.profile) if ignores_star else robots).rules_for("*")


class TestCells:
    """A cell is exactly the result of `RobotsTxt.check()`."""

    @given(body=files, profile=st.sampled_from(sorted(PROFILES)))
    def test_every_cell_is_the_engines_verdict(self, body: bytes, profile: str) -> None:
        """For every crawler and every path, under every profile."""
        robots = parse(body, profile)
        found = matrix(robots)
        for one in found.rows:
            own = expected_rules(robots, one)
            for column, cell in zip(found.columns, one.cells, strict=True):
                assert cell.path == column.path
                assert cell.verdict == own.check(f"https://example.com{cell.path}")

    @given(body=files, profile=st.sampled_from(sorted(PROFILES)))
    def test_every_summary_is_proved(self, body: bytes, profile: str) -> None:
        """Everything: equivalent to no rules. Nothing: equivalent to `Disallow: /`."""
        robots = parse(body, profile)
        everything = parse(b"", profile).rules_for("x")
        nothing = parse(b"User-agent: *\nDisallow: /", profile).rules_for("x")
        for one in matrix(robots, paths=["/"]).rows:
            own = expected_rules(robots, one)
            assert (one.summary == "everything") is equivalent(own, everything).equal
            assert (one.summary == "nothing") is equivalent(own, nothing).equal
            assert one.summary in ("everything", "some", "nothing")

    def test_both_engines(self, read: Callable[..., RobotsTxt]) -> None:
        """Both give the same result."""
        found = matrix(read(SEARCH))
        assert [one.summary for one in found.rows] == [
            one.summary for one in matrix(parse(SEARCH)).rows
        ]
        assert found.columns == matrix(parse(SEARCH)).columns

    def test_equal_groups_are_looked_up_once(self) -> None:
        """Crawlers that obey the same groups share their cells."""
        found = matrix(parse(SEARCH))
        assert asked(found, "Googlebot").cells is asked(found, "everyone else").cells
        assert asked(found, "GPTBot").cells is asked(found, "Own").cells

    def test_purposes_of_the_file(self) -> None:
        """A group for a purpose is selected as the engine does."""
        body = "User-Agent-Purpose: example-purpose\nDisallow: /a\n\nUser-agent: *\nDisallow: /b"
        robots = parse(body)
        one = asked(matrix(robots, paths=["/a", "/b"]), "example-purpose")
        assert [cell.verdict for cell in one.cells] == [
            robots.check(path, "*", ["example-purpose"]) for path in ("/a", "/b")
        ]
        assert (one.matched_by, one.by, one.lines) == (GroupMatch.PURPOSE, "example-purpose", (1,))
        assert one.group == "the group of its purpose (line 1)"

    def test_robots_txt_itself_is_ignored(self) -> None:
        """It is always allowed (RFC 9309 §2.2.2), and the summary may still be "nothing"."""
        body = "User-agent: *\nDisallow: /"
        one = asked(matrix(parse(body), paths=["/", "/robots.txt"]), "everyone else")
        assert [cell.verdict.reason for cell in one.cells] == [
            Reason.DISALLOW_RULE,
            Reason.IMPLICIT,
        ]
        assert one.summary == "nothing"


class TestSummaries:
    """About all URLs, whatever the columns show."""

    @pytest.mark.parametrize(
        ("lines", "summary"),
        [
            ("", "everything"),
            ("Disallow:", "everything"),
            ("Disallow: images/", "everything"),
            ("Disallow: /x\nAllow: /x", "everything"),
            ("Disallow: /", "nothing"),
            ("Disallow: *", "nothing"),
            ("Disallow: /\nAllow: /robots.txt$", "nothing"),
            ("Disallow: /\nAllow: /robots.txt", "some"),  # /robots.txt.bak
            ("Disallow: /\nAllow: /$", "some"),
            ("Disallow: /very/deep/*/place$", "some"),
            ("Disallow: /*\nAllow: /*.pdf$", "some"),
        ],
    )
    def test_exact(self, lines: str, summary: str) -> None:
        """The summary is independent of the columns."""
        robots = parse(f"User-agent: *\n{lines}")
        assert asked(matrix(robots, paths=["/"]), "everyone else").summary == summary

    def test_a_budget_that_is_too_small_is_reported(self) -> None:
        """The summary is neither of the others."""
        robots = parse("User-agent: *\nDisallow: /\nAllow: /*a*b*c*d*e*f$")
        found = matrix(robots, paths=["/"], max_states=1)
        obeyed = [one.summary for one in found.rows if one.matched_by is GroupMatch.STAR]
        assert set(obeyed) == {"not decided"}
        assert found.counts["not decided"] == len(obeyed)

    def test_all_questions_together_have_a_budget(self) -> None:
        """A hostile file does not get as many searches as it has groups."""
        groups = [
            f"User-agent: x{'y' * n}\nDisallow: /\nAllow: /*a*b*c*d*{n}$\n" for n in range(1, 60)
        ]
        found = matrix(parse("".join(groups)), paths=["/"], max_states=2)
        assert found.counts["not decided"] == 59

    def test_a_witness_is_verified(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The matcher confirms it, and shares no code with the search."""
        module = sys.modules["robotrules.matrix"]
        monkeypatch.setattr(module, "to_witness", lambda *_: Witness("/"))
        with pytest.raises(WrongWitnessError, match="does not have the verdict"):
            matrix(parse("User-agent: *\nDisallow: /x$"), paths=["/"])

    def test_two_columns_that_differ_settle_it(self) -> None:
        """Then no query is needed, whatever the limit."""
        robots = parse("User-agent: *\nDisallow: /x\nAllow: /x/*a*b*c*d*e*f$")
        found = matrix(robots, paths=["/", "/x"], max_states=1)
        obeyed = {one.summary for one in found.rows if one.matched_by is GroupMatch.STAR}
        assert obeyed == {"some"}

    def test_counts(self) -> None:
        """By band and altogether, in one order."""
        found = matrix(parse(SEARCH))
        assert list(found.counts) == list(SUMMARIES)
        assert sum(found.counts.values()) == len(found.rows)
        training = next(band for band in found.bands if band.name == "ai-training")
        assert training.counts["nothing"] == 1
        assert training.counts["some"] == len(training.rows) - 1


class TestCrawlers:
    """The main crawlers and those the file names; others on request."""

    def test_by_default(self) -> None:
        """Every main crawler, those that the file names, and everyone else, last."""
        found = matrix(parse("User-agent: YouBot\nUser-agent: anthropic-ai\nDisallow: /"))
        main = {known.product_token for known in KNOWN_CRAWLERS if known.is_main}
        assert set(names(found)) == main | {"YouBot", "anthropic-ai", "everyone else"}
        assert names(found)[-1] == "everyone else"

    def test_retired_ones_only_if_named(self) -> None:
        """A list of retired crawlers is not useful."""
        assert "msnbot" not in names(matrix(parse("")))
        assert "msnbot" in names(matrix(parse("User-agent: MSNBOT\nDisallow: /")))

    def test_unknown_names(self) -> None:
        """As the file spells them, in a separate band."""
        found = matrix(parse("User-agent: OurReader\nUser-agent: ourreader\nDisallow: /"))
        (band,) = (band for band in found.bands if band.name == "named in the file")
        assert [one.name for one in band.rows] == ["OurReader"]

    def test_all_crawlers(self) -> None:
        """All well-known ones, including retired ones."""
        found = matrix(parse(""), all_crawlers=True)
        assert len(found.rows) == len(KNOWN_CRAWLERS) + 1

    def test_by_purpose(self) -> None:
        """All active ones with it, and everyone else to compare."""
        found = matrix(parse("User-agent: Own\nDisallow: /"), purposes=["shopping", "archive"])
        assert names(found) == [
            *("archive.org_bot", "Arquivo-web-crawler", "heritrix", "Storebot-Google"),
            "everyone else",
        ]
        with pytest.raises(
            ValueError, match=r"'searching' is not a purpose .* pass one of search, ai-"
        ):
            matrix(parse(""), purposes=["searching"])

    def test_a_second_purpose(self) -> None:
        """Puts a crawler into the requested band."""
        found = matrix(parse(""), purposes=["research"])
        assert asked(found, "AI2Bot").band == "research"

    def test_picked(self) -> None:
        """Those, ignoring case, and no others."""
        found = matrix(parse(SEARCH), crawlers=["gptbot", "Nobody", "*", "gptbot"])
        assert names(found) == ["GPTBot", "Nobody", "everyone else"]
        assert asked(found, "Nobody").group == "the group for everyone (line 1)"
        assert [band.title for band in found.bands] == ["AI training", "Asked for", "Everyone else"]

    def test_fall_back(self) -> None:
        """bingbot obeys msnbot's group if it has none, and the row shows it (AMB-30)."""
        robots = parse("User-agent: msnbot\nDisallow: /")
        for profile in PROFILES:
            one = asked(matrix(parse(robots.body, profile)), "bingbot")
            assert (one.by, one.summary) == ("msnbot", "nothing")
            assert one.group == "the group of msnbot (line 1)"
        own = parse(
            "User-agent: msnbot\nDisallow: /\n\nUser-agent: bingbot\nDisallow: /x", "google"
        )
        assert asked(matrix(own), "bingbot").by == "bingbot"

    def test_the_placeholder_of_purposes_is_not_a_crawler(self) -> None:
        """`write` puts a name before a group of purposes; the matrix does not show it."""
        body = "User-agent: _purpose-only_\nUser-agent-purpose: EXAMPLE-PURPOSE-1\nDisallow: /x\n"
        found = matrix(parse(body))
        assert "_purpose-only_" not in names(found)
        assert asked(found, "EXAMPLE-PURPOSE-1").summary == "some"
        assert found.left_out == 0

    def test_names_outside_the_grammar(self) -> None:
        """The profile's reading of the line decides."""
        body = "User-agent: MJ12bot\nDisallow: /"
        told = {name: asked(matrix(parse(body, name)), "MJ12bot") for name in PROFILES}
        assert {name: (one.summary, one.by) for name, one in told.items()} == {
            "default": ("nothing", "MJ12bot"),
            "strict": ("nothing", "MJ12bot"),
            "google": ("everything", None),
        }
        assert "MJ" in names(matrix(parse(body, "google")))
        assert "MJ" not in names(matrix(parse(body, "strict")))

    def test_order(self) -> None:
        """Bands in the order of purposes, the main ones first, then by name."""
        found = matrix(parse(SEARCH), all_crawlers=True)
        bands = [band.name for band in found.bands]
        assert bands == [*CRAWLER_PURPOSES, "named in the file", "everyone else"]
        for band in found.bands:
            order = [
                (one.known is not None and not one.known.is_main, one.product_token.lower())
                for one in band.rows
            ]
            assert order == sorted(order)
            assert band.title
            assert band.sentence.endswith(".")

    def test_too_many_names(self) -> None:
        """Some are shown, with the number of those that are not."""
        letters = "abcdefghij"
        tokens = [f"x{a}{b}{c}" for a in letters for b in letters for c in letters][:300]
        found = matrix(parse("".join(f"User-agent: {token}\n" for token in tokens) + "Disallow: /"))
        assert found.left_out == 300 - MAX_NAMED
        many = "".join(f"User-Agent-Purpose: p{n}\nDisallow: /{n}\n" for n in range(50))
        assert matrix(parse(many)).left_out == 50 - MAX_PURPOSES

    def test_no_crawler_is_named(self) -> None:
        """There is no group, so everything is allowed."""
        one = asked(matrix(parse("")), "Googlebot")
        assert (one.summary, one.group, one.by, one.lines) == ("everything", "no group", None, ())


class TestPaths:
    """`/`, and the paths that represent the rules best."""

    def test_made_from_the_rules(self) -> None:
        """In the order of the file; the plainest that a rule decides."""
        found = matrix(parse(SEARCH))
        assert [(column.path, column.line) for column in found.columns] == [
            ("/", None),
            ("/search", 2),
            ("/search/help", 3),
            ("/?sort=", 4),
        ]

    def test_plain_ones_are_preferred(self) -> None:
        """`/x/print` and not `//print`, which is shorter."""
        found = matrix(parse("User-agent: *\nDisallow: /*/print$"))
        assert [column.path for column in found.columns] == ["/", "/x/print"]

    def test_a_path_equal_to_the_root_is_omitted(self) -> None:
        """An Allow rule where everything is allowed."""
        found = matrix(parse("User-agent: *\nAllow: /news/\nDisallow: /x"))
        assert [column.path for column in found.columns] == ["/", "/x"]

    def test_columns_have_distinct_places(self) -> None:
        """Of many rules about one place one is shown, which leaves columns for others."""
        deep = "".join(f"Disallow: /deep/{n}\n" for n in range(100))
        found = matrix(parse(f"User-agent: *\n{deep}Disallow: /one\nDisallow: /two\n"))
        assert [column.path for column in found.columns] == ["/", "/deep/0", "/one", "/two"]

    def test_a_rule_that_decides_nothing_makes_no_column(self) -> None:
        """The rule that decides instead has one."""
        found = matrix(parse("User-agent: *\nDisallow: /\nDisallow: /x/\nAllow: /x/"))
        assert [(column.path, column.line) for column in found.columns] == [
            ("/", None),
            ("/x/", 4),
        ]

    def test_few(self) -> None:
        """However many rules there are."""
        many = "".join(f"Disallow: /{n}/\n" for n in range(5000))
        assert len(matrix(parse(f"User-agent: *\n{many}")).columns) == MAX_PATHS + 1

    def test_work_is_bounded(self) -> None:
        """Of very many rules some are looked at, and each group has its share."""
        groups = [
            f"User-agent: x{'y' * n}\n" + "".join(f"Disallow: /{n}/{m}*z\n" for m in range(300))
            for n in range(1, 9)
        ]
        plain = [
            f"User-agent: z{'y' * n}\n" + "".join(f"Disallow: /p{n}/{m}\n" for m in range(300))
            for n in range(1, 9)
        ]
        with mock.patch("robotrules.matrix.paths.describe", wraps=describe) as described:
            assert len(matrix(parse("".join(groups + plain))).columns) == MAX_PATHS + 1
        assert described.call_count <= MAX_SEARCHES

    @given(body=files, profile=st.sampled_from(sorted(PROFILES)))
    def test_a_column_shows_the_rule_that_it_names(self, body: bytes, profile: str) -> None:
        """The rule of that line decides the path for some crawler; paths are unique and short."""
        found = matrix(parse(body, profile))
        paths = [column.path for column in found.columns]
        assert paths[0] == "/"
        assert len(set(paths)) == len(paths) <= MAX_PATHS + 1
        for at, column in enumerate(found.columns[1:], start=1):
            assert len(column.path) <= MAX_LENGTH
            assert column.path.isprintable()
            assert column.line in {one.cells[at].verdict.line for one in found.rows}

    def test_given(self) -> None:
        """Those and no others, each once, as paths or as URLs."""
        paths = ["/search", "//x/search", "https://other.example/search", "/search"]
        found = matrix(parse(SEARCH), paths=paths)
        assert [column.path for column in found.columns] == paths[:3]
        assert [cell.allowed for cell in asked(found, "Googlebot").cells] == [False, True, False]


class TestMisuse:
    """Errors contain the problem, its place, and a fix."""

    @pytest.mark.parametrize("name", ["crawlers", "purposes", "paths"])
    def test_a_string_is_not_a_list(self, name: str) -> None:
        """A string is an iterable of characters, which is never intended."""
        with pytest.raises(
            TypeError, match=rf"{name} are a list of str, not one: pass \['search'\]"
        ):
            matrix(parse(""), **{name: "search"})  # type: ignore[arg-type]

    def test_too_many_paths(self) -> None:
        """Such a table would be unreadable."""
        with pytest.raises(ValueError, match=r"101 paths do not fit .* at most 100"):
            matrix(parse(""), paths=[f"/{n}" for n in range(101)])


def test_json() -> None:
    """Plain values, octets that are not UTF-8 included."""
    robots = parse(b"User-agent: GPTBot\nUser-Agent-Purpose: b\xff\nDisallow: /a\xff")
    values = json.loads(json.dumps(matrix(robots, url="robots.txt").as_dict()))
    assert (values["schema"], values["url"], values["profile"]) == (1, "robots.txt", "default")
    told = {one["name"]: one for one in values["crawlers"]}
    assert "b\\xff" in told
    assert told["GPTBot"]["known"]["operator"] == "OpenAI"
    assert told["GPTBot"]["group"] == {"matched_by": "product-token", "by": "GPTBot", "lines": [1]}
    assert told["GPTBot"]["cells"][-1] == {
        "path": "/a%FF",
        "allowed": False,
        "reason": "disallow-rule",
        "line": 3,
        "rule": "Disallow: /a\\xff",
    }
    assert [path["path"] for path in values["paths"]] == ["/", "/a%FF"]
    assert values["bands"][0]["title"] == "Search"
