"""
The commands give every well-known crawler the same verdict.

check, explain, test, matrix, evidence and audit choose groups by the registry of well-known
crawlers, and with `--literal` by the name alone. Files are generated from
names of the registry, so that fallbacks and crawlers that ignore the star occur in all
combinations.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import robotrules
from robotrules.registries.crawlers import KNOWN_CRAWLERS, KnownCrawler
from robotrules.robotstxt.tokens import can_be_name
from tests.cli.shell import robotrules as run
from tests.cli.sites import response, site

PATHS = ("/", "/search", "/private/x")
ISSUE = "User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nDisallow: /search\n"
# Those that are read otherwise than by their name alone, some of the others, and both odd names.
DEPARTING = [one for one in KNOWN_CRAWLERS if one.departures]
NAMES = ["*", *dict.fromkeys(name for one in DEPARTING for name in one.names), "MJ12bot", "GPTBot"]


# A name with spaces is none for expectation files, nor for the library (AMB-22).
NAMED = [one for one in KNOWN_CRAWLERS if can_be_name(one.product_token)]


def of_names(verdicts: dict[str, dict[str, bool]]) -> dict[str, dict[str, bool]]:
    """Return the verdicts on crawlers that an expectation file can name."""
    return {one.product_token: verdicts[one.product_token] for one in NAMED}


def generated(seed: int) -> str:
    """Return a file with groups for some of the crawlers, and usually for `*`."""
    choose = random.Random(seed)
    groups = []
    for _ in range(choose.randint(1, 5)):
        names = choose.sample(NAMES, choose.randint(1, 4)) + ["*"] * (choose.random() < 0.4)
        rules = choose.sample(["Disallow: /", "Disallow: /search", "Allow: /private", ""], 2)
        groups.append("\n".join([*(f"User-agent: {name}" for name in names), *rules]))
    return "\n\n".join(groups) + "\n"


def matrix_verdicts(file: str, *options: str) -> dict[str, dict[str, bool]]:
    """Return the verdicts of the matrix for every well-known crawler."""
    paths = [part for path in PATHS for part in ("--path", path)]
    found = json.loads(run("matrix", file, "--all", "--json", *paths, *options).out)
    return {
        one["product_token"]: {cell["path"]: cell["allowed"] for cell in one["cells"]}
        for one in found["crawlers"]
        if one["known"]
    }


def asked(command: str, crawler: KnownCrawler, file: str, *options: str) -> dict[str, bool]:
    """Return the output of check or explain for one crawler."""
    arguments = (*PATHS, "--as", crawler.product_token, "--robots", file, "--json", *options)
    found = map(json.loads, run(command, *arguments).out.splitlines())
    return {one["url"]: one["allowed"] for one in found}


def expectation_verdicts(file: str, folder: Path, *options: str) -> dict[str, dict[str, bool]]:
    """Return the verdicts of test: it expects all URLs to be allowed, and fails for the others."""
    names = json.dumps([one.product_token for one in NAMED])
    expected = folder / "robots.test.toml"
    paths = json.dumps(list(PATHS))
    expected.write_text(f"[[expect]]\ncrawlers = {names}\nallowed = {paths}\n", encoding="utf-8")
    found = json.loads(run("test", str(expected), "--robots", file, "--json", *options).out)
    verdicts: dict[str, dict[str, bool]] = {}
    for one in found["questions"]:
        verdicts.setdefault(one["crawler"][0], {})[one["url"]] = one["passed"]
    return verdicts


@pytest.mark.parametrize("profile", ["default", "strict", "google"])
@pytest.mark.parametrize("body", [ISSUE, *map(generated, range(3))])
def test_four_commands_agree_for_every_crawler(body: str, profile: str, tmp_path: Path) -> None:
    """Whatever the file names, and under every profile."""
    path = tmp_path / "robots.txt"
    path.write_text(body, encoding="utf-8")
    file, options = str(path), ("--profile", profile)
    in_matrix = matrix_verdicts(file, *options)
    assert len(in_matrix) == len(KNOWN_CRAWLERS)
    assert expectation_verdicts(file, tmp_path, *options) == of_names(in_matrix)
    for crawler in KNOWN_CRAWLERS:
        name = crawler.product_token
        assert asked("check", crawler, file, *options) == in_matrix[name], name
        assert asked("explain", crawler, file, *options) == in_matrix[name], name


def test_the_four_agree_with_literal_names(tmp_path: Path) -> None:
    """By the name alone, as `RobotsTxt.check()` does."""
    path = tmp_path / "robots.txt"
    path.write_text(ISSUE, encoding="utf-8")
    robots = robotrules.parse(ISSUE)
    in_matrix = matrix_verdicts(str(path), "--literal")
    assert expectation_verdicts(str(path), tmp_path, "--literal") == of_names(in_matrix)
    for crawler in [one for one in DEPARTING if one in NAMED]:
        name = crawler.product_token
        literal = {url: robots.check(url, name).allowed for url in PATHS}
        assert in_matrix[name] == literal
        assert asked("check", crawler, str(path), "--literal") == literal
        assert asked("explain", crawler, str(path), "--literal") == literal


def test_the_reported_crawlers(tmp_path: Path) -> None:
    """Googlebot-News obeys the group of Googlebot; AdsBot-Google ignores that of `*`."""
    path = tmp_path / "robots.txt"
    path.write_text(ISSUE, encoding="utf-8")
    for name, allowed in (("Googlebot-News", True), ("AdsBot-Google", True), ("GPTBot", False)):
        crawler = robotrules.crawler(name)
        assert crawler is not None
        assert asked("check", crawler, str(path))["/"] is allowed


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Googlebot-News", "obeys the group of Googlebot where no group names it"),
        ("AdsBot-Google", "ignores groups for '*'"),
        ("Perplexity-User", "does not obey robots.txt"),
        ("ChatGPT-User", "does not always obey robots.txt"),
    ],
)
def test_source_and_day_are_shown(name: str, words: str, tmp_path: Path) -> None:
    """On stderr by check, on the page by explain, in JSON by both."""
    (tmp_path / "robots.txt").write_text(ISSUE, encoding="utf-8")
    file = str(tmp_path / "robots.txt")
    known = KNOWN_CRAWLERS.get(name)
    assert known is not None
    source = f"({known.documentation}, checked {known.checked})"
    ran = run("check", "/", "--as", name, "--robots", file)
    assert f"hint: {name} {words} {source}" in ran.err
    assert f"{name} {words} {source}" in run("explain", "/", "--as", name, "--robots", file).out
    for command in ("check", "explain", "preferences", "guidance"):
        ran = run(command, "https://e.example/", "--as", name, "--robots", file, "--json")
        assert json.loads(ran.out)["known"] == known.short_dict()
    quiet = run("check", "/", "--as", name, "--robots", file, "--quiet")
    assert quiet.err == ""
    literal = run("check", "/", "--as", name, "--robots", file, "--literal", "--json")
    assert (literal.err, json.loads(literal.out)["known"]) == ("", None)


def test_other_crawlers_use_their_name() -> None:
    """An unknown name, several names, and a known name without special groups."""
    assert robotrules.crawler("ExampleBot") is None
    robots = ISSUE.encode()
    for name in ("ExampleBot", "Googlebot-News,Googlebot", "Googlebot"):
        ran = run("check", "/", "--as", name, "--robots", "-", stdin=robots)
        assert ran.err == ""


@pytest.mark.parametrize("name", ["Googlebot-News", "AdsBot-Google"])
def test_check_explains_it_where_it_makes_a_difference(name: str) -> None:
    """If the name alone selects the obeyed group, there is no message."""
    own = f"{ISSUE}\nUser-agent: {name}\nDisallow: /a\n".encode()
    assert run("check", "/", "--as", name, "--robots", "-", stdin=own).err == ""
    without = b"User-agent: GPTBot\nDisallow: /\n"
    assert run("check", "/", "--as", name, "--robots", "-", stdin=without).err == ""


def test_fetched_files(tmp_path: Path) -> None:
    """check, evidence and audit give one verdict, and cite its source once."""
    plain = "Content-Type: text/plain"
    own = "User-agent: *\nDisallow: /\n\nUser-agent: Googlebot-News\nAllow: /\n"
    more = ("--allow-private", "127.0.0.1", "--store", str(tmp_path / "store.sqlite"))
    news, words = ("--as", "googlebot-news"), "hint: Googlebot-News obeys the group of Googlebot"
    with (
        site({"/robots.txt": response(own, plain)}) as other,
        site({"/robots.txt": response(ISSUE, plain), "/": response("a", plain)}) as one,
    ):
        urls = [f"{other.origin}/", f"{one.origin}/", f"{one.origin}/a"]
        checked = run("check", *urls, *news, *more)
        assert (checked.code, checked.err.count(words)) == (0, 1)
        assert words not in run("check", urls[0], *news, *more).err
        audited = run("audit", urls[1], *news, *more, "--json")
        literally = run("audit", urls[1], *news, *more, "--literal")
    told = run("evidence", urls[1], *news, *more[2:])
    assert (told.code, told.err.count(words)) == (0, 1)
    assert "Googlebot-News, profile" in told.out
    found = json.loads(run("evidence", urls[1], *news, *more[2:], "--json").out)
    assert (found["allowed"], found["product_token"]) == (True, "Googlebot-News")
    assert found["known"]["names"] == ["Googlebot-News", "Googlebot"]
    literal = run("evidence", urls[1], *news, *more[2:], "--literal")
    assert (literal.code, literal.err) == (1, "")
    assert "line 2: Disallow: /" in literal.out
    assert audited.err.count(words) == 1
    found = json.loads(audited.out)
    assert (found["allowed"], found["product_tokens"]) == (True, ["Googlebot-News"])
    assert found["known"]["names"] == ["Googlebot-News", "Googlebot"]
    assert "disallowed, line 2: Disallow: /" in literally.out
    assert words not in literally.err


def test_test_explains_it_where_it_makes_a_difference(tmp_path: Path) -> None:
    """With failures, and with `--verbose` also with passes."""
    (tmp_path / "robots.txt").write_text(ISSUE, encoding="utf-8")
    expected = tmp_path / "robots.test.toml"
    crawlers = '"Googlebot-News", "Googlebot", "bingbot"'
    expected.write_text(f'[[expect]]\ncrawlers = [{crawlers}]\nallowed = ["/"]\n', encoding="utf-8")
    ran = run("test", str(expected), "--verbose")
    assert ran.code == 1
    assert ran.out.count("obeys the group of Googlebot") == 1
    assert "msnbot" not in ran.out
