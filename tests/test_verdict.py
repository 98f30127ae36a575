"""Verdicts and explanations: the decision, the deciding rule, and the other matches."""

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
    """Return a verdict by RULE with the given parts changed."""
    parts = {"allowed": False, "reason": Reason.DISALLOW_RULE, "rule": RULE, "profile": "default"}
    return Verdict(**{**parts, **changes})


class Source:
    """A rule source with RULE only, which records accesses."""

    def __init__(self) -> None:
        self.accessed: list[int] = []

    def rule(self, number: int) -> Rule:
        """Return RULE for any number."""
        self.accessed.append(number)
        return RULE


class Described:
    """A value that another package adds to an explanation, with a form for JSON."""

    def as_dict(self) -> dict[str, Any]:
        """Return how the file was obtained."""
        return {"status": 200}

    def short_dict(self) -> dict[str, Any]:
        """Return the crawler."""
        return {"name": "ExampleBot"}


class TestVerdict:
    """A verdict is a value whose truth value is `allowed`."""

    def test_its_parts(self) -> None:
        """A verdict has `allowed`, a reason, a rule, a line and a profile."""
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
        """Without a deciding rule a verdict has no rule and no line; its text has the reason."""
        made = verdict(allowed=True, reason=Reason.NO_MATCH, rule=None)
        assert made.rule is None
        assert made.line is None
        assert str(made) == "allowed: no rule matches"
        assert made.as_dict()["rule"] is None

    def test_text(self) -> None:
        """The text of a verdict has line and rule."""
        assert str(verdict()) == "disallowed by line 2: Disallow: /x"
        assert repr(verdict()) == "<Verdict, profile default: disallowed by line 2: Disallow: /x>"

    def test_a_rule_is_read_once_on_demand(self) -> None:
        """A verdict with a rule source reads the rule once, on the first access."""
        source = Source()
        made = verdict(rule=(source, 7))
        assert source.accessed == []
        assert (made.rule, made.line, made.rule) == (RULE, 2, RULE)
        assert source.accessed == [7]

    def test_it_is_immutable(self) -> None:
        """No public attribute of a verdict can be set, and no attribute can be added."""
        made = verdict()
        for name in ("allowed", "reason", "rule", "line", "profile", "other"):
            with pytest.raises(AttributeError):
                setattr(made, name, None)

    @pytest.mark.parametrize(
        "changes",
        [{"allowed": True}, {"reason": Reason.NO_MATCH}, {"rule": None}, {"profile": "google"}],
    )
    def test_it_compares_by_value(self, changes: dict[str, Any]) -> None:
        """Verdicts are equal if all parts are equal, however the rule was given."""
        assert verdict() == verdict(rule=(Source(), 7))
        assert hash(verdict()) == hash(verdict(rule=(Source(), 7)))
        assert verdict() != verdict(**changes)
        assert verdict() != "disallowed"
        assert len({hash(verdict(profile=str(number))) for number in range(9)}) > 1

    def test_it_survives_pickle(self, read: Read) -> None:
        """A verdict of a file is the same after a round trip without the file."""
        made = read("User-agent: *\nDisallow: /x").check("/x", "a")
        assert pickle.loads(pickle.dumps(made)) == made

    def test_as_dict(self) -> None:
        """`as_dict` returns the parts by name, as plain data."""
        assert json.loads(json.dumps(verdict().as_dict())) == {
            "allowed": False,
            "reason": "disallow-rule",
            "rule": RULE.as_dict(),
            "profile": "default",
        }


def test_reasons_are_codes_with_sentences() -> None:
    """Every reason is a stable slug that programs can switch on, with a sentence."""
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
    """Each reason is given in the documented case."""
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
    """An explanation has groups, normal form, winner and losers."""

    @pytest.fixture
    def explanation(self, read: Read) -> Explanation:
        """An explanation with every outcome but one."""
        return read(BODY).explain("https://example.com/shop/op%65n?", "examplebot")

    def test_its_parts(self, explanation: Explanation) -> None:
        """It has the URL as given, the path in normal form, and how the groups were selected."""
        assert explanation.url == "https://example.com/shop/op%65n?"
        assert explanation.path == "/shop/open?"
        assert explanation.product_token == "examplebot"
        assert explanation.matched_by is GroupMatch.TOKEN
        assert [group.index for group in explanation.groups] == [1, 2]

    def test_every_match_has_its_outcome(self, explanation: Explanation) -> None:
        """All rules that match are in order of precedence, each with its outcome."""
        assert [
            (match.rule.line, str(match.outcome), match.group) for match in explanation.matches
        ] == [
            (5, "wins", 1),
            (7, "later-line", 1),
            (6, "allow-wins-tie", 1),
            (10, "fewer-octets", 2),
            (4, "fewer-octets", 1),
        ]
        assert explanation.winner == explanation.matches[0]
        assert explanation.losers == explanation.matches[1:]
        assert explanation.verdict.rule == explanation.matches[0].rule

    def test_notes_of_the_groups_and_of_the_file(self, read: Read) -> None:
        """Notes are those on the selected groups and those on the whole file."""
        text = "\ufeffDisallow: /\nUser-agent: a\nfoo\nDisallow: x\nUser-agent: b\nfoo\nAllow: /"
        explanation = read(text).explain("/x", "a")
        assert [(note.code, note.line) for note in explanation.notes] == [
            ("bom", None),
            ("no-separator", 3),
            ("pattern-start", 4),
        ]

    def test_notes_up_to_the_next_group(self, read: Read) -> None:
        """A line after the last record of a group belongs to it, also at the end of the file."""
        text = "foo\nUser-agent: a\nDisallow: /\nfoo\n\nbar\nUser-agent: b\nAllow: /\nfoo"
        robots = read(text)
        assert [note.line for note in robots.notes] == [1, 4, 6, 9]
        assert [note.line for note in robots.explain("/", "a").notes] == [4, 6]
        assert [note.line for note in robots.explain("/", "b").notes] == [9]
        assert robots.explain("/", "c").notes == ()

    def test_robots_txt_is_not_consulted(self, read: Read) -> None:
        """For `/robots.txt` the rules that match have the outcome not-consulted (AMB-45)."""
        explanation = read("User-agent: *\nDisallow: /").explain("/robots.txt", "a")
        assert explanation.matched_by is GroupMatch.STAR
        assert [match.outcome for match in explanation.matches] == [Outcome.NOT_CONSULTED]
        assert explanation.winner is None
        assert explanation.verdict.allowed

    def test_no_group_for_the_crawler(self, read: Read) -> None:
        """Without a group there is no match and no winner, and the reason is no-group."""
        explanation = read("User-agent: b\nDisallow: /").explain("/", "a")
        assert explanation.matched_by is GroupMatch.NONE
        assert (explanation.groups, explanation.matches, explanation.winner) == ((), (), None)
        assert explanation.as_dict()["winner"] is None

    def test_a_crawler_with_two_names(self, read: Read) -> None:
        """Several product tokens are shown as a list."""
        explanation = read("User-agent: b\nDisallow: /").explain("/", ["a", "b"])
        assert explanation.product_token == "a, b"
        assert explanation.matched_tokens == ("b",)
        assert not explanation.verdict

    def test_the_tokens_that_groups_name(self, read: Read) -> None:
        """The names that selected the groups; none if the star groups apply."""
        text = "User-agent: a\nDisallow: /\nUser-agent: b\nDisallow: /\nUser-agent: *\nAllow: /"
        assert read(text).explain("/", ["x", "b", "a"]).matched_tokens == ("b",)
        assert read(text, "google").explain("/", ["x", "b", "a"]).matched_tokens == ("b", "a")
        assert read(text).explain("/", "x").matched_tokens == ()
        assert read(text).explain("/", "*").matched_tokens == ()

    def test_a_url_in_octets(self, read: Read) -> None:
        """A URL given as octets is shown as text."""
        explanation = read("User-agent: *\nDisallow: /caf\u00e9").explain(b"/caf\xe9", "a")
        assert (explanation.url, explanation.path) == ("/caf\\xe9", "/caf%E9")

    def test_an_index_page_loses_by_the_octets_of_its_directory(self, read: Read) -> None:
        """Profile google: the match is `/d/$`, so a longer rule wins (AMB-47)."""
        robots = read("User-agent: *\nAllow: /d/index.html\nDisallow: /d/**", "google")
        explanation = robots.explain("/d/", "a")
        assert not explanation.verdict
        assert [str(match.outcome) for match in explanation.matches] == ["wins", "fewer-octets"]

    def test_an_index_page_is_shown_once(self, read: Read) -> None:
        """Profile google: a rule that matches as page and as directory is one match (AMB-47)."""
        robots = read("User-agent: *\nAllow: /*/index.html\nDisallow: /", "google")
        explanation = robots.explain("/d/", "a")
        assert [match.rule.line for match in explanation.matches] == [2, 3]
        assert explanation.verdict.allowed

    def test_it_survives_pickle_and_compares_by_value(
        self, read: Read, explanation: Explanation
    ) -> None:
        """An explanation is a value: immutable, compared by value, the same after a round trip."""
        assert pickle.loads(pickle.dumps(explanation)) == explanation
        assert hash(explanation) == hash(pickle.loads(pickle.dumps(explanation)))
        assert explanation != read(BODY).explain("/", "examplebot")
        with pytest.raises(AttributeError):
            explanation.url = "/"  # type: ignore[misc]

    def test_as_dict_has_a_stable_schema(self, explanation: Explanation) -> None:
        """`as_dict` returns plain data; its keys do not change without a new schema number."""
        shown = json.loads(json.dumps(explanation.as_dict()))
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
        assert shown["winner"] == explanation.matches[0].as_dict()
        assert list(shown["winner"])[:3] == ["outcome", "group", "key"]
        assert shown["losers"][0]["outcome"] == "later-line"
        assert shown["notes"] == [note.as_dict() for note in explanation.notes]

    def test_parts_of_other_packages(self, explanation: Explanation) -> None:
        """Access and well-known crawler are included if they are set."""
        shown = explanation.as_dict()
        assert (shown["access"], shown["known"]) == (None, None)
        shown = explanation._replace(access=Described(), known=Described()).as_dict()
        assert (shown["access"], shown["known"]) == ({"status": 200}, {"name": "ExampleBot"})
