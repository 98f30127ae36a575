"""Evaluation: passes, failures, and the text of a failure."""

from __future__ import annotations

import json

import pytest

from robotrules import parse
from robotrules.expect import Carriers, evaluate, read_expectations
from tests.expect.evaluation import evaluate_all, evaluate_one, passed

# --- Verdicts -------------------------------------------------------------------------------------


def test_one_question_for_each_crawler_and_url() -> None:
    """Each passes or fails by itself, in the order of the file."""
    found = evaluate_all(
        'crawlers = ["Googlebot", "bingbot"]\nallowed = ["/", "/search"]\ndisallowed = "/private/"'
    )
    assert [(result.question.title, result.passed) for result in found] == [
        ("Googlebot: / is allowed", True),
        ("Googlebot: /search is allowed", False),
        ("bingbot: / is allowed", True),
        ("bingbot: /search is allowed", True),
        ("Googlebot: /private/ is disallowed", False),
        ("bingbot: /private/ is disallowed", True),
    ]
    assert [result.question.number for result in found] == [1, 2, 3, 4, 5, 6]


def test_without_crawlers_the_star_group_is_evaluated() -> None:
    """That is the group for `*`."""
    assert passed('disallowed = "/private/x"') == [True]
    assert evaluate_one('disallowed = "/private/x"').question.crawler == ("*",)


def test_a_crawler_may_have_several_names() -> None:
    """A list in the list is one crawler, with its names in its order of preference."""
    assert passed('crawlers = [["Googlebot-News", "Googlebot"]]\ndisallowed = "/search"') == [True]
    assert passed('crawlers = ["Googlebot-News"]\ndisallowed = "/search"') == [False]


def test_purposes_count_where_no_group_names_the_crawler() -> None:
    """As everywhere (draft-illyes-rep-purpose)."""
    toml = 'crawlers = ["ExampleBot"]\npurposes = ["EXAMPLE-PURPOSE-1"]\ndisallowed = "/search"'
    assert passed(toml) == [True]
    assert passed(toml.replace("PURPOSE-1", "PURPOSE-2")) == [False]


@pytest.mark.parametrize(
    ("by", "holds"),
    [
        ("by-line = 2", True),
        ("by-line = 3", False),
        ('by-rule = "Disallow: /private/"', True),
        ('by-rule = "disallow:/private/"', True),
        ('by-rule = "Disallow: /private"', False),
        ('by-rule = "Disallow: /private/*"', False),
    ],
)
def test_a_verdict_may_be_expected_of_one_line(by: str, holds: bool) -> None:
    """The right verdict by another line is a failure, and reported as such."""
    result = evaluate_one(f'disallowed = "/private/x"\n{by}')
    assert result.passed is holds
    if not holds:
        assert "another line decides" in result.cure


@pytest.mark.parametrize(
    ("name", "robots", "words"),
    [
        ("Googelbot", "", "Googelbot is not in robots.txt. Do you mean Googlebot, of Google?"),
        ("GPT-Bot", "", "GPT-Bot is not in robots.txt. Do you mean GPTBot, of OpenAI"),
        ("Googlebot", "", ""),
        ("OurReader", "", ""),
        ("Googelbot", "User-agent: googelbot\nDisallow: /x\n", ""),
    ],
)
def test_a_name_that_is_nearly_known_gets_a_hint(name: str, robots: str, words: str) -> None:
    """Not where the robots.txt has that name, too; whether it passes is another matter."""
    result = evaluate_one(f'crawlers = "{name}"\nallowed = "/"', robots)
    assert result.passed
    assert bool(result.hint) is bool(words)
    assert words in result.hint
    assert result.as_dict()["hint"] == result.hint
    assert ("hint      " in str(result)) is bool(words)


def test_without_a_rule_there_is_no_line() -> None:
    """If no rule decides, the expected line does not."""
    assert passed('allowed = "/"\nby-rule = "Allow: /"') == [False]


def test_paths_are_of_the_origin() -> None:
    """A path and the URL at the origin are the same question."""
    expected = read_expectations(
        'origin = "https://example.com"\n[[expect]]\n'
        'disallowed = ["/private/x", "https://example.com/private/x"]'
    )
    assert expected.origin == "https://example.com"
    robots = parse("User-agent: *\nDisallow: /private/\n")
    for question in expected.questions:
        assert evaluate(question, robots, origin=expected.origin).passed


# --- What a failure says --------------------------------------------------------------------------


def test_a_failure_is_explained_as_explain_does() -> None:
    """Expected, found, the groups and why, the rule that decides, the losers, each with carets."""
    result = evaluate_one('crawlers = "Googlebot"\ndisallowed = "/search?q=y"\nwhy = "no lists"')
    assert str(result) == (
        "failed, line 3: Googlebot: /search?q=y is disallowed\n"
        "why       no lists\n"
        "expected  disallowed\n"
        "found     allowed by line 11: Allow: /search?q=\n"
        "groups    lines 8-15: the group that names Googlebot\n"
        "    11 | Allow: /search?q=\n"
        "       |        ^^^^^^^^^^\n"
        "       | decides, as the longest match (10 bytes)\n"
        "    10 | Disallow: /search\n"
        "       |           ^^^^^^^\n"
        "       | loses: shorter (7 bytes)\n"
        "fix       change line 11, or add a Disallow rule that matches /search?q=y with more than "
        "10 bytes"
    )
    assert result.explanation is not None
    assert result.explanation.verdict.line == 11


@pytest.mark.parametrize(
    ("toml", "robots", "cure"),
    [
        (
            'disallowed = "/x"',
            "User-agent: *\nDisallow: /y",
            "no rule matches /x: add a Disallow rule for it to the group of lines 1-2",
        ),
        (
            'crawlers = "One"\ndisallowed = "/x"',
            "User-agent: Two\nDisallow: /",
            "no group is for One: add one, or one for '*', with a rule that matches /x",
        ),
        (
            'crawlers = "One"\npurposes = "P"\ndisallowed = "/x"',
            "User-agent: *\nDisallow: /x\nUser-Agent-Purpose: P\nDisallow: /y",
            "no rule matches /x: add a Disallow rule for it to the group of lines 3-4",
        ),
        (
            'disallowed = "/x"',
            "",
            "no group is for '*': add one with a rule that matches /x",
        ),
        (
            'allowed = "/x"',
            "User-agent: *\nDisallow: /",
            "change line 2, or add an Allow rule that matches /x with 1 byte or more: Allow wins "
            "a tie",
        ),
        (
            'crawlers = "One"\ndisallowed = "/x"',
            "User-agent: *\nDisallow: /x\nUser-agent: One\nDisallow: /y",
            "One obeys its own group, not line 2 of the group for '*': repeat the rule in "
            "its group, lines 3-4",
        ),
    ],
)
def test_the_advice_fits_the_cause(toml: str, robots: str, cure: str) -> None:
    """No rule, no group, a stronger rule, an own group: each has its own fix."""
    assert evaluate_one(toml, robots).cure == cure


@pytest.mark.parametrize(
    "robots",
    [
        "User-agent: *\nDisallow: /y\nDisallow: /x",
        "User-agent: Two\nDisallow: /\nUser-agent: One\nDisallow: /x",
        "User-agent: *\nDisallow: /x\nUser-agent: One\nDisallow: /y\nDisallow: /x",
    ],
)
def test_the_advice_helps(robots: str) -> None:
    """The files above after the advised change pass."""
    assert passed('crawlers = "One"\ndisallowed = "/x"', robots) == [True]


def test_of_many_losers_a_few_are_shown() -> None:
    """A file with very many rules does not fill the screen."""
    rules = "".join(f"Disallow: /a{'*' * number}\n" for number in range(1, 40))
    result = evaluate_one('allowed = "/ab"', f"User-agent: *\n{rules}")
    assert result.told[-1].text == "          and 33 more that lose"
    assert len(result.told) == 1 + 6 * 3 + 1


def test_control_characters_do_not_reach_a_terminal() -> None:
    """They are made visible; a long line is cut."""
    robots = "User-agent: *\nDisallow: /x" + "*" * 500 + " # \u202e\u009b2J\x1b[2J"
    text = str(evaluate_one('allowed = "/x"', robots))
    assert text.isascii() or not any(code in text for code in "\u202e\u009b\x1b")
    assert "     2 | Disallow: /x****" in text
    assert max(len(line) for line in text.splitlines() if "|" in line) < 140
    robots = "User-agent: *\nDisallow: /x # \u202e\u009b2J"
    assert "     2 | Disallow: /x # \\u202e\\u009b2J" in str(evaluate_one('allowed = "/x"', robots))


def test_an_answer_goes_to_json() -> None:
    """For every question, `as_dict()` returns plain values."""
    everything = """
crawlers = ["Googlebot"]
allowed = "/search"
all-disallowed = "/search"
obeys = "star"
crawl-delay = 5
headers = ["X-Robots-Tag: noindex"]
tags = ["noindex", "max-snippet: 3"]
only-tags = ["noindex"]
preferences = { train-ai = "allowed" }
application = "examplesearch"
app-directives = { depth = 3.5 }
sitemaps = []
records = ["Host: x"]
"""
    found = [
        json.loads(json.dumps(result.as_dict()))
        for result in evaluate_all(everything, carriers=Carriers([("X-Robots-Tag", "noindex")]))
    ]
    assert [answer["key"] for answer in found] == [
        *("allowed", "all-disallowed", "obeys", "crawl-delay", "tags", "tags", "only-tags"),
        *("preferences", "app-directives", "sitemaps", "records"),
    ]
    assert found[0]["explanation"]["winner"]["line"] == 10
    assert found[1]["witness"] == "/search?q="


# --- Groups and delays ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("toml", "obeyed"),
    [
        ('crawlers = "Googlebot"', "own"),
        ('crawlers = "Other"', "star"),
        ('crawlers = "Other"\npurposes = "EXAMPLE-PURPOSE-1"', "purpose"),
    ],
)
def test_which_group_a_crawler_obeys(toml: str, obeyed: str) -> None:
    """One answer is right, and the failure names it."""
    for answer in ("own", "star", "purpose", "none"):
        result = evaluate_one(f'{toml}\nobeys = "{answer}"')
        assert result.passed is (answer == obeyed)
        assert result.passed or f'expect obeys = "{obeyed}"' in result.cure
    assert passed('crawlers = "Other"\nobeys = "none"', "User-agent: One\nDisallow: /") == [True]


@pytest.mark.parametrize(
    ("toml", "holds"),
    [
        ('crawlers = "Googlebot"\ncrawl-delay = 5', True),
        ('crawlers = "Googlebot"\ncrawl-delay = 5.0', True),
        ('crawlers = "Googlebot"\ncrawl-delay = 6', False),
        ('crawlers = "Googlebot"\ncrawl-delay = 4', False),  # a larger one than expected
        ('crawlers = "Googlebot"\ncrawl-delay = false', False),
        ('crawlers = "Other"\ncrawl-delay = false', True),
        ('crawlers = "Other"\ncrawl-delay = 5', False),
    ],
)
def test_delays(toml: str, holds: bool) -> None:
    """A number of seconds, or false for none."""
    assert passed(toml) == [holds]


def test_a_wrong_delay_is_shown_with_its_line() -> None:
    """With carets under its value."""
    result = evaluate_one('crawlers = "Googlebot"\ncrawl-delay = 6')
    assert result.found == "5 s by line 13"
    assert [line.text for line in result.told] == [
        "    13 | Crawl-delay: 5",
        "       |              ^",
        "       | this record applies",
    ]
