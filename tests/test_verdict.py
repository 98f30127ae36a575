"""Verdicts and explanations: what was decided, by what, and what else matched."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from robotrules import Explanation, Outcome, Reason, RobotsTxt, Rule, Verdict
from robotrules.robotstxt.verdict import SCHEMA_VERSION, GroupMatch

Read = Callable[..., RobotsTxt]
RULE = Rule(False, "/x", "/x", 2, 2, 11, 20, 22)


def verdict(**changes: Any) -> Verdict:
    """Return a verdict by RULE that differs in the given parts."""
    parts = {"allowed": False, "reason": Reason.DISALLOW_RULE, "rule": RULE, "profile": "default"}
    return Verdict(**{**parts, **changes})


class Source:
    """Where RULE is written; remembers who asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def rule(self, number: int) -> Rule:
        """Return RULE, whatever the number."""
        self.asked.append(number)
        return RULE


class Shown:
    """What somebody else adds to an explanation: it can be shown as plain values."""

    def as_dict(self) -> dict[str, Any]:
        """Return how the file was got."""
        return {"status": 200}

    def short_dict(self) -> dict[str, Any]:
        """Return which crawler it is."""
        return {"name": "ExampleBot"}


class TestVerdict:
    """A verdict is a value whose truth is `allowed`."""

    def test_its_parts(self) -> None:
        """A verdict says whether, why, by which rule and line, and under which profile."""
        made = verdict()
        assert (made.allowed, made.reason, made.rule, made.line) == (
            False,
            Reason.DISALLOW_RULE,
            RULE,
            2,
        )
        assert made.profile == "default"

    def test_truth(self) -> None:
        """`bool(verdict)` is `allowed`."""
        assert not verdict()
        assert verdict(allowed=True)

    def test_without_a_rule(self) -> None:
        """A verdict no rule decided has no rule and no line, and says its reason in words."""
        made = verdict(allowed=True, reason=Reason.NO_MATCH, rule=None)
        assert made.rule is None
        assert made.line is None
        assert str(made) == "allowed: no rule matches"
        assert made.as_dict()["rule"] is None

    def test_words(self) -> None:
        """A verdict reads as a sentence with line and rule."""
        assert str(verdict()) == "disallowed by line 2: Disallow: /x"
        assert repr(verdict()) == "<Verdict, profile default: disallowed by line 2: Disallow: /x>"

    def test_a_rule_is_read_once_when_asked_for(self) -> None:
        """A verdict that knows where its rule is written reads it once, when somebody wants it."""
        source = Source()
        made = verdict(rule=(source, 7))
        assert source.asked == []
        assert (made.rule, made.line, made.rule) == (RULE, 2, RULE)
        assert source.asked == [7]

    def test_it_cannot_be_changed(self) -> None:
        """No public attribute of a verdict can be set, and no other added."""
        made = verdict()
        for name in ("allowed", "reason", "rule", "line", "profile", "other"):
            with pytest.raises(AttributeError):
                setattr(made, name, None)

    @pytest.mark.parametrize(
        "changes",
        [{"allowed": True}, {"reason": Reason.NO_MATCH}, {"rule": None}, {"profile": "google"}],
    )
    def test_it_compares_by_value(self, changes: dict[str, Any]) -> None:
        """Verdicts are equal when all their parts are, however the rule was given."""
        assert verdict() == verdict(rule=(Source(), 7))
        assert hash(verdict()) == hash(verdict(rule=(Source(), 7)))
        assert verdict() != verdict(**changes)
        assert verdict() != "disallowed"
        assert len({hash(verdict(profile=str(number))) for number in range(9)}) > 1

    def test_it_survives_pickle(self, read: Read) -> None:
        """A verdict of a file is the same after a round trip, without its file."""
        made = read("User-agent: *\nDisallow: /x").check("/x", "a")
        assert pickle.loads(pickle.dumps(made)) == made

    def test_as_dict(self) -> None:
        """`as_dict` is plain and has the parts by name."""
        assert json.loads(json.dumps(verdict().as_dict())) == {
            "allowed": False,
            "reason": "disallow-rule",
            "rule": RULE.as_dict(),
            "profile": "default",
        }


def test_reasons_are_codes_with_sentences() -> None:
    """Every reason is a stable slug a program can switch on, and a sentence for people."""
    assert [str(reason) for reason in Reason] == [
        "allow-rule",
        "disallow-rule",
        "no-match",
        "no-rules",
        "no-group",
        "implicitly-allowed",
        "empty-rule",
        "unavailable",
        "unreachable",
        "restricted",
        "no-origin",
    ]
    assert len({reason.sentence for reason in Reason}) == len(Reason)


@pytest.mark.parametrize(
    ("body", "url", "profile", "allowed", "reason", "line"),
    [
        ("User-agent: a\nAllow: /x", "/x", "default", True, "allow-rule", 2),
        ("User-agent: a\nDisallow: /x", "/x", "default", False, "disallow-rule", 2),
        ("User-agent: a\nDisallow: /x\nAllow: /x", "/x", "default", True, "allow-rule", 3),
        ("User-agent: a\nDisallow: /x", "/y", "default", True, "no-match", None),
        ("User-agent: a\nDisallow:", "/y", "default", True, "no-rules", None),
        ("User-agent: a\nDisallow: y", "/y", "default", True, "no-rules", None),
        ("User-agent: a", "/y", "default", True, "no-rules", None),
        ("User-agent: b\nDisallow: /", "/y", "default", True, "no-group", None),
        ("", "/y", "default", True, "no-group", None),
        ("User-agent: *\nDisallow: /", "/robots.txt", "default", True, "implicitly-allowed", None),
        ("", "/robots.txt", "default", True, "implicitly-allowed", None),
        ("User-agent: *\nDisallow: /", "/robots.txt", "google", False, "disallow-rule", 2),
        ("User-agent: a\nDisallow:", "/y", "google", True, "empty-rule", 2),
        ("User-agent: a\nAllow:", "/y", "google", True, "empty-rule", 2),
    ],
)
def test_every_reason_of_a_verdict(
    read: Read, body: str, url: str, profile: str, allowed: bool, reason: str, line: int | None
) -> None:
    """Each reason comes about as its documentation says."""
    made = read(body, profile).check(url, "a")
    assert (made.allowed, made.reason, made.line) == (allowed, reason, line)


BODY = """\
User-agent: other
Disallow: /
User-agent: ExampleBot
Disallow: /shop
Allow: /shop/open
disalow: /shop/****
Allow: /shop/open
Nonsense
User-agent: ExampleBot
Disallow: /*/open
Disallow: /elsewhere
"""


class TestExplanation:
    """An explanation shows groups, normal form, winner and losers."""

    @pytest.fixture
    def told(self, read: Read) -> Explanation:
        """An explanation with every outcome but one."""
        return read(BODY).explain("https://example.com/shop/op%65n?", "examplebot")

    def test_its_parts(self, told: Explanation) -> None:
        """It has the URL as given, its path as compared, and why these groups."""
        assert told.url == "https://example.com/shop/op%65n?"
        assert told.path == "/shop/open?"
        assert told.product_token == "examplebot"
        assert told.matched_by is GroupMatch.TOKEN
        assert [group.index for group in told.groups] == [1, 2]

    def test_every_match_has_its_outcome(self, told: Explanation) -> None:
        """All rules that match stand in order of precedence, each with what became of it."""
        assert [(match.rule.line, str(match.outcome), match.group) for match in told.matches] == [
            (5, "wins", 1),
            (7, "later-line", 1),
            (6, "allow-wins-tie", 1),
            (10, "fewer-octets", 2),
            (4, "fewer-octets", 1),
        ]
        assert told.winner == told.matches[0]
        assert told.losers == told.matches[1:]
        assert told.verdict.rule == told.matches[0].rule

    def test_notes_of_the_groups_and_of_the_file(self, read: Read) -> None:
        """Notes are those inside the groups obeyed, and those about the file as a whole."""
        text = "\ufeffDisallow: /\nUser-agent: a\nfoo\nDisallow: x\nUser-agent: b\nfoo\nAllow: /"
        told = read(text).explain("/x", "a")
        assert [(note.code, note.line) for note in told.notes] == [
            ("bom", None),
            ("no-separator", 3),
            ("pattern-start", 4),
        ]

    def test_notes_up_to_the_next_group(self, read: Read) -> None:
        """A line behind the last record of a group is in it, at the end of the file too."""
        text = "foo\nUser-agent: a\nDisallow: /\nfoo\n\nbar\nUser-agent: b\nAllow: /\nfoo"
        robots = read(text)
        assert [note.line for note in robots.notes] == [1, 4, 6, 9]
        assert [note.line for note in robots.explain("/", "a").notes] == [4, 6]
        assert [note.line for note in robots.explain("/", "b").notes] == [9]
        assert robots.explain("/", "c").notes == ()

    def test_robots_txt_is_not_consulted(self, read: Read) -> None:
        """For `/robots.txt` the rules that match are shown as not consulted (AMB-45)."""
        told = read("User-agent: *\nDisallow: /").explain("/robots.txt", "a")
        assert told.matched_by is GroupMatch.STAR
        assert [match.outcome for match in told.matches] == [Outcome.NOT_CONSULTED]
        assert told.winner is None
        assert told.verdict.allowed

    def test_nothing_is_for_the_crawler(self, read: Read) -> None:
        """Without a group there is no match, no winner, and the reason says so."""
        told = read("User-agent: b\nDisallow: /").explain("/", "a")
        assert told.matched_by is GroupMatch.NONE
        assert (told.groups, told.matches, told.winner) == ((), (), None)
        assert told.as_dict()["winner"] is None

    def test_a_crawler_with_two_names(self, read: Read) -> None:
        """Several product tokens are shown as a list."""
        told = read("User-agent: b\nDisallow: /").explain("/", ["a", "b"])
        assert told.product_token == "a, b"
        assert told.matched_tokens == ("b",)
        assert not told.verdict

    def test_the_tokens_that_groups_name(self, read: Read) -> None:
        """Those of a crawler's names that chose the groups; none where the star did."""
        text = "User-agent: a\nDisallow: /\nUser-agent: b\nDisallow: /\nUser-agent: *\nAllow: /"
        assert read(text).explain("/", ["x", "b", "a"]).matched_tokens == ("b",)
        assert read(text, "google").explain("/", ["x", "b", "a"]).matched_tokens == ("b", "a")
        assert read(text).explain("/", "x").matched_tokens == ()
        assert read(text).explain("/", "*").matched_tokens == ()

    def test_a_url_in_octets(self, read: Read) -> None:
        """A URL given as octets is shown as text."""
        told = read("User-agent: *\nDisallow: /caf\u00e9").explain(b"/caf\xe9", "a")
        assert (told.url, told.path) == ("/caf\\xe9", "/caf%E9")

    def test_an_index_page_loses_by_the_octets_of_its_directory(self, read: Read) -> None:
        """Profile google: what matched was `/d/$`, so a longer rule beats it (AMB-47)."""
        robots = read("User-agent: *\nAllow: /d/index.html\nDisallow: /d/**", "google")
        told = robots.explain("/d/", "a")
        assert not told.verdict
        assert [str(match.outcome) for match in told.matches] == ["wins", "fewer-octets"]

    def test_an_index_page_is_shown_once(self, read: Read) -> None:
        """Profile google: a rule that matches as page and as directory is one match (AMB-47)."""
        robots = read("User-agent: *\nAllow: /*/index.html\nDisallow: /", "google")
        told = robots.explain("/d/", "a")
        assert [match.rule.line for match in told.matches] == [2, 3]
        assert told.verdict.allowed

    def test_it_survives_pickle_and_compares_by_value(self, read: Read, told: Explanation) -> None:
        """An explanation is a value: frozen, equal to its like, the same after a round trip."""
        assert pickle.loads(pickle.dumps(told)) == told
        assert hash(told) == hash(pickle.loads(pickle.dumps(told)))
        assert told != read(BODY).explain("/", "examplebot")
        with pytest.raises(AttributeError):
            told.url = "/"  # type: ignore[misc]

    def test_as_dict_has_a_stable_schema(self, told: Explanation) -> None:
        """`as_dict` is plain; its names do not change without a new schema number."""
        shown = json.loads(json.dumps(told.as_dict()))
        assert list(shown) == [
            "schema",
            "url",
            "path",
            "profile",
            "product_token",
            "matched_tokens",
            "purposes",
            "matched_purposes",
            "allowed",
            "reason",
            "matched_by",
            "groups",
            "group_structures",
            "winner",
            "losers",
            "notes",
            "access",
            "known",
        ]
        assert shown["schema"] == SCHEMA_VERSION == 1
        assert (shown["allowed"], shown["reason"]) == (True, "allow-rule")
        assert shown["matched_by"] == "product-token"
        assert shown["groups"][1] == {
            "index": 2,
            "user_agents": ["ExampleBot"],
            "purposes": [],
            "first_line": 9,
            "last_line": 11,
            "rule_count": 2,
        }
        assert [group["rule_count"] for group in shown["groups"]] == [4, 2]
        assert shown["winner"] == told.matches[0].as_dict()
        assert list(shown["winner"])[:3] == ["outcome", "group", "key"]
        assert shown["losers"][0]["outcome"] == "later-line"
        assert shown["notes"] == [note.as_dict() for note in told.notes]

    def test_what_others_add(self, told: Explanation) -> None:
        """How the file was got, and which well-known crawler asked, are shown if they are known."""
        shown = told.as_dict()
        assert (shown["access"], shown["known"]) == (None, None)
        shown = told._replace(access=Shown(), known=Shown()).as_dict()
        assert (shown["access"], shown["known"]) == ({"status": 200}, {"name": "ExampleBot"})
